//! A run in the history: what is needed to judge the next one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compare::{is_ours, row_name};
use crate::record::{Report, Table};

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The start of the run: RFC 3339, UTC.
    pub date: String,
    /// The measured commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The configuration: processor, threads, level, effort. Only runs with equal values are
    /// compared.
    pub machine: String,
    /// `rustc --version`.
    pub compiler: String,
    /// The peers' versions.
    pub peers: BTreeMap<String, String>,
    /// The geometric mean of the ratios of each suite's rows.
    pub means: BTreeMap<String, f64>,
    /// The library's own rows, by suite, table, group and label.
    pub rows: BTreeMap<String, Point>,
}

/// The result of a row in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Nanoseconds per operation.
    pub ns: f64,
    /// The time divided by the geometric mean of the peers in the table; `None` without peers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
}

impl Entry {
    /// Extracts an entry from a record.
    pub fn of(report: &Report, commit: Option<String>) -> Self {
        let e = &report.environment;
        let peers = report.peers.iter();
        let rows: BTreeMap<String, Point> = report.tables.iter().flat_map(points).collect();
        let mut logarithms: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (name, point) in &rows {
            let suite = name.split(": ").next().unwrap_or_default();
            logarithms.entry(suite.into()).or_default().extend(point.ratio.map(f64::ln));
        }
        logarithms.retain(|_, ratios| !ratios.is_empty());
        let mean = |ratios: Vec<f64>| (ratios.iter().sum::<f64>() / ratios.len() as f64).exp();
        let means = logarithms.into_iter().map(|(suite, ratios)| (suite, rounded(mean(ratios))));
        Self {
            date: e.date.clone(),
            commit,
            machine: format!(
                "{}, {} threads, {}, {}",
                e.cpu, e.threads, e.level_used, report.effort
            ),
            compiler: e.compiler.clone(),
            peers: peers.filter_map(|p| Some((p.name.clone(), p.version.clone()?))).collect(),
            means: means.collect(),
            rows,
        }
    }

    /// Formats the entry as a line of the file.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("an entry is plain data") + "\n"
    }
}

/// Returns the library's own rows of a table.
fn points(table: &Table) -> impl Iterator<Item = (String, Point)> {
    let peers = table.records.iter().filter(|record| !is_ours(record));
    let logarithms: Vec<f64> = peers.map(|record| record.ratio.median.ln()).collect();
    let level = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    let ours = table.records.iter().filter(|record| is_ours(record));
    ours.map(move |record| {
        let ratio = record.ratio.median.ln() - level;
        let point = Point {
            ns: record.time.nanoseconds(table.statistic),
            ratio: ratio.is_finite().then(|| rounded(ratio.exp())),
        };
        let name = row_name(&record.group, &record.label);
        (format!("{}: {}, {name}", table.suite, table.title), point)
    })
}

/// Rounds to five decimals, more than a run can resolve.
fn rounded(ratio: f64) -> f64 {
    (ratio * 1e5).round() / 1e5
}
