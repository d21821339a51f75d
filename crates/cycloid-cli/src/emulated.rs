//! `cycloid bench SUITE --target TARGET`: measures on an emulated processor.

use cycloid_command::Stop;
use cycloid_lab::cortex_m4::{self, NAME, Request, SUITES, Source};
use cycloid_lab::record::Report;
use cycloid_lab::suite::descriptor::{Choice, Value};
use cycloid_lab::suite::modexp::ModExp;

use crate::arguments::Bench;
use crate::suites::ChosenSuite;

/// The length of the keys that the processor is measured with.
const BITS: &str = "2048";

/// Measures the chosen suite on the processor `target`, or without one all that it can run.
///
/// # Errors
/// If the target is unknown, or cannot run the suite or heed an option; if a tool is missing.
pub(crate) fn measure(bench: &Bench, target: &str) -> Result<Report, Stop> {
    cortex_m4::measure(&request(bench, target)?).map_err(Stop::Failed)
}

fn request(bench: &Bench, target: &str) -> Result<Request, Stop> {
    if target != NAME {
        let hint = format!("the emulated processor is --target {NAME}");
        return Err(Stop::usage(format!("no target is called '{target}'"), hint));
    }
    let common = &bench.common;
    for (given, option) in [
        (common.cpu.is_some(), "--cpu"),
        (common.full, "--full"),
        (common.samples, "--samples"),
        (bench.instructions, "--instructions"),
        (common.peers != "all" && common.peers != "none", "--peers"),
    ] {
        if given {
            return Err(no_effect(option));
        }
    }
    let suite = bench.suite.as_ref();
    let suites = match suite.map(|suite| suite.descriptor().name) {
        None => SUITES.to_vec(),
        Some(name) => match SUITES.iter().find(|known| **known == name) {
            Some(known) => vec![*known],
            None => {
                let hint = format!("the suites for {NAME} are {}", SUITES.join(", "));
                return Err(Stop::usage(format!("the suite {name} does not run on {NAME}"), hint));
            }
        },
    };
    suite.map_or(Ok(()), check_options)?;
    let filter = suite.and_then(|suite| suite.value("strategy")).unwrap_or("all");
    let strategies = ModExp::strategies_from_filter(filter).map_err(Stop::Usage)?;
    let sources = if common.peers == "none" { &[][..] } else { &bench.peer_source };
    let sources: Result<_, _> = sources.iter().map(|text| Source::parse(text)).collect();
    let sources = sources.map_err(Stop::Usage)?;
    Ok(Request { suites, strategies, flash: !common.quick, sources })
}

/// Refuses options of the suite that the processor's tables do not heed.
fn check_options(suite: &ChosenSuite) -> Result<(), Stop> {
    for Choice { name, value, .. } in suite.descriptor().options {
        let Some(chosen) = suite.value(name) else { continue };
        let is_default = matches!(value, Value::Default(_, default) if *default == chosen);
        let is_heeded = matches!((*name, chosen), ("strategy" | "crt", _) | ("bits", BITS));
        if !is_default && !is_heeded {
            return Err(no_effect(&format!("--{name}")));
        }
    }
    Ok(())
}

fn no_effect(option: &str) -> Stop {
    let hint = format!(
        "leave it out: the tables of {NAME} have keys of {BITS} bits, every operation, and exact counts"
    );
    Stop::usage(format!("{option} has no effect with --target {NAME}"), hint)
}
