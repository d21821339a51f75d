//! The program `cycloid-peers`, which is this program with every peer and every suite.
//!
//! An installed `cycloid` replaces itself with it for whatever it cannot measure alone. A `cycloid`
//! that `cargo run` started measures what it can, has cargo build all other programs, and then
//! follows the rest of the measurement in a child process. So the first tables do not wait for
//! libraries that take long to compile, and no table is measured while cargo works.

use std::io;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Duration;

use cycloid_command::Stop;
use cycloid_lab::peers::Peer;
use cycloid_lab::record::Report;
use cycloid_lab::suite::{Descriptor, list};
use cycloid_lab::{interrupt, programs};

use crate::progress::Bar;
use crate::{child, processes, stream};

/// How often a build is checked for its end, and for an interrupt.
const INTERVAL: Duration = Duration::from_millis(50);

/// The end of an entry of [`Report::unfinished`] for a suite that was not started.
pub(crate) const EVERY_TABLE: &str = ": every table";

/// Replaces this process with the program that has every peer, with the same arguments. Returns if
/// it is not installed.
///
/// # Errors
/// If it does not compile or does not start.
pub(crate) fn replace() -> Result<(), Stop> {
    let program = match programs::builder_of_all().map_err(Stop::Failed)? {
        Some(_) => programs::find(programs::PEERS).map_err(Stop::Failed)?,
        None => match programs::installed(programs::PEERS) {
            Some(program) => program,
            None => return Ok(()),
        },
    };
    let error = processes::replace(Command::new(&program).args(child::arguments()));
    let message = format!("cannot run {}: {error}", program.display());
    Err(Stop::failed(message, "install it again"))
}

/// The suites that follow in a child process.
pub(crate) struct Rest {
    builder: Command,
    suites: Vec<&'static Descriptor>,
}

/// Divides the suites: returns those that this process measures, and the rest if cargo must build
/// programs for it.
///
/// # Errors
/// The system's error.
pub(crate) fn divide(peers: &[Peer]) -> Result<(Vec<&'static Descriptor>, Option<Rest>), Stop> {
    let all = || list::ALL.iter().copied();
    let builder = programs::builder_of_all().map_err(Stop::Failed)?;
    let Some(builder) = builder.filter(|_| !all().all(|suite| suite.is_complete(peers))) else {
        return Ok((all().collect(), None));
    };
    // The services are not built yet, either.
    let is_here = |suite: &&Descriptor| {
        let alone = suite.constructors().is_some_and(|own| own.alone.is_some());
        alone && suite.is_complete(peers)
    };
    let (here, suites) = all().partition(is_here);
    Ok((here, Some(Rest { builder, suites })))
}

impl Rest {
    /// Builds the programs and adds the measured tables to the report.
    ///
    /// # Errors
    /// If the programs do not compile, or the child process fails.
    pub(crate) fn measure(mut self, report: &mut Report, bar: &mut Bar) -> Result<(), Stop> {
        let names: Vec<&str> = self.suites.iter().map(|suite| suite.name).collect();
        if report.unfinished.is_empty() {
            eprintln!("building {} and the services", programs::PEERS);
            if let Some(ended) = self.build() {
                programs::judge(ended).map_err(Stop::Failed)?;
                let program = programs::installed(programs::PEERS);
                let program = program.expect("cargo has built it beside this program");
                stream::follow(&program, &names, report, bar)?;
                sort(report);
                return Ok(());
            }
        }
        report.unfinished.extend(names.iter().map(|name| format!("{name}{EVERY_TABLE}")));
        Ok(())
    }

    /// Runs cargo to its end; `None` if it was interrupted.
    fn build(&mut self) -> Option<io::Result<ExitStatus>> {
        // In a group of its own, so that its compilers end with it.
        let mut child = match processes::lead_group(&mut self.builder).spawn() {
            Ok(child) => child,
            Err(error) => return Some(Err(error)),
        };
        loop {
            match child.try_wait() {
                Ok(None) if interrupt::requested() => {
                    processes::interrupt(&child);
                    let _ = child.wait();
                    return None;
                }
                Ok(None) => thread::sleep(INTERVAL),
                Ok(Some(status)) => return Some(Ok(status)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Puts tables and peers into the order of a report from one process.
fn sort(report: &mut Report) {
    let suite = |name: &str| list::ALL.iter().position(|suite| suite.name == name);
    report.tables.sort_by_key(|table| suite(&table.suite));
    let peer = |name: &str| Peer::ALL.iter().position(|peer| peer.name() == name);
    report.peers.sort_by_key(|found| peer(&found.name));
}
