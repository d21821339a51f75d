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

mod counts;
mod csv;
mod markdown;
mod noise;
mod rows;
mod text;

use serde::Serialize;

use crate::Failure;
use crate::record::Report;

pub use counts::{CountVerdict, Counted};
pub use csv::csv;
pub use markdown::markdown;
pub(crate) use rows::{is_ours, name as row_name};
pub use text::text;
pub(crate) use text::{percent, time};

/// The default floor of relevance: smaller differences are ignored.
pub const THRESHOLD: f64 = 0.01;

/// The names of the sides, in order.
pub const SIDES: [&str; 2] = ["old", "new"];

/// A row-by-row comparison of two sides.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The floor of relevance: 0.01 is one per cent.
    pub threshold: f64,
    /// The number of runs on each side.
    pub runs: [usize; 2],
    /// The differences between the sides' environments, one line each.
    pub circumstances: Vec<String>,
    /// The tables that both sides have.
    pub tables: Vec<Table>,
    /// The geometric mean of the changes of the library's own rows, per suite.
    pub means: Vec<Mean>,
    /// Rows that only one side has.
    pub only: [Vec<String>; 2],
}

/// A table that both sides have.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// The suite that made it.
    pub suite: String,
    /// Its title.
    pub title: String,
    /// The number of unchanged rows that the others are compared with; 0 if times are compared
    /// directly.
    pub unchanged: usize,
    /// The time of the unchanged rows, new divided by old: the drift of the machine or its load.
    pub drift: Option<f64>,
    /// The rows that both sides have, in the order of the new record.
    pub rows: Vec<Row>,
}

/// An operation that both sides measured.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its group in the table.
    pub group: String,
    /// Its label in the group.
    pub label: String,
    /// The product that performs it.
    #[serde(rename = "library")]
    pub product: String,
    /// Whether the product is this library with its own arithmetic.
    pub ours: bool,
    /// The product's version on each side.
    pub versions: [String; 2],
    /// The measured nanoseconds per operation: the median over the runs of a side.
    pub time_ns: [f64; 2],
    /// The new time divided by the old, corrected for the machine's drift.
    pub change: f64,
    /// The 95 % confidence interval of the change.
    pub interval: [f64; 2],
    /// The smallest relative difference that these runs can detect.
    pub resolution: f64,
    /// The share of the pairs of runs that agree in direction.
    pub recurrence: f64,
    /// The verdict; `None` for a row that served as unchanged.
    pub verdict: Option<Verdict>,
    /// Instruction counts, if both sides counted them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<Counted>,
}

/// The verdict on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It takes less time, by more than noise.
    Faster,
    /// It takes more time, by more than noise.
    Slower,
    /// Any difference is below the floor of relevance.
    Same,
    /// The noise is too large for a verdict.
    NotEnoughData,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 4] = [Self::Faster, Self::Slower, Self::Same, Self::NotEnoughData];

    /// Returns the verdict's display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::NotEnoughData => "not enough data",
        }
    }
}

/// The overall change of a suite.
#[derive(Clone, Debug, Serialize)]
pub struct Mean {
    /// The suite.
    pub suite: String,
    /// The number of rows in the mean.
    pub rows: usize,
    /// The geometric mean of the rows' changes.
    pub change: f64,
}

impl Comparison {
    /// Returns the number of rows with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows().filter(|row| row.verdict == Some(verdict)).count()
    }

    /// Returns whether any of the library's own rows became slower.
    pub fn is_slower(&self) -> bool {
        self.rows().any(|row| row.ours && row.verdict == Some(Verdict::Slower))
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.tables.iter().flat_map(|table| &table.rows)
    }
}

impl Row {
    /// Returns the row's display name in its table.
    pub fn name(&self) -> String {
        rows::name(&self.group, &self.label)
    }
}

/// Compares the runs of two sides.
///
/// # Errors
/// If a side has no run, or the sides have no row in common.
pub fn compare(old: &[Report], new: &[Report], threshold: f64) -> Result<Comparison, Failure> {
    let hint = "compare records that ran the same suites";
    if old.is_empty() || new.is_empty() {
        return Err(Failure::new("one of the sides has no record", hint));
    }
    let sides = [old, new];
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
