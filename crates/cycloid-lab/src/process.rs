//! Processes that are spoken with line by line, an object of JSON each.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cycloid::cpu;
use serde::de::DeserializeOwned;

/// A process that ends when its standard input does: when this goes, or whoever has it, whatever the
/// reason.
pub(crate) struct Process {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// # Errors
    /// What the system says.
    pub(crate) fn start(command: &mut Command) -> Result<Self, String> {
        let mut child = command
            .env("CYCLOID_CPU", cpu::level().name())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        let (orders, answers) = (child.stdin.take(), child.stdout.take());
        let answers = BufReader::new(answers.expect("it was asked for"));
        Ok(Self { child, orders, answers })
    }

    /// # Errors
    /// It has closed its input.
    pub(crate) fn say(&mut self, line: &str) -> Result<(), String> {
        let mut orders = self.orders.as_ref().expect("it is there until the end");
        let written = orders.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| error.to_string())
    }

    /// # Errors
    /// It has ended, or what it says is something else.
    pub(crate) fn hear<T: DeserializeOwned>(&mut self) -> Result<T, String> {
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
