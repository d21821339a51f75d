//! Writes a comparison as text: one line per row, in 80 columns.

use std::fmt::Write;

use super::comparison::{Comparison, Row, SIDES, Table, Verdict};
use super::counts::{self, CountVerdict};
use crate::tables::{self, number};
use cycloid_lab::measure::statistics;

const WIDTH: usize = 80;

/// The number of listed row names that only one side has.
const NAMES: usize = 10;

/// Formats the rows that changed or are undecided; with `all`, also rows that are the same or
/// served as unchanged.
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut text = head(comparison);
    for table in &comparison.tables {
        let shown: Vec<&Row> = table.rows.iter().filter(|row| all || is_change(row)).collect();
        if !shown.is_empty() {
            let _ = writeln!(text, "\n{}", grid(table, &shown));
        }
    }
    text.push_str(&counts(comparison, all));
    text.push('\n');
    text.push_str(&foot(comparison, all));
    text
}

fn is_change(row: &Row) -> bool {
    row.verdict.is_some_and(|verdict| verdict != Verdict::Same)
}

/// Formats the number of runs and the differences between the environments.
fn head(comparison: &Comparison) -> String {
    let [old, new] = comparison.runs;
    let runs = |n: usize| if n == 1 { "1 run".into() } else { format!("{n} runs") };
    let mut text = format!(
        "{} ({}) and {} ({}), floor of relevance {:.1} %\n",
        SIDES[0],
        runs(old),
        SIDES[1],
        runs(new),
        comparison.threshold * 100.0
    );
    for line in &comparison.circumstances {
        for line in tables::wrapped(&format!("differs: {line}"), WIDTH) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn grid(table: &Table, rows: &[&Row]) -> String {
    let scale = match (table.unchanged, table.drift) {
        (1, Some(drift)) => format!("1 unchanged row: {}", percent(drift)),
        (n, Some(drift)) => format!("{n} unchanged rows: {}", percent(drift)),
        _ => "no unchanged row".into(),
    };
    let title = format!("{}: {} ({scale})", table.suite, table.title);
    let mut text = tables::wrapped(&title, WIDTH).join("\n");
    let [old, new] = SIDES;
    let _ = write!(text, "\n{:27}{old:>11}{new:>11}{:>9}{:>7}", "", "change", "±");
    for row in rows {
        let half = (row.interval[1] / row.interval[0]).sqrt() - 1.0;
        let verdict = row.verdict.map_or("unchanged", Verdict::name);
        let _ = write!(
            text,
            "\n  {:25}{:>11}{:>11}{:>9}{:>6.1}%  {verdict}",
            cut(&row.name(), 25),
            time(row.time_ns[0]),
            time(row.time_ns[1]),
            percent(row.change),
            (half * 100.0).min(999.9)
        );
    }
    text
}

/// Formats the number of rows per verdict, the means, and the rows that only one side has.
fn foot(comparison: &Comparison, all: bool) -> String {
    let counts =
        Verdict::ALL.map(|verdict| format!("{} {}", comparison.count(verdict), verdict.name()));
    let hint = if all { "" } else { " (--all shows every row)" };
    let mut text = format!("{}{hint}\n", counts.join(", "));
    if let Some(line) = summary(comparison) {
        let _ = writeln!(text, "{line}");
    }
    if comparison.count(Verdict::NotEnoughData) > 0 {
        let told = percent(1.0 + resolution(comparison));
        let _ = writeln!(
            text,
            "half of the rows detect changes from {told} on; more runs detect smaller ones"
        );
    }
    for mean in &comparison.means {
        let (suite, rows, change) = (&mean.suite, mean.rows, percent(mean.change));
        let _ = writeln!(text, "{suite}: {change}, geometric mean of our {rows} rows");
    }
    for (names, side) in comparison.only.iter().zip(SIDES) {
        if !names.is_empty() {
            let _ = writeln!(text, "only {side} has {} rows:", names.len());
        }
        for name in names.iter().take(NAMES) {
            let _ = writeln!(text, "  {}", cut(name, WIDTH - 2));
        }
        if names.len() > NAMES {
            let _ = writeln!(text, "  and {} more", names.len() - NAMES);
        }
    }
    text
}

/// Returns the median of the smallest differences that the rows can detect.
fn resolution(comparison: &Comparison) -> f64 {
    let judged = comparison.rows().filter(|row| row.verdict.is_some());
    statistics::median(&judged.map(|row| row.resolution).collect::<Vec<_>>())
}

/// Formats a time with its unit.
pub(crate) fn time(nanoseconds: f64) -> String {
    let unit = number::Unit::of(nanoseconds);
    format!("{} {}", unit.show(nanoseconds), unit.sign)
}

/// Formats a ratio as its difference from 1 in per cent.
pub(crate) fn percent(proportion: f64) -> String {
    let percent = (proportion - 1.0) * 100.0;
    let sign = if percent < 0.0 { '−' } else { '+' };
    format!("{sign}{:.1} %", percent.abs())
}

/// Shortens a text to at most `most` characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// Formats the counts that changed, or all counts, table by table in lines of at most 80
/// characters. Empty if no row was counted on both sides.
fn counts(comparison: &Comparison, all: bool) -> String {
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
            let [old, new] = counted.count.map(|count| number::whole(count.round() as u64));
            let change = counts::change(counted);
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
