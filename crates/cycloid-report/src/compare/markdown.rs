//! Writes a comparison as Markdown, for a comment on a change: a table of changed rows and a
//! summary.

use std::fmt::Write;

use super::comparison::{Comparison, SIDES, Verdict};
use super::counts;
use super::text::{percent, summary, time};
use crate::tables::number::whole;

/// Formats the rows that are not the same (all rows with `all`) and the number of rows per verdict.
pub fn markdown(comparison: &Comparison, all: bool) -> String {
    let counts =
        Verdict::ALL.map(|verdict| format!("{} {}", comparison.count(verdict), verdict.name()));
    let mut text = format!("{}\n", counts.join(", "));
    for line in &comparison.circumstances {
        let _ = write!(text, "\ndiffers: {line}\n");
    }
    let [old, new] = SIDES;
    let _ = write!(text, "\n| | {old} | {new} | change | | |\n|---|--:|--:|--:|--:|---|\n");
    for table in &comparison.tables {
        for row in &table.rows {
            let verdict = match row.verdict {
                Some(Verdict::Same) | None if !all => continue,
                Some(verdict) => verdict.name(),
                None => "unchanged",
            };
            let [low, high] = row.interval.map(percent);
            let cells = [
                format!("{}: {}, {}", table.suite, table.title, row.name()),
                time(row.time_ns[0]),
                time(row.time_ns[1]),
                percent(row.change),
                format!("{low} to {high}"),
                verdict.into(),
            ];
            let _ =
                writeln!(text, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        }
    }
    let counted = comparison.tables.iter().flat_map(|table| {
        let rows = table.rows.iter();
        rows.flat_map(move |row| row.counted.iter().map(move |counted| (table, row, counted)))
    });
    let mut is_begun = false;
    for (table, row, counted) in
        counted.filter(|(_, _, counted)| all || counted.verdict.is_change())
    {
        if !std::mem::replace(&mut is_begun, true) {
            let head = format!("| instructions | {old} | {new} | change | |");
            let _ = write!(text, "\n{head}\n|---|--:|--:|--:|---|\n");
        }
        let name = format!("{}: {}, {}, {}", table.suite, table.title, row.name(), counted.code);
        let [old, new] = counted.count.map(|count| whole(count.round() as u64));
        let (name, change) = (name.replace('|', "\\|"), counts::change(counted));
        let verdict = counted.verdict.name();
        let _ = writeln!(text, "| {name} | {old} | {new} | {change} | {verdict} |");
    }
    if let Some(line) = summary(comparison) {
        let _ = write!(text, "\n{line}\n");
    }
    for mean in &comparison.means {
        let (suite, rows, change) = (&mean.suite, mean.rows, percent(mean.change));
        let _ = write!(text, "\n{suite}: {change}, geometric mean of our {rows} rows\n");
    }
    text
}
