//! Operations on an emulated processor, one grid per group: instructions, and where there is a model
//! of its cycles also these, time, memory, flash, and the classic table's figures.

use std::fmt::Write;

use comfy_table::{Cell, Table as Grid};

use super::MAX_WIDTH;
use super::layout::{align, ruled, wrapped};
use super::number::{NONE, proportion, whole, whole_or_none};
use cycloid_lab::record::{Peer, Record, Summary, Table};

const CONSTANT_TIME: (&str, &str) =
    ("ct", "constant-time for secret values, according to its own documentation");

/// The meanings of the columns without a model of cycles.
const INSTRUCTIONS: [(&str, &str); 4] = [
    CONSTANT_TIME,
    (
        "k instr",
        "thousand instructions of one operation, counted by the emulator. They say nothing about \
         latencies: an instruction may take a quarter of a cycle or ten",
    ),
    ("×", "instructions relative to the group's default: 2.00 takes twice as many"),
    ("code", "bytes of machine code executed by a call, in whole lines of 64 bytes"),
];

/// The same with one.
const CYCLES: [(&str, &str); 9] = [
    CONSTANT_TIME,
    ("M instr", "million instructions of one operation: exact, and the same in every run"),
    (
        "M cycles",
        "million cycles: an estimate from the instruction timings that Arm publishes, for memory \
         without wait states and without contention. A device with wait states takes longer",
    ),
    ("ms", "the time of so many cycles at 180 MHz"),
    ("×", "cycles relative to the group's default: 2.00 takes twice as many"),
    ("scratch", "bytes that the caller passes, as given by the library's own const fn"),
    ("stack", "bytes of stack that the operation wrote"),
    (
        "flash",
        "bytes of code and constants: by how much a program with the operation is larger than one \
         without. For signing, the program also verifies; for verification on a curve, it also signs",
    ),
    (NONE, "unknown, or not measured"),
];

/// The columns that only the classic table's rows have.
const CLASSIC: [&str; 2] = ["classic ms", "bytes"];

/// Returns whether this form shows a table.
pub(super) fn is_shown(table: &Table) -> bool {
    table.summary == Summary::Emulated
}

/// Returns the meanings of the columns of these tables.
pub(super) fn meanings(tables: &[Table]) -> &'static [(&'static str, &'static str)] {
    let tables: Vec<&Table> = tables.iter().collect();
    if has_cycles(&tables) { &CYCLES } else { &INSTRUCTIONS }
}

fn has_cycles(tables: &[&Table]) -> bool {
    tables.iter().flat_map(|table| &table.records).any(|record| record.emulated.is_some())
}

