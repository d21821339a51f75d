//! A point-to-point server: the allowed addresses of its peer, and the notifications that a server
//! for many sends per client.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use super::Program;
use crate::config;
use crate::proto::server::{PeerId, ServerEnd};
use crate::proto::{Error, Transport};
use crate::service::hooks::Environment;
use crate::service::status::Counters;

/// The minimum interval between name lookups.
const RESOLVE_INTERVAL: Duration = Duration::from_secs(60);

/// The allowed addresses of the single peer, from `remote`.
#[derive(Debug)]
pub(super) struct Remotes {
    names: Vec<(String, u16)>,
    addresses: Vec<SocketAddr>,
    /// `float`: the peer may also connect from other addresses.
    floats: bool,
    /// Earliest time of the next lookup, triggered by a connection from an unknown address.
    next: Duration,
}

impl Remotes {
    /// Returns `None` without `remote`.
    pub(super) fn of(config: &config::Server, now: Duration) -> Option<Self> {
        if config.many || config.remotes.is_empty() {
            return None;
        }
        let (names, floats) = (config.remotes.clone(), config.common.link.float);
        let mut remotes = Self { names, addresses: Vec::new(), floats, next: now };
        remotes.resolve(now);
        Some(remotes)
    }

    /// Returns the expected address of the peer, for routes.
    pub(super) fn first(&self) -> Option<IpAddr> {
        self.addresses.first().map(SocketAddr::ip)
    }

    /// Resolves the names again. A name that fails to resolve keeps its addresses.
    fn resolve(&mut self, now: Duration) {
        self.next = now + RESOLVE_INTERVAL;
        let names = self.names.iter();
        let found: Vec<SocketAddr> = names
            .filter_map(|(host, port)| (host.as_str(), *port).to_socket_addrs().ok())
            .flatten()
            .collect();
        if !found.is_empty() {
            self.addresses = found;
        }
    }

    /// Returns whether the peer may have this address. Over TCP any port is allowed.
    pub(super) fn allow(&mut self, from: SocketAddr, transport: Transport, now: Duration) -> bool {
        let is = |known: &SocketAddr| {
            known.ip() == from.ip().to_canonical()
                && (transport == Transport::Tcp || known.port() == from.port())
        };
        if self.floats || self.addresses.iter().any(is) {
            return true;
        }
        if now < self.next {
            return false;
        }
        self.resolve(now);
        self.addresses.iter().any(is)
    }
}

impl Program<'_> {
    /// Returns whether a peer at this address may connect or is already connected.
    pub(super) fn may_come(&mut self, from: SocketAddr, transport: Transport) -> bool {
        let now = self.context.clock.now().monotonic;
        let Some(remotes) = &mut self.remotes else { return true };
        let is_here = self.peers.values().any(|peer| peer.address == from);
        let may = is_here || remotes.allow(from, transport, now);
        if !may {
            self.say(4, &format!("{from} is not an address of `remote`"));
        }
        may
    }

    /// Reports that the tunnel is up, which completes the start.
    pub(super) fn joined(&mut self, address: SocketAddr, environment: Environment) {
        let command = self.config.common.hooks.ip_change.as_ref();
        self.context.tell_address(command, address, environment);
        self.say(0, "Initialization Sequence Completed");
        self.state("CONNECTED", "SUCCESS");
        self.context.notify.status(&format!("connected to {address}"));
    }

    /// Prepares for the next peer after one has left, unless the program is to end.
    pub(super) fn left(&mut self, end: &ServerEnd) {
        if self.finished || self.up().is_some() {
            return;
        }
        self.alone_since = self.context.clock.now().monotonic;
        let silent = matches!(end, ServerEnd::Failed(Error::TimedOut(_)));
        self.finished = silent && self.config.common.timing.ping_exit.is_some();
        if self.finished {
            return;
        }
        let why = match end {
            ServerEnd::Exit => "remote-exit",
            _ if silent => "ping-restart",
            _ => "connection-reset",
        };
        self.state("RECONNECTING", why);
        self.await_peer();
    }

    pub(super) fn await_peer(&mut self) {
        self.state("WAIT", "");
        self.context.notify.status("waiting for the peer");
    }

    /// Returns when to exit without a peer: `ping-exit`, without `ping-timer-rem`.
    pub(super) fn patience(&self) -> Option<Duration> {
        let timing = &self.config.common.timing;
        let exit = timing.ping_exit.filter(|_| !self.config.many && !timing.ping_timer_needs_peer);
        exit.filter(|_| self.up().is_none()).map(|exit| self.alone_since + exit)
    }

    /// Returns the peer whose tunnel is up.
    pub(super) fn up(&self) -> Option<PeerId> {
        self.peers.iter().find(|(_, peer)| peer.cipher.is_some()).map(|(id, _)| *id)
    }

    /// Returns the traffic totals since the start.
    pub(super) fn totals(&self) -> Counters {
        let now = self.up().and_then(|id| self.handle.counters(id.0)).map(Counters::from);
        self.passed + now.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remotes(text: &str) -> Option<Remotes> {
        let mut config = config::Server {
            remotes: vec![("192.0.2.1".to_owned(), 1194), ("2001:db8::1".to_owned(), 5000)],
            many: text.contains("many"),
            ..config::Server::default()
        };
        config.common.link.float = text.contains("float");
        Remotes::of(&config, Duration::ZERO)
    }

    #[test]
    fn remote_and_float_restrict_the_peer_address() {
        let mut one = remotes("").unwrap();
        for (from, udp, tcp) in [
            ("192.0.2.1:1194", true, true),
            ("[::ffff:192.0.2.1]:1194", true, true),
            ("192.0.2.1:5000", false, true),
            ("[2001:db8::1]:5000", true, true),
            ("192.0.2.2:1194", false, false),
        ] {
            let from: SocketAddr = from.parse().unwrap();
            for now in [Duration::ZERO, RESOLVE_INTERVAL] {
                assert_eq!(one.allow(from, Transport::Udp, now), udp, "{from}");
                assert_eq!(one.allow(from, Transport::Tcp, now), tcp, "{from}");
            }
        }
        let anywhere = "198.51.100.1:9".parse().unwrap();
        assert!(remotes("float").unwrap().allow(anywhere, Transport::Udp, Duration::ZERO));
        assert!(remotes("many").is_none());
    }
}
