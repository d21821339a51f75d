//! Packet operations of an engine, one kind of packet per line: time, throughput, allocations.

use comfy_table::{Cell, Table as Grid};

use super::layout::{align, ruled};
use super::number::{NONE, proportion, whole};
use cycloid_lab::record::{Record, Table};

/// The meanings of the columns that only this form has.
pub(super) const MEANINGS: [(&str, &str); 3] = [
    ("ns", "per packet, from rounds of packets that stay in the processor's cache"),
    ("Mb/s", "throughput of inner packets at that rate, on one core"),
    ("allocs", "allocations per packet"),
];

/// Returns the grid of a group.
pub(super) fn grid(tables: &[&Table]) -> Grid {
    let mut grid = ruled();
    let mut head: Vec<String> = ["", "ns", "±", "Mb/s", "allocs"].map(Into::into).into();
    let peer = tables.iter().find_map(|table| table.records.get(1));
    if let Some(peer) = peer {
        head.extend([format!("{} ns", peer.group), "×".into(), "±".into()]);
    }
    grid.set_header(head.into_iter().map(Cell::new));
    for table in tables {
        let mut cells = vec![table.name.clone()];
        cells.extend(costs(table, &table.records[0]));
        let allocations = table.records[0].memory.allocations;
        let packets = u64::from(table.records[0].operations_per_call.max(1));
        cells.push(allocations.map_or_else(
            || NONE.into(),
            |number| match number % packets {
                0 => whole(number / packets),
                _ => format!("{:.2}", number as f64 / packets as f64),
            },
        ));
        if peer.is_some() {
            cells.extend(match table.records.get(1) {
                None => vec![NONE.to_owned(); 3],
                Some(peer) => {
                    let [time, ..] = costs(table, peer);
                    let half = format!("{:.1}%", peer.ratio.spread() * 100.0);
                    vec![time, proportion(peer.ratio.median), half]
                }
            });
        }
        grid.add_row(cells);
    }
    align(&mut grid, 1);
    grid
}

/// Returns nanoseconds, half of their interval, and megabits per second.
fn costs(table: &Table, record: &Record) -> [String; 3] {
    let time = record.time.nanoseconds(table.statistic);
    let half = (record.time.interval_ns[1] - record.time.interval_ns[0]) / 2.0 / time;
    let bytes = table.parameters.get("packet_bytes").and_then(serde_json::Value::as_f64);
    [
        format!("{time:.1}"),
        format!("{:.1}%", half * 100.0),
        bytes.map_or_else(|| NONE.into(), |bytes| whole((bytes * 8e3 / time) as u64)),
    ]
}
