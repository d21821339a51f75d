//! Reads records of formats 1 and 2, in which titles and labels held what format 3 has in fields.
//! No other code takes a title or a label apart.
//!
//! Format 1 had medians only; its missing fields have defaults.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{FORMAT, Report, Table};

/// Reads a record of format 1 or 2 as one of [`FORMAT`].
///
/// # Errors
/// Names the malformed table.
#[inline]
pub(super) fn read(mut report: Value) -> Result<Report, String> {
    report["format"] = FORMAT.into();
    let tables = report.get_mut("tables").and_then(Value::as_array_mut);
    for (i, table) in tables.into_iter().flatten().enumerate() {
        let converted = table.as_object_mut().map_or(Err("it is not an object"), convert);
        converted.map_err(|why| format!("table {}: {why}", i + 1))?;
        // An error of the whole report would not tell the table.
        Table::deserialize(&*table).map_err(|error| format!("table {}: {error}", i + 1))?;
    }
    Report::deserialize(report).map_err(|error| error.to_string())
}

#[inline]
fn convert(table: &mut Map<String, Value>) -> Result<(), &'static str> {
    let Some(Value::String(title)) = table.remove("title") else {
        return Err("it has no title");
    };
    let (group, name) = title.split_once(": ").unwrap_or((&title, ""));
    table.insert("group".into(), group.into());
    table.insert("name".into(), name.into());
    if let Some((operation, size)) = series(name) {
        table.insert("series".into(), json!({ "operation": operation, "size": size }));
    }
    set_methods(table);
    Ok(())
}

/// Splits a name: `G1 sum of 2^8 multiples` is the operation `G1 sum of multiples` of size 256.
fn series(name: &str) -> Option<(String, u64)> {
    let (before, after) = name.split_once("2^")?;
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let exponent: u32 = after[..end].parse().ok().filter(|exponent| *exponent < 40)?;
    let operation = format!("{before}{}", after[end..].trim_start());
    Some((operation.trim().trim_end_matches(" of").into(), 1 << exponent))
}

/// Sets the method of each row that shares its library with the reference.
fn set_methods(table: &mut Map<String, Value>) {
    // Here, rows are backends.
    if table.get("summary").is_some_and(|summary| summary == "backends") {
        return;
    }
    let reference = table.get("reference").cloned();
    let Some(records) = table.get_mut("records").and_then(Value::as_array_mut) else { return };
    let library = |record: &Value| record.pointer("/implementation/library").cloned();
    let is_reference = |record: &&Value| record.get("label") == reference.as_ref();
    let Some(ours) = records.iter().find(is_reference).and_then(library) else { return };
    for record in records.iter_mut().filter(|record| library(record).as_ref() == Some(&ours)) {
        let label = record.get("label").and_then(Value::as_str).unwrap_or_default();
        let method = match label {
            _ if record.get("label") == reference.as_ref() => continue,
            label if label.starts_with('×') => "batch",
            label if label.ends_with(" job") || label.ends_with(" jobs") => "batch",
            _ => "other",
        };
        record["method"] = method.into();
    }
}

#[cfg(test)]
mod tests {
    use super::series;

    #[test]
    fn sizes_are_read_from_names() {
        let sum = ("G1 sum of multiples".into(), 4096);
        assert_eq!(series("G1 sum of 2^12 multiples"), Some(sum));
        assert_eq!(series("Fr transform of 2^8"), Some(("Fr transform".into(), 256)));
        assert_eq!(series("2^99 of them"), None);
        assert_eq!(series("2^99999999999999999999"), None);
        assert_eq!(series("pairing of 6"), None);
    }
}
