//! Measures times in rounds in which all subjects alternate.
//!
//! A shared machine is fast at one moment and slow at the next, so two subjects are comparable only
//! if they run close together in time. Every round runs a short batch of each subject, in a new
//! random order. Each group of a few batches contains one batch of the reference, at a random
//! place, and the time of each batch in the group is divided by the reference's: the *paired
//! ratio*. Since place and partner are random, a subject equal to the reference has ratios around 1
//! whatever the machine does. The control, the reference run as if it were a subject, shows how
//! true that is.

use std::time::{Duration, Instant};

use super::random::Random;
use super::{Operation, clock};
use crate::interrupt;

/// The duration of a batch of a fast subject: long compared with the cost of reading the clock,
/// short compared with the drift of a shared machine.
const BATCH: Duration = Duration::from_micros(200);

/// The number of batches that share a batch of the reference.
const PARTNERS: usize = 4;

/// The least number of samples of each subject.
const FEWEST: usize = 5;

/// The largest number of samples; more add no information.
const MOST: usize = 6000;

/// The share of the time for subjects that need not take part in every round.
const SOMETIMES: f64 = 0.4;

/// A subject of a table.
pub struct Subject<'a> {
    /// The timed operation.
    pub operation: &'a mut dyn Operation,
    /// The number of operations per run.
    pub operations_per_run: u32,
    /// Whether it takes part in every round, or in as many as its share of the time allows.
    pub every_round: bool,
    /// The approximate time of one run.
    pub run_time: Duration,
}

/// The samples of one subject.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Nanoseconds per operation, batch by batch.
    pub times: Vec<f64>,
    /// The same divided by the time of the reference's batch nearby; empty if means are compared.
    pub ratios: Vec<f64>,
}

/// The samples of all subjects.
#[derive(Clone, Debug)]
pub struct Measured {
    /// In the order of the subjects. The reference has the batches that others were paired with,
    /// and no ratios.
    pub samples: Vec<Samples>,
    /// The reference measured as a subject.
    pub control: Samples,
    /// The number of rounds.
    pub rounds: usize,
}

/// The rounds in which a subject takes part: `samples` of them, evenly spread.
#[derive(Clone, Copy)]
struct Turns {
    subject: usize,
    batch: u32,
    samples: usize,
}

impl Turns {
    fn takes_part(&self, round: usize, rounds: usize) -> bool {
        // Subjects start at different rounds, so that slow ones do not share the same rounds.
        let shifted = round + self.subject * 7;
        (shifted + 1) * self.samples / rounds != shifted * self.samples / rounds
    }
}

