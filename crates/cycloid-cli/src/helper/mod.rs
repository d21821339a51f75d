//! Child processes of the lab. Each removes its temporary files as soon as its standard input ends,
//! which happens when the lab drops it or ends for whatever reason.

mod keystore;
mod namespaces;
mod programs;
mod temporary;

use std::io;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use cycloid_command::Stop;
use cycloid_lab::suite::hsm::driver::{self, Target};

/// Do a part of a benchmark's work.
#[derive(Debug, Args)]
pub(crate) struct Helper {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Keep a temporary keystore and its daemon until standard input ends.
    Keystore(keystore::Arguments),
    /// Keep temporary network namespaces and keys until standard input ends.
    Namespaces,
    /// Keep programs in a temporary directory until standard input ends.
    Programs(programs::Arguments),
    /// Load a PKCS #11 module and sign as instructed on standard input.
    Sign(Sign),
}

#[derive(Debug, Args)]
struct Sign {
    /// The PKCS #11 module.
    #[arg(long)]
    module: PathBuf,

    /// The process id of the service that computes for the module.
    #[arg(long)]
    service: Option<u32>,
}

pub(crate) fn run(helper: &Helper) -> Result<(), Stop> {
    match &helper.command {
        Command::Keystore(arguments) => keystore::run(arguments),
        Command::Namespaces => namespaces::run(),
        Command::Programs(arguments) => programs::run(arguments),
        Command::Sign(arguments) => sign(arguments),
    }
}

fn sign(arguments: &Sign) -> Result<(), Stop> {
    let target = Target { module: arguments.module.clone(), service: arguments.service };
    driver::follow(&target, io::stdin().lock(), io::stdout().lock()).map_err(|error| {
        Stop::failed(
            format!("cannot follow the instructions on standard input: {error}"),
            "run `cycloid bench hsm` instead",
        )
    })
}
