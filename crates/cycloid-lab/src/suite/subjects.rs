//! From prepared operations to a table: verify, look at memory, take times.

use std::time::{Duration, Instant};

use super::LIBRARY;
use crate::measure::rounds::{self, Samples};
use crate::measure::statistics::{self, Estimate};
use crate::measure::{Operation, clock, heap, stack};
use crate::peers::external::Job;
use crate::peers::{Found, Judge, Peer};
use crate::record::{
    self, Implementation, Memory, Parameters, Ratio, Record, Statistic, Summary, Table, Time,
};
use crate::{Failure, interrupt};

/// Of the progress of a table, the part that is done when the rounds begin.
const PREPARATION: f64 = 0.15;

/// One row to be.
pub(crate) struct Subject {
    pub(crate) group: String,
    pub(crate) label: String,
    pub(crate) implementation: Implementation,
    pub(crate) constant_time: bool,
    pub(crate) operations_per_call: u32,
    /// Scratch that the library's own function asks for.
    pub(crate) scratch: Option<usize>,
    /// Whether it is among those that are measured best.
    pub(crate) every_round: bool,
    pub(crate) operation: Box<dyn Operation>,
}

/// What is to be known of a peer that has a runner.
const RUNNER: &str = "a peer that is no library of C or Rust runs in processes of its own, which take \
    turns with this one and time themselves by the same clock; their stack and peak of heap are not seen";

/// The rows of a peer's runner: its ways to do `job`, or none where the peer has no runner.
pub(super) fn of_runner(
    found: &Found,
    label: &str,
    job: &Job,
    judge: impl Fn() -> Judge,
    notes: &mut Vec<String>,
) -> Result<Vec<Subject>, Failure> {
    let Some((library, runner)) =
        found.outcome.as_ref().ok().and_then(|library| Some((library, library.runner()?)))
    else {
        return Ok(Vec::new());
    };
    let mut rows = Vec::new();
    for way in runner.ways(job)? {
        add_note(notes, Some(RUNNER));
        let (name, function, constant_time) =
            (way.label.clone(), way.function.clone(), way.constant_time);
        let label = if name.is_empty() { label } else { &name };
        let operation = way.operation(judge());
        let row = Subject::of_peer(found.peer, library.version(), label, &function, operation);
        rows.push(Subject { constant_time, ..row });
    }
    Ok(rows)
}

/// What holds for all rows of a table.
pub(crate) struct Setting {
    pub(crate) suite: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) title: String,
    pub(crate) parameters: Parameters,
    pub(crate) summary: Summary,
    /// Index of the subject that ratios are against.
    pub(crate) reference: usize,
    pub(crate) time: Duration,
    pub(crate) sampling: Sampling,
    /// The peers that should be among the subjects and are not here.
    pub(crate) missing: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// Adds a note that is not among `notes` yet.
pub(super) fn add_note(notes: &mut Vec<String>, note: Option<&str>) {
    if let Some(note) = note
        && !notes.iter().any(|known| known == note)
    {
        notes.push(note.into());
    }
}

/// How subjects take turns, and what is said of their samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// Batches beside the reference's, and medians.
    Paired,
    /// Single runs, this many of each at the least, and means: for what takes another time in each
    /// run.
    Averaged { fewest: usize },
}

impl Sampling {
    const fn statistic(self) -> Statistic {
        match self {
            Self::Paired => Statistic::Median,
            Self::Averaged { .. } => Statistic::Mean,
        }
    }
}

impl Subject {
    /// One operation of the library's own, in constant time.
    pub(super) fn ours(
        label: &str,
        function: &str,
        backend: String,
        scratch: usize,
        operation: Box<dyn Operation>,
    ) -> Self {
        Self {
            group: LIBRARY.into(),
            label: label.into(),
            implementation: Implementation {
                product: LIBRARY.into(),
                version: env!("CARGO_PKG_VERSION").into(),
                function: function.into(),
                backend: Some(backend),
            },
            constant_time: true,
            operations_per_call: 1,
            scratch: Some(scratch),
            every_round: true,
            operation,
        }
    }

    /// One operation of a peer's, in constant time.
    pub(super) fn of_peer(
        peer: Peer,
        version: String,
        label: &str,
        function: &str,
        operation: Box<dyn Operation>,
    ) -> Self {
        Self {
            group: peer.name().into(),
            label: label.into(),
            implementation: Implementation {
                product: peer.name().into(),
                version,
                function: function.into(),
                backend: None,
            },
            constant_time: true,
            operations_per_call: 1,
            scratch: None,
            every_round: true,
            operation,
        }
    }

    /// The same, doing so many operations in a call.
    pub(super) fn of_several(self, operations: u32) -> Self {
        Self { operations_per_call: operations, ..self }
    }