/// Measures `subjects` against the one at index `reference` for about `time`, or longer if that
/// does not allow `FEWEST` samples of each. Calls `progress` with the completed share, 0 to 1.
///
/// # Errors
/// The index of the failed subject, and its message.
pub fn interleave(
    subjects: &mut [Subject<'_>],
    reference: usize,
    time: Duration,
    progress: &mut dyn FnMut(f64),
) -> Result<Measured, (usize, &'static str)> {
    let (turns, rounds) = plan(subjects, reference, time);
    let control = subjects.len();
    let mut samples = vec![Samples::default(); subjects.len() + 1];
    let mut random = Random::new(rounds as u64);
    let mut due: Vec<&Turns> = Vec::new();
    let start = Instant::now();
    let mut done = rounds;
    for round in 0..rounds {
        due.clear();
        due.extend(turns.iter().filter(|turns| turns.takes_part(round, rounds)));
        random.shuffle(&mut due);
        for group in due.chunks(PARTNERS) {
            let place = random.below(group.len() + 1);
            let mut partner = 0.0;
            let mut times = [0.0; PARTNERS];
            for (i, (turn, time)) in group.iter().zip(&mut times).enumerate() {
                if i == place {
                    partner = batch(subjects, reference, turns[control].batch)?;
                }
                let index = if turn.subject == control { reference } else { turn.subject };
                *time = batch(subjects, index, turn.batch)?;
            }
            if place == group.len() {
                partner = batch(subjects, reference, turns[control].batch)?;
            }
            samples[reference].times.push(partner);
            for (turn, time) in group.iter().zip(times) {
                samples[turn.subject].times.push(time);
                samples[turn.subject].ratios.push(time / partner);
            }
        }
        let elapsed = start.elapsed();
        progress((round + 1) as f64 / rounds as f64);
        // The machine may have become slower since the plan was made.
        let enough = samples.iter().all(|samples| samples.times.len() >= FEWEST);
        if elapsed > time.mul_f64(1.25) && enough {
            done = round + 1;
            break;
        }
    }
    let control = samples.pop().unwrap_or_default();
    Ok(Measured { samples, control, rounds: done })
}

/// Runs `subjects` in turn, in a new random order each time, until each has used its share of
/// `time` and completed `fewest` runs. For operations whose time varies from run to run, so that
/// means are compared. The reference is measured twice, the second time as the control.
///
/// # Errors
/// As [`interleave`].
pub fn alternate(
    subjects: &mut [Subject<'_>],
    reference: usize,
    fewest: usize,
    time: Duration,
    progress: &mut dyn FnMut(f64),
) -> Result<Measured, (usize, &'static str)> {
    let control = subjects.len();
    let share = time.as_nanos() as f64 / (subjects.len() + 1) as f64;
    let mut samples = vec![Samples::default(); subjects.len() + 1];
    let mut spent = vec![0.0; subjects.len() + 1];
    let mut random = Random::new(1);
    let mut rounds = 0;
    loop {
        let unfinished = |i: &usize| spent[*i] < share || samples[*i].times.len() < fewest;
        let mut due: Vec<usize> = (0..=control).filter(unfinished).collect();
        if due.is_empty() {
            break;
        }
        random.shuffle(&mut due);
        for i in due {
            let index = if i == control { reference } else { i };
            let nanoseconds = batch(subjects, index, 1)?;
            samples[i].times.push(nanoseconds);
            spent[i] += nanoseconds * f64::from(subjects[index].operations_per_run);
        }
        rounds += 1;
        let done = spent.iter().map(|spent| (spent / share).min(1.0)).sum::<f64>();
        progress(done / spent.len() as f64);
    }
    let control = samples.pop().unwrap_or_default();
    Ok(Measured { samples, control, rounds })
}

/// Runs a batch of `runs` runs and returns nanoseconds per operation.
fn batch(
    subjects: &mut [Subject<'_>],
    index: usize,
    runs: u32,
) -> Result<f64, (usize, &'static str)> {
    if interrupt::requested() {
        return Err((index, interrupt::MESSAGE));
    }
    let subject = &mut subjects[index];
    let operations = f64::from(subject.operations_per_run);
    let elsewhere = subject.operation.elsewhere(runs).map_err(|message| (index, message))?;
    if let Some(elsewhere) = elsewhere {
        return Ok(elsewhere.time.as_nanos() as f64 / f64::from(runs) / operations);
    }
    let alone = subject.operation.renew().map_err(|message| (index, message))?;
    let runs = if alone { 1 } else { runs };
    let start = clock::now();
    for _ in 0..runs {
        subject.operation.run().map_err(|message| (index, message))?;
    }
    // A clock that excludes the processor time of others may stand still for a moment.
    let nanoseconds = (clock::now() - start).as_nanos().max(1) as f64;
    Ok(nanoseconds / f64::from(runs) / operations)
}

/// Plans the number of rounds, and which subjects take part in how many of them. The last entry is
/// the control.
fn plan(subjects: &[Subject<'_>], reference: usize, time: Duration) -> (Vec<Turns>, usize) {
    let runs = |subject: &Subject<'_>| {
        let runs = BATCH.as_secs_f64() / subject.run_time.as_secs_f64().max(1e-9);
        runs.ceil().clamp(1.0, 1e6) as u32
    };
    let batch_time =
        |subject: &Subject<'_>| subject.run_time.as_secs_f64() * f64::from(runs(subject));
    // The time of a batch and its share of the reference's batch.
    let reference_part = batch_time(&subjects[reference]) / PARTNERS as f64;
    let cost = |subject: &Subject<'_>| batch_time(subject) + reference_part;

    let others = || subjects.iter().enumerate().filter(|(i, _)| *i != reference);
    let sometimes = others().filter(|(_, subject)| !subject.every_round).count();
    let share = time.as_secs_f64() * SOMETIMES / sometimes.max(1) as f64;
    let samples = |subject: &Subject<'_>, rounds: usize| {
        if subject.every_round {
            rounds
        } else {
            ((share / cost(subject)) as usize).clamp(FEWEST, rounds)
        }
    };
    let whole = |rounds: usize| -> f64 {
        let control = cost(&subjects[reference]) * rounds as f64;
        others().map(|(_, subject)| cost(subject) * samples(subject, rounds) as f64).sum::<f64>()
            + control
    };
    // The largest number of rounds that fits the time; more rounds never take less time. Subjects
    // of every round keep their share of the time, however long the others take.
    let every_round = others().filter(|(_, subject)| subject.every_round);
    let round =
        every_round.map(|(_, subject)| cost(subject)).sum::<f64>() + cost(&subjects[reference]);
    let least = (time.as_secs_f64() * (1.0 - SOMETIMES) / round) as usize;
    let (mut rounds, mut too_many) = (FEWEST, MOST + 1);
    while too_many - rounds > 1 {
        let middle = usize::midpoint(rounds, too_many);
        if whole(middle) <= time.as_secs_f64() {
            rounds = middle;
        } else {
            too_many = middle;
        }
    }
    rounds = rounds.max(least.min(MOST));

    let mut turns: Vec<Turns> = others()
        .map(|(i, subject)| Turns {
            subject: i,
            batch: runs(subject),
            samples: samples(subject, rounds),
        })
        .collect();
    // `interleave` finds the control's batch at the index of the control.
    turns.insert(reference, Turns { subject: reference, batch: 0, samples: 0 });
    turns.push(Turns {
        subject: subjects.len(),
        batch: runs(&subjects[reference]),
        samples: rounds,
    });
    (turns, rounds)
}

#[cfg(test)]
mod tests {
    use super::super::Elsewhere;
    use super::*;
    use std::hint::black_box;

    struct Spin(u32);

    impl Operation for Spin {
        fn run(&mut self) -> Result<(), &'static str> {
            for i in 0..self.0 {
                black_box(i);
            }
            if self.0 == 0 { Err("nothing to do") } else { Ok(()) }
        }

        fn output(&self) -> Vec<u64> {
            Vec::new()
        }

        fn heap_held(&self) -> Option<u64> {
            None
        }
    }

    fn subject(operation: &mut dyn Operation, run_time: u64, every_round: bool) -> Subject<'_> {
        Subject {
            operation,
            operations_per_run: 1,
            every_round,
            run_time: Duration::from_micros(run_time),
        }
    }

    /// Simulates an operation in another process that takes this long.
    struct Takes(Duration);

    impl Operation for Takes {
        fn run(&mut self) -> Result<(), &'static str> {
            Err("runs elsewhere")
        }

        fn elsewhere(&mut self, runs: u32) -> Result<Option<Elsewhere>, &'static str> {
            Ok(Some(Elsewhere { time: self.0 * runs, allocated: None }))
        }

        fn output(&self) -> Vec<u64> {
            Vec::new()
        }

        fn heap_held(&self) -> Option<u64> {
            None
        }
    }

    #[test]
    fn every_subject_is_sampled() {
        let [mut a, mut b, mut c] = [10, 10, 30].map(|time| Takes(Duration::from_micros(time)));
        let mut subjects =
            [subject(&mut a, 10, true), subject(&mut b, 10, true), subject(&mut c, 20_000, false)];
        let mut last = 0.0;
        let measured = interleave(&mut subjects, 1, Duration::from_millis(400), &mut |part| {
            assert!(part >= last);
            last = part;
        })
        .unwrap();
        assert!(last > 0.0 && last <= 1.0);
        let [first, reference, slow] = &measured.samples[..] else { panic!() };
        assert_eq!(first.times.len(), measured.rounds);
        assert_eq!(measured.control.ratios.len(), measured.rounds);
        assert!(slow.times.len() >= FEWEST && slow.times.len() < measured.rounds);
        assert!(reference.ratios.is_empty() && reference.times.len() >= measured.rounds);
        assert!(slow.ratios.iter().all(|ratio| *ratio == 3.0));
        assert!(measured.control.ratios.iter().all(|ratio| *ratio == 1.0));
    }

    #[test]
    fn alternate_runs_each_subject_at_least_the_requested_number_of_times() {
        let [mut a, mut b] = [10, 100].map(|time| Takes(Duration::from_micros(time)));
        let mut subjects = [subject(&mut a, 10, true), subject(&mut b, 100, true)];
        // A millisecond for each, including the control.
        let time = Duration::from_millis(3);
        let measured = alternate(&mut subjects, 0, 20, time, &mut |_| {}).unwrap();
        let runs: Vec<usize> = measured.samples.iter().map(|samples| samples.times.len()).collect();
        assert_eq!(runs, [100, 20]);
        assert_eq!((measured.control.times.len(), measured.rounds), (100, 100));
    }

    /// An operation that must be renewed before each run.
    struct Fresh {
        renewed: bool,
        runs: usize,
    }

    impl Operation for Fresh {
        fn run(&mut self) -> Result<(), &'static str> {
            self.runs += 1;
            if std::mem::take(&mut self.renewed) { Ok(()) } else { Err("used up") }
        }

        fn renew(&mut self) -> Result<bool, &'static str> {
            self.renewed = true;
            Ok(true)
        }

        fn output(&self) -> Vec<u64> {
            Vec::new()
        }

        fn heap_held(&self) -> Option<u64> {
            None
        }
    }

    #[test]
    fn consumed_state_is_renewed_before_each_run() {
        let mut operation = Fresh { renewed: false, runs: 0 };
        for _ in 0..10 {
            let subject = Subject {
                operation: &mut operation,
                operations_per_run: 1,
                every_round: true,
                run_time: Duration::from_micros(1),
            };
            batch(&mut [subject], 0, 200).unwrap();
        }
        assert_eq!(operation.runs, 10);
    }

    #[test]
    fn turns_are_spread_and_counted() {
        for (samples, rounds) in [(5, 5), (5, 6), (7, 100), (99, 100), (0, 10)] {
            for subject in 0..50 {
                let turns = Turns { subject, batch: 1, samples };
                let taken: Vec<usize> =
                    (0..rounds).filter(|round| turns.takes_part(*round, rounds)).collect();
                assert_eq!(taken.len(), samples, "{samples} of {rounds} from {subject}");
            }
        }
    }

    #[test]
    fn a_failure_names_its_subject() {
        let (mut a, mut b) = (Spin(1000), Spin(0));
        let mut subjects = [subject(&mut a, 10, true), subject(&mut b, 10, true)];
        let result = interleave(&mut subjects, 0, Duration::from_millis(5), &mut |_| {});
        assert_eq!(result.unwrap_err(), (1, "nothing to do"));
    }
}
