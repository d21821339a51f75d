//! Sequences of calls, which return the same with Cycloid and without.

use std::process::Output;

use crate::support::{BOTH, Place, With};

const SCRIPT: &str = include_str!("sequences.py");

/// Runs a sequence of calls by name.
fn run(place: &Place, with: With, name: &str) -> Output {
    let output = place.program("python3", with).args(["sequences.py", name]).output();
    output.expect("Python runs: it is in Debian's python3")
}

/// Makes the keys and the script.
fn place() -> Place {
    let place = Place::new();
    for (name, algorithm) in [
        ("rsa", "RSA"),
        ("ec", "EC -pkeyopt group:P-256"),
        ("peer", "EC -pkeyopt group:P-256"),
        ("x25519", "X25519"),
    ] {
        place.ok(With::Stock, &format!("genpkey -algorithm {algorithm} -out {name}.pem"));
    }
    place.write("sequences.py", SCRIPT);
    place
}

/// Runs a sequence with Cycloid and without, compares what it prints, and returns that.
fn same(name: &str) -> String {
    let place = place();
    let [cycloid, stock] = BOTH.map(|with| {
        let output = run(&place, with, name);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} ({with:?}): {} {said}", output.status);
        String::from_utf8(output.stdout).expect("it prints text")
    });
    assert_eq!(cycloid, stock, "{name}");
    let log = String::from_utf8(place.read("log")).expect("the log is text");
    assert!(!log.is_empty(), "{name}: the provider is at work");
    cycloid
}

#[test]
fn the_digest_of_a_message_is_fixed() {
    let printed = same("another_digest");
    assert!(!printed.contains("is set: True") && !printed.contains("valid: False"), "{printed}");
}

#[test]
fn a_setting_in_the_middle_loses_nothing_of_the_message() {
    let printed = same("setting_in_the_middle");
    assert_eq!(printed, "set: True\nvalid: True\ndigest: False\n");
}

#[test]
fn refused_settings_change_nothing() {
    let printed = same("refused_settings");
    assert!(printed.contains("a digest of 31 is signed: False"), "{printed}");
    assert!(!printed.contains("encrypts: False") && !printed.contains("agrees: None"), "{printed}");
}

#[test]
fn paddings_change_in_turn() {
    let printed = same("paddings_in_turn");
    assert!(printed.contains("rsa_padding_mode pkcs1 is set: True"), "{printed}");
    assert!(!printed.contains("valid: False"), "{printed}");
}

#[test]
fn a_context_takes_any_number_of_settings() {
    assert_eq!(same("many_settings"), "set: True valid: True\nencrypts: True\n");
}

#[test]
fn a_label_stays_where_it_is() {
    let printed = same("label");
    assert!(printed.contains("9 b'one label'"), "{printed}");
}

#[test]
fn short_outputs_are_filled_or_refused() {
    let printed = same("short_outputs");
    assert!(printed.contains("x25519.pem 31 None"), "{printed}");
}

#[test]
fn malformed_signatures_are_told_from_wrong_ones() {
    let printed = same("wrong_signatures");
    let mut answers = printed.lines();
    assert_eq!((answers.next(), answers.next()), (Some("1"), Some("0")), "{printed}");
    assert!(printed.lines().any(|line| line == "-1"), "{printed}");
}

#[test]
fn impossible_inputs_are_errors() {
    let output = run(&place(), With::Cycloid, "impossible_inputs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(printed.lines().count(), 13, "{printed}");
    assert!(printed.lines().all(|line| ["0", "None"].contains(&line)), "{printed}");
}
