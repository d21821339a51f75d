//! `cycloid history`: the course of the numbers from run to run.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, Subcommand};
use cycloid_lab::Failure;
use cycloid_lab::compare::Verdict;
use cycloid_lab::history::{self, Entry};

use crate::compare;
use crate::output::{self, Stop};

#[derive(Debug, Args)]
#[command(arg_required_else_help = false)]
#[command(after_help = "\
Examples:
  cycloid bench ec --save ec.json && cycloid history add ec.json
  cycloid history show                  the suites' means, run by run
  cycloid history show p-256 sign       the rows that are called so
  cycloid history check ec.json         whether a run is beyond what is usual")]
pub(crate) struct History {
    #[command(subcommand)]
    command: What,

    /// The file, which has a line for each run.
    #[arg(long, value_name = "FILE", global = true, default_value = "docs/results/history.jsonl")]
    file: PathBuf,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Add a record as a line.
    Add {
        /// What bench --save wrote.
        record: PathBuf,

        /// The commit that was measured [default: that of the current directory].
        #[arg(long, value_name = "COMMIT")]
        commit: Option<String>,
    },
    /// Print the course of the suites' means, or of the rows whose names have all these words.
    Show {
        /// Words in the names of rows.
        words: Vec<String>,
    },
    /// Say whether a record is beyond what was usual on this machine.
    ///
    /// Beyond is more than Q3 + 3 IQR of the changes from run to run; there must be ten. The exit
    /// code is 0 if no row is slower, 3 if one is, 1 or 2 if they could not be compared.
    Check {
        /// What bench --save wrote.
        record: PathBuf,

        /// The floor of relevance in per cent: what differs by less is the same.
        #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = compare::percent)]
        threshold: f64,

        /// Print every row as JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(arguments: &History) -> Result<(), Stop> {
    let file = &arguments.file;
    match &arguments.command {
        What::Add { record, commit } => {
            let entry = Entry::of(&compare::read(record)?, commit.clone().or_else(commit_here));
            // What is there must be a history, or else it is another file.
            read(file)?;
            let opened = OpenOptions::new().create(true).append(true).open(file);
            let written = opened.and_then(|mut file| file.write_all(entry.line().as_bytes()));
            written.map_err(|error| cannot("write", file, &error))
        }
        What::Show { words } => {
            output::print(&history::show(&read(file)?, words).map_err(Stop::Failed)?)
        }
        What::Check { record, threshold, json } => {
            let newest = Entry::of(&compare::read(record)?, None);
            // The run itself may have been added before.
            let mut earlier = read(file)?;
            earlier.retain(|entry| entry.date != newest.date);
            let checks = history::check(&earlier, &newest, *threshold);
            output::print(&if *json {
                serde_json::to_string_pretty(&checks).expect("it has nothing but data") + "\n"
            } else {
                history::text(&checks)
            })?;
            let slower = checks.iter().any(|check| check.verdict == Verdict::Slower);
            if slower { Err(Stop::Slower) } else { Ok(()) }
        }
    }
}

/// The entries of the file; none if it is not there yet.
fn read(file: &Path) -> Result<Vec<Entry>, Stop> {
    match fs::read_to_string(file) {
        Ok(text) => history::read(&text, &file.display().to_string()).map_err(Stop::Failed),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(cannot("read", file, &error)),
    }
}

/// The commit of the repository around the current directory, if there is one.
fn commit_here() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--dirty", "--exclude=*"]).stdin(Stdio::null());
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().into())
}

fn cannot(what: &str, file: &Path, error: &std::io::Error) -> Stop {
    Stop::Failed(Failure::new(
        format!("cannot {what} {}: {error}", file.display()),
        "--file names another one",
    ))
}
