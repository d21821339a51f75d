//! Decides whether something became faster or slower by more than noise.
//!
//! Compares two sides, *old* and *new*, each of one record or several runs. Effects unrelated to
//! the program move the numbers a lot: on the virtual machine of `docs/results`, the time of the
//! same OpenSSL changed by a factor between one half and two from one hour to the next. Its ratio
//! to other libraries in the same interleaved rounds still moved by 1 % to 4 %, and at worst by
//! 21 %. So each table carries its own measure of noise:
//!
//! - **Unchanged rows** are peers' rows that are present in every run, in the same version and with
//!   the same function. Every other row is compared with their geometric mean in the same rounds,
//!   which removes the machine's drift. The movement of the unchanged rows relative to each other
//!   shows how far a row moves without a change: this is the noise that every verdict of the suite
//!   has to exceed.
//! - **The control** (the reference measured against itself) and the **bootstrap intervals** bound
//!   the noise within a run.
//! - **Repeated runs** show the variation from run to run, and whether a difference recurs.
//!
//! A difference is significant if it exceeds four standard errors (by the worst of these
//! estimates), twice the movement of the farthest unchanged row of the suite, and a floor of
//! relevance, and if it recurs in four of five pairs of runs. A row is *the same* if its difference
//! is below the floor and its 95 % interval is no wider than the floor. Every other row is *not
//! enough data*. In a table without unchanged rows, times are compared directly, and a verdict
//! needs at least three runs per side that alternated in time.
//!
//! Instructions are counted, not measured: any difference between them is reported.
//!
//! [`compare()`] returns the comparison as data; [`text()`] and its siblings format it.

mod comparison;
mod counts;
mod csv;
mod markdown;
mod noise;
mod rows;
mod text;

use cycloid_lab::Failure;
use cycloid_lab::record::Report;

pub use comparison::{Comparison, Mean, Row, SIDES, Table, Verdict};
pub use counts::{CountVerdict, Counted};
pub use csv::csv;
pub use markdown::markdown;
pub use text::text;
pub(crate) use text::{cut, percent, time};

/// The default floor of relevance: smaller differences are ignored.
pub const THRESHOLD: f64 = 0.01;

/// Compares the runs of two sides.
///
/// # Errors
/// If a side has no run, the sides have no row in common, or a time or ratio is not positive.
pub fn compare(old: &[Report], new: &[Report], threshold: f64) -> Result<Comparison, Failure> {
    let hint = "compare records that ran the same suites";
    if old.is_empty() || new.is_empty() {
        return Err(Failure::new("one of the sides has no record", hint));
    }
    let sides = [old, new];
    if let Some(row) = rows::unusable(sides) {
        let message = format!("{row}: the time or the ratio is not a positive number");
        return Err(Failure::new(message, "repeat the run that wrote this record"));
    }
    let tables = noise::judge(rows::pair(sides), rows::alternate(sides), threshold);
    if tables.is_empty() {
        return Err(Failure::new("the two sides have no row in common", hint));
    }
    Ok(Comparison {
        threshold,
        runs: sides.map(<[Report]>::len),
        circumstances: circumstances(sides),
        means: means(&tables),
        only: rows::only(sides),
        tables,
    })
}

/// Returns the geometric mean of the changes of the library's own rows, per suite.
fn means(tables: &[Table]) -> Vec<Mean> {
    let mut means: Vec<Mean> = Vec::new();
    for tables in tables.chunk_by(|a, b| a.suite == b.suite) {
        let ours = tables.iter().flat_map(|table| &table.rows).filter(|row| row.ours);
        let logarithms: Vec<f64> = ours.map(|row| row.change.ln()).collect();
        if !logarithms.is_empty() {
            means.push(Mean {
                suite: tables[0].suite.clone(),
                rows: logarithms.len(),
                change: noise::mean(&logarithms).exp(),
            });
        }
    }
    means
}

/// Lists the differences between the sides' environments.
fn circumstances(sides: [&[Report]; 2]) -> Vec<String> {
    type Aspect = (&'static str, fn(&Report) -> String);
    let aspects: [Aspect; 8] = [
        ("program", |report| report.environment.program.clone()),
        ("processor", |report| report.environment.cpu.clone()),
        ("threads", |report| report.environment.threads.to_string()),
        ("level", |report| report.environment.level_used.clone()),
        ("compiler", |report| report.environment.compiler.clone()),
        ("opt-level", |report| report.environment.opt_level.clone()),
        ("clock", |report| report.environment.clock.clone()),
        ("effort", |report| report.effort.clone()),
    ];
    let mut lines = Vec::new();
    for (name, aspect) in aspects {
        let [old, new] = sides.map(|side| distinct(side.iter().map(aspect)));
        if old != new || old.len() > 1 {
            lines.push(format!("{name}: {} → {}", old.join(", "), new.join(", ")));
        }
    }
    let peers = |side: &[Report]| {
        distinct(
            side.iter()
                .flat_map(|report| &report.peers)
                .filter_map(|peer| Some((peer.name.clone(), peer.version.clone()?))),
        )
    };
    let [old, new] = sides.map(peers);
    for (name, version) in &new {
        if let Some((_, before)) = old.iter().find(|(known, _)| known == name)
            && !old.contains(&(name.clone(), version.clone()))
        {
            lines.push(format!("{name}: {before} → {version}"));
        }
    }
    lines
}

fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}

#[cfg(test)]
mod tests;
