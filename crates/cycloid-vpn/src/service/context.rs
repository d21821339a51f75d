//! The environment of a client's or server's control thread: signals, log, management interface,
//! metrics, scripts and service manager, with a single `poll` for all.

use std::io::BufRead;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mm::{MlockAllFlags, mlockall};
use zeroize::Zeroizing;

use super::alarm::Alarm;
use super::handshake_thread::Worker;
use super::hooks::{Environment, Hooks, Job, Kind, Outcome, Script, Secret, Ticket};
use super::log::{Level, Log};
use super::management::{AuthRetry, Endpoint, Event, Management, Settings};
use super::metrics::Metrics;
use super::notify::Notify;
use super::privileges::{self, Identity, give_up};
use super::signals::{Signal, Signals};
use super::{Clock, Failure};
use crate::config::{self, Common, ManagementAddress, ManagementPassword};
use crate::proto::tls::External;

/// Time limit of a script, deferral included, unless the script sets one for its user's step.
pub(super) const SCRIPT_LIMIT: Duration = Duration::from_secs(60);

/// Time limit for scripts that run at the program's end.
const LAST_SCRIPTS: Duration = Duration::from_secs(10);

/// Maximum number of data path events processed in a row, so that a flood does not delay timers,
/// signals and requests.
pub(super) const MAX_EVENTS: usize = 256;

/// The lane of scripts that do not concern a single client.
pub(super) const OWN_LANE: u64 = u64::MAX;

/// The kind of program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    /// A point-to-point server, which the management interface treats like a client.
    Server,
    ServerOfMany,
}

/// The services around the protocol core.
pub(super) struct Context {
    pub(super) clock: Clock,
    pub(super) management: Option<Management>,
    pub(super) metrics: Option<Metrics>,
    pub(super) notify: Notify,
    hooks: Hooks,
    /// Outcomes that arrived while waiting for another script.
    decided: Vec<(Ticket, Kind, Outcome)>,
    log: Log,
    /// The kind of log messages, for `mute`.
    kind: &'static str,
    signals: Signals,
    alarm: Alarm,
    /// Signals requested over the management interface.
    asked: Vec<Signal>,
    /// Whether SIGUSR1 keeps the keys in memory.
    persist_key: bool,
    /// The signal that replaces SIGUSR1.
    restart_is: Signal,
    restarts_on_disconnect: bool,
    /// Time of the next watchdog notification.
    alive_next: Duration,
    /// The common environment of all scripts.
    environment: Environment,
    /// The certificate in a token, once the token is open.
    pub(super) token: Option<External>,
    /// Where handshakes with the key in the token run.
    pub(super) signing: Option<Arc<Worker>>,
    /// Whether steps of handshakes have ended there, until the caller has taken it.
    steps_ended: bool,
    /// The name of a token whose PIN the management client gave, until it has opened.
    pub(super) asked_for_pin: Option<String>,
    /// The private key's passphrase, once entered.
    pub(super) passphrase: Option<Zeroizing<String>>,
}

impl Context {
    /// Installs signal handlers and starts to listen, before any other change to the machine.
    pub(super) fn start(common: &Common, side: Side, log: Log) -> Result<Self, Failure> {
        let clock = Clock::start();
        prepare(&common.process)?;
        let signals = Signals::new()
            .map_err(|error| Failure::new(format!("cannot install signal handlers: {error}")))?;
        let management = match &common.management {
            Some(management) => Some(listen(management, common, side == Side::ServerOfMany)?),
            None => None,
        };
        let metrics = match common.process.metrics {
            Some(address) => Some(Metrics::listen(address).map_err(|error| {
                Failure::new(format!("metrics: cannot listen on {address}: {error}"))
            })?),
            None => None,
        };
        let options = common.management.as_ref().map(|management| &management.options);
        Ok(Self {
            clock,
            management,
            metrics,
            notify: Notify::from_environment(),
            hooks: hooks(&common.hooks)?,
            decided: Vec::new(),
            log,
            kind: match side {
                Side::Client => "client",
                Side::Server | Side::ServerOfMany => "server",
            },
            signals,
            alarm: Alarm::new().map_err(|error| Failure::new(format!("no timer: {error}")))?,
            asked: Vec::new(),
            restart_is: match common.process.remap_usr1.as_deref() {
                Some("SIGHUP") => Signal::Hangup,
                Some("SIGTERM") => Signal::Terminate,
                _ => Signal::Restart,
            },
            persist_key: common.process.persist_key,
            restarts_on_disconnect: options.is_some_and(|options| options.signal_on_disconnect),
            alive_next: Duration::ZERO,
            environment: environment(common),
            token: None,
            signing: None,
            steps_ended: false,
            asked_for_pin: None,
            passphrase: None,
        })
    }

