use std::io::Write;
use std::process::Stdio;

use super::super::{job, mirage_crypto};
use super::*;
use crate::peers::modexp::{Exponents, Input};

/// Creates a shell script that responds with these lines in turn.
fn script(name: &str, lines: &str) -> Runner {
    let path = std::env::temp_dir().join(format!("cycloid-runner-{name}-{}", std::process::id()));
    // A file cannot be executed while any process has it open for writing. Children forked by other
    // tests at this moment would inherit this process's descriptors, so another process writes it.
    let mut writer = Command::new("sh")
        .args(["-c", r#"cat >"$0" && chmod 755 "$0""#])
        .arg(&path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = writer.stdin.take().unwrap();
    write!(text, "#!/bin/sh\nread order\n{lines}\n").unwrap();
    drop(text);
    assert!(writer.wait().unwrap().success());
    Runner::new(path)
}

impl Drop for Runner {
    fn drop(&mut self) {
        if self
            .program
            .file_name()
            .is_some_and(|name| name.display().to_string().starts_with("cycloid-runner-"))
        {
            let _ = std::fs::remove_file(&self.program);
        }
    }
}

const READY: &str = r#"case "$order" in *'"way":0'*) ;; *) echo '{"unsupported":"no"}'; exit;; esac
echo '{"label":"one","function":"f","constant_time":false}'"#;

fn input() -> Input {
    Input::new(64, Exponents::F4, 1)
}

#[test]
fn a_runner_lists_its_implementations_and_reports_the_time_of_each_batch() {
    let turns = r#"read order
case "$order" in *'"runs":10'*) echo '{"nanoseconds":5000,"allocated_bytes":80,"result":"0102"}';; esac
read order
case "$order" in *'"data":"07"'*) echo '{"failed":"no"}';; esac
while read order; do echo '{"nanoseconds":1,"result":"ff"}'; done"#;
    let runner = script("turns", &format!("{READY}\n{turns}"));
    let mut ways = runner.ways(&job::modexp(&input())).unwrap();
    let way = ways.pop().unwrap();
    assert!(ways.is_empty());
    assert_eq!((&*way.label, &*way.function, way.constant_time), ("one", "f", false));
    let check: ResultCheck = Box::new(|call, result| {
        let refused = call(&[7], &mut []).is_err();
        let mut room = [0; 1];
        let length = call(&[8], &mut room).unwrap();
        vec![u64::from(result[1]), u64::from(refused), length as u64, u64::from(room[0])]
    });
    let mut operation = way.operation(check);
    let elsewhere = operation.elsewhere(10).unwrap().unwrap();
    assert_eq!(elsewhere, Elsewhere { time: Duration::from_nanos(5000), allocated: Some(8) });
    assert_eq!(operation.output(), [2, 1, 1, 255]);
}

/// A check replaces the first operation's input, and reads its result.
#[test]
fn a_runner_performs_batches_and_adds_a_note() {
    let ready = READY.replace("\"constant_time\":false", "\"constant_time\":false,\"note\":\"no\"");
    let turns = r#"read order
case "$order" in *'"data":"aa0203"'*) echo '{"nanoseconds":1,"result":"010203"}';; esac
read order
case "$order" in *'"data"'*) echo '{"failed":"no"}';; *) echo '{"nanoseconds":1,"result":""}';; esac"#;
    let runner = script("batch", &format!("{ready}\n{turns}"));
    let mut job = job::job("agree-batch", &[1, 2, 3], &[]);
    job.insert(BATCH.into(), 3.into());
    let way = runner.ways(&job).unwrap().pop().unwrap();
    assert_eq!(way.note, "no");
    let check: ResultCheck = Box::new(|call, _| {
        let mut room = [0; 8];
        let length = call(&[0xaa], &mut room).unwrap();
        vec![length as u64, u64::from(room[0])]
    });
    assert_eq!(way.operation(check).output(), [1, 1]);
}

#[test]
fn members_of_a_batch_stand_one_after_the_other() {
    use crate::peers::ec::{Curve, Input, Task};
    let input = |byte| {
        let of = |length| vec![byte; length];
        std::sync::Arc::new(Input {
            curve: Curve::X25519,
            private: of(2),
            public: of(3),
            other: of(3),
            other_private: of(2),
            message: [byte; 32],
            digest: of(1),
            signature: [of(4), of(4)],
        })
    };
    let job = job::ec_batch(Task::Agree, &[input(1), input(2)], 3, |input| &input.other);
    assert_eq!(job["operation"], "agree-batch");
    assert_eq!(job["batch"], 3);
    assert_eq!(job["private"], "010102020101");
    assert_eq!(job["data"], "010101020202010101");
}

#[test]
fn a_malformed_response_or_exit_is_an_error_that_names_the_runner() {
    for (name, lines) in
        [("nonsense", "echo hello"), ("ends", "exit"), ("refuses", "echo '{\"failed\":\"x\"}'")]
    {
        let runner = script(name, lines);
        let Err(failure) = runner.ways(&job::modexp(&input())) else { panic!("{name}") };
        assert!(failure.message.contains("cycloid-runner-"), "{failure}");
    }
    let runner = script("dies", &format!("{READY}\nread order"));
    let way = runner.ways(&job::modexp(&input())).unwrap().pop().unwrap();
    assert_eq!(way.operation(Box::new(|_, _| Vec::new())).elsewhere(1), Err(FAILED));
}

#[test]
fn hexadecimal() {
    assert_eq!(hex(&[0, 0xab, 0x10]), "00ab10");
    assert_eq!(from_hex("00ab10"), Some(vec![0, 0xab, 0x10]));
    for wrong in ["0", "0g", "+1", "é"] {
        assert_eq!(from_hex(wrong), None);
    }
}

/// Runs each kind of operation; the suite's checks verify the results with this library.
#[test]
fn mirage_crypto_performs_every_kind_of_operation() {
    let library =
        mirage_crypto::find().expect("mirage-crypto is installed: cargo xtask test installs it");
    let runner = library.runner().unwrap();
    let mut ways = runner.ways(&job::modexp(&input())).unwrap();
    let labels: Vec<&str> = ways.iter().map(|way| &*way.label).collect();
    assert_eq!(labels, ["constant-time", "variable-time"]);
    let words = |_: &mut Call, result: &[u8]| result.iter().map(|byte| u64::from(*byte)).collect();
    let mut outputs = ways.drain(..).map(|way| {
        let mut operation = way.operation(Box::new(words));
        assert!(operation.elsewhere(3).unwrap().unwrap().time > Duration::ZERO);
        operation.output()
    });
    assert_eq!(outputs.next(), outputs.next());
}
