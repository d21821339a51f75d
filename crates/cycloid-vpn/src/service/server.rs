//! The server program: admits clients, assigns their addresses, and keeps their state while they
//! are connected.

mod admission;
mod clients;
mod ethernet;
mod listen;
mod peers;
mod point_to_point;
mod remotes;
mod requests;
mod settings_file;
mod streams;
mod token;
mod token_generator;
mod waiting;

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use self::listen::{core_settings, listen, pool_of};
use self::peers::{Link, Peer};
use self::remotes::Remotes;
pub(super) use self::token_generator::of as token_generator;
use self::waiting::Admission;
use super::client::STATE_DIRECTORY;
use super::context::{Context, MAX_EVENTS, Side, drop_privileges};
use super::hooks::Ticket;
use super::log::Log;
use super::metrics::Snapshot;
use super::pool::Pool;
use super::signals::Signal;
use super::status::{Counters, StatusFile, Version};
use super::{COMPRESSES, Failure, Person, host, random};
use crate::config;
use crate::net::data_path::{self, Event, Events, Handle, Peers, Remote, StreamId};
use crate::net::port_share::Service;
use crate::net::undo::{Journal, Scope};
use crate::proto::auth_token::Tokens;
use crate::proto::data::OCC_EXIT;
use crate::proto::server::{PeerId, Server, ServerNotice};
use crate::proto::{Error, Now, Role, Transport};

/// The minimum interval between reports that `max-clients` is reached.
const FULL_INTERVAL: Duration = Duration::from_secs(10);

/// Runs the server until a signal stops it.
///
/// # Errors
/// An invalid configuration or a failure of the machine.
pub fn run(
    config: &config::Server,
    instance: &str,
    log: Log,
    person: &mut dyn Person,
) -> Result<(), Failure> {
    let side = if config.many { Side::ServerOfMany } else { Side::Server };
    let mut context = Context::start(&config.common, side, log)?;
    let outcome = Program::start(config, instance, &mut context, person).and_then(|program| {
        let Some(mut program) = program else { return Ok(()) };
        let outcome = program.go();
        program.stop(outcome.as_ref().err());
        outcome
    });
    context.stop(outcome.as_ref().err());
    outcome
}

struct Program<'a> {
    config: &'a config::Server,
    context: &'a mut Context,
    journal: Journal,
    core: Server,
    handle: Handle,
    events: Events,
    interface: String,
    listeners: Vec<TcpListener>,
    /// The service that gets connections that are no tunnels.
    service: Option<Service>,
    /// Connections that have not spoken yet, with their addresses and the times they were opened.
    silent: VecDeque<(TcpStream, SocketAddr, Duration)>,
    /// The address of each stream and the time it was opened.
    streams: HashMap<StreamId, (SocketAddr, Duration)>,
    /// When to look for streams that have not become clients.
    strangers_due: Duration,
    peers: HashMap<PeerId, Peer>,
    /// Clients that wait for a decision.
    admissions: HashMap<PeerId, Admission>,
    /// The purposes of running scripts.
    asked: HashMap<Ticket, Purpose>,
    pool: Option<Pool>,
    tokens: Option<Tokens>,
    status: Option<StatusFile>,
    /// Number of clients so far.
    clients: u64,
    /// Number of admissions so far.
    admitted: u64,
    /// Totals of disconnected clients, and event counts.
    counts: Snapshot,
    /// The allowed addresses of a single peer, if restricted.
    remotes: Option<Remotes>,
    /// Traffic totals of previous peers, in point-to-point mode.
    passed: Counters,
    /// When to report the next refusal because of `max-clients`.
    full_next: Duration,
    /// Time since which there is no peer: the last disconnect, or the start.
    alone_since: Duration,
    /// When to look for old hardware addresses.
    stale_due: Option<Duration>,
    /// When to look for sessions whose time is over.
    expiry_due: Option<Duration>,
    /// Whether new clients are sent to other servers.
    draining: bool,
    /// Whether the program is about to end.
    finished: bool,
}

/// The purpose of a script.
enum Purpose {
    /// Decides an admission: the peer and the admission's number.
    Admission(PeerId, u64),
    /// Approves an address of a client.
    Address(PeerId, u64, (IpAddr, u8)),
}

