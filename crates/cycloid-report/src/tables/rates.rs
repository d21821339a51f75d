//! Operations per second with libraries in columns, as in the output of `openssl speed`.

use std::fmt::Write;

use comfy_table::{Cell, Table as Grid};

use super::layout::{align, ruled};
use super::number::{NONE, proportion};
use cycloid_lab::record::{Method, Record, Summary, Table};

/// The number of peers per grid; more peers, or others, get another grid.
const PEERS: usize = 5;

/// The head of the column of ratios, and its meaning.
pub(super) const RATIO: &str = "ratio";
pub(super) const MEANING: &str = "operations per second relative to the best peer's, from paired \
    batches: 2.00 does twice as many; in brackets for batches";

/// Returns whether any table has this form.
pub(super) fn are_shown(tables: &[Table]) -> bool {
    tables.iter().any(|table| table.summary == Summary::Rates)
}

/// Formats the rates of all tables of this form.
pub(super) fn text(tables: &[Table]) -> String {
    let mut text = String::new();
    for tables in tables.chunk_by(|a, b| a.suite == b.suite && a.summary == b.summary) {
        if tables[0].summary != Summary::Rates {
            continue;
        }
        let _ = writeln!(text, "\n{}: operations per second", tables[0].suite);
        let mut rest = tables;
        while !rest.is_empty() {
            let (first, others) = rest.split_at(together(rest));
            let peers = columns(first, is_peer);
            let mut parts: Vec<&[&str]> = peers.chunks(PEERS).collect();
            if parts.is_empty() {
                parts.push(&[]);
            }
            let last = parts.len() - 1;
            for (i, peers) in parts.into_iter().enumerate() {
                if i > 0 {
                    text.push('\n');
                }
                let _ = writeln!(text, "{}", grid(first, peers, i == last));
            }
            rest = others;
            if !rest.is_empty() {
                text.push('\n');
            }
        }
    }
    text
}

/// Returns how many of `tables`, at least all of one group, fit into [`PEERS`] columns for peers.
fn together(tables: &[Table]) -> usize {
    let mut count = 0;
    for group in tables.chunk_by(|a, b| a.group == b.group) {
        let more = count + group.len();
        if count > 0 && columns(&tables[..more], is_peer).len() > PEERS {
            break;
        }
        count = more;
    }
    count
}

fn is_peer(record: &Record) -> bool {
    record.implementation.backend.is_none()
}

/// Returns our labels or the peers' names, each once.
fn columns(tables: &[Table], which: fn(&Record) -> bool) -> Vec<&str> {
    let mut columns = Vec::new();
    for record in tables.iter().flat_map(|table| &table.records).filter(|record| which(record)) {
        let name = if is_peer(record) { &*record.group } else { &*record.label };
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    columns
}

/// Returns the grid of ours and some peers, with ratios to the best of all peers if `whole`.
fn grid(tables: &[Table], peers: &[&str], whole: bool) -> Grid {
    let with_ratio = whole && !peers.is_empty();
    let reference = &*tables[0].reference;
    // Only single and parallel operations; other methods appear only in the full tables.
    let ours = columns(tables, |record| !is_peer(record) && record.method != Method::Other);
    let product = &*tables[0].records[0].implementation.product;

    let mut grid = ruled();
    let mut head = vec![String::new()];
    head.extend(ours.iter().map(|label| if *label == reference { product } else { *label }.into()));
    head.extend(peers.iter().map(|name| (*name).to_owned()));
    if with_ratio {
        head.extend(ours.iter().map(|label| match *label {
            label if label == reference => RATIO.into(),
            label => format!("({label})"),
        }));
    }
    grid.set_header(head.into_iter().map(Cell::new));
    let mut group = "";
    for table in tables {
        if table.group != group {
            group = &table.group;
            grid.add_row([group]);
        }
        grid.add_row(row(table, &ours, peers, with_ratio));
    }
    align(&mut grid, 1);
    grid
}

fn row(table: &Table, ours: &[&str], peers: &[&str], with_ratio: bool) -> Vec<String> {
    let our = |label: &str| table.records.iter().find(|r| !is_peer(r) && r.label == label);
    // Of a peer's methods, the fastest.
    let faster = |a: &&Record, b: &&Record| a.ratio.median.total_cmp(&b.ratio.median);
    let peer =
        |name: &str| table.records.iter().filter(|r| is_peer(r) && r.group == name).min_by(faster);
    let best = |our: &Record| {
        let peers = table.records.iter().filter(|peer| is_peer(peer));
        peers.filter(|peer| our.is_comparable_with(peer)).min_by(faster)
    };

    let rate = |record: Option<&Record>| {
        record.map_or_else(|| NONE.into(), |r| format!("{:.0}", r.time.operations_per_second))
    };
    let mut cells = vec![format!("  {}", table.name)];
    cells.extend(ours.iter().map(|label| rate(our(label))));
    cells.extend(peers.iter().map(|name| rate(peer(name))));
    if with_ratio {
        cells.extend(ours.iter().map(|label| {
            let ratio = our(label)
                .and_then(|our| Some(best(our)?.ratio.median / our.ratio.median))
                .map(proportion);
            ratio.unwrap_or_else(|| NONE.into())
        }));
    }
    cells
}
