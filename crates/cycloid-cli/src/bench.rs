//! `cycloid bench`: measures, shows and saves.

use cycloid_command::processor;
use cycloid_lab::Failure;
use cycloid_lab::peers::Peer;
use cycloid_lab::record::Report;
use cycloid_lab::suite::bls::Bls;
use cycloid_lab::suite::dh::Dh;
use cycloid_lab::suite::ec::Ec;
use cycloid_lab::suite::hsm::{Hsm, KeyKind};
use cycloid_lab::suite::modexp::ModExp;
use cycloid_lab::suite::rsa::Rsa;
use cycloid_lab::suite::vpn::{Part, Vpn};
use cycloid_lab::suite::{self, Effort};
use cycloid_lab::{count as lab_count, interrupt, tables};
use signal_hook::consts::SIGINT;

use crate::arguments::{Bench, Common, HsmSuite, Suite, VpnSuite};
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
    suites: impl FnOnce(Effort) -> Result<Vec<Box<dyn suite::Suite>>, Stop>,
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

/// Returns the suites that the arguments name.
fn suites(bench: &Bench, effort: Effort) -> Result<Vec<Box<dyn suite::Suite>>, Stop> {
    Ok(match &bench.suite {
        None => all(effort)?,
        Some(Suite::Modexp(arguments)) => {
            let usual = ModExp::usual(effort);
            let bits = match &arguments.bits {
                Some(list) => ModExp::bits_from_list(list, arguments.crt).map_err(Stop::Usage)?,
                None => usual.bits,
            };
            vec![Box::new(ModExp {
                bits,
                exponents: ModExp::exponent_from_text(&arguments.exponent).map_err(Stop::Usage)?,
                crt: arguments.crt,
                strategies: ModExp::strategies_from_filter(&arguments.strategy)
                    .map_err(Stop::Usage)?,
            }) as Box<dyn suite::Suite>]
        }
        Some(Suite::Dh(arguments)) => {
            let bits = match &arguments.bits {
                Some(list) => Dh::bits_from_list(list).map_err(Stop::Usage)?,
                None => Dh::usual(effort).bits,
            };
            vec![Box::new(Dh { bits }) as Box<dyn suite::Suite>]
        }
        #[cfg(feature = "tls")]
        Some(Suite::Tls) => vec![Box::new(suite::tls::Tls) as Box<dyn suite::Suite>],
        Some(Suite::Hsm(arguments)) => {
            vec![Box::new(hsm(arguments, effort)?) as Box<dyn suite::Suite>]
        }
        Some(Suite::Vpn(arguments)) => {
            vec![Box::new(vpn(arguments)?) as Box<dyn suite::Suite>]
        }
        Some(Suite::Ec(arguments)) => vec![Box::new(Ec {
            curves: Ec::curves_from_list(&arguments.curve).map_err(Stop::Usage)?,
            tasks: Ec::tasks_from_list(&arguments.operation).map_err(Stop::Usage)?,
            batches: Ec::batches_from_list(&arguments.batch).map_err(Stop::Usage)?,
        }) as Box<dyn suite::Suite>],
        Some(Suite::Bls(arguments)) => {
            let sums = match &arguments.sums {
                Some(list) => Bls::sums_from_list(list).map_err(Stop::Usage)?,
                None => Bls::usual(effort).sums,
            };
            let parts = Bls::parts_from_list(&arguments.part).map_err(Stop::Usage)?;
            vec![Box::new(Bls { parts, sums }) as Box<dyn suite::Suite>]
        }
        Some(Suite::Rsa(arguments)) => {
            let usual = Rsa::usual(effort);
            let bits = match &arguments.bits {
                Some(list) => Rsa::bits_from_list(list).map_err(Stop::Usage)?,
                None => usual.bits,
            };
            let kinds = match &arguments.operation {
                Some(list) => Rsa::kinds_from_list(list).map_err(Stop::Usage)?,
                None => usual.kinds,
            };
            vec![Box::new(Rsa { bits, kinds }) as Box<dyn suite::Suite>]
        }
    })
}

/// Returns every suite: the HSM's only if its programs are found, and the VPN's tunnels only if they
/// can be created.
fn all(effort: Effort) -> Result<Vec<Box<dyn suite::Suite>>, Stop> {
    let mut suites = suite::all(effort);
    match Hsm::usual(effort) {
        Ok(hsm) => suites.push(Box::new(hsm)),
        Err(failure) => {
            eprintln!("note: skipped the HSM suite: {failure}\nhint: {}", failure.hint);
        }
    }
    suites.push(Box::new(usual_vpn(Part::ALL.into())));
    Ok(suites)
}

/// Returns the HSM's suite with the settings in the arguments.
fn hsm(arguments: &HsmSuite, effort: Effort) -> Result<Hsm, Stop> {
    let mut suite = Hsm::whole(effort).map_err(Stop::Failed)?;
    if let Some(list) = &arguments.key {
        suite.keys = KeyKind::from_list(list).map_err(Stop::Usage)?;
    }
    if let Some(list) = &arguments.clients {
        suite.clients = Hsm::clients_from_list(list).map_err(Stop::Usage)?;
    }
    Ok(suite)
}

/// Returns the VPN's suite with the settings in the arguments.
fn vpn(arguments: &VpnSuite) -> Result<Vpn, Stop> {
    let mut suite = usual_vpn(Vpn::parts_from_list(&arguments.part).map_err(Stop::Usage)?);
    suite.rounds = arguments.rounds.map(|rounds| rounds as usize);
    suite.seconds = arguments.seconds;
    Ok(suite)
}

/// Returns the VPN's suite for these parts. Prints a note about what cannot be measured here.
fn usual_vpn(parts: Vec<Part>) -> Vpn {
    let suite = Vpn::new(parts);
    if let Some(failure) = suite.left_out() {
        eprintln!("note: skipping tunnels: {failure}\nhint: {}", failure.hint);
    }
    suite
}
