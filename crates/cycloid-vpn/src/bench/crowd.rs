//! Many clients of one server in one thread. They run only the protocol core, without a device and
//! without traffic, to measure what each client costs the server.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::config;
use crate::proto::client::{Client, ClientEnd, ClientNotice, ClientSettings};
use crate::proto::tunnel::{DataKeys, Sink, Traffic};
use crate::proto::wire::KeyId;
use crate::proto::{Now, Role, Transport};
use crate::service::client::{core_settings, resolve};
use crate::service::{Clock, Failure, random, settings};

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
            .map(|core| Member { socket, core, is_up: false, end: None })
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
}

impl Member {
    /// Processes received packets and due timers.
    fn go(&mut self, now: Now) -> io::Result<()> {
        let Self { socket, core, is_up, end } = self;
        let mut wire = Wire(socket);
        let mut told = |notice| match notice {
            ClientNotice::Connected(_) => *is_up = true,
            ClientNotice::Ended(why) => *end = Some(why),
            _ => {}
        };
        let mut packet = [0; 2048];
        loop {
            match socket.recv(&mut packet) {
                Ok(length) => {
                    // Other packets are dropped, mainly data.
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
}

/// A client's socket to its server, for control packets only.
struct Wire<'a>(&'a UdpSocket);

impl Sink for Wire<'_> {
    fn send(&mut self, packet: &[u8]) {
        // Lost packets are retransmitted.
        let _ = self.0.send(packet);
    }

    fn install(&mut self, _keys: DataKeys) {}

    fn send_under(&mut self, _key_id: KeyId) {}

    fn retire(&mut self, _key_id: KeyId) {}

    fn send_data(&mut self, _inner: &[u8]) {}

    fn traffic(&mut self) -> Traffic {
        Traffic::default()
    }
}
