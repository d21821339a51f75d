//! Flags outliers: results beyond all normal variation in the history.

use serde::Serialize;

use super::change::{Change, Place, since};
use super::entry::Entry;
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
    /// The number of earlier comparable runs on the same machine.
    pub runs: usize,
    /// Its time relative to the peers that it has in common with an earlier run, divided by that
    /// run's; none if there is no such run.
    pub change: Option<f64>,
    /// The largest relative change within normal variation.
    pub fence: f64,
    /// The verdict: same if the change is within the fence.
    pub verdict: Verdict,
}

/// Judges every row of `newest` by the runs on the same machine in `history`. Changes below
/// `threshold` are ignored.
pub fn check(history: &[Entry], newest: &Entry, threshold: f64) -> Vec<Check> {
    let mut runs: Vec<&Entry> =
        history.iter().filter(|entry| entry.machine == newest.machine).collect();
    runs.push(newest);
    let rows = newest.tables.iter().flat_map(|t| t.rows.keys().map(move |row| (t, row)));
    let judged = rows.map(|(table, row)| {
        // The change of each run that has the row from its predecessor; the newest run's is last.
        let changes = runs.iter().enumerate().filter_map(|(run, entry)| {
            let table = entry.table_like(table)?;
            let place = Place { entry, table, point: *table.rows.get(row)? };
            since(&place, row, &runs[..run]).map(|(_, change)| change)
        });
        let changes: Vec<Change> = changes.collect();
        let (last, earlier) = changes
            .split_last()
            .map_or((None, &[][..]), |(last, earlier)| (last.relative(), earlier));
        let mut usual: Vec<f64> =
            earlier.iter().filter_map(|change| Some(change.relative()?.ln().abs())).collect();
        let fence = fence(&mut usual);
        let runs = last.map_or(0, |_| usual.len() + 1);
        let verdict = match last.map(f64::ln) {
            None => Verdict::NotEnoughData,
            Some(_) if runs < FEWEST => Verdict::NotEnoughData,
            Some(change) if change.abs() <= fence.max(threshold.ln_1p()) => Verdict::Same,
            Some(change) if change < 0.0 => Verdict::Faster,
            Some(_) => Verdict::Slower,
        };
        Check { row: table.row(row), runs, change: last, fence: fence.exp_m1(), verdict }
    });
    judged.collect()
}

/// Returns Q3 + 3·IQR of absolute changes.
fn fence(changes: &mut [f64]) -> f64 {
    changes.sort_unstable_by(f64::total_cmp);
    let [low, high] = [0.25, 0.75].map(|part| quantile(changes, part));
    high + RANGES * (high - low)
}
/// Interpolates linearly between the two nearest ranks; 0 for an empty slice.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * sorted.len().saturating_sub(1) as f64;
    let (below, above) = (sorted.get(place as usize), sorted.get(place.ceil() as usize));
    below.zip(above).map_or(0.0, |(below, above)| below + (above - below) * place.fract())
}
