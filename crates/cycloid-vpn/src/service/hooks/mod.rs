//! Scripts: run beside the control thread, without a shell, each with a time limit; and what they
//! decide.
//!
//! A job belongs to a lane, such as a client: jobs of a lane run one after the other, in the order in
//! which they were given; lanes run side by side, up to a limit. The control thread polls
//! [`fds`](Hooks::fds) until [`deadline`](Hooks::deadline) and asks for what is [done](Hooks::done).
//!
//! Source: openvpn(8), "SCRIPT HOOKS" and "--script-security".

mod environment;
mod files;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use zeroize::Zeroizing;

pub use environment::{Environment, Trust, subject_of};

use super::words::{Unreadable, words};
use crate::proto::wrap::Metadata;
use files::Exchange;

/// How many scripts run at a time.
const MOST: usize = 64;
/// How often it is looked whether a script that put its decision off has decided.
const GLANCE: Duration = Duration::from_millis(250);
/// Where scripts find programs unless `setenv PATH` says so.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// When a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The interface stands.
    Up,
    /// The interface is gone, or about to go.
    Down,
    /// The routes stand.
    RouteUp,
    /// The routes are about to go.
    RoutePreDown,
    /// The server's address is known, or another.
    AddressChange,
    /// A certificate is to be judged.
    TlsVerify,
    /// What a client's own key for the control channel says of it is to be judged.
    ClientKeyVerify,
    /// A username and a password are to be judged.
    UserPassVerify,
    /// The answer to a challenge came. Its script writes its judgement into the file of the
    /// verification of the same lane, whose outcome it is.
    ChallengeResponse,
    /// A client came.
    ClientConnect,
    /// A client is gone.
    ClientDisconnect,
    /// An address is to be a client's, or is no more.
    LearnAddress,
}

impl Kind {
    fn script_type(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::RouteUp => "route-up",
            Self::RoutePreDown => "route-pre-down",
            Self::AddressChange => "ipchange",
            Self::TlsVerify => "tls-verify",
            Self::ClientKeyVerify => "tls-crypt-v2-verify",
            Self::UserPassVerify => "user-pass-verify",
            Self::ChallengeResponse => "client-crresponse",
            Self::ClientConnect => "client-connect",
            Self::ClientDisconnect => "client-disconnect",
            Self::LearnAddress => "learn-address",
        }
    }
}

/// A program and its first arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    program: String,
    arguments: Vec<String>,
}

impl Script {
    /// A program with its arguments; none for an empty command.
    pub fn new(command: &[String]) -> Option<Self> {
        let (program, arguments) = command.split_first()?;
        Some(Self { program: program.clone(), arguments: arguments.to_vec() })
    }

    /// Takes a command of the configuration apart.
    ///
    /// # Errors
    ///
    /// Quotation marks are not closed. None for an empty one.
    pub fn parse(command: &str) -> Result<Option<Self>, Unreadable> {
        let mut words = words(command)?.into_iter();
        Ok(words.next().map(|program| Self { program, arguments: words.collect() }))
    }
}

/// What a script is given beside its arguments.
#[derive(Debug)]
pub enum Secret {
    /// Nothing.
    None,
    /// A username and a password, in a file whose name is the last argument (`via-file`).
    File(String, Zeroizing<String>),
    /// A username and a password in the environment (`via-env`), which others may be able to read.
    Environment(String, Zeroizing<String>),
    /// The answer to a challenge, in a file whose name is the last argument.
    Response(Zeroizing<String>),
    /// What a client's own key says of it, in a file that the environment names.
    Metadata(Metadata),
}

/// A script to run.
#[derive(Debug)]
pub struct Job {
    /// When.
    pub kind: Kind,
    /// Which.
    pub script: Script,
    /// Arguments behind those of the configuration.
    pub arguments: Vec<String>,
    /// Its environment.
    pub environment: Environment,
    /// Behind whose other jobs it waits.
    pub lane: u64,
    /// What is for this script only.
    pub secret: Secret,
}

/// Stands for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// What a script decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Yes, or it simply succeeded. After `client-connect`, with lines of configuration for the client.
    Accepted(String),
    /// No, or it failed; with what the client is told, if anything.
    Refused {
        /// For the log.
        why: String,
        /// For the client.
        for_client: Option<String>,
    },
    /// Not decided yet: the user has to do something, by a method, as a text says, within seconds.
    /// Another outcome follows.
    Pending {
        /// Seconds.
        timeout: u32,
        /// Such as `webauth`.
        method: String,
        /// For the client.
        extra: String,
    },
}

/// Why a script is not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAllowed {
    /// The `script-security` that it takes.
    pub needed: u8,
}

impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a script is not run: that takes `script-security {}`", self.needed)
    }
}

impl std::error::Error for NotAllowed {}

/// All scripts that run or wait.
#[derive(Debug)]
pub struct Hooks {
    security: u8,
    directory: PathBuf,
    limit: Duration,
    next: u64,
    waiting: VecDeque<(Ticket, Job)>,
    running: Vec<Running>,
    failed: Vec<(Ticket, Kind, Outcome)>,
}

