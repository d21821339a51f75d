//! The table of peers by id, address and inner address. The control thread replaces the table as a
//! whole; workers use a snapshot and check once per batch whether it is the latest.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::peer::Peer;
use super::{PeerId, Remote, StreamId};
use crate::net::tcp::PacketStream;
use crate::net::udp::UdpSocket;

/// A value that one thread replaces and other threads read through snapshots.
#[derive(Debug, Default)]
pub(super) struct Published<T> {
    generation: AtomicU64,
    value: Mutex<Arc<T>>,
}

/// A snapshot and its generation.
#[derive(Debug)]
pub(super) struct Snapshot<T> {
    generation: u64,
    value: Arc<T>,
}

impl<T: Clone> Published<T> {
    /// Returns the latest value.
    pub(super) fn current(&self) -> Arc<T> {
        Arc::clone(&self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns a snapshot that can be refreshed.
    pub(super) fn snapshot(&self) -> Snapshot<T> {
        let generation = self.generation.load(Ordering::Acquire);
        Snapshot { generation, value: self.current() }
    }

    /// Replaces the value with a changed copy.
    pub(super) fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(Arc::make_mut(&mut value));
        self.generation.fetch_add(1, Ordering::Release);
        result
    }
}

impl<T: Clone> Snapshot<T> {
    /// Returns the latest value. Checks for a newer one without a lock.
    pub(super) fn latest(&mut self, published: &Published<T>) -> &Arc<T> {
        if self.generation != published.generation.load(Ordering::Acquire) {
            *self = published.snapshot();
        }
        &self.value
    }

    /// Returns the latest value if it is newer than the snapshot.
    pub(super) fn newer(&mut self, published: &Published<T>) -> Option<&Arc<T>> {
        let before = self.generation;
        self.latest(published);
        (self.generation != before).then_some(&self.value)
    }
}

/// The peers.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    peers: HashMap<PeerId, Arc<Peer>>,
    by_remote: HashMap<Remote, PeerId>,
    networks: Networks,
    streams: HashMap<StreamId, Arc<PacketStream>>,
    /// Groups of sockets by index: one socket for each worker.
    groups: Vec<(usize, Arc<[UdpSocket]>)>,
}

impl Table {
    /// Returns whether it replaces an earlier peer with its id.
    pub(super) fn add_peer(&mut self, peer: Arc<Peer>) -> bool {
        let replaces = self.remove_peer(peer.id);
        self.by_remote.insert(peer.remote().peer_only(), peer.id);
        self.peers.insert(peer.id, peer);
        replaces
    }

    /// Returns whether there was such a peer.
    pub(super) fn remove_peer(&mut self, id: PeerId) -> bool {
        let is_known = self.peers.remove(&id).is_some();
        if is_known {
            self.by_remote.retain(|_, other| *other != id);
            self.networks.remove(id);
        }
        is_known
    }

    pub(super) fn move_peer(&mut self, id: PeerId, remote: Remote) {
        if let Some(peer) = self.peers.get(&id).cloned() {
            // The peer may already be answered elsewhere.
            self.by_remote.retain(|_, other| *other != id);
            self.by_remote.insert(remote.peer_only(), id);
            peer.move_to(remote);
        }
    }

    pub(super) fn set_routes(&mut self, id: PeerId, networks: &[(IpAddr, u8)]) {
        self.networks.remove(id);
        if self.peers.contains_key(&id) {
            networks.iter().for_each(|&(address, bits)| self.networks.add(address, bits, id));
        }
    }

    pub(super) fn add_stream(&mut self, id: StreamId, stream: Arc<PacketStream>) {
        self.streams.insert(id, stream);
    }

    pub(super) fn remove_stream(&mut self, id: StreamId) -> Option<Arc<PacketStream>> {
        self.streams.remove(&id)
    }

    pub(super) fn peer(&self, id: PeerId) -> Option<&Arc<Peer>> {
        self.peers.get(&id)
    }

    /// Returns the single peer in point-to-point mode.
    pub(super) fn only(&self) -> Option<&Arc<Peer>> {
        self.peers.values().next()
    }

    /// Returns all peers.
    pub(super) fn peers(&self) -> impl Iterator<Item = &Arc<Peer>> {
        self.peers.values()
    }

    /// Returns the peer at this address.
    pub(super) fn at(&self, remote: Remote) -> Option<&Arc<Peer>> {
        self.peers.get(self.by_remote.get(&remote.peer_only())?)
    }

    pub(super) fn add_group(&mut self, group: usize, sockets: Arc<[UdpSocket]>) {
        self.groups.push((group, sockets));
    }

    pub(super) fn remove_group(&mut self, group: usize) {
        self.groups.retain(|(index, _)| *index != group);
    }

    /// Returns the sockets of a group. There are few groups.
    pub(super) fn group(&self, group: usize) -> Option<&Arc<[UdpSocket]>> {
        self.groups.iter().find(|(index, _)| *index == group).map(|(_, sockets)| sockets)
    }

    /// Returns the peer that has an inner address.
    pub(super) fn with_address(&self, address: IpAddr) -> Option<&Arc<Peer>> {
        self.peers.get(&self.networks.find(address)?)
    }

    pub(super) fn stream(&self, id: StreamId) -> Option<&Arc<PacketStream>> {
        self.streams.get(&id)
    }
}

