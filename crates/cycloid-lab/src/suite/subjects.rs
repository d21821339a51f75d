//! Measures a table of prepared operations: verifies results, measures memory, takes times.

use std::time::{Duration, Instant};

use crate::measure::rounds::{self, Samples};
use crate::measure::statistics::{self, Estimate};
use crate::measure::{Operation, clock, heap, stack};
use crate::peers::external::Job;
use crate::peers::{Found, Peer, ResultCheck};
use crate::record::{
    self, Implementation, LIBRARY, Memory, Method, Parameters, Ratio, Record, Series, Statistic,
    Summary, Table, Time,
};
use crate::{Failure, interrupt};

/// The share of a table's progress at the start of the rounds.
const PREPARATION: f64 = 0.15;

/// A subject, which becomes a row.
pub struct Subject {
    /// Its group in the table.
    pub group: String,
    /// Its label in the group.
    pub label: String,
    /// Its method.
    pub method: Method,
    /// The measured function.
    pub implementation: Implementation,
    /// Whether its documentation calls it constant-time.
    pub constant_time: bool,
    /// The number of operations per call.
    pub operations_per_call: u32,
    /// The scratch that the library's own function requires.
    pub scratch: Option<usize>,
    /// Whether it is measured with the highest precision.
    pub every_round: bool,
    /// The operation.
    pub operation: Box<dyn Operation>,
}

/// The note on peers with a runner.
const RUNNER: &str = "peers with a runner (docs/runners.md) run in separate processes, which \
    alternate with this one; their stack and peak heap are not measured";

/// Returns the rows of a peer's runner: its implementations of `job`, or none if the peer has no
/// runner.
///
/// # Errors
/// If the runner fails.
pub fn of_runner(
    found: &Found,
    label: &str,
    job: &Job,
    check: impl Fn() -> ResultCheck,
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
        if !way.note.is_empty() {
            let function = &way.function;
            add_note(notes, Some(&format!("{}, {function}: {}", found.peer.name(), way.note)));
        }
        let operation = way.operation(check());
        let row = Subject::of_peer(found.peer, library.version(), label, &function, operation);
        rows.push(Subject { constant_time, ..row });
    }
    Ok(rows)
}

/// Common properties of a table's rows.
pub struct Setting {
    /// The suite's name.
    pub suite: &'static str,
    /// The operation's name.
    pub operation: &'static str,
    /// The group of the table.
    pub group: String,
    /// The table's name in its group.
    pub name: String,
    /// Its place in a series of sizes.
    pub series: Option<Series>,
    /// The sizes.
    pub parameters: Parameters,
    /// How tables of the suite are combined.
    pub summary: Summary,
    /// Index of the subject that ratios refer to.
    pub reference: usize,
    /// The time for the rounds.
    pub time: Duration,
    /// How subjects alternate.
    pub sampling: Sampling,
    /// The names of missing peers.
    pub missing: Vec<String>,
    /// Notes for readers of the numbers.
    pub notes: Vec<String>,
}

impl Setting {
    /// Returns the title of the table.
    pub fn title(&self) -> String {
        record::title(&self.group, &self.name)
    }
}

/// Adds a note unless `notes` already has it.
pub fn add_note(notes: &mut Vec<String>, note: Option<&str>) {
    if let Some(note) = note
        && !notes.iter().any(|known| known == note)
    {
        notes.push(note.into());
    }
}

/// How subjects alternate, and which statistic describes their samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Batches paired with the reference's; the statistic is the median.
    Paired,
    /// Single runs, at least this many of each; the statistic is the mean. For operations whose
    /// time varies from run to run.
    Averaged {
        /// The least number of runs.
        fewest: usize,
    },
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
    /// Creates a constant-time operation of this library, one at a time by the usual method.
    pub fn ours(
        label: &str,
        function: &str,
        backend: String,
        scratch: usize,
        operation: Box<dyn Operation>,
    ) -> Self {
        Self {
            group: LIBRARY.into(),
            label: label.into(),
            method: Method::Single,
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

    /// Creates a constant-time operation of a peer.
    pub fn of_peer(
        peer: Peer,
        version: String,
        label: &str,
        function: &str,
        operation: Box<dyn Operation>,
    ) -> Self {
        Self {
            group: peer.name().into(),
            label: label.into(),
            method: Method::Single,
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

    /// Sets the number of operations per call.
    pub fn of_several(self, operations: u32) -> Self {
        Self { operations_per_call: operations, ..self }
    }

    /// Marks a batch of this many operations.
    pub fn of_batch(self, operations: u32) -> Self {
        Self { method: Method::Batch, ..self.of_several(operations) }
    }

    /// Marks a special method.
    pub fn special(self) -> Self {
        Self { method: Method::Other, ..self }
    }

    /// Returns its name in errors.
    fn name(&self) -> String {
        if self.implementation.product == self.group {
            format!("{}, {}", self.group, self.label)
        } else {
            format!("{}, {}, {}", self.implementation.product, self.group, self.label)
        }
    }
}

/// Measures `subjects`, which must all compute the same result.
///
/// # Errors
/// Names the subject that fails, or whose result differs from the others'.
pub fn measure(
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
    // The results computed during the timing must be correct, too.
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
            method: subject.method,
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
            emulated: None,
            samples: Some(kept(&samples.times, &samples.ratios)),
        })
        .collect::<Vec<_>>();
    Ok(Table {
        suite: setting.suite.into(),
        group: setting.group,
        name: setting.name,
        series: setting.series,
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

/// Estimates the time of one run, and measures its memory. The first run includes one-time work;
/// the second is measured.
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
        "nothing was measured; exclude it with --strategy or --peers, or report this",
    )
}

/// Checks that all results are equal. The result of most subjects counts as correct.
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
            format!("{} returns a wrong result", subject.name()),
            format!(
                "{} of {} subjects agree on another result; nothing was measured, please report this",
                votes(right),
                subjects.len()
            ),
        )),
    }
}

/// Summarises times.
pub fn time(times: &[f64], statistic: Statistic) -> Time {
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

/// Returns the single samples; reports omit them unless requested.
pub fn kept(times: &[f64], ratios: &[f64]) -> record::Samples {
    record::Samples {
        times_ns: times.iter().map(|time| rounded(*time, 2)).collect(),
        ratios: ratios.iter().map(|ratio| rounded(*ratio, 5)).collect(),
    }
}

/// Creates the ratio of a row from an estimate.
pub fn ratio(samples: usize, estimate: Estimate) -> Ratio {
    Ratio {
        samples,
        median: rounded(estimate.value, 5),
        interval: estimate.interval.map(|end| rounded(end, 5)),
    }
}

/// Rounds `x` to this many decimals: further digits are noise and make records hard to read.
pub fn rounded(x: f64, decimals: i32) -> f64 {
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
            method: Method::Single,
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
            group: "constants".into(),
            name: String::new(),
            series: None,
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
        assert_eq!(failure.message, "test, Numbers, number 1 returns a wrong result");
        let failure = table(&[8, 7, 7]).unwrap_err();
        assert_eq!(failure.message, "test, Numbers, number 0 returns a wrong result");
    }

    #[test]
    fn a_failure_names_its_subject() {
        let failure = table(&[7, 0, 7]).unwrap_err();
        assert_eq!(failure.message, "test, Numbers, number 1 failed: it is zero");
    }
}
