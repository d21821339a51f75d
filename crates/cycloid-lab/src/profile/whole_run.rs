//! A whole run of a program under the sampler, as a service does it for itself.

use std::time::Duration;

use super::folded::folded;
use super::measured::HERTZ;
use super::record::{Profile, Sampling};
use super::sampler::Sampler;
use super::stacks::{Base, Stacks};
use crate::Failure;
use crate::measure::clock;

/// Samples from its making on.
pub struct WholeRun {
    sampler: Sampler,
}

impl WholeRun {
    /// Begins to take samples of all threads.
    ///
    /// # Errors
    /// Where that cannot be.
    pub fn begin() -> Result<Self, Failure> {
        let sampler = Sampler::new(HERTZ)?;
        sampler.on(Duration::ZERO);
        Ok(Self { sampler })
    }

    /// Ends it; `title` says of what it is.
    pub fn end(self, title: &str) -> Profile {
        let samples = self.sampler.finish();
        let stacks = Stacks::new(&samples, &Base::Thread);
        let seconds = clock::of_process(std::process::id()).unwrap_or_default().as_secs_f64();
        let all = stacks.samples();
        Profile {
            title: title.into(),
            operations: 1,
            roots: stacks.tree(seconds / all.max(1) as f64),
            waits: Vec::new(),
            sampling: Some(Sampling {
                requested_hertz: HERTZ.into(),
                delivered_hertz: all as f64 / seconds,
                samples: all,
                cut_short: stacks.cut_short,
                lost: samples.lost,
                processor_seconds: seconds,
            }),
        }
    }
}

impl Profile {
    /// Folded stacks of this alone.
    pub fn folded(&self) -> String {
        folded(std::slice::from_ref(self))
    }
}
