//! The start of the page: machine, versions, and a summary of each suite.

use std::fmt::Write;

use super::markup::text;
use super::measured::Measured;
use super::plots;
use super::section::Section;
use super::source::Source;
use super::summary::{Comparison, comparisons, geometric_mean};
use super::table::{Column, Grid};
use crate::record::{Environment, Peer, Report};
use crate::tables::number::{NONE, counted, proportion, whole};

/// Returns title, machine and contents.
pub(super) fn header(
    sources: &[Source],
    tables: &[Measured<'_>],
    parts: &[(String, &str)],
) -> String {
    let reports: Vec<&Report> = sources.iter().filter_map(Source::report).collect();
    let rows: usize = tables.iter().map(|of| of.table.records.len()).sum();
    let mut html = format!(
        "<header><p class=\"quiet\">Cycloid</p><h1>Benchmarks</h1><p class=\"lead\">Time, memory and \
         allocations, compared with alternative libraries: {} rows in {} tables, from {} records. \
         All numbers come from these records.</p>",
        whole(rows as u64),
        tables.len(),
        reports.len()
    );
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
    html.push_str("</dl><nav aria-label=\"Contents\"><ul>");
    for (anchor, title) in parts {
        let _ = write!(html, "<li><a href=\"#{anchor}\">{}</a></li>", text(title));
    }
    html + "</ul></nav></header>\n"
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

/// Returns the comparison of each suite with its best peers.
pub(super) fn summary(sections: &[Section<'_>]) -> String {
    let compared: Vec<(&Section<'_>, Vec<Comparison<'_>>)> = sections
        .iter()
        .map(|section| (section, comparisons(&section.tables)))
        .map(|(section, mut compared)| {
            // A VPN engine is also measured as its cipher alone, which does less and is not a peer.
            compared.retain(|comparison| comparison.best.label != "cipher alone");
            (section, compared)
        })
        .filter(|(_, compared)| !compared.is_empty())
        .collect();
    if compared.is_empty() {
        return String::new();
    }
    let parts: Vec<(String, Vec<&Comparison<'_>>)> = compared
        .iter()
        .map(|(section, compared)| (section.title().to_owned(), compared.iter().collect()))
        .collect();
    let columns = vec![
        Column::words("suite", ""),
        Column::numbers("operations", "operations that a peer supports, too"),
        Column::numbers(
            "ratio",
            "geometric mean of our operations per second divided by the best peer's",
        ),
        Column::numbers(
            "many",
            "geometric mean of our batches' rate divided by the best peer's rate for single operations",
        ),
        Column::numbers("lowest", "ratio of our slowest operation by comparison"),
        Column::words("which", "our slowest operation by comparison"),
        Column::numbers("highest", "ratio of our fastest operation by comparison"),
        Column::words("which one", "our fastest operation by comparison"),
    ];
    let rows = compared.iter().map(|(section, compared)| {
        let by = |a: &&Comparison<'_>, b: &&Comparison<'_>| a.one().total_cmp(&b.one());
        let (least, most) = (compared.iter().min_by(by), compared.iter().max_by(by));
        let shown = |ratio: Option<f64>| ratio.map_or_else(|| NONE.into(), proportion);
        let title = |c: Option<&Comparison<'_>>| c.map_or_else(|| NONE.into(), Comparison::title);
        vec![
            section.title().to_owned(),
            compared.len().to_string(),
            shown(geometric_mean(compared.iter().map(Comparison::one))),
            shown(geometric_mean(compared.iter().filter_map(Comparison::many))),
            shown(least.map(Comparison::one)),
            title(least),
            shown(most.map(Comparison::one)),
            title(most),
        ]
    });
    let grid =
        Grid { caption: "Ours relative to the best peer".into(), columns, rows: rows.collect() };
    format!(
        "<section id=\"summary\"><h2>Compared with the best peer</h2><p>Operations per second relative to the \
         fastest peer, one operation at a time: right of the line ours is faster. Each open mark is an \
         operation, the filled mark the geometric mean of all.</p><figure><div \
         class=\"picture\">{}</div></figure>{}</section>\n",
        plots::strip(&parts),
        grid.html()
    )
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
