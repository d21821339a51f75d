//! The record format, older formats, malformed records, the schema, and the committed records.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::*;

/// A report with all optional fields present.
fn whole() -> Report {
    let record = Record {
        operation: "modular exponentiation".into(),
        parameters: Parameters::from([("modulus_bits".into(), 2048.into())]),
        group: "Montgomery".into(),
        label: "5b FW".into(),
        method: Method::Other,
        implementation: Implementation {
            product: "cycloid".into(),
            version: "0.1.0".into(),
            function: "Strategy::pow_vartime".into(),
            backend: Some("adx".into()),
        },
        constant_time: true,
        operations_per_call: 1,
        time: Time {
            samples: 40,
            minimum_ns: 1234.5,
            median_ns: 1300.25,
            mean_ns: 1310.5,
            interval_ns: [1290.0, 1310.0 / 3.0],
            operations_per_second: 1e9 / 1300.25,
        },
        ratio: Ratio { samples: 40, median: 1.01, interval: [1.0, 1.02] },
        memory: Memory { scratch: Some(2176), allocations: Some(0), ..Memory::default() },
        service: Some(Service {
            clients: 16,
            answers: 1000,
            latency_median_ns: 1e6,
            latency_p99_ns: 2e6,
            processor_ns: 0.5e6,
        }),
        tunnel: Some(Tunnel {
            megabits_per_second: 4321.5,
            server_seconds_per_gigabyte: 1.5,
            client_seconds_per_gigabyte: 1.25,
            round_trip_ns: Some(90_000.0),
        }),
        instructions: Some(Instructions {
            portable: Some(Count {
                count: 1_234_567.5,
                range: [1_234_567.0, 1_234_568.0],
                runs: 4,
                code_bytes: 12_288,
            }),
            ..Instructions::default()
        }),
        emulated: Some(Emulated {
            cycles: 2_345_678,
            divisions: 12,
            flash: Some(23_456),
            classic: Some(Classic { milliseconds: Some(397.0), scratch: None }),
        }),
        samples: Some(Samples { times_ns: vec![1300.25, 1290.0], ratios: vec![1.01] }),
    };
    Report {
        format: FORMAT,
        environment: crate::environment::current(),
        effort: "quick".into(),
        peers: vec![Peer {
            name: "GMP".into(),
            version: None,
            missing: Some(Missing {
                reason: "no usable libgmp.so.10".into(),
                remedy: "apt install libgmp10".into(),
            }),
        }],
        tables: vec![Table {
            suite: "modexp".into(),
            group: "P-256".into(),
            name: "sum of 2^8, prepared".into(),
            series: Some(Series {
                operation: "sum, prepared".into(),
                size: NonZeroU64::new(256).unwrap(),
            }),
            parameters: record.parameters.clone(),
            statistic: Statistic::Mean,
            summary: Summary::Rates,
            reference: "default".into(),
            control: record.ratio,
            rounds: 40,
            seconds: 1.5,
            missing: vec!["GMP".into()],
            notes: vec!["a note".into()],
            records: vec![record],
        }],
        unfinished: vec!["rsa: RSA-2048, sign".into()],
    }
}

#[test]
fn a_report_survives_json() {
    let report = whole();
    let text = serde_json::to_string_pretty(&report).unwrap();
    assert_eq!(Report::from_json(&text, "it").unwrap(), report);
}

#[test]
fn every_method_survives_json() {
    for method in [Method::Single, Method::Batch, Method::Other] {
        let mut report = whole();
        report.tables[0].records[0].method = method;
        (report.tables[0].name, report.tables[0].series) = (String::new(), None);
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(text.contains("\"method\""), method != Method::Single);
        assert_eq!(Report::from_json(&text, "it").unwrap(), report);
    }
}

#[test]
fn a_title_consists_of_group_and_name() {
    let mut table = whole().tables.remove(0);
    assert_eq!(table.title(), "P-256: sum of 2^8, prepared");
    table.name = String::new();
    assert_eq!(table.title(), "P-256");
}

/// A record of format 2, cut from committed ones.
const FORMAT_2: &str = include_str!("tests/format-2.json");

fn parsed(text: &str) -> Report {
    Report::from_json(text, "it.json").unwrap()
}