/// Formats a grid for each group.
pub(super) fn text(tables: &[Table], peers: &[Peer]) -> String {
    let mut text = String::new();
    let tables: Vec<&Table> = tables.iter().filter(|table| is_shown(table)).collect();
    for tables in tables.chunk_by(|a, b| a.suite == b.suite && a.group == b.group) {
        let alone = tables.len() == 1;
        let title = if alone { tables[0].title() } else { tables[0].group.clone() };
        let _ = writeln!(text, "\n{}: {title}", tables[0].suite);
        let _ = writeln!(text, "{}", grid(tables));
        for name in &tables[0].missing {
            let peer = peers.iter().find(|peer| peer.name == *name);
            let remedy = peer.and_then(|peer| peer.missing.as_ref());
            let remedy = remedy.map_or(String::new(), |missing| format!(": {}", missing.remedy));
            for line in wrapped(&format!("missing: {name}{remedy}"), MAX_WIDTH) {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    text
}

fn grid(tables: &[&Table]) -> Grid {
    let records = || tables.iter().flat_map(|table| &table.records);
    let classic = records().any(|record| classic(record) != [NONE, NONE]);
    let heap = records().any(|record| record.memory.heap_peak.is_some_and(|bytes| bytes > 0));
    let cycles = has_cycles(tables);
    let mut head = vec!["", "ct"];
    if cycles {
        head.extend(["M instr", "M cycles", "ms", "×", "scratch", "stack"]);
        head.extend(heap.then_some("heap"));
        head.push(if classic { CLASSIC[0] } else { "flash" });
        head.extend(classic.then_some(CLASSIC[1]));
    } else {
        head.extend(["k instr", "×", "code"]);
    }
    let mut grid = ruled();
    grid.set_header(head.into_iter().map(Cell::new));
    for table in tables {
        if tables.len() > 1 {
            grid.add_row([&table.name]);
        }
        let mut group = "";
        for record in &table.records {
            if record.group != group {
                group = &record.group;
                grid.add_row([format!("  {group}")]);
            }
            let columns = if cycles { cycles_of(record, heap, classic) } else { counts_of(record) };
            grid.add_row(name_of(record).into_iter().chain(columns));
        }
    }
    align(&mut grid, 2);
    grid
}

/// Returns the first two cells of a row.
fn name_of(record: &Record) -> [String; 2] {
    let mark = if record.constant_time { "✓" } else { "" };
    [format!("    {}", record.label), mark.into()]
}

/// Returns the cells of a row without a model of cycles.
fn counts_of(record: &Record) -> Vec<String> {
    let counted = record.instructions.and_then(|counted| counted.emulated);
    vec![
        whole_or_none(counted.map(|counted| (counted.count / 1e3).round() as u64)),
        proportion(record.ratio.median),
        whole_or_none(counted.map(|counted| counted.code_bytes)),
    ]
}

/// Returns the cells of a row with one.
fn cycles_of(record: &Record, heap: bool, with_classic: bool) -> Vec<String> {
    let emulated = record.emulated;
    let instructions = record.instructions.and_then(|counted| counted.emulated);
    let bytes = |bytes: Option<usize>| whole_or_none(bytes.map(|bytes| bytes as u64));
    let mut cells = vec![
        instructions.map_or_else(|| NONE.into(), |counted| millions(counted.count)),
        emulated.map_or_else(|| NONE.into(), |of| millions(of.cycles as f64)),
        format!("{:.2}", record.time.median_ns / 1e6),
        proportion(record.ratio.median),
        bytes(record.memory.scratch),
        bytes(record.memory.stack_peak),
    ];
    cells.extend(heap.then(|| whole_or_none(record.memory.heap_peak)));
    match with_classic {
        true => cells.extend(classic(record)),
        false => cells.push(whole_or_none(emulated.and_then(|of| of.flash))),
    }
    cells
}

/// Formats the classic table's figures.
fn classic(record: &Record) -> [String; 2] {
    let known = record.emulated.and_then(|of| of.classic).unwrap_or_default();
    let time = known.milliseconds.map_or_else(|| NONE.into(), |time| whole(time as u64));
    [time, whole_or_none(known.scratch.map(|bytes| bytes as u64))]
}

/// Formats a count in millions.
fn millions(count: f64) -> String {
    format!("{:.2}", count / 1e6)
}

#[cfg(test)]
mod tests {
    use cycloid_lab::record::{Record, Report};

    #[test]
    fn a_record_of_an_emulated_processor_is_shown_in_100_columns_without_noise() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/cortex-m4/bench.json");
        let report = Report::from_json(&std::fs::read_to_string(path).unwrap(), path).unwrap();
        let text = crate::tables::text(&report, 100);
        for part in ["M cycles", "classic ms", "18,492", "flash", "an estimate", "mbed TLS"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("noise"));
        assert!(text.lines().all(|line| line.chars().count() <= 100));
        // Without a model of cycles, there are instructions alone.
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/aarch64/bench.json");
        let counted = Report::from_json(&std::fs::read_to_string(path).unwrap(), path).unwrap();
        let text = crate::tables::text(&counted, 100);
        for part in ["k instr", "P-256 on AArch64", "portable", "graviola", "AWS-LC", "blst"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("cycles") && !text.contains("callgrind"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100));
        // Without the peers, there is no heap, and the peers are named with what to do.
        let mut alone = report;
        alone.tables.retain(|table| table.suite == "rsa");
        for table in &mut alone.tables {
            table.records.retain(Record::is_ours);
            table.missing = vec!["BearSSL".into()];
        }
        let text = crate::tables::text(&alone, 100);
        assert!(text.contains("missing: BearSSL") && !text.contains("heap"), "{text}");
    }
}
