//! `cycloid-hsm record-signatures`: signs with daemons on a temporary keystore, in several
//! configurations, and prints the raw times of every step as JSON. `cycloid profile hsm-sign`
//! evaluates them.

use std::hint::black_box;
use std::time::Instant;

use cycloid_command::{Stop, output};
use cycloid_hsm::spans::{self, Recording, Span};
use serde::Serialize;

use crate::arguments::RecordSignatures;
use crate::temporary_keystore::{Running, Signed, TemporaryKeystore};

/// The number of keys: one for each lane of a batch.
const KEYS: usize = 8;

/// The capacity of the daemon's key cache in the configurations that have one.
const PREPARED: usize = 4096;

/// The number of daemon starts for the first-use measurements.
const STARTS: usize = 5;

/// The number of rounds with and without recording.
const TURNS: usize = 12;

/// The number of empty spans whose cost is measured.
const SPANS: u32 = 200_000;

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

/// The output of this command.
#[derive(Serialize)]
struct Measurements {
    keys: usize,
    /// The first signature with each key after the daemon has started.
    first: Part,
    alone: Vec<Part>,
    batched: Part,
    overhead: Overhead,
}

/// The measurements of one configuration. Times are in seconds.
#[derive(Serialize)]
struct Part {
    name: &'static str,
    /// Whether the daemon caches unwrapped keys.
    prepared: bool,
    operations: usize,
    times: Vec<f64>,
    paths: Vec<Path>,
    waits: Vec<Path>,
}

/// The spans on one path.
#[derive(Serialize)]
struct Path {
    names: Vec<&'static str>,
    calls: u64,
    seconds: f64,
}

/// The cost of recording.
#[derive(Serialize)]
struct Overhead {
    span_ns: f64,
    span_off_ns: f64,
    /// The times of signatures in alternating rounds with and without recording.
    rounds: Vec<[Vec<f64>; 2]>,
}

pub(super) fn run(arguments: &RecordSignatures) -> Result<(), Stop> {
    let RecordSignatures { directory, key, signatures, clients } = arguments;
    let (count, clients) = (*signatures as usize, usize::from(*clients));
    let keystore = TemporaryKeystore::new(directory, key, KEYS)?;
    let first = first_uses(&keystore)?;
    let mut alone = Vec::new();
    for way in &ALONE {
        alone.push(one_client(&keystore.start(way.prepared)?, way, count)?);
    }
    let running = keystore.start(PREPARED)?;
    let few = 4 * clients;
    // A warm-up keeps one-time work out of the recording.
    running.sign_together(clients, few)?;
    spans::start();
    let signed = running.sign_together(clients, count.max(few))?;
    let recording = spans::stop();
    let batched = Part::new("batched", true, signed.len(), together(&signed, clients), recording);
    let overhead = overhead(&running, clients, count.min(1000).max(few))?;
    let measurements = Measurements { keys: KEYS, first, alone, batched, overhead };
    output::print(&(serde_json::to_string(&measurements).expect("it is plain data") + "\n"))
}

impl Part {
    fn new(
        name: &'static str,
        prepared: bool,
        operations: usize,
        times: Vec<f64>,
        recording: Recording,
    ) -> Self {
        let plain = |path: spans::Path| Path {
            names: path.names,
            calls: path.calls,
            seconds: path.time.as_secs_f64(),
        };
        let Recording { paths, waits } = recording;
        Self {
            name,
            prepared,
            operations,
            times,
            paths: paths.into_iter().map(plain).collect(),
            waits: waits.into_iter().map(plain).collect(),
        }
    }
}

/// Measures the first signature with each key, for freshly started daemons.
fn first_uses(keystore: &TemporaryKeystore) -> Result<Part, Stop> {
    let mut times = Vec::new();
    spans::start();
    for _ in 0..STARTS {
        let running = keystore.start(PREPARED)?;
        for number in 0..keystore.keys() {
            let Signed { asked, answered } = running.sign(number)?;
            times.push((answered - asked).as_secs_f64());
        }
    }
    Ok(Part::new("first use", true, times.len(), times, spans::stop()))
}

/// Measures consecutive signatures by one client.
fn one_client(running: &Running<'_>, way: &Way, count: usize) -> Result<Part, Stop> {
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
    Ok(Part::new(way.name, way.prepared > 0, count, times?, recording))
}

/// Returns, for each signature except the last `clients`, the time until `clients` more answers
/// arrived, divided by `clients`.
fn together(signed: &[Signed], clients: usize) -> Vec<f64> {
    let pairs = signed.iter().zip(&signed[clients..]);
    pairs.map(|(a, b)| (b.answered - a.answered).as_secs_f64() / clients as f64).collect()
}

/// Measures the cost of recording: per span, and in alternating rounds with and without it.
fn overhead(running: &Running<'_>, clients: usize, count: usize) -> Result<Overhead, Stop> {
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

    let mut rounds = Vec::new();
    for turn in 0..TURNS {
        let times = |recorded: bool| -> Result<Vec<f64>, Stop> {
            if recorded {
                spans::start();
            }
            let signed = running.sign_together(clients, count);
            if recorded {
                let _ = spans::stop();
            }
            Ok(together(&signed?, clients))
        };
        // The order alternates, so that drift affects both sides equally.
        rounds.push(if turn % 2 == 0 {
            [times(true)?, times(false)?]
        } else {
            let without = times(false)?;
            [times(true)?, without]
        });
    }
    Ok(Overhead { span_ns, span_off_ns, rounds })
}
