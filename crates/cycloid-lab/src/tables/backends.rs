//! Backends side by side, an operation a line: the tables that people know from ocaml-bls12-381.

use comfy_table::{Cell, Table as Grid};

use super::lines::names;
use super::number::{NONE, Unit, proportion, whole_or_none};
use crate::record::{Record, Statistic, Table};

/// What the columns mean that no other table has.
pub(super) const MEANINGS: [(&str, &str); 3] = [
    ("bytes", "bytes of heap that one run asks for, in whatever language"),
    ("%", "of the time that the longest operation of this backend takes in the table"),
    ("×, of a backend", "its time in proportion to that of the first backend, by paired batches"),
];

/// A group of them.
pub(super) fn grid(tables: &[&Table]) -> Grid {
    let backends: Vec<&str> = tables[0].records.iter().map(|record| &*record.label).collect();
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
