//! Runs a program of the system (`nft`, `resolvectl`, `resolvconf`): without a shell, from the usual
//! directories, and never for longer than it takes.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set,
    set_capabilities,
};

/// Where programs are looked for; the environment has no say in what a privileged process runs.
const DIRECTORIES: [&str; 6] =
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"];
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of what a program complains about is told, in bytes.
const MOST_COMPLAINT: usize = 1024;

/// Where a program is, if it is installed.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    DIRECTORIES.iter().map(|directory| Path::new(directory).join(name)).find(|path| path.is_file())
}

/// Runs a program with `input` on its standard input. It may change the network where this process may.
///
/// # Errors
///
/// The program is not installed, takes more than ten seconds, or fails; then with what it said.
pub(super) fn run(name: &str, arguments: &[&str], input: &[u8]) -> io::Result<()> {
    let program = find(name).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("{name} is not installed"))
    })?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", DIRECTORIES.join(":")).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = with_network_rights(|| command.spawn())?;
    let status = (|| {
        if let Some(mut stdin) = child.stdin.take() {
            // A program that ends without having read says why by its status.
            match stdin.write_all(input) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
                _ => {}
            }
        }
        wait(&mut child)
    })();
    if status.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let status = status?;
    if status.success() {
        return Ok(());
    }
    let complaint = complaint(&mut child).unwrap_or_default();
    Err(io::Error::other(format!("{name} failed ({status}): {}", complaint.trim())))
}

fn wait(child: &mut Child) -> io::Result<std::process::ExitStatus> {
    let process = Pid::from_child(child);
    let ended = pidfd_open(process, PidfdFlags::empty())?;
    let patience = Timespec::try_from(PATIENCE).map_err(io::Error::other)?;
    if poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&patience))? == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    child.wait()
}

/// What the program said; without waiting for others that hold its pipe open.
fn complaint(child: &mut Child) -> io::Result<String> {
    let Some(mut stderr) = child.stderr.take() else { return Ok(String::new()) };
    rustix::fs::fcntl_setfl(&stderr, OFlags::NONBLOCK)?;
    let mut said = vec![0; MOST_COMPLAINT];
    let length = stderr.read(&mut said)?;
    let said = String::from_utf8_lossy(&said[..length]);
    Ok(said.chars().map(|c| if c.is_control() { ' ' } else { c }).collect())
}

/// Starts a program such that it keeps the right to change the network, when this process has given up
/// root but kept that right; what else is started does not get it.
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
    use super::*;

    #[test]
    fn a_program_gets_its_input_and_tells_how_it_ended() {
        run("cmp", &["-", "/dev/null"], b"").unwrap();
        let error = run("cmp", &["-", "/dev/null"], b"x").unwrap_err();
        assert!(error.to_string().starts_with("cmp failed (exit status: 1)"), "{error}");
        let error = run("ls", &["/nowhere/at/all"], b"").unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
        let error = run("no-such-program", &[], b"").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
