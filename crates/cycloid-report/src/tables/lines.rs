//! Tables of one line each, combined into a grid per group.

use std::fmt::Write;

use comfy_table::Table as Grid;

use super::noise::noise;
use super::{backends, packets, service};
use cycloid_lab::record::{Summary, Table};

/// A form of combining tables.
pub(super) struct Form {
    summary: Summary,
    /// Returns the grid of a group, or several that are shown one below the other.
    grids: fn(&[&Table]) -> Vec<Grid>,
    /// The meanings of the columns that only this form has.
    pub(super) meanings: &'static [(&'static str, &'static str)],
}

/// All forms in display order.
pub(super) const FORMS: [Form; 3] = [
    Form { summary: Summary::Backends, grids: backends::grids, meanings: &backends::MEANINGS },
    Form {
        summary: Summary::Service,
        grids: |tables| vec![service::grid(tables)],
        meanings: &service::MEANINGS,
    },
    Form {
        summary: Summary::Packets,
        grids: |tables| vec![packets::grid(tables)],
        meanings: &packets::MEANINGS,
    },
];

impl Form {
    /// Returns whether a table is one of its lines and has no grid of its own.
    pub(super) fn shows(&self, table: &Table) -> bool {
        table.summary == self.summary
    }

    /// Formats the grids of each group.
    pub(super) fn text(&self, tables: &[Table]) -> String {
        let mut text = String::new();
        let tables: Vec<&Table> = tables.iter().filter(|table| self.shows(table)).collect();
        for tables in tables.chunk_by(|a, b| a.suite == b.suite && a.group == b.group) {
            let _ = writeln!(text, "\n{}: {}", tables[0].suite, tables[0].group);
            for grid in (self.grids)(tables) {
                let _ = writeln!(text, "{grid}");
            }
            let _ = writeln!(text, "{}", noise(tables));
            for name in &tables[0].missing {
                let _ = writeln!(text, "missing: {name}");
            }
        }
        text
    }
}