    pub(super) fn say(&mut self, verb: u8, text: &str) {
        self.write(Level::Info, verb, text);
    }

    pub(super) fn warn(&mut self, text: &str) {
        self.write(Level::Warning, 1, text);
    }

    fn write(&mut self, level: Level, verb: u8, text: &str) {
        let records = self.log.write(level, verb, self.kind, text);
        if let Some(management) = &mut self.management {
            records.iter().for_each(|record| management.log(record));
        }
    }

    /// Returns the signals since the last call, each once.
    pub(super) fn signals(&mut self) -> Vec<Signal> {
        let mut signals = self.signals.take();
        signals.append(&mut self.asked);
        for signal in &mut signals {
            if *signal == Signal::Restart {
                *signal = self.restart_is;
            }
        }
        signals
    }

    /// Returns whether a signal makes the program read its keys again.
    pub(super) fn reloads_keys(&self, signal: Signal) -> bool {
        signal == Signal::Hangup || signal == Signal::Restart && !self.persist_key
    }

    /// Returns the next management request that is not handled here.
    pub(super) fn next_request(&mut self) -> Option<Event> {
        loop {
            let now = self.clock.now().monotonic;
            match self.management.as_mut()?.next(now)? {
                Event::Connected => {}
                Event::Signal(signal) => self.asked.push(signal),
                Event::Verb(verb) => self.log.set_verb(verb),
                Event::Mute(mute) => self.log.set_mute(mute),
                Event::Disconnected => {
                    if self.restarts_on_disconnect {
                        self.asked.push(Signal::Restart);
                    }
                    return Some(Event::Disconnected);
                }
                event => return Some(event),
            }
        }
    }

    /// Waits for a hold release if configured. Returns false if a stop signal arrived instead.
    pub(super) fn hold(&mut self) -> bool {
        if !self.management.as_mut().is_some_and(|management| management.hold(0)) {
            return true;
        }
        self.say(1, "Need hold release from management interface, waiting...");
        loop {
            while let Some(event) = self.next_request() {
                if event == Event::Released {
                    return true;
                }
            }
            if self.signals().iter().any(|it| is_end(*it)) {
                return false;
            }
            self.wait([], None);
        }
    }

