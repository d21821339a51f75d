//! `cycloid profile hsm-sign`: a real daemon under clients, in several configurations.

use std::hint::black_box;
use std::time::Instant;

use cycloid_hsm::spans::{self, Recording, Span};
use cycloid_lab::environment;
use cycloid_lab::measure::statistics::{self, Estimate};
use cycloid_lab::profile::{Configuration, FORMAT, Overhead, Profile, Report, Wait};
use cycloid_lab::record::{Parameters, Ratio};

use super::arguments::HsmSign;
use super::bed::{Bed, Running, Signed};
use crate::output::Stop;

/// Different keys, so that a batch has one of its own for each lane.
const KEYS: usize = 8;

/// Keys that a daemon keeps ready if it keeps any.
const PREPARED: usize = 4096;

/// How often a daemon is started anew for first uses.
const STARTS: usize = 5;

/// Turns with recording and without.
const TURNS: usize = 12;

const NOTES: [&str; 6] = [
    "unwrap every time: before each signature the master key is unsealed with the key file, and the \
     signing key is read, opened and prepared. master key cached: the signing key is read, opened and \
     prepared for each signature. prepared keys cached: as the daemon works, for one client",
    "batched: as the daemon works, for many clients; the time of a signature is that between the first \
     and the last of as many answers as there are clients, by their number, clients' work included",
    "first use: with a key that the daemon, freshly started, has not used before",
    "a span is processor time of its thread, the system's work for it included; it stands still while \
     another thread has the processor. Time is attributed by the path that it was measured on, never by \
     call counts; waiting is by the time of day",
    "blinding: of messages and results, drawing and squaring the factors. exponentiation: the powers \
     modulo both primes. verification: results raised to the public exponent, or signatures on curves \
     verified. unwrap: a record read from the database and opened. decode: the key made ready",
    "queue: from the place in a queue until a batch takes the job. idle: workers that wait for sockets",
];

/// One way to run the daemon.
struct Way {
    name: &'static str,
    prepared: usize,
    unlock: bool,
}

const ALONE: [Way; 3] = [
    Way { name: "unwrap every time", prepared: 0, unlock: true },
    Way { name: "master key cached", prepared: 0, unlock: false },
    Way { name: "prepared keys cached", prepared: PREPARED, unlock: false },
];

/// Runs all of it.
pub(super) fn run(arguments: &HsmSign) -> Result<Report, Stop> {
    let environment = environment::current();
    let quick = arguments.output.quick;
    let count = arguments.signatures.map_or(if quick { 500 } else { 5000 }, |n| n as usize);
    let clients = usize::from(arguments.clients);
    let bed = Bed::new(&arguments.key, KEYS)?;
    let mut configurations = Vec::new();
    let mut profiles = Vec::new();

    let (first, recording) = first_uses(&bed)?;
    let title = "first use, one client".to_owned();
    profiles.push(profile(title, first.len(), recording));
    for way in &ALONE {
        let running = bed.start(way.prepared)?;
        let (times, recording) = alone(&running, way, count)?;
        let first = (way.prepared > 0).then_some(&*first);
        configurations.push(configuration(way.name, 1, &times, first));
        profiles.push(profile(format!("{}, one client", way.name), count, recording));
    }
    let running = bed.start(PREPARED)?;
    // What happens only once has happened before.
    running.sign_together(clients, 4 * clients)?;
    spans::start();
    let signed = running.sign_together(clients, count)?;
    let recording = spans::stop();
    let times = together(&signed, clients);
    configurations.push(configuration("batched", clients, &times, None));
    let title = format!("batched, {clients} clients");
    profiles.push(profile(title, signed.len(), recording));

    let mut notes: Vec<String> = NOTES.map(Into::into).into();
    notes.extend(outside_exponentiation(profiles.last().expect("it was pushed")));
    Ok(Report {
        format: FORMAT,
        environment,
        workload: "hsm-sign".into(),
        parameters: Parameters::from([
            ("key".into(), arguments.key.clone().into()),
            ("keys".into(), KEYS.into()),
        ]),
        unit: "signature".into(),
        configurations,
        profiles,
        overhead: Some(overhead(&running, clients, count.min(1000))?),
        notes,
    })
}