#[test]
fn format_2_gets_fields() {
    let report = parsed(FORMAT_2);
    assert_eq!(report.format, FORMAT);
    let names: Vec<[&str; 3]> =
        report.tables.iter().map(|table| [&*table.suite, &*table.group, &*table.name]).collect();
    let [bls, ec, rsa, modexp, vpn] = &report.tables[..] else { panic!("{names:?}") };
    assert_eq!(names[0], ["bls", "msm", "G1 sum of 2^8 multiples"]);
    assert_eq!(names[1], ["ec", "P-256", "verify"]);
    let batches = "sign, PKCS #1 v1.5, SHA-256, in batches of several jobs";
    assert_eq!(names[2], ["rsa", "RSA-2048", batches]);
    assert_eq!(names[3], ["modexp", "2048-bit modulus, 2048-bit exponent", ""]);
    assert_eq!(names[4], ["vpn", "a client's start, until its tunnel over UDP is up", ""]);

    let series = bls.series.as_ref().unwrap();
    assert_eq!((&*series.operation, series.size.get()), ("G1 sum of multiples", 256));
    assert!(report.tables[1..].iter().all(|table| table.series.is_none()));

    let methods = |table: &Table| -> Vec<(String, Method)> {
        table.records.iter().map(|record| (record.label.clone(), record.method)).collect()
    };
    let expected = |methods: &[(&str, Method)]| -> Vec<(String, Method)> {
        methods.iter().map(|(label, method)| ((*label).to_owned(), *method)).collect()
    };
    use Method::{Batch, Other, Single};
    assert_eq!(methods(bls), expected(&[("cycloid", Single), ("blst", Single)]));
    let verify = [("default", Single), ("×8", Batch), ("prepared ×8", Other), ("verify", Single)];
    assert_eq!(methods(ec), expected(&verify));
    assert_eq!(methods(rsa), expected(&[("default", Single), ("8 jobs", Batch)]));
    let powers = [("5b FW", Other), ("default", Single), ("×8", Batch), ("variable-time", Single)];
    assert_eq!(methods(modexp), expected(&powers));
    assert!(methods(vpn).iter().all(|(_, method)| *method == Single));
}

#[test]
fn conversion_changes_no_number() {
    // A report without fields of format 3 differs from format 2 in the title only.
    let mut report = whole();
    let table = &mut report.tables[0];
    (table.series, table.records[0].method) = (None, Method::Single);
    table.name = "sign".into();
    table.reference = table.records[0].label.clone();
    let mut value = serde_json::to_value(&report).unwrap();
    value["format"] = 2.into();
    let old = value["tables"][0].as_object_mut().unwrap();
    assert!(old.remove("group").is_some() && old.remove("name").is_some());
    old.insert("title".into(), "P-256: sign".into());
    assert_eq!(parsed(&value.to_string()), report);
}

#[test]
fn format_1_is_read_as_medians() {
    let mut value: Value = serde_json::from_str(FORMAT_2).unwrap();
    value["format"] = 1.into();
    for table in value["tables"].as_array_mut().unwrap() {
        assert!(table.as_object_mut().unwrap().remove("statistic").is_some());
        for record in table["records"].as_array_mut().unwrap() {
            assert!(record["time"].as_object_mut().unwrap().remove("mean_ns").is_some());
        }
    }
    let (read, mut expected) = (parsed(&value.to_string()), parsed(FORMAT_2));
    for record in expected.tables.iter_mut().flat_map(|table| &mut table.records) {
        record.time.mean_ns = 0.0;
    }
    assert_eq!(read, expected);
}

fn refusal(text: &str) -> Failure {
    let failure = Report::from_json(text, "it.json").unwrap_err();
    assert!(failure.message.starts_with("it.json "), "{failure}");
    assert!(!failure.hint.is_empty(), "{failure}");
    failure
}

