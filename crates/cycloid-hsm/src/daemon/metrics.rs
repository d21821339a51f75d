//! Metrics, as Prometheus text (exposition format 0.0.4).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::memory::Memory;
use crate::engine::{Kind, MOST};
use crate::rpc::Request;

/// The upper bounds of the histograms' buckets, in microseconds.
const BOUNDS: [u64; 12] =
    [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 1_000_000];

/// The daemon's counters.
#[derive(Debug)]
pub struct Metrics {
    /// By the place of the message's name.
    requests: [AtomicU64; Request::NAMES.len()],
    batches: Mutex<BTreeMap<Kind, Batches>>,
    latencies: Mutex<BTreeMap<Kind, Histogram>>,
    malformed: AtomicU64,
    failed_refreshes: AtomicU64,
    connections: AtomicUsize,
}

/// The state of the daemon at the moment of the question. The counters do not contain it.
#[derive(Debug)]
pub struct Gauges {
    /// The number of stored objects.
    pub objects: usize,
    /// Whether the daemon's memory is locked.
    pub memory: Memory,
    /// The number of queued jobs of each kind.
    pub queue_depths: Vec<(Kind, usize)>,
}

#[derive(Debug, Default)]
struct Batches {
    /// The number of batches, by their number of jobs.
    fills: [u64; MOST],
    seconds: f64,
}

#[derive(Debug, Default)]
struct Histogram {
    counts: [u64; BOUNDS.len() + 1],
    seconds: f64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: [const { AtomicU64::new(0) }; Request::NAMES.len()],
            batches: Mutex::default(),
            latencies: Mutex::default(),
            malformed: AtomicU64::default(),
            failed_refreshes: AtomicU64::default(),
            connections: AtomicUsize::default(),
        }
    }
}

/// The times of the jobs of a batch, from submission to outcome.
#[derive(Debug, Default)]
pub(super) struct Latencies(Histogram);

impl Latencies {
    pub(super) fn add(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.0.counts[BOUNDS.partition_point(|bound| *bound < micros)] += 1;
        self.0.seconds += took.as_secs_f64();
    }
}

