//! Ctrl-C: the first ends a run with its finished tables, the second ends the program.

use cycloid_command::Stop;
use cycloid_lab::{Failure, interrupt};
use signal_hook::consts::SIGINT;

/// The exit code after Ctrl-C: 128 plus the signal's number, as in shells.
pub(crate) const INTERRUPTED: u8 = 130;

/// From here on, the first Ctrl-C ends the run with the results finished by then; the second ends
/// it at once. Child processes notice that this process has exited, and clean up.
pub(crate) fn catch_interrupts() -> Result<(), Stop> {
    let flag = interrupt::flag();
    signal_hook::flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), flag.clone())
        .and_then(|_| signal_hook::flag::register(SIGINT, flag))
        .map(|_| ())
        .map_err(|error| {
            Stop::Failed(Failure::new(
                format!("cannot catch signals: {error}"),
                "check whether a sandbox forbids sigaction(2)",
            ))
        })
}