#[test]
fn other_texts_and_formats_are_refused() {
    let newer = format!("it.json has format {}, but this program", FORMAT + 1);
    let mut report = whole();
    report.format = FORMAT + 1;
    let failure = refusal(&serde_json::to_string(&report).unwrap());
    assert!(failure.message.starts_with(&newer), "{failure}");
    assert_eq!(failure.hint, "read it with a later version of the program");
    // Such a record may have any other fields.
    let later = refusal(r#"{"format": 18446744073709551615, "tables": 7}"#);
    assert!(later.message.starts_with("it.json has format 18446744073709551615"), "{later}");
    for (text, why) in [
        ("", "EOF while parsing a value"),
        ("record", "expected value"),
        ("[]", "it has no format"),
        ("{}", "it has no format"),
        (r#"{"tables": []}"#, "it has no format"),
        (r#"{"format": 0}"#, "its format is not a positive integer"),
        (r#"{"format": -2}"#, "its format is not a positive integer"),
        (r#"{"format": 2.5}"#, "its format is not a positive integer"),
        (r#"{"format": 1e300}"#, "its format is not a positive integer"),
        (r#"{"format": 1e400}"#, "number out of range"),
        (r#"{"format": "2"}"#, "its format is not a positive integer"),
        (r#"{"format": 2, "tables": [7]}"#, "table 1: it is not an object"),
        (r#"{"format": 2, "tables": [{}]}"#, "table 1: it has no title"),
        (r#"{"format": 2, "tables": [{"title": 7}]}"#, "table 1: it has no title"),
        (r#"{"format": 2, "tables": [{"title": "a"}]}"#, "table 1: missing field `suite`"),
        (r#"{"format": 2, "tables": {}}"#, "expected a sequence"),
        (r#"{"format": 1, "tables": []}"#, "missing field `environment`"),
        (r#"{"format": 3, "tables": []}"#, "missing field `environment`"),
    ] {
        let failure = refusal(text);
        assert!(failure.message.starts_with("it.json is not a record: "), "{failure}");
        assert!(failure.message.contains(why), "{text}: {failure}");
    }
}

/// Returns the places of all values below `value`, as JSON pointers.
fn places(value: &Value, place: &str, places: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, v)| (name.clone(), v)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in below {
        let place = format!("{place}/{name}");
        self::places(value, &place, places);
        places.push(place);
    }
}

/// Removes the value at a place.
fn removed(value: &Value, place: &str) -> Value {
    let mut value = value.clone();
    let (parent, name) = place.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Object(fields) => drop(fields.remove(name)),
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        _ => unreachable!("it has no value below it"),
    }
    value
}

#[test]
fn a_malformed_value_is_an_error_with_a_hint_or_does_no_harm() {
    let huge: Value = serde_json::from_str("1e308").unwrap();
    let wrong =
        [Value::Null, (-1).into(), 0.into(), u64::MAX.into(), huge, "×".into(), "2^".into()];
    let wrong: Vec<Value> =
        wrong.into_iter().chain([serde_json::json!([]), serde_json::json!({})]).collect();
    let mut refused = 0;
    for text in [serde_json::to_string(&whole()).unwrap(), FORMAT_2.to_owned()] {
        let right: Value = serde_json::from_str(&text).unwrap();
        let mut all = Vec::new();
        places(&right, "", &mut all);
        let replaced = |place: &str, wrong: &Value| {
            let mut value = right.clone();
            *value.pointer_mut(place).unwrap() = wrong.clone();
            value
        };
        for place in &all {
            let variants = wrong.iter().map(|wrong| replaced(place, wrong));
            for variant in variants.chain([removed(&right, place)]) {
                match Report::from_json(&variant.to_string(), "it.json") {
                    Err(_) => drop(refusal(&variant.to_string())),
                    // What is accepted can be saved and read again, and has titles.
                    Ok(report) => {
                        let saved = serde_json::to_string(&report).unwrap();
                        assert_eq!(parsed(&saved), report, "{place}");
                        continue;
                    }
                }
                refused += 1;
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn an_error_in_an_old_record_names_the_table() {
    let right: Value = serde_json::from_str(FORMAT_2).unwrap();
    let failure = refusal(&removed(&right, "/tables/1/records/2/label").to_string());
    assert_eq!(failure.message, "it.json is not a record: table 2: missing field `label`");
}

#[test]
fn a_cut_record_is_refused() {
    for (end, _) in FORMAT_2.trim_end().char_indices().step_by(97) {
        refusal(&FORMAT_2[..end]);
    }
}

#[test]
fn required_fields_and_their_types_are_checked() {
    let right = serde_json::to_value(whole()).unwrap();
    for place in ["/tables/0/group", "/tables/0/suite", "/tables/0/records/0/label"] {
        let name = place.rsplit('/').next().unwrap();
        let failure = refusal(&removed(&right, place).to_string());
        assert!(failure.message.contains(&format!("missing field `{name}`")), "{failure}");
    }
    for (place, wrong) in [
        ("/tables/0/group", 7.into()),
        ("/tables/0/name", Value::Null),
        ("/tables/0/series/size", 0.into()),
        ("/tables/0/series/size", (-1).into()),
        ("/tables/0/series/size", serde_json::json!(1e30)),
        ("/tables/0/records/0/method", "batches".into()),
        ("/tables/0/records/0/operations_per_call", (1_u64 << 32).into()),
    ] {
        let mut value = right.clone();
        *value.pointer_mut(place).unwrap() = wrong;
        let failure = refusal(&value.to_string());
        assert!(failure.message.contains("line 1 column"), "{failure}");
    }
}

#[test]
fn samples_can_be_removed() {
    let mut report = whole();
    report.forget_samples();
    let text = serde_json::to_string(&report).unwrap();
    assert!(!text.contains("times_ns"));
    assert_eq!(Report::from_json(&text, "it").unwrap(), report);
}

/// The environment variable that makes the test below write the schema instead of comparing it.
const WRITE: &str = "CYCLOID_WRITE_SCHEMA";

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Returns the schema of the types in JSON Schema 2020-12.
fn schema() -> Value {
    schemars::schema_for!(Report).to_value()
}

#[test]
fn the_committed_schema_matches_the_types() {
    let path = documents().join("record.schema.json");
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap();
    assert!(committed == text, "write it with {WRITE}=1 cargo test -p cycloid-lab schema");
}

mod validate;

/// Returns the JSON files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let of_entry = |path: PathBuf| match path.is_dir() {
        true => files(&path),
        false if path.extension().is_some_and(|extension| extension == "json") => vec![path],
        false => Vec::new(),
    };
    entries.flat_map(of_entry).collect()
}

#[test]
fn every_committed_record_is_read_and_satisfies_the_schema() {
    let schema = schema();
    let mut records = 0;
    for path in files(&documents().join("results")) {
        let (text, path) = (fs::read_to_string(&path).unwrap(), path.display().to_string());
        let old: Value = serde_json::from_str(&text).unwrap();
        // The same directory has profiles, which have their own format.
        if old.get("tables").is_none() {
            continue;
        }
        records += 1;
        let report = Report::from_json(&text, &path).unwrap();
        let saved = serde_json::to_value(&report).unwrap();
        let complaints = validate::complaints(&schema, &saved);
        assert!(complaints.is_empty(), "{path}: {complaints:?}");
        assert_eq!(Report::from_json(&saved.to_string(), &path).unwrap(), report);
        // Titles are the same as in older formats.
        for (table, old) in report.tables.iter().zip(old["tables"].as_array().unwrap()) {
            assert!(old.get("title").is_none_or(|title| *title == table.title()), "{path}");
        }
    }
    assert!(records >= 30, "{records}");
}

#[test]
fn the_schema_refuses_other_values() {
    let schema = schema();
    let right = serde_json::to_value(whole()).unwrap();
    assert_eq!(validate::complaints(&schema, &right), [""; 0]);
    let record = "/tables/0/records/0";
    for (place, value) in [
        ("/format", "2".into()),
        ("/tables/0/group", Value::Null),
        ("/tables/0/series/size", 0.into()),
        (&*format!("{record}/method"), "many".into()),
        ("/environment", Value::Null),
        ("/tables/0/statistic", "mode".into()),
        (&*format!("{record}/time/interval_ns"), vec![1.0].into()),
        (&*format!("{record}/memory/scratch"), (-1).into()),
        (&*format!("{record}/samples/times_ns"), vec!["fast"].into()),
    ] {
        let mut wrong = right.clone();
        *wrong.pointer_mut(place).unwrap() = value;
        assert!(!validate::complaints(&schema, &wrong).is_empty(), "{place}");
    }
}
