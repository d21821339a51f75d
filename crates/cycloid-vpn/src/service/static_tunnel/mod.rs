//! The program of a tunnel with a static key: one peer, no handshake, the same keys until the file
//! changes.

mod peer;
mod requests;

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use self::peer::{Streams, bind, listener};
use subtle::ConstantTimeEq;

use super::client::STATE_DIRECTORY;
use super::context::{Context, MAX_EVENTS, Side, drop_privileges};
use super::log::Log;
use super::reports::counters;
use super::signals::Signal;
use super::status::StatusFile;
use super::{COMPRESSES, Failure, Person, host, settings};
use crate::config::StaticTunnel;
use crate::net::data_path::{self, Event, Events, Handle, PeerId, Peers, Remote};
use crate::net::udp::Endpoint;
use crate::net::undo::{Journal, Scope};
use crate::proto::data::{OCC_EXIT, PING, Parameters, static_keys};
use crate::proto::static_key::StaticKey;
use crate::proto::wire::KeyId;
use crate::proto::{Now, Transport};

/// The peer's id in the data path.
const PEER: PeerId = 0;

/// Runs the tunnel until a signal stops it.
///
/// # Errors
/// An invalid configuration or a failure of the machine.
pub fn run(
    config: &StaticTunnel,
    instance: &str,
    log: Log,
    person: &mut dyn Person,
) -> Result<(), Failure> {
    let mut context = Context::start(&config.common, Side::Server, log)?;
    let outcome = Program::start(config, instance, &mut context, person).and_then(|program| {
        let Some(mut program) = program else { return Ok(()) };
        let outcome = program.go();
        program.stop();
        outcome
    });
    context.stop(outcome.as_ref().err());
    outcome
}

struct Program<'a> {
    config: &'a StaticTunnel,
    context: &'a mut Context,
    journal: Journal,
    handle: Handle,
    events: Events,
    interface: String,
    /// The family of each group of sockets: whether it is IPv6.
    families: Vec<bool>,
    listener: Option<TcpListener>,
    streams: Streams,
    status: Option<StatusFile>,
    /// The peer's resolved addresses.
    addresses: VecDeque<SocketAddr>,
    key: StaticKey,
    /// Where packets are sent to, if that is known.
    way: Option<Remote>,
    /// The peer's address, for reports.
    address: Option<SocketAddr>,
    /// The program's start, and the start or last restart.
    started: Duration,
    since: Duration,
    /// Whether the tunnel was reported as complete since then.
    is_up: bool,
    /// Time of the last ping.
    pinged: Duration,
    /// When to look the peer up or connect again.
    retry: Option<Duration>,
    /// Inner bytes at the last check of `inactive`, and its time.
    active: (u64, Duration),
}

impl<'a> Program<'a> {
    /// Starts the tunnel. Returns `None` if a stop signal arrives first.
    fn start(
        config: &'a StaticTunnel,
        instance: &str,
        context: &'a mut Context,
        person: &mut dyn Person,
    ) -> Result<Option<Self>, Failure> {
        let common = &config.common;
        let key = config.load_key()?;
        if !context.hold() {
            return Ok(None);
        }
        let mut journal = Journal::open(Path::new(STATE_DIRECTORY), instance, Scope::Network)?;
        for (undo, error) in journal.undo() {
            context.warn(&format!("cannot undo a change of an earlier run: {undo}: {error}"));
        }
        let threads = common.process.threads.unwrap_or(1);
        let (groups, families) = bind(config, threads)?;
        let listener = listener(config)?;
        let status = StatusFile::of(&common.log)?;
        let tun = host::open(&common.tunnel, threads)?;
        let interface = tun.name().to_owned();
        let addresses = peer::resolve(config);
        let first = addresses.front().map(SocketAddr::ip);
        context.set_up(common, &interface, first, &mut journal)?;
        drop_privileges(&common.process)?;
        person.privileges_are_dropped();
        // Only an authentic packet shows the peer's address, if the file does not.
        let floats = common.link.float || config.remotes.is_empty();
        let (handle, events) =
            data_path::start(tun.into_queues(), groups, Peers::Static { floats })?;
        let now = context.clock.now().monotonic;
        let mut program = Self {
            config,
            context,
            journal,
            handle,
            events,
            interface,
            families,
            listener,
            streams: Streams::default(),
            status,
            addresses,
            key,
            way: None,
            address: None,
            started: now,
            since: now,
            is_up: false,
            pinged: now,
            retry: None,
            active: (0, now),
        };
        program.add_peer()?;
        Ok(Some(program))
    }

