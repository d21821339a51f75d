//! The common format of all results: what a run measured, where, and with what accuracy.
//!
//! All human-readable tables are derived from these records alone. `docs/record.schema.json`
//! describes the format for programs in other languages; it is generated from these types, and a
//! test compares it with them and with every committed record. Fields added within a version are
//! optional.
//!
//! Format 3 has fields for what a table's title joins ([`Table::group`], [`Table::name`],
//! [`Table::series`]) and for the method of a row ([`Record::method`]). Formats 1 and 2 had only
//! titles and labels; `old.rs` converts them on reading.

mod older_formats;
pub mod printable;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Failure;

/// The library's name, and the group of its rows that are not strategies.
pub const LIBRARY: &str = "Cycloid";

/// The backend that wraps another library behind our interface, and therefore serves as a peer.
const FOREIGN_BACKEND: &str = "blst";

/// The version of this format; readers must reject unknown versions.
pub const FORMAT: u32 = 3;

/// A run of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// Machine, compiler and date.
    pub environment: Environment,
    /// The time budget: `quick`, `plain` or `full`.
    pub effort: String,
    /// Every requested peer, including missing ones.
    pub peers: Vec<Peer>,
    /// The measured tables.
    pub tables: Vec<Table>,
    /// Planned tables that were not measured because the run was interrupted: suite and title of
    /// each. Empty in a complete report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
}

impl Report {
    /// Parses a record written by `cycloid bench --save`; `name` identifies it in errors. A record
    /// of an older format is converted to [`FORMAT`]. Control characters in its texts become
    /// U+FFFD.
    ///
    /// # Errors
    /// If the text is not a record, or has an unknown version.
    // Compiled where it is called: this crate is optimised, which would take long.
    #[inline]
    pub fn from_json(text: &str, name: &str) -> Result<Self, Failure> {
        let foreign = |why: String| {
            let hint = "write records with `cycloid bench --save FILE`";
            Failure::new(format!("{name} is not a record: {why}"), hint)
        };
        let malformed = |error: serde_json::Error| foreign(error.to_string());
        let mut value: Value = serde_json::from_str(text).map_err(malformed)?;
        let is_changed = printable::replace(&mut value);
        let format = value.get("format").ok_or_else(|| foreign("it has no format".into()))?;
        let format = format
            .as_u64()
            .filter(|format| *format > 0)
            .ok_or_else(|| foreign("its format is not a positive integer".into()))?;
        if format > u64::from(FORMAT) {
            return Err(Failure::new(
                format!(
                    "{name} has format {format}, but this program reads formats up to {FORMAT}"
                ),
                "read it with a later version of the program",
            ));
        }
        if format < u64::from(FORMAT) {
            return older_formats::read(value).map_err(foreign);
        }
        if is_changed {
            return Self::deserialize(value).map_err(malformed);
        }
        // Errors in a text name the line.
        serde_json::from_str(text).map_err(malformed)
    }

    /// Removes the single samples, which are most of a record and seldom needed.
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
    /// Name and version of the program; the library has the same version.
    pub program: String,
    /// The start of the run: RFC 3339, UTC.
    pub date: String,
    /// The processor's model name.
    pub cpu: String,
    /// The number of hardware threads.
    pub threads: usize,
    /// The target triple that the program was compiled for.
    pub target: String,
    /// The highest level that the processor supports.
    pub level_detected: String,
    /// The level in use; peers choose their own.
    pub level_used: String,
    /// `rustc --version`.
    pub compiler: String,
    /// The optimisation level that the program was compiled with.
    pub opt_level: String,
    /// The clock that timed the operations.
    pub clock: String,
}

/// A library that ours is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Its version as it reports it; none if it is missing.
    pub version: Option<String>,
    /// If it is missing: the reason and the remedy.
    pub missing: Option<Missing>,
}

/// Why a peer is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Missing {
    /// The missing library or program.
    pub reason: String,
    /// How to install it.
    pub remedy: String,
}

/// Subjects measured together, in one series of rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Table {
    /// The suite that made it.
    pub suite: String,
    /// The group of tables that it belongs to, such as `RSA-2048`, `P-256` or `pairing`.
    pub group: String,
    /// Its name within the group, such as `sign`; empty if it is alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// For one of several sizes of an operation: the operation and the size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Parameters common to all rows.
    pub parameters: Parameters,
    /// The statistic of times and ratios; the median in reports of format 1.
    #[serde(default)]
    pub statistic: Statistic,
    /// How it is combined with the other tables of its suite.
    #[serde(default)]
    pub summary: Summary,
    /// The label of the row that ratios refer to.
    pub reference: String,
    /// The rows, in display order.
    pub records: Vec<Record>,
    /// The reference measured against itself: 1 except for noise.
    pub control: Ratio,
    /// The number of interleaved rounds.
    pub rounds: usize,
    /// The duration of the rounds in seconds.
    pub seconds: f64,
    /// Peers that should have rows but are missing; [`Report::peers`] has the reasons.
    pub missing: Vec<String>,
    /// Notes on single rows or columns.
    pub notes: Vec<String>,
}

