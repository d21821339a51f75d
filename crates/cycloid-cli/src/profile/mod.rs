//! `cycloid profile`: shows where an operation spends its time.

pub(crate) mod arguments;
mod hsm_sign;
mod service;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cycloid_lab::peers::Peer;
use cycloid_lab::record::printable;
use cycloid_lab::suite::list;
use cycloid_lab::{Failure, programs};
use cycloid_profiler::RawProfile;
use cycloid_report::profile::{self, Choice, FORMAT, Report, Settings};
use cycloid_report::tables::MAX_WIDTH;

use self::arguments::{Output, Profile, Sampling, SelfTest, Special};
use crate::{child, peers};
use cycloid_command::output::{self, Destination};
use cycloid_command::{Stop, processor};

/// The time limit of everything except sampling: generating keys, verifying results, looking up
/// names.
const GRACE: Duration = Duration::from_secs(300);

const STRAYED: &str = "the unwinder may fail in this implementation's assembly code; report it";

/// The default seconds of sampling.
const SECONDS: f64 = 5.0;

/// The default seconds of sampling with `--quick`.
const QUICK: f64 = 1.0;

pub(crate) fn run(profile: &Profile) -> Result<(), Stop> {
    match &profile.special {
        Some(Special::HsmSign(arguments)) => {
            processor::limit(arguments.output.cpu.as_deref())?;
            let files = Files::new(&arguments.output)?;
            let report = hsm_sign::run(arguments)?;
            return files.write(&report, arguments.output.json);
        }
        Some(Special::SelfTest(arguments)) => return self_test(arguments),
        None => {}
    }
    let Profile { words, output, sampling, .. } = profile;
    if !profile.in_this_process && !is_complete(profile) {
        peers::replace()?;
    }
    if profile.list {
        return output::print(&profile::list());
    }
    if let Some([before, after]) = profile.diff.as_deref() {
        return difference(&read(before)?, &read(after)?, output);
    }
    let files = Files::new(output)?;
    if let Some(record) = &profile.from {
        return files.write(&read(record)?, output.json);
    }
    processor::limit(output.cpu.as_deref())?;
    let settings = settings(sampling, output.quick);
    if let Some(process) = profile.pid {
        return files.write(&service::ask(process, settings)?, output.json);
    }
    if !profile.in_this_process {
        return files.write(&in_child(settings.seconds)?, output.json);
    }
    let choice = Choice {
        words: words.clone(),
        implementation: profile.implementation.clone(),
        variant: profile.variant.clone(),
    };
    let report = profile::profile(&choice, settings).map_err(Stop::Failed)?;
    output::print(&json(&report))
}

/// Returns whether this program has what the profile needs: every suite for a list of them, else
/// one suite and the implementation.
fn is_complete(profile: &Profile) -> bool {
    let suites = || {
        list::ALL.iter().filter(|suite| {
            profile.list || profile.words.first().is_some_and(|word| word == suite.name)
        })
    };
    let peers = profile.implementation.as_deref().map_or(Ok(Vec::new()), Peer::from_list);
    suites().all(|suite| suite.is_complete(peers.as_deref().unwrap_or_default()))
}

/// Runs this program as a child process with the same arguments, and parses the record that it
/// prints. If the unwinder crashes in the signal handler, only the child dies, and the failure is
/// reported. `seconds` is the duration of sampling.
fn in_child<R: serde::de::DeserializeOwned>(seconds: f64) -> Result<R, Stop> {
    let mut command = Command::new(programs::own().map_err(Stop::Failed)?);
    command.args(child::arguments()).arg("--in-this-process");
    // On a busy machine, processor time takes much longer than wall-clock time.
    let patience = GRACE + Duration::from_secs_f64(20.0 * seconds);
    child::run(&mut command, patience, ["the profiled process", STRAYED])
}

fn settings(sampling: &Sampling, quick: bool) -> Settings {
    let usual = if quick { QUICK } else { SECONDS };
    Settings { seconds: sampling.seconds.unwrap_or(usual), hertz: sampling.rate }
}

/// The requested output files.
struct Files {
    save: Option<Destination>,
    folded: Option<Destination>,
    svg: Option<Destination>,
    speedscope: Option<Destination>,
}

impl Files {
    fn new(output: &Output) -> Result<Self, Stop> {
        let destination = |path: &Option<_>| path.as_deref().map(Destination::new).transpose();
        Ok(Self {
            save: destination(&output.save)?,
            folded: destination(&output.folded)?,
            svg: destination(&output.svg)?,
            speedscope: destination(&output.speedscope)?,
        })
    }

    /// Writes the files, and prints the report.
    fn write(&self, report: &Report, as_json: bool) -> Result<(), Stop> {
        let write = |file: &Option<Destination>, text: &dyn Fn() -> String| match file {
            Some(file) => file.write(&text()),
            None => Ok(()),
        };
        write(&self.save, &|| json(report))?;
        write(&self.folded, &|| profile::folded(&report.profiles))?;
        write(&self.svg, &|| profile::flame_graph(report))?;
        write(&self.speedscope, &|| profile::speedscope(report))?;
        output::print(&if as_json { json(report) } else { profile::text(report) })
    }
}

fn json(record: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(record).expect("a record has nothing but data") + "\n"
}

/// Reads a saved record, or the samples that a service wrote and resolves their names.
fn read(path: &Path) -> Result<Report, Stop> {
    let stop = |message: String| {
        let hint =
            "name a file written by `cycloid profile --save` or by a service with CYCLOID_PROFILE";
        Stop::Failed(Failure::new(format!("cannot read {}: {message}", path.display()), hint))
    };
    let text = fs::read_to_string(path).map_err(|error| stop(error.to_string()))?;
    if RawProfile::claims_format(&text) {
        let raw = RawProfile::parse(&text).map_err(|error| stop(error.to_string()))?;
        return Ok(Report::of_samples(&raw, &[]));
    }
    let report: Report = printable::from_json(&text).map_err(|error| stop(error.to_string()))?;
    if report.format > FORMAT {
        return Err(stop(format!(
            "its format is {}, but this program knows formats up to {FORMAT}",
            report.format
        )));
    }
    Ok(report)
}

fn difference(before: &Report, after: &Report, output: &Output) -> Result<(), Stop> {
    let differences = profile::differences(before, after);
    if differences.is_empty() {
        return Err(Stop::Failed(Failure::new(
            "the two records have no profile title in common",
            "give two records of the same workload",
        )));
    }
    let svg = output.svg.as_deref().map(Destination::new).transpose()?;
    let save = output.save.as_deref().map(Destination::new).transpose()?;
    if let Some(svg) = svg {
        svg.write(&profile::flame_graph_of_difference(before, after))?;
    }
    if let Some(save) = save {
        save.write(&json(&differences))?;
    }
    output::print(&if output.json {
        json(&differences)
    } else {
        profile::difference_text(before, after, MAX_WIDTH)
    })
}

fn self_test(arguments: &SelfTest) -> Result<(), Stop> {
    let settings = settings(&arguments.sampling, false);
    let test: profile::SelfTest = if arguments.in_this_process {
        profile::self_test(settings).map_err(Stop::Failed)?
    } else {
        in_child(settings.seconds)?
    };
    output::print(&if arguments.json || arguments.in_this_process {
        json(&test)
    } else {
        test.text()
    })?;
    // The child only prints its result; the parent judges it.
    if arguments.in_this_process || test.passes() {
        return Ok(());
    }
    Err(Stop::Failed(Failure::new(
        "time is attributed incorrectly",
        "do not trust profiles of this build on this machine; report it",
    )))
}
