//! The course of groups of rows from run to run on one machine, like with like.

use std::collections::BTreeMap;

use super::change::{Place, since};
use super::entry::Entry;
use super::show::{day, machines};
use crate::compare::percent;

/// The course of a group of rows on one machine.
pub(crate) struct Course {
    /// The group.
    pub(crate) group: String,
    /// The machine.
    pub(crate) machine: String,
    /// The group's runs, in order.
    pub(crate) steps: Vec<Step>,
}

/// A group of rows in a run. Times are relative to the peers, and to each row's first run.
pub(crate) struct Step {
    /// The place of the run among the machine's runs of the suite, from 1.
    pub(crate) run: usize,
    /// The time of the middle row.
    pub(crate) middle: f64,
    /// The time of the row that became slowest.
    pub(crate) highest: f64,
    /// Date, commit, the range of the rows, and the name of the highest.
    pub(crate) summary: String,
}

/// Returns the course of each group of a suite on each machine. A row counts in a run if it has a
/// common peer with each predecessor back to its first run.
pub(crate) fn courses(entries: &[Entry], suite: &str) -> Vec<Course> {
    machines(entries).into_iter().flat_map(|machine| on_machine(entries, suite, machine)).collect()
}

fn on_machine(entries: &[Entry], suite: &str, machine: &str) -> Vec<Course> {
    let has_suite = |entry: &&Entry| entry.tables.iter().any(|table| table.suite == suite);
    let runs: Vec<&Entry> =
        entries.iter().filter(|entry| entry.machine == machine).filter(has_suite).collect();
    let mut levels = Levels::default();
    let mut courses: Vec<Course> = Vec::new();
    for (run, entry) in runs.iter().enumerate() {
        for (group, rows) in levels.add(&runs[..run], entry, suite) {
            let step = step(entry, run + 1, rows);
            match courses.iter_mut().find(|course| course.group == group) {
                Some(course) => course.steps.push(step),
                None => courses.push(Course {
                    group: group.into(),
                    machine: machine.into(),
                    steps: vec![step],
                }),
            }
        }
    }
    courses
}

/// The level of each row in each run of a machine, by date and name of the row: its time relative
/// to the peers, and to the row's first run.
#[derive(Default)]
struct Levels<'a>(BTreeMap<(&'a str, String), f64>);

impl<'a> Levels<'a> {
    /// Adds a run after `earlier`, and returns the levels and names of its rows by group.
    fn add(
        &mut self,
        earlier: &[&'a Entry],
        entry: &'a Entry,
        suite: &str,
    ) -> Vec<(&'a str, Vec<(f64, String)>)> {
        let mut groups: Vec<(&str, Vec<(f64, String)>)> = Vec::new();
        let tables = entry.tables.iter().filter(|table| table.suite == suite);
        for (table, (row, point)) in tables.flat_map(|t| t.rows.iter().map(move |row| (t, row))) {
            let place = Place { entry, table, point: *point };
            let Some(level) = self.level(&place, row, earlier) else { continue };
            self.0.insert((&entry.date, table.row(row)), level);
            let row = (level, table.row_in_group(row));
            match groups.iter_mut().find(|(group, _)| *group == table.group) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((&table.group, vec![row])),
            }
        }
        groups
    }

    /// Returns the level of a row; `None` if it is not comparable back to its first run.
    fn level(&self, place: &Place<'_>, row: &str, earlier: &[&'a Entry]) -> Option<f64> {
        let Some((before, change)) = since(place, row, earlier) else { return Some(1.0) };
        let level = self.0.get(&(&*before.date, place.table.row(row)))?;
        Some(level * change.relative()?)
    }
}

/// Summarises the rows of a group; at least one row.
fn step(entry: &Entry, run: usize, mut rows: Vec<(f64, String)>) -> Step {
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (lowest, (highest, worst)) = (rows[0].0, &rows[rows.len() - 1]);
    let commit = entry.commit.as_deref().map_or_else(String::new, |commit| format!(" {commit}"));
    let range = match rows.len() {
        1 => format!("{worst} {}", percent(*highest)),
        number => {
            let [low, high] = [lowest, *highest].map(percent);
            format!("{number} rows {low} to {high}, highest {worst}")
        }
    };
    Step {
        run,
        middle: rows[rows.len() / 2].0,
        highest: *highest,
        summary: format!("{}{commit}: {range}", day(&entry.date)),
    }
}
