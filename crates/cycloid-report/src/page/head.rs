//! The start of the page: contents, machine, versions, and a summary of each suite.

use std::cmp::Ordering;
use std::fmt::Write;

use super::markup::text;
use super::measured::Measured;
use super::plots;
use super::processor::{Items, Measure};
use super::section::Section;
use super::source::Source;
use super::summary::{Comparison, geometric_mean};
use super::table::{Column, Grid};
use crate::tables::number::{NONE, counted, proportion, whole};
use cycloid_lab::record::{Environment, Peer, Report};

/// Returns title, contents and machine. Long lists are folded, so that the first plot is near.
pub(super) fn header(
    sources: &[Source],
    tables: &[Measured<'_>],
    parts: &[(String, &str)],
) -> String {
    let reports: Vec<&Report> = sources.iter().filter_map(Source::report).collect();
    let rows: usize = tables.iter().map(|of| of.table.records.len()).sum();
    let mut html = format!(
        "<header><h1>Cycloid benchmarks</h1><p class=\"lead\">Time, memory and allocations beside \
         other libraries: {} rows in {} tables of {} records.</p><nav aria-label=\"Contents\"><ul>",
        whole(rows as u64),
        tables.len(),
        reports.len()
    );
    for (anchor, title) in parts {
        let _ = write!(html, "<li><a href=\"#{anchor}\">{}</a></li>", text(title));
    }
    html.push_str("</ul></nav>");
    if !reports.is_empty() {
        html.push_str("<details><summary>Machine and versions</summary>");
        html.push_str(&facts(&reports));
        html.push_str("</details>");
    }
    html + "</header>\n"
}

/// Returns the circumstances of the records.
fn facts(reports: &[&Report]) -> String {
    let mut html = String::new();
    html.push_str("<dl>");
    let fact = |html: &mut String, name: &str, values: Vec<String>| {
        if !values.is_empty() {
            let _ = write!(html, "<dt>{name}</dt><dd>{}</dd>", text(&values.join("; ")));
        }
    };
    let each =
        |of: fn(&Environment) -> String| distinct(reports.iter().map(|r| of(&r.environment)));
    fact(&mut html, "Processor", each(|e| format!("{}, {}", e.cpu, counted(e.threads, "thread"))));
    fact(&mut html, "Instructions", each(|e| format!("{} of {}", e.level_used, e.level_detected)));
    fact(&mut html, "Program", each(|e| e.program.clone()));
    fact(
        &mut html,
        "Compiler",
        each(|e| format!("{}, opt-level {}, {}", e.compiler, e.opt_level, e.target)),
    );
    fact(&mut html, "Clock", each(|e| e.clock.clone()));
    let mut dates: Vec<&str> = reports.iter().map(|report| &*report.environment.date).collect();
    dates.sort_unstable();
    dates.dedup();
    let span = match (dates.first(), dates.last()) {
        (Some(first), Some(last)) if first == last => vec![(*first).to_owned()],
        (Some(first), Some(last)) => vec![format!("{first} to {last}")],
        _ => vec![],
    };
    fact(&mut html, "Measured", span);
    fact(&mut html, "Effort", distinct(reports.iter().map(|report| report.effort.clone())));
    fact(&mut html, "Peers", distinct(reports.iter().flat_map(|report| &report.peers).map(peer)));
    html + "</dl>"
}

/// Formats a peer with its version, or as missing.
fn peer(peer: &Peer) -> String {
    match &peer.version {
        Some(version) => format!("{} {version}", peer.name),
        None => format!("{} (missing)", peer.name),
    }
}

/// Returns each value once, in the order of first occurrence.
fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// A suite's comparisons with its best peers on a processor; there is at least one.
struct Overall<'a>(Vec<Comparison<'a>>);

impl<'a> Overall<'a> {
    /// Returns the comparison whose ratio is the first in this order.
    fn extreme(&self, order: fn(&f64, &f64) -> Ordering) -> &Comparison<'a> {
        let by = |a: &&Comparison<'_>, b: &&Comparison<'_>| order(&a.one(), &b.one());
        self.0.iter().min_by(by).expect("there is at least one")
    }

    fn lowest(&self) -> &Comparison<'a> {
        self.extreme(f64::total_cmp)
    }

    fn highest(&self) -> &Comparison<'a> {
        self.extreme(|a, b| b.total_cmp(a))
    }
}

