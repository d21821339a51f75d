//! Instructions of single operations, and the code that they run, as callgrind counts them.
//!
//! A process under valgrind prepares the tables of a run once more and has callgrind write what each
//! single run of a row took ([`here`]). Who starts it, by [`command`], reads that by [`read`] and puts
//! it into the record of the run by [`add`]. Nothing but the operation counts: not its preparation, and
//! not the call that is around it, which is counted with an operation that does nothing.

mod callgrind;
mod here;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use cycloid::cpu::Level;
use serde::{Deserialize, Serialize};

use self::callgrind::Dump;
use crate::Failure;
use crate::compare::is_ours;
use crate::record::{Count, Instructions, Record, Report};

pub use here::here;

/// The levels that valgrind executes.
pub const LEVELS: [Level; 2] = [Level::Portable, Level::Adx];

/// Bytes of a line of the instruction cache.
const LINE_BYTES: u64 = 64;

/// What the file is called that callgrind writes, but for a number behind it.
const FILE: &str = "callgrind";

/// The name of the dump of an operation that does nothing.
const NOTHING: &str = "nothing";

/// A row that was to be counted.
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
    /// Runs that were counted: none where one takes too long.
    runs: u32,
}

/// Whether there is a valgrind to count by.
///
/// # Errors
/// If there is none, or none for this processor.
pub fn check() -> Result<(), Failure> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Failure::new(
            "instructions are counted on x86-64 only",
            "leave out --instructions",
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
            format!("valgrind, which counts instructions, does not run: {status}"),
            "`valgrind --version` says why",
        )),
        Err(error) => Err(Failure::new(
            format!("valgrind, which counts instructions, does not start: {error}"),
            "apt install valgrind, or leave out --instructions",
        )),
    }
}

/// `program` under callgrind, which counts nothing until it is asked to, and writes into `directory`,
/// which is empty.
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

/// What was counted of `rows`, by the files that callgrind wrote; none of rows that take too long.
///
/// # Errors
/// If a file is missing, or is none of callgrind's.
pub fn read(directory: &Path, rows: Vec<Row>) -> Result<Vec<(Row, Option<Count>)>, Failure> {
    let dumps = dumps(directory).map_err(|message| {
        Failure::new(
            format!("what callgrind wrote cannot be read: {message}"),
            "it is made for valgrind 3.19; report it",
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
                "is there room for its files? else report it",
            ));
        };
        let count = count(&dumps, nothing, row.operations_per_call);
        Ok((row, Some(count)))
    });
    counted.collect()
}

/// Every dump that callgrind was asked for.
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

/// Of one operation, by one dump or more of a call that does so many.
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

/// Puts what was counted with the library at `level` into the records of the same rows.
pub fn add(report: &mut Report, level: Level, counted: &[(Row, Option<Count>)]) {
    for table in &mut report.tables {
        let mut too_long = Vec::new();
        for record in &mut table.records {
            let of_record =
                |row: &Row| row.suite == table.suite && row.title == table.title && row.is(record);
            let Some((_, count)) = counted.iter().find(|(row, _)| of_record(row)) else { continue };
            let Some(count) = *count else {
                too_long.push(crate::compare::row_name(&record.group, &record.label));
                continue;
            };
            let ours = is_ours(record);
            let instructions = record.instructions.get_or_insert_with(Instructions::default);
            match level {
                _ if !ours => instructions.peer = Some(count),
                Level::Portable => instructions.portable = Some(count),
                _ => instructions.adx = Some(count),
            }
        }
        if !too_long.is_empty() {
            table.notes.push(format!(
                "instructions, {}: not counted, since a run takes too long under valgrind without \
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
