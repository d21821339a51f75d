//! HTML tables, sortable if scripts run and readable without.

use std::fmt::Write;

use super::markup::text;
use super::measured::{Measured, digits};
use crate::tables::number::{NONE, Unit, proportion, whole, whole_or_none};
use cycloid_lab::record::{Memory, Record};

/// Cells in rows and columns, as text. The first column names the row.
pub(super) struct Grid {
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<String>>,
}

/// The head of a column.
pub(super) struct Column {
    pub(super) name: String,
    /// The tooltip, if the name is not self-explanatory.
    pub(super) meaning: &'static str,
    /// Whether it contains words instead of numbers.
    pub(super) words: bool,
}

impl Column {
    /// Creates a column of words.
    pub(super) fn words(name: &str, meaning: &'static str) -> Self {
        Self { name: name.into(), meaning, words: true }
    }

    /// Creates a column of numbers.
    pub(super) fn numbers(name: impl Into<String>, meaning: &'static str) -> Self {
        Self { name: name.into(), meaning, words: false }
    }
}

impl Grid {
    /// Returns the table in a box that scrolls if the table is wider. Omits columns without values.
    /// The table's classes name the places of columns of words, so that cells need none.
    pub(super) fn html(&self) -> String {
        let known = |i: &usize| *i == 0 || self.rows.iter().any(|row| row[*i] != NONE);
        let shown: Vec<usize> = (0..self.columns.len()).filter(known).collect();
        let caption = text(&self.caption);
        let words = shown.iter().zip(1..).filter(|(i, _)| self.columns[**i].words);
        let classes: Vec<String> = words.map(|(_, place)| format!("w{place}")).collect();
        let classes = classes.join(" ");
        let mut html = format!(
            r#"<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table class="{classes}"><caption>{caption}</caption><thead><tr>"#
        );
        for i in &shown {
            let Column { name, meaning, words } = &self.columns[*i];
            let class = if *words { r#" class="t""# } else { "" };
            let title = if meaning.is_empty() {
                String::new()
            } else {
                format!(r#" title="{}""#, text(meaning))
            };
            let _ = write!(html, r#"<th scope="col"{class}{title}>{}</th>"#, text(name));
        }
        html.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            html.push_str("<tr>");
            for i in &shown {
                let cell = text(&row[*i]);
                let _ = match i {
                    0 => write!(html, r#"<th scope="row">{cell}</th>"#),
                    _ => write!(html, "<td>{cell}</td>"),
                };
            }
            html.push_str("</tr>");
        }
        html + "</tbody></table></div>"
    }
}

const CODE: &str = "machine code executed by a call, in lines of 64 bytes";

/// A column that few records have: its name, its value, its meaning.
type Rare = (&'static str, fn(&Record) -> Option<f64>, &'static str);

const RARE: [Rare; 11] = [
    (
        "Mb/s",
        |record| Some(record.tunnel?.megabits_per_second),
        "throughput of one TCP stream through the tunnel",
    ),
    (
        "server s/GB",
        |record| Some(record.tunnel?.server_seconds_per_gigabyte),
        "processor seconds per gigabyte at the server",
    ),
    (
        "client s/GB",
        |record| Some(record.tunnel?.client_seconds_per_gigabyte),
        "processor seconds per gigabyte at the client",
    ),
    ("echo ns", |record| record.tunnel?.round_trip_ns, "round trip of a ping through the tunnel"),
    (
        "resident B",
        |record| Some(record.memory.resident? as f64),
        "memory of the server process per client",
    ),
    (
        "instructions, portable",
        |record| Some(record.instructions?.portable?.count),
        "as counted by callgrind",
    ),
    (
        "instructions, ADX",
        |record| Some(record.instructions?.adx?.count),
        "as counted by callgrind",
    ),
    (
        "instructions, peer",
        |record| Some(record.instructions?.peer?.count),
        "of the peer, which cannot use ADX under callgrind",
    ),
    ("code B, portable", |record| Some(record.instructions?.portable?.code_bytes as f64), CODE),
    ("code B, ADX", |record| Some(record.instructions?.adx?.code_bytes as f64), CODE),
    ("code B, peer", |record| Some(record.instructions?.peer?.code_bytes as f64), CODE),
];

/// Returns all rows of tables that are shown together, with all known values.
pub(super) fn full(caption: &str, tables: &[Measured<'_>]) -> Grid {
    let several = tables.iter().any(|measured| !measured.name().is_empty());
    let records =
        || tables.iter().flat_map(|of| of.table.records.iter().map(move |record| (of, record)));
    let least = records().map(|(of, record)| of.time(record)).fold(f64::INFINITY, f64::min);
    let unit = Unit::of(least);
    let statistic = tables.first().map_or("median", |of| of.table.statistic.name());

    let mut columns = Vec::new();
    if several {
        columns.push(Column::words("operation", ""));
    }
    columns.extend([
        Column::words("by", "a library, or one of our methods"),
        Column::numbers(format!("{statistic} {}", unit.sign), "the time of one operation"),
        Column::numbers("×", "time relative to the reference row"),
        Column::numbers("± %", "half of its 95 % interval"),
        Column::numbers("per second", ""),
        Column::numbers("p50 ms", "median time from request to response"),
        Column::numbers("p99 ms", "99th percentile of the time from request to response"),
        Column::numbers("cpu µs", "processor time per operation, clients and service"),
        Column::words("ct", "constant-time, as documented"),
        Column::numbers("scratch B", "scratch passed by the caller"),
        Column::numbers("stack B", "stack down to the deepest write"),
        Column::numbers("heap B", "peak bytes in use"),
        Column::numbers("held B", "bytes held between calls"),
        Column::numbers("allocated B", "bytes allocated by a call"),
        Column::numbers("allocations", "allocations per call"),
    ]);
    columns.extend(RARE.map(|(name, _, meaning)| Column::numbers(name, meaning)));
    columns.push(Column::words("calls", "the called function"));
    let rows = records().map(|(of, record)| {
        let mut cells = Vec::new();
        if several {
            cells.push(of.name().to_owned());
        }
        cells.push(of.who(record));
        cells.extend(numbers(of, record, unit));
        let rare = RARE.map(|(_, value, _)| value(record));
        cells.extend(rare.map(|number| number.map_or_else(|| NONE.into(), digits)));
        cells.push(record.implementation.function.clone());
        cells
    });
    Grid { caption: caption.into(), rows: rows.collect(), columns }
}

/// Returns the cells after the name.
fn numbers(of: &Measured<'_>, record: &Record, unit: Unit) -> Vec<String> {
    let Memory { scratch, stack_peak, heap_peak, heap_held, heap_total, allocations, .. } =
        record.memory;
    let service = |show: fn(&cycloid_lab::record::Service) -> String| {
        record.service.as_ref().map_or_else(|| NONE.into(), show)
    };
    let ratio = &record.ratio;
    let against_itself = record.label == of.table.reference;
    let half = ratio.spread() * 100.0;
    vec![
        unit.show(of.time(record)),
        proportion(ratio.median),
        if against_itself { NONE.into() } else { format!("{half:.1}") },
        per_second(record.time.operations_per_second),
        service(|service| format!("{:.3}", service.latency_median_ns / 1e6)),
        service(|service| format!("{:.3}", service.latency_p99_ns / 1e6)),
        service(|service| Unit::MICROSECONDS.show(service.processor_ns)),
        if record.constant_time { "yes" } else { "no" }.into(),
        whole_or_none(scratch.map(|bytes| bytes as u64)),
        whole_or_none(stack_peak.map(|bytes| bytes as u64)),
        whole_or_none(heap_peak),
        whole_or_none(heap_held),
        whole_or_none(heap_total),
        whole_or_none(allocations),
    ]
}

/// Formats operations per second, with a decimal for small rates.
pub(super) fn per_second(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { whole(rate.round() as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_cells_are_escaped_and_unknown_columns_are_omitted() {
        let grid = Grid {
            caption: "a \"caption\"".into(),
            columns: vec![
                Column::words("who", ""),
                Column::numbers("<n>", "it's"),
                Column::numbers("nothing", ""),
            ],
            rows: vec![
                vec!["</td><script>".into(), "1,000".into(), NONE.into()],
                vec!["b".into(), NONE.into(), NONE.into()],
            ],
        };
        let html = grid.html();
        assert!(html.contains("&lt;/td&gt;&lt;script&gt;") && !html.contains("<script>"));
        assert!(html.contains(r#"<th scope="col" title="it&#39;s">&lt;n&gt;</th>"#));
        assert!(html.contains(r#"aria-label="a &quot;caption&quot;""#));
        assert!(!html.contains("nothing"));
        assert_eq!(html.matches("scope=\"row\"").count(), 2);
        assert_eq!(html.matches("<td").count(), 2);
    }
}
