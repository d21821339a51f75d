//! Planned tables.

use std::time::Duration;

use super::subjects::{Setting, Subject};
use crate::Failure;
use crate::record::Table;

/// The time budget, which determines the precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Well under a minute for all suites.
    Quick,
    /// Under four minutes.
    Plain,
    /// Long enough to resolve a tenth of a per cent.
    Full,
}

impl Effort {
    /// Returns its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Plain => "plain",
            Self::Full => "full",
        }
    }
}

/// A planned table.
pub struct Plan<'a> {
    /// A short description.
    pub title: String,
    /// The estimated time of the measurement.
    pub time: Duration,
    /// The measurement.
    pub work: Work<'a>,
}

/// The measurement of a table.
pub enum Work<'a> {
    /// Operations measured side by side, which can also be run individually.
    Subjects(Prepare<'a>),
    /// A measurement with its own procedure.
    Itself(Measure<'a>),
}

/// Prepares the subjects of a table.
pub(super) type Prepare<'a> = Box<dyn FnOnce() -> Result<(Setting, Vec<Subject>), Failure> + 'a>;

/// Measures a table, and reports the completed share, 0 to 1.
pub(super) type Measure<'a> = Box<dyn FnOnce(&mut dyn FnMut(f64)) -> Result<Table, Failure> + 'a>;
