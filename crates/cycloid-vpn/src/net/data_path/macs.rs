//! The hardware addresses behind each peer of a server whose tunnel carries Ethernet.
//!
//! A peer has an address from the frame on in which it is the source. An address that another peer
//! uses moves there. Each peer has a limited number: a further one replaces its earliest, and frames
//! to that one go to all peers until it is used again. So a flood of addresses needs neither memory
//! nor time.

use std::collections::{BTreeMap, HashMap};

use super::PeerId;
use super::ethernet::Mac;

/// The default of `max-routes-per-client`.
const MOST: usize = 256;

/// The addresses of all peers.
#[derive(Debug)]
pub(super) struct Macs {
    /// The most addresses of a peer.
    most: usize,
    /// The peer of each address, and the number of the event in which it was learned.
    owners: HashMap<Mac, (PeerId, u64)>,
    /// The addresses of each peer, by that number.
    peers: HashMap<PeerId, BTreeMap<u64, Mac>>,
    /// The number of events.
    events: u64,
}

impl Default for Macs {
    fn default() -> Self {
        Self { most: MOST, owners: HashMap::new(), peers: HashMap::new(), events: 0 }
    }
}

impl Macs {
    /// Limits the addresses of each peer, at least to one.
    pub(super) fn limit(&mut self, most: usize) {
        self.most = most.max(1);
    }

    /// Adds a peer without addresses. Only peers that were added have addresses: a thread may still
    /// learn one for a peer that has just left.
    pub(super) fn add_peer(&mut self, peer: PeerId) {
        self.remove_peer(peer);
        self.peers.insert(peer, BTreeMap::new());
    }

    pub(super) fn remove_peer(&mut self, peer: PeerId) {
        for mac in self.peers.remove(&peer).into_iter().flat_map(BTreeMap::into_values) {
            self.owners.remove(&mac);
        }
    }

    /// Forgets an address.
    pub(super) fn forget(&mut self, mac: Mac) {
        if let Some((peer, at)) = self.owners.remove(&mac)
            && let Some(own) = self.peers.get_mut(&peer)
        {
            own.remove(&at);
        }
    }

    /// Returns the peer with this address.
    pub(super) fn find(&self, mac: Mac) -> Option<PeerId> {
        self.owners.get(&mac).map(|(peer, _)| *peer)
    }

    /// Returns the addresses of a peer, in the order in which they were learned.
    pub(super) fn of(&self, peer: PeerId) -> Vec<Mac> {
        self.peers.get(&peer).into_iter().flat_map(BTreeMap::values).copied().collect()
    }

    /// Records that a peer uses an address.
    pub(super) fn learn(&mut self, peer: PeerId, mac: Mac) {
        if self.find(mac) == Some(peer) || !self.peers.contains_key(&peer) {
            return;
        }
        self.events += 1;
        let number = self.events;
        self.forget(mac);
        self.owners.insert(mac, (peer, number));
        if let Some(own) = self.peers.get_mut(&peer) {
            own.insert(number, mac);
            if own.len() > self.most
                && let Some((_, earliest)) = own.pop_first()
            {
                self.owners.remove(&earliest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mac(number: u8) -> Mac {
        Mac([2, 0, 0, 0, 0, number])
    }

    #[test]
    fn an_address_moves_to_the_peer_that_uses_it() {
        let mut macs = Macs::default();
        macs.add_peer(1);
        macs.add_peer(2);
        macs.learn(1, mac(7));
        assert_eq!(macs.find(mac(7)), Some(1));
        macs.learn(2, mac(7));
        assert_eq!((macs.find(mac(7)), macs.of(1), macs.of(2)), (Some(2), vec![], vec![mac(7)]));
        macs.learn(3, mac(7));
        macs.learn(3, mac(8));
        assert_eq!((macs.find(mac(7)), macs.find(mac(8))), (Some(2), None), "it is no peer");
        macs.remove_peer(2);
        assert_eq!(macs.find(mac(7)), None);
    }

    #[test]
    fn a_flood_of_addresses_takes_no_more_than_its_share() {
        let mut macs = Macs::default();
        macs.limit(10);
        macs.add_peer(1);
        macs.add_peer(2);
        macs.learn(1, Mac([2; 6]));
        for number in 0_u32..100_000 {
            let [_, a, b, c] = number.to_be_bytes();
            macs.learn(2, Mac([4, 0, 0, a, b, c]));
        }
        assert_eq!((macs.owners.len(), macs.of(2).len()), (11, 10));
        assert_eq!(macs.find(Mac([2; 6])), Some(1), "the other peer keeps its address");
        let [_, a, b, c] = 99_999_u32.to_be_bytes();
        assert_eq!(macs.find(Mac([4, 0, 0, a, b, c])), Some(2), "the latest one is known");
    }

    #[derive(Clone, Debug)]
    enum Event {
        Add(PeerId),
        Remove(PeerId),
        Learn(PeerId, u8),
        Forget(u8),
    }

    fn event() -> impl Strategy<Value = Event> {
        let peer = 0_u32..4;
        prop_oneof![
            1 => peer.clone().prop_map(Event::Add),
            1 => peer.clone().prop_map(Event::Remove),
            8 => (peer, 0_u8..12).prop_map(|(peer, number)| Event::Learn(peer, number)),
            1 => (0_u8..12).prop_map(Event::Forget),
        ]
    }

    proptest! {
        /// Compares with the obvious model: a list of pairs, in the order in which they were
        /// learned.
        #[test]
        fn addresses_agree_with_a_list(
            most in 1_usize..5,
            events in prop::collection::vec(event(), 0..100),
        ) {
            let mut macs = Macs::default();
            macs.limit(most);
            let mut peers = Vec::new();
            let mut list: Vec<(PeerId, Mac)> = Vec::new();
            for event in events {
                match event {
                    Event::Add(peer) => {
                        macs.add_peer(peer);
                        list.retain(|(other, _)| *other != peer);
                        peers.push(peer);
                    }
                    Event::Remove(peer) => {
                        macs.remove_peer(peer);
                        list.retain(|(other, _)| *other != peer);
                        peers.retain(|other| *other != peer);
                    }
                    Event::Forget(number) => {
                        macs.forget(mac(number));
                        list.retain(|(_, other)| *other != mac(number));
                    }
                    Event::Learn(peer, number) => {
                        macs.learn(peer, mac(number));
                        if !peers.contains(&peer) || list.contains(&(peer, mac(number))) {
                            continue;
                        }
                        list.retain(|(_, other)| *other != mac(number));
                        list.push((peer, mac(number)));
                        let own = |(other, _): &&(PeerId, Mac)| *other == peer;
                        if list.iter().filter(own).count() > most {
                            let first = list.iter().position(|it| it.0 == peer).unwrap();
                            list.remove(first);
                        }
                    }
                }
                for number in 0..12 {
                    let owner = list.iter().find(|(_, other)| *other == mac(number));
                    prop_assert_eq!(macs.find(mac(number)), owner.map(|(peer, _)| *peer));
                }
                for peer in 0..4 {
                    let own = list.iter().filter(|(other, _)| *other == peer);
                    prop_assert_eq!(macs.of(peer), own.map(|(_, mac)| *mac).collect::<Vec<_>>());
                }
                prop_assert_eq!(macs.owners.len(), list.len());
            }
        }
    }
}
