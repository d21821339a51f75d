//! Profiles a running service from inside: from start to end, or for as long as a client requests.

use std::time::{Duration, Instant};

use super::folded::folded;
use super::record::{FORMAT, Profile, Report, Sampling};
use super::sampler::Sampler;
use super::stacks::{Base, Stacks};
use crate::measure::clock;
use crate::record::Parameters;
use crate::{Failure, environment};

const NOTES: [&str; 2] = [
    "times are processor time of all threads, from samples of their stacks, never from call counts",
    "an operation is one second of the service's run time; its time is the processor time used in it",
];

/// A recording that starts when this is created.
pub struct WholeRun {
    sampler: Sampler,
    hertz: u32,
    start: Instant,
    processor: Duration,
}

/// Returns the processor time of this process.
fn processor() -> Duration {
    clock::of_process(std::process::id()).unwrap_or_default()
}

impl WholeRun {
    /// Starts sampling all threads, with this number of samples per second.
    ///
    /// # Errors
    /// If sampling is not possible, or another sampler exists.
    pub fn begin(hertz: u32) -> Result<Self, Failure> {
        let sampler = Sampler::new(hertz)?;
        let run = Self { sampler, hertz, start: Instant::now(), processor: processor() };
        run.sampler.on(Duration::ZERO);
        Ok(run)
    }

    /// Ends sampling and returns the profile under `title`.
    pub fn end(self, title: &str) -> Profile {
        let samples = self.sampler.finish();
        let seconds = processor().saturating_sub(self.processor).as_secs_f64();
        let wall = self.start.elapsed().as_secs_f64();
        let stacks = Stacks::new(&samples, &Base::Thread);
        let all = stacks.samples();
        Profile {
            title: title.into(),
            operations: (wall.round() as u64).max(1),
            roots: stacks.tree(seconds / all.max(1) as f64),
            waits: Vec::new(),
            sampling: Some(Sampling {
                requested_hertz: self.hertz.into(),
                delivered_hertz: all as f64 / seconds.max(f64::MIN_POSITIVE),
                samples: all,
                cut_short: stacks.cut_short,
                lost: samples.lost,
                processor_seconds: seconds,
                handler_seconds: Some(samples.spent.as_secs_f64()),
            }),
        }
    }
}

impl Profile {
    /// Formats this profile as folded stacks.
    pub fn folded(&self) -> String {
        folded(std::slice::from_ref(self))
    }

    /// Wraps the profile in the report of a service.
    pub fn of_service(self) -> Report {
        let process = ("process".into(), std::process::id().into());
        Report {
            format: FORMAT,
            environment: environment::current(),
            workload: self.title.clone(),
            parameters: Parameters::from([process]),
            unit: "second".into(),
            configurations: Vec::new(),
            profiles: vec![self],
            overhead: None,
            notes: NOTES.map(Into::into).into(),
        }
    }
}
