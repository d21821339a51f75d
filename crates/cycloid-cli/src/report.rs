//! `cycloid report`: writes records as one HTML page.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use cycloid_lab::Failure;
use cycloid_report::page::{self, Source};

use cycloid_command::Stop;
use cycloid_command::output::{self, Destination};

/// The directory of the repository's records.
const RESULTS: &str = "docs/results";

/// The name of the history in a folder of records.
const HISTORY: &str = "history.jsonl";

/// The default name of the page.
const PAGE: &str = "cycloid-report.html";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid report                               from the records in docs/results
  cycloid report mine.json --output mine.html  from a record of bench --save
  cycloid report mine yours                    from two folders of records; processors
                                               stand side by side
  cycloid report sign.json --profile s.folded  with a flame graph of folded stacks")]
pub(crate) struct Report {
    /// Records that bench --save or profile --save wrote, or folders of them [default:
    /// docs/results].
    ///
    /// A history.jsonl in a folder is plotted, too.
    #[arg(value_name = "RECORD")]
    records: Vec<PathBuf>,

    /// The file to write; - is stdout.
    #[arg(long, value_name = "FILE", default_value = PAGE)]
    output: PathBuf,

    /// Folded stacks to draw as flame graphs, from profile --folded or another profiler.
    #[arg(long, value_name = "FOLDED", num_args = 1..)]
    profile: Vec<PathBuf>,

    /// A history to plot, from history add.
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
}

pub(crate) fn run(report: &Report) -> Result<(), Stop> {
    report.keeps_its_inputs()?;
    let mut sources = if report.records.is_empty() && report.profile.is_empty() {
        of_folder(&results()?)?
    } else {
        let mut sources = Vec::new();
        for path in &report.records {
            match path.is_dir() {
                true => sources.append(&mut of_folder(path)?),
                false => sources.push(source(path)?),
            }
        }
        sources
    };
    if let Some(path) = &report.history {
        sources.push(history(path)?);
    }
    for path in &report.profile {
        let stacks = Source::folded(&name(path), &read(path)?).map_err(Stop::Failed)?;
        sources.push(stacks);
    }
    let page = page::html(&sources);
    if report.output == Path::new("-") {
        return output::print(&page);
    }
    Destination::new(&report.output)?.write(&page)?;
    eprintln!("wrote {}, {} KiB", report.output.display(), page.len().div_ceil(1024));
    Ok(())
}

impl Report {
    /// Checks that the page does not replace a file that it is made from.
    fn keeps_its_inputs(&self) -> Result<(), Stop> {
        let Ok(output) = self.output.canonicalize() else { return Ok(()) };
        let mut inputs = self.records.iter().chain(&self.profile).chain(&self.history);
        let is_input = |path: &PathBuf| path.canonicalize().is_ok_and(|path| path == output);
        let in_folder = output.parent().is_some_and(|folder| {
            let is_it = |path: &PathBuf| path.canonicalize().is_ok_and(|path| path == folder);
            self.records.iter().any(is_it)
                && ["json", "jsonl", "folded"]
                    .iter()
                    .any(|extension| has_extension(&output, extension))
        });
        if inputs.any(is_input) || in_folder {
            return Err(Stop::Usage(Failure::new(
                format!("the page would replace {}, which it is made from", self.output.display()),
                "name another file with --output",
            )));
        }
        Ok(())
    }
}

/// Returns the results directory of the repository around the current directory.
fn results() -> Result<PathBuf, Stop> {
    let here = env::current_dir().unwrap_or_default();
    let found = here.ancestors().map(|folder| folder.join(RESULTS)).find(|path| path.is_dir());
    found.ok_or_else(|| {
        Stop::Usage(Failure::new(
            format!("no record given, and no {RESULTS} in this or a parent directory"),
            "write a record with cycloid bench --save FILE, then run cycloid report FILE",
        ))
    })
}

/// Returns all records in a folder, with its history.
fn of_folder(folder: &Path) -> Result<Vec<Source>, Stop> {
    let entries = fs::read_dir(folder).map_err(|error| cannot_read(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut sources = Vec::new();
    for path in paths.iter().filter(|path| has_extension(path, "json")) {
        match Source::record(&name(path), &read(path)?) {
            Ok(source) => sources.push(source),
            // The folder may contain other files.
            Err(failure) => eprintln!("note: left out {failure}"),
        }
    }
    // Stacks are skipped if a record of the same name, which contains them, exists.
    let alone =
        |path: &&PathBuf| has_extension(path, "folded") && !path.with_extension("json").exists();
    for path in paths.iter().filter(alone) {
        sources.push(Source::folded(&name(path), &read(path)?).map_err(Stop::Failed)?);
    }
    if sources.is_empty() {
        return Err(Stop::Usage(Failure::new(
            format!("no record in {}", folder.display()),
            "write a record with cycloid bench --save FILE, then run cycloid report FILE",
        )));
    }
    for path in paths.iter().filter(|path| path.ends_with(HISTORY)) {
        sources.push(history(path)?);
    }
    Ok(sources)
}

/// Reads a history.
fn history(path: &Path) -> Result<Source, Stop> {
    Source::history(&name(path), &read(path)?).map_err(Stop::Failed)
}

/// Reads a record that the arguments name.
fn source(path: &Path) -> Result<Source, Stop> {
    Source::record(&name(path), &read(path)?).map_err(Stop::Failed)
}

fn read(path: &Path) -> Result<String, Stop> {
    fs::read_to_string(path).map_err(|error| cannot_read(path, &error))
}

/// Returns the file's name on the page: without its folders.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Stop {
    Stop::Failed(Failure::new(
        format!("cannot read {}: {error}", path.display()),
        "name a file that cycloid bench --save FILE wrote",
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn every_command_on_the_page_parses() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(RESULTS);
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let records = files.filter(|path| has_extension(path, "json"));
        let sources: Vec<Source> = records.filter_map(|path| source(&path).ok()).collect();
        assert!(sources.len() > 8);
        let page = page::html(&sources);
        let mut count = 0;
        for command in page.split("<code>cargo run --release -- ").skip(1) {
            let words = command.split('<').next().unwrap().split(' ');
            let parsed = Arguments::try_parse_from(std::iter::once("cycloid").chain(words));
            assert!(parsed.is_ok(), "{}", parsed.unwrap_err());
            count += 1;
        }
        assert!(count > 40, "{count}");
    }
}
