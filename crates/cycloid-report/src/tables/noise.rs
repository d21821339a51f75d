//! The noise of tables, in the line below their grid.

use cycloid_lab::record::Table;

/// Formats how much the reference differs from itself.
pub(super) fn noise(tables: &[&Table]) -> String {
    let noise = tables.iter().map(|table| (table.control.median - 1.0).abs());
    let noise = noise.fold(0.0, f64::max) * 100.0;
    let Table { reference, rounds, .. } = tables[0];
    format!("noise: {reference} against itself differs by {noise:.1}% at most, {rounds} rounds")
}
