//! Formats a report as text. Shows only what the record contains.

mod backends;
mod counts;
mod csv;
mod emulated;
mod layout;
mod lines;
mod markdown;
mod noise;
pub(crate) mod number;
mod packets;
mod rates;
mod rows;
mod service;
mod summary;
mod table;
mod tunnels;

use std::fmt::Write;

use lines::FORMS;

use cycloid_lab::record::{Environment, Implementation, Peer, Report, Table};

pub use csv::csv;
pub(crate) use layout::{cut, wrapped};
pub use markdown::markdown;

/// The maximum width of tables.
pub const MAX_WIDTH: usize = 100;

/// Formats the whole report, in lines of at most `width` columns if possible (80 suffice).
pub fn text(report: &Report, width: usize) -> String {
    let mut text = head(&report.environment, &report.effort, &report.peers, width);
    let tables = report.tables.iter().filter_map(|table| finished(table, &report.peers, width));
    text.extend(tables);
    text + &end(report, width)
}

/// Formats a table as soon as it is measured; `None` if only [`end`] shows it, as part of another.
pub fn finished(table: &Table, peers: &[Peer], width: usize) -> Option<String> {
    let alone = !tunnels::is_shown(table)
        && !emulated::is_shown(table)
        && !FORMS.iter().any(|form| form.shows(table));
    alone.then(|| trimmed(&format!("\n{}", table::text(table, peers, width.min(MAX_WIDTH)))))
}

/// Formats what follows the single tables: the legend, and last the summaries.
pub fn end(report: &Report, width: usize) -> String {
    let width = width.min(MAX_WIDTH);
    let mut text = format!("\n{}", legend(report, width));
    text.push_str(&summary::text(&report.tables));
    text.push_str(&rates::text(&report.tables));
    for form in &FORMS {
        text.push_str(&form.text(&report.tables));
    }
    text.push_str(&tunnels::text(&report.tables));
    text.push_str(&emulated::text(&report.tables, &report.peers));
    text.push_str(&counts::text(&report.tables));
    if !report.unfinished.is_empty() {
        let tables = report.unfinished.join("; ");
        text.push('\n');
        for line in wrapped(&format!("interrupted; not measured: {tables}"), width) {
            let _ = writeln!(text, "{line}");
        }
    }
    trimmed(&text)
}

