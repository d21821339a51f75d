//! A validator for the subset of JSON Schema 2020-12 that the record's schema uses. Other keywords
//! fail the test instead of being ignored.

use serde_json::Value;

/// Keywords that do not affect validity here. Formats and defaults are checked by serde.
const SILENT: [&str; 6] = ["$schema", "$defs", "title", "description", "default", "format"];

/// Returns the violations of the schema in `instance`, with their locations.
pub(super) fn complaints(schema: &Value, instance: &Value) -> Vec<String> {
    let mut complaints = Vec::new();
    Validator { root: schema, complaints: &mut complaints }.check(schema, instance, "");
    complaints
}

struct Validator<'a> {
    root: &'a Value,
    complaints: &'a mut Vec<String>,
}

impl Validator<'_> {
    fn check(&mut self, schema: &Value, instance: &Value, place: &str) {
        let Some(keywords) = schema.as_object() else {
            assert_eq!(schema, true, "{place}: the schema refuses everything");
            return;
        };
        for (keyword, value) in keywords {
            if SILENT.contains(&&**keyword) {
                continue;
            }
            if !self.holds(keyword, value, instance, place) {
                self.complaints.push(format!("{place}: {keyword} {value}"));
            }
        }
    }

    fn holds(&mut self, keyword: &str, value: &Value, instance: &Value, place: &str) -> bool {
        let length = instance.as_array().map(|items| items.len() as u64);
        match keyword {
            "$ref" => {
                let pointer = value.as_str().unwrap().strip_prefix('#').unwrap();
                self.check(self.root.pointer(pointer).unwrap(), instance, place);
                true
            }
            "type" => match value {
                Value::Array(types) => types.iter().any(|name| is_a(instance, name)),
                name => is_a(instance, name),
            },
            "const" => instance == value,
            "enum" => value.as_array().unwrap().contains(instance),
            "anyOf" => self.fitting(value, instance) > 0,
            "oneOf" => self.fitting(value, instance) == 1,
            "required" => value.as_array().unwrap().iter().all(|name| {
                instance
                    .as_object()
                    .is_none_or(|object| object.contains_key(name.as_str().unwrap()))
            }),
            "properties" => {
                for (name, schema) in value.as_object().unwrap() {
                    if let Some(property) = instance.get(name) {
                        self.check(schema, property, &format!("{place}/{name}"));
                    }
                }
                true
            }
            "additionalProperties" => value == true,
            "items" => {
                for (i, item) in instance.as_array().into_iter().flatten().enumerate() {
                    self.check(value, item, &format!("{place}/{i}"));
                }
                true
            }
            "minItems" => length.is_none_or(|length| length >= value.as_u64().unwrap()),
            "maxItems" => length.is_none_or(|length| length <= value.as_u64().unwrap()),
            "minimum" => instance.as_f64().is_none_or(|number| number >= value.as_f64().unwrap()),
            "maximum" => instance.as_f64().is_none_or(|number| number <= value.as_f64().unwrap()),
            _ => panic!("unknown keyword {keyword}"),
        }
    }

    /// Returns how many of the schemas the instance satisfies.
    fn fitting(&self, schemas: &Value, instance: &Value) -> usize {
        let fits = |schema: &&Value| {
            let mut complaints = Vec::new();
            Validator { root: self.root, complaints: &mut complaints }.check(schema, instance, "");
            complaints.is_empty()
        };
        schemas.as_array().unwrap().iter().filter(fits).count()
    }
}

fn is_a(instance: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => instance.is_null(),
        "boolean" => instance.is_boolean(),
        "object" => instance.is_object(),
        "array" => instance.is_array(),
        "string" => instance.is_string(),
        "number" => instance.is_number(),
        "integer" => instance.is_i64() || instance.is_u64(),
        name => panic!("unknown type {name}"),
    }
}
