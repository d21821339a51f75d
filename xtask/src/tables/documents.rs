//! Generates the tables of numbers in the documents from committed records.
//!
//! A table is between two comments; the first describes it:
//!
//! ```text
//! <!-- table: docs/results/rsa-zen-5.json
//! column: Cycloid = Cycloid/default time
//! column: OpenSSL {} = OpenSSL ratio
//! row: sign, 2048 = RSA-2048: sign, PKCS #1 v1.5, SHA-256
//! -->
//! (the table)
//! <!-- end -->
//! ```
//!
//! A row is a table of the record, given by its title. With several titles separated by ` + `, the
//! cells have ` / ` between their values. A column is a subject and a measure, or several in the
//! same way. Instead of rows, a line `each: TITLE` makes a row of each row of that table, whose
//! columns then are measures alone. A subject is a group and a label, or a group alone for its fastest row; an alternative
//! after `|` applies if there is no such row. `{}` in a column's name is the version. A line
//! `transpose` exchanges rows and columns. The measures are:
//!
//! - `time`, `ratio` (to the table's reference), `interval` (the ratio with its interval), `rate`
//!   (operations per second), `lead` (the multiple of the best peer's rate), `share` (its inverse)
//! - for a service: `p99` in milliseconds and `cpu` in microseconds
//! - for a tunnel: `throughput` in megabits per second, and `ends`, the seconds per gigabyte of the
//!   server's and the client's process
//! - for a server: `resident` in KiB
//! - on an emulated processor: `thousands` of instructions, `instructions` and `cycles` in millions,
//!   `milliseconds`, `scratch`, `stack`, `heap` and `flash` in bytes, and the classic table's figures
//!   `classic` in milliseconds and `classic-scratch`

use std::fs;

use serde_json::Value;

use super::emulated::{self, thousands};
use super::records::{self, number, proportion, ratio, record, rows, table};
use super::scoreboard;
use crate::layers::tree;
use crate::process::{Failure, Outcome, say};

/// The remedy for outdated tables.
pub(super) const HINT: &str = "run `cargo xtask tables` to write the tables";

const BEGIN: &str = "<!-- table: ";
const MIDDLE: &str = "-->";
const END: &str = "<!-- end -->";

/// The cell of a table that lacks the row.
const NONE: &str = "–";

/// Writes the tables of all documents, or with `check` compares them with the existing ones.
pub(super) fn run(check: bool) -> Outcome {
    let files = tree::read(std::path::Path::new("."))?;
    let mut count = 0;
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        let path = &file.path;
        let made = renewed(&file.text, &record)
            .map_err(|error| Failure::new(format!("{path}: {error}")).hint(ADVICE))?;
        count += file.text.matches(BEGIN).count();
        if made == file.text {
            continue;
        }
        if check {
            let message = format!("{path} has tables that differ from their records");
            return Err(Failure::new(message).hint(HINT));
        }
        fs::write(path, made)
            .map_err(|error| Failure::new(format!("cannot write {path}: {error}")))?;
        say(format!("{path}: tables written"));
    }
    say(format!("the {count} tables in the documents match their records"));
    Ok(())
}

/// Writes the scoreboard, or with `check` compares it with the existing one.
pub(super) fn draw_scoreboard(check: bool) -> Outcome {
    let path = scoreboard::PATH;
    let picture = scoreboard::picture().map_err(Failure::new)?;
    if fs::read_to_string(path).is_ok_and(|existing| existing == picture) {
        return Ok(());
    }
    if check {
        return Err(Failure::new(format!("{path} differs from its records")).hint(HINT));
    }
    fs::write(path, picture)
        .map_err(|error| Failure::new(format!("cannot write {path}: {error}")))?;
    say(format!("{path}: written"));
    Ok(())
}

const ADVICE: &str = "see xtask/src/tables/documents.rs for the format of descriptions";

