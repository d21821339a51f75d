//! The command `openssl`, the counterpart in interoperability tests.

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};
use std::thread;

/// Runs `openssl` with these arguments and this standard input; returns its output if it succeeded.
pub(crate) fn run(arguments: &str, input: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new("openssl");
    command.args(arguments.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| {
        assert_ne!(
            error.kind(),
            ErrorKind::NotFound,
            "these tests need the command `openssl`: install the package openssl"
        );
        panic!("cannot run openssl: {error}")
    });
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A command may succeed without reading its whole input.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    if !output.status.success() {
        eprintln!("openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success().then_some(output.stdout)
}

/// Like [`run`], but panics on failure.
#[track_caller]
pub(crate) fn openssl(arguments: &str, input: &[u8]) -> Vec<u8> {
    run(arguments, input).unwrap_or_else(|| panic!("openssl {arguments}"))
}
