//! Tables that can be sorted where scripts run, and read where they do not.

use std::fmt::Write;

use super::markup::text;
use super::measured::{Measured, digits};
use crate::record::{Memory, Record};
use crate::tables::number::{NONE, Unit, proportion, whole, whole_or_none};

/// Cells in rows and columns, as text. The first column names the row.
pub(super) struct Grid {
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<String>>,
}

/// The head of a column.
pub(super) struct Column {
    pub(super) name: String,
    /// What stands in it, where the name does not say it.
    pub(super) meaning: &'static str,
    /// Whether it holds words, not numbers.
    pub(super) words: bool,
}

impl Column {
    /// Of words.
    pub(super) fn words(name: &str, meaning: &'static str) -> Self {
        Self { name: name.into(), meaning, words: true }
    }

    /// Of numbers.
    pub(super) fn numbers(name: impl Into<String>, meaning: &'static str) -> Self {
        Self { name: name.into(), meaning, words: false }
    }
}

impl Grid {
    /// The table in a box of its own, which scrolls where the table is wider. Columns in which nothing
    /// is known are left out.
    pub(super) fn html(&self) -> String {
        let known = |i: &usize| *i == 0 || self.rows.iter().any(|row| row[*i] != NONE);
        let shown: Vec<usize> = (0..self.columns.len()).filter(known).collect();
        let caption = text(&self.caption);
        let mut html = format!(
            r#"<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table><caption>{caption}</caption><thead><tr>"#
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
                let _ = match (i, self.columns[*i].words) {
                    (0, _) => write!(html, r#"<th scope="row">{cell}</th>"#),
                    (_, true) => write!(html, r#"<td class="t">{cell}</td>"#),
                    (_, false) => write!(html, "<td>{cell}</td>"),
                };
            }
            html.push_str("</tr>\n");
        }
        html + "</tbody></table></div>"
    }
}

const CODE: &str = "machine code that a call executes, in lines of 64 bytes";

/// Columns of what few records have, and the fields that it stands in.
const RARE: [(&str, &[&str], &str); 11] = [
    ("Mb/s", &["tunnel", "megabits_per_second"], "of one TCP stream inside of the tunnel"),
    (
        "server s/GB",
        &["tunnel", "server_seconds_per_gigabyte"],
        "processor seconds at the server's end for a gigabyte",
    ),
    (
        "client s/GB",
        &["tunnel", "client_seconds_per_gigabyte"],
        "processor seconds at the client's end for a gigabyte",
    ),
    ("echo ns", &["tunnel", "round_trip_ns"], "from a ping through the tunnel to its answer"),
    ("resident B", &["memory", "resident"], "memory of the server's process for each client"),
    ("instructions, portable", &["instructions", "portable", "count"], "as callgrind counts them"),
    ("instructions, ADX", &["instructions", "adx", "count"], "as callgrind counts them"),
    ("instructions, peer", &["instructions", "peer", "count"], "of a peer, which has no ADX there"),
    ("code B, portable", &["instructions", "portable", "code_bytes"], CODE),
    ("code B, ADX", &["instructions", "adx", "code_bytes"], CODE),
    ("code B, peer", &["instructions", "peer", "code_bytes"], CODE),
];

/// Every row of tables that are shown together, with all that is known of it.
pub(super) fn full(caption: &str, tables: &[Measured<'_>]) -> Grid {
    let several = tables.iter().any(|measured| !measured.name().is_empty());
    let records =
        || tables.iter().flat_map(|of| (0..of.table.records.len()).map(move |row| (of, row)));
    let least =
        records().map(|(of, row)| of.time(&of.table.records[row])).fold(f64::INFINITY, f64::min);
    let unit = Unit::of(least);
    let statistic = tables.first().map_or("median", |of| of.table.statistic.name());

    let mut columns = Vec::new();
    if several {
        columns.push(Column::words("operation", ""));
    }
    columns.extend([
        Column::words("by", "a library, or one of our ways"),
        Column::numbers(format!("{statistic} {}", unit.sign), "the time of one operation"),
        Column::numbers("×", "time in proportion to the row that all are held against"),
        Column::numbers("± %", "half of the 95 % interval of that proportion"),
        Column::numbers("per second", "operations in a second"),
        Column::numbers("p50 ms", "from question to answer: half took no longer"),
        Column::numbers("p99 ms", "from question to answer: 99 of 100 took no longer"),
        Column::numbers("cpu µs", "processor time of one operation, clients and service"),
        Column::words("ct", "constant-time, in the words of its own documentation"),
        Column::numbers("scratch B", "bytes that the caller passes"),
        Column::numbers("stack B", "bytes between the call and the deepest that it wrote"),
        Column::numbers("heap B", "the most bytes in use during a call"),
        Column::numbers("held B", "bytes that prepared contexts hold between calls"),
        Column::numbers("allocated B", "all bytes that a call asks for"),
        Column::numbers("allocations", "of one call"),
    ]);
    columns.extend(RARE.map(|(name, _, meaning)| Column::numbers(name, meaning)));
    columns.push(Column::words("calls", "the function that is called"));
    let rows = records().map(|(of, row)| {
        let mut cells = Vec::new();
        if several {
            cells.push(of.name().to_owned());
        }
        let record = &of.table.records[row];
        cells.push(of.who(record));
        cells.extend(numbers(of, record, unit));
        let rare = RARE.map(|(_, path, _)| of.number(row, path));
        cells.extend(rare.map(|number| number.map_or_else(|| NONE.into(), digits)));
        cells.push(record.implementation.function.clone());
        cells
    });
    Grid { caption: caption.into(), rows: rows.collect(), columns }
}

/// The cells behind the name.
fn numbers(of: &Measured<'_>, record: &Record, unit: Unit) -> Vec<String> {
    let Memory { scratch, stack_peak, heap_peak, heap_held, heap_total, allocations, .. } =
        record.memory;
    let service = |show: fn(&crate::record::Service) -> String| {
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

/// Operations in a second, with a decimal where there are few.
pub(super) fn per_second(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { whole(rate.round() as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_cells_stay_text_and_unknown_columns_are_left_out() {
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