    /// Waits for an event, at most until this time on the clock.
    pub(super) fn wait<'o>(
        &mut self,
        others: impl IntoIterator<Item = BorrowedFd<'o>>,
        next: Option<Duration>,
    ) {
        let now = self.clock.now().monotonic;
        if let Some(interval) = self.notify.interval()
            && now >= self.alive_next
        {
            self.notify.alive();
            self.alive_next = now + interval;
        }
        let alive = self.notify.interval().map(|_| self.alive_next);
        let management = self.management.as_ref();
        let metrics = self.metrics.as_ref();
        let next = [
            next,
            alive,
            self.hooks.deadline(now),
            management.and_then(Management::deadline),
            metrics.and_then(Metrics::deadline),
        ];
        let left = next
            .into_iter()
            .flatten()
            .min()
            .map_or(Duration::from_secs(60), |next| self.clock.until(next));
        let mut descriptors: Vec<PollFd<'_>> = others.into_iter().map(readable).collect();
        descriptors.push(PollFd::new(&self.signals, PollFlags::IN));
        descriptors.extend(self.hooks.fds().map(readable));
        descriptors.extend(self.signing.iter().map(|signing| readable(signing.as_fd())));
        let interests = management.into_iter().flat_map(Management::interests);
        let interests = interests.chain(metrics.into_iter().flat_map(Metrics::interests));
        descriptors.extend(interests.map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags)));
        self.alarm.set(left);
        descriptors.push(readable(self.alarm.as_fd()));
        // An interrupted call counts as an event.
        let _ = poll(&mut descriptors, None);
        // Read in every wait: a step that nobody waits for any more must not wake the next ones.
        self.steps_ended |= self.signing.as_ref().is_some_and(|signing| signing.has_ended());
    }

    /// Returns whether steps of handshakes have ended on the thread that signs, since the last
    /// call.
    pub(super) fn take_ended_steps(&mut self) -> bool {
        std::mem::take(&mut self.steps_ended)
    }

    /// Returns the common environment of all scripts.
    pub(super) fn environment(&self) -> Environment {
        self.environment.clone()
    }

    /// Starts a configured script. `script-security` was checked at the program's start, so a
    /// refusal here is final.
    pub(super) fn begin(&mut self, job: Job) -> Result<Ticket, String> {
        let now = self.clock.now().monotonic;
        self.hooks.start(now, job).map_err(|error| error.to_string())
    }

    /// Returns whether a client's scripts would have to wait too long.
    pub(super) fn is_busy(&self, client: u64) -> bool {
        self.hooks.is_full(client)
    }

    /// Drops the queued scripts that decide about a client. Returns their tickets.
    pub(super) fn cancel(&mut self, client: u64) -> Vec<Ticket> {
        let now = self.clock.now().monotonic;
        self.hooks.cancel(now, client)
    }

    /// Returns the scripts' outcomes since the last call.
    pub(super) fn decided(&mut self) -> Vec<(Ticket, Kind, Outcome)> {
        let now = self.clock.now().monotonic;
        let mut decided = std::mem::take(&mut self.decided);
        decided.extend(self.hooks.done(now));
        decided
    }

    /// Runs a script and waits for its end. For scripts that concern this machine, where the next
    /// step depends on the result.
    ///
    /// # Errors
    /// The reason of the failure.
    pub(super) fn run(
        &mut self,
        kind: Kind,
        command: Option<&config::Command>,
        arguments: Vec<String>,
        environment: Environment,
    ) -> Result<(), Failure> {
        let Some(job) = job(kind, command, arguments, &environment, OWN_LANE) else {
            return Ok(());
        };
        let ticket = self.begin(job).map_err(Failure::new)?;
        loop {
            let now = self.clock.now().monotonic;
            for (done, kind, outcome) in self.hooks.done(now) {
                match outcome {
                    Outcome::Accepted(_) if done == ticket => return Ok(()),
                    Outcome::Refused { why, .. } if done == ticket => {
                        return Err(Failure::new(why));
                    }
                    outcome => self.decided.push((done, kind, outcome)),
                }
            }
            self.wait_for_scripts();
        }
    }

    /// Runs `ipchange` with the peer's address.
    pub(super) fn tell_address(
        &mut self,
        command: Option<&config::Command>,
        address: SocketAddr,
        environment: Environment,
    ) {
        let arguments = vec![address.ip().to_string(), address.port().to_string()];
        if let Err(failure) = self.run(Kind::AddressChange, command, arguments, environment) {
            self.warn(&failure.to_string());
        }
    }

    /// Waits until all scripts have ended, up to a time limit.
    pub(super) fn finish_scripts(&mut self) {
        let end = self.clock.now().monotonic + LAST_SCRIPTS;
        while !self.hooks.is_idle() && !self.clock.until(end).is_zero() {
            self.decided();
            self.wait_for_scripts();
        }
    }

    fn wait_for_scripts(&self) {
        let now = self.clock.now().monotonic;
        let Some(deadline) = self.hooks.deadline(now) else { return };
        let mut descriptors: Vec<PollFd<'_>> = self.hooks.fds().map(readable).collect();
        let left = self.clock.until(deadline).min(Duration::from_secs(1));
        let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        let _ = poll(&mut descriptors, Some(&left));
    }

    /// Ends the program: sends queued output.
    pub(super) fn stop(mut self, failure: Option<&Failure>) {
        if let (Some(management), Some(failure)) = (&mut self.management, failure) {
            management.fatal(&failure.to_string());
        }
        while self.next_request().is_some() {}
    }
}

