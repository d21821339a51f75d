//! Records results from run to run, in a file with one line per run that can be committed.
//!
//! A line has the fields needed to judge the next run, not the whole record: the time of each of
//! the library's own rows, and its ratio to the peers in the same table, which a busy machine
//! affects much less. [`check`] judges the newest run as rustls does in its continuous benchmarks:
//! a change is significant if it is beyond Q3 + 3·IQR of the previous run-to-run changes on the
//! same machine, and if there are at least [`FEWEST`] earlier runs.

mod entry;
mod outliers;

use std::fmt::Write;

use crate::Failure;
use crate::compare::Verdict;

pub use entry::{Entry, Point};
pub use outliers::{Check, FEWEST, check};

/// Reads a history; an empty text has no entries.
///
/// # Errors
/// If a line is not an entry.
pub fn read(text: &str, name: &str) -> Result<Vec<Entry>, Failure> {
    let entry = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            Failure::new(
                format!("{name}, line {}: {error}", number + 1),
                "a history has only lines written by `cycloid history add`",
            )
        })
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(entry).collect()
}

/// Formats the means of the suites over time, or the rows whose names contain all `words`.
///
/// # Errors
/// If no row has such a name.
pub fn show(entries: &[Entry], words: &[String]) -> Result<String, Failure> {
    let mut text = String::new();
    let course = |text: &mut String, name: &str, of: &dyn Fn(&Entry) -> Option<String>| {
        let _ = writeln!(text, "{name}");
        for entry in entries {
            if let Some(value) = of(entry) {
                let commit = entry.commit.as_deref().unwrap_or("–");
                let _ = writeln!(text, "  {}  {commit:12}{value}", entry.date);
            }
        }
    };
    if words.is_empty() {
        for suite in names(entries, |entry| entry.means.keys()) {
            let name = format!("{suite}: time relative to the peers, geometric mean");
            course(&mut text, &name, &|e| e.means.get(suite).map(|mean| format!("{mean:>8.3}")));
        }
        return Ok(text);
    }
    let matches =
        |name: &&str| words.iter().all(|word| name.to_lowercase().contains(&word.to_lowercase()));
    for name in names(entries, |entry| entry.rows.keys()).into_iter().filter(matches) {
        course(&mut text, name, &|entry| {
            let Point { ns, ratio } = entry.rows.get(name)?;
            let ratio = ratio.map_or("–".into(), |ratio| format!("{ratio:.3}"));
            Some(format!("{ratio:>8}{:>16}", crate::compare::time(*ns)))
        });
    }
    if text.is_empty() {
        return Err(Failure::new(
            format!("no row name contains '{}'", words.join(" ")),
            "run `cycloid history show` without words for the means of the suites",
        ));
    }
    Ok(text)
}

/// Returns each name once, in order.
fn names<'a, I: Iterator<Item = &'a String>>(
    entries: &'a [Entry],
    of: impl Fn(&'a Entry) -> I,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = entries.iter().flat_map(of).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Formats the results of [`check`]: the rows beyond the fence, and the number of the others.
pub fn text(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        if matches!(check.verdict, Verdict::Faster | Verdict::Slower) {
            let _ = writeln!(
                text,
                "{}: {}\n  {} against the previous run, normal is up to {:.1} % ({} runs)",
                check.verdict.name(),
                check.row,
                crate::compare::percent(check.change),
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
