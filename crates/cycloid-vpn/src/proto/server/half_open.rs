//! Half-open sessions: clients that have returned a cookie and have not shown a certificate yet.
//!
//! Anyone can open them, so their number is limited, apart from that of clients. At the limit a new
//! one evicts a session of the network that has the most of them, there of the address that has the
//! most, and there the least active one. A client that opens many evicts its own sessions.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use super::PeerId;
use super::initial_rate::network;
use crate::proto::Now;

/// Maximum number of half-open sessions.
const MAX_HALF_OPEN: usize = 1024;

/// The half-open sessions.
#[derive(Default)]
pub(super) struct HalfOpen {
    sessions: HashMap<PeerId, Session>,
}

#[derive(Clone, Copy)]
struct Session {
    address: IpAddr,
    /// Time of the last packet.
    heard: Duration,
}

impl HalfOpen {
    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }

    pub(super) fn add(&mut self, peer: PeerId, address: IpAddr, now: Now) {
        let address = address.to_canonical();
        self.sessions.insert(peer, Session { address, heard: now.monotonic });
    }

    /// Records a packet of this session, if it is half-open.
    pub(super) fn heard(&mut self, peer: PeerId, now: Now) {
        if let Some(session) = self.sessions.get_mut(&peer) {
            session.heard = now.monotonic;
        }
    }

    pub(super) fn remove(&mut self, peer: PeerId) {
        self.sessions.remove(&peer);
    }

    /// Returns the session to end before another may be added.
    pub(super) fn evict(&self) -> Option<PeerId> {
        if self.sessions.len() < MAX_HALF_OPEN {
            return None;
        }
        let (mut networks, mut addresses) = (HashMap::new(), HashMap::new());
        for session in self.sessions.values() {
            *networks.entry(network(session.address)).or_insert(0) += 1;
            *addresses.entry(session.address).or_insert(0) += 1;
        }
        let rank = |(peer, it): &(&PeerId, &Session)| {
            let (network, address) = (networks[&network(it.address)], addresses[&it.address]);
            (network, address, Reverse((it.heard, **peer)))
        };
        self.sessions.iter().max_by_key(rank).map(|(peer, _)| *peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Now {
        Now { monotonic: Duration::from_secs(seconds), unix: 0 }
    }

    /// Adds a session, and returns the one that is evicted for it.
    fn add(half_open: &mut HalfOpen, peer: u32, address: &str, seconds: u64) -> Option<u32> {
        let evicted = half_open.evict();
        if let Some(peer) = evicted {
            half_open.remove(peer);
        }
        half_open.add(PeerId(peer), address.parse().unwrap(), at(seconds));
        evicted.map(|peer| peer.0)
    }

    #[test]
    fn whoever_opens_many_sessions_evicts_his_own() {
        let mut half_open = HalfOpen::default();
        let most = MAX_HALF_OPEN as u32;
        assert_eq!(add(&mut half_open, 0, "198.51.100.1", 1), None);
        // A neighbour of the attacker, and the attacker's sessions.
        assert_eq!(add(&mut half_open, 1, "192.0.2.9", 1), None);
        for peer in 2..most {
            assert_eq!(add(&mut half_open, peer, "192.0.2.1", 2), None);
        }
        for peer in most..3 * most {
            assert_eq!(add(&mut half_open, peer, "192.0.2.1", 3), Some(peer - most + 2));
        }
        // Clients from elsewhere have room, and an active session of the attacker's address stays.
        half_open.heard(PeerId(2 * most + 2), at(4));
        assert_eq!(add(&mut half_open, 3 * most, "203.0.113.1", 4), Some(2 * most + 3));
        assert!(
            [0, 1, 3 * most].iter().all(|peer| half_open.sessions.contains_key(&PeerId(*peer)))
        );
        assert_eq!(half_open.len(), MAX_HALF_OPEN);
    }

    #[test]
    fn a_network_with_many_addresses_counts_as_one() {
        let mut half_open = HalfOpen::default();
        for peer in 0..100 {
            add(&mut half_open, peer, "203.0.113.1", 1);
        }
        // Each address of the attacker's network has one session.
        for peer in 100..MAX_HALF_OPEN as u32 {
            add(&mut half_open, peer, &format!("2001:db8::{peer:x}"), 2);
        }
        let evicted = add(&mut half_open, 5000, "203.0.113.2", 3).unwrap();
        assert!((100..5000).contains(&evicted), "{evicted}");
    }
}
