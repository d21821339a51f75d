//! Runs a system program (`nft`, `resolvectl`, `resolvconf`) without a shell, from fixed
//! directories and with a time limit.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set,
    set_capabilities,
};

/// The search path for programs. Fixed, so that the environment cannot choose what a privileged
/// process runs.
const DIRECTORIES: [&str; 6] =
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"];
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of bytes of a program's error output in messages.
const MAX_ERROR_OUTPUT: usize = 1024;

/// Returns the path of an installed program.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    DIRECTORIES.iter().map(|directory| Path::new(directory).join(name)).find(|path| path.is_file())
}

/// Runs a program with `input` on its standard input. It gets this process's right to change the
/// network.
///
/// # Errors
///
/// The program is not installed, exceeds ten seconds, or fails; then the message includes its error
/// output.
pub(super) fn run(name: &str, arguments: &[&str], input: &[u8]) -> io::Result<()> {
    let program = find(name).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("{name} is not installed"))
    })?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", DIRECTORIES.join(":")).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = with_network_rights(|| command.spawn())?;
    let outcome = wait_with_input(&mut child, input);
    if outcome.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let (status, said) = outcome?;
    if status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&said);
    let said: String = said.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    Err(io::Error::other(format!("{name} failed ({status}): {}", said.trim())))
}

/// Waits for a program's end while feeding its input and collecting its error output, so that
/// neither side blocks the other. Does not wait for other processes that hold the pipes open.
fn wait_with_input(child: &mut Child, mut input: &[u8]) -> io::Result<(ExitStatus, Vec<u8>)> {
    let end = Instant::now() + TIMEOUT;
    let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let (mut stdin, mut stderr) = (child.stdin.take(), child.stderr.take());
    let pipes = [stdin.as_ref().map(AsFd::as_fd), stderr.as_ref().map(AsFd::as_fd)];
    for pipe in pipes.into_iter().flatten() {
        rustix::fs::fcntl_setfl(pipe, OFlags::NONBLOCK)?;
    }
    let mut said = Vec::new();
    loop {
        // A program may end without reading its input; its exit status says why.
        stdin.take_if(|pipe| {
            moved(pipe.write(input)).is_none_or(|length| {
                input = &input[length..];
                input.is_empty()
            })
        });
        let mut sources = vec![PollFd::new(&ended, PollFlags::IN)];
        sources.extend(stdin.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        sources.extend(stderr.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut sources, Some(&left)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            // A signal to this process does not concern the program.
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_over = !sources[0].revents().is_empty();
        let mut bytes = [0; MAX_ERROR_OUTPUT];
        stderr.take_if(|pipe| {
            moved(pipe.read(&mut bytes)).is_none_or(|length| {
                said.extend_from_slice(&bytes[..length.min(MAX_ERROR_OUTPUT - said.len())]);
                false
            })
        });
        if is_over {
            return Ok((child.wait()?, said));
        }
    }
}

/// Returns the number of bytes moved through a pipe, or `None` at its end.
fn moved(result: io::Result<usize>) -> Option<usize> {
    match result {
        Ok(0) => None,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(0),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Some(0),
        result => result.ok(),
    }
}

/// Starts a program with this process's capability to change the network, if root was dropped and
/// that capability kept. Other children do not inherit it.
fn with_network_rights<T>(start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let before = capabilities(None)?;
    let unprivileged = !rustix::process::geteuid().is_root();
    if !unprivileged || !before.permitted.contains(CapabilitySet::NET_ADMIN) {
        return start();
    }
    let inheritable = before.inheritable | CapabilitySet::NET_ADMIN;
    set_capabilities(None, CapabilitySets { inheritable, ..before })?;
    configure_capability_in_ambient_set(CapabilitySet::NET_ADMIN, true)?;
    let started = start();
    configure_capability_in_ambient_set(CapabilitySet::NET_ADMIN, false)?;
    set_capabilities(None, before)?;
    started
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use signal_hook::consts::SIGURG;
    use signal_hook::{flag, low_level};

    use super::*;

    #[test]
    fn a_program_gets_its_input_and_reports_its_status() {
        run("cmp", &["-", "/dev/null"], b"").unwrap();
        let error = run("cmp", &["-", "/dev/null"], b"x").unwrap_err();
        assert!(error.to_string().starts_with("cmp failed (exit status: 1)"), "{error}");
        let error = run("ls", &["/nowhere/at/all"], b"").unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
        let error = run("no-such-program", &[], b"").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn input_and_output_may_exceed_the_pipe_buffers() {
        let script = "head -c 300000 /dev/zero >&2; cat > /dev/null; echo >&2; exit 3";
        let error = run("sh", &["-c", script], &[b'x'; 300_000]).unwrap_err();
        assert!(error.to_string().starts_with("sh failed (exit status: 3)"), "{error}");
        run("true", &[], &[b'x'; 300_000]).unwrap();
    }

    #[test]
    fn signals_to_this_process_do_not_stop_a_program() {
        let came = Arc::new(AtomicBool::new(false));
        let handler = flag::register(SIGURG, Arc::clone(&came)).unwrap();
        // A thread id, so that the signal interrupts the waiting thread.
        let thread = rustix::thread::gettid().as_raw_nonzero();
        let script = format!("for i in 1 2 3 4 5 6 7 8 9; do kill -URG {thread}; sleep 0.02; done");
        let outcome = run("sh", &["-c", &script], b"");
        low_level::unregister(handler);
        outcome.unwrap();
        assert!(came.load(Ordering::Relaxed));
    }
}
