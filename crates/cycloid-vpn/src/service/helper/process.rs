//! The helper's process.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::flag;

use super::message::{self, Request, Setup};
use super::variables::{arguments, checked};
use crate::net::dns::{Dns, Resolver};
use crate::net::undo::{DIRECTORY, Journal};
use crate::service::context::SCRIPT_LIMIT;
use crate::service::hooks::{Hooks, Job, Kind, Outcome, Script, Secret};
use crate::service::names::journal;
use crate::service::{Clock, Failure};

/// Serves the client whose socket is standard input, until the client ends. Restores the name
/// servers then.
///
/// # Errors
/// Standard input is no socket, or name servers cannot be restored.
pub fn run() -> Result<(), Failure> {
    // The client decides when the helper ends. A handler, since programs inherit ignored signals.
    for signal in [SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2] {
        flag::register(signal, Arc::new(AtomicBool::new(false)))
            .map_err(|error| Failure::new(format!("cannot install signal handlers: {error}")))?;
    }
    // Scripts and programs do not inherit the copy.
    let socket = io::stdin().as_fd().try_clone_to_owned();
    let stream = socket.map(UnixStream::from).map_err(|error| unusable(&error))?;
    serve(stream, Path::new(DIRECTORY), &Resolver::detect)
}

fn unusable(error: &io::Error) -> Failure {
    Failure::new(format!("no client at standard input: {error}"))
        .hint("`cycloid-vpn client` starts this command itself, if its file has `user`")
}

/// Serves the client at the other end of `stream`. `directory` is that of journals, and `resolver`
/// returns the machine's.
pub(super) fn serve(
    mut stream: UnixStream,
    directory: &Path,
    resolver: &dyn Fn() -> Resolver,
) -> Result<(), Failure> {
    let first = message::read(&mut stream).map_err(|error| unusable(&error))?;
    let Some(setup) = first.as_deref().and_then(Setup::parse) else {
        return Err(unusable(&io::ErrorKind::InvalidData.into()));
    };
    let journal = match journal::open(directory, &setup.instance) {
        // The client has reported what cannot be undone; the end tries again.
        Ok((journal, _)) => journal,
        Err(error) => {
            let _ = reply(&mut stream, &[error.to_string()]);
            return Err(error.into());
        }
    };
    let mut process = Process { setup, journal, resolver };
    let mut answered = reply(&mut stream, &[]);
    // A client that sends no message, or does not take its answer, has ended or was taken over.
    while answered.is_ok()
        && let Ok(Some(request)) = message::read(&mut stream)
    {
        let problems = process.act(&request, &stream);
        answered = reply(&mut stream, &problems);
    }
    match process.restore() {
        problems if problems.is_empty() => Ok(()),
        problems => Err(Failure::new(problems.join("; "))
            .hint("start the client once more: it restores name servers")),
    }
}

fn reply(stream: &mut UnixStream, problems: &[String]) -> io::Result<()> {
    message::write(stream, message::answer(problems).as_bytes())
}

struct Process<'a> {
    setup: Setup,
    journal: Journal,
    resolver: &'a dyn Fn() -> Resolver,
}

impl Process<'_> {
    /// Does what a client asks for. Returns what went wrong.
    fn act(&mut self, request: &[u8], client: &UnixStream) -> Vec<String> {
        let outcome = match Request::parse(request) {
            Some(Request::Set(dns)) => self.set(&dns),
            Some(Request::Restore) => return self.restore(),
            Some(Request::Run(kind, variables)) => self.run_script(kind, &variables, client),
            None => Err("the helper does not know this request".to_owned()),
        };
        outcome.err().into_iter().collect()
    }

    fn set(&mut self, dns: &Dns) -> Result<(), String> {
        let problems = self.restore();
        if !problems.is_empty() {
            return Err(problems.join("; "));
        }
        let resolver = (self.resolver)();
        if let Some(lack) = resolver.lacks(dns) {
            return Err(format!("cannot set name servers: this machine's resolver has no {lack}"));
        }
        resolver
            .apply(dns, &self.setup.interface, &mut self.journal)
            .map_err(|error| format!("cannot set name servers: {error}"))
    }

    fn restore(&mut self) -> Vec<String> {
        journal::undo(&mut self.journal)
    }

    /// Runs a script, unless it has run already, and stops it if the client ends meanwhile.
    fn run_script(
        &mut self,
        kind: Kind,
        variables: &[(String, String)],
        client: &UnixStream,
    ) -> Result<(), String> {
        let name = kind.script_type();
        let environment = checked(&self.setup, variables)
            .map_err(|variable| format!("{name} is not run as root with this {variable}"))?;
        let position = self.setup.scripts.iter().position(|(it, _)| *it == kind);
        let Some(position) = position else {
            return Err(format!("the file has no {name}, or it has run as root already"));
        };
        let (_, command) = self.setup.scripts.remove(position);
        let Some(script) = Script::new(&command) else { return Ok(()) };
        let arguments = arguments(kind, &environment);
        let secret = Secret::None;
        let job = Job { kind, script, arguments, environment, lane: 0, secret };
        let clock = Clock::start();
        let mut hooks = Hooks::new(self.setup.security, PathBuf::from("/"), SCRIPT_LIMIT);
        hooks.start(clock.now().monotonic, job).map_err(|error| error.to_string())?;
        loop {
            let now = clock.now().monotonic;
            match hooks.done(now).pop() {
                Some((_, _, Outcome::Refused { why, .. })) => return Err(why),
                Some(_) => return Ok(()),
                None => {}
            }
            let left = hooks.deadline(now).map(|deadline| clock.until(deadline));
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            let mut sources: Vec<_> =
                hooks.fds().map(|ended| PollFd::from_borrowed_fd(ended, PollFlags::IN)).collect();
            sources.push(PollFd::new(client, PollFlags::RDHUP));
            // An interrupted call counts as an event.
            let _ = poll(&mut sources, left.as_ref());
            if sources.last().is_some_and(|client| !client.revents().is_empty()) {
                return Err("the client has ended".to_owned());
            }
        }
    }
}
