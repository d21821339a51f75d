//! The client program: tries servers until one accepts, keeps the tunnel up, and undoes all changes
//! to the machine at the end.

mod addresses;
mod attempt;
mod challenge;
mod machine;
mod notices;
mod offload;
mod proxy;
mod question;
mod requests;
mod start;
mod wire;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use self::addresses::Addresses;
use self::challenge::Challenge;
use self::offload::Offload;
use self::question::Question;
use self::start::{bind, local_addresses, shuffle};
use self::wire::{SERVER, Wire, is_same};
use super::context::{Context, MAX_EVENTS, Side, drop_privileges, identity, is_end};
use super::helper::{self, Helper};
use super::log::Log;
use super::names::{self, Names};
use super::reports::OnePeer;
use super::signals::Signal;
use super::status::StatusFile;
use super::{COMPRESSES, Failure, Person, host, random};
use crate::config::{self, AuthRetry, Link};
use crate::net::data_path::{self, Event, Events, Handle, Peers, Remote};
use crate::net::routes::Uplinks;
use crate::net::undo::{Journal, Scope};
use crate::proto::client::{Client, ClientEnd, ClientNotice};
use crate::proto::data::OCC_EXIT;
use crate::proto::message::{Advance, Retry, TextChallenge};
use crate::proto::tls::TlsFactory;
use crate::proto::wrap::ProtectionKey;
use crate::proto::{Now, Role};

pub(crate) use self::addresses::resolve;
pub(super) use self::proxy::AtProxy;
pub(super) use self::requests::stored_credentials;
pub(crate) use self::start::core_settings;
pub(super) use self::start::{control_keys, socket_options};

/// Directory of the undo journals.
pub const STATE_DIRECTORY: &str = "/run/cycloid-vpn";

/// Runs the client until a signal stops it or it cannot continue.
///
/// # Errors
/// An invalid configuration, a failure of the machine, or a refusal by the server.
pub fn run(
    config: &config::Client,
    instance: &str,
    log: Log,
    person: &mut dyn Person,
) -> Result<(), Failure> {
    let mut context = Context::start(&config.common, Side::Client, log)?;
    let outcome = Program::start(config, instance, &mut context, person).and_then(|mut program| {
        let outcome = program.go(person);
        program.stop();
        outcome
    });
    context.stop(outcome.as_ref().err());
    outcome
}

/// State for the lifetime of the program.
struct Program<'a> {
    config: &'a config::Client,
    instance: String,
    context: &'a mut Context,
    journal: Journal,
    names: Names,
    tls: TlsFactory,
    /// The control channel key of each of the configuration's remotes.
    control_keys: Vec<ProtectionKey>,
    handle: Handle,
    events: Events,
    /// The number of packet threads.
    threads: usize,
    /// The data channel in the kernel, if it is there.
    offload: Option<Offload>,
    /// The first groups of sockets, which have a port of their own: whether each is IPv6.
    families: Vec<bool>,
    /// `local`: the addresses to send from; empty for any.
    local: Vec<IpAddr>,
    addresses: Addresses,
    interface: String,
    status: Option<StatusFile>,
    /// User name and password from the configuration, as far as it has them.
    stored_credentials: (Option<String>, Option<Zeroizing<String>>),
    credentials: Option<(String, Zeroizing<String>)>,
    /// The token that replaces the credentials (`auth-token`).
    token: Option<(String, Zeroizing<String>)>,
    /// The server's unanswered question.
    challenge: Option<Challenge>,
    /// User name and password that answer the server's question, for one attempt.
    answered: Option<(String, Zeroizing<String>)>,
    /// The server's question that is being asked at the terminal.
    question: Option<Question>,
    auth_retry: AuthRetry,
    at_proxy: AtProxy,
    /// The applied tunnel configuration, and the server's address in its routes.
    applied: Option<(config::Tunnel, IpAddr)>,
    /// The host's own routes, by which those of the tunnel were planned.
    uplinks: Uplinks,
    /// The interface's MTU.
    mtu: u32,
    /// The current server.
    remote: Option<SocketAddr>,
    /// Whether the service manager has received READY.
    told_ready: bool,
}

/// The reason for a reconnection when a stream ends.
const CLOSED: &str = "the server closed the connection";

/// The next action after a connection ends.
enum After {
    /// Retry the same address without a pause, if the tunnel was up.
    AtOnce,
    /// Retry the same address.
    Same,
    /// Try the next address, or this one again if the tunnel was up.
    Next,
    /// Try the next address: the server sends its clients away.
    Leave,
    /// Follow the advice of a temporary refusal.
    Later(Retry),
    /// Start with the first remote again.
    Restart,
    Stop(Result<(), Failure>),
}