/// Seconds of the first signature with each key, of daemons that were freshly started.
fn first_uses(bed: &Bed) -> Result<(Vec<f64>, Recording), Stop> {
    let mut times = Vec::new();
    spans::start();
    for _ in 0..STARTS {
        let running = bed.start(PREPARED)?;
        for number in 0..bed.keys() {
            times.push(seconds(running.sign(number)?));
        }
    }
    Ok((times, spans::stop()))
}

/// Seconds of signatures one after the other.
fn alone(running: &Running<'_>, way: &Way, count: usize) -> Result<(Vec<f64>, Recording), Stop> {
    let sign = |number| {
        let start = Instant::now();
        if way.unlock {
            running.unlock()?;
        }
        let Signed { answered, .. } = running.sign(number)?;
        Ok((answered - start).as_secs_f64())
    };
    // First uses are looked at by themselves.
    (0..KEYS).try_for_each(|number| sign(number).map(drop))?;
    spans::start();
    let times = (0..count).map(sign).collect::<Result<_, Stop>>();
    let recording = spans::stop();
    Ok((times?, recording))
}

/// For each signature but the last ones, a share of the time until as many came as there are clients.
fn together(signed: &[Signed], clients: usize) -> Vec<f64> {
    let pairs = signed.iter().zip(&signed[clients..]);
    pairs.map(|(a, b)| (b.answered - a.answered).as_secs_f64() / clients as f64).collect()
}

fn seconds(signed: Signed) -> f64 {
    (signed.answered - signed.asked).as_secs_f64()
}

fn configuration(
    name: &str,
    clients: usize,
    times: &[f64],
    first: Option<&[f64]>,
) -> Configuration {
    let Estimate { value, interval } = statistics::estimate(times);
    Configuration {
        name: name.into(),
        clients,
        operations: times.len(),
        median_seconds: value,
        interval_seconds: interval,
        first_seconds: first.map(statistics::median),
        first_uses: first.map_or(0, <[f64]>::len),
    }
}

fn profile(title: String, operations: usize, recording: Recording) -> Profile {
    let Recording { paths, waits } = recording;
    let paths = paths.iter().map(|path| (&*path.names, path.calls, path.time.as_secs_f64()));
    let waits = waits.iter().map(|wait| Wait {
        name: wait.names.join(" "),
        times: wait.calls,
        seconds: wait.time.as_secs_f64(),
    });
    Profile::from_paths(title, operations as u64, paths, waits.collect())
}

/// The part of the work that is not exponentiation, for RSA.
fn outside_exponentiation(profile: &Profile) -> Option<String> {
    let batch = profile.roots.iter().find(|root| root.name == Span::Batch.name())?;
    let powers: f64 = batch
        .children
        .iter()
        .filter(|child| child.name == Span::Exponentiation.name())
        .map(|child| child.seconds)
        .sum();
    let share = |whole: f64| 100.0 * (whole - powers) / whole;
    (powers > 0.0).then(|| {
        format!(
            "outside the exponentiation, {}: {:.1} % of the workers' work, {:.1} % of the batches'",
            profile.title,
            share(profile.seconds()),
            share(batch.seconds)
        )
    })
}

/// What recording costs: by itself, and in turns with and without.
fn overhead(running: &Running<'_>, clients: usize, count: usize) -> Result<Overhead, Stop> {
    const SPANS: u32 = 200_000;
    let span = || {
        let start = Instant::now();
        let _outer = spans::enter(Span::Batch);
        for _ in 0..SPANS {
            drop(black_box(spans::enter(Span::Reply)));
        }
        start.elapsed().as_nanos() as f64 / f64::from(SPANS)
    };
    let span_off_ns = span();
    spans::start();
    let span_ns = span();
    let _ = spans::stop();

    let mut ratios = Vec::new();
    for turn in 0..TURNS {
        let time = |recorded: bool| -> Result<f64, Stop> {
            if recorded {
                spans::start();
            }
            let signed = running.sign_together(clients, count);
            if recorded {
                let _ = spans::stop();
            }
            Ok(statistics::median(&together(&signed?, clients)))
        };
        // Who comes first changes, so that what changes with time falls on both.
        let (with, without) = if turn % 2 == 0 {
            (time(true)?, time(false)?)
        } else {
            let without = time(false)?;
            (time(true)?, without)
        };
        ratios.push(with / without);
    }
    let Estimate { value, interval } = statistics::estimate(&ratios);
    let ratio = Ratio { samples: ratios.len(), median: value, interval };
    Ok(Overhead { span_ns: Some(span_ns), span_off_ns: Some(span_off_ns), ratio })
}
