//! `cycloid profile hsm-sign`: profiles a real daemon under load, in several configurations.

use std::hint::black_box;
use std::time::Instant;

use cycloid_hsm::spans::{self, Recording, Span};
use cycloid_lab::environment;
use cycloid_lab::measure::statistics::{self, Estimate};
use cycloid_lab::profile::{Configuration, FORMAT, Overhead, Profile, Report, Wait};
use cycloid_lab::record::{Parameters, Ratio};

use super::arguments::HsmSign;
use super::temporary_daemon::{Running, Signed, TemporaryKeystore};
use crate::output::Stop;

/// The number of keys: one for each lane of a batch.
const KEYS: usize = 8;

/// The capacity of the daemon's key cache in the configurations that have one.
const PREPARED: usize = 4096;

/// The number of daemon starts for the first-use measurements.
const STARTS: usize = 5;

/// The number of rounds with and without recording.
const TURNS: usize = 12;

const NOTES: [&str; 6] = [
    "unwrap every time: before each signature the master key is unsealed with the key file, and the \
     signing key is read, opened and prepared. master key cached: the signing key is read, opened and \
     prepared for each signature. prepared keys cached: the daemon's normal operation, with one client",
    "batched: the daemon's normal operation, with many clients; the time of a signature is the time \
     from an answer to the one that follows it by as many answers as there are clients, divided by the \
     number of clients, and includes the clients' work",
    "first use: the first signature with each key after the daemon has started",
    "a span is processor time of its thread, including the system's work for it; it stops while \
     another thread has the processor. Time is attributed to the path that it was measured on, never \
     by call counts; waiting is wall-clock time",
    "blinding: of messages and results, drawing and squaring the factors. exponentiation: the powers \
     modulo both primes. verification: results raised to the public exponent, or signatures on curves \
     verified. unwrap: a record read from the database and opened. decode: the key prepared for use",
    "queue: from entering a queue until a batch takes the job. idle: workers that wait for sockets",
];

/// A configuration of the daemon for one client.
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

/// Profiles all configurations.
pub(super) fn run(arguments: &HsmSign) -> Result<Report, Stop> {
    let environment = environment::current();
    let quick = arguments.output.quick;
    let count = arguments.signatures.map_or(if quick { 500 } else { 5000 }, |n| n as usize);
    let clients = usize::from(arguments.clients);
    let keystore = TemporaryKeystore::new(&arguments.key, KEYS)?;
    let mut configurations = Vec::new();
    let mut profiles = Vec::new();

    let (first, recording) = first_uses(&keystore)?;
    let title = "first use, one client".to_owned();
    profiles.push(profile(title, first.len(), recording));
    for way in &ALONE {
        let running = keystore.start(way.prepared)?;
        let (times, recording) = alone(&running, way, count)?;
        let first = (way.prepared > 0).then_some(&*first);
        configurations.push(configuration(way.name, 1, &times, first));
        profiles.push(profile(format!("{}, one client", way.name), count, recording));
    }
    let running = keystore.start(PREPARED)?;
    // A warm-up keeps one-time work out of the recording.
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

/// Returns the seconds of the first signature with each key, for freshly started daemons.
fn first_uses(keystore: &TemporaryKeystore) -> Result<(Vec<f64>, Recording), Stop> {
    let mut times = Vec::new();
    spans::start();
    for _ in 0..STARTS {
        let running = keystore.start(PREPARED)?;
        for number in 0..keystore.keys() {
            times.push(seconds(running.sign(number)?));
        }
    }
    Ok((times, spans::stop()))
}

/// Returns the seconds of consecutive signatures by one client.
fn alone(running: &Running<'_>, way: &Way, count: usize) -> Result<(Vec<f64>, Recording), Stop> {
    let sign = |number| {
        let start = Instant::now();
        if way.unlock {
            running.unlock()?;
        }
        let Signed { answered, .. } = running.sign(number)?;
        Ok((answered - start).as_secs_f64())
    };
    // First uses are measured separately.
    (0..KEYS).try_for_each(|number| sign(number).map(drop))?;
    spans::start();
    let times = (0..count).map(sign).collect::<Result<_, Stop>>();
    let recording = spans::stop();
    Ok((times?, recording))
}

/// Returns, for each signature except the last `clients`, the time until `clients` more answers
/// arrived, divided by `clients`.
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

/// Returns a note on the share of the work outside the exponentiation, for RSA.
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

/// Measures the cost of recording: per span, and as a ratio of alternating rounds with and without
/// it.
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
        // The order alternates, so that drift affects both sides equally.
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
