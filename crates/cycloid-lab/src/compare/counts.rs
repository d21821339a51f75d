//! Instructions, old and new: they are counted and not measured, so that any difference is one.

use std::fmt::Write;

use serde::Serialize;

use super::text::cut;
use super::{Comparison, SIDES};
use crate::record::{Count, Instructions, Record};
use crate::tables::number::whole;

/// A part of what was counted of a row.
type Part = fn(&Instructions) -> Option<Count>;

/// What may be counted of a row: by which code.
pub(super) const KINDS: [(&str, Part); 3] = [
    ("portable", |instructions| instructions.portable),
    ("adx", |instructions| instructions.adx),
    ("peer", |instructions| instructions.peer),
];

/// The instructions of one operation on both sides.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Counted {
    /// `portable` or `adx`, the library's backends, or `peer`.
    pub code: &'static str,
    /// How many there are: means, where runs differ.
    pub count: [f64; 2],
    /// Bytes of the machine code that is executed, in lines of 64 bytes.
    pub code_bytes: [u64; 2],
    /// What to make of it.
    pub verdict: CountVerdict,
}

/// What to make of two counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountVerdict {
    /// Every new run takes fewer than every old one.
    Fewer,
    /// Every new run takes more than every old one.
    More,
    /// Old and new runs take the same.
    Same,
    /// Runs differ by chance, and those of one side are not all below those of the other.
    Varies,
}

impl CountVerdict {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Fewer, Self::More, Self::Same, Self::Varies];

    /// Whether it is a difference, and not made by chance.
    pub(super) fn is_news(self) -> bool {
        matches!(self, Self::Fewer | Self::More)
    }

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fewer => "fewer",
            Self::More => "more",
            Self::Same => "same",
            Self::Varies => "varies",
        }
    }
}

/// The counts that both sides have of a row, whichever of their runs has them.
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

/// What is news of each table, or all, in lines of at most 80 characters; nothing where nothing was
/// counted on both sides.
pub(super) fn text(comparison: &Comparison, all: bool) -> String {
    let mut text = String::new();
    let [old, new] = SIDES;
    for table in &comparison.tables {
        let mut is_titled = false;
        for (row, counted) in
            table.rows.iter().flat_map(|row| row.counted.iter().map(move |c| (row, c)))
        {
            if !all && !counted.verdict.is_news() {
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

/// How many there are of each; nothing where nothing was counted on both sides.
pub(super) fn summary(comparison: &Comparison) -> Option<String> {
    let counted = || comparison.rows().flat_map(|row| &row.counted);
    counted().next()?;
    let numbers = CountVerdict::ALL.map(|verdict| {
        let number = counted().filter(|counted| counted.verdict == verdict).count();
        format!("{number} {}", verdict.name())
    });
    Some(format!("instructions: {}", numbers.join(", ")))
}

/// The change in per cent, with as many digits as show it.
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