fn readable(descriptor: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(descriptor, PollFlags::IN)
}

/// Returns whether a signal requests the program's end.
pub(super) fn is_end(signal: Signal) -> bool {
    matches!(signal, Signal::Terminate | Signal::Interrupt)
}

/// Returns a job for a configured script, if there is one.
pub(super) fn job(
    kind: Kind,
    command: Option<&config::Command>,
    arguments: Vec<String>,
    environment: &Environment,
    lane: u64,
) -> Option<Job> {
    let script = Script::new(command?)?;
    let environment = environment.clone();
    Some(Job { kind, script, arguments, environment, lane, secret: Secret::None })
}

/// Returns the configured user and group.
pub(super) fn identity(process: &config::Process) -> Result<Identity, Failure> {
    let (user, group) = (process.user.as_deref(), process.group.as_deref());
    if user.is_none() && group.is_none() {
        return Ok(Identity { user: None, group: None });
    }
    Identity::find(user, group).map_err(|error| cannot_switch(&error))
}

/// Switches to the configured user and group. Must be called before any thread starts.
pub(super) fn drop_privileges(process: &config::Process) -> Result<(), Failure> {
    if process.user.is_none() && process.group.is_none() {
        return Ok(());
    }
    give_up(identity(process)?).map_err(|error| cannot_switch(&error))
}

fn cannot_switch(error: &privileges::Error) -> Failure {
    Failure::new(error.to_string()).hint("check the directives user and group")
}

/// Rejects unsupported process directives.
pub(super) fn unsupported_process(process: &config::Process) -> Result<(), Failure> {
    if process.chroot.is_some() {
        return Err(Failure::new("chroot: the program cannot change its root")
            .hint("remove it, and set RootDirectory= in the systemd unit"));
    }
    Ok(())
}

/// Applies nice and mlock.
fn prepare(process: &config::Process) -> Result<(), Failure> {
    unsupported_process(process)?;
    if let Some(nice) = process.nice {
        rustix::process::nice(nice.into())
            .map_err(|error| Failure::new(format!("nice {nice}: {error}")))?;
    }
    if process.lock_memory {
        mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)
            .map_err(|error| Failure::new(format!("mlock: {error}")).hint("raise LimitMEMLOCK="))?;
    }
    Ok(())
}

/// Rejects scripts that `script-security` forbids, and unsupported directives for scripts.
pub(super) fn unsupported_scripts(hooks: &config::Hooks) -> Result<(), Failure> {
    let security = hooks.security.unwrap_or(1);
    let scripts = [
        &hooks.up,
        &hooks.down,
        &hooks.route_up,
        &hooks.route_pre_down,
        &hooks.ip_change,
        &hooks.tls_verify,
        &hooks.tls_crypt_v2_verify,
        &hooks.client_connect,
        &hooks.client_disconnect,
        &hooks.client_response,
        &hooks.learn_address,
    ];
    let verify = hooks.verify_password.as_ref().map(|(command, _)| command);
    for script in scripts.into_iter().filter_map(|it| it.as_ref()).chain(verify) {
        let Some(program) = script.first() else { continue };
        let executable = rustix::fs::access(program.as_str(), rustix::fs::Access::EXEC_OK);
        let problem = match executable {
            Ok(()) if Path::new(program).is_dir() => "it is a directory".to_owned(),
            Ok(()) => continue,
            Err(error) => std::io::Error::from(error).to_string(),
        };
        return Err(Failure::new(format!("cannot run {program}: {problem}"))
            .hint("name an executable file, with its whole path"));
    }
    let needed = match &hooks.verify_password {
        Some((_, config::PasswordVia::Environment)) => 3,
        Some((_, config::PasswordVia::File)) => 2,
        None if scripts.iter().any(|script| script.is_some()) => 2,
        None => 0,
    };
    if security < needed {
        return Err(Failure::new("script-security forbids a configured script")
            .hint(format!("add `script-security {needed}`")));
    }
    if hooks.export_certificates.is_some() {
        return Err(Failure::new("tls-export-cert is not supported")
            .hint("use tls-verify or client-connect"));
    }
    Ok(())
}