    /// How an error names it.
    fn name(&self) -> String {
        if self.implementation.product == self.group {
            format!("{}, {}", self.group, self.label)
        } else {
            format!("{}, {}, {}", self.implementation.product, self.group, self.label)
        }
    }
}

/// Measures `subjects`, which all compute the same.
///
/// # Errors
/// Names the subject that fails or whose result is not that of the others.
pub(super) fn measure(
    setting: Setting,
    mut subjects: Vec<Subject>,
    progress: &mut dyn FnMut(f64),
) -> Result<Table, Failure> {
    let number = subjects.len() as f64;
    let mut memory = Vec::new();
    let mut run_times = Vec::new();
    for (i, subject) in subjects.iter_mut().enumerate() {
        interrupt::check()?;
        let (run_time, needed) = first_runs(subject).map_err(|message| failed(subject, message))?;
        memory.push(needed);
        run_times.push(run_time);
        progress(PREPARATION * (i + 1) as f64 / number);
    }
    verify(&subjects)?;

    let start = Instant::now();
    let mut timed: Vec<rounds::Subject<'_>> = subjects
        .iter_mut()
        .zip(run_times)
        .map(|(subject, run_time)| rounds::Subject {
            operation: &mut *subject.operation,
            operations_per_run: subject.operations_per_call,
            every_round: subject.every_round,
            run_time,
        })
        .collect();
    let mut report = |part| progress(PREPARATION + (1.0 - PREPARATION) * part);
    let Setting { reference, time: for_rounds, sampling, .. } = setting;
    let measured = match sampling {
        Sampling::Paired => rounds::interleave(&mut timed, reference, for_rounds, &mut report),
        Sampling::Averaged { fewest } => {
            rounds::alternate(&mut timed, reference, fewest, for_rounds, &mut report)
        }
    }
    .map_err(|(index, message)| failed(&subjects[index], message))?;
    let seconds = start.elapsed().as_secs_f64();
    // What they computed while they were timed is right too.
    verify(&subjects)?;

    let statistic = sampling.statistic();
    let reference_times = measured.samples[reference].times.clone();
    let ratio = |samples: &Samples| match statistic {
        Statistic::Median => ratio(samples.ratios.len(), statistics::estimate(&samples.ratios)),
        Statistic::Mean => {
            let times = &samples.times;
            ratio(times.len(), statistics::estimate_ratio_of_means(times, &reference_times))
        }
    };
    let records = subjects
        .into_iter()
        .zip(measured.samples)
        .zip(memory)
        .enumerate()
        .map(|(i, ((subject, samples), memory))| Record {
            operation: setting.operation.into(),
            parameters: setting.parameters.clone(),
            group: subject.group,
            label: subject.label,
            implementation: subject.implementation,
            constant_time: subject.constant_time,
            operations_per_call: subject.operations_per_call,
            time: time(&samples.times, statistic),
            ratio: if i == reference {
                Ratio { samples: 0, median: 1.0, interval: [1.0, 1.0] }
            } else {
                ratio(&samples)
            },
            memory,
            service: None,
            tunnel: None,
            instructions: None,
            samples: Some(kept(&samples.times, &samples.ratios)),
        })
        .collect::<Vec<_>>();
    Ok(Table {
        suite: setting.suite.into(),
        title: setting.title,
        parameters: setting.parameters,
        statistic,
        summary: setting.summary,
        reference: records[reference].label.clone(),
        records,
        control: ratio(&measured.control),
        rounds: measured.rounds,
        seconds: rounded(seconds, 2),
        missing: setting.missing,
        notes: setting.notes,
    })
}

/// How long one run takes, roughly, and what it needs of memory. The first run does what happens only
/// once; the second is looked at.
fn first_runs(subject: &mut Subject) -> Result<(Duration, Memory), &'static str> {
    let operation = &mut *subject.operation;
    if let Some(first) = operation.elsewhere(1)? {
        let second = operation.elsewhere(1)?.unwrap_or(first);
        let memory = Memory { heap_total: second.allocated, ..Memory::default() };
        return Ok((first.time.min(second.time), memory));
    }
    operation.renew()?;
    let start = clock::now();
    operation.run()?;
    let first = clock::now() - start;
    operation.renew()?;
    let start = clock::now();
    let (result, heap) = heap::measure(|| operation.run());
    let run_time = first.min(clock::now() - start);
    result?;
    operation.renew()?;
    let mut result = Ok(());
    let stack_peak = stack::peak(&mut || result = operation.run());
    result?;
    let memory = Memory {
        scratch: subject.scratch,
        stack_peak,
        heap_peak: heap.map(|heap| heap.peak_bytes),
        heap_held: operation.heap_held(),
        heap_total: heap.map(|heap| heap.total_bytes),
        allocations: heap.map(|heap| heap.allocations),
        resident: None,
    };
    Ok((run_time, memory))
}