impl<'a> Program<'a> {
    fn start(
        config: &'a config::Client,
        instance: &str,
        context: &'a mut Context,
        person: &mut dyn Person,
    ) -> Result<Self, Failure> {
        let common = &config.common;
        let tls = context.tls(Role::Client, common, Some(person))?;
        // Keys are read before anything is changed, and before privileges are dropped.
        let control_keys = control_keys(config)?;
        let credentials = stored_credentials(config)?;
        let at_proxy = AtProxy::read(config)?;
        let mut journal = Journal::open(Path::new(STATE_DIRECTORY), instance, Scope::Network)?;
        for (undo, error) in journal.undo() {
            let text = format!("cannot undo a change of an earlier run: {undo}: {error}");
            context.warn(&text);
        }
        let (names, problems) = names::journal::open(Path::new(STATE_DIRECTORY), instance)?;
        for problem in problems {
            context.warn(&format!("after an earlier run: {problem}"));
        }
        let status = StatusFile::of(&common.log)?;
        let threads = common.process.threads.unwrap_or(1);
        let offload = offload::start(config, context, &mut journal);
        let (queues, interface, threads) = match &offload {
            Some(offload) => (vec![offload.queue()?], offload.interface().to_owned(), 1),
            None => {
                let tun = host::open(&common.tunnel, threads)?;
                let interface = tun.name().to_owned();
                (tun.into_queues(), interface, threads)
            }
        };
        let local = local_addresses(&config.remotes[0].link)?;
        let (groups, families) = bind(config, &local, threads)?;
        let names = if helper::leaves_root(identity(&common.process)?) {
            // Root trusts this journal, so it does not stay open here. The helper opens it again.
            drop(names);
            if helper::is_needed(config) {
                context.say(2, "a helper process stays root for name servers and first scripts");
                let (command, environment) = (person.helper(), context.environment());
                Names::Helped(Helper::start(command, instance, &interface, config, &environment)?)
            } else {
                Names::Unused
            }
        } else {
            Names::Own(names)
        };
        drop_privileges(&common.process)?;
        person.privileges_are_dropped();
        let (handle, events) =
            data_path::start(queues, groups, Peers::One { floats: common.link.float })?;
        Ok(Self {
            config,
            instance: instance.to_owned(),
            context,
            journal,
            names,
            tls,
            control_keys,
            handle,
            events,
            threads,
            offload,
            families,
            local,
            addresses: Addresses::new(),
            interface,
            status,
            stored_credentials: credentials,
            credentials: None,
            token: None,
            challenge: None,
            answered: None,
            question: None,
            auth_retry: config.auth_retry,
            at_proxy,
            applied: None,
            uplinks: Uplinks::default(),
            mtu: config.remotes[0].link.tun_mtu.into(),
            remote: None,
            told_ready: false,
        })
    }

    fn warn(&mut self, text: &str) {
        self.context.warn(text);
    }

    fn say(&mut self, level: u8, text: &str) {
        self.context.say(level, text);
    }

