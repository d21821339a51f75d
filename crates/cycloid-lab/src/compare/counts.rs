//! Compares instruction counts of old and new runs. Counts are exact, so any difference is real.

use std::fmt::Write;

use serde::Serialize;

use super::text::cut;
use super::{Comparison, SIDES};
use crate::record::{Count, Instructions, Record};
use crate::tables::number::whole;

/// Selects one kind of count from a record.
type Part = fn(&Instructions) -> Option<Count>;

/// The kinds of instruction count: the code that was counted and how to read its count.
pub(super) const KINDS: [(&str, Part); 3] = [
    ("portable", |instructions| instructions.portable),
    ("adx", |instructions| instructions.adx),
    ("peer", |instructions| instructions.peer),
];

/// The instruction counts of one operation on both sides.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Counted {
    /// `portable` or `adx` (the library's backends), or `peer`.
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

/// Formats the counts that changed, or all counts, table by table in lines of at most 80
/// characters. Empty if no row was counted on both sides.
pub(super) fn text(comparison: &Comparison, all: bool) -> String {
    let mut text = String::new();
    let [old, new] = SIDES;
    for table in &comparison.tables {
        let mut is_titled = false;
        for (row, counted) in
            table.rows.iter().flat_map(|row| row.counted.iter().map(move |c| (row, c)))
        {
            if !all && !counted.verdict.is_change() {
                continue;
            }
            if text.is_empty() {
                let _ = writeln!(text, "\n{:31}{old:>15}{new:>15}{:>9}", "instructions", "change");
            }
            if !is_titled {
                let _ = writeln!(text, "{}", cut(&format!("{}: {}", table.suite, table.title), 80));
                is_titled = true;
            }
            let name = format!("{}, {}", counted.code, row.name());
            let [old, new] = counted.count.map(|count| whole(count.round() as u64));
            let change = change(counted);
            let verdict = counted.verdict.name();
            let _ =
                writeln!(text, "  {:29}{old:>15}{new:>15}{change:>9}  {verdict}", cut(&name, 29));
        }
    }
    text
}

/// Formats how many counts have each verdict, or returns `None` if no row was counted on both
/// sides.
pub(super) fn summary(comparison: &Comparison) -> Option<String> {
    let counted = || comparison.rows().flat_map(|row| &row.counted);
    counted().next()?;
    let numbers = CountVerdict::ALL.map(|verdict| {
        let number = counted().filter(|counted| counted.verdict == verdict).count();
        format!("{number} {}", verdict.name())
    });
    Some(format!("instructions: {}", numbers.join(", ")))
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
