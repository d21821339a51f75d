//! The one form of all results: what a run of the program measured, where, and how well.
//!
//! The tables that people read are made from these and from nothing else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of this form; a reader of another version must not guess.
pub const FORMAT: u32 = 2;

/// A run of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// Where and when.
    pub environment: Environment,
    /// How much time was given: `quick`, `plain` or `full`.
    pub effort: String,
    /// Every peer that was asked for, those that are missing included.
    pub peers: Vec<Peer>,
    /// What was measured.
    pub tables: Vec<Table>,
}

/// Where and when a run was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Name and version of the program, which is also that of the library.
    pub program: String,
    /// When it began: RFC 3339, UTC.
    pub date: String,
    /// The processor's model name.
    pub cpu: String,
    /// How many threads it runs at a time.
    pub threads: usize,
    /// The target triple that the program was compiled for.
    pub target: String,
    /// The highest level that the processor has.
    pub level_detected: String,
    /// The level that was used; peers choose for themselves.
    pub level_used: String,
    /// `rustc --version`.
    pub compiler: String,
    /// The optimisation level that the program was compiled with.
    pub opt_level: String,
    /// What the clock counts that operations were timed with.
    pub clock: String,
}

/// A library that ours is measured against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// What it says of its version; none if it is missing.
    pub version: Option<String>,
    /// If it is missing: why, and what to do.
    pub missing: Option<Missing>,
}

/// Why a peer is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What was looked for and not found.
    pub reason: String,
    /// What brings it.
    pub remedy: String,
}

/// Subjects that were measured together, in one series of rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The suite that made it.
    pub suite: String,
    /// What it shows, in a line.
    pub title: String,
    /// What holds for all rows.
    pub parameters: Parameters,
    /// What times and ratios are; the median in reports of format 1.
    #[serde(default)]
    pub statistic: Statistic,
    /// How it stands beside the others of its suite.
    #[serde(default)]
    pub summary: Summary,
    /// The label of the row that ratios are against.
    pub reference: String,
    /// The rows, in the order in which they are shown.
    pub records: Vec<Record>,
    /// The reference measured against itself: 1 but for noise.
    pub control: Ratio,
    /// Rounds in which the subjects took turns.
    pub rounds: usize,
    /// Seconds that they took.
    pub seconds: f64,
    /// Peers that should have rows and are not here; [`Report::peers`] says why.
    pub missing: Vec<String>,
    /// What a reader has to know about single rows or columns.
    pub notes: Vec<String>,
}

/// What stands for many samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// The middle one.
    #[default]
    Median,
    /// The average, where each run takes another time by its nature.
    Mean,
}

impl Statistic {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
        }
    }
}

/// How several tables of a suite are shown side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Summary {
    /// Sizes in columns: the time of the reference, and that of the others in proportion.
    #[default]
    Proportions,
    /// Libraries in columns: operations in a second, and in proportion to the best peer's. The
    /// title says to which group of rows a table belongs, and after a colon what its row is about.
    Rates,
    /// Backends in columns, a line a table: the time of one run, what it allocates, the share of the
    /// longest, and the proportion to the first. The title as for [`Self::Rates`].
    Backends,
}

/// Names and values, such as `modulus_bits` and 2048.
pub type Parameters = BTreeMap<String, serde_json::Value>;

/// What was measured of one subject: complete without the table around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What it does, such as `modular exponentiation`.
    pub operation: String,
    /// With what sizes.
    pub parameters: Parameters,
    /// The part of the table that it stands in.
    pub group: String,
    /// Its label there.
    pub label: String,
    /// Who does it.
    pub implementation: Implementation,
    /// Whether its time is meant not to depend on secret values, in the words of its own
    /// documentation.
    pub constant_time: bool,
    /// How many operations one call does.
    pub operations_per_call: u32,
    /// How long one operation takes.
    pub time: Time,
    /// The same in proportion to the table's reference.
    pub ratio: Ratio,
    /// What one call needs of memory.
    pub memory: Memory,
}

/// Who does an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// The library.
    #[serde(rename = "library")]
    pub product: String,
    /// Its version.
    pub version: String,
    /// The function that is called.
    pub function: String,
    /// Which of its backends runs, where that is known.
    pub backend: Option<String>,
}

/// How long one operation takes, in nanoseconds of [`Environment::clock`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// Batches that were timed.
    pub samples: usize,
    /// The fastest.
    pub minimum_ns: f64,
    /// The middle one.
    pub median_ns: f64,
    /// The average.
    #[serde(default)]
    pub mean_ns: f64,
    /// The 95 % bootstrap interval of the table's statistic.
    pub interval_ns: [f64; 2],
    /// Operations in a second at the time that the table's statistic tells.
    pub operations_per_second: f64,
}

impl Time {
    /// The time that the statistic tells.
    pub const fn nanoseconds(&self, statistic: Statistic) -> f64 {
        match statistic {
            Statistic::Median => self.median_ns,
            Statistic::Mean => self.mean_ns,
        }
    }
}

/// The time of one operation divided by the reference's: the median of paired batches, or the
/// ratio of the means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Pairs of batches, or runs; 0 for the reference itself.
    pub samples: usize,
    /// The median, or the ratio of the means.
    pub median: f64,
    /// Its 95 % bootstrap interval.
    pub interval: [f64; 2],
}

/// What one call needs of memory, in bytes; none where it is not known or was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The scratch that the caller passes, as the library's own function says.
    pub scratch: Option<usize>,
    /// The deepest that the stack was touched.
    pub stack_peak: Option<usize>,
    /// The most heap in use during a call, beyond what was held before.
    pub heap_peak: Option<u64>,
    /// Heap that prepared contexts hold between calls.
    pub heap_held: Option<u64>,
    /// All bytes allocated in a call.
    pub heap_total: Option<u64>,
    /// Allocations in a call.
    pub allocations: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_json() {
        let record = Record {
            operation: "modular exponentiation".into(),
            parameters: Parameters::from([("modulus_bits".into(), 2048.into())]),
            group: "Montgomery".into(),
            label: "5b FW".into(),
            implementation: Implementation {
                product: "cycloid".into(),
                version: "0.1.0".into(),
                function: "Strategy::pow_vartime".into(),
                backend: Some("adx".into()),
            },
            constant_time: true,
            operations_per_call: 1,
            time: Time {
                samples: 40,
                minimum_ns: 1234.5,
                median_ns: 1300.25,
                mean_ns: 1310.5,
                interval_ns: [1290.0, 1310.0 / 3.0],
                operations_per_second: 1e9 / 1300.25,
            },
            ratio: Ratio { samples: 40, median: 1.01, interval: [1.0, 1.02] },
            memory: Memory { scratch: Some(2176), allocations: Some(0), ..Memory::default() },
        };
        let report = Report {
            format: FORMAT,
            environment: crate::environment::current(),
            effort: "quick".into(),
            peers: vec![Peer {
                name: "GMP".into(),
                version: None,
                missing: Some(Missing {
                    reason: "no usable libgmp.so.10".into(),
                    remedy: "apt install libgmp10".into(),
                }),
            }],
            tables: vec![Table {
                suite: "modexp".into(),
                title: "2048 bits".into(),
                parameters: record.parameters.clone(),
                statistic: Statistic::Mean,
                summary: Summary::Rates,
                reference: "default".into(),
                control: record.ratio,
                rounds: 40,
                seconds: 1.5,
                missing: vec!["GMP".into()],
                notes: vec!["a note".into()],
                records: vec![record],
            }],
        };
        let text = serde_json::to_string_pretty(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}
