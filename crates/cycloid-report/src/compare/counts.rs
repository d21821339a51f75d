//! Compares instruction counts of old and new runs. Counts are exact, so any difference is real.

use serde::Serialize;

use cycloid_lab::record::{Count, Instructions, Record};

/// Selects one kind of count from a record.
type Part = fn(&Instructions) -> Option<Count>;

/// The kinds of instruction count: the code that was counted and how to read its count.
pub(super) const KINDS: [(&str, Part); 4] = [
    ("portable", |instructions| instructions.portable),
    ("adx", |instructions| instructions.adx),
    ("peer", |instructions| instructions.peer),
    ("emulated", |instructions| instructions.emulated),
];

/// The instruction counts of one operation on both sides.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Counted {
    /// `portable` or `adx` (the library's backends), `peer`, or `emulated`.
    pub code: &'static str,
    /// Instructions per operation; the mean where runs differ.
    pub count: [f64; 2],
    /// Bytes of executed machine code, in lines of 64 bytes.
    pub code_bytes: [u64; 2],
    /// The verdict.
    pub verdict: CountVerdict,
}

/// The verdict on two instruction counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountVerdict {
    /// Every new run takes fewer instructions than every old run.
    Fewer,
    /// Every new run takes more instructions than every old run.
    More,
    /// Old and new runs take the same number of instructions.
    Same,
    /// Runs vary by chance, and the ranges of the two sides overlap.
    Varies,
}

impl CountVerdict {
    /// All verdicts.
    pub const ALL: [Self; 4] = [Self::Fewer, Self::More, Self::Same, Self::Varies];

    /// Returns whether the counts differ beyond chance.
    pub(super) fn is_change(self) -> bool {
        matches!(self, Self::Fewer | Self::More)
    }

    /// Returns the verdict's display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fewer => "fewer",
            Self::More => "more",
            Self::Same => "same",
            Self::Varies => "varies",
        }
    }
}

/// Returns the counts of a row for every kind that both sides counted in at least one run.
pub(super) fn of(row: &[Vec<&Record>; 2]) -> Vec<Counted> {
    let of_code = |&(code, part): &(&'static str, Part)| {
        let sides = row.each_ref().map(|records| {
            let counts = records.iter().filter_map(|record| record.instructions.as_ref());
            counts.filter_map(part).collect::<Vec<Count>>()
        });
        if sides.iter().any(Vec::is_empty) {
            return None;
        }
        let [old, new] = sides.each_ref().map(|counts| {
            let ends = counts.iter().map(|count| count.range);
            ends.fold([f64::INFINITY, f64::NEG_INFINITY], |whole, range| {
                [whole[0].min(range[0]), whole[1].max(range[1])]
            })
        });
        let mean = |counts: &Vec<Count>| {
            counts.iter().map(|count| count.count).sum::<f64>() / counts.len() as f64
        };
        let count = sides.each_ref().map(mean);
        Some(Counted {
            code,
            count,
            code_bytes: sides.each_ref().map(|counts| counts[0].code_bytes),
            verdict: match () {
                () if new[1] < old[0] => CountVerdict::Fewer,
                () if new[0] > old[1] => CountVerdict::More,
                () if new == old && count[0] == count[1] => CountVerdict::Same,
                () => CountVerdict::Varies,
            },
        })
    };
    KINDS.iter().filter_map(of_code).collect()
}

/// Formats the change in per cent, with enough digits to show it.
pub(super) fn change(counted: &Counted) -> String {
    let [old, new] = counted.count;
    let percent = (new / old - 1.0) * 100.0;
    let sign = if percent < 0.0 { '−' } else { '+' };
    match percent.abs() {
        0.0 => "0 %".into(),
        p if p.is_nan() || p >= 10_000.0 => "> 100×".into(),
        p if p >= 0.095 => format!("{sign}{p:.1} %"),
        p if p >= 0.000_95 => format!("{sign}{p:.3} %"),
        _ => format!("{sign}<.001 %"),
    }
}
