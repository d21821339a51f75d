//! The program `cycloid`: the lab, which measures the library, the HSM and the VPN beside their
//! peers. `cycloid NAME …` runs the program `cycloid-NAME`.
//!
//! This crate has the suites that compile fast. The crate `cycloid-peers` has the same program with
//! all others, and `cycloid` starts it ([`main`]).
//!
//! The exit code is 3 if a comparison found something slower, and 130 after Ctrl-C; the other codes
//! are those of [`cycloid_command`].

mod arguments;
mod bench;
mod child;
mod compare;
mod comparison;
mod count;
mod emulated;
mod helper;
mod history;
mod interrupts;
mod peers;
mod processes;
mod profile;
mod progress;
mod report;
mod run_program;
mod stream;
mod suites;

use std::process::ExitCode;

use arguments::Command;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    cycloid_command::run(|| {
        match run_program::dispatch().and_then(|()| arguments::parse())?.command {
            Command::Bench(bench) => bench::run(&bench),
            Command::Compare(compare) => compare::run(&compare),
            Command::History(history) => history::run(&history),
            Command::Profile(profile) => profile::run(&profile),
            Command::Report(report) => report::run(&report),
            Command::Helper(helper) => helper::run(&helper),
        }
    })
}
