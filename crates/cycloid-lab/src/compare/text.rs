//! A comparison for people: a line a row, in 80 columns.

use std::fmt::Write;

use super::{Comparison, Row, SIDES, Table, Verdict, counts};
use crate::measure::statistics;
use crate::tables::{self, number};

const WIDTH: usize = 80;

/// How many names of rows that only one side has are shown.
const NAMES: usize = 10;

/// What changed and what is undecided; with `all`, what is the same and what served as unchanged,
/// too.
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut text = head(comparison);
    for table in &comparison.tables {
        let shown: Vec<&Row> = table.rows.iter().filter(|row| all || is_news(row)).collect();
        if !shown.is_empty() {
            let _ = writeln!(text, "\n{}", grid(table, &shown));
        }
    }
    text.push_str(&counts::text(comparison, all));
    text.push('\n');
    text.push_str(&foot(comparison, all));
    text
}

fn is_news(row: &Row) -> bool {
    row.verdict.is_some_and(|verdict| verdict != Verdict::Same)
}

/// How many runs, and what differs beside the results.
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

/// How many of each, the means, and what only one side has.
fn foot(comparison: &Comparison, all: bool) -> String {
    let counts =
        Verdict::ALL.map(|verdict| format!("{} {}", comparison.count(verdict), verdict.name()));
    let hint = if all { "" } else { " (--all shows every row)" };
    let mut text = format!("{}{hint}\n", counts.join(", "));
    if let Some(line) = counts::summary(comparison) {
        let _ = writeln!(text, "{line}");
    }
    if comparison.count(Verdict::NotEnoughData) > 0 {
        let told = percent(1.0 + resolution(comparison));
        let _ = writeln!(
            text,
            "half of the rows can tell {told} from none, repeated runs smaller changes"
        );
    }
    for mean in &comparison.means {
        let (suite, rows, change) = (&mean.suite, mean.rows, percent(mean.change));
        let _ = writeln!(text, "{suite}: {change} in the geometric mean of {rows} rows of ours");
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

/// The median of what the rows could have told from no difference.
fn resolution(comparison: &Comparison) -> f64 {
    let judged = comparison.rows().filter(|row| row.verdict.is_some());
    statistics::median(&judged.map(|row| row.resolution).collect::<Vec<_>>())
}

/// With its unit.
pub(crate) fn time(nanoseconds: f64) -> String {
    let unit = number::Unit::of(nanoseconds);
    format!("{} {}", unit.show(nanoseconds), unit.sign)
}

/// A proportion as what it differs from 1 by.
pub(crate) fn percent(proportion: f64) -> String {
    let percent = (proportion - 1.0) * 100.0;
    let sign = if percent < 0.0 { '−' } else { '+' };
    format!("{sign}{:.1} %", percent.abs())
}

/// No longer than so many characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}
