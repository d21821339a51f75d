//! `cycloid-vpn check`.

use cycloid_vpn::config::{self, Error};
use cycloid_vpn::service;

use crate::arguments::Check;
use crate::clock::now;
use cycloid_command::{Stop, output};

pub(super) fn run(arguments: &Check) -> Result<(), Stop> {
    let stop = |error: &Error| Stop::failed(error.to_string(), error.hint.clone());
    let mut report = config::check(&arguments.file, now()).map_err(|error| stop(&error))?;
    if report.failures.is_empty() {
        let (profile, _) = config::read(&arguments.file).map_err(|error| stop(&error))?;
        if let Err(failure) = service::rehearse(&profile) {
            report.failures.push(Error {
                file: arguments.file.clone(),
                line: 0,
                text: String::new(),
                message: failure.to_string(),
                hint: failure.advice().unwrap_or("correct the file").to_owned(),
            });
        }
    }
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
