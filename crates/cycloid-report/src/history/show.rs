//! Shows a history as text, in lines of at most 80 columns.

use std::fmt::Write;

use super::change::{Change, Place, since};
use super::entry::{Entry, Table};
use crate::compare::{cut, percent, time};
use cycloid_lab::Failure;

/// The width of a line.
const WIDTH: usize = 80;

/// The widths of the names of groups and of rows in the overview.
const GROUP: usize = 22;
const ROW: usize = 27;

/// Formats the newest changes of each group of rows, or the course of the rows whose names contain
/// all `words`.
///
/// # Errors
/// If no row has such a name.
pub fn show(entries: &[Entry], words: &[String]) -> Result<String, Failure> {
    if words.is_empty() {
        return Ok(overview(entries));
    }
    let text = rows(entries, words);
    if text.is_empty() {
        return Err(Failure::new(
            format!("no row name contains '{}'", words.join(" ")),
            "run `cycloid history show` without words for the groups of rows",
        ));
    }
    Ok(text)
}

/// The rows of a group that compare in the same way, in the newest run that has the group.
struct Line {
    basis: String,
    /// Factors and names of rows; factors are missing where the rows are not comparable.
    rows: Vec<(Option<f64>, String)>,
}

fn overview(entries: &[Entry]) -> String {
    let mut text = String::from(
        "Change of time from the run before, relative to the peers that both runs\n\
         measured in the same version; + is slower.\n",
    );
    let mut head = String::new();
    let runs: Vec<&Entry> = entries.iter().collect();
    for machine in machines(entries) {
        let _ = writeln!(text, "\n{}", cut(machine, WIDTH));
        for (run, group) in newest(entries, machine) {
            let entry = &entries[run];
            let commit = entry.commit.as_deref().unwrap_or_default();
            let new = format!("{} {} {commit}", group.suite, day(&entry.date));
            let new = cut(new.trim_end(), GROUP + 3);
            if new != head {
                let _ = writeln!(text, "  {new:25}{:>4}{:>10}{:>10}  worst", "rows", "from", "to");
                head = new;
            }
            for line in lines(&runs[..run], entry, group) {
                let _ = writeln!(text, "{}", line.text(&group.group));
            }
        }
        head.clear();
    }
    text
}

impl Line {
    fn text(&self, group: &str) -> String {
        let start = format!("    {:GROUP$}{:>5}", cut(group, GROUP - 1), self.rows.len());
        let factors = || self.rows.iter().filter_map(|(factor, row)| Some(((*factor)?, row)));
        let worst = factors().max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((highest, row)) = worst else {
            return cut(&format!("{start}  {}", self.basis), WIDTH);
        };
        let lowest = factors().map(|(factor, _)| factor).fold(highest, f64::min);
        let [lowest, highest] = [lowest, highest].map(percent);
        let row = cut(row, ROW);
        let line = format!("{start}{lowest:>10}{highest:>10}  {row}");
        match self.basis.is_empty() {
            true => line,
            false => format!("{line}\n{:10}{}", "", self.basis),
        }
    }
}

/// Compares the rows of a group with their predecessors, by basis of comparison.
fn lines(earlier: &[&Entry], entry: &Entry, group: &Table) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let tables = entry.tables.iter().filter(|table| is_of(table, group));
    for (table, (row, point)) in tables.flat_map(|t| t.rows.iter().map(move |row| (t, row))) {
        let change = since(&Place { entry, table, point: *point }, row, earlier);
        let is_same = change.is_some_and(|(before, _)| before.machine == entry.machine);
        let (basis, factor) = match change.map(|(_, change)| change) {
            Some(Change::Relative(factor, _)) if is_same => (String::new(), Some(factor)),
            Some(Change::Relative(factor, _)) => ("against another machine".into(), Some(factor)),
            Some(Change::Incomparable(why)) => {
                let place = if is_same { "" } else { "other machine, " };
                (format!("not comparable: {place}{why}"), None)
            }
            None => ("first run".into(), None),
        };
        let name = table.row_in_group(row);
        match lines.iter_mut().find(|line| line.basis == basis) {
            Some(line) => line.rows.push((factor, name)),
            None => lines.push(Line { basis, rows: vec![(factor, name)] }),
        }
    }
    lines
}

/// Returns each machine once, in order.
pub(super) fn machines(entries: &[Entry]) -> Vec<&str> {
    let mut machines: Vec<&str> = Vec::new();
    for entry in entries {
        if !machines.contains(&&*entry.machine) {
            machines.push(&entry.machine);
        }
    }
    machines
}

/// Returns a table of each group that runs on a machine have, and the newest run that has it, by
/// suite.
fn newest<'a>(entries: &'a [Entry], machine: &str) -> Vec<(usize, &'a Table)> {
    let mut groups: Vec<(usize, &Table)> = Vec::new();
    for (run, entry) in entries.iter().enumerate().filter(|(_, e)| e.machine == machine) {
        for table in &entry.tables {
            match groups.iter_mut().find(|(_, other)| is_of(table, other)) {
                Some(group) => *group = (run, table),
                None => groups.push((run, table)),
            }
        }
    }
    groups.sort_by(|(_, a), (_, b)| a.suite.cmp(&b.suite));
    groups
}

/// Returns whether two tables are of the same group.
fn is_of(table: &Table, group: &Table) -> bool {
    table.suite == group.suite && table.group == group.group
}

fn rows(entries: &[Entry], words: &[String]) -> String {
    let matches =
        |name: &str| words.iter().all(|word| name.to_lowercase().contains(&word.to_lowercase()));
    let mut text = String::new();
    let mut shown: Vec<String> = Vec::new();
    for entry in entries {
        for (table, row) in entry.tables.iter().flat_map(|t| t.rows.keys().map(move |row| (t, row)))
        {
            let name = table.row(row);
            if matches(&name) && !shown.contains(&name) {
                text.push_str(&course(entries, table, row));
                shown.push(name);
            }
        }
    }
    text
}

/// Formats the course of a row, run by run.
fn course(entries: &[Entry], table: &Table, row: &str) -> String {
    let mut text = cut(&table.row(row), WIDTH) + "\n";
    let mut machine = "";
    let runs: Vec<&Entry> = entries.iter().collect();
    for (run, entry) in entries.iter().enumerate() {
        let found = entry.table_like(table).and_then(|table| Some((table, *table.rows.get(row)?)));
        let Some((table, point)) = found else { continue };
        if entry.machine != machine {
            machine = &entry.machine;
            let _ = writeln!(text, "  {}", cut(machine, WIDTH - 2));
        }
        let commit = cut(entry.commit.as_deref().unwrap_or("–"), 11);
        let change = match since(&Place { entry, table, point }, row, &runs[..run]) {
            None => String::new(),
            Some((before, change)) => {
                let place = if before.machine == entry.machine { "" } else { ", other machine" };
                match change {
                    Change::Relative(factor, peers) => {
                        let s = if peers == 1 { "" } else { "s" };
                        format!("{:>10}  to {peers} peer row{s}{place}", percent(factor))
                    }
                    Change::Incomparable(why) => format!("  not comparable: {why}"),
                }
            }
        };
        let _ =
            writeln!(text, "    {}  {commit:11}{:>10}{change}", day(&entry.date), time(point.ns));
    }
    text
}

/// Returns the day of an RFC 3339 date.
pub(super) fn day(date: &str) -> &str {
    date.get(..10).unwrap_or(date)
}
