//! Instructions of operations and the code that they execute, one line per row.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, Table as Grid};

use super::layout::{cut, ruled, wrapped};
use super::number::{NONE, whole, whole_or_none};
use cycloid_lab::record::{Count, Record, Summary, Table};

/// The maximum width of a name, so that lines fit into 80 columns.
const NAME: usize = 36;

/// The meanings of the columns that only this form has.
pub(super) const MEANINGS: [(&str, &str); 3] = [
    (
        "instructions",
        "of one operation, as counted by callgrind; ~ is the mean of runs that differ by chance. \
         They compare versions of one program, not libraries",
    ),
    (
        "code",
        "bytes of machine code executed by a call, in whole lines of 64 bytes: its share of an \
         instruction cache",
    ),
    (
        "portable, ADX",
        "the library's backends. A peer is listed under portable and chooses its own code: it sees AVX2, \
         but no ADX, no SHA and no AVX-512, and may have faster code on a real processor",
    ),
];

/// Returns whether any row of the table was counted.
pub(super) fn are_shown(table: &Table) -> bool {
    // Another form shows those of an emulated processor.
    table.summary != Summary::Emulated
        && table.records.iter().any(|record| record.instructions.is_some())
}

/// Formats a grid for each suite.
pub(super) fn text(tables: &[Table]) -> String {
    let mut text = String::new();
    let tables: Vec<&Table> = tables.iter().filter(|table| are_shown(table)).collect();
    for tables in tables.chunk_by(|a, b| a.suite == b.suite) {
        let _ = writeln!(text, "\n{}: instructions per operation, code per call", tables[0].suite);
        let _ = writeln!(text, "{}", grid(tables));
    }
    text
}

fn grid(tables: &[&Table]) -> Grid {
    let mut grid = ruled();
    let head = ["", "portable", "code", "ADX", "code"];
    let last = head.len() - 1;
    grid.set_header(head.map(Cell::new));
    for table in tables {
        grid.add_row([wrapped(&table.title(), NAME).join("\n")]);
        for record in table.records.iter().filter(|record| record.instructions.is_some()) {
            grid.add_row(row(record));
        }
    }
    for (i, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, u16::from(i != last)));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    grid
}

fn row(record: &Record) -> [String; 5] {
    let instructions = record.instructions.unwrap_or_default();
    let first = if record.is_ours() { instructions.portable } else { instructions.peer };
    let name = match record.group == cycloid_lab::suite::LIBRARY {
        true => record.label.clone(),
        false => record.name(),
    };
    let [portable, code] = cells(first);
    let [adx, adx_code] = cells(instructions.adx);
    [format!("  {}", cut(&name, NAME - 2)), portable, code, adx, adx_code]
}

fn cells(count: Option<Count>) -> [String; 2] {
    let instructions = count.map_or_else(
        || NONE.into(),
        |Count { count, range, .. }| {
            let number = whole(count.round() as u64);
            if range[0] == range[1] { number } else { format!("~{number}") }
        },
    );
    [instructions, whole_or_none(count.map(|count| count.code_bytes))]
}