/// Returns the comparison of each suite with its best peers, by processor.
pub(super) fn summary(sections: &[Section<'_>]) -> String {
    let mut processors: Vec<(String, Vec<(String, Overall<'_>)>)> = Vec::new();
    for section in sections {
        for (processor, mut compared) in section.compared() {
            // A VPN engine is also measured as its cipher alone, which does less and is not a peer.
            compared.retain(|comparison| comparison.best.label != "cipher alone");
            if compared.is_empty() {
                continue;
            }
            let overall = (section.title().to_owned(), Overall(compared));
            match processors.iter_mut().find(|(other, _)| *other == processor) {
                Some((_, suites)) => suites.push(overall),
                None => processors.push((processor, vec![overall])),
            }
        }
    }
    if processors.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<section id=\"summary\"><h2>Compared with the best peer</h2><figure><p>Operations per second \
         relative to the fastest peer, one at a time: right of the line ours is faster. An open mark is \
         an operation, the filled mark the geometric mean.</p><div class=\"pictures\">",
    );
    let several = processors.len() > 1;
    let all = processors.iter().flat_map(|(_, suites)| suites).flat_map(|(_, of)| &of.0);
    let range: Vec<f64> = all.map(Comparison::one).collect();
    for (processor, suites) in &processors {
        let parts: Vec<(String, Vec<&Comparison<'_>>)> =
            suites.iter().map(|(suite, of)| (suite.clone(), of.0.iter().collect())).collect();
        let name = if several { format!("<h3>{}</h3>", text(processor)) } else { String::new() };
        let _ = write!(
            html,
            "<div class=\"picture\">{name}{}</div>",
            plots::strip(&parts, range.clone())
        );
    }
    let grid = Items::new(processors).grid("Ours relative to the best peer", "suite", &measures());
    html + "</div></figure>" + &grid.html() + "</section>\n"
}

/// Formats a ratio that not every suite has.
fn known(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| NONE.into(), proportion)
}

/// Returns the columns of the summary.
fn measures<'a>() -> [Measure<Overall<'a>>; 7] {
    [
        Measure::number("operations", "operations that a peer supports, too", |of| {
            of.0.len().to_string()
        }),
        Measure::number(
            "ratio",
            "geometric mean of our operations per second divided by the best peer's",
            |of| known(geometric_mean(of.0.iter().map(Comparison::one))),
        ),
        Measure::number("many", "the same for batches", |of| {
            known(geometric_mean(of.0.iter().filter_map(Comparison::many)))
        }),
        Measure::number("lowest", "ratio of our slowest operation by comparison", |of| {
            proportion(of.lowest().one())
        }),
        Measure::words("which", "our slowest operation by comparison", |of| of.lowest().title()),
        Measure::number("highest", "ratio of our fastest operation by comparison", |of| {
            proportion(of.highest().one())
        }),
        Measure::words("which one", "our fastest operation by comparison", |of| {
            of.highest().title()
        }),
    ]
}

/// Returns the list of the page's records.
pub(super) fn records(sources: &[Source], tables: &[Measured<'_>]) -> String {
    let columns = vec![
        Column::words("file", ""),
        Column::words("measured", "start, UTC"),
        Column::words("effort", "time budget"),
        Column::words("program", ""),
        Column::words("instructions", "instruction set in use"),
        Column::words("peers", "peers with their versions"),
        Column::words("command", "repeats the measurement"),
    ];
    let rows = sources.iter().filter_map(|source| {
        let report = source.report()?;
        let own: Vec<Measured<'_>> =
            tables.iter().filter(|of| of.source == source.name).copied().collect();
        let commands = own.chunk_by(|a, b| a.table.suite == b.table.suite).map(super::command::of);
        let peers: Vec<String> = report.peers.iter().map(peer).collect();
        Some(vec![
            source.name.clone(),
            report.environment.date.clone(),
            report.effort.clone(),
            report.environment.program.clone(),
            report.environment.level_used.clone(),
            if peers.is_empty() { NONE.into() } else { peers.join("; ") },
            commands.collect::<Vec<_>>().join(" && "),
        ])
    });
    let grid = Grid { caption: "Records".into(), columns, rows: rows.collect() };
    format!(
        "<section id=\"records\"><h2>Records</h2><p>With <code>--save FILE</code> appended, the command \
         writes a record; <code>cycloid report FILE…</code> turns records into a page.</p>{}</section>\n",
        grid.html()
    )
}

/// The explanation of the numbers.
pub(super) const READING: &str = "<section id=\"reading\"><h2>How to read it</h2><dl class=\"terms\">\
    <dt>time</dt><dd>of one operation: the median over batches, or the mean where the time naturally varies \
    from run to run. All rows of a table alternated in one process.</dd>\
    <dt>×</dt><dd>time relative to the table's reference row: 2.00 takes twice as long. The median over \
    batches that ran close together, so it stays valid when the machine's speed drifts; ± is half of its \
    95 % bootstrap interval.</dd>\
    <dt>ratio</dt><dd>operations per second relative to the best peer: 2.00 does twice as many.</dd>\
    <dt>many, ×8</dt><dd>time of one operation in a call that performs eight, or the stated number, in \
    parallel.</dd>\
    <dt>ct</dt><dd>constant-time for secret values, according to its own documentation.</dd>\
    <dt>scratch</dt><dd>bytes of working memory that the caller passes, as given by the library's own function.</dd>\
    <dt>stack, heap</dt><dd>bytes of stack touched below the call; peak bytes of heap in use during it, in any language.</dd>\
    <dt>noise</dt><dd>one row of each table ran twice under two names. A difference smaller than theirs is \
    not significant; distrust differences below 3 % until another build confirms them.</dd>\
    </dl></section>\n";
