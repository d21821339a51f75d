//! The rows that matter most, of several sizes side by side.

use comfy_table::{Cell, CellAlignment, Table as Grid};

use super::number::{NONE, Unit, proportion};
use crate::record::Table;

/// The summary of each suite that made more than one table; empty where none did.
pub(super) fn text(tables: &[Table]) -> String {
    let mut text = String::new();
    for tables in tables.chunk_by(|a, b| a.suite == b.suite) {
        if tables.len() > 1 {
            let reference = &tables[0].reference;
            text.push_str(&format!(
                "\nTime of {reference}, and that of others in proportion\n"
            ));
            text.push_str(&format!("{}\n", grid(tables)));
        }
    }
    text
}

fn grid(tables: &[Table]) -> Grid {
    let mut grid = super::ruled();
    let sizes = tables.iter().map(|table| {
        let size = table
            .parameters
            .get("key_bits")
            .or(table.parameters.get("modulus_bits"));
        size.map_or_else(|| table.title.clone(), |bits| format!("{bits} bits"))
    });
    grid.set_header(std::iter::once(String::new()).chain(sizes).map(Cell::new));

    let first = &tables[0];
    // Strategies stand in groups of their own; these are whole libraries' answers.
    let answers = first
        .records
        .iter()
        .filter(|record| record.implementation.library == record.group);
    for record in answers {
        let name = format!("{}, {}", record.group, record.label);
        let cells = tables.iter().map(|table| {
            let same = |other: &&crate::record::Record| {
                other.group == record.group && other.label == record.label
            };
            match table.records.iter().find(same) {
                Some(same) if same.label == table.reference => {
                    let unit = Unit::of(same.time.median_ns);
                    format!("{} {}", unit.show(same.time.median_ns), unit.sign)
                }
                Some(same) => format!("×{}", proportion(same.ratio.median)),
                None => NONE.into(),
            }
        });
        grid.add_row(std::iter::once(name).chain(cells));
    }
    for (i, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    grid
}
