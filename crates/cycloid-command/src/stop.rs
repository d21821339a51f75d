//! The reasons to end a program early, and their exit codes.

use std::process::ExitCode;

use crate::Failure;

/// The exit code for invalid arguments.
pub const USAGE: i32 = 2;

/// Why a program ends early.
#[derive(Debug)]
pub enum Stop {
    /// Invalid arguments: exit code [`USAGE`].
    Usage(Failure),
    /// Any other failure: exit code 1.
    Failed(Failure),
    /// The requested output has been shown, or the reader of stdout has closed it: exit code 0.
    Shown,
    /// An exit code of the program's own. Its reason has been shown.
    Exit(u8),
}

impl Stop {
    /// Creates a failure from a problem and its remedy.
    pub fn failed(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Failed(Failure::new(message, hint))
    }

    /// Creates the rejection of an argument from a problem and its remedy.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage(Failure::new(message, hint))
    }

    /// Prints the problem and its remedy, and returns the exit code.
    fn report(self) -> ExitCode {
        let (failure, code) = match self {
            Self::Shown => return ExitCode::SUCCESS,
            Self::Exit(code) => return ExitCode::from(code),
            Self::Usage(failure) => (failure, USAGE as u8),
            Self::Failed(failure) => (failure, 1),
        };
        eprintln!("error: {}\nhint: {}", failure.message, failure.hint);
        ExitCode::from(code)
    }
}

impl From<cycloid_profiler::Error> for Stop {
    fn from(error: cycloid_profiler::Error) -> Self {
        Self::failed(error.to_string(), error.hint())
    }
}

/// Runs a program's work, reports why it ended early, and returns its exit code.
pub fn run(work: impl FnOnce() -> Result<(), Stop>) -> ExitCode {
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => stop.report(),
    }
}
