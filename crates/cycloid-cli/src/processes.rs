//! Child processes, where systems differ: taking the place of this process, groups that are
//! interrupted together, and the end of a parent.

use std::process::{Child, Command, ExitStatus};

/// Replaces this process with the command; returns if it does not start. On Windows the command is a
/// child, and this process ends with its exit code.
#[cfg(unix)]
pub(crate) fn replace(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
pub(crate) fn replace(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

/// Has the command lead a group of its own, which [`interrupt`] reaches. On Windows, Ctrl-C at the
/// console reaches the child by itself.
pub(crate) fn lead_group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// Interrupts the group of a child that leads one.
#[cfg(unix)]
pub(crate) fn interrupt(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};

    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        // It may have ended.
        let _ = kill_process_group(group, Signal::INT);
    }
}

#[cfg(not(unix))]
pub(crate) const fn interrupt(_: &Child) {}

/// Returns the number of the signal that ended a process.
#[cfg(unix)]
pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
pub(crate) const fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// Has this process end with its parent, on Linux. Elsewhere, writing to a parent that has ended
/// fails.
pub(crate) fn end_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};

        // If the parent has just ended, writing fails.
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
    }
}
