//! `cycloid bench`: measures, shows and saves.

use cycloid_command::processor;
use cycloid_lab::peers::Peer;
use cycloid_lab::peers::source::{self, Source};
use cycloid_lab::record::Report;
use cycloid_lab::suite::{self, Effort, Suite, list};
use cycloid_lab::{Failure, count as lab_count};
use cycloid_report::tables;

use crate::arguments::{Bench, Common};
use crate::count;
use crate::emulated;
use crate::interrupts::{INTERRUPTED, catch_interrupts};
use crate::peers::{self, EVERY_TABLE, Rest};
use crate::progress::Bar;
use crate::stream;
use crate::suites::{tell_left_out, usual};
use cycloid_command::Stop;
use cycloid_command::output::{self, Destination};

/// The width of the output if stdout is not a terminal.
const WIDTH: usize = tables::MAX_WIDTH;

pub(crate) fn run(bench: &Bench) -> Result<(), Stop> {
    if bench.target.is_none() {
        source::set(Source::parse_all(&bench.peer_source).map_err(Stop::Usage)?);
    }
    if let Some(level) = &bench.count_at {
        return count_here(bench, level);
    }
    if let Some(names) = &bench.stream {
        return stream::measure(&bench.common, names);
    }
    if let Some(target) = &bench.target {
        let destination = destination(&bench.common)?;
        let report = emulated::measure(bench, target)?;
        save(destination, &report)?;
        return print(&bench.common, &report, |width| tables::text(&report, width));
    }
    if bench.instructions {
        lab_count::check().map_err(Stop::Failed)?;
    }
    let peers = Peer::from_list(&bench.common.peers).map_err(Stop::Usage)?;
    let Some(suite) = &bench.suite else { return all(bench, &peers) };
    if !suite.descriptor().is_complete(&peers) {
        peers::replace()?;
    }
    let suites = |effort| suites(bench, effort);
    measure(bench, &peers, suites, None)
}

/// Measures every suite.
fn all(bench: &Bench, peers: &[Peer]) -> Result<(), Stop> {
    let (here, rest) = peers::divide(peers)?;
    // Instructions are counted by one program.
    if here.iter().any(|suite| !suite.is_complete(peers)) || rest.is_some() && bench.instructions {
        peers::replace()?;
    }
    measure(bench, peers, |effort| Ok(usual(&here, effort)), rest)
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

/// Measures the suites that `suites` returns, then the `rest`; shows the report and saves it.
fn measure(
    bench: &Bench,
    peers: &[Peer],
    suites: impl FnOnce(Effort) -> Result<Vec<Box<dyn Suite>>, Stop>,
    rest: Option<Rest>,
) -> Result<(), Stop> {
    let Common { cpu, samples, .. } = &bench.common;
    let effort = bench.common.effort();
    processor::limit(cpu.as_deref())?;
    let suites = suites(effort)?;
    let destination = destination(&bench.common)?;

    catch_interrupts()?;
    let width = width(&bench.common);
    let mut bar = Bar::new(width);
    let mut report = suite::run(&suites, effort, peers, &mut bar).map_err(Stop::Failed)?;
    if let Some(rest) = rest {
        rest.measure(&mut report, &mut bar)?;
    }
    if bench.instructions && report.unfinished.is_empty() {
        count::add(&mut report)?;
    }
    if !samples {
        report.forget_samples();
    }
    save(destination, &report)?;
    bar.printed()?;
    print(&bench.common, &report, |width| tables::end(&report, width))?;
    match report.unfinished.is_empty() {
        true => Ok(()),
        false => {
            tell_unfinished(&report);
            Err(Stop::Exit(INTERRUPTED))
        }
    }
}

/// Returns the file to which the record is to be saved, if there is one.
fn destination(common: &Common) -> Result<Option<Destination>, Stop> {
    common.save.as_deref().map(Destination::new).transpose()
}

/// Formats the record as JSON.
fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("a report has nothing but data") + "\n"
}

/// Saves the record if the user wants that.
fn save(destination: Option<Destination>, report: &Report) -> Result<(), Stop> {
    destination.map_or(Ok(()), |destination| destination.write(&json(report)))
}

/// Prints the record: as tables by `text`, or in the format that the user chose.
fn print(common: &Common, report: &Report, text: impl FnOnce(usize) -> String) -> Result<(), Stop> {
    output::print(&match width(common) {
        Some(width) => text(width),
        None if common.json => json(report),
        None if common.csv => tables::csv(report),
        None => tables::markdown(report),
    })
}

/// Returns the width of stdout if it gets tables.
fn width(common: &Common) -> Option<usize> {
    let width =
        || console::Term::stdout().size_checked().map_or(WIDTH, |(_, columns)| columns.into());
    (!common.json && !common.csv && !common.markdown).then(width)
}

/// Prints the number of finished tables, and the missing tables of each suite.
fn tell_unfinished(report: &Report) {
    let suite = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
    let of = |tables: &[String]| match &tables[0] {
        // Its tables are unknown to this program.
        table if table.ends_with(EVERY_TABLE) => suite(table),
        table => format!("{} of {}", tables.len(), suite(table)),
    };
    let missing = report.unfinished.chunk_by(|a, b| suite(a) == suite(b));
    let missing = missing.map(of).collect::<Vec<_>>().join(", ");
    let (done, not) = (report.tables.len(), report.unfinished.len());
    let are_known = !report.unfinished.iter().any(|table| table.ends_with(EVERY_TABLE));
    let whole = if are_known { format!(" of {}", done + not) } else { String::new() };
    eprintln!("note: interrupted after {done}{whole} tables; missing: {missing}");
}

/// Returns the suites that the arguments name. Prints notes about what cannot be measured here.
fn suites(bench: &Bench, effort: Effort) -> Result<Vec<Box<dyn Suite>>, Stop> {
    match &bench.suite {
        Some(suite) => {
            let suites = vec![suite.create(effort)?];
            tell_left_out(&suites);
            Ok(suites)
        }
        None => Ok(usual(list::ALL, effort)),
    }
}
