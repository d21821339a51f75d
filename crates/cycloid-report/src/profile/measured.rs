//! Profiles an operation: first a single first use, then alternating turns with and without
//! sampling.

use std::time::Duration;

use cycloid_profiler::Sampler;

use super::record::{Overhead, Sampling};
use super::stacks::{Base, Stacks};
use cycloid_lab::Failure;
use cycloid_lab::measure::random::Random;
use cycloid_lab::measure::statistics::{self, Estimate};
use cycloid_lab::measure::{OPERATIONS, Operation, clock, operations};
use cycloid_lab::record::Ratio;

/// The duration of a turn.
const TURN: Duration = Duration::from_millis(100);

/// Before a turn with sampling, the timer runs for this long plus a random time up to [`PHASE`].
/// Otherwise the start of a turn would always be at the same distance from the system's ticks, and
/// would be sampled too rarely.
const SETTLING: Duration = Duration::from_millis(1);

/// A whole number of ticks at 100, 250, 300 or 1000 ticks per second.
const PHASE: Duration = Duration::from_millis(20);

/// How long operations run between readings of the clock.
const CHUNK: Duration = Duration::from_micros(500);

/// The least number of pairs of turns.
const FEWEST: usize = 6;

/// The settings of sampling.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Seconds of processor time with sampling; the run without sampling takes the same time again.
    pub seconds: f64,
    /// Requested samples per second.
    pub hertz: u32,
}

/// The measurements of an operation.
pub(super) struct Measured {
    /// Seconds of the first run.
    pub(super) first: f64,
    /// Runs without sampling.
    pub(super) runs: usize,
    /// Seconds per run without sampling, over the turns.
    pub(super) median: Estimate,
    /// Runs with sampling.
    pub(super) sampled_runs: u64,
    pub(super) stacks: Stacks,
    pub(super) sampling: Sampling,
    pub(super) overhead: Overhead,
}

/// Measures the operation with the given settings.
///
/// # Errors
/// If the operation fails, or sampling is not possible.
pub(super) fn measure(
    operation: &mut dyn Operation,
    base: Option<Base>,
    settings: Settings,
) -> Result<Measured, Failure> {
    let failed = |message: &str| {
        Failure::new(
            format!("the operation failed: {message}"),
            "nothing was profiled; report this",
        )
    };
    let once = |operation: &mut dyn Operation| -> Result<_, &str> {
        let renewed = operation.renew()?;
        let start = clock::now();
        operations(operation, 1)?;
        Ok((renewed, clock::now() - start))
    };
    let (renewed, first) = once(operation).map_err(failed)?;
    let (_, second) = once(operation).map_err(failed)?;
    let runs =
        if renewed { 1 } else { (CHUNK.as_secs_f64() / second.as_secs_f64().max(1e-8)) as u32 };
    let runs = runs.clamp(1, 1 << 20);

    let sampler = Sampler::new(settings.hertz)
        .map_err(|error| Failure::new(error.to_string(), error.hint()))?;
    let mut phases = Random::new(u64::from(settings.hertz));
    let mut turn = |operation: &mut dyn Operation, sampled: bool| -> Result<_, &str> {
        let (mut time, mut count) = (Duration::ZERO, 0_u64);
        if sampled {
            let phase = phases.below(PHASE.as_micros() as usize) as u64;
            sampler.on(SETTLING + Duration::from_micros(phase));
        }
        while time < TURN {
            if renewed {
                operation.renew()?;
            }
            let start = clock::now();
            operations(operation, runs)?;
            time += clock::now() - start;
            count += u64::from(runs);
        }
        if sampled {
            sampler.off();
        }
        Ok((time.as_secs_f64(), count))
    };
    let pairs = ((settings.seconds / TURN.as_secs_f64()).round() as usize).max(FEWEST);
    let (mut times, mut ratios) = (Vec::new(), Vec::new());
    let (mut sampled_seconds, mut sampled_runs, mut plain_runs) = (0.0, 0, 0);
    for pair in 0..pairs {
        // The order alternates, so that drift affects both kinds of turn equally.
        let sampled_first = pair % 2 == 0;
        let one = turn(operation, sampled_first).map_err(failed)?;
        let other = turn(operation, !sampled_first).map_err(failed)?;
        let (with, without) = if sampled_first { (one, other) } else { (other, one) };
        sampled_seconds += with.0;
        sampled_runs += with.1;
        plain_runs += without.1;
        let each = |(seconds, runs): (f64, u64)| seconds / runs as f64;
        times.push(each(without));
        ratios.push(each(with) / each(without));
    }
    let samples = sampler.finish();
    let stacks = Stacks::of_this_process(&samples, &base.unwrap_or(Base::Operation(OPERATIONS)));
    let Estimate { value, interval } = statistics::estimate(&ratios);
    Ok(Measured {
        first: first.as_secs_f64(),
        runs: plain_runs as usize,
        median: statistics::estimate(&times),
        sampled_runs,
        sampling: Sampling {
            requested_hertz: settings.hertz.into(),
            delivered_hertz: (stacks.samples() + samples.lost) as f64 / sampled_seconds,
            samples: stacks.samples(),
            cut_short: stacks.cut_short,
            lost: samples.lost,
            processor_seconds: sampled_seconds,
            handler_seconds: None,
        },
        stacks,
        overhead: Overhead {
            span_ns: None,
            span_off_ns: None,
            ratio: Ratio { samples: ratios.len(), median: value, interval },
        },
    })
}
