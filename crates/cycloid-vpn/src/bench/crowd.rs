//! Many clients of one server in one thread. They run only the protocol core, without a device, to
//! measure what each client costs the server. Their only traffic is [`Crowd::exchange`], which
//! measures how the server divides its time among them.

mod echo;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};

use crate::config;
use crate::proto::client::{Client, ClientEnd, ClientNotice, ClientSettings, Connected};
use crate::proto::data::{Opener, Sealer, data_header};
use crate::proto::tunnel::{DataKeys, Sink, Traffic};
use crate::proto::wire::KeyId;
use crate::proto::{Now, Role, Transport};
use crate::service::client::{core_settings, resolve};
use crate::service::{Clock, Failure, random, settings};

/// The number of packets that each client has in flight during an exchange.
const WINDOW: usize = 4;

/// A ping without an answer for this long counts as lost, and the client sends another one.
const LOST: Duration = Duration::from_millis(200);

/// The time of an exchange before answers count.
const WARM_UP: Duration = Duration::from_millis(500);

/// A crowd of connected clients.
pub struct Crowd {
    settings: Arc<ClientSettings>,
    server: SocketAddr,
    clock: Clock,
    members: Vec<Member>,
}

impl Crowd {
    /// Reads the keys and certificates of a client profile. Only its first remote is used.
    ///
    /// # Errors
    /// Unreadable or invalid keys and certificates, a TCP remote, or a remote without an address.
    pub fn new(config: &config::Client) -> Result<Self, Failure> {
        let remote = &config.remotes[0];
        if remote.link.protocol.transport == Transport::Tcp {
            return Err(Failure::new("a crowd needs UDP").hint("set `proto udp`"));
        }
        let tls = settings::tls(Role::Client, &config.common.tls, None, None)?;
        let key = remote.link.control_key.load(config.common.data.digest, Role::Client)?;
        let settings = core_settings(config, &remote.link, key, tls, None);
        let server = resolve(remote).ok().and_then(|addresses| addresses.first().copied());
        let server = server.ok_or_else(|| {
            Failure::new(format!("{}: no address", remote.host)).hint("set `remote` to an address")
        })?;
        Ok(Self { settings: settings.into(), server, clock: Clock::start(), members: Vec::new() })
    }

    /// Connects `count` more clients, with `at_once` handshakes in flight.
    ///
    /// # Errors
    /// A client that fails to connect.
    pub fn connect(&mut self, count: usize, at_once: usize) -> Result<(), Failure> {
        let cannot = |error: io::Error| Failure::new(format!("client socket: {error}"));
        let mut left = count;
        let mut connecting: Vec<Member> = Vec::new();
        while left > 0 || !connecting.is_empty() {
            while left > 0 && connecting.len() < at_once.max(1) {
                connecting.push(self.member().map_err(cannot)??);
                left -= 1;
            }
            self.wait(&connecting);
            for member in &mut connecting {
                member.go(self.clock.now()).map_err(cannot)?;
                if let Some(end) = &member.end {
                    return Err(Failure::new(format!("a client failed to connect: {end}")));
                }
            }
            self.members.extend(connecting.extract_if(.., |member| member.is_up));
        }
        Ok(())
    }

    /// Has all clients exchange packets of 64 bytes with the server for this long: each keeps some
    /// pings of the server's address in the tunnel in flight, so that it always wants more than it
    /// gets. Returns the number of answers that each client got.
    ///
    /// # Errors
    /// A client that the server gave no IPv4 address, or that is no longer connected.
    pub fn exchange(&mut self, time: Duration) -> Result<Vec<u64>, Failure> {
        let cannot = |error: io::Error| Failure::new(format!("client socket: {error}"));
        let arrivals =
            epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|it| cannot(it.into()))?;
        for (index, member) in self.members.iter().enumerate() {
            let index = epoll::EventData::new_u64(index as u64);
            epoll::add(&arrivals, &member.socket, index, epoll::EventFlags::IN)
                .map_err(|error| cannot(error.into()))?;
        }
        let begin = Instant::now();
        let mut answers_before = None;
        let mut next_look = begin;
        let mut ready = Vec::with_capacity(256);
        loop {
            let now = Instant::now();
            if now >= begin + WARM_UP && answers_before.is_none() {
                answers_before = Some(self.answers());
            }
            if now >= begin + WARM_UP + time {
                break;
            }
            if now >= next_look {
                next_look = now + LOST / 4;
                for member in &mut self.members {
                    member.ping(now)?;
                }
            }
            ready.clear();
            let wait = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            match epoll::wait(&arrivals, rustix::buffer::spare_capacity(&mut ready), Some(&wait)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(cannot(error.into())),
            }
            let (now, core_now) = (Instant::now(), self.clock.now());
            for event in &ready {
                let member = &mut self.members[event.data.u64() as usize];
                member.go(core_now).map_err(cannot)?;
                if let Some(end) = &member.end {
                    return Err(Failure::new(format!("a client lost its connection: {end}")));
                }
                member.ping(now)?;
            }
        }
        let before = answers_before.unwrap_or_default();
        Ok(self.answers().iter().zip(&before).map(|(after, before)| after - before).collect())
    }

    fn answers(&self) -> Vec<u64> {
        self.members.iter().map(|member| member.answers).collect()
    }

    fn member(&self) -> io::Result<Result<Member, Failure>> {
        let any: SocketAddr = match self.server {
            SocketAddr::V4(_) => ([0_u8; 4], 0).into(),
            SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(self.server)?;
        socket.set_nonblocking(true)?;
        let core = Client::new(self.clock.now(), self.settings.clone(), &mut random);
        Ok(core
            .map(|core| Member {
                socket,
                core,
                is_up: false,
                end: None,
                keys: None,
                inside: None,
                pings: [None; WINDOW],
                next: 0,
                answers: 0,
            })
            .map_err(|error| Failure::new(error.to_string())))
    }

    /// Waits until a packet arrives for a client or a timer is due.
    fn wait(&self, members: &[Member]) {
        let deadline = members.iter().filter_map(|member| member.core.deadline()).min();
        let left = self.clock.until(deadline.unwrap_or_default());
        let left = Timespec { tv_sec: left.as_secs() as _, tv_nsec: left.subsec_nanos().into() };
        let mut sockets: Vec<_> =
            members.iter().map(|member| PollFd::new(&member.socket, PollFlags::IN)).collect();
        // A signal also ends the wait.
        let _ = poll(&mut sockets, Some(&left));
    }
}

