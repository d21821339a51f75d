//! Runs a program of the project as a child process that prints a record: for work that may crash,
//! that runs under valgrind, or that is part of a service.

use std::env;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cycloid_lab::Failure;
use serde::de::DeserializeOwned;

use cycloid_command::{Stop, USAGE};

use crate::processes::signal;

/// Returns the arguments of this run, for the child.
pub(crate) fn arguments() -> impl Iterator<Item = std::ffi::OsString> {
    env::args_os().skip(1)
}

/// Runs `command`, called `name` in messages, and parses the record that it prints. `astray` is the
/// hint if the child dies or does not end within `patience`.
pub(crate) fn run<R: DeserializeOwned>(
    command: &mut Command,
    patience: Duration,
    [name, astray]: [&str; 2],
) -> Result<R, Stop> {
    let failed = |message: String, hint: &str| Stop::Failed(Failure::new(message, hint));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("cannot start a process: {error}"), "see fork(2)"))?;
    let read = |mut pipe: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // A read error leaves the output short, which the parser reports.
            let _ = pipe.read_to_end(&mut bytes);
            bytes
        })
    };
    let stdout = read(Box::new(child.stdout.take().expect("it is piped")));
    let stderr = read(Box::new(child.stderr.take().expect("it is piped")));
    let deadline = Instant::now() + patience;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(format!("{name} did not end in time"), astray));
            }
        }
    };
    let [stdout, stderr] =
        [stdout, stderr].map(|pipe| pipe.join().expect("reading does not panic"));
    if let Some(signal) = signal(status) {
        return Err(failed(format!("{name} died of signal {signal}"), astray));
    }
    if !status.success() {
        let failure = child_failure(&String::from_utf8_lossy(&stderr), name);
        return Err(match status.code() {
            Some(USAGE) => Stop::Usage(failure),
            _ => Stop::Failed(failure),
        });
    }
    serde_json::from_slice(&stdout)
        .map_err(|error| failed(format!("{name} printed no record: {error}"), "report it"))
}

/// Extracts the error message that the child printed.
fn child_failure(stderr: &str, name: &str) -> Failure {
    let line = |start: &str| {
        let line = stderr.lines().rev().find_map(|line| line.strip_prefix(start));
        line.map(str::to_owned)
    };
    Failure::new(
        line("error: ").unwrap_or_else(|| format!("{name} failed")),
        line("hint: ").unwrap_or_else(|| "report it".into()),
    )
}
