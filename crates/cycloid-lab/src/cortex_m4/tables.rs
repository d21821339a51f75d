//! Makes tables of a record from what the programs and the plugin wrote.

use super::MEGAHERTZ;
use super::output::Run;
use super::peers::{Peer, Source};
use super::plan::{BACKEND, Planned, Row};
use crate::Failure;
use crate::record::{
    Count, Emulated, Implementation, Instructions, LIBRARY, Memory, Ratio, Record, Statistic,
    Summary, Table, Time,
};

/// The programs' output, and the versions of the peers.
pub(super) struct Results<'a> {
    /// The library of each run; none is this one.
    pub(super) runs: Vec<(Option<Peer>, Run)>,
    /// Bytes of flash by program.
    pub(super) flash: Vec<(&'static str, u64)>,
    /// The measured peers.
    pub(super) sources: &'a [Source],
}

/// Returns the tables.
///
/// # Errors
/// If a table has no row for its reference.
pub(super) fn of(planned: &[Planned], results: &Results<'_>) -> Result<Vec<Table>, Failure> {
    planned.iter().map(|planned| table(planned, results)).collect()
}

fn table(planned: &Planned, results: &Results<'_>) -> Result<Table, Failure> {
    let run = |row: &Row| {
        let fits =
            |(peer, run): &&(Option<Peer>, Run)| *peer == row.peer && run.name == row.operation;
        results.runs.iter().find(fits).map(|(_, run)| run)
    };
    let rows: Vec<(&Row, &Run)> =
        planned.rows.iter().filter_map(|row| Some((row, run(row)?))).collect();
    let is_reference = |(row, _): &&(&Row, &Run)| row.label == planned.reference;
    let (_, reference) = rows.iter().find(is_reference).ok_or_else(|| {
        Failure::new(format!("{} has no reference", planned.group), "please report it")
    })?;
    let cycles = reference.counts.cycles;
    let is_given = |peer: Peer| results.sources.iter().any(|source| source.peer == peer);
    let missing = Peer::ALL.into_iter().filter(|peer| planned.has_peers && !is_given(*peer));
    Ok(Table {
        suite: planned.suite.into(),
        group: planned.group.clone(),
        name: planned.name.clone(),
        series: None,
        parameters: planned.parameters.clone(),
        statistic: Statistic::Median,
        summary: Summary::Emulated,
        reference: planned.reference.into(),
        records: rows.iter().map(|(row, run)| record(planned, row, run, cycles, results)).collect(),
        control: exact(1.0),
        rounds: 1,
        seconds: 0.0,
        missing: missing.map(|peer| peer.name().into()).collect(),
        notes: planned.notes.clone(),
    })
}

fn record(
    planned: &Planned,
    row: &Row,
    run: &Run,
    reference: u64,
    results: &Results<'_>,
) -> Record {
    let counts = run.counts;
    let instructions = counts.instructions as f64;
    let nanoseconds = counts.cycles as f64 * 1e3 / f64::from(MEGAHERTZ);
    let flash =
        results.flash.iter().find(|(name, _)| row.flash == Some(name)).map(|(_, bytes)| *bytes);
    Record {
        operation: planned.operation.into(),
        parameters: planned.parameters.clone(),
        group: row.group.clone(),
        label: row.label.clone(),
        method: row.method,
        implementation: implementation(row, results.sources),
        constant_time: row.constant_time,
        operations_per_call: 1,
        time: Time {
            samples: 1,
            minimum_ns: nanoseconds,
            median_ns: nanoseconds,
            mean_ns: nanoseconds,
            interval_ns: [nanoseconds; 2],
            operations_per_second: 1e9 / nanoseconds,
        },
        ratio: exact(counts.cycles as f64 / reference as f64),
        memory: Memory {
            scratch: row.peer.is_none().then_some(run.scratch),
            stack_peak: Some(run.stack),
            heap_peak: Some(run.heap.unwrap_or(0)),
            heap_held: Some(0),
            ..Memory::default()
        },
        service: None,
        tunnel: None,
        instructions: Some(Instructions {
            emulated: Some(Count {
                count: instructions,
                range: [instructions; 2],
                runs: 1,
                code_bytes: counts.code,
            }),
            ..Instructions::default()
        }),
        emulated: Some(Emulated {
            cycles: counts.cycles,
            divisions: counts.divisions,
            flash,
            classic: row.classic,
        }),
        samples: None,
    }
}

fn implementation(row: &Row, sources: &[Source]) -> Implementation {
    let source = sources.iter().find(|source| row.peer == Some(source.peer));
    Implementation {
        product: row.peer.map_or(LIBRARY, Peer::name).into(),
        version: source.map_or(env!("CARGO_PKG_VERSION"), Source::version).into(),
        function: row.function.into(),
        backend: row.peer.is_none().then(|| BACKEND.into()),
    }
}

/// Returns a ratio without noise.
const fn exact(ratio: f64) -> Ratio {
    Ratio { samples: 1, median: ratio, interval: [ratio; 2] }
}