impl Table {
    /// Returns its title, which consists of group and name.
    pub fn title(&self) -> String {
        title(&self.group, &self.name)
    }

    /// Returns whether both are the same table in different runs.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.suite, &self.group, &self.name) == (&other.suite, &other.group, &other.name)
    }
}

/// Returns the title of a table of this group and name.
pub fn title(group: &str, name: &str) -> String {
    if name.is_empty() { group.into() } else { format!("{group}: {name}") }
}

/// One of several sizes of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Series {
    /// The operation without its size, such as `G1 sum of multiples`.
    pub operation: String,
    /// The number of its items, such as 4096.
    pub size: NonZeroU64,
}

/// The statistic that represents many samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// The median.
    #[default]
    Median,
    /// The mean, for operations whose time naturally varies from run to run.
    Mean,
}

impl Statistic {
    /// Returns its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
        }
    }
}

/// How several tables of a suite are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Summary {
    /// One size per column: the time of the reference, and the ratio of the others to it.
    #[default]
    Proportions,
    /// One library per column and one line per table: operations per second, and their ratio to the
    /// best peer's.
    Rates,
    /// One backend per column, one line per table: the time of one run, the allocated bytes, the
    /// share of the longest operation's time, and the ratio to the first backend.
    Backends,
    /// A service compared with its peers, one line per table: operations per second, latencies,
    /// processor time.
    Service,
    /// Packets of an engine, one line per table: time, megabits per second and allocations per
    /// packet, and the peer's time; `packet_bytes` is among the parameters.
    Packets,
    /// Tunnels, one grid per table: throughput and processor time of both ends.
    Tunnels,
    /// Operations on an emulated processor, one grid per group: instructions, cycles, time, memory
    /// and flash.
    Emulated,
}

/// Names and values, such as `modulus_bits` and 2048.
pub type Parameters = BTreeMap<String, Value>;

/// The results of one subject, complete without the surrounding table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Record {
    /// The operation, such as `modular exponentiation`.
    pub operation: String,
    /// The sizes.
    pub parameters: Parameters,
    /// Its group in the table.
    pub group: String,
    /// Its label in the group.
    pub label: String,
    /// For a row of the library: its method.
    #[serde(default, skip_serializing_if = "Method::is_single")]
    pub method: Method,
    /// The implementation.
    pub implementation: Implementation,
    /// Whether its time is independent of secret values, according to its own documentation.
    pub constant_time: bool,
    /// The number of operations per call.
    pub operations_per_call: u32,
    /// The time of one operation.
    pub time: Time,
    /// The time relative to the table's reference.
    pub ratio: Ratio,
    /// The memory use of one call.
    pub memory: Memory,
    /// For a service: what its clients observe besides the time of an operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// For a tunnel: its throughput, and the cost at each end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<Tunnel>,
    /// The number of instructions and the code size of one operation, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
    /// For an emulated processor: its cycles and the flash of the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated: Option<Emulated>,
    /// All samples, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
}

impl Record {
    /// Returns whether the row is the library's, with its own arithmetic.
    pub fn is_ours(&self) -> bool {
        self.implementation.product == LIBRARY
            && self.implementation.backend.as_deref() != Some(FOREIGN_BACKEND)
    }

    /// Returns whether a peer's row is a fair comparison: for a single operation, its batches are
    /// not.
    pub fn is_comparable_with(&self, peer: &Self) -> bool {
        peer.operations_per_call <= self.operations_per_call
    }

    /// Returns whether the row is a peer's alone: one end of a tunnel may be the library's.
    pub fn is_whole_peer(&self) -> bool {
        !self.is_ours()
            && (self.implementation.product == LIBRARY
                || !self.implementation.product.contains(LIBRARY))
    }

    /// Returns its name in a list: group and label.
    pub fn name(&self) -> String {
        row_name(&self.group, &self.label)
    }
}

/// Returns the name of a row in a list.
pub fn row_name(group: &str, label: &str) -> String {
    if group == label { label.to_owned() } else { format!("{group}, {label}") }
}

/// The method of one of the library's rows. A peer's row always counts as single.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The usual method: one operation at a time, as a peer does it.
    #[default]
    Single,
    /// The same for a batch: [`Record::operations_per_call`] operations in one call.
    Batch,
    /// A special method: another algorithm, prepared or unknown keys, little memory, a first use.
    Other,
}

impl Method {
    fn is_single(&self) -> bool {
        *self == Self::Single
    }
}