/// Removes the spaces with which grids pad their lines.
fn trimmed(text: &str) -> String {
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// Formats the environment and the peers.
pub fn head(environment: &Environment, effort: &str, peers: &[Peer], width: usize) -> String {
    let width = width.min(MAX_WIDTH);
    let e = environment;
    let mut lines = vec![
        (String::new(), format!("{}, {}, {effort} run", e.program, e.date)),
        (
            "processor".into(),
            format!(
                "{}, {}; level {} of {}",
                e.cpu,
                number::counted(e.threads, "thread"),
                e.level_used,
                e.level_detected
            ),
        ),
        ("compiler".into(), format!("{}, opt-level {}, {}", e.compiler, e.opt_level, e.target)),
    ];
    lines.extend(versions("peers", peers));
    trimmed(&definitions(&lines, width))
}

/// Formats the peers of later tables, which the head does not have.
pub fn more_peers(peers: &[Peer], width: usize) -> String {
    let lines = versions("more peers", peers);
    format!("\n{}", trimmed(&definitions(&lines, width.min(MAX_WIDTH))))
}

/// Returns a line for each peer: its version, or why it is missing. The first line has the name.
fn versions(name: &str, peers: &[Peer]) -> Vec<(String, String)> {
    let line = |(i, peer): (usize, &Peer)| {
        let name = if i == 0 { name.into() } else { String::new() };
        let version = match (&peer.version, &peer.missing) {
            (Some(version), _) => format!("{} {version}", peer.name),
            (None, Some(missing)) => {
                format!("{} is missing: {}; {}", peer.name, missing.reason, missing.remedy)
            }
            (None, None) => peer.name.clone(),
        };
        (name, version)
    };
    peers.iter().enumerate().map(line).collect()
}

/// Formats the meanings of the columns, and the notes.
fn legend(report: &Report, width: usize) -> String {
    if report.tables.is_empty() {
        return String::new();
    }
    if report.tables.iter().all(emulated::is_shown) {
        let meanings = emulated::meanings(&report.tables);
        let meanings = meanings.iter().map(|(term, meaning)| ((*term).into(), (*meaning).into()));
        return definitions(&meanings.chain(remarks(report)).collect::<Vec<_>>(), width);
    }
    let mut reference = report.tables.iter().map(|table| &*table.reference).collect::<Vec<_>>();
    reference.dedup();
    let reference = reference.join(" or ");
    let mut lines: Vec<(String, String)> = [
        ("ct", "constant-time for secret values, according to its own documentation".into()),
        ("median, mean", "time of one operation; min is the fastest batch".into()),
        (
            "×",
            format!(
                "time relative to {reference}: 2.00 takes twice as long. The median over \
                 paired batches, or the ratio of the means; ± is half of its 95 % \
                 bootstrap interval"
            ),
        ),
        (
            "scratch",
            format!(
                "bytes that the caller passes, as given by the library's own const fn, and relative \
                 to {reference}'s; for ×8, of all eight"
            ),
        ),
        ("stack", "bytes from the call to the deepest address written".into()),
        (
            "heap",
            "peak bytes in use during a call, including prepared contexts, in any language; allocs \
             counts the allocations of one call"
                .into(),
        ),
        (number::NONE, "unknown, or not measurable on this system".into()),
    ]
    .map(|(term, meaning): (&str, String)| (term.into(), meaning))
    .into();
    if rates::are_shown(&report.tables) {
        lines.push((rates::RATIO.into(), rates::MEANING.into()));
    }
    for form in &FORMS {
        if report.tables.iter().any(|table| form.shows(table)) {
            lines.extend(
                form.meanings.iter().map(|(term, meaning)| ((*term).into(), (*meaning).into())),
            );
        }
    }
    if report.tables.iter().any(tunnels::is_shown) {
        lines.extend(tunnels::MEANINGS.map(|(term, meaning)| (term.into(), meaning.into())));
    }
    if report.tables.iter().any(counts::are_shown) {
        lines.extend(counts::MEANINGS.map(|(term, meaning)| (term.into(), meaning.into())));
    }
    lines.extend(remarks(report));
    definitions(&lines, width)
}

/// Returns the notes of all tables, each once, and the functions that the rows call.
fn remarks(report: &Report) -> Vec<(String, String)> {
    let mut notes: Vec<&str> = Vec::new();
    for note in report.tables.iter().flat_map(|table| &table.notes) {
        if !notes.contains(&&**note) {
            notes.push(note);
        }
    }
    let notes = notes.into_iter().map(|note| ("note".into(), note.into()));
    notes.chain(functions(report).into_iter().map(|line| ("calls".into(), line))).collect()
}

/// Lists the functions that the rows of each library call.
fn functions(report: &Report) -> Vec<String> {
    let mut libraries: Vec<(&str, Vec<&str>)> = Vec::new();
    for record in report.tables.iter().flat_map(|table| &table.records) {
        let Implementation { product, function, .. } = &record.implementation;
        match libraries.iter_mut().find(|(name, _)| name == product) {
            None => libraries.push((product, vec![function])),
            Some((_, known)) if !known.contains(&&**function) => known.push(function),
            Some(_) => {}
        }
    }
    libraries.iter().map(|(name, functions)| format!("{name}: {}", functions.join(", "))).collect()
}

/// Formats terms in a column, with their wrapped definitions beside them.
fn definitions(lines: &[(String, String)], width: usize) -> String {
    let terms = lines.iter().map(|(term, _)| term.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (term, meaning) in lines {
        let (mut term, indent) =
            (term.as_str(), if term.is_empty() && text.is_empty() { 0 } else { terms + 2 });
        for line in wrapped(meaning, width.saturating_sub(indent)) {
            let _ = writeln!(text, "{term:indent$}{line}");
            term = "";
        }
    }
    text
}

#[cfg(test)]
mod tests;
