//! The command line of `cycloid bench --instructions`.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use cycloid::cpu::Level;
use cycloid_lab::record::{Count, Report};

fn cycloid(arguments: &[&str]) -> Command {
    let mut command = support::cycloid();
    command.args(arguments);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn missing_valgrind_is_reported_before_anything_is_measured() {
    let arguments = ["bench", "--full", "ec", "--instructions", "--peers", "none"];
    let output = cycloid(&arguments).env("PATH", "").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let text = said(&output);
    let lines: Vec<&str> = text.lines().collect();
    let [error, hint] = lines[..] else { panic!("{text}") };
    assert!(error.starts_with("error: cannot start valgrind, needed to count instructions"));
    assert_eq!(hint, "hint: apt install valgrind, or run without --instructions");
}

#[test]
fn counting_refuses_to_run_outside_valgrind() {
    let output = cycloid(&["bench", "ec", "--instructions", "--count-at", "adx"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("does not run under valgrind"), "{}", said(&output));
    let output =
        cycloid(&["bench", "ec", "--instructions", "--count-at", "ifma"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn instructions_of_a_signature_are_counted_compared_and_shown() {
    let files = ["first.json", "second.json", "more.json"];
    let files = files.map(|name| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name));
    let [first, second, more] = files.each_ref().map(|file| file.to_str().unwrap());
    for file in [first, second] {
        let output =
            cycloid(&["bench", "ec", "--curve", "p-256", "--operation", "sign", "--quick"])
                .args(["--peers", "none", "--instructions", "--save", file])
                .output()
                .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("ec: instructions per operation"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100));
    }
    let counts = |file: &str| {
        let report = Report::from_json(&fs::read_to_string(file).unwrap(), file).unwrap();
        let of = |label: &str| {
            let row = report.tables[0].records.iter().find(|row| row.label == label).unwrap();
            row.instructions.unwrap()
        };
        [of("default"), of("×8")]
    };
    let [one, eight] = counts(first);
    let is_sound = |count: Count| {
        assert!(count.count > 10_000.0 && count.range == [count.count; 2], "{count:?}");
        assert!(count.code_bytes > 1024 && count.code_bytes.is_multiple_of(64), "{count:?}");
    };
    is_sound(one.portable.unwrap());
    is_sound(eight.portable.unwrap());
    assert_eq!(one.adx.is_some(), Level::Adx.is_detected());
    if let Some(adx) = one.adx {
        is_sound(adx);
        assert!(adx.count < one.portable.unwrap().count, "{one:?}");
    }
    assert_eq!([one, eight], counts(second), "counts are reproducible");

    // A difference of one instruction is reported.
    let mut report = Report::from_json(&fs::read_to_string(second).unwrap(), second).unwrap();
    let count =
        report.tables[0].records[0].instructions.as_mut().unwrap().portable.as_mut().unwrap();
    (count.count, count.range) = (count.count + 1.0, count.range.map(|end| end + 1.0));
    fs::write(more, serde_json::to_string(&report).unwrap()).unwrap();
    let compared = |new: &str| {
        let output = cycloid(&["compare", first, new]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(compared(second).contains("instructions: 0 fewer, 0 more, "), "{}", compared(second));
    let text = compared(more);
    assert!(text.contains("instructions: 0 fewer, 1 more, "), "{text}");
    assert!(
        text.lines().any(|line| line.contains("portable") && line.ends_with("  more")),
        "{text}"
    );
    let (_, counted) = text.split_once("\ninstructions ").unwrap();
    assert!(counted.lines().all(|line| line.chars().count() <= 80), "{text}");
}
