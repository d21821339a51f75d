//! Reads JSON that someone else may have written, for text on a terminal.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Parses JSON. Control characters in names and texts become U+FFFD: printed, they could hide lines
/// or give commands to the terminal.
///
/// # Errors
/// If the text is not JSON of that type.
pub fn from_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut value = serde_json::from_str(text)?;
    if replace(&mut value) {
        return T::deserialize(value);
    }
    // Errors in a text name the line.
    serde_json::from_str(text)
}

/// Replaces the control characters in all texts and names; returns whether there were any.
pub(super) fn replace(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let found = text.contains(char::is_control);
            if found {
                *text = printable(text);
            }
            found
        }
        Value::Array(items) => items.iter_mut().fold(false, |found, item| replace(item) | found),
        Value::Object(fields) => {
            let found = fields.values_mut().fold(false, |found, field| replace(field) | found);
            if !fields.keys().any(|name| name.contains(char::is_control)) {
                return found;
            }
            let renamed = |(name, field): (String, Value)| (printable(&name), field);
            *fields = std::mem::take(fields).into_iter().map(renamed).collect::<Map<_, _>>();
            true
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced_in_names_and_texts() {
        let text = r#"{"a\u001b[2J": ["é\n", {"b": "\u0000x\u009b"}], "c": [1.5, null, true]}"#;
        let value: Value = from_json(text).unwrap();
        let right = r#"{"a�[2J": ["é�", {"b": "�x�"}], "c": [1.5, null, true]}"#;
        assert_eq!(value, serde_json::from_str::<Value>(right).unwrap());
        assert!(from_json::<u8>(r#""\u001b""#).unwrap_err().to_string().contains('\u{fffd}'));
        assert!(from_json::<Vec<u8>>("[1,\n2,\n\"\"]").unwrap_err().to_string().contains("line 3"));
    }
}
