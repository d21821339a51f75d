//! Compares a suite with the best of its peers.

use super::measured::Measured;
use cycloid_lab::record::{Method, Record, Summary};

/// The comparison of one operation with the best peer.
pub(super) struct Comparison<'a> {
    pub(super) of: Measured<'a>,
    /// Our single operation.
    pub(super) ours: &'a Record,
    /// Our fastest parallel operation that does the same work, since no peer has prepared keys, and
    /// the fastest peer, with its batches.
    pub(super) many: Option<[&'a Record; 2]>,
    /// The fastest peer, one operation at a time.
    pub(super) best: &'a Record,
}

impl<'a> Comparison<'a> {
    /// Compares a table; `None` without a peer. If ours is constant-time, only constant-time peers
    /// are considered, provided there is one.
    pub(super) fn new(of: Measured<'a>) -> Option<Self> {
        let ours = of.reference()?;
        let records = || of.table.records.iter();
        let faster = |a: &&Record, b: &&Record| a.ratio.median.total_cmp(&b.ratio.median);
        let alike = |record: &&Record| record.constant_time || !ours.constant_time;
        let best_beside = |row: &Record| {
            let peers = || {
                records().filter(|record| {
                    is_peer(&of, ours, record)
                        && is_usable(record.ratio.median)
                        && row.is_comparable_with(record)
                })
            };
            peers().filter(alike).min_by(faster).or_else(|| peers().min_by(faster))
        };
        let batches = records().filter(|record| {
            let is_batch = record.method == Method::Batch && record.operations_per_call > 1;
            is_batch && of.is_ours(record) && is_usable(record.ratio.median)
        });
        let many = batches.min_by(faster).and_then(|many| Some([many, best_beside(many)?]));
        Some(Self { of, ours, many, best: best_beside(ours)? })
    }

    /// Returns our operations per second divided by the best peer's: 2 does twice as many.
    pub(super) fn one(&self) -> f64 {
        self.best.ratio.median
    }

    /// Returns the same ratio for our parallel operations.
    pub(super) fn many(&self) -> Option<f64> {
        self.many.map(|[many, best]| best.ratio.median / many.ratio.median)
    }

    /// Returns the name: the group and the operation.
    pub(super) fn title(&self) -> String {
        let (group, name) = (self.of.group(), self.of.name());
        if name.is_empty() { group.into() } else { format!("{group} {name}") }
    }
}

/// Returns all comparisons of a suite. If a table was measured more than once, the measurement that
/// took longest is used.
pub(super) fn comparisons<'a>(tables: &[Measured<'a>]) -> Vec<Comparison<'a>> {
    let mut all: Vec<Comparison<'a>> = Vec::new();
    for of in tables {
        let Some(comparison) = Comparison::new(*of) else { continue };
        match all.iter_mut().find(|other| other.of.table.is_like(of.table)) {
            None => all.push(comparison),
            Some(other) if other.of.table.seconds < of.table.seconds => *other = comparison,
            Some(_) => {}
        }
    }
    all
}

/// Returns whether a row is a peer's alone: one end of a tunnel may be ours.
fn is_peer(of: &Measured<'_>, ours: &Record, record: &Record) -> bool {
    let mixed = of.table.summary != Summary::Backends
        && record.implementation.product.contains(&*ours.implementation.product);
    !of.is_ours(record) && !mixed
}

/// Returns the geometric mean of positive numbers; `None` if there are none.
pub(super) fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) =
        values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value.ln()));
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// Returns whether a ratio is valid; a record may hold any number.
fn is_usable(ratio: f64) -> bool {
    (1e-6..1e6).contains(&ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_compared_with_peers_that_do_the_same() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/ec-zen-5.json");
        let text = std::fs::read_to_string(path).unwrap();
        let report = cycloid_lab::record::Report::from_json(&text, path).unwrap();
        let table = |title: &str| {
            let table = report.tables.iter().find(|table| table.title() == title).unwrap();
            Measured { source: "ec", report: &report, table }
        };
        // No peer has prepared keys.
        let of = table("P-256: verify");
        assert!(of.table.records.iter().any(|record| record.label == "prepared ×8"));
        assert_eq!(Comparison::new(of).unwrap().many.unwrap()[0].label, "×8");
        // A peer's batch counts beside our batch, not beside our single operation.
        let comparison = Comparison::new(table("P-256: sign")).unwrap();
        let [many, best] = comparison.many.unwrap();
        assert_eq!([&*many.label, &*best.label, &*best.group], ["×8", "×8", "crypto-mb"]);
        assert_eq!((&*comparison.best.group, comparison.best.operations_per_call), ("graviola", 1));
    }

    #[test]
    fn means() {
        assert_eq!(geometric_mean([].into_iter()), None);
        let mean = geometric_mean([0.5, 8.0].into_iter()).unwrap();
        assert!((mean - 2.0).abs() < 1e-12);
    }
}
