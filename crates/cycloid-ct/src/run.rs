//! Selects and runs cases, and reports the findings.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::FromRawFd;
use std::time::Instant;

use cycloid::cpu::{self, Level};
use taint_trace::{Finding, Place};

use crate::cases::{self, Case};
use crate::check::Check;
use crate::planted_leaks;

const USAGE: &str =
    "cycloid-ct [--all] [--runs N] [--only TEXT] [--cpu LEVEL] | --plants | --backends | --list";

/// The number of runs of a case, each with other secrets; their traces must be equal.
const RUNS: u64 = 2;

/// The number of runs of a case with `--all`.
const RUNS_OF_ALL: u64 = 16;

/// With `--all`, cases with more steps than this also run only twice.
const LONG: usize = 3_000_000;

/// The number of concurrent processes.
const PROCESSES: usize = 2;

type Failure = (String, &'static str);

#[derive(Default)]
struct Options {
    all: bool,
    runs: Option<u64>,
    only: Option<String>,
    level: Option<Level>,
}

/// Runs what the arguments select.
pub(crate) fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        let mut value =
            || arguments.next().ok_or_else(|| (format!("{argument} has no value"), USAGE));
        match argument.as_str() {
            "--all" => options.all = true,
            "--runs" => {
                let runs = value()?;
                let number = runs.parse().ok().filter(|number| *number > 0);
                options.runs = Some(
                    number.ok_or_else(|| (format!("`{runs}` is not a number of runs"), USAGE))?,
                );
            }
            "--only" => options.only = Some(value()?),
            "--cpu" => {
                let name = value()?;
                let level = Level::from_name(&name);
                options.level =
                    Some(level.ok_or_else(|| (format!("no level is called `{name}`"), USAGE))?);
            }
            "--plants" => return plants(),
            "--backends" => {
                println!("{}{}", names(&levels(&options)), absent());
                return Ok(());
            }
            "--list" => {
                cases::ALL.iter().for_each(|case| println!("{}", case.name));
                return Ok(());
            }
            _ => return Err((format!("cannot read `{argument}`"), USAGE)),
        }
    }
    traced(&options)
}

/// Returns the levels of this processor, all of which are traced.
fn levels(options: &Options) -> Vec<Level> {
    let here = |level: &Level| level.is_detected();
    let wanted = |level: &Level| options.level.is_none_or(|only| only == *level);
    Level::ALL.into_iter().filter(here).filter(wanted).collect()
}

fn traced(options: &Options) -> Result<(), Failure> {
    let started = Instant::now();
    let levels = levels(options);
    let mut queue = Vec::new();
    for case in cases::ALL {
        for level in &levels {
            let wanted = options.only.as_ref().is_none_or(|only| case.name.contains(only.as_str()));
            if wanted && (options.all || case.runs_in_short(*level)) {
                queue.push(Subject { case, level: *level });
            }
        }
    }
    if queue.is_empty() {
        return Err(("no case has that name".into(), "see `cycloid-ct --list` for the names"));
    }
    let (mut steps, mut results, mut failed) = (0, 0, 0);
    let count = queue.len();
    let runs = options.runs.unwrap_or(if options.all { RUNS_OF_ALL } else { RUNS });
    in_turns(queue, runs, |subject, runs| {
        let verdict = subject.judge(runs);
        steps += runs.iter().map(Run::steps).sum::<usize>();
        results += runs.iter().map(|run| run.results).sum::<usize>();
        failed += usize::from(!verdict);
    });
    let seconds = started.elapsed().as_secs();
    println!(
        "{count} cases: {steps} instructions traced in {seconds} s, {results} results checked"
    );
    if failed > 0 {
        return Err((
            format!("{failed} of {count} cases fail"),
            "the lines above name the instructions",
        ));
    }
    println!("traced without a finding: {}{}", names(&levels), absent());
    Ok(())
}

fn names(levels: &[Level]) -> String {
    levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ")
}

/// Names the levels that this processor lacks, so that their absence is not mistaken for a result.
fn absent() -> String {
    let absent: Vec<_> =
        Level::ALL.into_iter().filter(|level| !level.is_detected()).map(Level::name).collect();
    if absent.is_empty() {
        String::new()
    } else {
        format!("; NOT RUN on levels that this processor lacks: {}", absent.join(", "))
    }
}

