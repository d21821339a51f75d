//! Services that profile themselves: for their whole run if an environment variable requests it at
//! the start, or for some seconds at the request of `profile --pid`.
//!
//! The requester (`profile --pid`) listens on an abstract socket whose name contains its process
//! id, and sends the service SIGURG, which other programs ignore by default. The service connects,
//! reads the duration and the sampling rate, and writes the record. It answers only root and its
//! own user. The record contains names of functions and no data.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use cycloid_lab::Failure;
use cycloid_lab::profile::{HERTZ, Report, Settings, WholeRun};
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use signal_hook::consts::SIGURG;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::exfiltrator::origin::Process;

use crate::output::{Destination, Stop};

/// The environment variable with the path for folded stacks.
const VARIABLE: &str = "CYCLOID_PROFILE";

/// The longest duration of a request, in seconds.
const LONGEST: f64 = 600.0;

/// The time limits for a service to answer, and to look up names after sampling.
const PATIENCE: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(300)];

/// Runs `work`, and writes its stacks to the file that the environment variable names, if it is
/// set.
pub(crate) fn whole_run(title: &str, work: impl FnOnce() -> Result<(), Stop>) -> Result<(), Stop> {
    let Some(path) = asked_for() else {
        return work();
    };
    let destination = Destination::new(Path::new(&path))?;
    let sampler = WholeRun::begin(HERTZ).map_err(|Failure { message, hint }| {
        Stop::Failed(Failure::new(format!("{message}, which {VARIABLE} asks for"), hint))
    })?;
    let done = work();
    let profile = sampler.end(title);
    destination.write(&profile.folded())?;
    let sampling = profile.sampling.expect("it was sampled");
    eprintln!(
        "{} samples in {:.2} s of processor time, {:.0} of {:.0} a second, are in {}",
        sampling.samples,
        sampling.processor_seconds,
        sampling.delivered_hertz,
        sampling.requested_hertz,
        Path::new(&path).display()
    );
    done
}

fn asked_for() -> Option<OsString> {
    env::var_os(VARIABLE).filter(|path| !path.is_empty())
}

/// Starts a thread that answers profile requests while the service runs, unless the whole run is
/// profiled anyway. A service that cannot start the thread continues without it.
pub(crate) fn answer_profile_requests(title: &'static str) {
    if asked_for().is_some() {
        return;
    }
    let Ok(mut signals) = SignalsInfo::<WithOrigin>::new([SIGURG]) else { return };
    let listen = move || {
        for process in signals.forever().filter_map(|origin| origin.process) {
            let _ = answer(title, &process);
        }
    };
    let _ = thread::Builder::new().name("profile".into()).spawn(listen);
}

fn name(requester: u32) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("cycloid-profile-{requester}"))
}

/// Samples this service for a requester. Errors are left for the requester to notice.
fn answer(title: &str, requester: &Process) -> std::io::Result<()> {
    let stranger = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    if requester.uid != 0 && requester.uid != geteuid().as_raw() {
        return Err(stranger());
    }
    let mut stream = UnixStream::connect_addr(&name(requester.pid.cast_unsigned())?)?;
    if socket_peercred(&stream)?.pid.as_raw_pid() != requester.pid {
        return Err(stranger());
    }
    stream.set_read_timeout(Some(PATIENCE[0]))?;
    stream.set_write_timeout(Some(PATIENCE[0]))?;
    let mut line = String::new();
    BufReader::new((&stream).take(100)).read_line(&mut line)?;
    let written = match settings(&line).map(|Settings { seconds, hertz }| {
        let run = WholeRun::begin(hertz)?;
        thread::sleep(Duration::from_secs_f64(seconds));
        Ok(run.end(title).of_service())
    }) {
        Some(Ok(report)) => super::json(&report),
        Some(Err(Failure { message, .. })) => format!("error: {message}\n"),
        None => "error: malformed request\n".into(),
    };
    stream.write_all(written.as_bytes())
}

