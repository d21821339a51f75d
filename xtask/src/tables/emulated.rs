//! Measures of rows that an emulated processor ran, for the tables in the documents.

use serde_json::Value;

use super::records::number;

/// The cell for an unknown number.
const NONE: &str = "–";

/// Returns a row's cell; `None` if the measure is none of these.
pub(super) fn cell(row: &Value, measure: &str) -> Option<String> {
    let whole = |place: &str| or_none(number(row, place), thousands);
    let millions = |place: &str| or_none(number(row, place), |n| format!("{:.2}", n / 1e6));
    Some(match measure {
        "thousands" => or_none(number(row, "/instructions/emulated/count") / 1e3, thousands),
        "instructions" => millions("/instructions/emulated/count"),
        "cycles" => millions("/emulated/cycles"),
        "milliseconds" => millions("/time/median_ns"),
        "scratch" => whole("/memory/scratch"),
        "stack" => whole("/memory/stack_peak"),
        "heap" => whole("/memory/heap_peak"),
        "flash" => whole("/emulated/flash"),
        "classic" => whole("/emulated/classic/milliseconds"),
        "classic-scratch" => whole("/emulated/classic/scratch"),
        _ => return None,
    })
}

fn or_none(number: f64, format: impl Fn(f64) -> String) -> String {
    if number.is_nan() { NONE.into() } else { format(number) }
}

/// Formats a whole number with a comma between thousands.
pub(super) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_numbers_are_dashes() {
        let row = json!({"emulated": {"cycles": 12_345_678, "classic": {"milliseconds": 397.0}}});
        let cells =
            ["cycles", "classic", "classic-scratch", "flash"].map(|measure| cell(&row, measure));
        assert_eq!(cells.map(Option::unwrap), ["12.35", "397", "–", "–"]);
        assert_eq!(cell(&row, "rate"), None);
        let row = json!({"instructions": {"emulated": {"count": 104_318.0}}});
        assert_eq!(cell(&row, "thousands").unwrap(), "104");
    }
}
