//! What changed from one profile to another: for one operation, name by name, with the error of sampling.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::flat;
use super::names::fitted;
use super::record::{Profile, Report};

/// How many standard errors a change must have to be one.
const SURE: f64 = 3.0;

/// The own time of a name in one operation, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The name.
    pub name: String,
    /// Microseconds of it in an operation before.
    pub before_us: f64,
    /// And after.
    pub after_us: f64,
    /// The standard error of their difference, by the numbers of samples; none if spans were measured.
    pub error_us: Option<f64>,
    /// What is to be said of it.
    pub verdict: Verdict,
}

/// What is to be said of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It takes longer by more than three standard errors.
    More,
    /// It takes less by more than three standard errors.
    Less,
    /// The error of sampling may be all that there is.
    Same,
    /// There is no error to judge by: spans are exact, and their time varies as that of all else does.
    Measured,
}

/// The changes between two profiles of the same title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Of what.
    pub title: String,
    /// All of it.
    pub whole: Change,
    /// Each name, the largest change first.
    pub names: Vec<Change>,
}

/// Changes from `before` to `after`, for the profiles that both have; where each has one, its title does
/// not matter.
pub fn differences(before: &Report, after: &Report) -> Vec<Difference> {
    pairs(before, after).into_iter().map(|(before, after)| difference(before, after)).collect()
}

fn pairs<'a>(before: &'a Report, after: &'a Report) -> Vec<(&'a Profile, &'a Profile)> {
    if let ([before], [after]) = (&before.profiles[..], &after.profiles[..]) {
        return vec![(before, after)];
    }
    let partner = |profile: &'a Profile| {
        let before = before.profiles.iter().find(|other| other.title == profile.title)?;
        Some((before, profile))
    };
    after.profiles.iter().filter_map(partner).collect()
}

/// Microseconds in an operation, and their variance.
#[derive(Clone, Copy, Default)]
struct Own {
    us: f64,
    variance: f64,
}

impl Own {
    fn new(profile: &Profile, seconds: f64, samples: u64) -> Self {
        let operations = profile.operations.max(1) as f64;
        let us = seconds * 1e6 / operations;
        // What was never seen might have been seen once.
        let sample = profile.sampling.map_or(0.0, |sampling| {
            sampling.processor_seconds * 1e6 / operations / sampling.samples.max(1) as f64
        });
        Self { us, variance: sample * sample * samples.max(1) as f64 }
    }
}

fn difference(before: &Profile, after: &Profile) -> Difference {
    let sampled = before.sampling.is_some() && after.sampling.is_some();
    let mut names: BTreeMap<&str, [Own; 2]> = BTreeMap::new();
    for (place, profile) in [before, after].into_iter().enumerate() {
        for line in flat::lines(profile) {
            let both = names
                .entry(line.name)
                .or_insert_with(|| [before, after].map(|profile| Own::new(profile, 0.0, 0)));
            both[place] = Own::new(profile, line.own, line.samples);
        }
    }
    let change = |name: &str, [before, after]: [Own; 2]| {
        let error = (before.variance + after.variance).sqrt();
        let verdict = match after.us - before.us {
            _ if !sampled => Verdict::Measured,
            more if more > SURE * error => Verdict::More,
            less if less < -SURE * error => Verdict::Less,
            _ => Verdict::Same,
        };
        Change {
            name: name.into(),
            before_us: before.us,
            after_us: after.us,
            error_us: sampled.then_some(error),
            verdict,
        }
    };
    let mut changes: Vec<Change> =
        names.into_iter().map(|(name, both)| change(name, both)).collect();
    let size = |change: &Change| (change.after_us - change.before_us).abs();
    changes.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    let whole = |profile: &Profile| profile.seconds() * 1e6 / profile.operations.max(1) as f64;
    let (before_us, after_us) = (whole(before), whole(after));
    Difference {
        title: after.title.clone(),
        // The whole is processor time as it was measured, which sampling adds no error to.
        whole: Change {
            name: "all of it".into(),
            before_us,
            after_us,
            error_us: None,
            verdict: Verdict::Measured,
        },
        names: changes,
    }
}

/// Names with less than this part of the whole are left out of the text.
const SMALL: f64 = 0.003;

/// As a table for people.
pub fn difference_text(before: &Report, after: &Report, width: usize) -> String {
    let of = |report: &Report| format!("{}, {}", report.workload, report.environment.date);
    let mut text = format!("before  {}\nafter   {}\n", of(before), of(after));
    for Difference { title, whole, names } in differences(before, after) {
        let _ = writeln!(
            text,
            "\n{title}\nown us an operation\n{:>11} {:>11} {:>11} {:>9} {:>8}  name",
            "before", "after", "change", "error", "verdict"
        );
        let small = SMALL * whole.before_us.max(whole.after_us);
        let shown = |change: &&Change| change.before_us.max(change.after_us) >= small;
        for change in std::iter::once(&whole).chain(names.iter().filter(shown)) {
            let Change { name, before_us, after_us, error_us, verdict } = change;
            let error = error_us.map_or_else(|| "–".into(), |error| format!("{error:.4}"));
            let verdict = match verdict {
                Verdict::More => "more",
                Verdict::Less => "less",
                Verdict::Same => "same",
                Verdict::Measured => "–",
            };
            let line = format!(
                "{before_us:11.4} {after_us:11.4} {:+11.4} {error:>9} {verdict:>8}  ",
                after_us - before_us
            );
            let room = width.saturating_sub(line.chars().count());
            let _ = writeln!(text, "{line}{}", fitted(name, room));
        }
    }
    text.push_str(
        "\nnote  error: the standard error that the numbers of samples leave; more and less: by three of\n      \
         them and more. How fast the machine was by then is not in it: see the line of all of it\n",
    );
    text
}

/// Stacks with picoseconds of an operation before and after.
pub(super) fn folded(before: &Report, after: &Report) -> Vec<String> {
    let mut stacks: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for (before, after) in pairs(before, after) {
        for (place, profile) in [before, after].into_iter().enumerate() {
            let operations = profile.operations.max(1) as f64;
            profile.walk(&mut |node, within| {
                let own = (node.own_seconds() / operations * 1e12).round() as u64;
                if own > 0 {
                    let mut path = after.title.replace(';', ",");
                    for node in within.iter().chain([&node]) {
                        path.push(';');
                        path.push_str(&node.name.replace(';', ","));
                    }
                    stacks.entry(path).or_default()[place] += own;
                }
            });
        }
    }
    stacks.into_iter().map(|(path, [before, after])| format!("{path} {before} {after}")).collect()
}
