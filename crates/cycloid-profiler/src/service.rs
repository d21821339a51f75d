//! Services that profile themselves: for some seconds at the request of `cycloid profile --pid`, or
//! for their whole run if an environment variable requests it at the start.
//!
//! The requester listens on an abstract socket whose name contains its process id, and sends the
//! service SIGURG, which other programs ignore by default. The service connects, reads one line
//! with the duration and the sampling rate, and writes a [`RawProfile`] as text, or a line that
//! starts with [`ERROR`]. It answers only root and its own user. The answer contains positions in
//! program files and no data.

use std::env;
use std::ffi::OsString;
use std::fmt::{self, Display, Formatter};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use signal_hook::consts::SIGURG;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;

use crate::output_file::OutputFile;
use crate::raw_profile::RawProfile;
use crate::{Error, HERTZ, Recording};

/// The environment variable with the path for the samples of a whole run.
pub const VARIABLE: &str = "CYCLOID_PROFILE";

/// The signal that announces a request.
pub const SIGNAL: i32 = SIGURG;

/// The longest duration of a request, in seconds.
pub const LONGEST_SECONDS: f64 = 600.0;

/// The time limit for each step of the exchange, except for sampling itself.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The start of an answer that reports an error.
pub const ERROR: &str = "error: ";

/// The longest request line, in bytes.
const REQUEST_LIMIT: u64 = 100;

/// A request to sample a service. Its text is the seconds, a space and the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Seconds of wall-clock time, 0 to [`LONGEST_SECONDS`].
    pub seconds: f64,
    /// Requested samples per second of processor time, 1 to 10000.
    pub hertz: u32,
}

impl Request {
    /// Parses a request line; `None` if it is malformed or exceeds a limit.
    pub fn parse(line: &str) -> Option<Self> {
        let (seconds, hertz) = line.strip_suffix('\n').unwrap_or(line).split_once(' ')?;
        let seconds =
            seconds.parse().ok().filter(|seconds| (0.0..=LONGEST_SECONDS).contains(seconds))?;
        let hertz = hertz.parse().ok().filter(|hertz| (1..=10_000).contains(hertz))?;
        Some(Self { seconds, hertz })
    }
}

impl Display for Request {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.seconds, self.hertz)
    }
}

/// Returns the name of the socket on which the process `requester` listens for the answer.
///
/// # Errors
/// If the system has no abstract socket names.
pub fn socket_name(requester: u32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("cycloid-profile-{requester}"))
}

/// Runs `work`, and writes the samples of all threads to the file that [`VARIABLE`] names, if it is
/// set. `title` names the service in the profile.
///
/// # Errors
/// Those of `work`. Before `work`: if sampling is not possible or the file is not writable. After a
/// `work` without errors: if the file cannot be written.
pub fn whole_run<T, E: From<Error>>(
    title: &str,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let Some(path) = requested_path() else {
        return work();
    };
    let path = Path::new(&path);
    let file = OutputFile::new(path)?;
    let recording = Recording::begin(HERTZ)?;
    let result = work();
    let profile = recording.end(title);
    let written = file.write(&profile.to_string());
    if written.is_ok() {
        let samples: u64 = profile.stacks.iter().map(|stack| stack.samples).sum();
        let seconds = profile.processor.as_secs_f64();
        eprintln!(
            "{samples} samples in {seconds:.2} s of processor time, {:.0} of {} a second, are in {}",
            samples as f64 / seconds.max(f64::MIN_POSITIVE),
            profile.hertz,
            path.display()
        );
    }
    let value = result?;
    written?;
    Ok(value)
}

fn requested_path() -> Option<OsString> {
    env::var_os(VARIABLE).filter(|path| !path.is_empty())
}

/// Starts a thread that answers profile requests while the service runs, unless [`VARIABLE`]
/// requests the whole run. A service that cannot start the thread continues without it. `title`
/// names the service in its profiles.
pub fn answer_profile_requests(title: &'static str) {
    if requested_path().is_some() {
        return;
    }
    let Ok(mut signals) = SignalsInfo::<WithOrigin>::new([SIGNAL]) else { return };
    let listen = move || {
        for process in signals.forever().filter_map(|origin| origin.process) {
            // The requester notices the error: its connection ends without an answer.
            let _ = answer(title, process.pid, process.uid);
        }
    };
    let _ = thread::Builder::new().name("profile".into()).spawn(listen);
}

/// Samples this service for the process that sent the signal, and for the user of that process.
fn answer(title: &str, process: i32, user: u32) -> io::Result<()> {
    let stranger = || io::Error::from(io::ErrorKind::PermissionDenied);
    if user != 0 && user != geteuid().as_raw() {
        return Err(stranger());
    }
    let mut stream = UnixStream::connect_addr(&socket_name(process.cast_unsigned())?)?;
    if socket_peercred(&stream)?.pid.as_raw_pid() != process {
        return Err(stranger());
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new((&stream).take(REQUEST_LIMIT)).read_line(&mut line)?;
    let text = match Request::parse(&line).map(|request| sample(title, request)) {
        Some(Ok(profile)) => profile.to_string(),
        Some(Err(error)) => format!("{ERROR}{error}\n"),
        None => format!("{ERROR}malformed request\n"),
    };
    stream.write_all(text.as_bytes())
}

fn sample(title: &str, request: Request) -> Result<RawProfile, Error> {
    let recording = Recording::begin(request.hertz)?;
    thread::sleep(Duration::from_secs_f64(request.seconds));
    Ok(recording.end(title))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::process::{self, Command, Stdio};

    use super::*;

    #[test]
    fn requests_are_parsed_or_rejected() {
        let request = Request { seconds: 2.5, hertz: 997 };
        assert_eq!(Request::parse("2.5 997\n"), Some(request));
        assert_eq!(Request::parse(&request.to_string()), Some(request));
        for line in [
            "", "\n", "2", "2 ", "2 0", "-1 997", "601 997", "NaN 997", "inf 997", "1 10001",
            "1 9 9", "1 9\n\n",
        ] {
            assert_eq!(Request::parse(line), None, "{line:?}");
        }
    }
    #[test]
    fn strangers_get_no_answer() {
        let denied = |pid: u32, uid: u32| {
            answer("a test", pid.cast_signed(), uid).unwrap_err().kind()
                == io::ErrorKind::PermissionDenied
        };
        let user = geteuid().as_raw();
        assert!(denied(process::id(), user + 1));
        // A socket with the name of another process, which has not bound it.
        let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let _listener = UnixListener::bind_addr(&socket_name(other.id()).unwrap()).unwrap();
        assert!(denied(other.id(), user));
        drop(other.stdin.take());
        assert!(other.wait().unwrap().success());
    }
}