/// One client.
struct Member {
    socket: UdpSocket,
    core: Client,
    is_up: bool,
    end: Option<ClientEnd>,
    keys: Option<(Arc<Sealer>, Opener)>,
    /// Its own address in the tunnel and the server's.
    inside: Option<[Ipv4Addr; 2]>,
    /// The pings in flight: their sequence numbers, and when they were sent.
    pings: [Option<(u16, Instant)>; WINDOW],
    /// The next sequence number.
    next: u16,
    answers: u64,
}

impl Member {
    /// Processes received packets and due timers.
    fn go(&mut self, now: Now) -> io::Result<()> {
        let Self { socket, core, is_up, end, keys, inside, .. } = self;
        let mut wire = Wire { socket, keys };
        let mut told = |notice| match notice {
            ClientNotice::Connected(connected) => {
                *is_up = true;
                *inside = inside_addresses(&connected);
            }
            ClientNotice::Ended(why) => *end = Some(why),
            _ => {}
        };
        let mut packet = [0; 2048];
        loop {
            match socket.recv(&mut packet) {
                Ok(length) if data_header(&packet[..length]).is_some() => {
                    let Some((_, opener)) = wire.keys else { continue };
                    let Ok(inner) = opener.open(&mut packet[..length]) else { continue };
                    let answered = echo::answered(inner);
                    let ping = self
                        .pings
                        .iter_mut()
                        .find(|ping| ping.is_some_and(|(sequence, _)| Some(sequence) == answered));
                    if let Some(ping) = ping {
                        *ping = None;
                        self.answers += 1;
                    }
                }
                Ok(length) => {
                    // A malformed packet is dropped.
                    let _ =
                        core.receive(now, &mut packet[..length], &mut random, &mut wire, &mut told);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        if core.deadline().is_some_and(|deadline| deadline <= now.monotonic) {
            core.tick(now, &mut random, &mut wire, &mut told);
        }
        Ok(())
    }

    /// Sends pings until [`WINDOW`] are in flight.
    fn ping(&mut self, now: Instant) -> Result<(), Failure> {
        let (Some((sealer, _)), Some([own, server])) = (&self.keys, self.inside) else {
            return Err(Failure::new("a client has no IPv4 address in the tunnel")
                .hint("set `server` in the server's file"));
        };
        let is_free =
            |ping: &Option<(u16, Instant)>| ping.is_none_or(|(_, sent)| now > sent + LOST);
        let missing = self.pings.iter().filter(|ping| is_free(ping)).count();
        let Ok(ids) = sealer.reserve(missing as u32) else {
            return Err(Failure::new("a client has no packet numbers left"));
        };
        let mut packet = [0; 256];
        for (ping, id) in self.pings.iter_mut().filter(|ping| is_free(ping)).zip(ids) {
            let request = echo::request(own, server, self.next);
            if let Ok(length) = sealer.seal(id, &[&request], &mut packet) {
                // A full buffer drops the packet, like the path.
                let _ = self.socket.send(&packet[..length]);
            }
            *ping = Some((self.next, now));
            self.next = self.next.wrapping_add(1);
        }
        Ok(())
    }
}

/// Returns a client's address in the tunnel and that of the server.
fn inside_addresses(connected: &Connected) -> Option<[Ipv4Addr; 2]> {
    let (own, _) = connected.reply.ifconfig?;
    let gateway = |option: &String| option.strip_prefix("route-gateway ")?.trim().parse().ok();
    Some([own, connected.reply.options().iter().find_map(gateway)?])
}

/// A client's socket to its server, and its keys.
struct Wire<'a> {
    socket: &'a UdpSocket,
    keys: &'a mut Option<(Arc<Sealer>, Opener)>,
}

impl Sink for Wire<'_> {
    fn send(&mut self, packet: &[u8]) {
        // Lost packets are retransmitted.
        let _ = self.socket.send(packet);
    }

    fn install(&mut self, keys: DataKeys) {
        *self.keys = Some((keys.sealer, keys.opener));
    }

    fn send_under(&mut self, _key_id: KeyId) {}

    fn retire(&mut self, _key_id: KeyId) {}

    fn send_data(&mut self, _inner: &[u8]) {}

    fn traffic(&mut self) -> Traffic {
        Traffic::default()
    }
}
