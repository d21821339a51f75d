//! Requests the profile of a running service, by the protocol of [`service`](crate::service).

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::service::{ERROR, PATIENCE, Request, SIGNAL, socket_name};
use crate::{Malformed, RawProfile, TEXT_LIMIT};

/// The names of the programs that profile themselves.
const PROGRAMS: [&str; 2] = ["cycloid-hsm", "cycloid-vpn"];

/// The reason why there is no profile of a process.
#[derive(Debug)]
pub enum Refusal {
    /// No process has this id.
    NoProcess,
    /// The process is not a service that profiles itself.
    NotAService,
    /// The process did not answer; says what happened instead.
    NoAnswer(String),
    /// The answer is malformed.
    Malformed(Malformed),
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess => f.write_str("does not exist"),
            Self::NotAService => f.write_str("is not a service that can be profiled"),
            Self::NoAnswer(what) => f.write_str(what),
            Self::Malformed(error) => write!(f, "gave an invalid answer: {error}"),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::NoAnswer(format!("cannot be profiled: {error}"))
    }
}

/// Requests the profile of a service and waits for it. Enters the service's network namespace with
/// the calling thread, and stays there.
///
/// # Errors
/// See [`Refusal`].
pub fn request(process: u32, request: Request) -> Result<RawProfile, Refusal> {
    let listens = listens(process).ok_or(Refusal::NoProcess)?;
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    let number = number.filter(|_| listens).ok_or(Refusal::NotAService)?;
    enter_network_of(process)?;
    let listener = UnixListener::bind_addr(&socket_name(std::process::id())?)?;
    listener.set_nonblocking(true)?;
    kill_process(number, Signal::URG).map_err(io::Error::from)?;
    let deadline = Instant::now() + PATIENCE;
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) if socket_peercred(&stream).is_ok_and(|peer| peer.pid == number) => {
                break stream;
            }
            _ if Instant::now() > deadline => {
                return Err(Refusal::NoAnswer("did not answer".into()));
            }
            _ => thread::sleep(Duration::from_millis(5)),
        }
    };
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE + Duration::from_secs_f64(request.seconds)))?;
    writeln!(stream, "{request}")?;
    let mut text = String::new();
    (&stream).take(TEXT_LIMIT as u64 + 1).read_to_string(&mut text)?;
    if let Some(said) = text.strip_prefix(ERROR) {
        return Err(Refusal::NoAnswer(format!("reported: {}", said.trim_end())));
    }
    // A complete answer has a last line of its own.
    if text.is_empty() || RawProfile::claims_format(&text) && !text.ends_with("\nend\n") {
        return Err(Refusal::NoAnswer("ended before it answered".into()));
    }
    RawProfile::parse(&text).map_err(Refusal::Malformed)
}

/// Enters the network namespace of a process, which scopes abstract socket names, if it is known to
/// differ from the own one.
fn enter_network_of(process: u32) -> io::Result<()> {
    let path = |process: &str| format!("/proc/{process}/ns/net");
    let (own, other) = (path("thread-self"), path(&process.to_string()));
    match (fs::read_link(own), fs::read_link(&other)) {
        (Ok(own), Ok(link)) if own != link => {
            let network = Some(LinkNameSpaceType::Network);
            Ok(move_into_link_name_space(fs::File::open(other)?.as_fd(), network)?)
        }
        _ => Ok(()),
    }
}

/// Returns whether a process is one of [`PROGRAMS`] and has a handler for the signal; `None` if
/// there is no such process.
fn listens(process: u32) -> Option<bool> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| {
        status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
    };
    let caught = field("SigCgt").and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    let known = field("Name").is_some_and(|name| PROGRAMS.contains(&name));
    Some(known && caught >> (SIGNAL - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_the_handler_differs_from_a_missing_process() {
        assert_eq!(listens(std::process::id()), Some(false));
        assert_eq!(listens(u32::MAX), None);
    }
}
