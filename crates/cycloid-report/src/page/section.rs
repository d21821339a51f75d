//! The section of a suite: plots, comparison with the best peers, all rows, and commands to repeat
//! them.

use std::fmt::Write;

use super::markup::{anchor, text};
use super::measured::Measured;
use super::processor::{self, Items, Measure};
use super::summary::{Comparison, comparisons};
use super::table::{full, per_second};
use super::{command, plots};
use crate::history::Entry;
use crate::tables::number::{NONE, proportion};
use cycloid_lab::record::Record;
use cycloid_lab::suite::list;

/// Longer comparisons are initially folded.
const MOST_ROWS: usize = 40;

/// A suite and its tables.
pub(super) struct Section<'a> {
    pub(super) suite: &'a str,
    pub(super) tables: Vec<Measured<'a>>,
    /// All runs, also of other suites.
    runs: &'a [Entry],
}

/// Groups all tables into sections in the order of the page; unknown suites come last.
pub(super) fn all<'a>(tables: &[Measured<'a>], runs: &'a [Entry]) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for of in tables {
        match sections.iter_mut().find(|section| section.suite == of.table.suite) {
            Some(section) => section.tables.push(*of),
            None => sections.push(Section { suite: &of.table.suite, tables: vec![*of], runs }),
        }
    }
    let place = |suite: &str| list::ALL.iter().position(|known| known.name == suite);
    sections.sort_by_key(|section| place(section.suite).unwrap_or(usize::MAX));
    sections
}

impl<'a> Section<'a> {
    /// Returns the title.
    pub(super) fn title(&self) -> &'a str {
        list::named(self.suite).map_or(self.suite, |known| known.title)
    }

    /// Returns the anchor on the page.
    pub(super) fn anchor(&self) -> String {
        format!("suite-{}", anchor(self.suite))
    }

    pub(super) fn html(&self) -> String {
        let rows: usize = self.tables.iter().map(|of| of.table.records.len()).sum();
        let mut html = format!(
            r#"<section id="{}"><h2>{}</h2><p class="quiet">{rows} rows in {} tables. To repeat all measurements:</p>"#,
            self.anchor(),
            text(self.title()),
            self.tables.len()
        );
        for tables in self.tables.chunk_by(|a, b| a.source == b.source) {
            let _ = write!(
                html,
                r#"<p class="command"><code>{}</code> <span>{}</span></p>"#,
                text(&command::of(tables)),
                text(tables[0].source)
            );
        }
        let figures: Vec<_> = processor::separate(&self.tables)
            .into_iter()
            .map(|(processor, tables)| (processor, plots::of(&tables)))
            .collect();
        html.push_str(&plots::side_by_side(&figures));
        html.extend(plots::history(self.suite, self.runs).map(|figure| figure.html()));
        let compared = self.compared();
        if compared.iter().any(|(_, compared)| !compared.is_empty()) {
            html.push_str("<h3>Compared with the best peer</h3>");
            let compared = beside(compared);
            let table = compared.grid("Operations per second", "operation", &measures()).html();
            if compared.len() <= MOST_ROWS {
                html.push_str(&table);
            } else {
                let _ = write!(
                    html,
                    "<details><summary>All operations <span>{} rows</span></summary>{table}</details>",
                    compared.len()
                );
            }
        }
        html.push_str("<h3>All rows</h3>");
        let several = self.tables.iter().any(|of| of.source != self.tables[0].source);
        for tables in self.tables.chunk_by(|a, b| a.source == b.source) {
            for (group, tables) in plots::groups(tables) {
                html.push_str(&every_row(group, &tables, several));
            }
        }
        self.notes(&mut html);
        html + "</section>\n"
    }

    /// Returns the comparisons with the best peers, by processor.
    pub(super) fn compared(&self) -> Vec<(String, Vec<Comparison<'a>>)> {
        processor::separate(&self.tables)
            .into_iter()
            .map(|(processor, tables)| (processor, comparisons(&tables)))
            .collect()
    }

    /// Writes the notes of the tables, each once.
    fn notes(&self, html: &mut String) {
        let mut notes: Vec<&str> = Vec::new();
        for note in self.tables.iter().flat_map(|of| &of.table.notes) {
            if !notes.contains(&&**note) {
                notes.push(note);
            }
        }
        let mut missing: Vec<&str> =
            self.tables.iter().flat_map(|of| &of.table.missing).map(|name| &**name).collect();
        missing.sort_unstable();
        missing.dedup();
        if notes.is_empty() && missing.is_empty() {
            return;
        }
        html.push_str("<h3>Notes</h3><ul>");
        for note in notes {
            let _ = write!(html, "<li>{}</li>", text(note));
        }
        if !missing.is_empty() {
            let _ =
                write!(html, "<li>Not available when measured: {}</li>", text(&missing.join(", ")));
        }
        html.push_str("</ul>");
    }
}

/// Returns the rows of a group under its name, and under the file's name if there are several
/// files.
fn every_row(group: &str, tables: &[Measured<'_>], several: bool) -> String {
    let rows: usize = tables.iter().map(|of| of.table.records.len()).sum();
    let rows = if rows == 1 { "1 row".into() } else { format!("{rows} rows") };
    let noise = tables.iter().map(|of| (of.table.control.median - 1.0).abs()).fold(0.0, f64::max);
    let rounds = tables.iter().map(|of| of.table.rounds).min().unwrap_or(0);
    let of = tables[0];
    let file = if several { format!(" · {}", text(of.source)) } else { String::new() };
    format!(
        "<details><summary>{} <span>{rows}{file}</span></summary>{}<p class=\"quiet\">Relative to {}; \
         the reference against itself differs by at most {:.1} %; at least {rounds} rounds. {}</p><p \
         class=\"command\"><code>{}</code></p></details>",
        text(group),
        full(group, tables).html(),
        text(&of.table.reference),
        noise * 100.0,
        text(of.source),
        text(&command::of(tables))
    )
}

/// Returns each operation beside the fastest peer, by processor.
fn beside<'a>(compared: Vec<(String, Vec<Comparison<'a>>)>) -> Items<Comparison<'a>> {
    let named = |(processor, compared): (String, Vec<Comparison<'a>>)| {
        (processor, compared.into_iter().map(|c| (c.title(), c)).collect())
    };
    Items::new(compared.into_iter().map(named).collect())
}

/// Returns the columns of a comparison with the best peer.
fn measures<'a>() -> [Measure<Comparison<'a>>; 8] {
    fn rate(record: &Record) -> String {
        per_second(record.time.operations_per_second)
    }
    [
        Measure::number("per second", "our operations per second, one at a time", |c| rate(c.ours)),
        Measure::number("many", "operations per second of our fastest batch", |c| {
            c.many.map_or_else(|| NONE.into(), |[many, _]| rate(many))
        }),
        Measure::words(
            "best peer",
            "the fastest peer; constant-time if ours is and such a peer exists",
            |c| c.of.who(c.best),
        ),
        Measure::number("its rate", "operations per second of the best peer", |c| rate(c.best)),
        Measure::number(
            "ratio",
            "our operations per second relative to the best peer: 2.00 does twice as many",
            |c| proportion(c.one()),
        ),
        Measure::number("from", "lower end of the 95 % interval of the ratio", |c| {
            proportion(c.best.ratio.interval[0])
        }),
        Measure::number("to", "upper end of the 95 % interval of the ratio", |c| {
            proportion(c.best.ratio.interval[1])
        }),
        Measure::number(
            "ratio, many",
            "our fastest batch relative to the best peer, also with batches",
            |c| c.many().map_or_else(|| NONE.into(), proportion),
        ),
    ]
}
