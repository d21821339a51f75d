//! The one form of all results: what a run of the program measured, where, and how well.
//!
//! The tables that people read are made from these and from nothing else. `docs/record.schema.json`
//! describes the form for programs in other languages; it is made from these types, and a test
//! compares it with them and with every committed record. What a later version adds is optional,
//! so that older records stay readable.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Failure;

/// The version of this form; a reader of another version must not guess.
pub const FORMAT: u32 = 2;

/// The first version that is still understood: it had medians only.
pub const FIRST_FORMAT: u32 = 1;

/// A run of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// What was planned and was not measured, since the run was interrupted: suite and title of each
    /// table. A complete report has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
}

impl Report {
    /// Reads what `cycloid bench --save` wrote; `name` is what an error calls it.
    ///
    /// # Errors
    /// Text that is no record, or one of a version that this program does not know.
    pub fn from_json(text: &str, name: &str) -> Result<Self, Failure> {
        let hint = "records are what `cycloid bench --save FILE` writes";
        let report: Self = serde_json::from_str(text)
            .map_err(|error| Failure::new(format!("{name} is no record: {error}"), hint))?;
        if !(FIRST_FORMAT..=FORMAT).contains(&report.format) {
            return Err(Failure::new(
                format!("{name} has format {}, this program knows up to {FORMAT}", report.format),
                "a later version of the program can read it",
            ));
        }
        Ok(report)
    }

    /// Leaves out the single samples, which are most of a record and seldom wanted.
    pub fn forget_samples(&mut self) {
        for record in self.tables.iter_mut().flat_map(|table| &mut table.records) {
            record.samples = None;
        }
    }
}

/// Where and when a run was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Missing {
    /// What was looked for and not found.
    pub reason: String,
    /// What brings it.
    pub remedy: String,
}

/// Subjects that were measured together, in one series of rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// A service beside its peers, a line a table: operations in a second, latencies, processor time.
    /// The title as for [`Self::Rates`].
    Service,
    /// Packets of an engine, a line a table: time, megabits in a second and allocations of a packet,
    /// and the peer's time; `packet_bytes` is among the parameters. The title as for [`Self::Rates`].
    Packets,
    /// Tunnels, a grid a table: throughput and processor time of both ends.
    Tunnels,
}

/// Names and values, such as `modulus_bits` and 2048.
pub type Parameters = BTreeMap<String, serde_json::Value>;

/// What was measured of one subject: complete without the table around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Of a service: what its clients see beside the time of an operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Of a tunnel: what goes through it, and what that costs each end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<Tunnel>,
    /// How many instructions one operation takes, and how much code, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
    /// Every sample, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
}

/// Instructions of one operation, as callgrind counts them.
///
/// They compare versions of one program and never two libraries: an instruction may take a quarter
/// of a cycle or ten. Valgrind has no AVX-512, so there is no count for the vector backends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Instructions {
    /// With the portable backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub portable: Option<Count>,
    /// With the ADX backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adx: Option<Count>,
    /// Of a peer, which chooses for itself on the processor that valgrind shows: it has AVX2 where
    /// the real one does, but no ADX, no SHA and no AVX-512.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Count>,
}

/// What callgrind counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Count {
    /// Instructions of one operation: the mean of the runs.
    pub count: f64,
    /// Those of the run with the fewest, and of the one with the most: the same number where chance
    /// decides nothing of what is done.
    pub range: [f64; 2],
    /// How many runs were counted.
    pub runs: u32,
    /// Bytes of the machine code that a call executes, in whole lines of 64 bytes: its share of an
    /// instruction cache, whatever library the code is from.
    pub code_bytes: u64,
}

/// What the numbers of a record are made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Samples {
    /// Nanoseconds of an operation, batch by batch, in the order in which they were taken.
    pub times_ns: Vec<f64>,
    /// The same in proportion to the reference's batch nearby; none of the reference itself, and
    /// none where means are compared.
    pub ratios: Vec<f64>,
}

/// A tunnel between two ends; medians of its rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tunnel {
    /// What one TCP stream carries inside.
    pub megabits_per_second: f64,
    /// Processor time of the server's process, and of the kernel for it, for each gigabyte inside.
    pub server_seconds_per_gigabyte: f64,
    /// The same of the client's process.
    pub client_seconds_per_gigabyte: f64,
    /// How long an echo takes through it while nothing else does.
    pub round_trip_ns: Option<f64>,
}

/// What the clients of a service see; the time of an operation is that of the service as a whole, all
/// clients together. All of it in nanoseconds, by the time of day but for `processor_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Service {
    /// Clients at once, of which each waits for its answer before it asks again.
    pub clients: usize,
    /// Answers that were timed.
    pub answers: usize,
    /// From question to answer: half of them took no longer.
    pub latency_median_ns: f64,
    /// 99 of 100 took no longer.
    pub latency_p99_ns: f64,
    /// Processor time of an operation, clients and service together.
    pub processor_ns: f64,
}

/// Who does an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Implementation {
    /// The library.
    #[serde(rename = "library")]
    pub product: String,
    /// Its version.
    pub version: String,
    /// The called function.
    pub function: String,
    /// Which of its backends runs, where that is known.
    pub backend: Option<String>,
}

/// How long one operation takes, in nanoseconds of [`Environment::clock`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ratio {
    /// Pairs of batches, or runs; 0 for the reference itself.
    pub samples: usize,
    /// The median, or the ratio of the means.
    pub median: f64,
    /// Its 95 % bootstrap interval.
    pub interval: [f64; 2],
}

impl Ratio {
    /// Half of the interval, in proportion to the median.
    pub fn spread(&self) -> f64 {
        (self.interval[1] - self.interval[0]) / 2.0 / self.median
    }
}

/// What one call needs of memory, in bytes; none where it is not known or was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Of a server: what its resident memory has grown by for each client that is connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident: Option<u64>,
}

#[cfg(test)]
mod tests;
