//! The program `cycloid-vpn`: a client and a server for OpenVPN's protocol, and tools for their
//! configuration and keys.

mod arguments;
mod check;
mod clock;
mod crowd;
mod genkey;
mod pki;
mod run;

use std::process::ExitCode;

use arguments::{Command, Vpn};

fn main() -> ExitCode {
    cycloid_command::run(|| {
        let vpn: Vpn = cycloid_command::arguments::parse("cycloid-vpn --help lists all commands")?;
        match &vpn.command {
            Command::Client(arguments) => run::client(arguments),
            Command::Server(arguments) => run::server(arguments),
            Command::Helper => run::helper(),
            Command::Check(arguments) => check::run(arguments),
            Command::Genkey(arguments) => genkey::run(arguments),
            Command::Pki(arguments) => pki::run(arguments),
            Command::Crowd(arguments) => crowd::run(arguments),
        }
    })
}
