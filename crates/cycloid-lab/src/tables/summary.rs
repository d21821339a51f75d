//! What is constant-time, and whole libraries' answers rather than single strategies: several
//! sizes side by side.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, Table as Grid};

use super::number::{NONE, Unit, proportion};
use crate::record::{Record, Table};

/// So many sizes stand side by side; more make another grid.
const COLUMNS: usize = 5;

/// The summary of each suite that made more than one table; empty where none did.
pub(super) fn text(tables: &[Table]) -> String {
    let mut text = String::new();
    for tables in tables.chunk_by(|a, b| a.suite == b.suite) {
        if tables.len() > 1 {
            let reference = &tables[0].reference;
            let _ = writeln!(
                text,
                "\nMedian time of {reference}, and that of the others in proportion; \
                 constant-time only"
            );
            for tables in tables.chunks(COLUMNS) {
                let _ = writeln!(text, "{}", grid(tables));
            }
        }
    }
    text
}

fn grid(tables: &[Table]) -> Grid {
    let mut grid = super::ruled();
    let sizes = tables.iter().map(|table| {
        let size = table.parameters.get("key_bits").or(table.parameters.get("modulus_bits"));
        size.map_or_else(|| table.title.clone(), |bits| format!("{bits} bits"))
    });
    grid.set_header(std::iter::once(String::new()).chain(sizes).map(Cell::new));
    for record in tables[0].records.iter().filter(|record| is_answer(record)) {
        let cells = tables.iter().map(|table| cell(table, record));
        grid.add_row(std::iter::once(name(record).to_owned()).chain(cells));
    }
    let last = tables.len();
    for (i, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, if i == last { 0 } else { 2 }));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    grid
}

/// Strategies stand in groups of their own, answers in the group of their library.
fn is_answer(record: &Record) -> bool {
    record.constant_time && record.implementation.library == record.group
}

/// The library, or its way where there are several.
fn name(record: &Record) -> &str {
    if record.label == "constant-time" { &record.group } else { &record.label }
}

/// What `table` has of the same row as `record`.
fn cell(table: &Table, record: &Record) -> String {
    let same = |other: &&Record| other.group == record.group && other.label == record.label;
    match table.records.iter().find(same) {
        Some(same) if same.label == table.reference => {
            let unit = Unit::of(same.time.median_ns);
            format!("{} {}", unit.show(same.time.median_ns), unit.sign)
        }
        Some(same) => format!("×{}", proportion(same.ratio.median)),
        None => NONE.into(),
    }
}
