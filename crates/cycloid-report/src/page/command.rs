//! Reconstructs the command that repeats a measurement from the parameters in its record.

use std::collections::BTreeSet;

use super::measured::Measured;
use cycloid_lab::emulated::{aarch64, cortex_m4};
use cycloid_lab::peers::Peer;
use cycloid_lab::record::{Report, Summary, Table};
use cycloid_lab::suite::{Descriptor, list};

/// The start of the command, in a clone of the repository.
const RUN: &str = "cargo run --release --";

/// Returns the command that measures `tables`, which must belong to one suite and one record. It
/// measures more only if the suite's options cannot select just these tables.
pub(super) fn of(tables: &[Measured<'_>]) -> String {
    let Some(Measured { report, table, .. }) = tables.first() else { return String::new() };
    let suite = &*table.suite;
    let mut words = vec![RUN.to_owned(), "bench".into(), suite.into()];
    let tables: Vec<&Table> = tables.iter().map(|measured| measured.table).collect();
    let known = list::named(suite);
    if tables.iter().all(|table| table.summary == Summary::Emulated) {
        let target = tables.iter().find_map(|table| table.parameters.get("target")?.as_str());
        words.extend(match target {
            Some(cortex_m4::NAME) => Some(format!("--target {}", cortex_m4::NAME)),
            Some(aarch64::NAME) => Some(format!("--target {} --instructions", aarch64::NAME)),
            _ => None,
        });
        return words.join(" ");
    }
    words.extend(known.into_iter().flat_map(|known| (known.repeat)(&tables)));
    let counted = tables.iter().flat_map(|table| &table.records).any(|r| r.instructions.is_some());
    words.extend(counted.then(|| "--instructions".into()));
    words.extend(common(known, report));
    words.join(" ")
}

/// Returns the options common to all suites.
fn common(suite: Option<&Descriptor>, report: &Report) -> Vec<String> {
    let mut words = Vec::new();
    if report.effort != "plain" {
        words.push(format!("--{}", report.effort));
    }
    let environment = &report.environment;
    if environment.level_used != environment.level_detected {
        words.push(format!("--cpu {}", environment.level_used));
    }
    let names = |peers: &mut dyn Iterator<Item = &str>| -> BTreeSet<String> {
        peers.map(str::to_lowercase).collect()
    };
    let asked = names(&mut report.peers.iter().map(|peer| &*peer.name));
    let Some(family) = suite.map(|suite| suite.family) else { return words };
    let of_family = |peers: &[Peer]| {
        names(&mut peers.iter().filter(|peer| peer.does(family)).map(|peer| peer.name()))
    };
    let (all, usual) = (of_family(&Peer::ALL), of_family(&Peer::usual()));
    let of_suite: Vec<&str> = asked.intersection(&all).map(|name| &**name).collect();
    if !of_suite.iter().copied().eq(usual.iter().map(|name| &**name)) {
        words.push(match of_suite.len() {
            0 => "--peers none".into(),
            _ => format!("--peers {}", of_suite.join(",")),
        });
    }
    words
}
