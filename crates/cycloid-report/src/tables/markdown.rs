//! Writes a report as Markdown: a section and a table for each of its tables, one record per row.
//!
//! Values that are equal in all rows of a table are shown once above it, and empty columns are
//! omitted; everything else in the record is shown.

use std::fmt::Write;

use super::rows::{self, Row};
use cycloid_lab::record::{Report, Table};

/// Columns that are shown even if all rows are equal.
const ALWAYS: [&str; 2] = ["group", "label"];

/// Returns whether the heading shows a value.
fn is_in_heading(name: &str) -> bool {
    name == "suite" || name.split(':').next() == Some("table")
}

/// Formats the whole report.
pub fn markdown(report: &Report) -> String {
    let e = &report.environment;
    let mut text = format!(
        "# {}, {}\n\n- effort: {}\n- processor: {}, {}; level {} of {}\n\
         - compiler: {}, opt-level {}, {}\n- clock: {}\n",
        e.program,
        e.date,
        report.effort,
        e.cpu,
        super::number::counted(e.threads, "thread"),
        e.level_used,
        e.level_detected,
        e.compiler,
        e.opt_level,
        e.target,
        e.clock
    );
    for peer in &report.peers {
        let said = match (&peer.version, &peer.missing) {
            (Some(version), _) => version.clone(),
            (None, Some(missing)) => format!("missing: {}; {}", missing.reason, missing.remedy),
            (None, None) => String::new(),
        };
        let _ = writeln!(text, "- {}: {said}", peer.name);
    }
    for table in &report.unfinished {
        let _ = writeln!(text, "- not measured, because the run was interrupted: {table}");
    }
    for table in &report.tables {
        section(&mut text, table);
    }
    text
}

fn section(text: &mut String, table: &Table) {
    let rows: Vec<Row> = table.records.iter().map(|record| rows::row(table, record)).collect();
    let columns = rows::columns(&rows);
    let value = |row: &Row, name: &str| row.get(name).cloned().unwrap_or_default();
    let same = |name: &String| rows.iter().all(|row| value(row, name) == value(&rows[0], name));
    let (common, columns): (Vec<String>, Vec<String>) =
        columns.into_iter().partition(|name| !ALWAYS.contains(&&**name) && same(name));

    let _ = writeln!(text, "\n## {}: {}\n", table.suite, table.title());
    for name in common.iter().filter(|name| !is_in_heading(name)) {
        let value = value(&rows[0], name);
        if !value.is_empty() {
            let _ = writeln!(text, "- {name}: {value}");
        }
    }
    let _ = writeln!(text, "- rounds: {}, in {} s", table.rounds, table.seconds);
    for peer in &table.missing {
        let _ = writeln!(text, "- missing: {peer}");
    }
    text.push('\n');
    line(text, columns.iter().cloned());
    line(text, columns.iter().map(|_| "---".into()));
    for row in &rows {
        line(text, columns.iter().map(|name| value(row, name)));
    }
    if !table.notes.is_empty() {
        text.push('\n');
    }
    for note in &table.notes {
        let _ = writeln!(text, "> {note}\n>");
    }
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}