/// The networks of all peers: for each prefix length in use, longest first, a map from prefix to
/// peer. A server has few lengths: full length for clients, and some for networks behind them.
#[derive(Clone, Debug, Default)]
struct Networks {
    v4: Vec<(u8, HashMap<u128, PeerId>)>,
    v6: Vec<(u8, HashMap<u128, PeerId>)>,
}

/// Returns an address's bits, left-aligned.
fn bits_of(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Returns the first `length` of 128 bits.
fn prefix(bits: u128, length: u8) -> u128 {
    bits & u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0)
}

impl Networks {
    fn add(&mut self, address: IpAddr, length: u8, peer: PeerId) {
        let (lengths, all) = match address {
            IpAddr::V4(_) => (&mut self.v4, 32),
            IpAddr::V6(_) => (&mut self.v6, 128),
        };
        let length = length.min(all);
        // Sorted by length, longest first.
        let at = lengths.binary_search_by(|(other, _)| length.cmp(other)).unwrap_or_else(|at| {
            lengths.insert(at, (length, HashMap::new()));
            at
        });
        lengths[at].1.insert(prefix(bits_of(address), length), peer);
    }

    fn remove(&mut self, peer: PeerId) {
        for lengths in [&mut self.v4, &mut self.v6] {
            lengths.iter_mut().for_each(|(_, peers)| peers.retain(|_, other| *other != peer));
            lengths.retain(|(_, peers)| !peers.is_empty());
        }
    }

    fn find(&self, address: IpAddr) -> Option<PeerId> {
        let lengths = if address.is_ipv4() { &self.v4 } else { &self.v6 };
        let bits = bits_of(address);
        lengths.iter().find_map(|(length, peers)| peers.get(&prefix(bits, *length)).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::udp::Endpoint;
    use proptest::prelude::*;

    fn remote(port: u16) -> Remote {
        let remote = ([192, 0, 2, 1], port).into();
        Remote::Udp { group: 0, endpoint: Endpoint { remote, local: None } }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_longest_prefix_wins() {
        let mut table = Table::default();
        for id in 1..=3 {
            table.add_peer(Arc::new(Peer::new(id, remote(id as u16))));
        }
        table.set_routes(1, &[(address("10.8.0.2"), 32), (address("fd00::2"), 128)]);
        table.set_routes(2, &[(address("10.8.0.9"), 24), (address("0.0.0.0"), 0)]);
        table.set_routes(3, &[(address("10.8.0.3"), 32), (address("fd00::"), 64)]);
        table.set_routes(4, &[(address("10.8.0.4"), 32)]);
        let with = |table: &Table, text| table.with_address(address(text)).map(|peer| peer.id);
        for (inner, peer) in [
            ("10.8.0.2", Some(1)),
            ("10.8.0.3", Some(3)),
            ("10.8.0.4", Some(2)),
            ("10.9.0.2", Some(2)),
            ("fd00::2", Some(1)),
            ("fd00::3", Some(3)),
            ("fd01::2", None),
        ] {
            assert_eq!(with(&table, inner), peer, "{inner}");
        }
        table.remove_peer(1);
        assert_eq!(with(&table, "10.8.0.2"), Some(2));
        assert_eq!(with(&table, "fd00::2"), Some(3));
        table.set_routes(2, &[]);
        assert_eq!(with(&table, "10.8.0.2"), None);
    }

    #[test]
    fn a_moved_peer_is_found_only_at_its_new_address() {
        let mut table = Table::default();
        table.add_peer(Arc::new(Peer::new(1, remote(1))));
        table.add_peer(Arc::new(Peer::new(2, remote(2))));
        table.move_peer(1, remote(3));
        let at = |port| table.at(remote(port)).map(|peer| peer.id);
        assert_eq!([at(1), at(2), at(3)], [None, Some(2), Some(1)]);
        assert_eq!(table.peer(1).unwrap().remote(), remote(3));
    }

    #[test]
    fn a_snapshot_refreshes() {
        let published = Published::<Table>::default();
        let mut snapshot = published.snapshot();
        published.update(|table| table.add_peer(Arc::new(Peer::new(7, remote(1)))));
        assert!(snapshot.newer(&published).is_some_and(|table| table.peer(7).is_some()));
        assert!(snapshot.newer(&published).is_none(), "unchanged since the last look");
        published.update(|table| table.remove_peer(7));
        assert!(snapshot.latest(&published).peer(7).is_none());
        assert!(snapshot.newer(&published).is_none());
    }

    proptest! {
        /// Compares with the obvious model: the longest of all networks that contain the address.
        #[test]
        fn networks_agree_with_a_list(
            networks in prop::collection::vec((any::<u8>(), 0_u8..=32), 0..20),
            wanted in any::<u8>(),
        ) {
            // Addresses vary in few high and low bits, so that networks overlap.
            let spread = |byte: u8| u32::from(byte >> 4) << 28 | u32::from(byte & 15);
            let mut ours = Networks::default();
            let mut list = Vec::new();
            for (peer, &(byte, length)) in networks.iter().enumerate() {
                let bits = spread(byte);
                ours.add(IpAddr::V4(bits.into()), length, peer as PeerId);
                list.push((bits, length, peer as PeerId));
            }
            let bits = spread(wanted);
            let mask = |length| u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            let expected = list
                .iter()
                .filter(|(network, length, _)| (network ^ bits) & mask(*length) == 0)
                .max_by_key(|(_, length, peer)| (*length, *peer))
                .map(|(_, _, peer)| *peer);
            prop_assert_eq!(ours.find(IpAddr::V4(bits.into())), expected);
        }
    }
}