impl Hooks {
    /// `security` as in `script-security`; `directory` as in `tmp-dir`; `limit` is the time that a
    /// script may take, its putting off included.
    pub fn new(security: u8, directory: PathBuf, limit: Duration) -> Self {
        Self {
            security,
            directory,
            limit,
            next: 0,
            waiting: VecDeque::new(),
            running: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Runs a script as soon as it is its turn. `now` is since an arbitrary start.
    ///
    /// # Errors
    ///
    /// `script-security` is too low. A script that cannot be started is refused by its outcome.
    pub fn start(&mut self, now: Duration, job: Job) -> Result<Ticket, NotAllowed> {
        let needed = if matches!(job.secret, Secret::Environment(..)) { 3 } else { 2 };
        if self.security < needed {
            return Err(NotAllowed { needed });
        }
        let ticket = Ticket(self.next);
        self.next += 1;
        self.waiting.push_back((ticket, job));
        self.launch(now);
        Ok(ticket)
    }

    /// Whether nothing runs or waits.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty() && self.failed.is_empty()
    }

    /// What to poll for reading.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.running
            .iter()
            .filter_map(|running| running.process.as_ref().map(|(_, ended)| ended.as_fd()))
    }

    /// When to ask for what is done at the latest.
    pub fn deadline(&self, now: Duration) -> Option<Duration> {
        if !self.failed.is_empty() {
            return Some(now);
        }
        let glances = self.running.iter().map(|running| {
            if running.may_put_off() {
                running.deadline.min(now + GLANCE)
            } else {
                running.deadline
            }
        });
        glances.min()
    }

    /// What was decided since the last call.
    pub fn done(&mut self, now: Duration) -> Vec<(Ticket, Kind, Outcome)> {
        let mut done = std::mem::take(&mut self.failed);
        self.running.retain_mut(|running| {
            let outcome = running.look(now);
            let goes_on = matches!(outcome, None | Some(Outcome::Pending { .. }));
            done.extend(outcome.map(|outcome| (running.ticket, running.kind, outcome)));
            goes_on
        });
        self.launch(now);
        done.append(&mut self.failed);
        done
    }

    fn launch(&mut self, now: Duration) {
        let mut at = 0;
        while self.running.len() < MOST && at < self.waiting.len() {
            let lane = self.waiting[at].1.lane;
            // The verification that asked for a response holds the lane until it has it.
            let answers = self.waiting[at].1.kind == Kind::ChallengeResponse;
            let busy = self.running.iter().any(|running| running.lane == lane)
                || self.waiting.iter().take(at).any(|(_, job)| job.lane == lane);
            let busy = busy && !answers;
            if busy {
                at += 1;
                continue;
            }
            let Some((ticket, mut job)) = self.waiting.remove(at) else { return };
            if answers {
                let asked = self.running.iter().find(|running| running.lane == lane);
                let deferral = asked.and_then(|running| running.deferral.as_ref());
                deferral.into_iter().for_each(|files| files.name_in(&mut job.environment));
            }
            let (kind, program) = (job.kind, job.script.program.clone());
            match Running::start(ticket, job, &self.directory, now + self.limit) {
                Ok(running) => self.running.push(running),
                Err(error) => {
                    let why = format!("{program} cannot be run: {error}");
                    self.failed.push((ticket, kind, Outcome::Refused { why, for_client: None }));
                }
            }
        }
    }
}

/// The files of a script that may put its decision off.
#[derive(Debug)]
struct Deferral {
    /// Where it says 0 or 1 in the end.
    control: Exchange,
    /// Why not.
    reason: Option<Exchange>,
    /// What the user has to do.
    pending: Option<Exchange>,
}

impl Deferral {
    /// Names the files of a verification to its script, and to that which gets the response.
    fn name_in(&self, environment: &mut Environment) {
        environment.set("auth_control_file", self.control.path());
        for (name, file) in
            [("auth_failed_reason_file", &self.reason), ("auth_pending_file", &self.pending)]
        {
            if let Some(file) = file {
                environment.set(name, file.path());
            }
        }
    }
}

/// A script that runs, or that has put its decision off.
#[derive(Debug)]
struct Running {
    ticket: Ticket,
    kind: Kind,
    lane: u64,
    program: String,
    /// The process, and what becomes readable when it ends; none when it has.
    process: Option<(Child, OwnedFd)>,
    deadline: Duration,
    configuration: Option<Exchange>,
    deferral: Option<Deferral>,
    /// Removed when the script has ended.
    secret: Option<Exchange>,
}

