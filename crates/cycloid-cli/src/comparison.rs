//! The parts of every comparison of records: the records, a threshold, and an exit code.

use std::fs;
use std::path::Path;

use cycloid_command::Stop;
use cycloid_lab::Failure;
use cycloid_lab::record::Report;

/// The exit code of a comparison that found something slower.
pub(crate) const SLOWER: u8 = 3;

/// Parses a percentage, and returns it as a fraction.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if (0.0..1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a percentage from 0 to 1000".into()),
    }
}

/// Reads the record in a file.
pub(crate) fn read(path: &Path) -> Result<Report, Stop> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        let hint = "name a record that `cycloid bench --save FILE` wrote";
        Stop::Failed(Failure::new(format!("cannot read {name}: {error}"), hint))
    })?;
    Report::from_json(&text, &name.to_string()).map_err(Stop::Failed)
}