pub(crate) fn failed(subject: &Subject, message: &str) -> Failure {
    Failure::new(
        format!("{} failed: {message}", subject.name()),
        "nothing was measured; leave it out with --strategy or --peers, or report it",
    )
}

/// All results are the same. What most subjects computed counts as right, whoever they are.
pub(crate) fn verify(subjects: &[Subject]) -> Result<(), Failure> {
    let outputs: Vec<Vec<u64>> =
        subjects.iter().map(|subject| subject.operation.output()).collect();
    let votes = |output: &Vec<u64>| outputs.iter().filter(|other| *other == output).count();
    let Some(right) = outputs.iter().max_by_key(|output| votes(output)) else {
        return Ok(());
    };
    match subjects.iter().zip(&outputs).find(|(_, output)| *output != right) {
        None => Ok(()),
        Some((subject, _)) => Err(Failure::new(
            format!("{} gives a wrong result", subject.name()),
            format!(
                "{} of {} subjects agree on another one; nothing was measured, please report it",
                votes(right),
                subjects.len()
            ),
        )),
    }
}

/// What is told of many times.
pub(super) fn time(times: &[f64], statistic: Statistic) -> Time {
    let estimate = match statistic {
        Statistic::Median => statistics::estimate(times),
        Statistic::Mean => statistics::estimate_mean(times),
    };
    Time {
        samples: times.len(),
        minimum_ns: rounded(statistics::minimum(times), 2),
        median_ns: rounded(statistics::median(times), 2),
        mean_ns: rounded(statistics::mean(times), 2),
        interval_ns: estimate.interval.map(|end| rounded(end, 2)),
        operations_per_second: rounded(1e9 / estimate.value, 2),
    }
}

/// The single samples; who reports them leaves them out unless they are wanted.
pub(super) fn kept(times: &[f64], ratios: &[f64]) -> record::Samples {
    record::Samples {
        times_ns: times.iter().map(|time| rounded(*time, 2)).collect(),
        ratios: ratios.iter().map(|ratio| rounded(*ratio, 5)).collect(),
    }
}

pub(super) fn ratio(samples: usize, estimate: Estimate) -> Ratio {
    Ratio {
        samples,
        median: rounded(estimate.value, 5),
        interval: estimate.interval.map(|end| rounded(end, 5)),
    }
}

/// `x` to so many decimals: what lies beyond is noise, and makes records hard to read.
pub(super) fn rounded(x: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (x * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Constant(u64);

    impl Operation for Constant {
        fn run(&mut self) -> Result<(), &'static str> {
            if self.0 == 0 { Err("it is zero") } else { Ok(()) }
        }

        fn output(&self) -> Vec<u64> {
            vec![self.0]
        }

        fn heap_held(&self) -> Option<u64> {
            None
        }
    }

    fn table(values: &[u64]) -> Result<Table, Failure> {
        let subject = |(i, value): (usize, &u64)| Subject {
            group: "Numbers".into(),
            label: format!("number {i}"),
            implementation: Implementation {
                product: "test".into(),
                version: "1".into(),
                function: "none".into(),
                backend: None,
            },
            constant_time: true,
            operations_per_call: 1,
            scratch: None,
            every_round: true,
            operation: Box::new(Constant(*value)),
        };
        let setting = Setting {
            suite: "test",
            operation: "constant",
            title: "constants".into(),
            parameters: Parameters::new(),
            summary: Summary::Proportions,
            reference: 0,
            time: Duration::from_millis(20),
            sampling: Sampling::Paired,
            missing: Vec::new(),
            notes: Vec::new(),
        };
        let subjects = values.iter().enumerate().map(subject).collect();
        measure(setting, subjects, &mut |_| {})
    }

    #[test]
    fn a_table_has_a_record_of_each_subject() {
        let table = table(&[7, 7, 7]).unwrap();
        assert_eq!(table.records.len(), 3);
        assert_eq!(table.reference, "number 0");
        assert_eq!(table.records[0].ratio.median, 1.0);
        assert!(table.records.iter().all(|record| record.time.minimum_ns > 0.0));
    }

    #[test]
    fn a_wrong_result_is_an_error_that_names_the_subject_even_if_it_is_the_reference() {
        let failure = table(&[7, 8, 7]).unwrap_err();
        assert_eq!(failure.message, "test, Numbers, number 1 gives a wrong result");
        let failure = table(&[8, 7, 7]).unwrap_err();
        assert_eq!(failure.message, "test, Numbers, number 0 gives a wrong result");
    }

    #[test]
    fn a_failure_names_its_subject() {
        let failure = table(&[7, 0, 7]).unwrap_err();
        assert_eq!(failure.message, "test, Numbers, number 1 failed: it is zero");
    }
}
