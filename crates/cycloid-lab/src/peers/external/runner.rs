//! A runner program, its jobs, and the processes in which they run.

use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::measure::{Elsewhere, Operation};
use crate::peers::call::{Call, ResultCheck};
use crate::process::Process;

/// A program that implements the protocol of docs/runners.md.
pub struct Runner {
    program: PathBuf,
}

/// The member of a job with the number of operations of each run; without it, one.
pub(super) const BATCH: &str = "batch";

/// The parameters of an operation: names and values, with bytes in hexadecimal.
pub type Job = Map<String, Value>;

/// An implementation of a job, ready in its own process.
pub(crate) struct Way {
    /// Its label among the runner's implementations; empty if there is only one.
    pub(crate) label: String,
    /// The called function.
    pub(crate) function: String,
    /// Whether it is designed to be constant-time.
    pub(crate) constant_time: bool,
    /// A note for the table, such as omitted checks; may be empty.
    pub(crate) note: String,
    process: Rc<RefCell<Process>>,
    /// The input of each run.
    data: Vec<u8>,
    /// The number of operations of each run.
    batch: usize,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Prepared {
    Ready {
        label: String,
        function: String,
        constant_time: bool,
        #[serde(default)]
        note: String,
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

    /// Returns the runner's implementations of `job`, each ready to run.
    ///
    /// # Errors
    /// If the program cannot be started, rejects the job, or violates the protocol.
    pub(crate) fn ways(&self, job: &Job) -> Result<Vec<Way>, Failure> {
        let mut ways = Vec::new();
        while let Some(way) = self.prepare(job, ways.len()).map_err(|error| self.failed(&error))? {
            ways.push(way);
        }
        Ok(ways)
    }

    fn prepare(&self, job: &Job, way: usize) -> Result<Option<Way>, String> {
        let data = job.get("data").and_then(Value::as_str).and_then(from_hex).unwrap_or_default();
        let batch = job.get(BATCH).and_then(Value::as_u64).map_or(1, |batch| batch as usize);
        let mut job = job.clone();
        job.insert("way".into(), way.into());
        let mut process = Process::start(&mut Command::new(&self.program))?;
        process.say(&Value::from(job).to_string())?;
        match process.hear()? {
            Prepared::Ready { label, function, constant_time, note } => {
                let process = Rc::new(RefCell::new(process));
                Ok(Some(Way { label, function, constant_time, note, process, data, batch }))
            }
            Prepared::Unsupported { .. } => Ok(None),
            Prepared::Failed { failed } => Err(failed),
        }
    }

    fn failed(&self, message: &str) -> Failure {
        Failure::new(
            format!("cannot use the runner {}: {message}", self.program.display()),
            "exclude it with --peers, or see docs/runners.md for the protocol",
        )
    }
}

impl Way {
    /// Returns the operation.
    pub(crate) fn operation(self, check: ResultCheck) -> Box<dyn Operation> {
        let Self { process, data, batch, .. } = self;
        let other = Cell::new(false);
        Box::new(There { process, check, data, batch, other, result: Vec::new() })
    }
}

/// An operation in a separate process.
struct There {
    process: Rc<RefCell<Process>>,
    check: ResultCheck,
    data: Vec<u8>,
    /// The number of operations of each run.
    batch: usize,
    /// Whether its last input was another one, such as a wrong signature.
    other: Cell<bool>,
    result: Vec<u8>,
}

const FAILED: &str = "its runner failed; see docs/runners.md to run it by hand";

/// Performs this number of runs, with the previous input or with new data.
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
        Turn::Failed { .. } => Err("rejected by the runner"),
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
        let (batch, own) = (self.batch, self.data.clone());
        let mut call: Call = Box::new(move |data, output| {
            // A check has an input for the first operation, and reads the first result.
            let data = match own.get(own.len() / batch..) {
                Some(rest) if !own.is_empty() => [data, rest].concat(),
                _ => data.repeat(batch),
            };
            let (_, result) = turn(&process, 1, Some(&data))?;
            let result = &result[..result.len() / batch];
            let room = output.get_mut(..result.len()).ok_or("the result is too long")?;
            room.copy_from_slice(result);
            Ok(result.len())
        });
        (self.check)(&mut call, &self.result)
    }

    fn heap_held(&self) -> Option<u64> {
        None
    }
}

/// Encodes `bytes` in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Decodes the output of [`hex`]; `None` for anything else.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    let pairs = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(pairs.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests;
