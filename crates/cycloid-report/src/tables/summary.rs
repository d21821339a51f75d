//! Summarises whole libraries rather than single strategies, with several sizes in columns.

use std::fmt::Write;

use comfy_table::{Cell, Table as Grid};

use super::layout::{align, ruled};
use super::number::{NONE, Unit, proportion};
use cycloid_lab::record::{Record, Summary, Table};

/// The number of sizes per grid.
const COLUMNS: usize = 5;

/// Formats a summary of each operation that has more than one table; empty if there is none.
pub(super) fn text(tables: &[Table]) -> String {
    let mut text = String::new();
    for tables in tables.chunk_by(|a, b| a.suite == b.suite && operation(a) == operation(b)) {
        if tables.len() > 1 && tables[0].summary == Summary::Proportions {
            let Table { reference, statistic, .. } = &tables[0];
            let (operation, statistic) = (operation(&tables[0]), statistic.name());
            let _ = writeln!(
                text,
                "\n{}: {operation}\n{statistic} time of {reference}, and the others \
                 relative to it",
                tables[0].suite
            );
            for tables in tables.chunks(COLUMNS) {
                let _ = writeln!(text, "{}", grid(tables));
            }
        }
    }
    text
}

/// Returns the common operation of a table's rows.
fn operation(table: &Table) -> &str {
    table.records.first().map_or("", |record| &record.operation)
}

fn grid(tables: &[Table]) -> Grid {
    let mut grid = ruled();
    let sizes = tables.iter().map(|table| {
        let size = table.parameters.get("key_bits").or(table.parameters.get("modulus_bits"));
        size.map_or_else(|| table.title(), |bits| format!("{bits} bits"))
    });
    grid.set_header(std::iter::once(String::new()).chain(sizes).map(Cell::new));
    let answers: Vec<&Record> =
        tables[0].records.iter().filter(|record| is_answer(&tables[0], record)).collect();
    for record in &answers {
        let alone = answers.iter().filter(|other| other.group == record.group).count() == 1;
        let cells = tables.iter().map(|table| cell(table, record));
        grid.add_row(std::iter::once(name(record, alone)).chain(cells));
    }
    align(&mut grid, 2);
    grid
}

/// Returns whether a record belongs in the summary. Strategies have groups of their own, and other
/// rows the group of their library; if a library has both kinds, only constant-time rows count.
fn is_answer(table: &Table, record: &Record) -> bool {
    let has_constant_time =
        || table.records.iter().any(|other| other.group == record.group && other.constant_time);
    record.implementation.product == record.group && (record.constant_time || !has_constant_time())
}

/// Returns the row's name: the label for ours, the library for peers, with the label if a library
/// has several rows.
fn name(record: &Record, alone: bool) -> String {
    let Record { group, label, .. } = record;
    let name = match (record.implementation.backend.is_some(), alone) {
        (true, _) => label.clone(),
        (false, true) => group.clone(),
        (false, false) => format!("{group}, {label}"),
    };
    if record.constant_time { name } else { format!("{name} (not ct)") }
}

/// Returns the cell for the row of `table` that matches `record`.
fn cell(table: &Table, record: &Record) -> String {
    let same = |other: &&Record| other.group == record.group && other.label == record.label;
    match table.records.iter().find(same) {
        Some(same) if same.label == table.reference => {
            let time = same.time.nanoseconds(table.statistic);
            let unit = Unit::of(time);
            format!("{} {}", unit.show(time), unit.sign)
        }
        Some(same) => format!("×{}", proportion(same.ratio.median)),
        None => NONE.into(),
    }
}
