//! Whole tunnels: throughput compared with the others, and the cost of each end.

use std::fmt::Write;

use comfy_table::{Cell, Table as Grid};

use super::layout::{align, ruled};
use super::noise::noise;
use super::number::{NONE, Unit, percent, proportion, whole};
use cycloid_lab::record::{Record, Summary, Table};

/// The meanings of the columns that only this form has.
pub(super) const MEANINGS: [(&str, &str); 6] = [
    ("Mb/s", "throughput of one TCP stream through the tunnel"),
    ("ours ×", "our throughput relative to this one's, round by round: 2.00 carries twice as much"),
    (
        "server, client",
        "processor seconds of each end per gigabyte, including kernel time for the process",
    ),
    ("packets/s", "small packets per second: the highest rate, or round trips of all clients"),
    ("KiB", "growth of the server's resident memory per connected client"),
    ("echo µs", "round trip of a ping through the otherwise idle tunnel"),
];

/// Returns whether this form shows the table, instead of a grid of its own.
pub(super) fn is_shown(table: &Table) -> bool {
    table.summary == Summary::Tunnels
}

/// Formats a grid for each table.
pub(super) fn text(tables: &[Table]) -> String {
    let mut text = String::new();
    for table in tables.iter().filter(|table| is_shown(table)) {
        let _ = writeln!(text, "\n{}: {}", table.suite, table.title());
        let _ = writeln!(text, "{}", grid(table));
        let _ = writeln!(text, "{}", noise(&[table]));
        for name in &table.missing {
            let _ = writeln!(text, "missing: {name}");
        }
    }
    text
}

fn grid(table: &Table) -> Grid {
    let mut grid = ruled();
    let carry = table.records.iter().any(|record| record.tunnel.is_some());
    let stay = table.records.iter().any(|record| record.memory.resident.is_some());
    let head: &[&str] = match (carry, stay) {
        _ if of_packets(table) => &["", "packets/s", "ours ×", "±"],
        (true, _) => &["", "Mb/s", "ours ×", "±", "server", "client", "echo µs"],
        (false, true) => &["", "ms", "ours ×", "±", "KiB"],
        (false, false) => &["", "ms", "ours ×", "±"],
    };
    grid.set_header(head.iter().map(Cell::new));
    for record in &table.records {
        grid.add_row(row(table, record));
    }
    align(&mut grid, 2);
    grid
}

/// Returns whether the table has rates of packets.
fn of_packets(table: &Table) -> bool {
    table.parameters.contains_key("packet_bytes")
}

fn row(table: &Table, record: &Record) -> Vec<String> {
    let ratio = &record.ratio;
    let half = match ratio.samples {
        0 => String::new(),
        _ => percent(ratio.spread()),
    };
    let proportions = [proportion(ratio.median), half];
    let mut cells = vec![record.label.clone()];
    match &record.tunnel {
        Some(tunnel) => {
            cells.push(whole(tunnel.megabits_per_second as u64));
            cells.extend(proportions);
            cells.push(format!("{:.2}", tunnel.server_seconds_per_gigabyte));
            cells.push(format!("{:.2}", tunnel.client_seconds_per_gigabyte));
            let show = |time| Unit::MICROSECONDS.show(time);
            cells.push(tunnel.round_trip_ns.map_or_else(|| NONE.into(), show));
        }
        None if of_packets(table) => {
            let rate = 1e9 / record.time.nanoseconds(table.statistic);
            cells.push(whole(rate as u64));
            cells.extend(proportions);
        }
        None => {
            let digits = if record.memory.resident.is_some() { 2 } else { 1 };
            let time = record.time.nanoseconds(table.statistic) / 1e6;
            cells.push(format!("{time:.digits$}"));
            cells.extend(proportions);
            cells.extend(record.memory.resident.map(|bytes| whole(bytes.div_ceil(1024))));
        }
    }
    cells
}
