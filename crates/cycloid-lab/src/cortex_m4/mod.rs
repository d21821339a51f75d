//! The suites on an emulated Cortex-M4: builds the programs of `crates/cycloid-m4`, runs them under
//! QEMU, and records what the plugin counts. The results are exactly reproducible.
//!
//! A record of this processor differs from one of the host in its environment and in the groups of
//! its tables, so nothing compares them.

mod classic;
mod output;
mod peers;
mod plan;
mod programs;
mod tables;
mod tools;

use std::path::Path;

use cycloid::modular::Strategy;

use self::tables::Results;

use crate::Failure;
use crate::environment;
use crate::record::{Environment, FORMAT, LIBRARY, Report};

pub use peers::{Peer, Source};
pub use plan::SUITES;

/// The name of the processor on the command line and in records.
pub const NAME: &str = "cortex-m4";

/// Its clock, in MHz, at which cycles become time: that of the classic table's device.
pub const MEGAHERTZ: u32 = 180;

/// The suites, strategies and peers to measure.
#[derive(Clone, Debug)]
pub struct Request {
    /// Names of suites, among [`SUITES`].
    pub suites: Vec<&'static str>,
    /// The strategies of modular exponentiation.
    pub strategies: Vec<Strategy>,
    /// Whether to measure flash, which builds a program for each line of it.
    pub flash: bool,
    /// The peers to compile and measure.
    pub sources: Vec<Source>,
}

/// Builds the programs, runs them, and returns the record.
///
/// # Errors
/// If a tool is missing, a program does not compile, or a result is wrong.
pub fn measure(request: &Request) -> Result<Report, Failure> {
    let folder = tools::source_folder()?;
    let tools = tools::check(&folder)?;
    let planned = plan::of(request);
    let mut runs = Vec::new();
    let mut run = |peer: Option<Peer>, program: &Path| -> Result<(), Failure> {
        let names: Vec<&str> = planned.iter().flat_map(|table| table.operations(peer)).collect();
        let library = peer.map_or(LIBRARY, Peer::name);
        eprintln!("running {} operations of {library} on the emulated Cortex-M4", names.len());
        let counted = programs::emulate(&folder, program, &names)?;
        runs.extend(counted.into_iter().map(|run| (peer, run)));
        Ok(())
    };
    run(None, &programs::build_runner(&folder)?)?;
    let has_peers = planned.iter().any(|table| table.has_peers);
    let sources: &[Source] = if has_peers { &request.sources } else { &[] };
    for source in sources {
        run(Some(source.peer), &source.build(&folder)?)?;
    }
    let flash = if request.flash { programs::flash(&folder, &planned)? } else { Vec::new() };
    let of_peer = |peer: Peer| {
        let source = sources.iter().find(|source| source.peer == peer);
        source.map_or_else(|| peer.missing(), Source::record)
    };
    let peers = Peer::ALL.into_iter().filter(|_| has_peers).map(of_peer).collect();
    let results = Results { runs, flash, sources };
    Ok(Report {
        format: FORMAT,
        environment: environment(&tools),
        effort: if request.flash { "plain" } else { "quick" }.into(),
        peers,
        tables: tables::of(&planned, &results)?,
        unfinished: Vec::new(),
    })
}

fn environment(tools: &tools::Tools) -> Environment {
    Environment {
        cpu: format!("Cortex-M4, emulated by QEMU {} ({})", tools.emulator, programs::MACHINE),
        threads: 1,
        target: tools::TARGET.into(),
        level_detected: plan::BACKEND.into(),
        level_used: plan::BACKEND.into(),
        compiler: tools.compiler.clone(),
        opt_level: "3".into(),
        clock: format!("a model of cycles at {MEGAHERTZ} MHz, with memory without wait states"),
        ..environment::current()
    }
}
