//! Counts the instructions and the executed code of single operations, using callgrind.
//!
//! A process under valgrind prepares the tables of a run again and has callgrind write the cost of
//! each run of a row ([`count_tables`]). The parent starts it with [`command`], reads the results
//! with [`read`] and stores them in the record of the run with [`add`]. Only the operation itself
//! counts: its preparation is excluded, and the cost of the surrounding call is measured with an
//! empty operation and subtracted.

mod callgrind;
#[cfg(test)]
mod tests;
mod under_valgrind;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use cycloid::cpu::Level;
use serde::{Deserialize, Serialize};

use self::callgrind::{Dump, LINE_BYTES};
use crate::Failure;
use crate::record::{Count, Instructions, Record, Report};

pub use under_valgrind::count_tables;

/// The levels that valgrind can execute.
pub const LEVELS: [Level; 2] = [Level::Portable, Level::Adx];

/// The name of callgrind's output files, without the appended number.
const FILE: &str = "callgrind";

/// The name of the dump of an empty operation.
const NOTHING: &str = "nothing";

/// A row selected for counting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    suite: String,
    title: String,
    group: String,
    label: String,
    product: String,
    operations_per_call: u32,
    /// The name of its dumps.
    dump: String,
    /// The number of counted runs; 0 if a run takes too long.
    runs: u32,
}

/// Checks that valgrind is available.
///
/// # Errors
/// If valgrind does not run, or the processor is not supported.
pub fn check() -> Result<(), Failure> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Failure::new(
            "counting instructions needs x86-64",
            "run without --instructions",
        ));
    }
    let asked = Command::new("valgrind")
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match asked {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::new(
            format!("valgrind, needed to count instructions, failed: {status}"),
            "run `valgrind --version` to see why",
        )),
        Err(error) => Err(Failure::new(
            format!("cannot start valgrind, needed to count instructions: {error}"),
            "apt install valgrind, or run without --instructions",
        )),
    }
}

/// Returns the command that runs `program` under callgrind with counting initially off. Callgrind
/// writes into `directory`, which must be empty.
pub fn command(program: &Path, directory: &Path) -> Command {
    let mut file = std::ffi::OsString::from("--callgrind-out-file=");
    file.push(directory.join(FILE));
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--quiet", "--instr-atstart=no", "--collect-atstart=no"])
        .args(["--dump-instr=yes", "--dump-line=no", "--compress-strings=no", "--compress-pos=no"])
        .arg(file)
        .arg(program);
    command
}

/// Returns the counts of `rows` from callgrind's files; `None` for rows that take too long.
///
/// # Errors
/// If a file is missing or malformed.
pub fn read(directory: &Path, rows: Vec<Row>) -> Result<Vec<(Row, Option<Count>)>, Failure> {
    let dumps = dumps(directory).map_err(|message| {
        Failure::new(
            format!("cannot read callgrind's output: {message}"),
            "the parser expects valgrind 3.19; report this",
        )
    })?;
    let of = |name: &str| dumps.iter().filter(|dump| dump.name == name).collect::<Vec<_>>();
    let nothing = of(NOTHING);
    let counted = rows.into_iter().map(|row| {
        if row.runs == 0 {
            return Ok((row, None));
        }
        let dumps = of(&row.dump);
        let nothing = nothing.first().filter(|_| dumps.len() == row.runs as usize);
        let Some(nothing) = nothing else {
            return Err(Failure::new(
                format!("callgrind did not count every run of {}, {}", row.title, row.label),
                "check the free space for its files; otherwise report this",
            ));
        };
        let count = count(&dumps, nothing, row.operations_per_call);
        Ok((row, Some(count)))
    });
    counted.collect()
}

/// Reads and deletes all requested dumps.
fn dumps(directory: &Path) -> Result<Vec<Dump>, String> {
    let mut dumps = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        dumps.extend(callgrind::parse(&text)?);
        // There may be thousands.
        fs::remove_file(&path).map_err(|error| error.to_string())?;
    }
    Ok(dumps)
}

/// Computes the cost of one operation from the dumps of calls of `operations_per_call` operations.
fn count(dumps: &[&Dump], nothing: &Dump, operations_per_call: u32) -> Count {
    let each = f64::from(operations_per_call.max(1));
    let counts = || dumps.iter().map(|dump| dump.instructions.saturating_sub(nothing.instructions));
    let lines: BTreeSet<_> = dumps.iter().flat_map(|dump| &dump.lines).collect();
    let own = lines.iter().filter(|line| !nothing.lines.contains(*line)).count();
    let per_operation = |count: u64| count as f64 / each;
    Count {
        count: counts().sum::<u64>() as f64 / (dumps.len().max(1) as f64 * each),
        range: [counts().min(), counts().max()].map(|end| per_operation(end.unwrap_or(0))),
        runs: dumps.len() as u32,
        code_bytes: own as u64 * LINE_BYTES,
    }
}

/// Stores the counts, taken with the library at `level`, in the records of the same rows.
pub fn add(report: &mut Report, level: Level, counted: &[(Row, Option<Count>)]) {
    for table in &mut report.tables {
        let (title, mut too_long) = (table.title(), Vec::new());
        for record in &mut table.records {
            let of_record =
                |row: &Row| row.suite == table.suite && row.title == title && row.is(record);
            let Some((_, count)) = counted.iter().find(|(row, _)| of_record(row)) else { continue };
            let Some(count) = *count else {
                too_long.push(record.name());
                continue;
            };
            let ours = record.is_ours();
            let instructions = record.instructions.get_or_insert_with(Instructions::default);
            match level {
                _ if !ours => instructions.peer = Some(count),
                Level::Portable => instructions.portable = Some(count),
                _ => instructions.adx = Some(count),
            }
        }
        if !too_long.is_empty() {
            table.notes.push(format!(
                "instructions, {}: not counted, because a run under valgrind takes too long without \
                 --full: {}",
                level.name(),
                too_long.join("; ")
            ));
        }
    }
}

impl Row {
    fn is(&self, record: &Record) -> bool {
        self.group == record.group
            && self.label == record.label
            && self.product == record.implementation.product
    }
}
