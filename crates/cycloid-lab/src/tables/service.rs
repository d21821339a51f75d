//! A service beside its peers, a number of clients a line: rates, latencies, processor time.

use comfy_table::{Cell, Table as Grid};

use super::lines::names;
use super::number::{NONE, Unit, proportion, whole};
use crate::record::{Record, Service, Table};

/// What the columns mean that no other table has.
pub(super) const MEANINGS: [(&str, &str); 4] = [
    ("per s", "operations in a second, all clients together; the peer's beside it"),
    ("ratio", "of the rates, to the peer's in the same rounds: 2.00 does twice as many"),
    ("p50, p99 ms", "from question to answer: half, and 99 of 100, took no longer"),
    ("cpu µs", "processor time of one operation, clients and service together"),
];

/// A group of them.
pub(super) fn grid(tables: &[&Table]) -> Grid {
    let mut grid = super::ruled();
    let peers: Vec<&str> = tables[0].records[1..].iter().map(|peer| &*peer.group).collect();
    let mut head = vec![String::new()];
    for column in ["per s", "p50 ms", "p99 ms", "cpu µs"] {
        head.push(column.into());
        head.extend(peers.iter().map(|peer| (*peer).to_owned()));
        if column == "per s" {
            head.extend(peers.iter().flat_map(|_| ["ratio".to_owned(), "±".into()]));
        }
    }
    grid.set_header(head.into_iter().map(Cell::new));
    for table in tables {
        grid.add_row(row(table));
    }
    super::align(&mut grid, 1);
    grid
}

fn row(table: &Table) -> Vec<String> {
    let records = &table.records;
    let of = |show: fn(&Service) -> String| {
        let cell = move |record: &Record| record.service.as_ref().map_or_else(|| NONE.into(), show);
        records.iter().map(cell)
    };
    let mut cells = vec![names(table).1.to_owned()];
    cells.extend(records.iter().map(|record| whole(record.time.operations_per_second as u64)));
    for peer in &records[1..] {
        let ratio = &peer.ratio;
        cells.push(proportion(ratio.median));
        cells.push(format!("{:.0}%", ratio.spread() * 100.0));
    }
    cells.extend(of(|service| milliseconds(service.latency_median_ns)));
    cells.extend(of(|service| milliseconds(service.latency_p99_ns)));
    cells.extend(of(|service| Unit::MICROSECONDS.show(service.processor_ns)));
    cells
}

fn milliseconds(nanoseconds: f64) -> String {
    let milliseconds = nanoseconds / 1e6;
    let decimals = if milliseconds < 1.0 { 3 } else { 1 };
    format!("{milliseconds:.decimals$}")
}
