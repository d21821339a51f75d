//! The comparison as data: tables, rows, and a verdict on each row.

use serde::Serialize;

use super::counts::Counted;
use cycloid_lab::record::row_name;

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

    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.tables.iter().flat_map(|table| &table.rows)
    }
}

impl Row {
    /// Returns the row's display name in its table.
    pub fn name(&self) -> String {
        row_name(&self.group, &self.label)
    }
}
