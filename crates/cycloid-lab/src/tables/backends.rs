//! Backends side by side, an operation a line: the tables that people know from ocaml-bls12-381. Below
//! stand the peers, so that no line is too long.

use comfy_table::{Cell, Table as Grid};

use super::lines::names;
use super::number::{NONE, Unit, proportion, whole_or_none};
use crate::record::{Record, Statistic, Table};

/// So many peers stand side by side; more stand in another grid.
const PEERS: usize = 2;

/// What the columns mean that no other table has.
pub(super) const MEANINGS: [(&str, &str); 3] = [
    ("bytes", "bytes of heap that one run asks for, in whatever language"),
    ("%", "of the time that the longest operation of this backend takes in the table"),
    ("×, of a backend", "its time in proportion to that of the first backend, by paired batches"),
];

/// The grids of a group: that of the backends, and those of the peers where there are any.
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

/// The labels of such records, each once, in the order of a table that has the most.
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
    let mut grid = super::ruled();
    let mut head = vec![String::new()];
    for (i, backend) in backends.iter().enumerate() {
        head.extend([(*backend).into(), "bytes".into(), "%".into()]);
        if i > 0 {
            head.push("×".into());
        }
    }
    grid.set_header(head.into_iter().map(Cell::new));
    for table in tables {
        let mut cells = vec![names(table).1.to_owned()];
        for (i, (backend, longest)) in backends.iter().zip(&longest).enumerate() {
            let record = table.records.iter().find(|record| record.label == *backend);
            cells.extend(columns(record, table.statistic, *longest));
            if i > 0 {
                cells.push(record.map_or_else(|| NONE.into(), |r| proportion(r.ratio.median)));
            }
        }
        grid.add_row(cells);
    }
    super::align(&mut grid, 2);
    grid
}

/// Some peers, with what they do: time, bytes allocated, and the proportion to the first backend.
fn of_peers(tables: &[&Table], peers: &[&str]) -> Grid {
    let mut grid = super::ruled();
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
        let mut cells = vec![names(table).1.to_owned()];
        for record in records {
            // Of what a peer alone does, the share in its longest says nothing.
            let [time, bytes, _] = columns(record, table.statistic, 1.0);
            let ratio = record.map_or_else(|| NONE.into(), |r| proportion(r.ratio.median));
            cells.extend([time, bytes, ratio]);
        }
        grid.add_row(cells);
    }
    super::align(&mut grid, 1);
    grid
}

/// Time, bytes allocated, and the share of the longest.
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

/// The time of a backend's longest operation.
fn longest(tables: &[&Table], backend: &str) -> f64 {
    let time = |table: &&Table| {
        let record = table.records.iter().find(|record| record.label == backend)?;
        Some(record.time.nanoseconds(table.statistic))
    };
    tables.iter().filter_map(time).fold(f64::MIN_POSITIVE, f64::max)
}
