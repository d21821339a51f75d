//! The suites on an emulated Cortex-M4: the programs of `crates/cycloid-m4`, and a plugin with a
//! model of cycles. The results are exactly reproducible.

mod classic;
mod output;
mod peers;
mod plan;
mod programs;

use std::path::Path;

use cycloid::modular::Strategy;

use super::tables::{self, Results};
use super::tools::{self, Processor};
use crate::Failure;
use crate::environment;
use crate::record::{Environment, FORMAT, LIBRARY, Report};

pub use peers::{Peer, Source};
pub use plan::SUITES;

/// The name of the processor on the command line and in records.
pub const NAME: &str = "cortex-m4";

/// Its clock, in MHz, at which cycles become time: that of the classic table's device.
pub const MEGAHERTZ: u32 = 180;

/// How its programs are built and run.
const PROCESSOR: Processor = Processor {
    command: "bench modexp --target cortex-m4",
    target: "thumbv7em-none-eabihf",
    folder: "crates/cycloid-m4",
    programs: &[(programs::EMULATOR, "qemu-system-arm"), ("gcc", "gcc"), ("readelf", "binutils")],
};

/// The folder for what is built, below the root of the repository.
const BUILT: &str = "target/cortex-m4";

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
    let folder = tools::source_folder(&PROCESSOR)?;
    let tools = tools::check(&PROCESSOR, &folder)?;
    let planned = plan::of(request);
    let mut results = Results::default();
    let mut run = |(product, backend): (&'static str, Option<&'static str>), program: &Path| {
        let names: Vec<&str> =
            planned.iter().flat_map(|table| table.operations(product, backend)).collect();
        eprintln!("running {} operations of {product} on the emulated Cortex-M4", names.len());
        let counted = programs::emulate(&folder, program, &names)?;
        results.runs.extend(counted.into_iter().map(|run| run.counted(product, backend)));
        Ok::<(), Failure>(())
    };
    run((LIBRARY, Some(plan::BACKEND)), &programs::build_runner(&folder)?)?;
    let has_peers = planned.iter().any(|table| !table.peers.is_empty());
    let sources: &[Source] = if has_peers { &request.sources } else { &[] };
    for source in sources {
        run((source.peer.name(), None), &source.build(&folder)?)?;
    }
    if request.flash {
        results.flash = programs::flash(&folder, &planned)?;
    }
    let of_peer = |peer: Peer| {
        let source = sources.iter().find(|source| source.peer == peer);
        source.map_or_else(|| peer.missing(), Source::record)
    };
    let peers = Peer::ALL.into_iter().filter(|_| has_peers).map(of_peer).collect();
    let version = |source: &Source| (source.peer.name(), source.version().to_owned());
    results.peers = sources.iter().map(version).collect();
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
        target: PROCESSOR.target.into(),
        level_detected: plan::BACKEND.into(),
        level_used: plan::BACKEND.into(),
        compiler: tools.compiler.clone(),
        opt_level: "3".into(),
        clock: format!("a model of cycles at {MEGAHERTZ} MHz, with memory without wait states"),
        ..environment::current()
    }
}
