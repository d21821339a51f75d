//! A simulation: clients that wait for each answer, beside others whose operations take long.

use std::collections::BTreeMap;

use getrandom::SysRng;
use rand_core::UnwrapErr;

use super::tests::edwards;
use super::*;
use crate::key::Curve;

/// Leaves in batches of eight on every processor.
const SHORT: Kind = Kind::Ed25519;

/// The time of a batch, whatever its number of jobs.
fn cost(kind: Kind) -> Duration {
    Duration::from_micros(if kind == SHORT { 60 } else { 4500 })
}

/// The time in which a client sends its next request.
const TURNAROUND: Duration = Duration::from_micros(50);

/// A group of applications.
#[derive(Clone, Copy)]
struct Group {
    kind: Kind,
    applications: u64,
    /// The number of requests that each has in flight.
    in_flight: usize,
}

/// Lets the workers serve the groups for a second, and returns the time that each group had, and
/// the answers of each application.
fn simulate(workers: usize, groups: &[Group]) -> (Vec<Duration>, Vec<Vec<u32>>) {
    let rng = &mut UnwrapErr(SysRng);
    let short = PrivateKey::generate_ec(Curve::Ed25519, rng).unwrap();
    let long = PrivateKey::generate_bls(rng).unwrap();
    let engine = Engine::new(workers);
    let begin = Instant::now();
    let end = begin + Duration::from_secs(1);
    let (answered, answers) = std::sync::mpsc::channel();
    let mut arrivals: BTreeMap<(Instant, u64), (usize, u64)> = BTreeMap::new();
    let mut count = 0;
    let mut arrive = |arrivals: &mut BTreeMap<_, _>, at, who| {
        count += 1;
        arrivals.insert((at, count), who);
    };
    for (group, of) in groups.iter().enumerate() {
        for application in 0..of.applications {
            (0..of.in_flight).for_each(|_| arrive(&mut arrivals, begin, (group, application)));
        }
    }
    let mut used = vec![Duration::ZERO; groups.len()];
    let mut served: Vec<Vec<u32>> =
        groups.iter().map(|of| vec![0; of.applications as usize]).collect();
    // The end of each worker's batch, and the batch; or when to ask again.
    let mut busy: Vec<(Instant, Option<Box<dyn Batch>>)> =
        (0..workers).map(|_| (begin, None)).collect();
    let mut now = begin;
    while now < end {
        while let Some((&key, _)) = arrivals.first_key_value().filter(|((at, _), _)| *at <= now) {
            let (group, application) = arrivals.remove(&key).unwrap();
            let (key, work) = match groups[group].kind {
                SHORT => (short.clone(), edwards(vec![1; 32], vec![])),
                _ => (long.clone(), Work::Bls(vec![1])),
            };
            let number = group as u64 * 1000 + application;
            let answered = answered.clone();
            // Jobs that are left at the end answer after the receiver is gone.
            let done = move |_| answered.send((group, application)).unwrap_or_default();
            engine.submit(number, key, work, now, done);
            // A waiting worker polls, and asks again.
            busy.iter_mut().filter(|(_, batch)| batch.is_none()).for_each(|(at, _)| *at = now);
        }
        for worker in &mut busy {
            if worker.0 > now {
                continue;
            }
            if let Some(batch) = worker.1.take() {
                engine.computed(batch.kind(), batch.count(), cost(batch.kind()));
                let group = groups.iter().position(|of| of.kind == batch.kind()).unwrap();
                used[group] += cost(batch.kind());
                drop(batch);
                for (group, application) in answers.try_iter() {
                    served[group][application as usize] += 1;
                    arrive(&mut arrivals, now + TURNAROUND, (group, application));
                }
            }
            *worker = match engine.next(now) {
                Next::Batch(batch) => (now + cost(batch.kind()), Some(batch)),
                Next::Wait(rest) => (rest.map_or(end, |rest| now + rest), None),
            };
        }
        let next = arrivals.first_key_value().map(|((at, _), _)| *at);
        let next = busy.iter().map(|(at, _)| *at).chain(next).min().unwrap();
        now = next.max(now + Duration::from_nanos(1));
    }
    (used, served)
}

#[test]
fn short_operations_have_their_share_beside_long_ones() {
    for workers in [1, 2, 4] {
        let group = |kind| Group { kind, applications: 16, in_flight: 1 };
        let (used, _) = simulate(workers, &[group(SHORT), group(Kind::Bls)]);
        let total = Duration::from_secs(1) * u32::try_from(workers).unwrap();
        let shares = used.iter().map(|used| used.as_secs_f64() / total.as_secs_f64());
        let shares: Vec<f64> = shares.collect();
        // The short ones cannot use more: their clients need time to send.
        let least = if workers == 1 { 0.3 } else { 0.15 };
        assert!(shares[0] > least && shares[1] > 0.3, "{workers} workers: {shares:?}");
    }
}

#[test]
fn one_application_among_many_has_its_share() {
    for workers in [1, 2] {
        let groups = [
            Group { kind: SHORT, applications: 1, in_flight: 1 },
            Group { kind: Kind::Bls, applications: 1, in_flight: 256 },
        ];
        let (_, served) = simulate(workers, &groups);
        // Alone it would be about 9000 answers; turn by turn with batches, about 200.
        assert!(served[0][0] > 2500, "{workers} workers: {}", served[0][0]);
    }
}

#[test]
fn in_a_queue_applications_take_turns() {
    let engine = Engine::new(1);
    let key = PrivateKey::generate_bls(&mut UnwrapErr(SysRng)).unwrap();
    let now = Instant::now();
    let (answered, answers) = std::sync::mpsc::channel();
    let submit = |application| {
        let answered = answered.clone();
        let done = move |_| answered.send(application).unwrap_or_default();
        engine.submit(application, key.clone(), Work::Bls(vec![1]), now, done);
    };
    (0..256).for_each(|_| submit(1));
    submit(2);
    let Next::Batch(batch) = engine.next(now) else { panic!("it is full") };
    drop(batch);
    assert!(answers.try_iter().any(|application| application == 2));
}
