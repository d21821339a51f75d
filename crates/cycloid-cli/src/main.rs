//! The program `cycloid`.
//!
//! Data goes to stdout and messages to stderr. An error is a line that says what is wrong, and a
//! line that says what to do; the exit code is 2 for arguments that make no sense and 1 for
//! whatever else fails.

mod arguments;
mod bench;
mod hsm;
mod output;
mod progress;

use std::process::ExitCode;

use arguments::Command;
use output::Stop;

fn main() -> ExitCode {
    let done = arguments::parse().and_then(|arguments| match arguments.command {
        Command::Bench(bench) => bench::run(&bench),
        Command::Hsm(hsm) => hsm::run(&hsm),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => stop.tell(),
    }
}

impl Stop {
    /// Tells the person what there is to tell.
    fn tell(self) -> ExitCode {
        match self {
            // A reader that is gone has had enough of it.
            Self::Shown | Self::ReaderGone => ExitCode::SUCCESS,
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