impl<'a> Program<'a> {
    /// Starts the server. Returns `None` if a stop signal arrives first.
    fn start(
        config: &'a config::Server,
        instance: &str,
        context: &'a mut Context,
        person: &mut dyn Person,
    ) -> Result<Option<Self>, Failure> {
        let common = &config.common;
        let tls = context.tls(Role::Server, common, Some(person))?;
        let core = Server::new(core_settings(config, tls)?, &mut random);
        if common.process.offload() {
            context.warn("enable-dco: this program moves the packets itself: this end is a server");
        }
        if !context.hold() {
            return Ok(None);
        }
        let tokens = token_generator::of(config)?;
        let mut journal = Journal::open(Path::new(STATE_DIRECTORY), instance, Scope::Network)?;
        let _ = journal.undo();
        let threads = common.process.threads.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        });
        let (groups, listeners) = listen(config, threads)?;
        let status = StatusFile::of(&common.log)?;
        let tun = host::open(&common.tunnel, threads)?;
        let interface = tun.name().to_owned();
        let now = context.clock.now().monotonic;
        let remotes = Remotes::of(config, now);
        let peer = remotes.as_ref().and_then(Remotes::first);
        context.set_up(common, &interface, peer, &mut journal)?;
        drop_privileges(&common.process)?;
        person.privileges_are_dropped();
        let peers = match config.many {
            true => Peers::Many {
                client_to_client: config.client_to_client,
                vlans: ethernet::vlans(config),
            },
            false => Peers::One { floats: common.link.float },
        };
        let (handle, events) = data_path::start(tun.into_queues(), groups, peers)?;
        handle.limit_hardware_addresses(config.max_routes_per_client as usize);
        let mut program = Self {
            config,
            context,
            journal,
            core,
            handle,
            events,
            interface,
            listeners,
            service: config
                .port_share
                .clone()
                .map(|it| Service::new(it.host, it.port, it.directory)),
            silent: VecDeque::new(),
            streams: HashMap::new(),
            strangers_due: Duration::ZERO,
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
            full_next: Duration::ZERO,
            alone_since: now,
            stale_due: ethernet::ages(config).map(|(_, every)| now + every),
            expiry_due: None,
            draining: false,
            finished: false,
        };
        program.read_pool();
        Ok(Some(program))
    }

    fn say(&mut self, level: u8, text: &str) {
        self.context.say(level, text);
    }

    fn warn(&mut self, text: &str) {
        self.context.warn(text);
    }

    fn state(&mut self, name: &'static str, detail: &str) {
        let remote = match self.config.many {
            true => None,
            false => self.up().and_then(|id| self.core.address(id)),
        };
        self.context.tell_state(name, detail, Some(&self.config.common.tunnel), remote);
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
        self.context.notify.ready();
        while !self.finished {
            let now = self.context.clock.now();
            if self.patience().is_some_and(|end| now.monotonic >= end) {
                self.say(1, "no peer connected: ping-exit");
                break;
            }
            if self.core.deadline().is_some_and(|deadline| deadline <= now.monotonic) {
                self.with_core(|core, link| core.tick(now, &mut random, link));
            }
            for _ in 0..MAX_EVENTS {
                let Some(event) = self.events.next() else { break };
                self.take(event, now)?;
            }
            if self.context.take_ended_steps() {
                self.with_core(|core, link| core.proceed(now, link));
            }
            self.accept_streams(now);
            self.take_answers(now);
            self.take_requests(now);
            self.forget_stale(now.monotonic);
            self.end_expired(now);
            self.write_status(now);
            for signal in self.context.signals() {
                match signal {
                    Signal::Terminate | Signal::Interrupt => return Ok(()),
                    Signal::Hangup | Signal::Restart => {
                        if self.context.reloads_keys(signal) {
                            self.read_keys();
                        }
                        self.restart(now);
                    }
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
        let status = self.status.as_ref().map(StatusFile::next);
        let strangers = (!self.streams.is_empty() || !self.silent.is_empty())
            .then(|| self.context.clock.now().monotonic + Duration::from_secs(5));
        let next = self.core.deadline().into_iter().chain(status).chain(strangers);
        let next = next.chain(self.patience()).chain(self.stale_due).chain(self.expiry_due).min();
        let listeners = self.listeners.iter().map(AsFd::as_fd);
        let silent = self.silent.iter().map(|(stream, ..)| stream.as_fd());
        self.context.wait(listeners.chain(silent).chain([self.events.as_fd()]), next);
    }

    /// Calls into the core, then handles its notices.
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
                match taken {
                    Err(error @ Error::Full(_)) if now.monotonic >= self.full_next => {
                        self.full_next = now.monotonic + FULL_INTERVAL;
                        let most = self.config.max_clients;
                        self.warn(&format!("refused {address}: {error}, {most}"));
                    }
                    Err(error) => self.say(4, &format!("dropped a packet from {address}: {error}")),
                    Ok(_) => {}
                }
            }
            Event::Message { peer, packet } if packet.starts_with(&OCC_EXIT) => {
                self.with_core(|core, link| core.kill(now, PeerId(peer), None, link));
            }
            Event::Message { .. } => {}
            Event::Float { peer, from } => self.float(now, PeerId(peer), from),
            Event::Compresses { peer } => {
                let name = self.peers.get(&PeerId(peer)).map_or("a client", |peer| &peer.name);
                let text = format!("{name}: {COMPRESSES}");
                self.context.warn(&text);
            }
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

    /// Follows a client to the address of its latest packet. A server for many always does so, as
    /// a NAT may change a client's port at any time; point to point, `float` permits it.
    fn float(&mut self, now: Now, id: PeerId, from: Remote) {
        let Remote::Udp { endpoint, .. } = from else { return };
        let floats = self.config.many || self.config.common.link.float;
        let Some(peer) = self.peers.get_mut(&id).filter(|_| floats) else { return };
        let to = endpoint.remote;
        let text = match self.core.float(now, id, to) {
            Ok(()) => {
                self.counts.floats += 1;
                let text = format!("{} moved from {} to {to}", peer.name, peer.address);
                (peer.way, peer.address) = (from, to);
                self.handle.set_remote(id.0, from);
                text
            }
            Err(error) => {
                // The data path may already answer there.
                self.handle.set_remote(id.0, peer.way);
                format!("cannot move {} from {} to {to}: {error}", peer.name, peer.address)
            }
        };
        self.say(1, &text);
    }

    fn act(&mut self, id: PeerId, notice: ServerNotice) {
        match notice {
            ServerNotice::Verify(verify) => {
                let now = self.context.clock.now();
                self.verify(id, verify, now);
            }
            ServerNotice::Connected(connected) => self.connected(id, &connected),
            ServerNotice::Renegotiated => {
                self.counts.renewals += 1;
                let name = self.peers.get(&id).map_or(String::new(), |peer| peer.name.clone());
                self.say(3, &format!("{name}: a new key is in use"));
            }
            ServerNotice::RenegotiationFailed(error) => {
                self.give_up(id);
                let name = self.peers.get(&id).map_or(String::new(), |peer| peer.name.clone());
                self.warn(&format!(
                    "{name}: a renegotiation has failed, and the old key stays in use until it \
                     expires: {error}"
                ));
            }
            ServerNotice::Response(text) => self.responded(id, &text),
            ServerNotice::Ended(end) => self.ended(id, &end),
        }
    }

    /// Reloads certificates and keys. Keeps the old ones if reading fails, as it may after
    /// privileges were dropped.
    fn read_keys(&mut self) {
        match self.context.tls(Role::Server, &self.config.common, None) {
            Ok(tls) => self.core.set_tls(tls),
            Err(failure) => self.warn(&format!("keeping the old keys: {failure}")),
        }
    }

    /// Ends all connections, and lets the clients reconnect.
    fn restart(&mut self, now: Now) {
        let all: Vec<PeerId> = self.peers.keys().copied().collect();
        for id in all {
            self.with_core(|core, link| core.kill(now, id, Some("RESTART,[N]"), link));
        }
        self.say(1, "restarted");
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
        if !self.status.as_ref().is_some_and(|file| file.is_due(now.monotonic)) {
            return;
        }
        let number = self.config.common.log.status_version.into();
        let text = self.status_text(now, Version::new(number).unwrap_or(Version::One));
        if let Some(file) = &mut self.status
            && let Err(error) = file.write(now.monotonic, &text)
        {
            self.warn(&format!("status: {error}"));
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
        let now = self.context.clock.now();
        self.finished = true;
        self.context.notify.stopping();
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
        self.context.take_down(&self.config.common, &self.interface, &mut self.journal);
        self.handle.stop();
    }
}