/// Returns the document with each table regenerated from its record.
fn renewed(text: &str, record: &dyn Fn(&str) -> Result<Value, String>) -> Result<String, String> {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (description, after) =
            after.split_once(MIDDLE).ok_or("the description of a table has no end")?;
        let (old, after) = after.split_once(END).ok_or(format!("a table has no {END}"))?;
        if old.contains(BEGIN) {
            return Err(format!("a table has no {END} before the next begins"));
        }
        let table = Description::parse(description)?.table(record)?;
        made += &format!("{before}{BEGIN}{description}{MIDDLE}\n\n{table}\n{END}");
        rest = after;
    }
    Ok(made + rest)
}

/// The description of a table.
struct Description<'a> {
    path: &'a str,
    transpose: bool,
    /// The table whose rows are those of this one.
    each: Option<&'a str>,
    /// Names, and titles of tables in the record.
    rows: Vec<(&'a str, Vec<&'a str>)>,
    columns: Vec<(&'a str, Vec<Part<'a>>)>,
}

/// The content of a column in a row, or a part of it.
struct Part<'a> {
    subjects: Vec<&'a str>,
    measure: &'a str,
}

impl<'a> Description<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let path = lines.next().ok_or("a table does not name its record")?;
        let mut made =
            Self { path, transpose: false, each: None, rows: Vec::new(), columns: Vec::new() };
        for line in lines {
            let named = |rest: &'a str| {
                rest.split_once(" = ").ok_or(format!("`{line}` has no ` = ` after its name"))
            };
            if line == "transpose" {
                made.transpose = true;
            } else if let Some(title) = line.strip_prefix("each: ") {
                made.each = Some(title.trim());
            } else if let Some(rest) = line.strip_prefix("row: ") {
                let (name, titles) = named(rest)?;
                made.rows.push((name.trim(), titles.split(" + ").map(str::trim).collect()));
            } else if let Some(rest) = line.strip_prefix("column: ") {
                let (name, parts) = named(rest)?;
                let alone = made.each.is_some();
                let part = |part: &'a str| {
                    let (subjects, measure) = match alone {
                        true => ("", part.trim()),
                        false => part.trim().rsplit_once(' ')?,
                    };
                    Some(Part { subjects: subjects.split('|').map(str::trim).collect(), measure })
                };
                let parts: Option<_> = parts.split(" + ").map(part).collect();
                made.columns.push((name.trim(), parts.ok_or(format!("`{line}` has no measure"))?));
            } else {
                return Err(format!("`{line}` is neither a row nor a column"));
            }
        }
        if made.rows.is_empty() == made.each.is_none() || made.columns.is_empty() {
            return Err(format!("the table of {path} has no rows or no columns"));
        }
        Ok(made)
    }

    fn table(&self, record: &dyn Fn(&str) -> Result<Value, String>) -> Result<String, String> {
        let report = record(self.path)?;
        if let Some(title) = self.each {
            return self.each_row(&report, title);
        }
        let mut head = vec![String::new()];
        let mut lines: Vec<Vec<String>> =
            self.rows.iter().map(|(name, _)| vec![(*name).into()]).collect();
        for (name, parts) in &self.columns {
            let mut version = None;
            for ((_, titles), line) in self.rows.iter().zip(&mut lines) {
                let mut cells = Vec::new();
                for title in titles {
                    let table = table(&report, title)
                        .ok_or(format!("{} has no table `{title}`", self.path))?;
                    for part in parts {
                        let row = part.row(table);
                        version = version.or_else(|| short_version(row?));
                        cells.push(row.map_or(Ok(NONE.into()), |row| part.cell(table, row))?);
                    }
                }
                line.push(cells.join(" / "));
            }
            if lines.iter().all(|line| line.last().is_some_and(|cell| cell == NONE)) {
                return Err(format!("no table has a row for `{name}`"));
            }
            head.push(name.replace("{}", &version.unwrap_or_default()));
        }
        let mut grid = vec![head];
        grid.append(&mut lines);
        if self.transpose {
            grid = (0..grid[0].len())
                .map(|i| grid.iter().map(|line| line[i].clone()).collect())
                .collect();
        }
        Ok(markdown(&grid))
    }

    /// Returns a table with the rows of a table in the record.
    fn each_row(&self, report: &Value, title: &str) -> Result<String, String> {
        let table = table(report, title).ok_or(format!("{} has no table `{title}`", self.path))?;
        let names = self.columns.iter().map(|(name, _)| (*name).to_owned());
        let mut grid = vec![std::iter::once(String::new()).chain(names).collect()];
        for row in rows(table) {
            let text = |field: &str| row[field].as_str().unwrap_or_default();
            let mut line = vec![format!("{}, {}", text("group"), text("label"))];
            for (_, parts) in &self.columns {
                let cells: Result<Vec<String>, _> =
                    parts.iter().map(|part| part.cell(table, row)).collect();
                line.push(cells?.join(" / "));
            }
            grid.push(line);
        }
        Ok(markdown(&grid))
    }
}

