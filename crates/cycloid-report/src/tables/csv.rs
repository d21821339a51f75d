//! Writes a report as comma-separated values (RFC 4180, but with Unix line ends): one record per
//! line.

use super::rows::{self, Row};
use cycloid_lab::record::Report;

/// Formats all records under a line of column names.
pub fn csv(report: &Report) -> String {
    let of_table = |table| {
        let table: &cycloid_lab::record::Table = table;
        table.records.iter().map(move |record| rows::row(table, record))
    };
    let rows: Vec<Row> = report.tables.iter().flat_map(of_table).collect();
    let columns = rows::columns(&rows);
    let mut text = line(columns.iter().map(|name| &**name));
    for row in &rows {
        text += &line(columns.iter().map(|name| row.get(name).map_or("", |value| value)));
    }
    text
}

fn line<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let values: Vec<String> = values.map(quoted).collect();
    values.join(",") + "\n"
}

fn quoted(value: &str) -> String {
    match value.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", value.replace('"', "\"\"")),
        false => value.into(),
    }
}
