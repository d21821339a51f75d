//! Where the peer of a tunnel with a static key is: its addresses, and its connections over TCP.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::time::Duration;

use super::{PEER, Program};
use crate::config::{self, Bind, Family, StaticTunnel};
use crate::net::data_path::{Remote, StreamId};
use crate::net::tcp;
use crate::net::udp::{self, Endpoint, UdpSocket};
use crate::proto::{Now, Transport};
use crate::service::Failure;
use crate::service::client::socket_options;

/// The most connections that are kept: the peer's, and those that have not proved to be the peer's.
const MAX_STREAMS: usize = 4;

/// Connections over TCP, the oldest first, with the address of the other end.
#[derive(Default)]
pub(super) struct Streams(Vec<(StreamId, SocketAddr)>);

impl Program<'_> {
    /// Sends to the peer's next address, or connects to it. Tries again later if that fails.
    pub(super) fn reach(&mut self) {
        let Some(address) = self.addresses.pop_front() else {
            if !self.config.remotes.is_empty() && self.listener.is_none() {
                self.retry_later("the peer's name cannot be resolved");
            }
            return;
        };
        self.addresses.push_back(address);
        match self.config.common.link.protocol.transport {
            Transport::Udp => {
                let Some(group) = self.families.iter().position(|v6| *v6 == address.is_ipv6())
                else {
                    return self.retry_later("there is no socket of the peer's address family");
                };
                let endpoint = Endpoint { remote: address, local: None };
                self.set_way(Remote::Udp { group, endpoint }, address);
                self.complete();
            }
            Transport::Tcp if self.config.listens => {}
            Transport::Tcp => self.connect(address),
        }
    }

    fn retry_later(&mut self, why: &str) {
        self.say(1, why);
        let now = self.context.clock.now().monotonic;
        self.retry =
            Some(now + self.config.common.link.connect_retry.0.max(Duration::from_secs(1)));
    }

    fn connect(&mut self, address: SocketAddr) {
        self.say(1, &format!("connecting to {address} over TCP"));
        let config::Common { sockets, link, .. } = &self.config.common;
        let options = tcp::Options {
            local: Vec::new(),
            mark: sockets.mark,
            device: sockets.device.clone(),
            patience: link.connect_timeout,
        };
        let stream = tcp::connect(address, &options).and_then(|stream| {
            stream.set_nodelay(true)?;
            self.handle.add_stream(stream)
        });
        match stream {
            Ok((stream, address)) => {
                self.streams.0.push((stream, address));
                self.set_way(Remote::Tcp(stream), address);
                self.complete();
            }
            Err(error) => self.retry_later(&format!("cannot connect to {address}: {error}")),
        }
    }

    /// Accepts connections. They are the peer's once an authentic packet comes from there.
    pub(super) fn accept(&mut self) {
        while let Some(Ok((stream, address))) = self.listener.as_ref().map(TcpListener::accept) {
            if !self.may_be_at(address, Transport::Tcp) || stream.set_nodelay(true).is_err() {
                continue;
            }
            if self.streams.0.len() >= MAX_STREAMS {
                let way = self.way;
                let oldest =
                    self.streams.0.iter().position(|(id, _)| way != Some(Remote::Tcp(*id)));
                if let Some(oldest) = oldest {
                    let (oldest, _) = self.streams.0.remove(oldest);
                    self.handle.close_stream(oldest);
                }
            }
            if let Ok((stream, address)) = self.handle.add_stream(stream) {
                self.streams.0.push((stream, address));
            }
        }
    }

    /// Returns whether the peer may be at this address.
    fn may_be_at(&self, address: SocketAddr, transport: Transport) -> bool {
        let is = |known: &SocketAddr| {
            known.ip() == address.ip().to_canonical()
                && (transport == Transport::Tcp || known.port() == address.port())
        };
        let link = &self.config.common.link;
        self.config.remotes.is_empty() || link.float || self.addresses.iter().any(is)
    }

    /// Follows the peer to the address of its latest authentic packet, if it may be there.
    pub(super) fn came_from(&mut self, from: Remote) {
        let (address, transport) = match from {
            Remote::Udp { endpoint, .. } => (endpoint.remote, Transport::Udp),
            Remote::Tcp(stream) => match self.streams.0.iter().find(|(id, _)| *id == stream) {
                Some((_, address)) => (*address, Transport::Tcp),
                None => return,
            },
        };
        if !self.may_be_at(address, transport) {
            self.say(3, &format!("the peer is at {address}, which is not an address of `remote`"));
            return;
        }
        self.say(1, &format!("the peer is at {address}"));
        self.set_way(from, address);
        self.complete();
    }

    fn set_way(&mut self, way: Remote, address: SocketAddr) {
        if let Some(Remote::Tcp(old)) = self.way.filter(|old| *old != way) {
            self.streams.0.retain(|(id, _)| *id != old);
            self.handle.close_stream(old);
        }
        self.way = Some(way);
        self.address = Some(address);
        self.handle.set_remote(PEER, way);
    }

    /// Forgets where the peer is, and closes its connection.
    pub(super) fn forget_way(&mut self) {
        if let Some(Remote::Tcp(stream)) = self.way {
            self.streams.0.retain(|(id, _)| *id != stream);
            self.handle.close_stream(stream);
        }
        if self.config.remotes.is_empty() || self.config.listens {
            // The next authentic packet shows it, also if it comes from the same address.
            let endpoint =
                Endpoint { remote: SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0), local: None };
            self.handle.set_remote(PEER, Remote::Udp { group: 0, endpoint });
        }
        self.way = None;
        self.address = None;
    }

    /// Notes that a connection has ended.
    pub(super) fn closed(&mut self, stream: StreamId, now: Now) {
        self.streams.0.retain(|(id, _)| *id != stream);
        if self.way == Some(Remote::Tcp(stream)) {
            self.say(1, "the peer closed the connection");
            self.state("RECONNECTING", "connection-reset");
            (self.is_up, self.since) = (false, now.monotonic);
            self.forget_way();
            if !self.config.listens {
                self.retry_later("connecting again");
            }
        }
    }
}

