//! The difference between two profiles: per operation and name, with the sampling error.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::flat;
use super::names::fitted;
use super::record::{Profile, Report};

/// The number of standard errors from which a change is significant.
const SURE: f64 = 3.0;

/// The own time of a name in one operation, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The name.
    pub name: String,
    /// Microseconds per operation before.
    pub before_us: f64,
    /// Microseconds per operation after.
    pub after_us: f64,
    /// The standard error of their difference, from the numbers of samples; `None` for measured
    /// spans.
    pub error_us: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// The verdict on a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It takes longer by more than three standard errors.
    More,
    /// It takes less by more than three standard errors.
    Less,
    /// The difference is within the sampling error.
    Same,
    /// Not judged: spans are exact and have no sampling error, but their time varies from run to
    /// run.
    Measured,
}

/// The changes between two profiles of the same title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The title.
    pub title: String,
    /// The change of the total.
    pub whole: Change,
    /// The change of each name, the largest first.
    pub names: Vec<Change>,
}

/// Returns the changes from `before` to `after` of the profiles that both reports have. If each has
/// only one profile, the titles may differ.
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

/// Microseconds per operation, and their variance.
#[derive(Clone, Copy, Default)]
struct Own {
    us: f64,
    variance: f64,
}

impl Own {
    fn new(profile: &Profile, seconds: f64, samples: u64) -> Self {
        let operations = profile.operations.max(1) as f64;
        let us = seconds * 1e6 / operations;
        // A name without samples may have missed one by chance.
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
        // The total is measured processor time, without sampling error.
        whole: Change {
            name: "total".into(),
            before_us,
            after_us,
            error_us: None,
            verdict: Verdict::Measured,
        },
        names: changes,
    }
}

/// Names with less than this share of the total are omitted from the text.
const SMALL: f64 = 0.003;

/// Formats the differences as a text table.
pub fn difference_text(before: &Report, after: &Report, width: usize) -> String {
    let of = |report: &Report| format!("{}, {}", report.workload, report.environment.date);
    let mut text = format!("before  {}\nafter   {}\n", of(before), of(after));
    for Difference { title, whole, names } in differences(before, after) {
        let _ = writeln!(
            text,
            "\n{title}\nown us per operation\n{:>11} {:>11} {:>11} {:>9} {:>8}  name",
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
        "\nnote  error: the standard error from the numbers of samples; more and less: by at least three\n      \
         of them. It does not cover changes in the machine's speed: see the line 'total'\n",
    );
    text
}

/// Returns folded stacks with picoseconds per operation before and after.
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
