//! One table of measurements, with groups and rows in the order of the record.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Table as Grid, Width};

use super::layout::{ruled, wrapped};
use super::number::{NONE, Unit, proportion, whole, whole_or_none};
use cycloid_lab::record::{Memory, Peer, Record, Statistic, Table};

/// The width from which minima and intervals fit.
const WIDE: usize = 96;

pub(super) fn text(table: &Table, peers: &[Peer], width: usize) -> String {
    let mut text = format!("{}\n", table.title());
    let _ = writeln!(text, "{}", grid(table, width >= WIDE));
    let control = &table.control;
    let _ = writeln!(
        text,
        "noise: {} against itself is {:.4} ({:.4} to {:.4}), {} rounds in {:.1} s",
        table.reference,
        control.median,
        control.interval[0],
        control.interval[1],
        table.rounds,
        table.seconds
    );
    for line in wrapped(&format!("backend: {}", backends(table)), width) {
        let _ = writeln!(text, "{line}");
    }
    for name in &table.missing {
        let missing = peers.iter().find(|peer| peer.name == *name);
        let remedy = missing.and_then(|peer| peer.missing.as_ref());
        let remedy = remedy.map_or(String::new(), |missing| format!(": {}", missing.remedy));
        let _ = writeln!(text, "missing: {name}{remedy}");
    }
    text
}

/// Describes the backend of the library's first row, and those of rows with other backends.
fn backends(table: &Table) -> String {
    let mut backends: Vec<(&str, Vec<&str>)> = Vec::new();
    for record in &table.records {
        let Some(backend) = &record.implementation.backend else {
            continue;
        };
        match backends.iter_mut().find(|(known, _)| known == backend) {
            None => backends.push((backend, vec![&record.label])),
            Some((_, labels)) => labels.push(&record.label),
        }
    }
    let texts: Vec<String> = backends
        .iter()
        .enumerate()
        .map(|(i, (backend, labels))| match i {
            0 => (*backend).into(),
            _ => format!("{}: {backend}", labels.join(", ")),
        })
        .collect();
    texts.join("; ")
}

fn grid(table: &Table, wide: bool) -> Grid {
    let reference = table.records.iter().find(|record| record.label == table.reference);
    let unit = Unit::of(reference.map_or(0.0, |record| record.time.nanoseconds(table.statistic)));
    let reference_scratch = reference.and_then(|record| record.memory.scratch);

    let mut grid = ruled();
    let time = format!("{} {}", table.statistic.name(), unit.sign);
    let minimum = format!("min {}", unit.sign);
    let mut names = vec!["", "ct"];
    if wide {
        names.push(&minimum);
    }
    names.extend([&time, "×"]);
    if wide {
        names.push("±");
    }
    names.extend(["scratch", "×", "stack", "heap", "allocs"]);
    grid.set_header(names.iter().map(Cell::new));

    let mut group = "";
    for record in &table.records {
        if record.group != group {
            group = &record.group;
            grid.add_row([group]);
        }
        grid.add_row(row(record, table.statistic, unit, reference_scratch, wide));
    }
    let last = names.len() - 1;
    for (i, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((
            0,
            if i == last {
                0
            } else if wide {
                2
            } else {
                1
            },
        ));
        if i >= 2 {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if i == 0 {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(17)));
        }
    }
    grid
}

fn row(
    record: &Record,
    statistic: Statistic,
    unit: Unit,
    reference_scratch: Option<usize>,
    wide: bool,
) -> Vec<String> {
    let ratio = &record.ratio;
    let Memory { scratch, stack_peak, heap_peak, heap_held, allocations, .. } = record.memory;
    let mut cells = vec![
        format!("  {}", record.label),
        if record.constant_time { "✓".into() } else { String::new() },
    ];
    if wide {
        cells.push(unit.show(record.time.minimum_ns));
    }
    cells.push(unit.show(record.time.nanoseconds(statistic)));
    cells.push(proportion(ratio.median));
    if wide {
        let half = ratio.spread();
        cells.push(if ratio.samples == 0 {
            String::new()
        } else {
            format!("{:.1}%", half * 100.0)
        });
    }
    cells.push(scratch.map_or_else(|| NONE.into(), |bytes| whole(bytes as u64)));
    cells.push(match (scratch, reference_scratch.filter(|bytes| *bytes > 0)) {
        (Some(bytes), Some(reference)) => proportion(bytes as f64 / reference as f64),
        _ => NONE.into(),
    });
    cells.push(whole_or_none(stack_peak.map(|bytes| bytes as u64)));
    cells.push(whole_or_none(heap_peak.zip(heap_held).map(|(peak, held)| peak + held)));
    cells.push(whole_or_none(allocations));
    cells
}
