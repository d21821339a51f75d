//! The values in committed records.

use std::fs;

use serde_json::Value;

pub(super) fn record(path: &str) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{path} is not a record: {error}"))
}

pub(super) fn table<'v>(report: &'v Value, title: &str) -> Option<&'v Value> {
    report["tables"].as_array()?.iter().find(|table| is_titled(table, title))
}

/// Returns whether a table has that title, which formats before 3 contain and which format 3 joins
/// of group and name.
fn is_titled(table: &Value, title: &str) -> bool {
    let text = |field: &str| table[field].as_str().unwrap_or_default();
    match (text("group"), text("name")) {
        _ if table.get("title").is_some() => text("title") == title,
        (group, "") => group == title,
        (group, name) => {
            title.strip_prefix(group).and_then(|rest| rest.strip_prefix(": ")) == Some(name)
        }
    }
}

pub(super) fn rows(table: &Value) -> impl Iterator<Item = &Value> {
    table["records"].as_array().into_iter().flatten()
}

pub(super) fn ratio(row: &Value) -> f64 {
    number(row, "/ratio/median")
}

/// Returns how many times as fast as the best peer a row of the library is. blst is a peer, also as a
/// backend, and peers' batches count only beside the library's.
pub(super) fn lead(table: &Value, row: &Value) -> Option<f64> {
    let batch = |row: &Value| row["operations_per_call"].as_u64().unwrap_or(1);
    let peers = rows(table).filter(|peer| is_peer(peer) && batch(peer) <= batch(row));
    Some(peers.map(ratio).min_by(f64::total_cmp)? / ratio(row))
}

pub(super) fn is_peer(row: &Value) -> bool {
    row["implementation"]["backend"].is_null() || row["label"] == "blst"
}

/// Returns NaN if there is no number; every cell then shows that.
pub(super) fn number(row: &Value, place: &str) -> f64 {
    row.pointer(place).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// Formats a ratio with three significant digits, up to hundreds.
pub(super) fn proportion(ratio: f64) -> String {
    let decimals = match ratio {
        r if r < 9.995 => 2,
        r if r < 99.95 => 1,
        _ => 0,
    };
    format!("{ratio:.decimals$}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_titled;

    #[test]
    fn titles_of_every_format() {
        let (old, new) = (json!({"title": "a: b"}), json!({"group": "a", "name": "b"}));
        let alone = json!({"group": "a", "name": ""});
        assert!(is_titled(&old, "a: b") && is_titled(&new, "a: b") && is_titled(&alone, "a"));
        assert!(!is_titled(&old, "a") && !is_titled(&new, "a") && !is_titled(&alone, "a: b"));
    }
}