    /// Adds the peer with its keys to the data path.
    fn add_peer(&mut self) -> Result<(), Failure> {
        let unspecified = SocketAddr::from(([0, 0, 0, 0], 0));
        let nowhere =
            Remote::Udp { group: 0, endpoint: Endpoint { remote: unspecified, local: None } };
        self.handle.add_peer(PEER, nowhere);
        let common = &self.config.common;
        let transport = common.link.protocol.transport;
        let parameters = Parameters {
            cipher: self.config.cipher,
            key_id: KeyId::FIRST,
            peer_id: None,
            epochs: false,
            fragment: settings::fragment(&common.link, transport),
            framing: common.data.framing,
            decompress: common.data.decompress,
            replay_window: match transport {
                Transport::Udp => common.data.replay_window,
                Transport::Tcp => 0,
            },
        };
        let unix = self.context.clock.now().unix as u32;
        let (sealer, opener) = static_keys(&self.key, self.config.direction, &parameters, unix)
            .map_err(|error| Failure::new(format!("secret: {error}")))?;
        let overhead = sealer.overhead();
        self.handle.take_under(PEER, KeyId::FIRST, opener);
        self.handle.send_under(PEER, KeyId::FIRST, sealer);
        let link = &common.link;
        let any = self.addresses.front().map_or(unspecified.ip(), SocketAddr::ip);
        let overhead = overhead + settings::frame_header(&common.tunnel);
        let tcp = settings::largest_tcp(link.mssfix, link.tun_mtu, any, transport, overhead);
        self.handle.set_largest_tcp(PEER, tcp);
        Ok(())
    }

    fn say(&mut self, level: u8, text: &str) {
        self.context.say(level, text);
    }

    fn go(&mut self) -> Result<(), Failure> {
        let interface = self.interface.clone();
        self.say(1, &format!("the tunnel is {interface}, with a static key"));
        self.context.notify.ready();
        self.state("WAIT", "");
        self.context.notify.status("waiting for the peer");
        self.reach();
        loop {
            let now = self.context.clock.now();
            for _ in 0..MAX_EVENTS {
                let Some(event) = self.events.next() else { break };
                self.take(event, now)?;
            }
            self.accept();
            if self.tick(now) {
                return Ok(());
            }
            self.take_requests();
            for signal in self.context.signals() {
                match signal {
                    Signal::Terminate | Signal::Interrupt => return Ok(()),
                    Signal::Statistics => {
                        let text = counters(&self.handle, PEER).text(now.unix);
                        text.lines().for_each(|line| self.say(0, line));
                    }
                    Signal::Hangup | Signal::Restart => {
                        if self.context.reloads_keys(signal) {
                            self.read_key();
                        }
                        self.restart(signal.name());
                    }
                }
            }
            self.wait(now);
        }
    }

    /// Reads the key again. Keeps the old one if reading fails, as it may after privileges were
    /// dropped. The same key keeps its replay window, or old packets would pass again.
    fn read_key(&mut self) {
        match self.config.load_key() {
            Ok(key) if key.as_bytes().ct_eq(self.key.as_bytes()).into() => {}
            Ok(key) => {
                self.key = key;
                if let Err(failure) = self.add_peer() {
                    self.context.warn(&failure.to_string());
                }
            }
            Err(error) => self.context.warn(&format!("keeping the old key: {error}")),
        }
    }

    /// Begins again: the peer is looked up, and counts as silent from now on.
    fn restart(&mut self, why: &str) {
        self.say(1, &format!("restarting: {why}"));
        self.state("RECONNECTING", why);
        self.since = self.context.clock.now().monotonic;
        self.is_up = false;
        self.forget_way();
        self.addresses = peer::resolve(self.config);
        self.reach();
    }

    /// Reports that the tunnel is complete.
    fn complete(&mut self) {
        if std::mem::replace(&mut self.is_up, true) {
            return;
        }
        self.say(0, "Initialization Sequence Completed");
        self.state("CONNECTED", "SUCCESS");
        if let Some(address) = self.address {
            let mut environment = self.context.environment();
            environment.set_peer_address(super::hooks::Trust::Trusted, address);
            let command = self.config.common.hooks.ip_change.as_ref();
            self.context.tell_address(command, address, environment);
            self.context.notify.status(&format!("connected to {address}"));
        }
    }

