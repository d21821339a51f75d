//! The helper: a process that keeps root for a client that drops it (`user`).
//!
//! A client that has dropped root can change addresses and routes, but no name servers. So it
//! starts a helper before that, and asks it over a socket. The helper is this program, executed
//! again. It can do two things:
//!
//! 1. set and restore the name servers of the tunnel's interface;
//! 2. run `up`, `route-up` and, in a client that pulls, `ipchange` as root, each once.
//!
//! These are the scripts that OpenVPN 2.6 runs before it drops root, except `tls-verify`: it judges
//! a peer, and OpenVPN too runs it as the user at each renegotiation. Later runs of all scripts,
//! also those of `up-restart`, and `down` have no root, as in OpenVPN.
//!
//! An attacker may take over the client, which talks to the network. So the helper takes nothing
//! from it on trust:
//!
//! - What is root's choice arrives in the first message (`Setup`), before the client drops root:
//!   the instance, the interface, the scripts and the variables of the file. Nothing changes it
//!   later.
//! - A message has at most `message::MAX_LENGTH` bytes and known fields only. Addresses, numbers
//!   and domain names are parsed. A script's variables are on a list (`variables`), and its
//!   arguments are made here.
//! - The helper keeps its own journal of name servers. It ends when its socket closes, stops a
//!   script that still runs, and restores the name servers. After a crash of both processes, the
//!   next start restores them.
//!
//! An attacker can still set any name servers and domains while the client runs. If a script has
//! not run yet, an attacker chooses when it runs, and the addresses, routes, `dhcp-option`s, pushed
//! `setenv-safe` variables and certificate fields that it gets. A hostile server can do the same.
//!
//! Source: openvpn(8), "--user", "--up" and "Script Order of Execution"; observed: OpenVPN 2.6.14.

mod message;
mod process;
mod variables;

#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};

use self::message::{Request, Setup};
pub use self::process::run;
use super::Failure;
use super::context::SCRIPT_LIMIT;
use super::hooks::{Environment, Kind};
use super::privileges::Identity;
use crate::config;
use crate::net::dns::Dns;

/// Time limit of an answer: a script's, and that of the programs that set name servers.
const ANSWER_LIMIT: Duration = Duration::from_secs(SCRIPT_LIMIT.as_secs() + 60);

/// Time limit of the helper's end, which restores name servers.
const END_LIMIT: Duration = Duration::from_secs(15);

/// The scripts that run as root once.
const SCRIPTS: [Kind; 3] = [Kind::Up, Kind::RouteUp, Kind::AddressChange];

fn script(name: &str) -> Option<Kind> {
    SCRIPTS.into_iter().find(|kind| kind.script_type() == name)
}

/// Returns whether a client that switches to this identity leaves root.
pub(super) fn leaves_root(identity: Identity) -> bool {
    geteuid().is_root() && identity.is_unprivileged()
}

/// Returns whether a client that leaves root has work for a helper.
pub(super) fn is_needed(config: &config::Client) -> bool {
    config.may_set_names() || config.first_scripts().next().is_some()
}

/// The client's end of the helper. Drop ends the helper and waits until it has restored the name
/// servers.
#[derive(Debug)]
pub(super) struct Helper {
    child: Child,
    /// `None` after a failure.
    stream: Option<UnixStream>,
    /// The scripts that have not run yet.
    scripts: Vec<Kind>,
}

impl Helper {
    /// Starts the helper by `command`, and waits until it is ready. To be called as root.
    ///
    /// # Errors
    /// The command does not start, or the helper cannot work.
    pub(super) fn start(
        mut command: Command,
        instance: &str,
        interface: &str,
        config: &config::Client,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let failed =
            |error: io::Error| Failure::new(format!("cannot start the helper of `user`: {error}"));
        let (stream, other) = UnixStream::pair().map_err(failed)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT)).map_err(failed)?;
        stream.set_write_timeout(Some(ANSWER_LIMIT)).map_err(failed)?;
        // A process group of its own: Ctrl-C at the terminal ends the client only, which ends the
        // helper after its last request.
        command.env_clear().process_group(0).stdin(OwnedFd::from(other));
        let child = command.spawn().map_err(failed)?;
        // The command still has the helper's end of the socket. It must close, or a helper that
        // ends would go unnoticed.
        drop(command);
        let scripts = config.first_scripts();
        let setup = Setup {
            instance: instance.to_owned(),
            interface: interface.to_owned(),
            security: config.common.hooks.security.unwrap_or(1),
            environment: environment.clone(),
            scripts: scripts.filter_map(|(name, it)| Some((script(name)?, it.clone()))).collect(),
        };
        let scripts = setup.scripts.iter().map(|(kind, _)| *kind).collect();
        let mut helper = Self { child, stream: Some(stream), scripts };
        match helper.exchange(&setup.to_json()) {
            Ok(problems) if problems.is_empty() => Ok(helper),
            Ok(problems) => Err(Failure::new(problems.join("; "))),
            Err(error) => Err(failed(error)),
        }
    }

    /// Sets name servers.
    ///
    /// # Errors
    /// The reason of the failure.
    pub(super) fn set(&mut self, dns: Dns) -> Result<(), Failure> {
        self.ask(&Request::Set(dns))
    }

    /// Restores the name servers.
    ///
    /// # Errors
    /// The reasons of the failure.
    pub(super) fn restore(&mut self) -> Result<(), Failure> {
        self.ask(&Request::Restore)
    }

    /// Returns whether the helper is to run this script.
    pub(super) fn runs(&self, kind: Kind) -> bool {
        self.scripts.contains(&kind)
    }

    /// Runs a script as root, and waits for its end.
    ///
    /// # Errors
    /// The reason of the failure.
    pub(super) fn run_script(
        &mut self,
        kind: Kind,
        environment: &Environment,
    ) -> Result<(), Failure> {
        self.scripts.retain(|left| *left != kind);
        let variables = environment.iter();
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.ask(&Request::Run(kind, variables.collect()))
    }

    fn ask(&mut self, request: &Request) -> Result<(), Failure> {
        match self.exchange(&request.to_json()) {
            Ok(problems) if problems.is_empty() => Ok(()),
            Ok(problems) => Err(Failure::new(problems.join("; "))),
            Err(error) => Err(Failure::new(format!(
                "the helper, which keeps root for name servers and `up`, has ended: {error}; the \
                 client's next start restores name servers"
            ))),
        }
    }

    /// Sends a message, and returns the problems that the answer names. After an error, the helper
    /// gets no more messages.
    fn exchange(&mut self, message: &str) -> io::Result<Vec<String>> {
        let Some(stream) = &mut self.stream else { return Err(io::ErrorKind::NotConnected.into()) };
        let answer = message::write(stream, message.as_bytes()).and_then(|()| {
            let answer = message::read(stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            message::parse_answer(&answer).ok_or_else(|| io::ErrorKind::InvalidData.into())
        });
        answer.inspect_err(|_| self.stream = None)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.stream = None;
        let Ok(ended) = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()) else {
            return;
        };
        let limit = Timespec::try_from(END_LIMIT).ok();
        let mut ended = [PollFd::new(&ended, PollFlags::IN)];
        while matches!(poll(&mut ended, limit.as_ref()), Err(rustix::io::Errno::INTR)) {}
        let _ = self.child.try_wait();
    }
}
