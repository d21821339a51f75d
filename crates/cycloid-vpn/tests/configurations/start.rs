//! Starts a program with a configuration in a network of its own, up to the first sign that it
//! accepts it.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// A program that runs after this time has started, although its log is silent.
const SILENT: Duration = Duration::from_secs(10);

/// The sequence of commands that gives the program a network, processes and `/run` of its own.
///
/// The shell stays the first process, and the others end with it. `unshare` has the kernel kill its
/// child when it dies itself, but a process that changes its user or group loses this setting.
const SANDBOX: &str = "mount -t tmpfs none /run; ip link set lo up; \"$@\" 2>&1; exit $?";

/// Log lines of a program that uses its configuration.
const SIGNS: [&str; 12] = [
    // OpenVPN
    "Initialization Sequence Completed",
    "UDPv4 link local",
    "UDPv6 link local",
    "TCP/UDP: Preserving recently used remote address",
    "Attempting to establish TCP connection",
    "RESOLVE: Cannot resolve host address",
    "Enter Auth Username",
    "Enter Private Key Password",
    "Could not determine IPv4/IPv6 protocol",
    "Listening for incoming TCP connection",
    "Need hold release",
    // Cycloid
    "connecting to ",
];

/// Questions of a program without a terminal: it accepts the configuration.
const QUESTIONS: [&str; 6] = [
    "neither stdin nor stderr are a tty",
    "could not read",
    "cannot read from the terminal",
    "asks for a user name and a password",
    "the private key is encrypted",
    "cannot resolve ",
];

/// The outcome of a start.
#[derive(Debug)]
pub(crate) enum Outcome {
    Starts,
    /// The last lines of the log.
    Refuses(String),
}

/// Starts a program in a directory.
pub(crate) fn start(directory: &Path, line: &[&str]) -> Outcome {
    let mut command = Command::new("unshare");
    command.args([
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "sh",
        "-c",
        SANDBOX,
        "sh",
    ]);
    command.args(line).current_dir(directory);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Kill { child: command.spawn().expect("unshare"), reader: None };
    let (sender, lines) = mpsc::channel();
    let output = child.child.stdout.take().unwrap();
    child.reader = Some(std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if sender.send(text).is_err() {
                break;
            }
            line.clear();
        }
        let _ = output.read_to_end(&mut Vec::new());
    }));
    let mut log = Vec::new();
    loop {
        match lines.recv_timeout(SILENT) {
            Ok(line) => {
                if SIGNS.iter().chain(&QUESTIONS).any(|sign| line.contains(sign)) {
                    return Outcome::Starts;
                }
                log.push(line);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => return Outcome::Starts,
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    let code = child.child.wait().unwrap();
    if code.success() {
        return Outcome::Starts;
    }
    Outcome::Refuses(log.split_off(log.len().saturating_sub(4)).join("\n"))
}

/// A process that ends with this value, and all that it has started.
struct Kill {
    child: Child,
    /// Reads to the end of their output.
    reader: Option<JoinHandle<()>>,
}

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}
