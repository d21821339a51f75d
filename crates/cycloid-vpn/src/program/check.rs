//! `cycloid-vpn check`.

use cycloid_vpn::config::{self, Error};

use crate::arguments::Check;
use crate::clock::now;
use cycloid_command::{Stop, output};

pub(super) fn run(arguments: &Check) -> Result<(), Stop> {
    let stop = |error: &Error| Stop::failed(error.to_string(), error.hint.clone());
    let report = config::check(&arguments.file, now()).map_err(|error| stop(&error))?;
    if arguments.json {
        let warnings: Vec<_> = report.warnings.iter().map(ToString::to_string).collect();
        let failures: Vec<_> = report
            .failures
            .iter()
            .map(|error| serde_json::json!({ "message": error.to_string(), "hint": error.hint }))
            .collect();
        let object = serde_json::json!({
            "lines": report.lines, "warnings": warnings, "failures": failures,
        });
        output::print(&format!("{object:#}\n"))?;
    } else {
        output::print(&format!("{}\n", report.lines.join("\n")))?;
        for warning in &report.warnings {
            eprintln!("warning: {warning}");
        }
        // The caller prints the last failure.
        for error in report.failures.iter().rev().skip(1).rev() {
            eprintln!("error: {error}\nhint: {}", error.hint);
        }
    }
    match report.failures.last() {
        Some(error) => Err(stop(error)),
        None => Ok(()),
    }
}
