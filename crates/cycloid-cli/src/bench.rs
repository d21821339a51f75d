//! `cycloid bench`: measure, show, save.

use std::env;

use cycloid::cpu::{self, Level};
use cycloid_lab::Failure;
use cycloid_lab::peers::Peer;
use cycloid_lab::suite::bls::Bls;
use cycloid_lab::suite::dh::Dh;
use cycloid_lab::suite::ec::Ec;
use cycloid_lab::suite::modexp::ModExp;
use cycloid_lab::suite::rsa::Rsa;
use cycloid_lab::suite::{self, Effort};
use cycloid_lab::tables;

use crate::arguments::{Bench, Common, Suite};
use crate::output::{self, Destination, Stop};
use crate::progress::Bar;

/// The environment variable that does what `--cpu` does.
const VARIABLE: &str = "CYCLOID_CPU";

/// How wide the output is where no terminal says it.
const WIDTH: usize = tables::MAX_WIDTH;

pub(crate) fn run(bench: &Bench) -> Result<(), Stop> {
    let Common { quick, full, cpu, peers, json, save } = &bench.common;
    let effort = match (quick, full) {
        (true, _) => Effort::Quick,
        (_, true) => Effort::Full,
        _ => Effort::Plain,
    };
    limit_cpu(cpu.as_deref())?;
    let peers = Peer::from_list(peers).map_err(Stop::Usage)?;
    let suites = match &bench.suite {
        None => suite::all(effort),
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
    };
    let destination = save.as_deref().map(Destination::new).transpose()?;

    let report = suite::run(&suites, effort, &peers, &mut Bar::new()).map_err(Stop::Failed)?;
    let record =
        serde_json::to_string_pretty(&report).expect("a report has nothing but data") + "\n";
    if let Some(destination) = destination {
        destination.write(&record)?;
    }
    if *json {
        output::print(&record)
    } else {
        let terminal = console::Term::stdout();
        let width = terminal.size_checked().map_or(WIDTH, |(_, columns)| columns.into());
        output::print(&tables::text(&report, width))
    }
}

/// Lowers the library's level to what the flag says, or else the environment variable.
fn limit_cpu(flag: Option<&str>) -> Result<(), Stop> {
    let (name, place) = match (flag, env::var(VARIABLE)) {
        (Some(name), _) => (name.to_owned(), "--cpu"),
        (None, Ok(name)) if !name.is_empty() => (name, VARIABLE),
        _ => return Ok(()),
    };
    let detected = cpu::detected_level();
    let available = Level::ALL.into_iter().filter(|level| *level <= detected);
    let names = available.map(Level::name).collect::<Vec<_>>().join(", ");
    let failure = |message: String| {
        Err(Stop::Usage(Failure::new(message, format!("this processor has {names}"))))
    };
    match Level::from_name(&name) {
        None => failure(format!("no level is called '{name}', as {place} says")),
        Some(level) if level > detected => {
            failure(format!("this processor does not have {name}, as {place} demands"))
        }
        Some(level) => {
            cpu::limit(level);
            Ok(())
        }
    }
}
