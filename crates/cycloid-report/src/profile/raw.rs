//! Turns the samples of a service into a profile with names.

use std::path::PathBuf;

use cycloid_profiler::RawProfile;

use super::folded::folded;
use super::record::{FORMAT, Profile, Report, Sampling};
use super::stacks::{Base, Stacks};
use cycloid_lab::environment;
use cycloid_lab::record::Parameters;

const NOTES: [&str; 3] = [
    "times are processor time of all threads, from samples of their stacks, never from call counts",
    "an operation is one second of the service's run time; its time is the processor time used in it",
    "machine and date are those of this report, which may be later than the samples",
];

impl Profile {
    /// Resolves the names of a service's samples from the program files that it ran. A file is
    /// searched below each of `roots` and then at its own path; a missing or changed file gives
    /// frames with its name in brackets.
    pub fn of_samples(raw: &RawProfile, roots: &[PathBuf]) -> Self {
        let stacks = Stacks::of_raw(raw, roots, &Base::Thread);
        let seconds = raw.processor.as_secs_f64();
        let all = stacks.samples();
        Self {
            title: raw.title.clone(),
            operations: (raw.wall.as_secs_f64().round() as u64).max(1),
            roots: stacks.tree(seconds / all.max(1) as f64),
            waits: Vec::new(),
            sampling: Some(Sampling {
                requested_hertz: raw.hertz.into(),
                delivered_hertz: all as f64 / seconds.max(f64::MIN_POSITIVE),
                samples: all,
                cut_short: stacks.cut_short,
                lost: raw.lost,
                processor_seconds: seconds,
                handler_seconds: Some(raw.handler.as_secs_f64()),
            }),
        }
    }

    /// Formats this profile as folded stacks.
    pub fn folded(&self) -> String {
        folded(std::slice::from_ref(self))
    }
}

impl Report {
    /// Builds the report of a service from its samples; `roots` as in [`Profile::of_samples`].
    pub fn of_samples(raw: &RawProfile, roots: &[PathBuf]) -> Self {
        Self {
            format: FORMAT,
            environment: environment::current(),
            workload: raw.title.clone(),
            parameters: Parameters::from([("process".into(), raw.process.into())]),
            unit: "second".into(),
            configurations: Vec::new(),
            profiles: vec![Profile::of_samples(raw, roots)],
            overhead: None,
            notes: NOTES.map(Into::into).into(),
        }
    }
}
