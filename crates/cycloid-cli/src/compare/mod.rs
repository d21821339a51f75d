//! `cycloid compare`: reports changes between records that exceed noise.

mod build;

use std::path::PathBuf;

use clap::Args;
use cycloid_lab::record::Report;
use cycloid_report::compare::{self, Comparison};

use crate::comparison::{SLOWER, percent, read};
use cycloid_command::{Stop, output};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid compare old.json new.json             records of bench --save, before and after
  cycloid compare a1.json,a2.json,a3.json b1.json,b2.json,b3.json
                                                repeated runs, best run alternately
  cycloid compare --build main . -- ec --quick  two revisions of this repository, built and
                                                run alternately; . is the working tree
  cycloid compare --build HEAD HEAD --flags-b '-C target-cpu=native' -- modexp --bits 2048
                                                the effect of a compiler flag

Exit code: 0 if no row of the library is slower, 3 if one is, 1 or 2 if the comparison failed.")]
pub(crate) struct Compare {
    /// A record, or the records of several runs, separated by commas; with --build, a revision.
    old: String,

    /// The other side, in the same form.
    new: String,

    /// The smallest relevant change in per cent: smaller differences count as equal.
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    threshold: f64,

    /// Show every row, not only changed and undecided rows.
    #[arg(long)]
    all: bool,

    /// Print every row as JSON.
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    json: bool,

    /// Print every row as comma-separated values.
    #[arg(long, conflicts_with = "markdown")]
    csv: bool,

    /// Print a Markdown table for a comment on a change.
    #[arg(long)]
    markdown: bool,

    /// Build two revisions of the repository around the current directory, and run them
    /// alternately.
    #[arg(long)]
    build: bool,

    #[command(flatten)]
    how: build::How,
}

pub(crate) fn run(arguments: &Compare) -> Result<(), Stop> {
    let Compare { old, new, threshold, .. } = arguments;
    let [old, new] = if arguments.build {
        build::run([old, new], &arguments.how)?
    } else {
        [records(old)?, records(new)?]
    };
    let comparison = compare::compare(&old, &new, *threshold).map_err(Stop::Failed)?;
    output::print(&shown(&comparison, arguments))?;
    if comparison.is_slower() { Err(Stop::Exit(SLOWER)) } else { Ok(()) }
}

fn shown(comparison: &Comparison, arguments: &Compare) -> String {
    match arguments {
        Compare { json: true, .. } => {
            serde_json::to_string_pretty(comparison).expect("it has nothing but data") + "\n"
        }
        Compare { csv: true, .. } => compare::csv(comparison),
        Compare { markdown: true, all, .. } => compare::markdown(comparison, *all),
        Compare { all, .. } => compare::text(comparison, *all),
    }
}

/// Reads the records in a comma-separated list of files.
fn records(list: &str) -> Result<Vec<Report>, Stop> {
    list.split(',').map(|path| read(&PathBuf::from(path))).collect()
}