/// Returns the script runner, if `script-security` permits the configured scripts.
fn hooks(hooks: &config::Hooks) -> Result<Hooks, Failure> {
    unsupported_scripts(hooks)?;
    let security = hooks.security.unwrap_or(1);
    let directory = hooks.directory.clone().unwrap_or_else(|| PathBuf::from("/tmp"));
    Ok(Hooks::new(security, directory, SCRIPT_LIMIT))
}

fn environment(common: &Common) -> Environment {
    let mut environment = Environment::default();
    environment.set("daemon_pid", std::process::id());
    environment.set("verb", common.log.verbosity);
    environment.set("script_context", "init");
    for (name, value) in &common.hooks.environment {
        environment.set(name, value);
    }
    environment
}

/// Rejects unsupported management directives.
pub(super) fn unsupported_management(management: &config::Management) -> Result<(), Failure> {
    let options = &management.options;
    for (given, name) in [
        (options.connect, "management-client"),
        (options.query_remote, "management-query-remote"),
        (matches!(management.address, ManagementAddress::Tunnel(_)), "management tunnel"),
    ] {
        if given {
            return Err(Failure::new(format!("{name} is not supported"))
                .hint("use an address and a port, or a path and `unix`"));
        }
    }
    Ok(())
}

fn listen(
    management: &config::Management,
    common: &Common,
    server: bool,
) -> Result<Management, Failure> {
    let options = &management.options;
    unsupported_management(management)?;
    let identity = |user: Option<&str>, group: Option<&str>| {
        Identity::find(user, group).map_err(|error| Failure::new(format!("management: {error}")))
    };
    let endpoint = match &management.address {
        ManagementAddress::Unix(path) => Endpoint::Unix {
            path: path.clone(),
            user: identity(options.client_user.as_deref(), None)?.user,
            group: identity(None, options.client_group.as_deref())?.group,
        },
        ManagementAddress::Tcp(host, port) => (host.as_str(), *port)
            .to_socket_addrs()
            .ok()
            .and_then(|mut addresses| addresses.next())
            .map(Endpoint::Tcp)
            .ok_or_else(|| Failure::new(format!("management: {host} has no address")))?,
        ManagementAddress::Tunnel(_) => unreachable!("rejected above"),
    };
    let first_line =
        |text: &str| Zeroizing::new(text.lines().next().unwrap_or_default().to_owned());
    let failed = |error: std::io::Error| Failure::new(format!("management: {error}"));
    let password = match &management.password {
        None => None,
        Some(ManagementPassword::File(path)) => {
            let text = std::fs::read_to_string(path)
                .map(Zeroizing::new)
                .map_err(|error| Failure::new(format!("management {}: {error}", path.display())))?;
            Some(first_line(&text))
        }
        Some(ManagementPassword::Ask) => {
            let mut text = Zeroizing::new(String::new());
            std::io::stdin().lock().read_line(&mut text).map_err(failed)?;
            Some(first_line(&text))
        }
    };
    Management::listen(Settings {
        endpoint,
        password,
        title: TITLE.into(),
        server,
        hold: options.hold,
        log_lines: options.log_cache.unwrap_or(250) as usize,
        verb: common.log.verbosity,
        mute: common.log.mute.unwrap_or(0),
        auth_retry: AuthRetry::None,
    })
    .map_err(|error| {
        let place = match &management.address {
            ManagementAddress::Tcp(host, port) => format!("{host}:{port}"),
            ManagementAddress::Unix(path) => path.display().to_string(),
            ManagementAddress::Tunnel(_) => unreachable!("rejected above"),
        };
        crate::net::Error::new(format!("listen for the management interface at {place}"), error)
            .into()
    })
}

/// Name and version of the program, for the management interface and the status file.
pub(super) const TITLE: &str = concat!("Cycloid VPN ", env!("CARGO_PKG_VERSION"));
