//! The number of signatures per time slot, and whether it returns after a disturbance.

use std::collections::BTreeMap;

/// The length of a slot in nanoseconds.
pub(crate) const SLOT: u64 = 100_000_000;

/// A rate is measured over this many slots.
const WINDOW: u64 = 5;

/// Announcements of a slot arrive within this many slots after its end.
pub(crate) const DELAY: u64 = 4;

#[derive(Debug, Default)]
pub(crate) struct Rates(BTreeMap<u64, u64>);

impl Rates {
    pub(crate) fn add(&mut self, slot: u64, count: u64) {
        *self.0.entry(slot).or_default() += count;
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the signatures per slot from one slot up to another, which does not count.
    pub(crate) fn mean(&self, from: u64, to: u64) -> f64 {
        self.0.range(from..to).map(|(_, count)| count).sum::<u64>() as f64 / (to - from) as f64
    }

    /// Returns how many slots after `from` the rate was two thirds of `usual` again, over a whole
    /// window; `None` if it was not by slot `to`.
    pub(crate) fn returned(&self, usual: f64, from: u64, to: u64) -> Option<u64> {
        let starts = from..to.saturating_sub(WINDOW);
        let mut ends = starts.map(|start| start + WINDOW);
        let end = ends.find(|end| 3.0 * self.mean(end - WINDOW, *end) >= 2.0 * usual)?;
        Some(end - from)
    }
}
