//! The `cycloid vpn` command.

pub(crate) mod arguments;
pub(crate) mod bench;
mod check;
mod genkey;
mod pki;
mod run;

use std::time::{SystemTime, UNIX_EPOCH};

use cycloid_lab::Failure;

use crate::output::Stop;
use crate::profile::whole_run;
use arguments::{Command, Vpn};

/// Runs a subcommand.
pub(crate) fn run(vpn: &Vpn) -> Result<(), Stop> {
    match &vpn.command {
        Command::Client(arguments) => whole_run(run::CLIENT, || run::client(arguments)),
        Command::Server(arguments) => whole_run(run::SERVER, || run::server(arguments)),
        Command::Bench(arguments) => bench::run(arguments),
        Command::ThrowAway => bench::throw_away(),
        Command::Crowd(arguments) => bench::crowd(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Genkey(arguments) => genkey::run(arguments),
        Command::Pki(arguments) => pki::run(arguments),
    }
}

fn failed(message: impl Into<String>, hint: impl Into<String>) -> Stop {
    Stop::Failed(Failure::new(message, hint))
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
