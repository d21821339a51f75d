//! The change of a row from one run to another, like with like: relative to the peers that both
//! runs measured in the same version. Times alone are not comparable, even on one machine: on a
//! shared one they can double from one hour to the next.

use super::entry::{Entry, PeerPoint, Point, Table};

/// How a row compares with its result in an earlier run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// The factor of its time relative to the peers that both runs measured in the same version,
    /// and the number of their rows.
    Relative(f64, usize),
    /// Not comparable, and the reason.
    Incomparable(&'static str),
}

impl Change {
    /// Returns the factor relative to common peers.
    pub(super) const fn relative(self) -> Option<f64> {
        match self {
            Self::Relative(factor, _) => Some(factor),
            Self::Incomparable(_) => None,
        }
    }
}

/// A row in a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) entry: &'a Entry,
    pub(super) table: &'a Table,
    pub(super) point: Point,
}

impl Place<'_> {
    /// Returns the same row in another run.
    pub(super) fn within<'b>(&self, row: &str, entry: &'b Entry) -> Option<Place<'b>> {
        let table = entry.table_like(self.table)?;
        Some(Place { entry, table, point: *table.rows.get(row)? })
    }

    /// Compares with an earlier result of the same row.
    pub(super) fn against(&self, earlier: &Place<'_>) -> Change {
        let common: Vec<[f64; 2]> = self
            .table
            .peers
            .iter()
            .filter_map(|(name, PeerPoint { version, ratio })| {
                let before = earlier.table.peers.get(name)?;
                (before.version == *version).then_some([before.ratio, *ratio])
            })
            .collect();
        if !common.is_empty() {
            let drift = common.iter().map(|[before, now]| (now / before).ln()).sum::<f64>();
            let drift = (drift / common.len() as f64).exp();
            return Change::Relative(self.point.ratio / earlier.point.ratio / drift, common.len());
        }
        let is_there = |name| earlier.table.peers.contains_key(name);
        Change::Incomparable(match self.table.peers.keys().any(is_there) {
            true => "other versions",
            false => "no common peer",
        })
    }
}

/// Returns the comparison of a row with its best predecessor in `earlier`, which is in order of
/// time: the last run on the same machine with a common peer, or else on any machine, or else the
/// last run that has the row. `None` if no run has it.
pub(super) fn since<'a>(
    place: &Place<'_>,
    row: &str,
    earlier: &[&'a Entry],
) -> Option<(&'a Entry, Change)> {
    let (mut elsewhere, mut incomparable) = (None, None);
    for entry in earlier.iter().rev().copied() {
        let Some(before) = place.within(row, entry) else { continue };
        let change = place.against(&before);
        match change {
            Change::Relative(..) if entry.machine == place.entry.machine => {
                return Some((entry, change));
            }
            Change::Relative(..) => elsewhere = elsewhere.or(Some((entry, change))),
            Change::Incomparable(_) => incomparable = incomparable.or(Some((entry, change))),
        }
    }
    elsewhere.or(incomparable)
}