impl Running {
    fn start(
        ticket: Ticket,
        mut job: Job,
        directory: &std::path::Path,
        deadline: Duration,
    ) -> io::Result<Self> {
        let file = |name: &str| Exchange::new(directory, name, &[]);
        let environment = &mut job.environment;
        environment.set("script_type", job.kind.script_type());
        let mut configuration = None;
        let mut deferral = None;
        match job.kind {
            Kind::ClientConnect => {
                let (lines, control) = (file("cycloid_vpn_cc")?, file("cycloid_vpn_ccr")?);
                environment.set("client_connect_config_file", lines.path());
                environment.set("client_connect_deferred_file", control.path());
                job.arguments.push(lines.path());
                configuration = Some(lines);
                deferral = Some(Deferral { control, reason: None, pending: None });
            }
            Kind::UserPassVerify => {
                let (control, reason) = (file("cycloid_vpn_acf")?, file("cycloid_vpn_afr")?);
                let pending = Some(file("cycloid_vpn_apf")?);
                let files = Deferral { control, reason: Some(reason), pending };
                files.name_in(environment);
                deferral = Some(files);
            }
            _ => {}
        }
        let mut command = Command::new(&job.script.program);
        command.args(&job.script.arguments).args(&job.arguments);
        command.env_clear().env("PATH", PATH).envs(job.environment.iter());
        let secret = match &job.secret {
            Secret::None => None,
            Secret::File(username, password) => {
                let parts = [username.as_bytes(), b"\n", password.as_bytes(), b"\n"];
                Some(Exchange::new(directory, "cycloid_vpn_up", &parts)?)
            }
            Secret::Response(response) => {
                Some(Exchange::new(directory, "cycloid_vpn_cr", &[response.as_bytes()])?)
            }
            Secret::Metadata(metadata) => {
                command.env("metadata_type", metadata.kind().to_string());
                Some(Exchange::new(directory, "cycloid_vpn_md", &[metadata.content()])?)
            }
            // The standard library keeps a copy that is not wiped; so does the kernel, for all to read
            // who may look at the process. That is why it takes a level of security of its own.
            Secret::Environment(username, password) => {
                command.env("username", username).env("password", password.as_str());
                None
            }
        };
        match (&secret, &job.secret) {
            (Some(file), Secret::Metadata(_)) => {
                command.env("metadata_file", file.path());
            }
            (Some(file), _) => {
                command.arg(file.path());
            }
            (None, _) => {}
        }
        // A group of its own, so that at the end of its time all that it started goes too.
        command.process_group(0).stdin(Stdio::null());
        let mut child = command.spawn()?;
        let ended = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        let ended = ended.inspect_err(|_| {
            let _ = child.kill().and_then(|()| child.wait());
        })?;
        Ok(Self {
            ticket,
            kind: job.kind,
            lane: job.lane,
            program: job.script.program,
            process: Some((child, ended)),
            deadline,
            configuration,
            deferral,
            secret,
        })
    }

    fn may_put_off(&self) -> bool {
        self.deferral.is_some()
    }

    /// What is decided now, if anything.
    fn look(&mut self, now: Duration) -> Option<Outcome> {
        let status = match &mut self.process {
            Some((child, _)) => match child.try_wait() {
                Ok(Some(status)) => Some(status),
                Ok(None) => None,
                Err(error) => return Some(self.refused(&error.to_string())),
            },
            None => None,
        };
        if let Some(status) = status {
            self.process = None;
            self.secret = None;
            let put_off = match self.kind {
                Kind::ClientConnect => status.success() && self.control() == Some('2'),
                Kind::UserPassVerify => status.code() == Some(2),
                _ => false,
            };
            if !put_off {
                let failed = !status.success() || self.control() == Some('0');
                return Some(if failed {
                    self.refused(&status.to_string())
                } else {
                    self.accepted()
                });
            }
        }
        let pending = self.pending();
        if pending.is_some() {
            return pending;
        }
        if self.process.is_none() {
            match self.control() {
                Some('1') => return Some(self.accepted()),
                Some('0') => return Some(self.refused("it decided so")),
                _ => {}
            }
        }
        (now >= self.deadline).then(|| self.refused("it took too long"))
    }

    fn control(&self) -> Option<char> {
        self.deferral.as_ref().and_then(|deferral| deferral.control.verdict())
    }

    /// What the user has to do, once.
    fn pending(&mut self) -> Option<Outcome> {
        let deferral = self.deferral.as_mut()?;
        let text = deferral.pending.as_ref()?.text();
        let mut lines = text.lines();
        let (timeout, method, extra) = (lines.next()?, lines.next()?, lines.next()?);
        // A line without its end may be in writing.
        if text.matches('\n').count() < 3 {
            return None;
        }
        deferral.pending = None;
        let timeout = timeout.trim().parse().ok()?;
        Some(Outcome::Pending { timeout, method: method.into(), extra: extra.into() })
    }

    fn accepted(&self) -> Outcome {
        Outcome::Accepted(self.configuration.as_ref().map(Exchange::text).unwrap_or_default())
    }

    fn refused(&self, why: &str) -> Outcome {
        let deferral = self.deferral.as_ref();
        let reason = deferral.and_then(|deferral| deferral.reason.as_ref()).map(Exchange::text);
        let reason = reason.and_then(|text| text.lines().next().map(str::to_owned));
        let why = format!("{} refused or failed: {why}", self.program);
        Outcome::Refused { why, for_client: reason.filter(|reason| !reason.is_empty()) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.process {
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            let _ = child.wait();
        }
    }
}
