//! What is beyond all that the history has seen.

use serde::Serialize;

use super::{Entry, Point};
use crate::compare::Verdict;

/// No fewer runs tell what is usual.
pub const FEWEST: usize = 10;

/// How many interquartile ranges beyond the third quartile the fence stands.
const RANGES: f64 = 3.0;

/// What the newest run says of a row.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Suite, table, group and label.
    pub row: String,
    /// How many earlier runs on the same machine have it.
    pub runs: usize,
    /// Its proportion to the peers, divided by that of the run before.
    pub change: f64,
    /// The relative change that is still usual.
    pub fence: f64,
    /// Whether it is beyond that.
    pub verdict: Verdict,
}

/// Judges every row of `newest` by the runs on the same machine in `history`. A change below
/// `threshold` is of no relevance.
pub fn check(history: &[Entry], newest: &Entry, threshold: f64) -> Vec<Check> {
    let history: Vec<&Entry> =
        history.iter().filter(|entry| entry.machine == newest.machine).collect();
    let judged = newest.rows.iter().map(|(row, point)| {
        let earlier: Vec<f64> = history
            .iter()
            .filter_map(|entry| comparable(entry.rows.get(row)?, point))
            .map(f64::ln)
            .collect();
        let last = earlier.last().copied().unwrap_or(0.0);
        let change = comparable(point, point).map_or(0.0, |value| value.ln() - last);
        let fence = fence(&earlier);
        let verdict = match fence {
            _ if earlier.len() < FEWEST => Verdict::NotEnoughData,
            fence if change.abs() <= fence.max(threshold.ln_1p()) => Verdict::Same,
            _ if change < 0.0 => Verdict::Faster,
            _ => Verdict::Slower,
        };
        let change = if earlier.is_empty() { 1.0 } else { change.exp() };
        Check { row: row.clone(), runs: earlier.len(), change, fence: fence.exp_m1(), verdict }
    });
    judged.collect()
}

/// The proportion to the peers where both have one. Times alone are no measure: on a shared machine
/// they double from one hour to the next.
fn comparable(point: &Point, other: &Point) -> Option<f64> {
    point.ratio.filter(|_| other.ratio.is_some())
}

/// Q3 + 3·IQR of the changes from one value to the next, regardless of their direction.
fn fence(values: &[f64]) -> f64 {
    let mut changes: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    changes.sort_unstable_by(f64::total_cmp);
    let [low, high] = [0.25, 0.75].map(|part| quantile(&changes, part));
    high + RANGES * (high - low)
}

/// Between the two nearest ranks in proportion; 0 of nothing.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * sorted.len().saturating_sub(1) as f64;
    let (below, above) = (sorted.get(place as usize), sorted.get(place.ceil() as usize));
    below.zip(above).map_or(0.0, |(below, above)| below + (above - below) * place.fract())
}
