//! Formats a profile as text. Shows only what the record contains.

use std::fmt::Write;

use super::record::{Configuration, Overhead, Profile, Report, Sampling};
use super::{call_graph, flat};
use crate::tables::{MAX_WIDTH, wrapped};

/// Formats the whole report, in lines of at most [`MAX_WIDTH`] characters.
pub fn text(report: &Report) -> String {
    let e = &report.environment;
    let mut text = format!(
        "{}, {}, profile of {}\nprocessor  {}, {} threads; level {} of {}\n",
        e.program, e.date, report.workload, e.cpu, e.threads, e.level_used, e.level_detected
    );
    for (name, value) in &report.parameters {
        let _ = writeln!(text, "{name}  {}", value.to_string().trim_matches('"'));
    }
    let unit = &report.unit;
    if !report.configurations.is_empty() {
        configurations(report, &mut text);
    }
    for profile in &report.profiles {
        profile_text(profile, unit, &mut text);
    }
    text.push('\n');
    if let Some(overhead) = &report.overhead {
        for line in wrapped(&costs(overhead, unit), MAX_WIDTH) {
            let _ = writeln!(text, "{line}");
        }
    }
    for note in &report.notes {
        for (i, line) in wrapped(note, MAX_WIDTH - 6).into_iter().enumerate() {
            let _ = writeln!(text, "{}{line}", if i == 0 { "note  " } else { "      " });
        }
    }
    text
}

/// Formats the time of an operation per configuration.
fn configurations(report: &Report, text: &mut String) {
    let unit = &report.unit;
    let _ = writeln!(
        text,
        "\n{:34} {:>7} {:>12} {:>7} {:>12}",
        format!("us per {unit}, median"),
        "clients",
        "later uses",
        "\u{b1}",
        "first use"
    );
    for Configuration { name, clients, median_seconds, interval_seconds, first_seconds, .. } in
        &report.configurations
    {
        let half = (interval_seconds[1] - interval_seconds[0]) / 2.0 / median_seconds * 100.0;
        let first =
            first_seconds.map_or_else(|| "\u{2013}".into(), |first| format!("{:.3}", first * 1e6));
        let _ = writeln!(
            text,
            "  {name:32} {clients:7} {:12.3} {:>7} {first:>12}",
            median_seconds * 1e6,
            format!("{half:.1}%")
        );
    }
}

/// Formats the cost of measuring.
fn costs(overhead: &Overhead, unit: &str) -> String {
    let Overhead { span_ns, span_off_ns, ratio } = overhead;
    let [low, high] = ratio.interval;
    let [times, turns] = [
        format!("{:.4} times as long ({low:.4} to {high:.4})", ratio.median),
        format!("in {} turns with and without", ratio.samples),
    ];
    match (span_ns, span_off_ns) {
        (Some(on), Some(off)) => format!(
            "measurement cost: {on:.0} ns per span, {off:.1} ns while recording is off; with recording a \
             {unit} takes {times}, {turns}"
        ),
        _ => format!("sampling cost: with sampling, all {unit}s of a turn take {times}, {turns}"),
    }
}

/// Formats the number of samples and their accuracy.
fn sampling_text(sampling: &Sampling, text: &mut String) {
    let Sampling {
        requested_hertz,
        delivered_hertz,
        samples,
        cut_short,
        lost,
        processor_seconds,
        handler_seconds,
    } = sampling;
    let _ = writeln!(
        text,
        "sampling: {samples} samples in {processor_seconds:.2} s of processor time; {requested_hertz:.0} per \
         second requested,\n          {delivered_hertz:.0} delivered; the standard error of n samples is √n: {:.1} % for \
         the total",
        flat::error(*samples)
    );
    if cut_short + lost > 0 {
        let _ = writeln!(
            text,
            "          {cut_short} without callers, {lost} dropped because the buffer was full"
        );
    }
    if let Some(handler) = handler_seconds {
        let _ = writeln!(
            text,
            "          sampling itself took {handler:.4} s of it, {:.1} %",
            100.0 * handler / processor_seconds.max(f64::MIN_POSITIVE)
        );
    }
}

/// Returns the unit with its article.
fn one(unit: &str) -> String {
    let article = if unit.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {unit}")
}

fn profile_text(profile: &Profile, unit: &str, text: &mut String) {
    let operations = profile.operations.max(1) as f64;
    let heading = format!(
        "{}: {} {unit}s, {:.3} s of work, {:.1} us {}",
        profile.title,
        profile.operations,
        profile.seconds(),
        profile.seconds() * 1e6 / operations,
        one(unit),
    );
    text.push('\n');
    for line in wrapped(&heading, MAX_WIDTH) {
        let _ = writeln!(text, "{line}");
    }
    for wait in profile.waits.iter().filter(|wait| wait.times > 0) {
        let _ = writeln!(
            text,
            "waiting: {}, {} times, {:.3} s, {:.1} us each",
            wait.name,
            wait.times,
            wait.seconds,
            wait.seconds * 1e6 / wait.times as f64
        );
    }
    if let Some(sampling) = &profile.sampling {
        sampling_text(sampling, text);
    }
    let _ = write!(text, "\nFlat profile:\n\n{}", flat::text(profile, unit, MAX_WIDTH));
    let _ = write!(text, "\nCall graph:\n\n{}", call_graph::text(profile, MAX_WIDTH));
}