/// Checks that each planted leak is found, on every level.
fn plants() -> Result<(), Failure> {
    let mut found = BTreeSet::new();
    for level in levels(&Options::default()) {
        for plant in planted_leaks::ALL {
            let mut child = Child::start(level, 0, plant.run);
            child.resume();
            let run = child.wait();
            if !run.crashed.is_empty()
                || !run.findings.iter().any(|text| text.contains(plant.expected))
            {
                return Err((
                    format!("the planted leak `{}` was not found on {}", plant.name, level.name()),
                    "without it, the absence of findings proves nothing",
                ));
            }
            found.insert(plant.name);
        }
    }
    let names: Vec<_> = found.into_iter().collect();
    println!("planted leaks found on every backend here: {}", names.join(", "));
    Ok(())
}

/// A case on a level.
struct Subject {
    case: &'static Case,
    level: Level,
}

impl Subject {
    /// Prints the findings, and returns whether there are none.
    fn judge(&self, runs: &[Run]) -> bool {
        let name = format!("{} on {}", self.case.name, self.level.name());
        let first = &runs[0];
        let mut problems: Vec<String> = Vec::new();
        for run in runs {
            problems.extend(run.crashed.iter().chain(&run.findings).chain(&run.wrong).cloned());
            if let Some(difference) = difference(first, run) {
                problems.push(difference);
            }
        }
        problems.sort();
        problems.dedup();
        println!(
            "{} {name}: {} steps, {} runs",
            if problems.is_empty() { "ok  " } else { "FAIL" },
            first.steps(),
            runs.len()
        );
        for problem in &problems {
            println!("  {}", problem.replace('\n', "\n  "));
        }
        problems.is_empty()
    }
}

/// Describes where two runs diverge, if they do.
fn difference(first: &Run, other: &Run) -> Option<String> {
    for (a, b) in first.traces.iter().zip(&other.traces) {
        if a.varying || a.digest == b.digest && a.steps == b.steps {
            continue;
        }
        let at = a.trail.iter().zip(&b.trail).position(|(a, b)| a != b);
        let place = at.map_or("beyond the recorded steps".into(), |at| {
            if a.trail[at].at == b.trail[at].at {
                let lines = Finding::lines_of(a.trail[at].at);
                return format!(
                    "step {at} accesses another address at\n    {}",
                    lines.join("\n    ")
                );
            }
            let before = Finding::lines_of(a.trail[at.saturating_sub(1)].at);
            let after = Finding::lines_of(a.trail[at].at);
            format!(
                "step {at}, after\n    {}\nat\n    {}",
                before.join("\n    "),
                after.join("\n    ")
            )
        });
        return Some(format!("{}: traces of two secrets diverge: {place}", a.name));
    }
    (first.traces.len() != other.traces.len()).then(|| "runs trace different operations".into())
}

/// Runs each subject in `runs` processes, some of them concurrently, and judges it when all are
/// done.
fn in_turns(queue: Vec<Subject>, runs: u64, mut judge: impl FnMut(&Subject, &[Run])) {
    for subject in queue {
        // All processes start before a report is read: addresses are equal in all of them only if
        // this process allocates nothing in between.
        let mut children = Vec::with_capacity(runs as usize);
        for seed in 0..runs {
            children.push(Child::start(subject.level, seed, subject.case.run));
        }
        let mut done: Vec<Run> = Vec::new();
        for batch in children.chunks_mut(PROCESSES) {
            if done.len() >= RUNS as usize && done[0].steps() > LONG {
                batch.iter_mut().for_each(Child::kill);
                continue;
            }
            batch.iter().for_each(Child::resume);
            done.extend(batch.iter_mut().map(Child::wait));
        }
        judge(&subject, &done);
    }
}

/// The report of one process.
#[derive(Default)]
struct Run {
    traces: Vec<Trace>,
    findings: Vec<String>,
    wrong: Vec<String>,
    crashed: Vec<String>,
    results: usize,
}

impl Run {
    fn steps(&self) -> usize {
        self.traces.iter().map(|trace| trace.steps).sum()
    }
}

struct Trace {
    name: String,
    varying: bool,
    steps: usize,
    digest: u64,
    trail: Vec<Place>,
}

