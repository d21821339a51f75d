//! Makes tables of a record from what the programs and the plugin counted.

use super::plan::{Planned, REFERENCE, Row};
use crate::Failure;
use crate::record::{
    Count, Emulated, Implementation, Instructions, LIBRARY, Memory, Ratio, Record, Statistic,
    Summary, Table, Time,
};

/// The counts of a processor's programs.
#[derive(Default)]
pub(super) struct Results {
    pub(super) runs: Vec<Run>,
    /// Bytes of flash by program.
    pub(super) flash: Vec<(&'static str, u64)>,
    /// The measured peers, with their versions.
    pub(super) peers: Vec<(&'static str, String)>,
}

/// The counts of one operation.
pub(super) struct Run {
    /// The library, and its backend; none for a peer.
    pub(super) product: &'static str,
    pub(super) backend: Option<&'static str>,
    /// The name of the operation in the program.
    pub(super) operation: String,
    pub(super) instructions: Count,
    /// Cycles, and divisions among the instructions, where there is a model of the processor.
    pub(super) cycles: Option<(u64, u64)>,
    pub(super) memory: Memory,
    /// The time in records.
    pub(super) nanoseconds: f64,
}

impl Run {
    /// Returns what ratios compare: cycles, or without a model of them instructions.
    fn cost(&self) -> f64 {
        self.cycles.map_or(self.instructions.count, |(cycles, _)| cycles as f64)
    }
}

/// Returns the tables.
///
/// # Errors
/// If a table has no row for its reference.
pub(super) fn of(planned: &[Planned], results: &Results) -> Result<Vec<Table>, Failure> {
    planned.iter().map(|planned| table(planned, results)).collect()
}

fn table(planned: &Planned, results: &Results) -> Result<Table, Failure> {
    let run = |row: &Row| {
        results.runs.iter().find(|run| {
            (run.product, run.backend) == (row.product, row.backend)
                && run.operation == row.operation
        })
    };
    let rows: Vec<(&Row, &Run)> =
        planned.rows.iter().filter_map(|row| Some((row, run(row)?))).collect();
    let is_reference = |(row, _): &&(&Row, &Run)| row.label == REFERENCE;
    let (_, reference) = rows.iter().find(is_reference).ok_or_else(|| {
        Failure::new(format!("{} has no reference", planned.group), "please report it")
    })?;
    let cost = reference.cost();
    let is_measured = |name: &&str| results.peers.iter().any(|(peer, _)| peer == name);
    let missing = planned.peers.iter().filter(|name| !is_measured(name));
    Ok(Table {
        suite: planned.suite.into(),
        group: planned.group.clone(),
        name: planned.name.clone(),
        series: None,
        parameters: planned.parameters.clone(),
        statistic: Statistic::Median,
        summary: Summary::Emulated,
        reference: REFERENCE.into(),
        records: rows.iter().map(|(row, run)| record(planned, row, run, cost, results)).collect(),
        control: exact(1.0),
        rounds: 1,
        seconds: 0.0,
        missing: missing.map(|name| (*name).into()).collect(),
        notes: planned.notes.clone(),
    })
}

fn record(planned: &Planned, row: &Row, run: &Run, reference: f64, results: &Results) -> Record {
    let flash =
        results.flash.iter().find(|(name, _)| row.flash == Some(name)).map(|(_, bytes)| *bytes);
    Record {
        operation: planned.operation.into(),
        parameters: planned.parameters.clone(),
        group: row.group.clone(),
        label: row.label.clone(),
        method: row.method,
        implementation: implementation(row, results),
        constant_time: row.constant_time,
        operations_per_call: 1,
        time: Time {
            samples: 1,
            minimum_ns: run.nanoseconds,
            median_ns: run.nanoseconds,
            mean_ns: run.nanoseconds,
            interval_ns: [run.nanoseconds; 2],
            operations_per_second: 1e9 / run.nanoseconds,
        },
        ratio: exact(run.cost() / reference),
        memory: run.memory,
        service: None,
        tunnel: None,
        instructions: Some(Instructions {
            emulated: Some(run.instructions),
            ..Instructions::default()
        }),
        emulated: run.cycles.map(|(cycles, divisions)| Emulated {
            cycles,
            divisions,
            flash,
            classic: row.classic,
        }),
        samples: None,
    }
}

fn implementation(row: &Row, results: &Results) -> Implementation {
    let version = match row.product {
        LIBRARY => env!("CARGO_PKG_VERSION"),
        peer => results
            .peers
            .iter()
            .find(|(name, _)| *name == peer)
            .map_or("of unknown version", |(_, version)| version),
    };
    Implementation {
        product: row.product.into(),
        version: version.into(),
        function: row.function.into(),
        backend: row.backend.map(Into::into),
    }
}

/// Returns a ratio without noise.
const fn exact(ratio: f64) -> Ratio {
    Ratio { samples: 1, median: ratio, interval: [ratio; 2] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(product: &'static str, backend: Option<&'static str>, count: f64) -> Run {
        Run {
            product,
            backend,
            operation: "sign".into(),
            instructions: Count { count, range: [count; 2], runs: 1, code_bytes: 64 },
            cycles: None,
            memory: Memory::default(),
            nanoseconds: count,
        }
    }

    #[test]
    fn rows_have_the_counts_of_their_library_and_backend() {
        let mut planned = Planned::new(["z80", "Z80"], "ec", "P-256", "sign", "sign");
        planned.peers = vec!["graviola", "blst"];
        planned.rows = vec![
            Row::ours("fast", "sign", "f"),
            Row::special("portable", "sign", "portable", "f"),
            Row::of_peer("graviola", "sign", "sign", "g"),
            Row::of_peer("blst", "sign", "sign", "h"),
        ];
        let mut results = Results {
            runs: vec![
                run("graviola", None, 30.0),
                run(LIBRARY, Some("portable"), 50.0),
                run(LIBRARY, Some("fast"), 20.0),
            ],
            peers: vec![("graviola", "0.4".into())],
            ..Results::default()
        };
        let table = &of(&[planned], &results).unwrap()[0];
        let ratios: Vec<f64> = table.records.iter().map(|record| record.ratio.median).collect();
        assert_eq!(ratios, [1.0, 2.5, 1.5]);
        assert_eq!(table.records[2].implementation.version, "0.4");
        assert_eq!((&*table.group, &table.missing[..]), ("P-256 on Z80", &["blst".to_owned()][..]));
        assert!(table.records.iter().all(|record| record.emulated.is_none()));

        // With a model of cycles, they are what is compared.
        results.runs[1].cycles = Some((70, 0));
        results.runs[2].cycles = Some((10, 0));
        let mut planned = Planned::new(["z80", "Z80"], "ec", "P-256", "sign", "sign");
        planned.rows = vec![Row::special("portable", "sign", "portable", "f")];
        let failure = of(&[planned], &results).unwrap_err();
        assert_eq!(failure.message, "P-256 on Z80 has no reference");
        let mut planned = Planned::new(["z80", "Z80"], "ec", "P-256", "sign", "sign");
        planned.rows =
            vec![Row::ours("fast", "sign", "f"), Row::special("portable", "sign", "portable", "f")];
        assert_eq!(of(&[planned], &results).unwrap()[0].records[1].ratio.median, 7.0);
    }
}
