//! The section of a suite: plots, comparison with the best peers, all rows, and commands to repeat
//! them.

use std::fmt::Write;

use super::markup::{anchor, text};
use super::measured::Measured;
use super::summary::{Comparison, comparisons};
use super::table::{Column, Grid, full, per_second};
use super::{command, plots};
use crate::tables::number::{NONE, proportion};

/// The suites in the order of the page, with their titles.
const SUITES: [(&str, &str); 8] = [
    ("modexp", "Modular exponentiation"),
    ("rsa", "RSA"),
    ("dh", "Diffie-Hellman"),
    ("ec", "Elliptic curves"),
    ("tls", "TLS handshakes"),
    ("bls", "BLS12-381"),
    ("hsm", "HSM"),
    ("vpn", "VPN"),
];

/// Longer comparisons are initially folded.
const MOST_ROWS: usize = 40;

/// A suite and its tables.
pub(super) struct Section<'a> {
    pub(super) suite: &'a str,
    pub(super) tables: Vec<Measured<'a>>,
}

/// Groups all tables into sections in the order of the page; unknown suites come last.
pub(super) fn all<'a>(tables: &[Measured<'a>]) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for of in tables {
        match sections.iter_mut().find(|section| section.suite == of.table.suite) {
            Some(section) => section.tables.push(*of),
            None => sections.push(Section { suite: &of.table.suite, tables: vec![*of] }),
        }
    }
    let place = |suite: &str| SUITES.iter().position(|(known, _)| *known == suite);
    sections.sort_by_key(|section| place(section.suite).unwrap_or(SUITES.len()));
    sections
}

impl<'a> Section<'a> {
    /// Returns the title.
    pub(super) fn title(&self) -> &'a str {
        let known = SUITES.iter().find(|(suite, _)| *suite == self.suite);
        known.map_or(self.suite, |(_, title)| title)
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
        for figure in plots::of(&self.tables) {
            html.push_str(&figure.html());
        }
        let compared = comparisons(&self.tables);
        if !compared.is_empty() {
            html.push_str("<h3>Compared with the best peer</h3>");
            let table = beside(&compared).html();
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

/// Returns the table that compares each operation with the fastest peer.
fn beside(compared: &[Comparison<'_>]) -> Grid {
    let first = &compared[0];
    let name = first.of.product(first.ours);
    let columns = vec![
        Column::words("operation", ""),
        Column::numbers(name, "operations per second, one at a time"),
        Column::numbers("many", "operations per second of our fastest batch"),
        Column::words(
            "best peer",
            "the fastest peer; constant-time if ours is and such a peer exists",
        ),
        Column::numbers("its rate", "operations per second of the best peer"),
        Column::numbers(
            "ratio",
            "our operations per second relative to the best peer: 2.00 does twice as many",
        ),
        Column::numbers("from", "lower end of the 95 % interval of the ratio"),
        Column::numbers("to", "upper end of the 95 % interval of the ratio"),
        Column::numbers("ratio, many", "our fastest batch relative to the best peer"),
    ];
    let rows = compared.iter().map(|comparison| {
        let Comparison { of, ours, many, best } = comparison;
        let rate = |record: &crate::record::Record| per_second(record.time.operations_per_second);
        vec![
            comparison.title(),
            rate(ours),
            many.map_or_else(|| NONE.into(), rate),
            of.who(best),
            rate(best),
            proportion(comparison.one()),
            proportion(best.ratio.interval[0]),
            proportion(best.ratio.interval[1]),
            comparison.many().map_or_else(|| NONE.into(), proportion),
        ]
    });
    Grid { caption: "Operations per second".into(), columns, rows: rows.collect() }
}
