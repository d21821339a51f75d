//! Another run of this program, which prints a record: for what may not harm this one, or runs under
//! something else.

use std::env;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cycloid_lab::Failure;
use serde::de::DeserializeOwned;

use crate::output::Stop;

/// The arguments of this run, for another one.
pub(crate) fn arguments() -> impl Iterator<Item = std::ffi::OsString> {
    env::args_os().skip(1)
}

/// Runs `command`, which is called `name` where something is wrong, and reads the record that it prints.
/// `astray` is the hint where it dies, or does not end for so long.
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
        .map_err(|error| failed(format!("no process starts: {error}"), "see fork(2)"))?;
    let read = |mut pipe: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What cannot be read is not there, which the reader of it will say.
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
                return Err(failed(format!("{name} does not end"), astray));
            }
        }
    };
    let [stdout, stderr] =
        [stdout, stderr].map(|pipe| pipe.join().expect("reading does not panic"));
    if let Some(signal) = status.signal() {
        return Err(failed(format!("{name} died of signal {signal}"), astray));
    }
    if !status.success() {
        return Err(Stop::Failed(told(&String::from_utf8_lossy(&stderr), name)));
    }
    serde_json::from_slice(&stdout)
        .map_err(|error| failed(format!("{name} printed no record: {error}"), "report it"))
}

/// What another run of this program said went wrong.
fn told(stderr: &str, name: &str) -> Failure {
    let line = |start: &str| {
        let line = stderr.lines().rev().find_map(|line| line.strip_prefix(start));
        line.map(str::to_owned)
    };
    Failure::new(
        line("error: ").unwrap_or_else(|| format!("{name} failed")),
        line("hint: ").unwrap_or_else(|| "report it".into()),
    )
}
