//! Runs scripts without a shell, concurrently with the control thread and with a time limit, and
//! collects their decisions.
//!
//! A job belongs to a lane, such as a client. Jobs of one lane run one after another in their
//! order; different lanes run in parallel, up to a limit. The control thread polls
//! [`fds`](Hooks::fds) until [`deadline`](Hooks::deadline) and calls [`done`](Hooks::done).
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

/// Maximum number of scripts that run in parallel.
const MAX_RUNNING: usize = 64;
/// Maximum number of queued scripts that decide about a client, beyond which it is refused: more
/// than its verification and its answers to challenges.
const MAX_WAITING_OF_LANE: usize = 32;
/// Maximum number of queued scripts, beyond which clients are refused: they would wait longer than
/// a handshake may take.
const MAX_WAITING: usize = 4096;
/// Interval for checking whether a script with a deferred decision has decided.
const DECISION_POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The scripts' default `PATH`, unless `setenv PATH` sets one.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The event that a script runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The interface is up.
    Up,
    /// The interface is down, or about to go down.
    Down,
    /// The routes are set.
    RouteUp,
    /// The routes are about to be removed.
    RoutePreDown,
    /// The server's address is known or has changed.
    AddressChange,
    /// A certificate needs verification.
    TlsVerify,
    /// The metadata of a client's tls-crypt-v2 key needs verification.
    ClientKeyVerify,
    /// A user name and password need verification.
    UserPassVerify,
    /// The answer to a challenge arrived. The script writes its decision to the control file of the
    /// lane's pending verification, which then ends with this outcome.
    ChallengeResponse,
    /// A client connected.
    ClientConnect,
    /// A client disconnected.
    ClientDisconnect,
    /// An address is about to be assigned to a client, or was removed.
    LearnAddress,
}

impl Kind {
    /// Returns the event's name in `script_type`, which is also the directive's name for most.
    pub(super) fn script_type(self) -> &'static str {
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

    /// Returns whether the script takes part in a decision about a connecting client.
    fn admits(self) -> bool {
        matches!(
            self,
            Self::TlsVerify
                | Self::ClientKeyVerify
                | Self::UserPassVerify
                | Self::ChallengeResponse
                | Self::ClientConnect
        )
    }
}

/// A program and its fixed arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    program: String,
    arguments: Vec<String>,
}

impl Script {
    /// Returns a script for a program with arguments, or `None` for an empty command.
    pub fn new(command: &[String]) -> Option<Self> {
        let (program, arguments) = command.split_first()?;
        Some(Self { program: program.clone(), arguments: arguments.to_vec() })
    }

    /// Parses a command of the configuration.
    ///
    /// # Errors
    ///
    /// Unclosed quotation marks. An empty command gives `None`.
    pub fn parse(command: &str) -> Result<Option<Self>, Unreadable> {
        let mut words = words(command)?.into_iter();
        Ok(words.next().map(|program| Self { program, arguments: words.collect() }))
    }
}

/// Data that a script receives in addition to its arguments.
#[derive(Debug)]
pub enum Secret {
    /// No data.
    None,
    /// A user name and password in a file named by the last argument (`via-file`).
    File(String, Zeroizing<String>),
    /// A user name and password in the environment (`via-env`), which other processes may be able
    /// to read.
    Environment(String, Zeroizing<String>),
    /// The answer to a challenge in a file named by the last argument.
    Response(Zeroizing<String>),
    /// The metadata of a client's tls-crypt-v2 key, in a file named by the environment.
    Metadata(Metadata),
}

/// A script run.
#[derive(Debug)]
pub struct Job {
    /// The event.
    pub kind: Kind,
    /// The program.
    pub script: Script,
    /// Arguments appended to the configured ones.
    pub arguments: Vec<String>,
    /// The environment.
    pub environment: Environment,
    /// The lane; jobs of one lane run in order.
    pub lane: u64,
    /// Data for this script only.
    pub secret: Secret,
}

/// Identifies a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// The decision of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted or succeeded. After `client-connect`, with configuration lines for the client.
    Accepted(String),
    /// Refused or failed.
    Refused {
        /// The reason for the log.
        why: String,
        /// The reason for the client, if any.
        for_client: Option<String>,
    },
    /// Deferred: the user must complete a step by `method` within the timeout. Another outcome
    /// follows.
    Pending {
        /// Timeout in seconds.
        timeout: u32,
        /// The method, such as `webauth`.
        method: String,
        /// Data for the client.
        extra: String,
    },
}

/// The error for a script that `script-security` forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAllowed {
    /// The required `script-security` level.
    pub needed: u8,
}

impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "script not run: it requires `script-security {}`", self.needed)
    }
}

impl std::error::Error for NotAllowed {}