/// Instructions of one operation, as counted by callgrind.
///
/// Counts compare versions of one program, never two libraries: an instruction may take a quarter
/// of a cycle or ten. Valgrind lacks AVX-512, so the vector backends have no count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Instructions {
    /// With the portable backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub portable: Option<Count>,
    /// With the ADX backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adx: Option<Count>,
    /// For a peer, which chooses its code for the processor that valgrind shows: with AVX2 if the
    /// real processor has it, but without ADX, SHA and AVX-512.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Count>,
    /// On an emulated processor, counted by the emulator's plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated: Option<Count>,
}

/// The results of an operation on an emulated processor, apart from its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Emulated {
    /// Cycles of one operation by a model of the processor: an estimate. [`Record::time`] is the
    /// time of that many cycles.
    pub cycles: u64,
    /// Instructions among them whose time depends on values: divisions.
    pub divisions: u64,
    /// Bytes of flash: by how much a program with the operation is larger than one without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<u64>,
    /// The same row of the classic table of time and memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classic: Option<Classic>,
}

/// Known figures of the classic table of time and memory, from a Cortex-M4F at 180 MHz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Classic {
    /// The time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<f64>,
    /// Bytes of scratch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<usize>,
}

/// The result of counting: by callgrind, or by an emulator's plugin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Count {
    /// Instructions of one operation: the mean of the runs.
    pub count: f64,
    /// The lowest and the highest count of any run: equal if the operation does not depend on
    /// chance.
    pub range: [f64; 2],
    /// The number of counted runs.
    pub runs: u32,
    /// Bytes of machine code that a call executes, in whole lines of 64 bytes: its share of an
    /// instruction cache, in all libraries together.
    pub code_bytes: u64,
}

/// The samples behind a record's numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Samples {
    /// Nanoseconds per operation, batch by batch, in the order of measurement.
    pub times_ns: Vec<f64>,
    /// The same relative to the reference's batch nearby; empty for the reference itself, and if
    /// means are compared.
    pub ratios: Vec<f64>,
}

/// A tunnel between two ends; medians over its rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tunnel {
    /// The throughput of one TCP stream through the tunnel.
    pub megabits_per_second: f64,
    /// Processor time of the server's process, including kernel time, per gigabyte of payload.
    pub server_seconds_per_gigabyte: f64,
    /// The same for the client's process.
    pub client_seconds_per_gigabyte: f64,
    /// The round-trip time of an echo through the otherwise idle tunnel.
    pub round_trip_ns: Option<f64>,
}

/// The performance of a service as its clients observe it, in nanoseconds of wall-clock time,
/// except for `processor_ns`. The time of an operation is the elapsed time divided by the
/// operations of all clients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Service {
    /// Concurrent clients; each waits for its response before the next request.
    pub clients: usize,
    /// Timed responses.
    pub answers: usize,
    /// The median latency from request to response.
    pub latency_median_ns: f64,
    /// The 99th percentile of the latency.
    pub latency_p99_ns: f64,
    /// Processor time per operation, clients and service together.
    pub processor_ns: f64,
}

/// The implementation of an operation.
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
    /// The backend in use, if known.
    pub backend: Option<String>,
}

/// The time of one operation in nanoseconds of [`Environment::clock`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Time {
    /// The number of timed batches.
    pub samples: usize,
    /// The fastest batch.
    pub minimum_ns: f64,
    /// The median.
    pub median_ns: f64,
    /// The mean.
    #[serde(default)]
    pub mean_ns: f64,
    /// The 95 % bootstrap interval of the table's statistic.
    pub interval_ns: [f64; 2],
    /// Operations per second at the time given by the table's statistic.
    pub operations_per_second: f64,
}

impl Time {
    /// Returns the time by this statistic.
    pub const fn nanoseconds(&self, statistic: Statistic) -> f64 {
        match statistic {
            Statistic::Median => self.median_ns,
            Statistic::Mean => self.mean_ns,
        }
    }
}

/// The time of one operation divided by the reference's: the median over paired batches, or the
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
    /// Returns half of the interval relative to the median.
    pub fn spread(&self) -> f64 {
        (self.interval[1] - self.interval[0]) / 2.0 / self.median
    }
}

/// The memory use of one call in bytes; none if unknown or not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Memory {
    /// The scratch that the caller passes, as given by the library's own function.
    pub scratch: Option<usize>,
    /// The greatest depth of touched stack.
    pub stack_peak: Option<usize>,
    /// The peak of the heap in use during a call, beyond the bytes held before.
    pub heap_peak: Option<u64>,
    /// Heap that prepared contexts hold between calls.
    pub heap_held: Option<u64>,
    /// All bytes allocated in a call.
    pub heap_total: Option<u64>,
    /// Allocations in a call.
    pub allocations: Option<u64>,
    /// For a server: the growth of its resident memory per connected client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident: Option<u64>,
}

#[cfg(test)]
mod tests;
