//! The suites on an emulated AArch64: the programs of `crates/cycloid-aarch64`, in which the peers
//! are compiled, and a plugin that counts instructions. There is no model of cycles, so ratios are
//! of instructions.

mod peers;
mod plan;
mod programs;

use super::plan::Planned;
use super::tables::{self, Results};
use super::tools::{self, Processor};
use crate::Failure;
use crate::environment;
use crate::record::{Environment, FORMAT, LIBRARY, Report};

pub use peers::Peer;
pub use plan::SUITES;

/// The name of the processor on the command line and in records.
pub const NAME: &str = "aarch64";

/// How its programs are built and run.
const PROCESSOR: Processor = Processor {
    command: "bench ec --target aarch64 --instructions",
    target: "aarch64-unknown-linux-gnu",
    folder: "crates/cycloid-aarch64",
    programs: &[
        (programs::EMULATOR, "qemu-user"),
        ("gcc", "gcc"),
        ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
    ],
};

/// The folder for what is built, below the root of the repository.
const BUILT: &str = "target/aarch64";

/// The tables and peers to measure.
pub struct Request {
    planned: Vec<Planned>,
    peers: Vec<Peer>,
}

impl Request {
    /// Requests all tables of these suites, among [`SUITES`], with these peers.
    pub fn new(suites: &[&str], peers: &[Peer]) -> Self {
        Self { planned: plan::of(suites, peers), peers: peers.to_vec() }
    }

    /// Keeps the tables of some groups, given as a list: lengths in bits of RSA keys, or names of
    /// curves, or `all`.
    ///
    /// # Errors
    /// If a part of the list names no group.
    pub fn narrow(&mut self, list: &str) -> Result<(), Failure> {
        let plain = |name: &str| name.trim().replace('-', "").to_lowercase();
        let group = |planned: &Planned| {
            let group = plain(planned.group.split(" on ").next().unwrap_or_default());
            group.strip_prefix("rsa").unwrap_or(&group).to_owned()
        };
        let names: Vec<String> = list.split(',').map(plain).collect();
        if names.iter().any(|name| name == "all") {
            return Ok(());
        }
        for name in &names {
            if !self.planned.iter().any(|planned| group(planned) == *name) {
                let mut known: Vec<String> = self.planned.iter().map(group).collect();
                known.dedup();
                return Err(Failure::new(
                    format!("no table for {NAME} is of '{name}'"),
                    format!("use all, or a list of {}", known.join(", ")),
                ));
            }
        }
        self.planned.retain(|planned| names.contains(&group(planned)));
        Ok(())
    }
}

/// Builds the programs, runs them, and returns the record.
///
/// # Errors
/// If a tool is missing, a program does not compile, or an operation fails.
pub fn measure(request: &Request) -> Result<Report, Failure> {
    let folder = tools::source_folder(&PROCESSOR)?;
    let tools = tools::check(&PROCESSOR, &folder)?;
    let Request { planned, peers } = request;
    // Those that have any of the operations.
    let with_rows =
        Peer::ALL.into_iter().filter(|peer| planned.iter().any(|table| peer.is_in(table)));
    let with_rows: Vec<Peer> = with_rows.collect();
    let measured: Vec<Peer> =
        with_rows.iter().copied().filter(|peer| peers.contains(peer)).collect();
    programs::build(&folder, &measured)?;
    let mut results = Results::default();
    for backend in plan::BACKENDS {
        let product = (LIBRARY, Some(backend));
        results.runs.extend(programs::run(&folder, planned, product, backend)?);
    }
    for peer in &measured {
        let product = (peer.name(), None);
        results.runs.extend(programs::run(&folder, planned, product, peer.argument())?);
    }
    let locked = programs::locked(&folder)?;
    results.peers = measured.iter().map(|peer| (peer.name(), peer.version(&locked))).collect();
    Ok(Report {
        format: FORMAT,
        environment: environment(&tools),
        effort: "plain".into(),
        peers: with_rows.iter().map(|peer| peer.record(&results.peers)).collect(),
        tables: tables::of(planned, &results)?,
        unfinished: Vec::new(),
    })
}

fn environment(tools: &tools::Tools) -> Environment {
    let best = plan::BACKENDS[0];
    Environment {
        cpu: format!("AArch64, emulated by QEMU {} (-cpu {})", tools.emulator, programs::CPU),
        threads: 1,
        target: PROCESSOR.target.into(),
        level_detected: best.into(),
        level_used: best.into(),
        compiler: tools.compiler.clone(),
        opt_level: "3".into(),
        clock: "none: in place of a time is the number of instructions, each as a nanosecond"
            .into(),
        ..environment::current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_keeps_the_named_groups() {
        let groups = |list: &str| {
            let mut request = Request::new(&SUITES, &Peer::ALL);
            request.narrow(list)?;
            let mut groups: Vec<String> =
                request.planned.into_iter().map(|planned| planned.group).collect();
            groups.dedup();
            Ok::<_, Failure>(groups)
        };
        assert_eq!(groups("2048, 4096").unwrap(), ["RSA-2048 on AArch64", "RSA-4096 on AArch64"]);
        assert_eq!(groups("p-256,X25519").unwrap(), ["P-256 on AArch64", "X25519 on AArch64"]);
        assert_eq!(groups("all").unwrap().len(), 3 + 6 + 1);
        let failure = groups("p256,brainpool").unwrap_err();
        assert_eq!(failure.message, "no table for aarch64 is of 'brainpool'");
        assert!(failure.hint.contains("p256, p384"), "{}", failure.hint);
    }
}
