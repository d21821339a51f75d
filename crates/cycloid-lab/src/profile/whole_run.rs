//! A service under the sampler, in its own process: from its start to its end, or for as long as
//! somebody asks who profiles it while it runs.

use std::time::{Duration, Instant};

use super::folded::folded;
use super::record::{FORMAT, Profile, Report, Sampling};
use super::sampler::Sampler;
use super::stacks::{Base, Stacks};
use crate::measure::clock;
use crate::record::Parameters;
use crate::{Failure, environment};

const NOTES: [&str; 2] = [
    "times are processor time of all threads, by samples of their stacks, and never by call counts",
    "an operation is a second of the service's time: so much of a second of it is processor time",
];

/// Samples from its making on.
pub struct WholeRun {
    sampler: Sampler,
    hertz: u32,
    start: Instant,
    processor: Duration,
}

/// The processor time of this process.
fn processor() -> Duration {
    clock::of_process(std::process::id()).unwrap_or_default()
}

impl WholeRun {
    /// Begins to take samples of all threads, so many in a second of processor time.
    ///
    /// # Errors
    /// Where that cannot be, and where another does so already.
    pub fn begin(hertz: u32) -> Result<Self, Failure> {
        let sampler = Sampler::new(hertz)?;
        let run = Self { sampler, hertz, start: Instant::now(), processor: processor() };
        run.sampler.on(Duration::ZERO);
        Ok(run)
    }

    /// Ends it; `title` says of what it is.
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
    /// Folded stacks of this alone.
    pub fn folded(&self) -> String {
        folded(std::slice::from_ref(self))
    }

    /// The report of a service's own profile.
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
