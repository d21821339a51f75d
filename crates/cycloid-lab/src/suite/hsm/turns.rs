//! Turns: each module signs for a short while, again and again, in a new random order every round.

use std::time::Duration;

use super::bed::Driver;
use super::driver::{Answer, Load, Loaded, Order};
use super::key::KeyKind;
use crate::measure::random::Random;
use crate::measure::statistics;
use crate::record::{Ratio, Service};
use crate::suite::Effort;
use crate::suite::subjects::{ratio, rounded};
use crate::{Failure, interrupt};

/// How many rounds, and how long a turn's clock runs at least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) rounds: usize,
    window: Duration,
}

/// How long all clients sign before the clock starts, at least.
const LEAD: Duration = Duration::from_millis(30);

/// How long a clock runs at most.
const LONGEST: Duration = Duration::from_secs(10);

impl Pace {
    pub(super) const fn of(effort: Effort) -> Self {
        let (rounds, window) = match effort {
            Effort::Quick => (5, 60),
            Effort::Plain => (5, 100),
            Effort::Full => (15, 500),
        };
        Self { rounds, window: Duration::from_millis(window) }
    }

    /// How long three subjects take, roughly.
    pub(super) fn whole(self) -> Duration {
        3 * (self.rounds as u32 + 1) * (self.window + LEAD)
    }
}

/// What was measured of one module: a number for each round, and every latency.
#[derive(Default)]
pub(super) struct Samples {
    /// Nanoseconds for one signature: how long the clock ran by how many came.
    pub(super) times: Vec<f64>,
    latencies: Vec<u64>,
    processor_seconds: f64,
}

impl Samples {
    pub(super) fn add(&mut self, loaded: Loaded) {
        self.times.push(loaded.seconds * 1e9 / loaded.latencies.len() as f64);
        self.processor_seconds += loaded.processor_seconds;
        self.latencies.extend(loaded.latencies);
    }

    /// The times in proportion to those of the same rounds.
    pub(super) fn ratio(&self, reference: &Self) -> Ratio {
        let ratios: Vec<f64> =
            self.times.iter().zip(&reference.times).map(|(time, other)| time / other).collect();
        ratio(ratios.len(), statistics::estimate(&ratios))
    }

    pub(super) fn service(&self, clients: usize) -> Service {
        let mut latencies = self.latencies.clone();
        latencies.sort_unstable();
        // The least latency that so many do not exceed.
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

/// What was measured of all of them.
pub(super) struct Turns {
    /// In the order of the drivers.
    pub(super) samples: Vec<Samples>,
    /// The first of them once more.
    pub(super) control: Samples,
}

/// Lets the drivers sign in turn; the first of them twice a round.
pub(super) fn take(
    drivers: &mut [Driver],
    key: KeyKind,
    clients: usize,
    pace: Pace,
    progress: &mut dyn FnMut(f64),
) -> Result<Turns, Failure> {
    // A clock that stops before anything came runs for longer.
    let sign = |driver: &mut Driver, lead, mut window: Duration| {
        interrupt::check()?;
        loop {
            match driver.order(&Order::Load(Load { key, clients, lead, window }))? {
                Answer::Loaded(loaded) if !loaded.latencies.is_empty() => return Ok(loaded),
                Answer::Loaded(_) if window < LONGEST => window *= 2,
                Answer::Loaded(_) => {
                    return Err(Failure::new(
                        format!("{} has no signature in {} s", driver.name(), window.as_secs()),
                        "the machine is too busy: try again later",
                    ));
                }
                _ => return Err(super::confused()),
            }
        }
    };
    // The first turn of each says how long a signature takes, and what happens only once happens in it.
    let mut paces = Vec::new();
    for driver in &mut *drivers {
        let first = sign(driver, LEAD, pace.window.max(4 * LEAD))?;
        let slowest = Duration::from_nanos(first.latencies.iter().copied().max().unwrap_or(0));
        paces.push((LEAD.max(slowest.mul_f64(1.5)), pace.window.max(2 * slowest)));
    }
    let mut random = Random::new(clients as u64);
    let mut samples: Vec<Samples> = drivers.iter().map(|_| Samples::default()).collect();
    let mut control = Samples::default();
    for round in 0..pace.rounds {
        let mut order: Vec<usize> = (0..=drivers.len()).collect();
        random.shuffle(&mut order);
        for i in order {
            let (index, to) = match samples.get_mut(i) {
                Some(samples) => (i, samples),
                None => (0, &mut control),
            };
            let (lead, window) = paces[index];
            to.add(sign(&mut drivers[index], lead, window)?);
        }
        progress((round + 1) as f64 / pace.rounds as f64);
    }
    Ok(Turns { samples, control })
}
