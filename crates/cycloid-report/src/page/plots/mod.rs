//! Plots for the questions that the tables of a suite answer. The records determine which plots
//! exist; there is no list per suite.

mod batches;
mod figure;
mod history;
mod peers;
mod service;
mod strategies;
mod sums;
mod tunnels;

pub(super) use figure::{Figure, groups, side_by_side};
pub(super) use history::figure as history;
pub(super) use peers::strip;

use super::measured::Measured;

/// Returns the plots of tables of a suite that one processor measured.
pub(super) fn of(tables: &[Measured<'_>]) -> Vec<Figure> {
    let plots = [
        strategies::figure(tables),
        peers::figure(tables),
        batches::figure(tables),
        sums::figure(tables),
        service::figure(tables),
        tunnels::figure(tables),
    ];
    let drawn = |figure: &Figure| figure.pictures.iter().any(|picture| !picture.svg.is_empty());
    plots.into_iter().flatten().filter(drawn).collect()
}
