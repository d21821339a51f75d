//! Flags outliers: results beyond all normal variation in the history.

use serde::Serialize;

use super::entry::{Entry, Point};
use crate::compare::Verdict;

/// The least number of runs that define normal variation.
pub const FEWEST: usize = 10;

/// The distance of the fence from the third quartile, in interquartile ranges.
const RANGES: f64 = 3.0;

/// The result of a row's newest run.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Suite, table, group and label.
    pub row: String,
    /// The number of earlier runs on the same machine that have it.
    pub runs: usize,
    /// Its ratio to the peers, divided by the ratio of the previous run.
    pub change: f64,
    /// The largest relative change within normal variation.
    pub fence: f64,
    /// The verdict: same if the change is within the fence.
    pub verdict: Verdict,
}

/// Judges every row of `newest` by the runs on the same machine in `history`. Changes below
/// `threshold` are ignored.
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

/// Returns the ratio to the peers if both points have one. Absolute times are not comparable: on a
/// shared machine they can double from one hour to the next.
fn comparable(point: &Point, other: &Point) -> Option<f64> {
    point.ratio.filter(|_| other.ratio.is_some())
}

/// Returns Q3 + 3·IQR of the absolute changes from one value to the next.
fn fence(values: &[f64]) -> f64 {
    let mut changes: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    changes.sort_unstable_by(f64::total_cmp);
    let [low, high] = [0.25, 0.75].map(|part| quantile(&changes, part));
    high + RANGES * (high - low)
}

/// Interpolates linearly between the two nearest ranks; 0 for an empty slice.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * sorted.len().saturating_sub(1) as f64;
    let (below, above) = (sorted.get(place as usize), sorted.get(place.ceil() as usize));
    below.zip(above).map_or(0.0, |(below, above)| below + (above - below) * place.fract())
}
