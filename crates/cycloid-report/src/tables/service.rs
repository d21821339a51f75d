//! A service compared with its peers, one number of clients per line: rates, latencies, processor
//! time.

use comfy_table::{Cell, Table as Grid};

use super::layout::{align, ruled};
use super::number::{NONE, percent, proportion, whole};
use cycloid_lab::record::{Record, Service, Table};

/// The meanings of the columns that only this form has.
pub(super) const MEANINGS: [(&str, &str); 4] = [
    ("per s", "operations per second, all clients together, with the peer's next to it"),
    ("ratio", "our rate relative to the peer's in the same rounds: 2.00 does twice as many"),
    ("p50, p99 ms", "latency from request to response: median and 99th percentile"),
    ("cpu µs", "processor time per operation, clients and service together"),
];

/// Returns the grid of a group.
pub(super) fn grid(tables: &[&Table]) -> Grid {
    let mut grid = ruled();
    let peers: Vec<&str> = tables[0].records[1..].iter().map(|peer| &*peer.group).collect();
    let mut head = vec![String::new()];
    for column in ["per s", "p50 ms", "p99 ms", "cpu µs"] {
        head.push(column.into());
        head.extend(peers.iter().map(|peer| (*peer).to_owned()));
        if column == "per s" {
            head.extend(peers.iter().flat_map(|_| ["ratio".to_owned(), "±%".into()]));
        }
    }
    grid.set_header(head.into_iter().map(Cell::new));
    for table in tables {
        grid.add_row(row(table));
    }
    align(&mut grid, 1);
    grid
}

fn row(table: &Table) -> Vec<String> {
    let records = &table.records;
    let of = |show: fn(&Service) -> String| {
        let cell = move |record: &Record| record.service.as_ref().map_or_else(|| NONE.into(), show);
        records.iter().map(cell)
    };
    let mut cells = vec![table.name.clone()];
    cells.extend(records.iter().map(|record| rate(record.time.operations_per_second)));
    for peer in &records[1..] {
        let ratio = &peer.ratio;
        cells.push(proportion(ratio.median));
        cells.push(percent(ratio.spread()).trim_end_matches('%').to_owned());
    }
    cells.extend(of(|service| milliseconds(service.latency_median_ns)));
    cells.extend(of(|service| milliseconds(service.latency_p99_ns)));
    cells.extend(of(|service| microseconds(service.processor_ns)));
    cells
}

/// Formats a rate up to some hundred thousands, more than a service that responds to each client
/// reaches.
fn rate(operations_per_second: f64) -> String {
    match operations_per_second as u64 {
        rate if rate < 100_000 => whole(rate),
        rate => rate.to_string(),
    }
}

/// Formats a time, with a decimal where it is significant.
fn microseconds(nanoseconds: f64) -> String {
    let microseconds = nanoseconds / 1e3;
    match microseconds {
        t if t < 999.95 => format!("{t:.1}"),
        t if t < 99_999.5 => whole(t.round() as u64),
        _ => ">0.1 s".into(),
    }
}

fn milliseconds(nanoseconds: f64) -> String {
    let milliseconds = nanoseconds / 1e6;
    let decimals = match milliseconds {
        t if t < 0.9995 => 3,
        t if t < 999.95 => 1,
        t if t < 99_999.5 => 0,
        _ => return "> 99 s".into(),
    };
    format!("{milliseconds:.decimals$}")
}