    fn go(&mut self, person: &mut dyn Person) -> Result<(), Failure> {
        let mut remotes = self.config.remotes.clone();
        if self.config.remote_random {
            shuffle(&mut remotes);
        }
        if self.config.kill_switch {
            self.start_kill_switch(&remotes)?;
        }
        if !self.config.pull {
            // Report readiness without waiting for the server, which may answer at any time.
            self.told_ready = true;
            self.context.notify.ready();
        }
        let (mut wait, longest) = remotes[0].link.connect_retry;
        let mut rounds = 0;
        'rounds: loop {
            for remote in &remotes {
                if !self.context.hold() {
                    return Ok(());
                }
                self.state("RESOLVE", "");
                self.learn_addresses(&remotes);
                let addresses = match self.addresses.of(remote, self.blocks_lookups()) {
                    Ok(addresses) => addresses,
                    Err(error) => {
                        self.say(1, &format!("cannot resolve {}: {error}", remote.host));
                        continue;
                    }
                };
                'addresses: for address in addresses {
                    if !self.ask_credentials(person)? {
                        return Ok(());
                    }
                    loop {
                        let (after, stood) = self.connect(remote, address, person);
                        if !matches!(after, After::Stop(_)) && !self.persists() {
                            self.down();
                        }
                        if stood {
                            self.renew_addresses_beside(&remotes);
                            (wait, rounds) = (remote.link.connect_retry.0, 0);
                        }
                        match after {
                            After::Stop(outcome) => return outcome,
                            After::Restart => continue 'rounds,
                            After::AtOnce if stood => {}
                            After::AtOnce | After::Leave => break,
                            After::Later(Retry { backoff, advance }) => {
                                let stays = advance == Advance::Stay;
                                let pause = if stays { backoff.max(wait) } else { backoff };
                                if let Some(stop) = self.pause(pause) {
                                    return stop;
                                }
                                match advance {
                                    Advance::Stay => {}
                                    Advance::Address => break,
                                    Advance::Server => break 'addresses,
                                }
                            }
                            After::Next if !stood => break,
                            After::Same | After::Next => {
                                if let Some(stop) = self.pause(wait) {
                                    return stop;
                                }
                            }
                        }
                        if !self.context.hold() || !self.ask_credentials(person)? {
                            return Ok(());
                        }
                    }
                }
            }
            rounds += 1;
            self.renew_addresses_beside(&remotes);
            if remotes[0].link.connect_retry_max.is_some_and(|most| rounds >= most) {
                return Err(Failure::new("no server could be reached"));
            }
            if let Some(stop) = self.pause(wait) {
                return stop;
            }
            wait = (wait * 2).min(longest);
        }
    }

    /// Reloads keys. Keeps the old keys if reading fails, as it may after privileges were dropped.
    fn read_keys(&mut self) {
        let tls = self.context.tls(Role::Client, &self.config.common, None);
        match tls.and_then(|tls| Ok((tls, control_keys(self.config)?))) {
            Ok((tls, control_keys)) => (self.tls, self.control_keys) = (tls, control_keys),
            Err(failure) => self.warn(&format!("keeping the old keys: {failure}")),
        }
    }

    /// Waits between two attempts. Returns early on a stop signal.
    fn pause(&mut self, wait: Duration) -> Option<Result<(), Failure>> {
        let end = self.context.clock.now().monotonic + wait;
        loop {
            if self.context.clock.until(end).is_zero() {
                return None;
            }
            self.context.wait([self.events.as_fd()], Some(end));
            while self.events.next().is_some() {}
            self.take_requests(None);
            let signals = self.context.signals();
            if signals.iter().any(|it| is_end(*it)) {
                return Some(Ok(()));
            }
            if !signals.is_empty() {
                return None;
            }
        }
    }

    fn talk(
        &mut self,
        link: &Link,
        address: SocketAddr,
        mut way: Remote,
        person: &mut dyn Person,
    ) -> (After, bool) {
        let credentials = self.answered.take().or_else(|| self.token.clone());
        let credentials = credentials.or_else(|| self.credentials.clone());
        // Remotes with the same settings have the same key.
        let position = self.config.remotes.iter().position(|remote| remote.link == *link);
        let key = self.control_keys[position.unwrap_or(0)].clone();
        let mut settings = core_settings(self.config, link, key, self.tls.clone(), credentials);
        settings.offload = self.offload.is_some();
        self.announce_questions(&mut settings, person);
        let begun = Client::new(self.context.clock.now(), Arc::new(settings), &mut random);
        let mut client = match begun {
            Ok(client) => client,
            Err(error) => return (After::Stop(Err(Failure::new(error.to_string()))), false),
        };
        let mut patience = Some(self.context.clock.now().monotonic + link.connect_timeout);
        let mut stood = false;
        let mut wire = Wire::default();
        loop {
            let now = self.context.clock.now();
            let mut notices = Vec::new();
            if let Some(asleep) = self.context.clock.take_sleep() {
                self.say(1, &format!("the machine has slept for {} s", asleep.as_secs()));
                client.resumed(asleep, &mut |notice| notices.push(notice));
            }
            if client.deadline().is_some_and(|deadline| deadline <= now.monotonic) {
                let mut sink = wire.sink(&self.handle, &mut self.offload, way);
                client.tick(now, &mut random, &mut sink, &mut |notice| notices.push(notice));
            }
            for _ in 0..MAX_EVENTS {
                let Some(event) = self.events.next() else { break };
                if self.take(event, now, &mut client, &mut wire, &mut way, address, &mut notices)
                    && patience.take().is_some()
                {
                    self.state("AUTH", "");
                }
            }
            self.heed_kernel(now, &mut client, &mut wire, way, &mut notices);
            if self.context.take_ended_steps() {
                let mut sink = wire.sink(&self.handle, &mut self.offload, way);
                client.proceed(now, &mut sink, &mut |notice| notices.push(notice));
            }
            let mut notices = VecDeque::from(notices);
            while let Some(notice) = notices.pop_front() {
                if let ClientNotice::Judge { key_id, server } = notice {
                    if let Err(failure) = self.judge(server.as_ref(), address) {
                        self.say(1, &format!("server refused: {failure}"));
                        self.state("RECONNECTING", "tls-error");
                        client.stop(
                            now,
                            &mut wire.sink(&self.handle, &mut self.offload, way),
                            &mut |_| (),
                        );
                        return (After::Next, stood);
                    }
                    let mut sink = wire.sink(&self.handle, &mut self.offload, way);
                    client.approve(now, key_id, &mut sink, &mut |it| notices.push_back(it));
                    continue;
                }
                // Servers send it before or after AUTH_PENDING.
                if let ClientNotice::Info(text) = &notice
                    && let Some(challenge) = TextChallenge::parse(text)
                {
                    self.pose(&challenge, person);
                }
                if let (Some(offload), ClientNotice::Connected(_) | ClientNotice::Updated(_)) =
                    (&mut self.offload, &notice)
                {
                    offload.set_keepalive(client.keepalive());
                }
                if let Some(after) = self.act(notice, link, address, &wire, &mut stood) {
                    return (after, stood);
                }
            }
            if patience.is_some_and(|end| now.monotonic >= end) {
                self.say(1, &format!("{address} does not answer"));
                self.state("RECONNECTING", "server_poll");
                client.stop(now, &mut wire.sink(&self.handle, &mut self.offload, way), &mut |_| ());
                return (After::Next, false);
            }
            if let Some(response) = self.take_requests(Some(now)).or_else(|| self.take_answer()) {
                let mut sink = wire.sink(&self.handle, &mut self.offload, way);
                if let Err(error) = client.respond(now, &response, &mut sink) {
                    self.say(1, &format!("cannot send the response: {error}"));
                }
            }
            for signal in self.context.signals() {
                if let Some(after) = self.heed(signal, now, &mut client, &mut wire, way) {
                    return (after, stood);
                }
            }
            let status = self.status.as_ref().map(StatusFile::next);
            let next = client.deadline().into_iter().chain(patience).chain(status).min();
            let question = self.question.as_ref().map(AsFd::as_fd);
            let kernel = self.offload.as_mut().map(Offload::as_fd);
            let others = [self.events.as_fd()].into_iter().chain(question).chain(kernel);
            self.context.wait(others, next);
        }
    }

    /// Processes a packet. Returns whether it came from the server.
    fn take(
        &mut self,
        event: Event,
        now: Now,
        client: &mut Client,
        wire: &mut Wire,
        way: &mut Remote,
        address: SocketAddr,
        notices: &mut Vec<ClientNotice>,
    ) -> bool {
        match event {
            Event::Received { from, mut packet } if is_same(from, *way) => {
                let mut sink = wire.sink(&self.handle, &mut self.offload, *way);
                let taken = client
                    .receive(now, &mut packet, &mut random, &mut sink, &mut |it| notices.push(it));
                if let Err(error) = &taken {
                    self.say(3, &format!("dropped a packet from {address}: {error}"));
                }
                taken.is_ok()
            }
            Event::Closed { stream } if *way == Remote::Tcp(stream) => {
                notices.push(ClientNotice::Ended(ClientEnd::Restart {
                    reason: CLOSED.into(),
                    same_address: false,
                }));
                true
            }
            Event::Message { packet, .. } if packet.starts_with(&OCC_EXIT) => {
                client.left(&mut |notice| notices.push(notice));
                false
            }
            Event::Float { from, .. } if self.config.common.link.float => {
                // Control packets follow those of the data channel.
                self.handle.set_remote(SERVER, from);
                *way = from;
                false
            }
            Event::Compresses { .. } => {
                self.context.warn(COMPRESSES);
                false
            }
            Event::Failed { cause } => {
                notices.push(ClientNotice::Ended(ClientEnd::Halt(cause.to_string())));
                false
            }
            _ => false,
        }
    }

    fn heed(
        &mut self,
        signal: Signal,
        now: Now,
        client: &mut Client,
        wire: &mut Wire,
        way: Remote,
    ) -> Option<After> {
        if signal == Signal::Statistics {
            let offloaded = self.offload.as_mut().map(Offload::counters);
            let peer = OnePeer { handle: &self.handle, offloaded, id: SERVER, is_up: true };
            let text = peer.counters().text(now.unix);
            text.lines().for_each(|line| self.say(0, line));
            return None;
        }
        client.stop(now, &mut wire.sink(&self.handle, &mut self.offload, way), &mut |_| ());
        if self.context.reloads_keys(signal) {
            self.read_keys();
        }
        let (after, state) = match signal {
            Signal::Terminate | Signal::Interrupt => (After::Stop(Ok(())), "EXITING"),
            Signal::Hangup => (After::Restart, "RECONNECTING"),
            Signal::Restart | Signal::Statistics => (After::AtOnce, "RECONNECTING"),
        };
        self.state(state, signal.name());
        Some(after)
    }
}
