//! Samples of a service: rates, latencies and processor time for a number of clients.

use serde::{Deserialize, Serialize};

use super::subjects::{ratio, rounded};
use crate::measure::statistics;
use crate::record::{Ratio, Service};

/// What the clients of a service did in a window of time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Loaded {
    /// The length of the window.
    pub seconds: f64,
    /// Processor time of clients and service in the window.
    pub processor_seconds: f64,
    /// Nanoseconds from request to response, for each operation completed in the window.
    pub latencies: Vec<u64>,
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
