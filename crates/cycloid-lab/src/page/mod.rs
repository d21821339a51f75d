//! Records as one page for a browser: how each suite stands, a plot for each question, tables that can
//! be sorted, flame graphs, and the command that makes each number again.
//!
//! The page refers to nothing outside itself and forbids its browser to. Its only script is known by its
//! hash, so that nothing that a record holds could become one. It is XML as well as HTML.

mod chart;
mod command;
mod dots;
mod flame;
mod head;
mod markup;
mod measured;
mod pareto;
mod plots;
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

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of these records and profiles, in their order. The same sources give the same page.
pub fn html(sources: &[Source]) -> String {
    let tables: Vec<Measured<'_>> =
        sources.iter().flat_map(Source::tables).filter(|of| !of.table.records.is_empty()).collect();
    let sections = section::all(&tables);
    let stacks = || sources.iter().flat_map(Source::stacks);
    let summary = head::summary(&sections);

    let mut parts: Vec<(String, &str)> = Vec::new();
    if !summary.is_empty() {
        parts.push(("summary".into(), "Beside the best peer"));
    }
    parts.extend(sections.iter().map(|section| (section.anchor(), section.title())));
    if stacks().next().is_some() {
        parts.push(("profiles".into(), "Where the time goes"));
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
            "<section id=\"profiles\"><h2>Where the time goes</h2><p>A bar is as wide as its share of the \
             time; below it stand the bars of what it calls. Time is attributed by the path that it was \
             measured on, never by call counts. Where scripts run, a bar that is chosen fills the \
             width; choosing it again takes that back.</p>",
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

/// All before the body's content. Widths of bars are in attributes `style`, so styles need no hash.
fn start() -> String {
    let hash = Base64::encode_string(&Sha256::digest(SCRIPT.as_bytes()));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src 'sha256-{hash}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>Cycloid: what it costs</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    )
}
