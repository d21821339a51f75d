//! Interleaved rounds: each module signs for a short while, in a new random order every round.

use std::time::Duration;

use super::driver::{Answer, Load, Order, confused};
use super::key::KeyKind;
use super::processes::Driver;
use crate::measure::random::Random;
use crate::suite::Effort;
use crate::suite::service::Samples;
use crate::{Failure, interrupt};

/// The number of rounds, and the minimum length of a turn's timing window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) rounds: usize,
    window: Duration,
}

/// The minimum signing time of all clients before the clock starts.
const LEAD: Duration = Duration::from_millis(30);

/// The maximum length of a timing window.
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

    /// Estimates the time of three subjects.
    pub(super) fn whole(self) -> Duration {
        3 * (self.rounds as u32 + 1) * (self.window + LEAD)
    }
}

/// The samples of all modules.
pub(super) struct Measured {
    /// In the order of the drivers.
    pub(super) samples: Vec<Samples>,
    /// The first driver measured a second time.
    pub(super) control: Samples,
}

/// Runs the rounds; the first driver signs twice in each.
pub(super) fn run(
    drivers: &mut [Driver],
    key: KeyKind,
    clients: usize,
    pace: Pace,
    progress: &mut dyn FnMut(f64),
) -> Result<Measured, Failure> {
    // A window without signatures is repeated with twice the length.
    let sign = |driver: &mut Driver, lead, mut window: Duration| {
        interrupt::check()?;
        loop {
            match driver.order(&Order::Load(Load { key, clients, lead, window }))? {
                Answer::Loaded(loaded) if !loaded.latencies.is_empty() => return Ok(loaded),
                Answer::Loaded(_) if window < LONGEST => window *= 2,
                Answer::Loaded(_) => {
                    return Err(Failure::new(
                        format!(
                            "{} completed no signature in {} s",
                            driver.name(),
                            window.as_secs()
                        ),
                        "the machine is too busy; try again later",
                    ));
                }
                _ => return Err(confused()),
            }
        }
    };
    // The first turn shows the duration of a signature, and includes all one-time work.
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
    Ok(Measured { samples, control })
}
