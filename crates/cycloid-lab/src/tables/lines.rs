//! Tables that are a line each: a grid for each group of them. The group is what stands before a colon in
//! the title, the name of the line what stands behind.

use std::fmt::Write;

use comfy_table::Table as Grid;

use super::{backends, packets, service};
use crate::record::{Summary, Table};

/// A way to show such tables.
pub(super) struct Form {
    summary: Summary,
    /// The grid of a group, or several that stand below each other.
    grids: fn(&[&Table]) -> Vec<Grid>,
    /// What the columns mean that no other table has.
    pub(super) meanings: &'static [(&'static str, &'static str)],
}

/// In the order in which they are shown.
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
    /// Whether this table is a line of it, and has no grid of its own.
    pub(super) fn shows(&self, table: &Table) -> bool {
        table.summary == self.summary
    }

    /// The grids of each group.
    pub(super) fn text(&self, tables: &[Table]) -> String {
        let mut text = String::new();
        let tables: Vec<&Table> = tables.iter().filter(|table| self.shows(table)).collect();
        for tables in tables.chunk_by(|a, b| a.suite == b.suite && names(a).0 == names(b).0) {
            let _ = writeln!(text, "\n{}: {}", tables[0].suite, names(tables[0]).0);
            for grid in (self.grids)(tables) {
                let _ = writeln!(text, "{grid}");
            }
            let _ = writeln!(text, "{}", super::noise(tables));
            for name in &tables[0].missing {
                let _ = writeln!(text, "missing: {name}");
            }
        }
        text
    }
}

/// The group, and the name of the line.
pub(super) fn names(table: &Table) -> (&str, &str) {
    table.title.split_once(": ").unwrap_or(("", &table.title))
}
