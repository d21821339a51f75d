//! The hardware addresses behind each peer of a server whose tunnel carries Ethernet.
//!
//! A peer has an address from the frame on in which it is the source. An address that another peer
//! of the same VLAN uses moves there. Each peer has a limited number: a further one replaces its
//! earliest, and frames to that one go to all peers until it is used again. So a flood of addresses
//! needs neither memory nor time.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::PeerId;
use super::ethernet::Mac;
use super::vlan::VlanId;

/// The default of `max-routes-per-client`.
const MOST: usize = 256;

/// A hardware address in a VLAN: networks of different VLANs may have the same addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Station {
    pub(super) vlan: VlanId,
    pub(super) mac: Mac,
}

/// As in the status file of OpenVPN 2.6.
impl fmt::Display for Station {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.mac, self.vlan)
    }
}

/// The addresses of all peers.
#[derive(Debug)]
pub(super) struct Macs {
    /// The most addresses of a peer without a limit of its own.
    most: usize,
    owners: HashMap<Station, Owner>,
    peers: HashMap<PeerId, Own>,
    /// The number of events.
    events: u64,
}

/// The peer of an address.
#[derive(Debug)]
struct Owner {
    peer: PeerId,
    /// The number of the event in which it was learned.
    number: u64,
    /// When its last frame came, in milliseconds since the start.
    used: AtomicU64,
}

/// The addresses of a peer, by the numbers of their events.
#[derive(Debug, Default)]
struct Own {
    most: Option<usize>,
    stations: BTreeMap<u64, Station>,
}

