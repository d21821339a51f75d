//! Peers in other languages: programs that are told on standard input what to do, and say on standard
//! output how long it took. The lines are described in docs/runners.md.
//!
//! There is a process for each row of a table. It does one operation, and waits between its batches, so
//! that it takes turns with the rows of this process.

pub(crate) mod job;
pub(super) mod mirage_crypto;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Call, Judge};
use crate::Failure;
use crate::measure::{Elsewhere, Operation};
use crate::process::Process;

/// A program that speaks as docs/runners.md says.
pub struct Runner {
    program: PathBuf,
}

/// What an operation is given: names and values, bytes in hexadecimal.
pub(crate) type Job = Map<String, Value>;

/// One way to do it, in a process that is ready.
pub(crate) struct Way {
    /// What tells it from the others; empty if there is one only.
    pub(crate) label: String,
    /// The called function.
    pub(crate) function: String,
    /// Whether it is designed to be constant-time.
    pub(crate) constant_time: bool,
    process: Rc<RefCell<Process>>,
    /// What it reads.
    data: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Prepared {
    Ready {
        label: String,
        function: String,
        constant_time: bool,
    },
    Unsupported {
        #[serde(rename = "unsupported")]
        _why: String,
    },
    Failed {
        failed: String,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Turn {
    Done {
        nanoseconds: u64,
        allocated_bytes: Option<u64>,
        result: String,
    },
    Failed {
        #[serde(rename = "failed")]
        _why: String,
    },
}

impl Runner {
    pub(super) fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Its ways to do `job`, each ready.
    ///
    /// # Errors
    /// The program cannot be started, refuses the job, or speaks another language.
    pub(crate) fn ways(&self, job: &Job) -> Result<Vec<Way>, Failure> {
        let mut ways = Vec::new();
        while let Some(way) = self.prepare(job, ways.len()).map_err(|error| self.failed(&error))? {
            ways.push(way);
        }
        Ok(ways)
    }

    fn prepare(&self, job: &Job, way: usize) -> Result<Option<Way>, String> {
        let data = job.get("data").and_then(Value::as_str).and_then(from_hex).unwrap_or_default();
        let mut job = job.clone();
        job.insert("way".into(), way.into());
        let mut process = Process::start(&mut Command::new(&self.program))?;
        process.say(&Value::from(job).to_string())?;
        match process.hear()? {
            Prepared::Ready { label, function, constant_time } => {
                let process = Rc::new(RefCell::new(process));
                Ok(Some(Way { label, function, constant_time, process, data }))
            }
            Prepared::Unsupported { .. } => Ok(None),
            Prepared::Failed { failed } => Err(failed),
        }
    }

    fn failed(&self, message: &str) -> Failure {
        Failure::new(
            format!("the runner {} cannot be used: {message}", self.program.display()),
            "leave it out with --peers; docs/runners.md says what it has to do",
        )
    }
}

impl Way {
    /// The operation itself.
    pub(crate) fn operation(self, judge: Judge) -> Box<dyn Operation> {
        let Self { process, data, .. } = self;
        Box::new(There { process, judge, data, other: Cell::new(false), result: Vec::new() })
    }
}

/// An operation in a process of its own.
struct There {
    process: Rc<RefCell<Process>>,
    judge: Judge,
    data: Vec<u8>,
    /// Whether what it read last was something else, such as a wrong signature.
    other: Cell<bool>,
    result: Vec<u8>,
}

const FAILED: &str = "its runner failed; docs/runners.md says how to run it by hand";

/// So many runs, of the input that was last, or of a new one.
fn turn(
    process: &RefCell<Process>,
    runs: u32,
    data: Option<&[u8]>,
) -> Result<(Elsewhere, Vec<u8>), &'static str> {
    let mut order = json!({ "runs": runs });
    if let Some(data) = data {
        order["data"] = hex(data).into();
    }
    let mut process = process.borrow_mut();
    process.say(&order.to_string()).map_err(|_| FAILED)?;
    match process.hear().map_err(|_| FAILED)? {
        Turn::Done { nanoseconds, allocated_bytes, result } => {
            let result = from_hex(&result).ok_or(FAILED)?;
            let time = Duration::from_nanos(nanoseconds.max(1));
            let allocated = allocated_bytes.map(|bytes| bytes / u64::from(runs.max(1)));
            Ok((Elsewhere { time, allocated }, result))
        }
        Turn::Failed { .. } => Err("refused by the runner"),
    }
}

impl Operation for There {
    fn run(&mut self) -> Result<(), &'static str> {
        self.elsewhere(1).map(|_| ())
    }

    fn elsewhere(&mut self, runs: u32) -> Result<Option<Elsewhere>, &'static str> {
        let data = self.other.take().then_some(&*self.data);
        let (elsewhere, result) = turn(&self.process, runs, data)?;
        self.result = result;
        Ok(Some(elsewhere))
    }

    fn output(&self) -> Vec<u64> {
        let process = Rc::clone(&self.process);
        self.other.set(true);
        let mut call: Call = Box::new(move |data, output| {
            let (_, result) = turn(&process, 1, Some(data))?;
            let room = output.get_mut(..result.len()).ok_or("the result is too long")?;
            room.copy_from_slice(&result);
            Ok(result.len())
        });
        (self.judge)(&mut call, &self.result)
    }

    fn heap_held(&self) -> Option<u64> {
        None
    }
}

/// `bytes` in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What [`hex`] writes; none for anything else.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    let pairs = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(pairs.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