/// Returns the peer's addresses of the configured family.
pub(super) fn resolve(config: &StaticTunnel) -> VecDeque<SocketAddr> {
    let family = config.common.link.protocol.family;
    let names = config.remotes.iter();
    names
        .filter_map(|(host, port)| (host.as_str(), *port).to_socket_addrs().ok())
        .flatten()
        .filter(|address| match family {
            Family::Any => true,
            Family::V4 => address.is_ipv4(),
            Family::V6 => address.is_ipv6(),
        })
        .collect()
}

/// Returns the addresses that this end binds to.
fn local_addresses(config: &StaticTunnel) -> Result<Vec<SocketAddr>, Failure> {
    let link = &config.common.link;
    let port = match link.bind {
        Bind::Unbound => 0,
        Bind::Default | Bind::Bound { .. } => link.local_port.unwrap_or(0),
    };
    let (v4, v6) = (IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED));
    let fits = |address: &SocketAddr| match link.protocol.family {
        Family::Any => true,
        Family::V4 => address.is_ipv4(),
        Family::V6 => address.is_ipv6(),
    };
    let all: Vec<SocketAddr> = match link.local.as_deref().filter(|host| *host != "*") {
        None => [v4, v6].map(|ip| SocketAddr::new(ip, port)).into_iter().filter(fits).collect(),
        Some(host) => {
            let failed =
                |error: &dyn std::fmt::Display| Failure::new(format!("local {host}: {error}"));
            let found = (host, port).to_socket_addrs().map_err(|error| failed(&error))?;
            let first = found.into_iter().find(fits);
            vec![first.ok_or_else(|| failed(&"it has no address of this family"))?]
        }
    };
    Ok(all)
}

/// Binds the UDP sockets. Returns a group for each family, and whether it is IPv6.
pub(super) fn bind(
    config: &StaticTunnel,
    threads: usize,
) -> Result<(Vec<Vec<UdpSocket>>, Vec<bool>), Failure> {
    let (mut groups, mut families) = (Vec::new(), Vec::new());
    if config.common.link.protocol.transport == Transport::Tcp {
        return Ok((groups, families));
    }
    let options = socket_options(&config.common, &config.common.link);
    for address in local_addresses(config)? {
        match udp::bind(address, threads, &options) {
            Ok(sockets) => {
                groups.push(sockets);
                families.push(address.is_ipv6());
            }
            // IPv6 may be unavailable.
            Err(_) if address.is_ipv6() && !groups.is_empty() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok((groups, families))
}

/// Returns the socket that accepts the peer's connections, if it connects to this end.
pub(super) fn listener(config: &StaticTunnel) -> Result<Option<TcpListener>, Failure> {
    if !config.listens {
        return Ok(None);
    }
    let addresses = local_addresses(config)?;
    let failed = |error: std::io::Error| Failure::new(format!("cannot listen on TCP: {error}"));
    let listener = TcpListener::bind(&addresses[..]).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(Some(listener))
}
