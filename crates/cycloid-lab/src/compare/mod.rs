//! Whether something became faster or slower, and whether that is more than noise.
//!
//! Two sides, *old* and *new*, each of one record or of several runs. What moves a number that has
//! nothing to do with the program is large: on the virtual machine of `docs/results`, the same
//! OpenSSL took between half and twice its time from one hour to the next, and in proportion to
//! other libraries, in the same interleaved rounds, it still moved by 1 % to 4 %, at the worst by 21 %.
//! So each table brings its own yardstick:
//!
//! - **Unchanged rows** are those of peers that are there in every run, in the same version, by the
//!   same function. Every other row is held against their geometric mean in the same rounds, which
//!   takes out the machine's drift. How far they move against each other is how far a row moves that
//!   has not changed: the noise that every verdict of the suite has to exceed.
//! - **The control**, the reference against itself, and the **bootstrap intervals** bound the noise
//!   within a run.
//! - **Repeated runs** show what moves from run to run, and whether a difference recurs.
//!
//! A difference counts where it is larger than four standard errors, by the worst of these
//! estimates, and than twice what the farthest unchanged row of the suite moved, larger than a floor
//! of relevance, and where it recurs in four of five pairs of runs.
//! A row is *the same* where its difference is below the floor and a 95 % interval is no wider;
//! whatever is left is *not enough data*. Where a table has no unchanged row, times are compared as
//! they are, and there is a verdict only for three runs a side or more that alternated in time.
//!
//! Instructions are counted, not measured: any difference between them is told.
//!
//! [`compare()`] gives all of it as data, [`text()`] and its siblings as text.

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

/// Below this a difference is of no relevance, unless told otherwise.
pub const THRESHOLD: f64 = 0.01;

/// The sides, in their order.
pub const SIDES: [&str; 2] = ["old", "new"];

/// Two sides, row by row.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The floor of relevance: 0.01 is one per cent.
    pub threshold: f64,
    /// How many runs each side has.
    pub runs: [usize; 2],
    /// In what the circumstances of the sides differ, each in a line.
    pub circumstances: Vec<String>,
    /// The tables that both sides have.
    pub tables: Vec<Table>,
    /// The geometric mean of the changes of the library's own rows, by suite.
    pub means: Vec<Mean>,
    /// Rows that one side has and the other does not.
    pub only: [Vec<String>; 2],
}

/// A table that both sides have.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// The suite that made it.
    pub suite: String,
    /// Its title.
    pub title: String,
    /// How many unchanged rows the others are held against; 0 where times are compared as they are.
    pub unchanged: usize,
    /// The time of the unchanged rows, new divided by old: what the machine, or its load, did.
    pub drift: Option<f64>,
    /// The rows that both sides have, in the order of the new record.
    pub rows: Vec<Row>,
}

/// One thing that both sides measured.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The part of the table that it stands in.
    pub group: String,
    /// Its label there.
    pub label: String,
    /// Who does it.
    #[serde(rename = "library")]
    pub product: String,
    /// Whether that is the library itself, with arithmetic of its own.
    pub ours: bool,
    /// The version of each side.
    pub versions: [String; 2],
    /// Nanoseconds of an operation as they were measured: the median over the runs of a side.
    pub time_ns: [f64; 2],
    /// The new time divided by the old, the machine's drift taken out.
    pub change: f64,
    /// What holds it with 95 % confidence.
    pub interval: [f64; 2],
    /// The least relative difference that these runs could have told from none.
    pub resolution: f64,
    /// The share of the pairs of runs that agree in the direction.
    pub recurrence: f64,
    /// What to make of it; none of a row that served as unchanged.
    pub verdict: Option<Verdict>,
    /// Instructions, where both sides have counted them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<Counted>,
}

/// What to make of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It takes less time, and that is more than noise.
    Faster,
    /// It takes more time, and that is more than noise.
    Slower,
    /// If there is a difference, it is below the floor of relevance.
    Same,
    /// The noise is too large to say.
    NotEnoughData,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Faster, Self::Slower, Self::Same, Self::NotEnoughData];

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::NotEnoughData => "not enough data",
        }
    }
}

/// How a suite changed as a whole.
#[derive(Clone, Debug, Serialize)]
pub struct Mean {
    /// The suite.
    pub suite: String,
    /// How many rows it is the mean of.
    pub rows: usize,
    /// The geometric mean of their changes.
    pub change: f64,
}

impl Comparison {
    /// How many rows have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows().filter(|row| row.verdict == Some(verdict)).count()
    }

    /// Whether a row of the library's own became slower.
    pub fn is_slower(&self) -> bool {
        self.rows().any(|row| row.ours && row.verdict == Some(Verdict::Slower))
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.tables.iter().flat_map(|table| &table.rows)
    }
}

impl Row {
    /// Its place in the table, for people.
    pub fn name(&self) -> String {
        rows::name(&self.group, &self.label)
    }
}

/// Compares the runs of two sides.
///
/// # Errors
/// A side without a run, or sides that have no row in common.
pub fn compare(old: &[Report], new: &[Report], threshold: f64) -> Result<Comparison, Failure> {
    let hint = "records are comparable where the same suites were run";
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

/// The geometric mean of what the library's own rows changed, for each suite.
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

/// What differs between the sides beside the results.
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