/// Formats a grid, whose first line is the head.
fn markdown(grid: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (i, line) in grid.iter().enumerate() {
        text += &format!("| {} |\n", line.join(" | ")).replace("|  |", "| |");
        if i == 0 {
            text += &format!("|---{}|\n", "|--:".repeat(line.len() - 1));
        }
    }
    text
}

impl Part<'_> {
    /// Returns the row of the first subject that exists.
    fn row<'v>(&self, table: &'v Value) -> Option<&'v Value> {
        self.subjects.iter().find_map(|subject| {
            let (group, label) = match subject.split_once('/') {
                Some((group, label)) => (group, Some(label)),
                None => (*subject, None),
            };
            let fits = |row: &&Value| {
                row["group"] == group && label.is_none_or(|label| row["label"] == label)
            };
            rows(table).filter(fits).min_by(|a, b| ratio(a).total_cmp(&ratio(b)))
        })
    }

    fn cell(&self, table: &Value, row: &Value) -> Result<String, String> {
        Ok(match self.measure {
            "time" if table["statistic"] == "mean" => time(number(row, "/time/mean_ns")),
            "time" => time(number(row, "/time/median_ns")),
            "ratio" => proportion(ratio(row)),
            "interval" => {
                let ends = ["/ratio/interval/0", "/ratio/interval/1"];
                let [low, high] = ends.map(|end| proportion(number(row, end)));
                format!("{} ({low} to {high})", proportion(ratio(row)))
            }
            "rate" => thousands(number(row, "/time/operations_per_second")),
            measure @ ("lead" | "share") => {
                let lead = records::lead(table, row);
                let shown = lead.map(|lead| if measure == "lead" { lead } else { 1.0 / lead });
                shown.map_or_else(|| NONE.into(), proportion)
            }
            "p99" => milliseconds(number(row, "/service/latency_p99_ns")),
            "cpu" => thousands(number(row, "/service/processor_ns") / 1e3),
            "throughput" => thousands(number(row, "/tunnel/megabits_per_second")),
            "ends" => {
                let ends = ["server", "client"].map(|end| {
                    proportion(number(row, &format!("/tunnel/{end}_seconds_per_gigabyte")))
                });
                ends.join(" / ")
            }
            "resident" => thousands(number(row, "/memory/resident") / 1024.0),
            measure => emulated::cell(row, measure)
                .ok_or_else(|| format!("no measure is called `{measure}`"))?,
        })
    }
}

/// Returns the first two parts of a version: 3.0 of 3.0.19 27 Jan 2026.
fn short_version(row: &Value) -> Option<String> {
    let version = row["implementation"]["version"].as_str()?;
    let number = version.split(' ').find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(number.split('.').take(2).collect::<Vec<_>>().join("."))
}

/// Formats a time with three or four significant digits.
fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        t if t < 1e3 => format!("{t:.1} ns"),
        t if t < 1e4 => format!("{:.2} µs", t / 1e3),
        t if t < 1e5 => format!("{:.1} µs", t / 1e3),
        t if t < 1e7 => format!("{} µs", thousands(t / 1e3)),
        t => format!("{:.2} ms", t / 1e6),
    }
}

/// Formats a time without the unit.
fn milliseconds(nanoseconds: f64) -> String {
    let milliseconds = nanoseconds / 1e6;
    let decimals = if milliseconds < 9.995 { 2 } else { 0 };
    format!("{milliseconds:.decimals$}")
}

#[cfg(test)]
mod tests;