/// Running and queued scripts.
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
    /// Returns an empty set. `security` is that of `script-security`, `directory` that of
    /// `tmp-dir`. `limit` is the time limit of a script, deferral included, unless the script sets another one
    /// for its user's step.
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

    /// Starts a script, or queues it in its lane. `now` counts from an arbitrary start.
    ///
    /// # Errors
    ///
    /// An insufficient `script-security`. If a script fails to start, its outcome is a refusal.
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

    /// Returns whether the queue has no room for another script that decides about the client of
    /// this lane. Other scripts are queued nevertheless.
    pub fn is_full(&self, lane: u64) -> bool {
        let own = self.waiting.iter().filter(|(_, job)| job.lane == lane && job.kind.admits());
        self.waiting.len() >= MAX_WAITING || own.count() >= MAX_WAITING_OF_LANE
    }

    /// Drops this lane's queued scripts and deferred decisions about a client that has left or has
    /// begun again. A script that is running goes on to its end. Returns the dropped tickets, which
    /// have no outcome.
    pub fn cancel(&mut self, now: Duration, lane: u64) -> Vec<Ticket> {
        let mut dropped = Vec::new();
        self.waiting.retain(|(ticket, job)| {
            let goes = job.lane == lane && job.kind.admits();
            dropped.extend(goes.then_some(*ticket));
            !goes
        });
        self.running.retain(|running| {
            let goes = running.lane == lane && running.kind.admits() && running.process.is_none();
            dropped.extend(goes.then_some(running.ticket));
            !goes
        });
        self.launch(now);
        dropped
    }

    /// Returns whether no script is running or queued.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty() && self.failed.is_empty()
    }

    /// Returns the descriptors to poll for reading.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.running
            .iter()
            .filter_map(|running| running.process.as_ref().map(|(_, ended)| ended.as_fd()))
    }

    /// Returns the latest time for the next call of [`done`](Self::done).
    pub fn deadline(&self, now: Duration) -> Option<Duration> {
        if !self.failed.is_empty() {
            return Some(now);
        }
        let glances = self.running.iter().map(|running| {
            if running.may_defer() {
                running.deadline.min(now + DECISION_POLL_INTERVAL)
            } else {
                running.deadline
            }
        });
        glances.min()
    }

    /// Returns the outcomes since the last call.
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
        while self.running.len() < MAX_RUNNING && at < self.waiting.len() {
            let lane = self.waiting[at].1.lane;
            // A challenge response runs although its verification still occupies the lane, since it
            // decides that verification.
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
                    let why = format!("cannot run {program}: {error}");
                    self.failed.push((ticket, kind, Outcome::Refused { why, for_client: None }));
                }
            }
        }
    }
}

/// The files of a script that may defer its decision.
#[derive(Debug)]
struct Deferral {
    /// The file for the final decision, 0 or 1.
    control: Exchange,
    /// The file for the reason of a refusal.
    reason: Option<Exchange>,
    /// The file for the step that the user must complete.
    pending: Option<Exchange>,
}

impl Deferral {
    /// Sets the variables that name the files, for the verification script and the challenge
    /// response script.
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

/// A script that is running or has deferred its decision.
#[derive(Debug)]
struct Running {
    ticket: Ticket,
    kind: Kind,
    lane: u64,
    program: String,
    /// The process and its pidfd, which becomes readable at its end; `None` after the end.
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
            // The standard library keeps a copy that is not wiped, and the kernel shows the
            // environment to anyone who may inspect the process. So this requires a higher
            // script-security level.
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
        // A process group of its own, so that a timeout also kills the script's children.
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

    fn may_defer(&self) -> bool {
        self.deferral.is_some()
    }

    /// Returns the outcome, if there is one yet.
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
        if let Some((timeout, pending)) = self.pending() {
            self.deadline = now + timeout;
            return Some(pending);
        }
        if self.process.is_none() {
            match self.control() {
                Some('1') => return Some(self.accepted()),
                Some('0') => return Some(self.refused("denied by the script")),
                _ => {}
            }
        }
        (now >= self.deadline).then(|| self.refused("timeout"))
    }

    fn control(&self) -> Option<char> {
        self.deferral.as_ref().and_then(|deferral| deferral.control.verdict())
    }

    /// Returns the pending step once, and its time limit.
    fn pending(&mut self) -> Option<(Duration, Outcome)> {
        let deferral = self.deferral.as_mut()?;
        let text = deferral.pending.as_ref()?.text();
        let mut lines = text.lines();
        let (timeout, method, extra) = (lines.next()?, lines.next()?, lines.next()?);
        // A last line without newline may still be incomplete.
        if text.matches('\n').count() < 3 {
            return None;
        }
        deferral.pending = None;
        let timeout = timeout.trim().parse().ok()?;
        let pending = Outcome::Pending { timeout, method: method.into(), extra: extra.into() };
        Some((Duration::from_secs(timeout.into()), pending))
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
