//! A server as a program: who may come in, which addresses it gets, and what is known of it while it
//! is there.

mod admission;
mod clients;
mod listen;
mod one;
mod peers;
mod requests;
mod token;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use self::admission::Admission;
use self::listen::{core_settings, listen, pool_of};
use self::one::Remotes;
use self::peers::{Link, Peer};
use super::client::STATE_DIRECTORY;
use super::hooks::{Kind, Ticket};
use super::log::Log;
use super::management::StateChange;
use super::metrics::Snapshot;
use super::pool::Pool;
use super::signals::Signal;
use super::status::{Counters, StatusFile, Version};
use super::surroundings::{MOST_EVENTS, Side, Surroundings, drop_privileges};
use super::{Failure, Person, host, random};
use crate::config;
use crate::net::data_path::{self, Event, Events, Handle, Peers, Remote, StreamId};
use crate::net::tun::{Offload, Tun};
use crate::net::undo::Journal;
use crate::proto::auth_token::Tokens;
use crate::proto::data::OCC_EXIT;
use crate::proto::server::{PeerId, Server, ServerNotice};
use crate::proto::{Now, Role, Transport};

/// A stream that does not become a client within this time is closed.
const STREAM_PATIENCE: Duration = Duration::from_secs(60);

/// The most streams that are not clients yet.
const MAX_STRANGERS: usize = 256;

/// Runs until it is told to stop.
///
/// # Errors
/// What is wrong with the configuration or the machine.
pub fn run(
    config: &config::Server,
    instance: &str,
    log: Log,
    person: &mut dyn Person,
) -> Result<(), Failure> {
    let side = if config.many { Side::ServerOfMany } else { Side::Server };
    let mut around = Surroundings::start(&config.common, side, log)?;
    let outcome = Program::start(config, instance, &mut around, person).and_then(|program| {
        let Some(mut program) = program else { return Ok(()) };
        let outcome = program.go();
        program.stop(outcome.as_ref().err());
        outcome
    });
    around.stop(outcome.as_ref().err());
    outcome
}

struct Program<'a> {
    config: &'a config::Server,
    around: &'a mut Surroundings,
    journal: Journal,
    core: Server,
    handle: Handle,
    events: Events,
    interface: String,
    listeners: Vec<TcpListener>,
    /// Where streams lead to, and since when they are open.
    streams: HashMap<StreamId, (SocketAddr, Duration)>,
    peers: HashMap<PeerId, Peer>,
    /// Those about whom something is being asked.
    admissions: HashMap<PeerId, Admission>,
    /// What scripts that run were asked.
    asked: HashMap<Ticket, Purpose>,
    pool: Option<Pool>,
    tokens: Option<Tokens>,
    status: Option<(StatusFile, Duration, Duration)>,
    /// Counted over all clients.
    clients: u64,
    /// Counted over all admissions.
    admitted: u64,
    /// What those that are gone have left, and events.
    counts: Snapshot,
    /// From where the one peer may come, if not from anywhere.
    remotes: Option<Remotes>,
    /// What has passed to and from the peers that are gone, where there is one at a time.
    passed: Counters,
    /// When the last peer went, or the start.
    alone_since: Duration,
    /// Whether the program is at its end.
    finished: bool,
}

/// What a script was asked.
enum Purpose {
    /// Whether somebody may come in: whose admission, and its number.
    Admission(PeerId, u64),
    /// Whether an address may be a client's.
    Address(PeerId, u64, (IpAddr, u8)),
}

