//! `cycloid compare`: did it change, and is that more than noise.

mod build;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use cycloid_lab::Failure;
use cycloid_lab::compare::{self, Comparison};
use cycloid_lab::record::Report;

use crate::output::{self, Stop};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid compare old.json new.json             what bench --save wrote, before and after
  cycloid compare a1.json,a2.json,a3.json b1.json,b2.json,b3.json
                                                repeated runs, best made in turns
  cycloid compare --build main . -- ec --quick  two revisions of this repository, built and
                                                run in turns; . is the working tree
  cycloid compare --build HEAD HEAD --flags-b '-C target-cpu=native' -- modexp --bits 2048
                                                what a flag is worth

Exit code: 0 if no row of ours is slower, 3 if one is, 1 or 2 if they could not be compared.")]
pub(crate) struct Compare {
    /// A record, or those of several runs, separated by commas; with --build, a revision.
    old: String,

    /// The same of the other side.
    new: String,

    /// The floor of relevance in per cent: what differs by less is the same.
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    threshold: f64,

    /// Show every row, not only what changed or is undecided.
    #[arg(long)]
    all: bool,

    /// Print everything as JSON.
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    json: bool,

    /// Print every row as comma-separated values.
    #[arg(long, conflicts_with = "markdown")]
    csv: bool,

    /// Print a table for a comment on a change.
    #[arg(long)]
    markdown: bool,

    /// Build two revisions of the repository around the current directory, and run them in turns.
    #[arg(long)]
    build: bool,

    #[command(flatten)]
    how: build::How,
}

/// A fraction from per cent.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if (0.0..1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("it is not a number of per cent".into()),
    }
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
    if comparison.is_slower() { Err(Stop::Slower) } else { Ok(()) }
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

/// The records in the files of a list.
fn records(list: &str) -> Result<Vec<Report>, Stop> {
    list.split(',').map(|path| read(&PathBuf::from(path))).collect()
}

/// The record in a file.
pub(crate) fn read(path: &Path) -> Result<Report, Stop> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        let hint = "records are what `cycloid bench --save FILE` writes";
        Stop::Failed(Failure::new(format!("cannot read {name}: {error}"), hint))
    })?;
    Report::from_json(&text, &name.to_string()).map_err(Stop::Failed)
}
