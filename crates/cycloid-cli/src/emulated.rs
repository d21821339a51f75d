//! `cycloid bench SUITE --target TARGET`: measures on an emulated processor.

use cycloid_command::Stop;
use cycloid_lab::emulated::cortex_m4::Source;
use cycloid_lab::emulated::{aarch64, cortex_m4};
use cycloid_lab::record::Report;
use cycloid_lab::suite::descriptor::{Choice, Value};
use cycloid_lab::suite::modexp::ModExp;

use crate::arguments::Bench;
use crate::suites::ChosenSuite;

/// The length of the keys that Cortex-M4 is measured with.
const BITS: &str = "2048";

/// Measures the chosen suite on the processor `target`, or without one all that it can run.
///
/// # Errors
/// If the target is unknown, or cannot run the suite or heed an option; if a tool is missing.
pub(crate) fn measure(bench: &Bench, target: &str) -> Result<Report, Stop> {
    let measured = match target {
        cortex_m4::NAME => cortex_m4::measure(&on_cortex_m4(bench)?),
        aarch64::NAME => aarch64::measure(&on_aarch64(bench)?),
        _ => {
            let hint =
                format!("the emulated processors are {} and {}", cortex_m4::NAME, aarch64::NAME);
            return Err(Stop::usage(format!("no target is called '{target}'"), hint));
        }
    };
    measured.map_err(Stop::Failed)
}

fn on_cortex_m4(bench: &Bench) -> Result<cortex_m4::Request, Stop> {
    let on = Emulated {
        name: cortex_m4::NAME,
        suites: &cortex_m4::SUITES,
        tables: "the tables have keys of 2048 bits, every operation, and exact counts",
        is_heeded: |option, value| {
            matches!((option, value), ("strategy" | "crt", _) | ("bits", BITS))
        },
    };
    let common = &bench.common;
    on.check_common(bench)?;
    on.refuse(bench.instructions, "--instructions")?;
    on.refuse(common.peers != "all" && common.peers != "none", "--peers")?;
    let suite = bench.suite.as_ref();
    let suites = on.suites_of(suite)?;
    let filter = suite.and_then(|suite| suite.value("strategy")).unwrap_or("all");
    let strategies = ModExp::strategies_from_filter(filter).map_err(Stop::Usage)?;
    let sources = if common.peers == "none" { &[][..] } else { &bench.peer_source };
    let sources: Result<_, _> = sources.iter().map(|text| Source::parse(text)).collect();
    let sources = sources.map_err(Stop::Usage)?;
    Ok(cortex_m4::Request { suites, strategies, flash: !common.quick, sources })
}

fn on_aarch64(bench: &Bench) -> Result<aarch64::Request, Stop> {
    let on = Emulated {
        name: aarch64::NAME,
        suites: &aarch64::SUITES,
        tables: "the tables have every operation, and exact counts",
        is_heeded: |option, _| matches!(option, "bits" | "curve"),
    };
    on.check_common(bench)?;
    on.refuse(bench.common.quick, "--quick")?;
    on.refuse(!bench.peer_source.is_empty(), "--peer-source")?;
    let suite = bench.suite.as_ref();
    let suites = on.suites_of(suite)?;
    if !bench.instructions {
        return Err(Stop::usage(
            format!("on {} nothing but instructions can be measured", aarch64::NAME),
            "add --instructions: the emulator counts them, and times say nothing about a processor",
        ));
    }
    let peers = aarch64::Peer::from_list(&bench.common.peers).map_err(Stop::Usage)?;
    let mut request = aarch64::Request::new(&suites, &peers);
    for option in ["bits", "curve"] {
        let Some(list) = suite.and_then(|suite| suite.value(option)) else { continue };
        request.narrow(list).map_err(Stop::Usage)?;
    }
    Ok(request)
}

/// The suites and options of an emulated processor.
struct Emulated {
    name: &'static str,
    suites: &'static [&'static str],
    /// Why it has no other options, as a part of a hint.
    tables: &'static str,
    /// Returns whether it heeds an option of a suite with a value.
    is_heeded: fn(&str, &str) -> bool,
}

impl Emulated {
    /// Refuses common options that no emulated processor heeds.
    fn check_common(&self, bench: &Bench) -> Result<(), Stop> {
        let common = &bench.common;
        self.refuse(common.cpu.is_some(), "--cpu")?;
        self.refuse(common.full, "--full")?;
        self.refuse(common.samples, "--samples")
    }

    /// Returns the chosen suite, or all of the processor's; refuses its options without an effect.
    fn suites_of(&self, suite: Option<&ChosenSuite>) -> Result<Vec<&'static str>, Stop> {
        let Some(suite) = suite else { return Ok(self.suites.to_vec()) };
        let name = suite.descriptor().name;
        let Some(known) = self.suites.iter().find(|known| **known == name) else {
            let hint = format!("the suites for {} are {}", self.name, self.suites.join(", "));
            return Err(Stop::usage(
                format!("the suite {name} does not run on {}", self.name),
                hint,
            ));
        };
        for Choice { name, value, .. } in suite.descriptor().options {
            let Some(chosen) = suite.value(name) else { continue };
            let is_default = matches!(value, Value::Default(_, default) if *default == chosen);
            let is_heeded = (self.is_heeded)(name, chosen);
            self.refuse(!is_default && !is_heeded, &format!("--{name}"))?;
        }
        Ok(vec![*known])
    }

    fn refuse(&self, is_given: bool, option: &str) -> Result<(), Stop> {
        let message = || format!("{option} has no effect with --target {}", self.name);
        let hint = || format!("leave it out: {}", self.tables);
        if is_given { Err(Stop::usage(message(), hint())) } else { Ok(()) }
    }
}