    fn take(&mut self, event: Event, now: Now) -> Result<(), Failure> {
        match event {
            Event::Float { from, .. } => self.came_from(from),
            Event::Message { packet, .. } if packet.starts_with(&OCC_EXIT) => {
                self.say(1, "the peer has left");
                self.restart("remote-exit");
            }
            Event::Closed { stream } => self.closed(stream, now),
            Event::Compresses { .. } => self.context.warn(COMPRESSES),
            Event::Failed { cause } => {
                return Err(Failure::new(format!("the tunnel {}: {cause}", self.interface)));
            }
            // Other messages of OpenVPN's option check need no answer.
            Event::Message { .. } | Event::Received { .. } => {}
        }
        Ok(())
    }

    /// Acts on due timers. Returns whether the program is to end.
    fn tick(&mut self, now: Now) -> bool {
        let timing = &self.config.common.timing;
        let (ping, exit, restart) = (timing.ping, timing.ping_exit, timing.ping_restart);
        let (session, inactive) = (timing.session_timeout, timing.inactive);
        if self.retry.is_some_and(|retry| now.monotonic >= retry) {
            self.retry = None;
            self.reach();
        }
        let silent_since = self.heard(now);
        if session.is_some_and(|limit| now.monotonic >= self.started + limit) {
            self.say(1, "session-timeout");
            return true;
        }
        if let Some((time, least)) = inactive
            && now.monotonic >= self.active.1 + time
        {
            let bytes = self.inner_bytes();
            if bytes - self.active.0 <= least {
                self.say(1, "inactive");
                return true;
            }
            self.active = (bytes, now.monotonic);
        }
        if let Some(silent_since) = silent_since {
            if exit.is_some_and(|limit| now.monotonic >= silent_since + limit) {
                self.say(1, "the peer is silent: ping-exit");
                return true;
            }
            if exit.is_none() && restart.is_some_and(|limit| now.monotonic >= silent_since + limit)
            {
                self.restart("ping-restart");
            }
        }
        if let Some(ping) = ping
            && now.monotonic >= self.sent(now) + ping
        {
            self.pinged = now.monotonic;
            let _ = self.handle.send_data(PEER, &PING);
        }
        false
    }

    /// Returns when the peer was heard last, or when its silence began. Returns `None` while
    /// `ping-timer-rem` waits for its address.
    fn heard(&self, now: Now) -> Option<Duration> {
        if self.config.common.timing.ping_timer_needs_peer && self.way.is_none() {
            return None;
        }
        let ago = self.handle.counters(PEER).and_then(|it| it.received_ago);
        Some(self.since.max(ago.map_or(self.since, |ago| now.monotonic.saturating_sub(ago))))
    }

    /// Returns when a packet was sent last, or tried to.
    fn sent(&self, now: Now) -> Duration {
        let ago = self.handle.counters(PEER).and_then(|it| it.sent_ago);
        self.pinged.max(ago.map_or(self.since, |ago| now.monotonic.saturating_sub(ago)))
    }

    fn inner_bytes(&self) -> u64 {
        let counters = self.handle.counters(PEER).unwrap_or_default();
        counters.sent_inner_bytes + counters.received_inner_bytes
    }

    fn wait(&mut self, now: Now) {
        let timing = &self.config.common.timing;
        let silence = timing.ping_exit.or(timing.ping_restart);
        let next = [
            self.retry,
            timing.ping.map(|ping| self.sent(now) + ping),
            silence.and_then(|silence| Some(self.heard(now)? + silence)),
            timing.session_timeout.map(|limit| self.started + limit),
            timing.inactive.map(|(time, _)| self.active.1 + time),
            self.status.as_ref().map(StatusFile::next),
        ];
        let next = next.into_iter().flatten().min();
        let listener = self.listener.as_ref().map(AsFd::as_fd);
        self.context.wait(listener.into_iter().chain([self.events.as_fd()]), next);
    }

    fn stop(mut self) {
        self.context.notify.stopping();
        self.state("EXITING", "exit-with-notification");
        for _ in 0..self.config.common.link.explicit_exit_notify {
            let _ = self.handle.send_data(PEER, &OCC_EXIT);
        }
        self.context.take_down(&self.config.common, &self.interface, &mut self.journal);
        self.handle.stop();
    }
}
