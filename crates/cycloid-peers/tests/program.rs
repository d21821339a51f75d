//! The program as `cycloid` starts it: each table is a line as soon as it is measured, and the
//! process ends with its parent.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use cycloid_lab::record::Table;
use serde_json::Value;

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cycloid-peers"));
    command.args(["bench", "--quick", "--peers", "zkcrypto", "--stream"]).args(arguments);
    command.env_remove("CARGO_PKG_NAME").env_remove("CYCLOID_CPU").stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(mut child: Child) -> (Option<i32>, String) {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

#[test]
fn each_table_is_a_message() {
    let mut child = start(&["dh"]);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let messages: Vec<Value> = lines.map(|l| serde_json::from_str(&l.unwrap()).unwrap()).collect();
    assert_eq!(end(child), (Some(0), String::new()));
    assert!(messages[0]["Peers"].is_array() && messages[1]["Begin"].as_u64() > Some(0));
    let of = |name: &'static str| messages.iter().filter_map(move |message| message.get(name));
    let tables: Vec<Table> =
        of("Table").map(|t| serde_json::from_value(t.clone()).unwrap()).collect();
    assert_eq!(tables.len(), 2);
    assert!(tables.iter().all(|table| table.suite == "dh" && !table.records.is_empty()));
    assert!(of("At").count() > 0);
    assert_eq!(messages.last().unwrap()["End"], Value::Array(Vec::new()));
}

#[test]
fn an_interrupt_ends_the_run_and_names_the_missing_tables() {
    let mut child = start(&["bls"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("{\"Table\"")));
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    let last: Value = serde_json::from_str(&lines.last().unwrap()).unwrap();
    let missing = last["End"].as_array().unwrap();
    assert!(missing.iter().all(|name| name.as_str().unwrap().starts_with("bls: ")));
    assert!(missing.len() > 10, "{missing:?}");
    assert_eq!(end(child), (Some(130), String::new()));
}

#[test]
fn the_run_ends_if_nobody_reads_its_tables() {
    let mut child = start(&["bls"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("{\"Table\"")));
    drop(lines);
    assert_eq!(end(child), (Some(130), String::new()));
}
