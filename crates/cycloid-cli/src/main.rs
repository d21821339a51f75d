//! The program `cycloid`.
//!
//! Data goes to stdout and messages to stderr. An error is a line that states the problem and a
//! line that states the remedy. The exit code is 2 for invalid arguments, 3 if a comparison found
//! something slower, 130 after Ctrl-C, and 1 for any other failure.

mod arguments;
mod bench;
mod child;
mod compare;
mod count;
mod history;
mod hsm;
mod output;
mod profile;
mod progress;
mod report;
mod temporary;
mod vpn;

use std::process::ExitCode;

use arguments::Command;
use output::Stop;

fn main() -> ExitCode {
    let done = arguments::parse().and_then(|arguments| match arguments.command {
        Command::Bench(bench) => bench::run(&bench),
        Command::Compare(compare) => compare::run(&compare),
        Command::History(history) => history::run(&history),
        Command::Profile(profile) => profile::run(&profile),
        Command::Report(report) => report::run(&report),
        Command::Hsm(hsm) => bench::limit_cpu(None).and_then(|()| hsm::run(&hsm)),
        Command::Vpn(vpn) => vpn::run(&vpn),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => stop.report(),
    }
}

impl Stop {
    /// Prints the message, and returns the exit code.
    fn report(self) -> ExitCode {
        match self {
            // A reader that has closed stdout wants no more output.
            Self::Shown | Self::ReaderGone => ExitCode::SUCCESS,
            Self::Slower => ExitCode::from(3),
            Self::Interrupted => ExitCode::from(bench::INTERRUPTED),
            Self::Usage(failure) => {
                eprintln!("error: {}\nhint: {}", failure.message, failure.hint);
                ExitCode::from(2)
            }
            Self::Failed(failure) => {
                eprintln!("error: {}\nhint: {}", failure.message, failure.hint);
                ExitCode::FAILURE
            }
        }
    }
}
