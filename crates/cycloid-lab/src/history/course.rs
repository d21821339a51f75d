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
    let mut courses: Vec<Course> = Vec::new();
    for machine in machines(entries) {
        let is_of = |entry: &&Entry| {
            entry.machine == machine && entry.tables.iter().any(|table| table.suite == suite)
        };
        let runs: Vec<&Entry> = entries.iter().filter(is_of).collect();
        // The level of each row in each run, by date and name of the row.
        let mut levels: BTreeMap<(&str, String), f64> = BTreeMap::new();
        for (run, entry) in runs.iter().enumerate() {
            let mut groups: Vec<(&str, Vec<(f64, String)>)> = Vec::new();
            for table in entry.tables.iter().filter(|table| table.suite == suite) {
                for (row, point) in &table.rows {
                    let place = Place { entry, table, point: *point };
                    let level = match since(&place, row, &runs[..run]) {
                        None => Some(1.0),
                        Some((before, change)) => {
                            let before = levels.get(&(&*before.date, table.row(row)));
                            before.zip(change.relative()).map(|(level, factor)| level * factor)
                        }
                    };
                    let Some(level) = level else { continue };
                    levels.insert((&entry.date, table.row(row)), level);
                    let row = (level, table.row_in_group(row));
                    match groups.iter_mut().find(|(group, _)| *group == table.group) {
                        Some((_, rows)) => rows.push(row),
                        None => groups.push((&table.group, vec![row])),
                    }
                }
            }
            for (group, rows) in groups {
                let step = step(entry, run + 1, rows);
                let is_it =
                    |course: &&mut Course| course.group == group && course.machine == machine;
                match courses.iter_mut().find(is_it) {
                    Some(course) => course.steps.push(step),
                    None => courses.push(Course {
                        group: group.into(),
                        machine: machine.into(),
                        steps: vec![step],
                    }),
                }
            }
        }
    }
    courses
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