impl<'a> Program<'a> {
    /// None if the end is wanted before it has begun.
    fn start(
        config: &'a config::Server,
        instance: &str,
        around: &'a mut Surroundings,
        person: &mut dyn Person,
    ) -> Result<Option<Self>, Failure> {
        let common = &config.common;
        let tls = around.tls(Role::Server, common, Some(person))?;
        let core = Server::new(core_settings(config, tls)?, &mut random);
        if !around.hold() {
            return Ok(None);
        }
        let tokens = token::of(config)?;
        let mut journal = Journal::open(Path::new(STATE_DIRECTORY), instance)
            .map_err(|error| Failure::new(error.to_string()))?;
        let _ = journal.undo();
        let threads = common.process.threads.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        });
        let (groups, listeners) = listen(config, threads)?;
        let status = match &common.log.status {
            Some((path, every)) => {
                let file = StatusFile::open(path)
                    .map_err(|error| Failure::new(format!("status {}: {error}", path.display())))?;
                Some((file, *every, Duration::ZERO))
            }
            None => None,
        };
        let name = common.tunnel.device.as_deref().unwrap_or("tun");
        let tun = Tun::open(name, threads, Offload::TcpAndUdp)?;
        let interface = tun.name().to_owned();
        let hooks = &common.hooks;
        let mtu = common.link.tun_mtu.into();
        host::configure(&interface, &common.tunnel, mtu)?;
        let (environment, arguments) =
            host::told(around.environment(), &interface, &common.tunnel, mtu, "init");
        around.run(Kind::Up, hooks.up.as_ref(), arguments, environment.clone())?;
        let now = around.clock.now().monotonic;
        let remotes = Remotes::of(config, now);
        let peer = remotes.as_ref().and_then(Remotes::first);
        for warning in host::add_routes(&interface, &common.tunnel, peer, &mut journal)? {
            around.warn(&warning);
        }
        around.run(Kind::RouteUp, hooks.route_up.as_ref(), Vec::new(), environment)?;
        drop_privileges(&common.process)?;
        person.privileges_are_dropped();
        let peers = match config.many {
            true => Peers::Many { client_to_client: config.client_to_client },
            false => Peers::One,
        };
        let (handle, events) = data_path::start(tun.into_queues(), groups, peers)?;
        let mut program = Self {
            config,
            around,
            journal,
            core,
            handle,
            events,
            interface,
            listeners,
            streams: HashMap::new(),
            peers: HashMap::new(),
            admissions: HashMap::new(),
            asked: HashMap::new(),
            pool: pool_of(config),
            tokens,
            status,
            clients: 0,
            admitted: 0,
            counts: Snapshot::default(),
            remotes,
            passed: Counters::default(),
            alone_since: now,
            finished: false,
        };
        program.read_pool();
        Ok(Some(program))
    }

    fn say(&mut self, level: u8, text: &str) {
        self.around.say(level, text);
    }

    fn warn(&mut self, text: &str) {
        self.around.warn(text);
    }

    fn state(&mut self, name: &'static str, detail: &str) {
        let tunnel = &self.config.common.tunnel;
        let change = StateChange {
            unix: self.around.clock.now().unix,
            name,
            detail: detail.to_owned(),
            ipv4: tunnel.ifconfig.map(|(address, _)| address),
            ipv6: tunnel.ifconfig_ipv6.map(|ifconfig| ifconfig.address),
            remote: match self.config.many {
                true => None,
                false => self.up().and_then(|id| self.core.address(id)),
            },
            local: None,
        };
        if let Some(management) = &mut self.around.management {
            management.state(&change);
        }
    }

    fn go(&mut self) -> Result<(), Failure> {
        self.say(1, &format!("the tunnel is {}", self.interface));
        if self.config.many {
            self.say(0, "Initialization Sequence Completed");
            self.state("CONNECTED", "SUCCESS");
        } else {
            self.say(1, "waiting for the peer");
            self.await_peer();
        }
        self.around.notify.ready();
        while !self.finished {
            let now = self.around.clock.now();
            if self.patience().is_some_and(|end| now.monotonic >= end) {
                self.say(1, "no peer came: ping-exit");
                break;
            }
            if self.core.deadline().is_some_and(|deadline| deadline <= now.monotonic) {
                self.with_core(|core, link| core.tick(now, &mut random, link));
            }
            for _ in 0..MOST_EVENTS {
                let Some(event) = self.events.next() else { break };
                self.take(event, now)?;
            }
            self.accept_streams(now);
            self.take_answers(now);
            self.take_requests(now);
            self.write_status(now);
            for signal in self.around.signals() {
                match signal {
                    Signal::Terminate | Signal::Interrupt => return Ok(()),
                    Signal::Hangup | Signal::Restart => self.restart(now),
                    Signal::Statistics => {
                        let text = self.status_text(now, Version::One);
                        text.lines().for_each(|line| self.say(0, line));
                    }
                }
            }
            if !self.finished {
                self.wait();
            }
        }
        Ok(())
    }

    fn wait(&mut self) {
        let status = self.status.as_ref().map(|(_, _, next)| *next);
        let strangers = (!self.streams.is_empty())
            .then(|| self.around.clock.now().monotonic + Duration::from_secs(5));
        let next = self.core.deadline().into_iter().chain(status).chain(strangers);
        let next = next.chain(self.patience()).min();
        let listeners = self.listeners.iter().map(AsFd::as_fd);
        self.around.wait(listeners.chain([self.events.as_fd()]), next);
    }

    /// Lets the core do something, then acts on what it tells.
    fn with_core<T>(&mut self, act: impl FnOnce(&mut Server, &mut Link<'_>) -> T) -> T {
        self.with_core_from(None, act)
    }

    fn with_core_from<T>(
        &mut self,
        from: Option<(SocketAddr, Remote)>,
        act: impl FnOnce(&mut Server, &mut Link<'_>) -> T,
    ) -> T {
        let mut link = Link::new(&self.handle, &mut self.peers, from);
        let result = act(&mut self.core, &mut link);
        let notices = link.into_notices();
        for (peer, notice) in notices {
            self.act(peer, notice);
        }
        result
    }

    fn take(&mut self, event: Event, now: Now) -> Result<(), Failure> {
        match event {
            Event::Received { from, mut packet } => {
                let (address, transport) = match from {
                    Remote::Udp { endpoint, .. } => (endpoint.remote, Transport::Udp),
                    Remote::Tcp(stream) => match self.streams.get(&stream) {
                        Some((address, _)) => (*address, Transport::Tcp),
                        None => return Ok(()),
                    },
                };
                if !self.may_come(address, transport) {
                    return Ok(());
                }
                let taken = self.with_core_from(Some((address, from)), |core, link| {
                    let taken =
                        core.receive(now, address, transport, &mut packet, &mut random, link);
                    if let Ok(Some(peer)) = taken {
                        link.is_at(peer, from);
                    }
                    taken
                });
                if let Err(error) = taken {
                    self.say(4, &format!("a packet of {address} is dropped: {error}"));
                }
            }
            Event::Message { peer, packet } if packet.starts_with(&OCC_EXIT) => {
                self.with_core(|core, link| core.kill(now, PeerId(peer), None, link));
            }
            Event::Message { .. } => {}
            Event::Float { peer, from } => self.float(PeerId(peer), from),
            Event::Closed { stream } => {
                if let Some((address, _)) = self.streams.remove(&stream) {
                    self.with_core(|core, link| core.disconnected(address, link));
                }
            }
            Event::Failed { cause } => {
                return Err(Failure::new(format!("the tunnel {}: {cause}", self.interface)));
            }
        }
        Ok(())
    }

    fn float(&mut self, id: PeerId, from: Remote) {
        let Remote::Udp { endpoint, .. } = from else { return };
        if !self.config.common.link.float {
            return;
        }
        match self.core.float(id, endpoint.remote) {
            Ok(()) => {
                self.counts.floats += 1;
                if let Some(peer) = self.peers.get_mut(&id) {
                    let text = format!("{} is at {} now", peer.name, endpoint.remote);
                    peer.way = from;
                    peer.address = endpoint.remote;
                    self.say(1, &text);
                }
                self.handle.set_remote(id.0, from);
            }
            Err(error) => self.say(2, &format!("no float to {}: {error}", endpoint.remote)),
        }
    }

    fn accept_streams(&mut self, now: Now) {
        for index in 0..self.listeners.len() {
            while let Ok((stream, address)) = self.listeners[index].accept() {
                let full = self.streams.len() >= self.config.max_clients as usize + MAX_STRANGERS;
                if full || !self.may_come(address, Transport::Tcp) {
                    continue;
                }
                let _ = stream.set_nodelay(true);
                if let Ok((id, _)) = self.handle.add_stream(stream) {
                    self.streams.insert(id, (address, now.monotonic));
                }
            }
        }
        let peers = &self.peers;
        let late: Vec<StreamId> = self
            .streams
            .iter()
            .filter(|(id, (_, since))| {
                now.monotonic > *since + STREAM_PATIENCE
                    && !peers.values().any(|peer| peer.way == Remote::Tcp(**id))
            })
            .map(|(id, _)| *id)
            .collect();
        for id in late {
            self.streams.remove(&id);
            self.handle.close_stream(id);
        }
    }

    fn act(&mut self, id: PeerId, notice: ServerNotice) {
        match notice {
            ServerNotice::Verify(verify) => {
                let now = self.around.clock.now();
                self.verify(id, verify, now);
            }
            ServerNotice::Connected(connected) => self.connected(id, &connected),
            ServerNotice::Renegotiated => {
                self.counts.renewals += 1;
                let name = self.peers.get(&id).map_or(String::new(), |peer| peer.name.clone());
                self.say(3, &format!("{name}: a new key is in use"));
            }
            ServerNotice::Response(text) => self.responded(id, &text),
            ServerNotice::Ended(end) => self.ended(id, &end),
        }
    }

    /// Reads certificates and keys anew, and lets clients connect anew. What cannot be read, as where
    /// privileges were given up, stays as it was.
    fn restart(&mut self, now: Now) {
        match self.around.tls(Role::Server, &self.config.common, None) {
            Ok(tls) => self.core.set_tls(tls),
            Err(failure) => self.warn(&format!("the keys stay as they were: {failure}")),
        }
        let all: Vec<PeerId> = self.peers.keys().copied().collect();
        for id in all {
            self.with_core(|core, link| core.kill(now, id, Some("RESTART,[N]"), link));
        }
        self.say(1, "started anew");
    }

    fn read_pool(&mut self) {
        if let (Some((path, _)), Some(pool)) = (&self.config.pool_persist, &mut self.pool)
            && let Ok(text) = std::fs::read_to_string(path)
        {
            pool.read(&text);
        }
    }

    fn write_pool(&mut self) {
        if let (Some((path, Some(_))), Some(pool)) = (&self.config.pool_persist, &self.pool)
            && let Err(error) = std::fs::write(path, pool.write())
        {
            let text = format!("ifconfig-pool-persist {}: {error}", path.display());
            self.warn(&text);
        }
    }

    fn write_status(&mut self, now: Now) {
        let Some((_, every, next)) = &self.status else { return };
        if now.monotonic < *next {
            return;
        }
        let following = now.monotonic + *every;
        let number = self.config.common.log.status_version.into();
        let text = self.status_text(now, Version::new(number).unwrap_or(Version::One));
        if let Some((file, _, next)) = &mut self.status {
            *next = following;
            if let Err(error) = file.write(&text) {
                self.warn(&format!("status: {error}"));
            }
        }
        self.write_pool();
    }

    fn status_text(&self, now: Now, version: Version) -> String {
        if !self.config.many {
            return self.totals().text(now.unix);
        }
        peers::status(&self.handle, &self.peers, now).text(version)
    }

    fn stop(mut self, failure: Option<&Failure>) {
        let now = self.around.clock.now();
        self.finished = true;
        self.around.notify.stopping();
        self.state("EXITING", if failure.is_some() { "error" } else { "exit-with-notification" });
        let notice = match self.config.common.link.explicit_exit_notify {
            0 => None,
            1 => Some("RESTART"),
            _ => Some("RESTART,[N]"),
        };
        let all: Vec<PeerId> = self.peers.keys().copied().collect();
        for id in all {
            self.with_core(|core, link| core.kill(now, id, notice, link));
        }
        self.write_pool();
        let common = &self.config.common;
        let mtu = common.link.tun_mtu.into();
        let (environment, arguments) =
            host::told(self.around.environment(), &self.interface, &common.tunnel, mtu, "init");
        for (kind, command, arguments) in [
            (Kind::RoutePreDown, &common.hooks.route_pre_down, Vec::new()),
            (Kind::Down, &common.hooks.down, arguments),
        ] {
            let run = self.around.run(kind, command.as_ref(), arguments, environment.clone());
            if let Err(failure) = run {
                self.around.warn(&failure.to_string());
            }
        }
        self.around.finish_scripts();
        for (undo, error) in self.journal.undo() {
            self.around.warn(&format!("not taken back: {undo:?}: {error}"));
        }
        self.handle.stop();
    }
}