/// Parses the seconds and the samples per second of a request.
fn settings(line: &str) -> Option<Settings> {
    let (seconds, hertz) = line.trim_end().split_once(' ')?;
    let seconds = seconds.parse().ok().filter(|seconds| (0.0..=LONGEST).contains(seconds))?;
    let hertz = hertz.parse().ok().filter(|hertz| (1..=10_000).contains(hertz))?;
    Some(Settings { seconds, hertz })
}

/// Requests the profile of a running service.
pub(super) fn ask(process: u32, settings: Settings) -> Result<Report, Stop> {
    let failed = |message: String, hint: &str| Stop::Failed(Failure::new(message, hint));
    if settings.seconds > LONGEST {
        let message = format!("a running service can be profiled for at most {LONGEST} seconds");
        return Err(Stop::Usage(Failure::new(message, "give a smaller --seconds")));
    }
    let listens = listens(process).ok_or_else(|| {
        failed(
            format!("no process has the id {process}"),
            "find the process id with `pgrep cycloid`",
        )
    })?;
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    let Some(number) = number.filter(|_| listens) else {
        return Err(failed(
            format!("process {process} is not a service that can be profiled"),
            "name a `cycloid hsm serve`, `vpn server` or `vpn client` started without CYCLOID_PROFILE",
        ));
    };
    let silent = |what: &str| {
        let hint = "another request may be running, or the process belongs to another user: try again as root";
        failed(format!("process {process} {what}"), hint)
    };
    let system = |error: std::io::Error| silent(&format!("cannot be profiled: {error}"));
    let listener = enter_network_of(process)
        .and_then(|()| name(std::process::id()))
        .and_then(|name| UnixListener::bind_addr(&name))
        .map_err(system)?;
    listener.set_nonblocking(true).map_err(system)?;
    kill_process(number, Signal::URG).map_err(|error| system(error.into()))?;
    let deadline = Instant::now() + PATIENCE[0];
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) if socket_peercred(&stream).is_ok_and(|peer| peer.pid == number) => {
                break stream;
            }
            _ if Instant::now() > deadline => return Err(silent("did not answer")),
            _ => thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut text = String::new();
    let patience = PATIENCE[1] + Duration::from_secs_f64(settings.seconds);
    stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_read_timeout(Some(patience)))
        .and_then(|()| writeln!(stream, "{} {}", settings.seconds, settings.hertz))
        .and_then(|()| stream.read_to_string(&mut text))
        .map_err(system)?;
    serde_json::from_str(&text).map_err(|_| match text.strip_prefix("error: ") {
        Some(said) => silent(&format!("reported: {}", said.trim_end())),
        None => silent("ended before it answered"),
    })
}

/// Enters the network namespace of a process, which scopes abstract socket names, if it is known to
/// differ from the own one.
fn enter_network_of(process: u32) -> std::io::Result<()> {
    let path = |process: &str| format!("/proc/{process}/ns/net");
    let (own, other) = (path("self"), path(&process.to_string()));
    match (fs::read_link(own), fs::read_link(&other)) {
        (Ok(own), Ok(link)) if own != link => {
            let network = Some(LinkNameSpaceType::Network);
            Ok(move_into_link_name_space(fs::File::open(other)?.as_fd(), network)?)
        }
        _ => Ok(()),
    }
}

/// Returns whether a process is cycloid and has a handler for SIGURG; `None` if there is no such
/// process.
fn listens(process: u32) -> Option<bool> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| {
        status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
    };
    let caught = field("SigCgt").and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    Some(field("Name") == Some("cycloid") && caught >> (SIGURG - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_parsed_or_rejected() {
        let read = |line: &str| settings(line).map(|asked| (asked.seconds, asked.hertz));
        assert_eq!(read("2.5 997\n"), Some((2.5, 997)));
        for line in ["", "\n", "2", "2 ", "2 0", "-1 997", "601 997", "NaN 997", "1 10001", "1 9 9"]
        {
            assert_eq!(read(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_process_without_the_handler_differs_from_a_missing_process() {
        assert_eq!(listens(std::process::id()), Some(false));
        assert_eq!(listens(u32::MAX), None);
    }
}
