//! A run in the history: what is needed to compare it with another one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use cycloid_lab::record::{self, Report};

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The start of the run: RFC 3339, UTC.
    pub date: String,
    /// The measured commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The configuration: processor, threads, level, effort. Times are comparable only between
    /// runs with equal values.
    pub machine: String,
    /// `rustc --version`.
    pub compiler: String,
    /// The measured tables.
    pub tables: Vec<Table>,
}

/// The rows of a table in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The suite.
    pub suite: String,
    /// The group of tables that belong together.
    pub group: String,
    /// The name within the group; empty if the table is alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The library's own rows, by group and label.
    pub rows: BTreeMap<String, Point>,
    /// The peers' rows, by group and label.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub peers: BTreeMap<String, PeerPoint>,
}

/// The result of one of the library's rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Nanoseconds per operation.
    pub ns: f64,
    /// The time relative to the table's reference, from the same rounds.
    pub ratio: f64,
}

/// The result of a peer's row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerPoint {
    /// The peer's version.
    pub version: String,
    /// The time relative to the table's reference, from the same rounds.
    pub ratio: f64,
}

impl Entry {
    /// Extracts an entry from a record.
    pub fn of(report: &Report, commit: Option<String>) -> Self {
        let e = &report.environment;
        let tables = report.tables.iter().map(Table::of);
        Self {
            date: e.date.clone(),
            commit,
            machine: format!(
                "{}, {} threads, {}, {}",
                e.cpu, e.threads, e.level_used, report.effort
            ),
            compiler: e.compiler.clone(),
            tables: tables.filter(|table| !table.rows.is_empty()).collect(),
        }
    }

    /// Formats the entry as a line of the file.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("an entry is plain data") + "\n"
    }

    /// Returns the table of that suite, group and name.
    pub(super) fn table_like(&self, other: &Table) -> Option<&Table> {
        self.tables.iter().find(|table| table.is_like(other))
    }
}

impl Table {
    fn of(table: &record::Table) -> Self {
        let (mut rows, mut peers) = (BTreeMap::new(), BTreeMap::new());
        for record in &table.records {
            let (name, ratio) = (record.name(), record.ratio.median);
            let is_usable = ratio.is_finite() && ratio > 0.0;
            if is_usable && record.is_ours() {
                rows.insert(name, Point { ns: record.time.nanoseconds(table.statistic), ratio });
            } else if is_usable && record.is_whole_peer() {
                let version = record.implementation.version.clone();
                peers.insert(name, PeerPoint { version, ratio });
            }
        }
        let record::Table { suite, group, name, .. } = table;
        Self { suite: suite.clone(), group: group.clone(), name: name.clone(), rows, peers }
    }

    /// Returns whether both are the same table in different runs.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (&self.suite, &self.group, &self.name) == (&other.suite, &other.group, &other.name)
    }

    /// Returns the name of a row within the table's group.
    pub(super) fn row_in_group(&self, row: &str) -> String {
        // The library's own name says nothing among its own rows.
        let row = row.strip_prefix("Cycloid, ").unwrap_or(row);
        if self.name.is_empty() { row.into() } else { format!("{}, {row}", self.name) }
    }

    /// Returns the whole name of a row.
    pub(super) fn row(&self, row: &str) -> String {
        format!("{}: {}: {}", self.suite, self.group, self.row_in_group(row))
    }
}
