//! The record format, its schema, and the committed records.

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
            title: "2048 bits".into(),
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
fn other_texts_and_newer_formats_are_refused() {
    let mut report = whole();
    report.format = FORMAT + 1;
    let text = serde_json::to_string(&report).unwrap();
    let failure = Report::from_json(&text, "it.json").unwrap_err();
    assert!(failure.message.starts_with("it.json has format 3"), "{failure}");
    assert!(Report::from_json("{}", "it.json").unwrap_err().message.contains("is not a record"));
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

#[test]
fn every_committed_record_satisfies_the_schema() {
    let schema = schema();
    let mut records = 0;
    for file in fs::read_dir(documents().join("results")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        // The same directory has profiles, which have their own format.
        if value.get("tables").is_none() {
            continue;
        }
        records += 1;
        let complaints = validate::complaints(&schema, &value);
        assert!(complaints.is_empty(), "{}: {complaints:?}", path.display());
        Report::from_json(&text, &path.display().to_string()).unwrap();
    }
    assert!(records >= 10, "{records}");
}

#[test]
fn the_schema_refuses_other_values() {
    let schema = schema();
    let right = serde_json::to_value(whole()).unwrap();
    assert_eq!(validate::complaints(&schema, &right), [""; 0]);
    let record = "/tables/0/records/0";
    for (place, value) in [
        ("/format", "2".into()),
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
