//! Formats records as one HTML page: a summary of each suite, a plot for each question, sortable
//! tables, flame graphs, and the command that repeats each measurement.
//!
//! The page loads no external resources and forbids the browser to load any. Its only script is
//! identified by its hash, so no text in a record can become a script. The page is valid as XML and
//! as HTML.

mod chart;
mod command;
mod dots;
mod flame;
mod head;
mod markup;
mod measured;
mod pareto;
mod plots;
mod processor;
mod scale;
mod section;
mod series;
mod source;
mod summary;
mod svg;
mod table;
#[cfg(test)]
mod tests;

use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};

use self::measured::Measured;
pub use self::source::Source;
use crate::history::Entry;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Returns the page of these records and profiles, in order. The same sources give the same page.
pub fn html(sources: &[Source]) -> String {
    let tables: Vec<Measured<'_>> =
        sources.iter().flat_map(Source::tables).filter(|of| !of.table.records.is_empty()).collect();
    let runs = runs(sources);
    let sections = section::all(&tables, &runs);
    let stacks = || sources.iter().flat_map(Source::stacks);
    let summary = head::summary(&sections);

    let mut parts: Vec<(String, &str)> = Vec::new();
    if !summary.is_empty() {
        parts.push(("summary".into(), "Compared with the best peer"));
    }
    parts.extend(sections.iter().map(|section| (section.anchor(), section.title())));
    if stacks().next().is_some() {
        parts.push(("profiles".into(), "Where time is spent"));
    }
    parts.extend([("records".into(), "Records"), ("reading".into(), "How to read it")]);

    let mut html = start();
    html.push_str(&head::header(sources, &tables, &parts));
    html.push_str("<main>\n");
    html.push_str(&summary);
    for section in &sections {
        html.push_str(&section.html());
    }
    if stacks().next().is_some() {
        html.push_str(
            "<section id=\"profiles\"><h2>Where time is spent</h2><p>A bar is as wide as its share of the \
             time; the bars below it are its callees. Time is attributed to the measured call path, never by \
             call counts. With scripts enabled, clicking a bar expands it to the full width; clicking it \
             again restores the graph.</p>",
        );
        stacks().for_each(|stacks| html.push_str(&stacks.html()));
        html.push_str("</section>\n");
    }
    html.push_str(&head::records(sources, &tables));
    html.push_str(head::READING);
    html.push_str("</main>\n<script>");
    html.push_str(SCRIPT);
    html + "</script>\n</body>\n</html>\n"
}

/// Returns the runs of all sources, in order of time. A record may also be in a history, which
/// knows its commit.
fn runs(sources: &[Source]) -> Vec<Entry> {
    let mut runs: Vec<Entry> = sources.iter().flat_map(Source::runs).collect();
    runs.sort_by(|a, b| (&a.date, a.commit.is_none()).cmp(&(&b.date, b.commit.is_none())));
    runs.dedup_by(|later, kept| (&later.date, &later.machine) == (&kept.date, &kept.machine));
    runs
}

/// Returns everything before the body's content. Bar widths are `style` attributes, so the policy
/// allows inline styles and uses no hash for them.
fn start() -> String {
    let hash = Base64::encode_string(&Sha256::digest(SCRIPT.as_bytes()));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src 'sha256-{hash}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>Cycloid benchmarks</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    )
}
