//! Flattens records into rows: every value of a record and of its table, under a name.

use std::collections::BTreeMap;

use serde_json::Value;

use cycloid_lab::record::{Record, Series, Table};

/// The first columns, in this order; a name that ends in a colon stands for all names that begin
/// with it. Other columns come last.
const ORDER: [&str; 18] = [
    "suite",
    "table:",
    "group",
    "label",
    "method",
    "implementation:library",
    "implementation:version",
    "implementation:backend",
    "implementation:function",
    "operation",
    "operations_per_call",
    "constant_time",
    "parameters:",
    "statistic",
    "time:",
    "ratio:",
    "control:",
    "memory:",
];

/// Values by name, as text; unknown values are empty.
pub(super) type Row = BTreeMap<String, String>;

/// Returns the row of a record, complete without the surrounding table.
pub(super) fn row(table: &Table, record: &Record) -> Row {
    let mut row = Row::new();
    add(&mut row, "", &serde_json::to_value(record).expect("a record is plain data"));
    add(&mut row, "control", &serde_json::to_value(table.control).expect("a ratio is plain data"));
    for (name, value) in [
        ("suite", &table.suite),
        ("table", &table.title()),
        ("table:group", &table.group),
        ("table:name", &table.name),
        ("statistic", &table.statistic.name().to_owned()),
        ("reference", &table.reference),
    ] {
        row.insert(name.into(), value.clone());
    }
    if let Some(Series { operation, size }) = &table.series {
        row.insert("table:series:operation".into(), operation.clone());
        row.insert("table:series:size".into(), size.to_string());
    }
    row
}

/// Returns the names of all values of `rows`.
pub(super) fn columns<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in rows.into_iter().flat_map(BTreeMap::keys) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let place = |name: &String| {
        let stands_for = |order: &&str| match order.strip_suffix(':') {
            Some(prefix) => name.split(':').next() == Some(prefix),
            None => name == order,
        };
        ORDER.iter().position(stands_for).unwrap_or(ORDER.len())
    };
    names.sort_by(|a, b| (place(a), a).cmp(&(place(b), b)));
    names
}

/// Adds a value; flattens objects and intervals, and writes longer lists as one text.
fn add(row: &mut Row, name: &str, value: &Value) {
    let below = |part: &str| match name {
        "" => part.to_owned(),
        name => format!("{name}:{part}"),
    };
    match value {
        Value::Object(parts) => {
            parts.iter().for_each(|(part, value)| add(row, &below(part), value));
        }
        Value::Array(parts) => match (&parts[..], name.rsplit(':').next()) {
            ([low, high], Some("interval" | "interval_ns" | "range")) => {
                add(row, &below("low"), low);
                add(row, &below("high"), high);
            }
            _ => {
                let parts: Vec<String> = parts.iter().map(text).collect();
                row.insert(name.into(), parts.join(" "));
            }
        },
        value => {
            row.insert(name.into(), text(value));
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
