//! Records results from run to run, in a file with one line per run that can be committed.
//!
//! A line has the fields needed to compare runs, not the whole record: the time of each row, ours
//! and the peers', relative to its table. A row of two runs is compared relative to the peers'
//! rows that both runs have in the same version ([`Change`]): a busy machine affects such a ratio
//! much less than a time, and other peers do not affect it at all.
//!
//! [`check`] judges the newest run as rustls does in its continuous benchmarks: a change is
//! significant if it is beyond Q3 + 3·IQR of the previous run-to-run changes on the same machine,
//! and if there are at least [`FEWEST`] earlier runs.

mod change;
mod course;
mod entry;
mod outliers;
mod show;

use std::fmt::Write;

use crate::compare::Verdict;
use cycloid_lab::Failure;
use cycloid_lab::record::printable;

pub use change::Change;
pub(crate) use course::{Course, Step, courses};
pub use entry::{Entry, PeerPoint, Point, Table};
pub use outliers::{Check, FEWEST, check};
pub use show::show;

/// Reads a history, in order of time; an empty text has no entries.
///
/// # Errors
/// If a line is not an entry.
pub fn read(text: &str, name: &str) -> Result<Vec<Entry>, Failure> {
    let entry = |(number, line): (usize, &str)| {
        printable::from_json(line).map_err(|error| {
            Failure::new(
                format!("{name}, line {}: {error}", number + 1),
                "a history has only lines that this version's `cycloid history add` wrote",
            )
        })
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut entries = lines.map(entry).collect::<Result<Vec<Entry>, _>>()?;
    entries.sort_by(|a, b| a.date.cmp(&b.date));
    Ok(entries)
}

/// Formats the results of [`check`]: the rows beyond the fence, and the number of the others.
pub fn text(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let is_change = matches!(check.verdict, Verdict::Faster | Verdict::Slower);
        if let Some(change) = check.change.filter(|_| is_change) {
            let _ = writeln!(
                text,
                "{}: {}\n  {} against the previous run, normal is up to {:.1} % ({} runs)",
                check.verdict.name(),
                check.row,
                crate::compare::percent(change),
                check.fence * 100.0,
                check.runs
            );
        }
    }
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    let counts = Verdict::ALL.map(|verdict| format!("{} {}", count(verdict), verdict.name()));
    text + &counts.join(", ") + "\n"
}

#[cfg(test)]
mod tests;
