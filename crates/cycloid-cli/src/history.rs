//! `cycloid history`: records results over time and flags outliers.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, Subcommand};
use cycloid_lab::Failure;
use cycloid_report::compare::Verdict;
use cycloid_report::history::{self, Entry};

use crate::comparison::{self, SLOWER};
use cycloid_command::{Stop, output};

#[derive(Debug, Args)]
#[command(arg_required_else_help = false)]
#[command(after_help = "\
Examples:
  cycloid bench ec --save ec.json && cycloid history add ec.json
  cycloid history show                  what changed last, group by group
  cycloid history show p-256 sign       run by run, the rows whose names have these words
  cycloid history check ec.json         whether a run is an outlier")]
pub(crate) struct History {
    #[command(subcommand)]
    command: Action,

    /// The history file, with one line per run.
    #[arg(long, value_name = "FILE", global = true, default_value = "docs/results/history.jsonl")]
    file: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Append records to the history, one line each.
    Add {
        /// Records that bench --save wrote.
        #[arg(required = true, value_name = "RECORD")]
        records: Vec<PathBuf>,

        /// The measured commit [default: the commit in the current directory].
        #[arg(long, value_name = "COMMIT")]
        commit: Option<String>,
    },
    /// Print the newest changes of each group of rows, or the course of some rows.
    ///
    /// A row is compared with the last run on the same machine, relative to the peers' rows that
    /// both runs have in the same version. Without such a row, the runs are not comparable.
    Show {
        /// Words that the names of the rows have in common.
        words: Vec<String>,
    },
    /// Flag the outliers of a record against the history of this machine.
    ///
    /// A row is an outlier if it changed by more than Q3 + 3 IQR of the changes from run to run; at
    /// least ten changes are needed. The exit code is 0 if no row is slower, 3 if one is, 1 or 2 if
    /// the check failed.
    Check {
        /// A record that bench --save wrote.
        record: PathBuf,

        /// The smallest relevant change in per cent: smaller differences count as equal.
        #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = comparison::percent)]
        threshold: f64,

        /// Print every row as JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(arguments: &History) -> Result<(), Stop> {
    let file = &arguments.file;
    match &arguments.command {
        Action::Add { records, commit } => {
            let commit = commit.clone().or_else(commit_here);
            let line =
                |path: &PathBuf| Ok(Entry::of(&comparison::read(path)?, commit.clone()).line());
            let lines = records.iter().map(line).collect::<Result<String, Stop>>()?;
            append(file, &lines)
        }
        Action::Show { words } => {
            output::print(&history::show(&read(file)?, words).map_err(Stop::Failed)?)
        }
        Action::Check { record, threshold, json } => {
            let newest = Entry::of(&comparison::read(record)?, None);
            // The run itself may be in the history already.
            let mut earlier = read(file)?;
            earlier.retain(|entry| entry.date != newest.date);
            let checks = history::check(&earlier, &newest, *threshold);
            output::print(&if *json {
                serde_json::to_string_pretty(&checks).expect("it has nothing but data") + "\n"
            } else {
                history::text(&checks)
            })?;
            let slower = checks.iter().any(|check| check.verdict == Verdict::Slower);
            if slower { Err(Stop::Exit(SLOWER)) } else { Ok(()) }
        }
    }
}

/// Returns the entries of the file.
fn read(file: &Path) -> Result<Vec<Entry>, Stop> {
    let text = fs::read_to_string(file).map_err(|error| cannot("read", file, &error))?;
    history::read(&text, &file.display().to_string()).map_err(Stop::Failed)
}

/// Appends lines to the file, or leaves it unchanged.
fn append(path: &Path, lines: &str) -> Result<(), Stop> {
    let (mut file, text) = open(path).map_err(|error| cannot("write", path, &error))?;
    // A file that is not a history is not appended to.
    history::read(&text, &path.display().to_string()).map_err(Stop::Failed)?;
    // An editor may have removed the last line's end.
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    file.write_all(format!("{end}{lines}").as_bytes()).map_err(|error| {
        // On a full disk, part of a line may be written.
        let _ = file.set_len(text.len() as u64);
        cannot("write", path, &error)
    })
}

/// Opens the file for appending, and reads it. Other processes that append wait until it is closed.
fn open(path: &Path) -> io::Result<(File, String)> {
    let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
    match file.lock() {
        // Not every file system has locks.
        Err(error) if error.kind() != ErrorKind::Unsupported => return Err(error),
        _ => {}
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok((file, text))
}

/// Returns the commit of the repository around the current directory, if there is one.
fn commit_here() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--dirty", "--exclude=*"]).stdin(Stdio::null());
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().into())
}

fn cannot(what: &str, file: &Path, error: &io::Error) -> Stop {
    Stop::Failed(Failure::new(
        format!("cannot {what} {}: {error}", file.display()),
        match (what, error.kind()) {
            ("read", ErrorKind::NotFound) => {
                "name the history with --file, or begin one: history add"
            }
            _ => "name another file with --file",
        },
    ))
}
