//! Samples of a service: rates, latencies and processor time for a number of clients.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::subjects::{ratio, rounded};
use crate::measure::{clock, statistics};
use crate::record::{Ratio, Service};

/// The operations that the clients of a service completed in a window of time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Loaded {
    /// The length of the window.
    pub seconds: f64,
    /// Processor time of clients and service in the window.
    pub processor_seconds: f64,
    /// Nanoseconds from request to response, for each operation completed in the window.
    pub latencies: Vec<u64>,
}

/// Lets clients work side by side. `prepare` makes the client of a number; the returned function works
/// until it is stopped, and returns the times of each request and response. The clock starts after
/// `lead`, and only operations completed within `window` count. The processor time is that of this
/// process and of the process `service`.
///
/// # Errors
/// That of the first client that fails.
pub fn load<Work>(
    clients: usize,
    [lead, window]: [Duration; 2],
    service: Option<u32>,
    prepare: impl Fn(usize) -> Result<Work, String> + Sync,
) -> Result<Loaded, String>
where
    Work: FnOnce(&AtomicBool) -> Result<Vec<(Instant, Instant)>, String>,
{
    let (go, stop) = (Barrier::new(clients + 1), AtomicBool::new(false));
    let processor_time = || {
        let own = clock::of_process(std::process::id()).unwrap_or_default();
        own + service.and_then(clock::of_process).unwrap_or_default()
    };
    thread::scope(|scope| {
        let client = |number| {
            let (go, stop, prepare) = (&go, &stop, &prepare);
            move || {
                let prepared = prepare(number);
                go.wait();
                prepared?(stop)
            }
        };
        let clients: Vec<_> = (0..clients).map(|number| scope.spawn(client(number))).collect();
        go.wait();
        thread::sleep(lead);
        let (processor, start) = (processor_time(), Instant::now());
        thread::sleep(window);
        let (processor, end) = (processor_time().saturating_sub(processor), Instant::now());
        stop.store(true, Ordering::Relaxed);
        let mut latencies = Vec::new();
        for client in clients {
            let times = client.join().map_err(|_| "a client panicked")??;
            let within = times.iter().filter(|(_, answered)| (start..end).contains(answered));
            latencies
                .extend(within.map(|(asked, answered)| (*answered - *asked).as_nanos() as u64));
        }
        Ok(Loaded {
            seconds: (end - start).as_secs_f64(),
            processor_seconds: processor.as_secs_f64(),
            latencies,
        })
    })
}

/// The samples of one service: a time for each round, and every latency.
#[derive(Debug, Default)]
pub struct Samples {
    /// Nanoseconds per operation: the window's length divided by its number of operations.
    pub times: Vec<f64>,
    latencies: Vec<u64>,
    processor_seconds: f64,
}

impl Samples {
    /// Adds a round.
    pub fn add(&mut self, loaded: Loaded) {
        self.times.push(loaded.seconds * 1e9 / loaded.latencies.len() as f64);
        self.processor_seconds += loaded.processor_seconds;
        self.latencies.extend(loaded.latencies);
    }

    /// Returns the times relative to those of the same rounds.
    pub fn ratio(&self, reference: &Self) -> Ratio {
        let ratios: Vec<f64> =
            self.times.iter().zip(&reference.times).map(|(time, other)| time / other).collect();
        ratio(ratios.len(), statistics::estimate(&ratios))
    }

    /// Returns what the clients observed in all rounds.
    pub fn service(&self, clients: usize) -> Service {
        let mut latencies = self.latencies.clone();
        latencies.sort_unstable();
        // The least latency that is not exceeded by this share.
        let quantile = |share: f64| {
            let rank = (latencies.len() as f64 * share).ceil() as usize;
            latencies[rank.clamp(1, latencies.len()) - 1] as f64
        };
        Service {
            clients,
            answers: latencies.len(),
            latency_median_ns: quantile(0.5),
            latency_p99_ns: quantile(0.99),
            processor_ns: rounded(self.processor_seconds * 1e9 / latencies.len() as f64, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(count: usize, seconds: f64) -> Loaded {
        let latencies = (1..=count as u64).map(|i| i * 1_000_000).collect();
        Loaded { seconds, processor_seconds: seconds / 2.0, latencies }
    }

    #[test]
    fn rates_latencies_and_processor_time_cover_all_rounds() {
        let mut samples = Samples::default();
        samples.add(loaded(100, 0.5));
        samples.add(loaded(100, 0.25));
        assert_eq!(samples.times, [5e6, 2.5e6]);
        let service = samples.service(3);
        assert_eq!((service.clients, service.answers), (3, 200));
        assert_eq!((service.latency_median_ns, service.latency_p99_ns), (50e6, 99e6));
        assert_eq!(service.processor_ns, 0.375e9 / 200.0);
    }

    #[test]
    fn only_what_is_completed_within_the_window_counts() {
        let no_wait = [Duration::ZERO; 2];
        // Operations that end before the clock starts, and after it has stopped.
        let early = Instant::now();
        let loaded = load(3, no_wait, None, |_| {
            Ok(|stop: &AtomicBool| {
                while !stop.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                Ok(vec![(early, early), (early, Instant::now())])
            })
        });
        assert_eq!(loaded.unwrap().latencies, [0; 0]);
        // On a busy machine, a window may pass without an operation.
        let window = [Duration::ZERO, Duration::from_millis(50)];
        let work = |number| {
            let length = Duration::from_nanos(number as u64 + 1);
            Ok(move |stop: &AtomicBool| {
                let mut times = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let now = Instant::now();
                    times.push((now - length, now));
                    thread::sleep(Duration::from_millis(1));
                }
                Ok(times)
            })
        };
        let mut latencies = (0..100).map(|_| load(2, window, None, work).unwrap().latencies);
        let latencies = latencies.find(|latencies| !latencies.is_empty()).unwrap();
        assert!(latencies.iter().all(|latency| [1, 2].contains(latency)));
    }

    #[test]
    fn a_client_that_fails_fails_the_load() {
        type Never = fn(&AtomicBool) -> Result<Vec<(Instant, Instant)>, String>;
        let refused = load(4, [Duration::ZERO; 2], None, |number| match number {
            2 => Err("not here".into()),
            _ => Ok((|_: &AtomicBool| Ok(Vec::new())) as Never),
        });
        assert_eq!(refused.unwrap_err(), "not here");
    }

    #[test]
    fn a_peer_is_compared_round_by_round() {
        let (mut ours, mut peer) = (Samples::default(), Samples::default());
        for slow in [1.0, 3.0, 2.0] {
            ours.add(loaded(100, slow));
            peer.add(loaded(50, slow));
        }
        let ratio = peer.ratio(&ours);
        assert_eq!((ratio.samples, ratio.median, ratio.interval), (3, 2.0, [2.0, 2.0]));
    }
}