fn with<T, R>(mutex: &Mutex<T>, change: impl FnOnce(&mut T) -> R) -> R {
    change(&mut mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Metrics {
    pub(super) fn request(&self, request: &Request) {
        self.requests[request.place()].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn malformed(&self) {
        self.malformed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn failed_refresh(&self) {
        self.failed_refreshes.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn connections(&self, count: usize) {
        self.connections.store(count, Ordering::Relaxed);
    }

    pub(super) fn batch(&self, kind: Kind, count: usize, took: Duration) {
        with(&self.batches, |batches| {
            let batches = batches.entry(kind).or_default();
            batches.fills[count.clamp(1, MOST) - 1] += 1;
            batches.seconds += took.as_secs_f64();
        });
    }

    /// Records the latencies of a batch.
    pub(super) fn latencies(&self, kind: Kind, of: &Latencies) {
        with(&self.latencies, |latencies| {
            let histogram = latencies.entry(kind).or_default();
            for (count, more) in histogram.counts.iter_mut().zip(of.0.counts) {
                *count += more;
            }
            histogram.seconds += of.0.seconds;
        });
    }

    /// Returns all metrics as text.
    pub fn text(&self, gauges: &Gauges) -> String {
        let mut text = String::new();
        self.write(&mut text, gauges).expect("strings take everything");
        text
    }

    fn write(&self, text: &mut String, gauges: &Gauges) -> std::fmt::Result {
        let family = |text: &mut String, name: &str, kind: &str, help: &str| {
            write!(text, "# HELP cycloid_hsm_{name} {help}\n# TYPE cycloid_hsm_{name} {kind}\n")
        };
        family(text, "requests_total", "counter", "Requests by message.")?;
        let counts = self.requests.iter().map(|count| count.load(Ordering::Relaxed));
        let mut counts: Vec<_> = Request::NAMES.iter().zip(counts).collect();
        counts.retain(|(_, count)| *count > 0);
        counts.sort_unstable();
        for (name, count) in counts {
            writeln!(text, "cycloid_hsm_requests_total{{message=\"{name}\"}} {count}")?;
        }
        family(text, "malformed_total", "counter", "Malformed messages.")?;
        writeln!(text, "cycloid_hsm_malformed_total {}", self.malformed.load(Ordering::Relaxed))?;
        family(text, "failed_refreshes_total", "counter", "Times the database could not be read.")?;
        let failed = self.failed_refreshes.load(Ordering::Relaxed);
        writeln!(text, "cycloid_hsm_failed_refreshes_total {failed}")?;
        family(text, "connections", "gauge", "Open connections.")?;
        writeln!(text, "cycloid_hsm_connections {}", self.connections.load(Ordering::Relaxed))?;
        family(text, "objects", "gauge", "Stored objects.")?;
        writeln!(text, "cycloid_hsm_objects {}", gauges.objects)?;
        family(text, "memory_locked", "gauge", "1 if all memory of the daemon is locked.")?;
        let locked = u8::from(gauges.memory == Memory::Locked);
        writeln!(text, "cycloid_hsm_memory_locked {locked}")?;
        family(text, "queue_depth", "gauge", "Queued jobs, by kind.")?;
        for (kind, depth) in &gauges.queue_depths {
            writeln!(text, "cycloid_hsm_queue_depth{{kind=\"{kind}\"}} {depth}")?;
        }
        family(text, "batches_total", "counter", "Batches, by kind and number of jobs.")?;
        with(&self.batches, |batches| {
            batches.iter().try_for_each(|(kind, batches)| {
                batches.fills.iter().zip(1..).filter(|(count, _)| **count > 0).try_for_each(
                    |(count, fill)| {
                        writeln!(
                            text,
                            "cycloid_hsm_batches_total{{kind=\"{kind}\",fill=\"{fill}\"}} {count}"
                        )
                    },
                )
            })
        })?;
        family(text, "compute_seconds_total", "counter", "Time spent computing, by kind.")?;
        with(&self.batches, |batches| {
            batches.iter().try_for_each(|(kind, batches)| {
                let seconds = batches.seconds;
                writeln!(text, "cycloid_hsm_compute_seconds_total{{kind=\"{kind}\"}} {seconds}")
            })
        })?;
        family(text, "latency_seconds", "histogram", "Time from request to outcome, by kind.")?;
        with(&self.latencies, |latencies| {
            latencies.iter().try_for_each(|(kind, histogram)| {
                let mut total = 0;
                for (count, bound) in histogram.counts.iter().zip(BOUNDS) {
                    total += count;
                    let bound = bound as f64 / 1e6;
                    writeln!(
                        text,
                        "cycloid_hsm_latency_seconds_bucket{{kind=\"{kind}\",le=\"{bound}\"}} {total}"
                    )?;
                }
                total += histogram.counts[BOUNDS.len()];
                writeln!(
                    text,
                    "cycloid_hsm_latency_seconds_bucket{{kind=\"{kind}\",le=\"+Inf\"}} {total}\n\
                     cycloid_hsm_latency_seconds_sum{{kind=\"{kind}\"}} {}\n\
                     cycloid_hsm_latency_seconds_count{{kind=\"{kind}\"}} {total}",
                    histogram.seconds
                )
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::Template;

    /// Returns the samples of a family without the prefix of its name, each with its value.
    fn samples(text: &str, family: &str) -> Vec<(String, f64)> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("cycloid_hsm_"));
        lines
            .filter(|line| line.starts_with(family))
            .map(|line| line.rsplit_once(' ').unwrap())
            .map(|(name, value)| (name.into(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn the_text_has_every_count() {
        let metrics = Metrics::default();
        let find = Request::Find { template: Template::new(), page: None };
        let sign_many = Request::SignMany { requests: Vec::new() };
        [&sign_many, &find, &sign_many].into_iter().for_each(|request| metrics.request(request));
        metrics.malformed();
        metrics.connections(3);
        metrics.batch(Kind::Ed25519, 8, Duration::from_millis(250));
        metrics.batch(Kind::Ed25519, 8, Duration::from_millis(250));
        metrics.batch(Kind::Ed25519, 1, Duration::from_millis(500));
        let gauges =
            Gauges { objects: 7, memory: Memory::Locked, queue_depths: vec![(Kind::Bls, 2)] };
        let text = metrics.text(&gauges);
        for (family, expected) in [
            (
                "requests",
                vec![("_total{message=\"Find\"}", 1.), ("_total{message=\"SignMany\"}", 2.)],
            ),
            ("malformed", vec![("_total", 1.)]),
            ("failed_refreshes", vec![("_total", 0.)]),
            ("connections", vec![("", 3.)]),
            ("objects", vec![("", 7.)]),
            ("memory_locked", vec![("", 1.)]),
            ("queue_depth", vec![("{kind=\"bls12-381\"}", 2.)]),
            (
                "batches",
                vec![
                    ("_total{kind=\"ed25519\",fill=\"1\"}", 1.),
                    ("_total{kind=\"ed25519\",fill=\"8\"}", 2.),
                ],
            ),
            ("compute_seconds", vec![("_total{kind=\"ed25519\"}", 1.)]),
            ("latency", vec![]),
        ] {
            let expected =
                expected.into_iter().map(|(rest, value)| (format!("{family}{rest}"), value));
            assert_eq!(samples(&text, family), expected.collect::<Vec<_>>());
        }
        let families = text.lines().filter(|line| line.starts_with("# TYPE ")).count();
        assert_eq!(families, 10);
    }

    #[test]
    fn a_histogram_counts_each_time_in_its_bucket_and_all_above() {
        let metrics = Metrics::default();
        // On a bound, between two bounds, and beyond the last.
        for batch in [vec![100, 101], vec![3_000_000]] {
            let mut latencies = Latencies::default();
            batch.into_iter().for_each(|micros| latencies.add(Duration::from_micros(micros)));
            metrics.latencies(Kind::Bls, &latencies);
        }
        let gauges = Gauges { objects: 0, memory: Memory::Locked, queue_depths: vec![] };
        let text = metrics.text(&gauges);
        let bucket = |bound| {
            let name = format!("latency_seconds_bucket{{kind=\"bls12-381\",le=\"{bound}\"}}");
            samples(&text, &name).into_iter().map(|(_, count)| count).collect::<Vec<_>>()
        };
        let counts = ["0.00005", "0.0001", "0.00025", "1", "+Inf"].map(bucket);
        assert_eq!(counts, [[0.], [1.], [2.], [2.], [3.]]);
        assert_eq!(samples(&text, "latency_seconds_bucket").len(), BOUNDS.len() + 1);
        assert_eq!(samples(&text, "latency_seconds_count")[0].1, 3.);
        assert!((samples(&text, "latency_seconds_sum")[0].1 - 3.000_201).abs() < 1e-9);
    }
}
