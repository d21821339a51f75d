//! The flat profile: each name once, by own time.

use std::collections::HashMap;
use std::fmt::Write;

use super::names::fitted;
use super::record::Profile;

/// The totals of a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) calls: u64,
    /// Samples in the function itself.
    pub(super) samples: u64,
    /// Seconds in the function itself.
    pub(super) own: f64,
    /// Seconds including callees; recursive calls are not counted twice.
    pub(super) total: f64,
    /// Samples including callees.
    pub(super) total_samples: u64,
}

/// Returns a line for each name, the largest own time first.
pub(super) fn lines(profile: &Profile) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    profile.walk(&mut |node, within| {
        let place = *places.entry(&node.name).or_insert(lines.len());
        if place == lines.len() {
            let name = &*node.name;
            let (own, total) = (0.0, 0.0);
            lines.push(Line { name, calls: 0, samples: 0, own, total, total_samples: 0 });
        }
        let line = &mut lines[place];
        line.calls += node.calls;
        line.samples += node.own_samples();
        line.own += node.own_seconds();
        if within.iter().all(|outer| outer.name != node.name) {
            line.total += node.seconds;
            line.total_samples += node.samples;
        }
    });
    // Times that differ only by rounding keep the order of the profile.
    let nanoseconds = |line: &Line<'_>| (line.own * 1e9).round();
    lines.sort_by(|a, b| nanoseconds(b).total_cmp(&nanoseconds(a)));
    lines
}

/// Sampled lines with less than this share of the time are summed up.
const SMALL: f64 = 0.01;

/// Formats the profile in the layout of gprof(1), with an additional column: the own time per
/// operation. With sampling, the number of samples and its error replace gprof's calls.
pub(super) fn text(profile: &Profile, unit: &str, width: usize) -> String {
    if profile.sampling.is_some() {
        of_samples(profile, unit, width)
    } else {
        of_spans(profile, unit)
    }
}

fn of_spans(profile: &Profile, unit: &str) -> String {
    let whole = profile.seconds();
    let operations = profile.operations.max(1) as f64;
    let mut text = format!(
        "  %   cumulative   self              self     total     self us\n \
         time   seconds   seconds    calls  us/call  us/call  /{unit:<11} name\n"
    );
    let mut cumulative = 0.0;
    for line in lines(profile) {
        let Line { name, calls, own, total, .. } = line;
        cumulative += own;
        let call = 1e6 / calls.max(1) as f64;
        let _ = writeln!(
            text,
            "{:6.2} {cumulative:10.3} {own:9.3} {calls:8} {:8.2} {:8.2}  {:12.2} {name}",
            100.0 * own / whole,
            own * call,
            total * call,
            own * 1e6 / operations,
        );
    }
    text
}

fn of_samples(profile: &Profile, unit: &str, width: usize) -> String {
    let whole = profile.seconds();
    let operations = profile.operations.max(1) as f64;
    let mut text = format!(
        "  %   cumulative   self            error    total     self us\n \
         time   seconds   seconds  samples     %  seconds  /{unit:<11} name\n"
    );
    let mut cumulative = 0.0;
    let (shown, small): (Vec<_>, Vec<_>) = lines(profile)
        .into_iter()
        .filter(|line| line.samples > 0)
        .partition(|line| line.own >= SMALL * whole);
    for Line { name, samples, own, total, .. } in shown {
        cumulative += own;
        let line = format!(
            "{:6.2} {cumulative:10.3} {own:9.3} {samples:8} {:5.1} {total:8.3}  {:12.4} ",
            100.0 * own / whole,
            error(samples),
            own * 1e6 / operations,
        );
        let _ = writeln!(text, "{line}{}", fitted(name, width - line.len()));
    }
    if !small.is_empty() {
        let own: f64 = small.iter().map(|line| line.own).sum();
        let samples: u64 = small.iter().map(|line| line.samples).sum();
        let _ = writeln!(
            text,
            "{:6.2} {:10.3} {own:9.3} {samples:8} {:5.1} {:8}  {:12.4} {} other names, each below {:.0} %",
            100.0 * own / whole,
            cumulative + own,
            error(samples),
            "",
            own * 1e6 / operations,
            small.len(),
            100.0 * SMALL,
        );
    }
    text
}

/// Returns the standard error of a number of samples in per cent: √n of n.
pub(super) fn error(samples: u64) -> f64 {
    100.0 / (samples.max(1) as f64).sqrt()
}
