//! `cycloid profile hsm-sign`: profiles a real daemon under load, in several configurations.
//!
//! The HSM's program signs and records the times of every step; this module evaluates them.

use std::process::Command;
use std::time::Duration;

use cycloid_command::{Stop, processor};
use cycloid_lab::measure::statistics::{self, Estimate};
use cycloid_lab::record::{Parameters, Ratio};
use cycloid_lab::{environment, programs};
use cycloid_report::profile::{Configuration, FORMAT, Overhead, Profile, Report, Wait};
use serde::Deserialize;

use super::arguments::HsmSign;
use crate::child;

/// The time limit of all configurations together, for a busy machine and many signatures.
const PATIENCE: Duration = Duration::from_secs(3600);

/// The span of a batch, and the span of the exponentiations in it.
const BATCH: &str = "batch";
const EXPONENTIATION: &str = "exponentiation";

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

/// The output of `cycloid-hsm record-signatures`.
#[derive(Deserialize)]
struct Measurements {
    keys: usize,
    first: Part,
    alone: Vec<Part>,
    batched: Part,
    overhead: Cost,
}

/// The measurements of one configuration. Times are in seconds.
#[derive(Deserialize)]
struct Part {
    name: String,
    prepared: bool,
    operations: usize,
    times: Vec<f64>,
    paths: Vec<Path>,
    waits: Vec<Path>,
}

/// The spans on one path.
#[derive(Deserialize)]
struct Path {
    names: Vec<String>,
    calls: u64,
    seconds: f64,
}

/// The cost of recording.
#[derive(Deserialize)]
struct Cost {
    span_ns: f64,
    span_off_ns: f64,
    /// The times of signatures with and without recording.
    rounds: Vec<[Vec<f64>; 2]>,
}

/// Profiles all configurations.
pub(super) fn run(arguments: &HsmSign) -> Result<Report, Stop> {
    let environment = environment::current();
    let clients = usize::from(arguments.clients);
    let Measurements { keys, first, alone, batched, overhead } = measured(arguments, clients)?;
    let mut configurations = Vec::new();
    let mut profiles = vec![profile("first use, one client".into(), &first)];
    for part in &alone {
        let first = part.prepared.then_some(&*first.times);
        configurations.push(configuration(part, 1, first));
        profiles.push(profile(format!("{}, one client", part.name), part));
    }
    configurations.push(configuration(&batched, clients, None));
    profiles.push(profile(format!("batched, {clients} clients"), &batched));

    let mut notes: Vec<String> = NOTES.map(Into::into).into();
    notes.extend(outside_exponentiation(profiles.last().expect("it was pushed")));
    Ok(Report {
        format: FORMAT,
        environment,
        workload: "hsm-sign".into(),
        parameters: Parameters::from([
            ("key".into(), arguments.key.clone().into()),
            ("keys".into(), keys.into()),
        ]),
        unit: "signature".into(),
        configurations,
        profiles,
        overhead: Some(overhead.summary()),
        notes,
    })
}

/// Has the HSM's program sign in a temporary directory.
fn measured(arguments: &HsmSign, clients: usize) -> Result<Measurements, Stop> {
    let count = arguments.signatures.unwrap_or(if arguments.output.quick { 500 } else { 5000 });
    let program = programs::find(programs::HSM).map_err(Stop::Failed)?;
    let directory = tempfile::Builder::new().prefix("cycloid-profile-").tempdir();
    let directory = directory.map_err(|error| {
        Stop::failed(
            format!("cannot make a directory: {error}"),
            "check TMPDIR and the free space for temporary files",
        )
    })?;
    let mut command = Command::new(&program);
    command.arg("record-signatures").arg(directory.path()).args(["--key", &arguments.key]);
    command.args(["--signatures", &count.to_string(), "--clients", &clients.to_string()]);
    command.env(processor::VARIABLE, cycloid::cpu::level().name());
    child::run(&mut command, PATIENCE, ["cycloid-hsm", "use the same version of both programs"])
}

fn configuration(part: &Part, clients: usize, first: Option<&[f64]>) -> Configuration {
    let Estimate { value, interval } = statistics::estimate(&part.times);
    Configuration {
        name: part.name.clone(),
        clients,
        operations: part.times.len(),
        median_seconds: value,
        interval_seconds: interval,
        first_seconds: first.map(statistics::median),
        first_uses: first.map_or(0, <[f64]>::len),
    }
}

fn profile(title: String, part: &Part) -> Profile {
    let paths: Vec<(Vec<&str>, u64, f64)> = part
        .paths
        .iter()
        .map(|path| (path.names.iter().map(String::as_str).collect(), path.calls, path.seconds))
        .collect();
    let paths = paths.iter().map(|(names, calls, seconds)| (&**names, *calls, *seconds));
    let waits = part.waits.iter().map(|wait| Wait {
        name: wait.names.join(" "),
        times: wait.calls,
        seconds: wait.seconds,
    });
    Profile::from_paths(title, part.operations as u64, paths, waits.collect())
}

/// Returns a note on the share of the work outside the exponentiation, for RSA.
fn outside_exponentiation(profile: &Profile) -> Option<String> {
    let batch = profile.roots.iter().find(|root| root.name == BATCH)?;
    let powers: f64 = batch
        .children
        .iter()
        .filter(|child| child.name == EXPONENTIATION)
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

impl Cost {
    /// Returns the cost of a span, and the ratio of the rounds with recording to those without.
    fn summary(&self) -> Overhead {
        let ratio = |[with, without]: &[Vec<f64>; 2]| {
            statistics::median(with) / statistics::median(without)
        };
        let ratios: Vec<f64> = self.rounds.iter().map(ratio).collect();
        let Estimate { value, interval } = statistics::estimate(&ratios);
        Overhead {
            span_ns: Some(self.span_ns),
            span_off_ns: Some(self.span_off_ns),
            ratio: Ratio { samples: ratios.len(), median: value, interval },
        }
    }
}
