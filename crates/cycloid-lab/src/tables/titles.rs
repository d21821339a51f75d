//! The text above and below tables that share a grid: their group, their names and their noise.

use crate::record::Table;

/// Returns the group and the name of the line.
pub(super) fn names(table: &Table) -> (&str, &str) {
    table.title.split_once(": ").unwrap_or(("", &table.title))
}

/// Formats how much the reference differs from itself.
pub(super) fn noise(tables: &[&Table]) -> String {
    let noise = tables.iter().map(|table| (table.control.median - 1.0).abs());
    let noise = noise.fold(0.0, f64::max) * 100.0;
    let Table { reference, rounds, .. } = tables[0];
    format!("noise: {reference} against itself differs by {noise:.1}% at most, {rounds} rounds")
}