impl Default for Macs {
    fn default() -> Self {
        Self { most: MOST, owners: HashMap::new(), peers: HashMap::new(), events: 0 }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Macs {
    /// Limits the addresses of each peer, at least to one.
    pub(super) fn limit(&mut self, most: usize) {
        self.most = most.max(1);
    }

    /// Gives a peer a limit of its own, at least one address.
    pub(super) fn limit_of(&mut self, peer: PeerId, most: usize) {
        if let Some(own) = self.peers.get_mut(&peer) {
            own.most = Some(most.max(1));
        }
    }

    /// Adds a peer without addresses. Only peers that were added have addresses: a thread may still
    /// learn one for a peer that has just left.
    pub(super) fn add_peer(&mut self, peer: PeerId) {
        self.remove_peer(peer);
        self.peers.insert(peer, Own::default());
    }

    pub(super) fn remove_peer(&mut self, peer: PeerId) {
        let own = self.peers.remove(&peer);
        for station in own.into_iter().flat_map(|own| own.stations.into_values()) {
            self.owners.remove(&station);
        }
    }

    /// Forgets an address.
    pub(super) fn forget(&mut self, station: Station) {
        if let Some(owner) = self.owners.remove(&station)
            && let Some(own) = self.peers.get_mut(&owner.peer)
        {
            own.stations.remove(&owner.number);
        }
    }

    /// Forgets the addresses from which no frame came after a time.
    pub(super) fn forget_unused(&mut self, since: Duration) {
        let since = milliseconds(since);
        let is_old = |owner: &Owner| owner.used.load(Relaxed) <= since;
        let old: Vec<Station> =
            self.owners.iter().filter(|it| is_old(it.1)).map(|(station, _)| *station).collect();
        old.into_iter().for_each(|station| self.forget(station));
    }

    /// Returns the peer with this address.
    pub(super) fn find(&self, station: Station) -> Option<PeerId> {
        self.owners.get(&station).map(|owner| owner.peer)
    }

    /// Records that an address is in use. Returns whether the peer is known to have it.
    pub(super) fn is_used_by(&self, peer: PeerId, station: Station, now: Duration) -> bool {
        let owner = self.owners.get(&station).filter(|owner| owner.peer == peer);
        owner.inspect(|owner| owner.used.store(milliseconds(now), Relaxed)).is_some()
    }

    /// Returns the addresses of a peer, in the order in which they were learned.
    pub(super) fn of(&self, peer: PeerId) -> Vec<Station> {
        self.peers.get(&peer).into_iter().flat_map(|own| own.stations.values()).copied().collect()
    }

    /// Records that a peer uses an address.
    pub(super) fn learn(&mut self, peer: PeerId, station: Station, now: Duration) {
        if self.is_used_by(peer, station, now) || !self.peers.contains_key(&peer) {
            return;
        }
        self.events += 1;
        let number = self.events;
        self.forget(station);
        let used = AtomicU64::new(milliseconds(now));
        self.owners.insert(station, Owner { peer, number, used });
        if let Some(own) = self.peers.get_mut(&peer) {
            own.stations.insert(number, station);
            if own.stations.len() > own.most.unwrap_or(self.most)
                && let Some((_, earliest)) = own.stations.pop_first()
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

    const START: Duration = Duration::ZERO;

    /// Returns one of few addresses in two VLANs.
    fn station(number: u8) -> Station {
        Station { vlan: u16::from(number % 2), mac: Mac([2, 0, 0, 0, 0, number / 2]) }
    }

    fn of_bytes(mac: [u8; 6]) -> Station {
        Station { vlan: 0, mac: Mac(mac) }
    }

    #[test]
    fn an_address_moves_to_the_peer_that_uses_it() {
        let mut macs = Macs::default();
        macs.add_peer(1);
        macs.add_peer(2);
        macs.learn(1, station(7), START);
        assert_eq!(macs.find(station(7)), Some(1));
        macs.learn(2, station(7), START);
        let of = [macs.of(1), macs.of(2)];
        assert_eq!((macs.find(station(7)), of), (Some(2), [vec![], vec![station(7)]]));
        macs.learn(3, station(7), START);
        macs.learn(3, station(8), START);
        let found = (macs.find(station(7)), macs.find(station(8)));
        assert_eq!(found, (Some(2), None), "it is no peer");
        macs.remove_peer(2);
        assert_eq!(macs.find(station(7)), None);
    }

    #[test]
    fn an_address_in_two_networks_belongs_to_two_peers() {
        let mut macs = Macs::default();
        let [one, two] = [5, 6].map(|vlan| Station { vlan, mac: Mac([2; 6]) });
        for (peer, station) in [(1, one), (2, two)] {
            macs.add_peer(peer);
            macs.learn(peer, station, START);
        }
        assert_eq!([macs.find(one), macs.find(two)], [Some(1), Some(2)]);
        assert_eq!(macs.find(of_bytes([2; 6])), None);
        let texts = [one, of_bytes([2; 6])].map(|station| station.to_string());
        assert_eq!(texts, ["02:02:02:02:02:02@5", "02:02:02:02:02:02@0"]);
    }

    #[test]
    fn an_address_that_is_not_used_is_forgotten() {
        let at = Duration::from_secs;
        let mut macs = Macs::default();
        macs.add_peer(1);
        macs.learn(1, station(1), at(10));
        macs.learn(1, station(2), at(10));
        assert!(macs.is_used_by(1, station(1), at(20)));
        assert!(!macs.is_used_by(2, station(1), at(90)) && !macs.is_used_by(1, station(9), at(90)));
        macs.forget_unused(at(9));
        assert_eq!(macs.of(1).len(), 2);
        macs.forget_unused(at(10));
        assert_eq!((macs.of(1), macs.find(station(2))), (vec![station(1)], None));
        macs.learn(1, station(1), at(30));
        macs.forget_unused(at(20));
        assert_eq!(macs.of(1), [station(1)]);
        macs.forget_unused(at(30));
        assert_eq!((macs.of(1), macs.owners.len()), (vec![], 0));
    }

    #[test]
    fn a_flood_of_addresses_takes_no_more_than_its_share() {
        let mut macs = Macs::default();
        macs.limit(10);
        macs.add_peer(1);
        macs.add_peer(2);
        macs.add_peer(3);
        macs.limit_of(3, 2);
        macs.learn(1, of_bytes([2; 6]), START);
        for number in 0_u32..100_000 {
            let [_, a, b, c] = number.to_be_bytes();
            macs.learn(2, of_bytes([4, 0, 0, a, b, c]), START);
            macs.learn(3, of_bytes([6, 0, 0, a, b, c]), START);
        }
        assert_eq!((macs.owners.len(), macs.of(2).len(), macs.of(3).len()), (13, 10, 2));
        assert_eq!(macs.find(of_bytes([2; 6])), Some(1), "the other peer keeps its address");
        let [_, a, b, c] = 99_999_u32.to_be_bytes();
        assert_eq!(macs.find(of_bytes([4, 0, 0, a, b, c])), Some(2), "the latest one is known");
    }

    #[derive(Clone, Debug)]
    enum Event {
        Add(PeerId),
        Remove(PeerId),
        Learn(PeerId, u8),
        Forget(u8),
        /// Forgets addresses that are older than so many events.
        Age(u64),
    }

    fn event() -> impl Strategy<Value = Event> {
        let peer = 0_u32..4;
        prop_oneof![
            1 => peer.clone().prop_map(Event::Add),
            1 => peer.clone().prop_map(Event::Remove),
            8 => (peer, 0_u8..12).prop_map(|(peer, number)| Event::Learn(peer, number)),
            1 => (0_u8..12).prop_map(Event::Forget),
            1 => (0_u64..20).prop_map(Event::Age),
        ]
    }

    proptest! {
        /// Compares with the obvious model: a list of pairs and the times of their last uses, in
        /// the order in which they were learned.
        #[test]
        fn addresses_agree_with_a_list(
            most in 1_usize..5,
            events in prop::collection::vec(event(), 0..100),
        ) {
            let mut macs = Macs::default();
            macs.limit(most);
            let mut peers = Vec::new();
            let mut list: Vec<(PeerId, Station, u64)> = Vec::new();
            for (now, event) in (100_u64..).zip(events) {
                match event {
                    Event::Add(peer) => {
                        macs.add_peer(peer);
                        list.retain(|it| it.0 != peer);
                        peers.push(peer);
                    }
                    Event::Remove(peer) => {
                        macs.remove_peer(peer);
                        list.retain(|it| it.0 != peer);
                        peers.retain(|other| *other != peer);
                    }
                    Event::Forget(number) => {
                        macs.forget(station(number));
                        list.retain(|it| it.1 != station(number));
                    }
                    Event::Age(age) => {
                        macs.forget_unused(Duration::from_secs(now - age));
                        list.retain(|it| it.2 > now - age);
                    }
                    Event::Learn(peer, number) => {
                        macs.learn(peer, station(number), Duration::from_secs(now));
                        let known =
                            list.iter_mut().find(|it| (it.0, it.1) == (peer, station(number)));
                        if let Some(known) = known {
                            known.2 = now;
                            continue;
                        }
                        if !peers.contains(&peer) {
                            continue;
                        }
                        list.retain(|it| it.1 != station(number));
                        list.push((peer, station(number), now));
                        if list.iter().filter(|it| it.0 == peer).count() > most {
                            let first = list.iter().position(|it| it.0 == peer).unwrap();
                            list.remove(first);
                        }
                    }
                }
                for number in 0..12 {
                    let owner = list.iter().find(|it| it.1 == station(number));
                    prop_assert_eq!(macs.find(station(number)), owner.map(|it| it.0));
                }
                for peer in 0..4 {
                    let own = list.iter().filter(|it| it.0 == peer);
                    prop_assert_eq!(macs.of(peer), own.map(|it| it.1).collect::<Vec<_>>());
                }
                prop_assert_eq!(macs.owners.len(), list.len());
            }
        }
    }
}
