//! Services that profile themselves: for the whole of their run, because somebody who starts them says
//! so in their environment, or for some seconds, because somebody asks while they run.
//!
//! Who asks (`profile --pid`) listens on a socket whose name has his process's number, and sends the
//! service SIGURG, which programs ignore that do not know of it. The service connects, reads for how long
//! and how often, and writes the record. It answers its own user and root only, and whoever asks learns
//! names of functions and no data.

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

/// Names the file for folded stacks.
const VARIABLE: &str = "CYCLOID_PROFILE";

/// The longest that somebody may ask for, in seconds.
const LONGEST: f64 = 600.0;

/// For a service to answer at all, and to look up names once it has its samples.
const PATIENCE: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(300)];

/// Runs `work`, and writes its stacks where the environment says, if it does.
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

/// Has a thread wait for those who ask while the service runs, unless it profiles itself anyway. A
/// service that cannot have the thread goes on without.
pub(crate) fn answer_whoever_asks(title: &'static str) {
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

fn name(asks: u32) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("cycloid-profile-{asks}"))
}

/// Takes samples for somebody. What goes wrong is theirs to notice.
fn answer(title: &str, asks: &Process) -> std::io::Result<()> {
    let stranger = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    if asks.uid != 0 && asks.uid != geteuid().as_raw() {
        return Err(stranger());
    }
    let mut stream = UnixStream::connect_addr(&name(asks.pid.cast_unsigned())?)?;
    if socket_peercred(&stream)?.pid.as_raw_pid() != asks.pid {
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
        None => "error: it does not know what is asked of it\n".into(),
    };
    stream.write_all(written.as_bytes())
}

/// Seconds and samples a second, as they are asked for.
fn settings(line: &str) -> Option<Settings> {
    let (seconds, hertz) = line.trim_end().split_once(' ')?;
    let seconds = seconds.parse().ok().filter(|seconds| (0.0..=LONGEST).contains(seconds))?;
    let hertz = hertz.parse().ok().filter(|hertz| (1..=10_000).contains(hertz))?;
    Some(Settings { seconds, hertz })
}

/// Asks a service that runs for its profile.
pub(super) fn ask(process: u32, settings: Settings) -> Result<Report, Stop> {
    let failed = |message: String, hint: &str| Stop::Failed(Failure::new(message, hint));
    if settings.seconds > LONGEST {
        let message = format!("a service is profiled for {LONGEST} seconds at most");
        return Err(Stop::Usage(Failure::new(message, "take a smaller --seconds")));
    }
    let listens = listens(process).ok_or_else(|| {
        failed(format!("there is no process {process}"), "`pgrep cycloid` lists those of cycloid")
    })?;
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    let Some(number) = number.filter(|_| listens) else {
        return Err(failed(
            format!("process {process} is no service that can be asked"),
            "ask `cycloid hsm serve`, `vpn server` or `vpn client`, if not started with CYCLOID_PROFILE",
        ));
    };
    let silent = |what: &str| {
        let hint = "it may be at work for somebody else, or belong to another user: try it as root";
        failed(format!("process {process} {what}"), hint)
    };
    let system = |error: std::io::Error| silent(&format!("cannot be asked: {error}"));
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
            _ if Instant::now() > deadline => return Err(silent("does not answer")),
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
        Some(said) => silent(&format!("says: {}", said.trim_end())),
        None => silent("ended meanwhile"),
    })
}

/// Enters the network namespace of a process, in which names of sockets are, if that is known to be
/// another one.
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

/// Whether a process is cycloid and has a handler for the signal; none where there is no process.
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
    fn what_is_asked_is_read_or_refused() {
        let read = |line: &str| settings(line).map(|asked| (asked.seconds, asked.hertz));
        assert_eq!(read("2.5 997\n"), Some((2.5, 997)));
        for line in ["", "\n", "2", "2 ", "2 0", "-1 997", "601 997", "NaN 997", "1 10001", "1 9 9"]
        {
            assert_eq!(read(line), None, "{line:?}");
        }
    }

    #[test]
    fn processes_that_do_not_listen_are_told_from_those_that_are_not() {
        assert_eq!(listens(std::process::id()), Some(false));
        assert_eq!(listens(u32::MAX), None);
    }
}
