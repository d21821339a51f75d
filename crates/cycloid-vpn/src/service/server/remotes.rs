//! The addresses that a point-to-point server allows for its peer.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use crate::config;
use crate::proto::Transport;

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
