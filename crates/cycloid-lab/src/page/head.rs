//! What the page begins with: the machine, the versions, and how each suite stands.

use std::fmt::Write;

use super::markup::text;
use super::measured::Measured;
use super::plots;
use super::section::Section;
use super::source::Source;
use super::summary::{Comparison, comparisons, geometric_mean};
use super::table::{Column, Grid};
use crate::record::{Environment, Peer, Report};
use crate::tables::number::{NONE, proportion, whole};

/// Title, machine and contents.
pub(super) fn header(
    sources: &[Source],
    tables: &[Measured<'_>],
    parts: &[(String, &str)],
) -> String {
    let reports: Vec<&Report> = sources.iter().filter_map(Source::report).collect();
    let rows: usize = tables.iter().map(|of| of.table.records.len()).sum();
    let mut html = format!(
        "<header><p class=\"quiet\">Cycloid</p><h1>What it costs</h1><p class=\"lead\">Time, memory and \
         allocations beside the peers that one would otherwise take: {} rows in {} tables, from {} \
         records. Nothing is shown that is not in them.</p>",
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
    fact(&mut html, "Processor", each(|e| format!("{}, {} threads", e.cpu, e.threads)));
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

/// A peer with its version, or that it is missing.
fn peer(peer: &Peer) -> String {
    match &peer.version {
        Some(version) => format!("{} {version}", peer.name),
        None => format!("{} (missing)", peer.name),
    }
}

/// Each value once, in the order of the first.
fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// How each suite stands beside the best of its peers.
pub(super) fn summary(sections: &[Section<'_>]) -> String {
    let compared: Vec<(&Section<'_>, Vec<Comparison<'_>>)> = sections
        .iter()
        .map(|section| (section, comparisons(&section.tables)))
        .map(|(section, mut compared)| {
            // Beside an engine stands its cipher alone, which does less and is no peer.
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
        Column::numbers("operations", "that a peer does, too"),
        Column::numbers(
            "ratio",
            "geometric mean of operations in a second, ours to the best peer's",
        ),
        Column::numbers(
            "many",
            "geometric mean of our batches to the best peer's single operations",
        ),
        Column::numbers("least", "the operation that stands worst"),
        Column::words("which", "the operation that stands worst"),
        Column::numbers("most", "the operation that stands best"),
        Column::words("which one", "the operation that stands best"),
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
    let grid = Grid {
        caption: "Ours in proportion to the best peer".into(),
        columns,
        rows: rows.collect(),
    };
    format!(
        "<section id=\"summary\"><h2>Beside the best peer</h2><p>Operations in a second in proportion to \
         those of the fastest peer, one operation at a time: right of the line ours is faster. Each open \
         mark is an operation, the filled one the geometric mean of all.</p><figure><div \
         class=\"picture\">{}</div></figure>{}</section>\n",
        plots::strip(&parts),
        grid.html()
    )
}

/// The records that the page was made of.
pub(super) fn records(sources: &[Source], tables: &[Measured<'_>]) -> String {
    let columns = vec![
        Column::words("file", ""),
        Column::words("measured", "when it began, UTC"),
        Column::words("effort", "how much time was given"),
        Column::words("program", ""),
        Column::words("instructions", "the level that was used"),
        Column::words("peers", "with their versions"),
        Column::words("command", "what makes it again"),
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
        "<section id=\"records\"><h2>Records</h2><p>With <code>--save FILE</code> behind it, the command \
         writes the record again; <code>cycloid report FILE…</code> makes a page of records.</p>{}</section>\n",
        grid.html()
    )
}

/// How numbers were made.
pub(super) const READING: &str = "<section id=\"reading\"><h2>How to read it</h2><dl class=\"terms\">\
    <dt>time</dt><dd>of one operation, the median of batches or, where each run takes another time by its \
    nature, the mean. All rows of a table took turns in one process.</dd>\
    <dt>×</dt><dd>time in proportion to the row that all are held against: 2.00 takes twice as long. The \
    median of batches that ran side by side, so it holds where times do not; ± is half of its 95 % \
    bootstrap interval.</dd>\
    <dt>ratio</dt><dd>operations in a second in proportion to the best peer's: 2.00 does twice as many.</dd>\
    <dt>many, ×8</dt><dd>one of eight operations, or of as many as the number says, that go side by side in \
    one call.</dd>\
    <dt>ct</dt><dd>constant-time for secret values, in the words of its own documentation.</dd>\
    <dt>scratch</dt><dd>bytes that the caller passes, by the library's own function.</dd>\
    <dt>stack, heap</dt><dd>bytes touched below the call; bytes in use during it, in whatever language.</dd>\
    <dt>noise</dt><dd>one row of each table ran twice under two names. A difference smaller than theirs is \
    none; distrust one below 3 % until another build confirms it.</dd>\
    </dl></section>\n";
