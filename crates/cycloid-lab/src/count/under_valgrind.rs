//! Counts instructions in a process under valgrind: prepares, verifies and runs each row.

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

/// The number of counted runs per row, after an uncounted first run.
const RUNS: u32 = 4;

/// The longest first run of a row that is still counted, in time under valgrind without counting.
/// Counting takes up to ten times as long.
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

/// Has callgrind, which this process must run under, count each row of the suites' tables: our rows
/// with the backend of `level`, and the rows of `peers`, which choose their own backend, with
/// [`Level::Portable`]. Omits tables that measure themselves and peers that run in another process.
///
/// # Errors
/// If this process does not run under valgrind, or if an operation fails or returns a wrong result.
pub fn count_tables(
    suites: &[Box<dyn Suite>],
    effort: Effort,
    peers: &[Peer],
    level: Level,
) -> Result<Vec<Row>, Failure> {
    if !valgrind_requests::is_running() {
        return Err(Failure::new(
            "this process does not run under valgrind",
            "run `cycloid bench --instructions`, which starts valgrind",
        ));
    }
    if level == Level::Adx {
        // SAFETY: the parent process has checked that the processor has the level; valgrind hides
        // ADX in CPUID but executes it, with BMI2 and AVX2.
        unsafe { cpu::assume(level) };
    }
    cpu::limit(level);
    stack::on_measuring_thread(|| {
        let wanted = |peer: &&Peer| suites.iter().any(|suite| peer.does(suite.descriptor().family));
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

/// Counts the rows of a table; `first` is the number of its first row in the run.
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
        // Callgrind itself also does some work only on first use.
        counted(&mut Nothing, "first").expect("an empty operation cannot fail");
        counted(&mut Nothing, NOTHING).expect("an empty operation cannot fail");
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
            title: setting.title(),
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

/// Runs the operation once and has callgrind write its cost.
#[inline(never)]
fn counted(operation: &mut dyn Operation, name: &str) -> Result<(), &'static str> {
    let name = CString::new(name).expect("names have no zero byte");
    callgrind::toggle_collecting();
    let done = operation.run();
    callgrind::toggle_collecting();
    callgrind::dump(&name);
    done
}
