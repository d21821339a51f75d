//! Backends side by side, an operation a line: the tables that people know from ocaml-bls12-381.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, Table as Grid};

use super::number::{NONE, Unit, proportion, whole_or_none};
use crate::record::{Record, Statistic, Summary, Table};

/// What the columns mean that no other table has.
pub(super) const MEANINGS: [(&str, &str); 3] = [
    ("allocated", "bytes of heap that one run asks for, in whatever language"),
    ("%", "of the time that the longest operation of this backend takes in the table"),
    ("×, of a backend", "its time in proportion to that of the first backend, by paired batches"),
];

/// Whether there is such a table in the text.
pub(super) fn are_shown(tables: &[Table]) -> bool {
    tables.iter().any(is_shown)
}

/// Whether this one is a line of such a table, and has no grid of its own.
pub(super) fn is_shown(table: &Table) -> bool {
    table.summary == Summary::Backends
}

/// A table for each group of operations.
pub(super) fn text(tables: &[Table]) -> String {
    let mut text = String::new();
    let tables: Vec<&Table> = tables.iter().filter(|table| is_shown(table)).collect();
    for tables in tables.chunk_by(|a, b| a.suite == b.suite && names(a).0 == names(b).0) {
        let noise = tables.iter().map(|table| (table.control.median - 1.0).abs());
        let noise = noise.fold(0.0, f64::max) * 100.0;
        let _ = writeln!(text, "\n{}: {}", tables[0].suite, names(tables[0]).0);
        let _ = writeln!(text, "{}", grid(tables));
        let _ = writeln!(
            text,
            "noise: {} against itself differs by {noise:.1}% at the most",
            tables[0].reference
        );
    }
    text
}

/// The group of operations, and the name of the operation.
fn names(table: &Table) -> (&str, &str) {
    table.title.split_once(": ").unwrap_or(("", &table.title))
}

fn grid(tables: &[&Table]) -> Grid {
    let backends: Vec<&str> = tables[0].records.iter().map(|record| &*record.label).collect();
    let longest: Vec<f64> = backends.iter().map(|backend| longest(tables, backend)).collect();
    let mut grid = super::ruled();
    let mut head = vec![String::new()];
    for (i, backend) in backends.iter().enumerate() {
        head.extend([(*backend).into(), "allocated".into(), "%".into()]);
        if i > 0 {
            head.push("×".into());
        }
    }
    let last = head.len() - 1;
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
    for (i, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, if i == last { 0 } else { 2 }));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
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
