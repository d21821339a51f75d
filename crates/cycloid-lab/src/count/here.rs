//! The part of counting that runs under valgrind: rows are prepared, verified and run, one by one.

use std::ffi::CString;
use std::time::Duration;

use cycloid::cpu::{self, Level};
use valgrind_requests::callgrind;

use super::{NOTHING, Row};
use crate::Failure;
use crate::measure::{Operation, clock, stack};
use crate::peers::{Found, Peer};
use crate::suite::subjects::{self, Setting, Subject};
use crate::suite::{Effort, Suite, Work};

/// How many runs of a row are counted, after one that is not.
const RUNS: u32 = 4;

/// A row is left out whose first run takes longer, while valgrind only translates. Counting takes up to
/// ten times as long.
const fn longest(effort: Effort) -> Duration {
    match effort {
        Effort::Quick => Duration::from_millis(500),
        Effort::Plain => Duration::from_secs(2),
        Effort::Full => Duration::from_secs(20),
    }
}

struct Nothing;

impl Operation for Nothing {
    fn run(&mut self) -> Result<(), &'static str> {
        Ok(())
    }

    fn output(&self) -> Vec<u64> {
        Vec::new()
    }

    fn heap_held(&self) -> Option<u64> {
        None
    }
}

/// Has callgrind, which this process runs under, count each row of the tables that the suites make with
/// `peers`: ours with the backend of `level`, and peers, who choose for themselves, with
/// [`Level::Portable`]. Left out is what measures itself, or runs in another process.
///
/// # Errors
/// If this process does not run under valgrind, or an operation fails or computes something wrong.
pub fn here(
    suites: &[Box<dyn Suite>],
    effort: Effort,
    peers: &[Peer],
    level: Level,
) -> Result<Vec<Row>, Failure> {
    if !valgrind_requests::is_running() {
        return Err(Failure::new(
            "this process does not run under valgrind",
            "`cycloid bench --instructions` starts one that does",
        ));
    }
    if level == Level::Adx {
        // SAFETY: who starts this has seen that the processor has the level; valgrind hides ADX in
        // CPUID and executes it, with BMI2 and AVX2.
        unsafe { cpu::assume(level) };
    }
    cpu::limit(level);
    stack::on_measuring_thread(|| {
        let wanted = |peer: &&Peer| suites.iter().any(|suite| peer.does(suite.family()));
        let peers = peers.iter().filter(|_| level == Level::Portable).filter(wanted);
        let called =
            |found: &Found| found.outcome.as_ref().is_ok_and(|library| library.runner().is_none());
        let peers: Vec<Found> = peers.map(|peer| peer.find()).filter(called).collect();
        let mut rows = Vec::new();
        for plan in suites.iter().flat_map(|suite| suite.plan(effort, &peers)) {
            let Work::Subjects(prepare) = plan.work else { continue };
            let (setting, mut subjects) = prepare()?;
            rows.extend(table(&setting, &mut subjects, longest(effort), rows.len())?);
        }
        Ok(rows)
    })
}

/// The rows of a table; `first` is the number of its first one in the run.
pub(super) fn table(
    setting: &Setting,
    subjects: &mut [Subject],
    longest: Duration,
    first: usize,
) -> Result<Vec<Row>, Failure> {
    let mut times = Vec::new();
    for subject in &mut *subjects {
        let operation = &mut *subject.operation;
        let time = operation.renew().and_then(|_| {
            let start = clock::now();
            operation.run()?;
            Ok(clock::now() - start)
        });
        times.push(time.map_err(|message| subjects::failed(subject, message))?);
    }
    subjects::verify(subjects)?;
    callgrind::start();
    if first == 0 {
        // Callgrind, too, does some things only once.
        counted(&mut Nothing, "first").expect("it does nothing");
        counted(&mut Nothing, NOTHING).expect("it does nothing");
    }
    let mut rows = Vec::new();
    for (subject, time) in subjects.iter_mut().zip(times) {
        let dump = format!("row {}", first + rows.len());
        let runs = if time > longest { 0 } else { RUNS };
        for _ in 0..runs {
            let operation = &mut *subject.operation;
            let done = operation.renew().and_then(|_| counted(operation, &dump));
            done.map_err(|message| subjects::failed(subject, message))?;
        }
        rows.push(Row {
            suite: setting.suite.into(),
            title: setting.title.clone(),
            group: subject.group.clone(),
            label: subject.label.clone(),
            product: subject.implementation.product.clone(),
            operations_per_call: subject.operations_per_call,
            dump,
            runs,
        });
    }
    callgrind::stop();
    Ok(rows)
}

/// Runs it once and has callgrind write what that took.
#[inline(never)]
fn counted(operation: &mut dyn Operation, name: &str) -> Result<(), &'static str> {
    let name = CString::new(name).expect("names are made here");
    callgrind::toggle_collecting();
    let done = operation.run();
    callgrind::toggle_collecting();
    callgrind::dump(&name);
    done
}