/// A process that runs one case with one seed.
struct Child {
    process: libc::pid_t,
    answer: File,
}

impl Child {
    /// Creates a process, which waits to be resumed.
    fn start(level: Level, seed: u64, work: fn(&mut Check)) -> Self {
        // SAFETY: the name ends in a zero byte, and we own the descriptor.
        let mut answer = unsafe {
            let descriptor = libc::memfd_create(c"answer".as_ptr(), 0);
            assert!(descriptor >= 0, "cannot allocate shared memory");
            File::from_raw_fd(descriptor)
        };
        std::io::stdout().flush().expect("standard output is open");
        // SAFETY: this process has only one thread, so the child may call any function.
        let process = unsafe { libc::fork() };
        assert!(process >= 0, "cannot fork");
        if process == 0 {
            // SAFETY: this process ends with its parent, and continues when that resumes it.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::raise(libc::SIGSTOP);
            }
            cpu::limit(level);
            let mut check = Check::new(seed);
            work(&mut check);
            let written = answer.write_all(&encode(&check));
            // SAFETY: ends the child immediately, without flushing the parent's buffers.
            unsafe { libc::_exit(i32::from(written.is_err())) };
        }
        // SAFETY: our own child, and a null pointer for its status.
        unsafe { libc::waitpid(process, std::ptr::null_mut(), libc::WUNTRACED) };
        Self { process, answer }
    }

    fn resume(&self) {
        // SAFETY: our own child, which has stopped.
        unsafe { libc::kill(self.process, libc::SIGCONT) };
    }

    /// Ends the process, whose report is not needed.
    fn kill(&mut self) {
        // SAFETY: our own child, and a null pointer for its status.
        unsafe {
            libc::kill(self.process, libc::SIGKILL);
            libc::waitpid(self.process, std::ptr::null_mut(), 0);
        }
    }

    fn wait(&mut self) -> Run {
        let mut status = 0;
        // SAFETY: our own child, and a valid pointer for its status.
        unsafe { libc::waitpid(self.process, &raw mut status, 0) };
        let mut bytes = Vec::new();
        let read = self.answer.rewind().and_then(|()| self.answer.read_to_end(&mut bytes));
        if status != 0 || read.is_err() {
            let crashed = vec![format!("the process ended with status {status:#x}")];
            return Run { crashed, ..Run::default() };
        }
        decode(&bytes)
    }
}

/// Encodes a check as lines; the bytes of a trail follow the line with its length.
fn encode(check: &Check) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut line = |kind: char, text: &str, more: &[u8]| {
        bytes.extend(format!("{kind}{}\n", text.replace('\n', "\r")).into_bytes());
        bytes.extend(more);
    };
    line('R', &check.results.to_string(), &[]);
    check.wrong.iter().for_each(|wrong| line('W', wrong, &[]));
    for (name, varying, report) in &check.reports {
        for finding in &report.findings {
            line('F', &format!("{name}: {finding}"), &[]);
        }
        line('T', &format!("{} {} {varying} {name}", report.steps, report.digest), &[]);
        let places = report.trail.iter().flat_map(|place| place.to_bytes()).collect::<Vec<_>>();
        line('P', &places.len().to_string(), &places);
    }
    bytes
}

fn decode(mut bytes: &[u8]) -> Run {
    let mut run = Run::default();
    while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(&bytes[..end]).replace('\r', "\n");
        bytes = &bytes[end + 1..];
        let (kind, text) = line.split_at(1);
        let number = |text: &str| text.parse::<u64>().expect("the line has a number");
        match kind {
            "R" => run.results = number(text) as usize,
            "W" => run.wrong.push(text.into()),
            "F" => run.findings.push(text.into()),
            "T" => {
                let parts: Vec<_> = text.splitn(4, ' ').collect();
                let (steps, digest) = (number(parts[0]) as usize, number(parts[1]));
                let (varying, name) = (parts[2] == "true", parts[3].into());
                run.traces.push(Trace { name, varying, steps, digest, trail: Vec::new() });
            }
            _ => {
                let (places, rest) = bytes.split_at(number(text) as usize);
                bytes = rest;
                let trace = run.traces.last_mut().expect("a trail follows its trace");
                trace.trail = places.as_chunks().0.iter().copied().map(Place::from_bytes).collect();
            }
        }
    }
    run
}
