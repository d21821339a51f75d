//! `cycloid bench`: measures, shows and saves.

use cycloid_command::processor;
use cycloid_lab::Failure;
use cycloid_lab::peers::Peer;
use cycloid_lab::record::Report;
use cycloid_lab::suite::{self, Effort, Suite};
use cycloid_lab::suite::{Descriptor, list};
use cycloid_lab::{count as lab_count, interrupt, tables};
use signal_hook::consts::SIGINT;

use crate::arguments::{Bench, Common};
use crate::count;
use crate::progress::Bar;
use cycloid_command::Stop;
use cycloid_command::output::{self, Destination};

/// The exit code after Ctrl-C: 128 plus the signal's number, as in shells.
pub(crate) const INTERRUPTED: u8 = 130;

/// The width of the output if stdout is not a terminal.
const WIDTH: usize = tables::MAX_WIDTH;

pub(crate) fn run(bench: &Bench) -> Result<(), Stop> {
    if let Some(level) = &bench.count_at {
        return count_here(bench, level);
    }
    if !bench.instructions {
        return measure(&bench.common, |effort| suites(bench, effort), |_| Ok(()));
    }
    lab_count::check().map_err(Stop::Failed)?;
    measure(&bench.common, |effort| suites(bench, effort), count::add)
}

/// Counts the instructions of the chosen rows in this process, and prints the counts for the parent
/// process.
fn count_here(bench: &Bench, level: &str) -> Result<(), Stop> {
    let known = lab_count::LEVELS.into_iter().find(|known| known.name() == level);
    let level = known.ok_or_else(|| {
        let message = format!("valgrind cannot execute '{level}'");
        Stop::Usage(Failure::new(message, "run `cycloid bench --instructions` instead"))
    })?;
    let effort = bench.common.effort();
    let peers = Peer::from_list(&bench.common.peers).map_err(Stop::Usage)?;
    let suites = suites(bench, effort)?;
    let rows = lab_count::count_tables(&suites, effort, &peers, level).map_err(Stop::Failed)?;
    output::print(&serde_json::to_string(&rows).expect("rows are nothing but data"))
}

/// Measures the suites that `suites` returns, extends the report with `add`, shows it and saves it.
pub(crate) fn measure(
    common: &Common,
    suites: impl FnOnce(Effort) -> Result<Vec<Box<dyn Suite>>, Stop>,
    add: impl FnOnce(&mut Report) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let Common { cpu, peers, csv, json, markdown, save, samples, .. } = common;
    let effort = common.effort();
    processor::limit(cpu.as_deref())?;
    let peers = Peer::from_list(peers).map_err(Stop::Usage)?;
    let suites = suites(effort)?;
    let destination = save.as_deref().map(Destination::new).transpose()?;

    catch_interrupts()?;
    let width = (!json && !csv && !markdown).then(width);
    let mut bar = Bar::new(width);
    let mut report = suite::run(&suites, effort, &peers, &mut bar).map_err(Stop::Failed)?;
    if report.unfinished.is_empty() {
        add(&mut report)?;
    }
    if !samples {
        report.forget_samples();
    }
    let record =
        serde_json::to_string_pretty(&report).expect("a report has nothing but data") + "\n";
    if let Some(destination) = destination {
        destination.write(&record)?;
    }
    bar.printed()?;
    let text = match width {
        Some(width) => tables::end(&report, width),
        None if *json => record,
        None if *csv => tables::csv(&report),
        None => tables::markdown(&report),
    };
    output::print(&text)?;
    match report.unfinished.is_empty() {
        true => Ok(()),
        false => {
            tell_unfinished(&report);
            Err(Stop::Exit(INTERRUPTED))
        }
    }
}

/// Returns the width of stdout.
fn width() -> usize {
    console::Term::stdout().size_checked().map_or(WIDTH, |(_, columns)| columns.into())
}

/// From here on, the first Ctrl-C ends the run with the results finished by then; the second ends
/// it at once. Child processes notice that this process has exited, and clean up.
fn catch_interrupts() -> Result<(), Stop> {
    let flag = interrupt::flag();
    signal_hook::flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), flag.clone())
        .and_then(|_| signal_hook::flag::register(SIGINT, flag))
        .map(|_| ())
        .map_err(|error| {
            Stop::Failed(Failure::new(
                format!("cannot catch signals: {error}"),
                "check whether a sandbox forbids sigaction(2)",
            ))
        })
}

/// Prints the number of finished tables, and the missing tables of each suite.
fn tell_unfinished(report: &Report) {
    let suite = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
    let missing: Vec<String> = report
        .unfinished
        .chunk_by(|a, b| suite(a) == suite(b))
        .map(|tables| format!("{} of {}", tables.len(), suite(&tables[0])))
        .collect();
    let (done, not) = (report.tables.len(), report.unfinished.len());
    eprintln!(
        "note: interrupted after {done} of {} tables; missing: {}",
        done + not,
        missing.join(", ")
    );
}

/// Returns the suites that the arguments name. Prints notes about what cannot be measured here.
fn suites(bench: &Bench, effort: Effort) -> Result<Vec<Box<dyn Suite>>, Stop> {
    let suites = match &bench.suite {
        Some(suite) => vec![suite.create(effort)?],
        None => all(effort),
    };
    for (part, failure) in suites.iter().filter_map(|suite| suite.left_out()) {
        eprintln!("note: skipping {part}: {failure}\nhint: {}", failure.hint);
    }
    Ok(suites)
}

/// Returns every suite that this machine can run.
fn all(effort: Effort) -> Vec<Box<dyn Suite>> {
    let usual = |suite: &&Descriptor| match (suite.usual)(effort) {
        Ok(usual) => Some(usual),
        Err(failure) => {
            let title = suite.title;
            eprintln!("note: skipped the {title} suite: {failure}\nhint: {}", failure.hint);
            None
        }
    };
    list::ALL.iter().filter_map(usual).collect()
}
