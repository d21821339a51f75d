//! A measurement in a child process: the child writes each table as a line of JSON as soon as it is
//! measured, and the parent shows it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use cycloid_command::{Stop, output, processor};
use cycloid_lab::record::{Environment, Peer, Report, Table};
use cycloid_lab::suite::{self, Progress, list};
use cycloid_lab::{Failure, interrupt, peers, programs};
use serde::{Deserialize, Serialize};

use crate::arguments::Common;
use crate::interrupts::{INTERRUPTED, catch_interrupts};
use crate::progress::{Bar, INTERVAL};
use crate::{child, processes, suites};

/// The hidden option, without its hyphens, with which the child gets the names of its suites.
pub(crate) const OPTION: &str = "stream";

/// How often the parent looks for an interrupt.
const PATIENCE: Duration = Duration::from_millis(50);

/// A line of the child.
#[derive(Serialize, Deserialize)]
enum Message {
    /// The peers, before the first table.
    Peers(Vec<Peer>),
    /// The estimated time of all tables, in milliseconds.
    Begin(u64),
    /// The completed part of it, and the current table.
    At(u64, String),
    /// A measured table.
    Table(Box<Table>),
    /// The names of the tables that were not measured.
    End(Vec<String>),
}

/// Measures the named suites in this process, and writes messages to stdout.
///
/// # Errors
/// As for any run.
pub(crate) fn measure(common: &Common, names: &str) -> Result<(), Stop> {
    processes::end_with_parent();
    let effort = common.effort();
    processor::limit(common.cpu.as_deref())?;
    let peers = peers::Peer::from_list(&common.peers).map_err(Stop::Usage)?;
    let named = |name| {
        let message = format!("no suite is called '{name}'");
        list::named(name)
            .ok_or_else(|| Stop::Usage(Failure::new(message, "see cycloid bench --help")))
    };
    let suites = names.split(',').map(named).collect::<Result<Vec<_>, Stop>>()?;
    let suites = suites::usual(&suites, effort);
    catch_interrupts()?;
    let mut lines = Lines { written: None };
    let report = suite::run(&suites, effort, &peers, &mut lines).map_err(Stop::Failed)?;
    let interrupted = !report.unfinished.is_empty();
    lines.write(&Message::End(report.unfinished));
    if interrupted { Err(Stop::Exit(INTERRUPTED)) } else { Ok(()) }
}

/// Writes the progress of a run as messages.
struct Lines {
    /// The time of the last [`Message::At`].
    written: Option<Instant>,
}

impl Lines {
    fn write(&mut self, message: &Message) {
        let line = serde_json::to_string(message).expect("a message has nothing but data") + "\n";
        if output::print(&line).is_err() {
            // The parent has ended.
            interrupt::flag().store(true, Ordering::Relaxed);
        }
    }
}

impl Progress for Lines {
    fn head(&mut self, _: &Environment, _: &str, peers: &[Peer]) {
        self.write(&Message::Peers(peers.to_vec()));
    }

    fn begin(&mut self, whole: Duration) {
        self.write(&Message::Begin(whole.as_millis() as u64));
    }

    fn at(&mut self, done: Duration, table: &str) {
        let now = Instant::now();
        if self.written.is_none_or(|written| now - written >= INTERVAL) {
            self.written = Some(now);
            self.write(&Message::At(done.as_millis() as u64, table.into()));
        }
    }

    fn finished(&mut self, table: &Table, _: &[Peer]) {
        self.write(&Message::Table(Box::new(table.clone())));
    }

    fn end(&mut self) {}
}

/// Has `program` measure suites with the arguments of this process, shows its tables, and adds them
/// to the report. An interrupt is passed on, so the child ends with the tables finished by then.
///
/// # Errors
/// If the child fails. It has then printed the reason.
pub(crate) fn follow(
    program: &Path,
    suites: &[&str],
    report: &mut Report,
    bar: &mut Bar,
) -> Result<(), Stop> {
    let failed = |message: String| Stop::failed(message, "run it again, or report it");
    let mut command = Command::new(program);
    command.args(child::arguments()).arg(format!("--{OPTION}")).arg(suites.join(","));
    programs::without_building(&mut command);
    // In a group of its own, so that it gets an interrupt once: from this process.
    processes::lead_group(&mut command).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| failed(format!("cannot start {}: {error}", program.display())))?;
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let (sender, messages) = mpsc::channel();
    // Ends with the child's output.
    thread::spawn(move || lines.map_while(Result::ok).all(|line| sender.send(line).is_ok()));
    let mut passed_on = false;
    let mut peers = Vec::new();
    let mut ended = false;
    loop {
        if interrupt::requested() && !passed_on {
            passed_on = true;
            processes::interrupt(&child);
        }
        let line = match messages.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let message = serde_json::from_str(&line);
        match message.map_err(|error| failed(format!("malformed table: {error}")))? {
            Message::Peers(found) => {
                bar.more_peers(&found, &report.peers);
                let known = |peer: &Peer| report.peers.iter().any(|other| other.name == peer.name);
                let more: Vec<Peer> = found.iter().filter(|peer| !known(peer)).cloned().collect();
                report.peers.extend(more);
                peers = found;
            }
            Message::Begin(whole) => bar.begin(Duration::from_millis(whole)),
            Message::At(done, table) => bar.at(Duration::from_millis(done), &table),
            Message::Table(table) => {
                bar.finished(&table, &peers);
                report.tables.push(*table);
            }
            Message::End(unfinished) => {
                report.unfinished.extend(unfinished);
                ended = true;
            }
        }
    }
    bar.end();
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    match (ended, status.code()) {
        (true, _) => Ok(()),
        // Its message stands on stderr.
        (false, Some(code)) => Err(Stop::Exit(code as u8)),
        (false, None) => Err(failed(format!("{} ended: {status}", program.display()))),
    }
}
