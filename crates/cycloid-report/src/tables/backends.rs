//! Backends in columns, one operation per line, as in the tables of ocaml-bls12-381. The peers are
//! in separate grids below, so that lines stay short.

use comfy_table::{Cell, Table as Grid};

use super::layout::{align, ruled};
use super::number::{NONE, Unit, proportion, whole_or_none};
use cycloid_lab::record::{Record, Statistic, Table};

/// The number of peers per grid.
const PEERS: usize = 2;

/// The meanings of the columns that only this form has.
pub(super) const MEANINGS: [(&str, &str); 3] = [
    ("bytes", "bytes of heap allocated by one run, in any language"),
    ("%", "of the time of this backend's longest operation in the table"),
    ("×, of a backend", "its time relative to the first backend's, from paired batches"),
];

/// Returns the grids of a group: one of the backends, and those of the peers, if any.
pub(super) fn grids(tables: &[&Table]) -> Vec<Grid> {
    let mut grids = vec![of_backends(tables)];
    let peers = labels(tables, is_peer);
    for peers in peers.chunks(PEERS) {
        grids.push(of_peers(tables, peers));
    }
    grids
}

fn is_peer(record: &Record) -> bool {
    record.implementation.backend.is_none()
}

/// Returns the labels of the selected records, each once, in the order of the table that has the
/// most.
fn labels<'a>(tables: &[&'a Table], which: fn(&Record) -> bool) -> Vec<&'a str> {
    let mut labels: Vec<&str> = Vec::new();
    let fullest = tables.iter().max_by_key(|table| table.records.len());
    let records = fullest.into_iter().chain(tables).flat_map(|table| &table.records);
    for record in records.filter(|record| which(record)) {
        if !labels.contains(&&*record.label) {
            labels.push(&record.label);
        }
    }
    labels
}

fn of_backends(tables: &[&Table]) -> Grid {
    let backends = labels(tables, |record| !is_peer(record));
    let longest: Vec<f64> = backends.iter().map(|backend| longest(tables, backend)).collect();
    let mut grid = ruled();
    let mut head = vec![String::new()];
    for (i, backend) in backends.iter().enumerate() {
        head.extend([(*backend).into(), "bytes".into(), "%".into()]);
        if i > 0 {
            head.push("×".into());
        }
    }
    grid.set_header(head.into_iter().map(Cell::new));
    for table in tables {
        let mut cells = vec![table.name.clone()];
        for (i, (backend, longest)) in backends.iter().zip(&longest).enumerate() {
            let record = table.records.iter().find(|record| record.label == *backend);
            cells.extend(columns(record, table.statistic, *longest));
            if i > 0 {
                cells.push(record.map_or_else(|| NONE.into(), |r| proportion(r.ratio.median)));
            }
        }
        grid.add_row(cells);
    }
    align(&mut grid, 2);
    grid
}

/// Returns the grid of some peers with their operations: time, allocated bytes, and the ratio to
/// the first backend.
fn of_peers(tables: &[&Table], peers: &[&str]) -> Grid {
    let mut grid = ruled();
    let mut head = vec![String::new()];
    for peer in peers {
        head.extend([(*peer).into(), "bytes".into(), "×".into()]);
    }
    grid.set_header(head.into_iter().map(Cell::new));
    for table in tables {
        let of = |peer: &&str| table.records.iter().find(|r| is_peer(r) && r.label == *peer);
        let records: Vec<Option<&Record>> = peers.iter().map(of).collect();
        if records.iter().all(Option::is_none) {
            continue;
        }
        let mut cells = vec![table.name.clone()];
        for record in records {
            // For a peer with few operations, the share of its longest one is meaningless.
            let [time, bytes, _] = columns(record, table.statistic, 1.0);
            let ratio = record.map_or_else(|| NONE.into(), |r| proportion(r.ratio.median));
            cells.extend([time, bytes, ratio]);
        }
        grid.add_row(cells);
    }
    align(&mut grid, 1);
    grid
}

/// Returns time, allocated bytes, and the share of the longest operation.
fn columns(record: Option<&Record>, statistic: Statistic, longest: f64) -> [String; 3] {
    let Some(record) = record else {
        return [NONE.into(), NONE.into(), NONE.into()];
    };
    let time = record.time.nanoseconds(statistic);
    let unit = Unit::of(time);
    [
        format!("{} {}", unit.show(time), unit.sign),
        whole_or_none(record.memory.heap_total),
        format!("{:.2}", time / longest * 100.0),
    ]
}

/// Returns the time of a backend's longest operation.
fn longest(tables: &[&Table], backend: &str) -> f64 {
    let time = |table: &&Table| {
        let record = table.records.iter().find(|record| record.label == backend)?;
        Some(record.time.nanoseconds(table.statistic))
    };
    tables.iter().filter_map(time).fold(f64::MIN_POSITIVE, f64::max)
}
