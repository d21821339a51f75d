//! Child processes that exchange JSON objects, one per line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cycloid::cpu;
use serde::de::DeserializeOwned;

/// A process that ends when its standard input closes: on drop, or when its owner ends for whatever
/// reason.
pub struct Process {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a process.
    ///
    /// # Errors
    /// The system's error.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let mut child = command
            .env("CYCLOID_CPU", cpu::level().name())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        let (orders, answers) = (child.stdin.take(), child.stdout.take());
        let answers = BufReader::new(answers.expect("standard output is piped"));
        Ok(Self { child, orders, answers })
    }

    /// Sends a line.
    ///
    /// # Errors
    /// If the process has closed its input.
    pub fn say(&mut self, line: &str) -> Result<(), String> {
        let mut orders = self.orders.as_ref().expect("standard input is open until drop");
        let written = orders.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| error.to_string())
    }

    /// Receives and parses a line.
    ///
    /// # Errors
    /// If the process has ended, or the line is malformed.
    pub fn hear<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) => Err("the process ended".into()),
            Ok(_) => serde_json::from_str(&line).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.wait();
    }
}
