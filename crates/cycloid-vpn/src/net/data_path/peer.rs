//! A peer of the data path: its keys, address and counters.

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use super::pacer::Pacer;
use super::vlan::VlanId;
use super::{PeerId, Remote};
use crate::net::nat::Rule;
use crate::proto::data::{Opener, Sealer};
use crate::proto::wire::KeyId;

/// The minimum interval between two moves of a peer, on average, and the number of moves that may
/// follow each other at once. A peer whose packets come from two paths does not occupy the control
/// thread.
const MOVE_INTERVAL: Duration = Duration::from_secs(1);
const MOVES_AT_ONCE: u32 = 3;

/// Number of keys accepted for receiving: the current, the previous and the next one.
const MAX_OPENERS: usize = 3;

/// A peer, shared by all threads.
pub(super) struct Peer {
    pub(super) id: PeerId,
    sending: RwLock<Sending>,
    receiving: Mutex<Receiving>,
    pacer: Mutex<Pacer>,
    pub(super) sent: Flow,
    pub(super) received: Flow,
    /// Maximum length of packets of inner TCP connections; zero is unlimited.
    largest_tcp: AtomicU16,
    /// Its VLAN; zero without VLANs.
    vlan: AtomicU16,
    /// The translation of inner addresses, and whether there is any.
    nat: RwLock<Arc<[Rule]>>,
    has_nat: AtomicBool,
}

/// A peer's sending state.
pub(super) struct Sending {
    pub(super) key: Option<(KeyId, Arc<Sealer>)>,
    pub(super) remote: Remote,
}

/// A peer's receiving state.
pub(super) struct Receiving {
    /// The keys, latest last.
    openers: Vec<(KeyId, Opener)>,
    remote: Remote,
    /// The new address that was last reported to the control thread, and when.
    reported: Option<(Remote, Duration)>,
    /// The time at which the reported moves are used up at the average rate.
    moves_until: Duration,
    /// Whether a compressed packet was reported to the control thread.
    compressed: bool,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The counters of one direction.
#[derive(Debug, Default)]
pub(super) struct Flow {
    packets: AtomicU64,
    bytes: AtomicU64,
    inner_bytes: AtomicU64,
    /// Nanoseconds since the data path started; zero is never.
    last: AtomicU64,
}

/// A peer's data channel traffic. Received packets count only if authentic. Pings count as packets
/// without inner bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes of the datagrams and frames sent.
    pub sent_bytes: u64,
    /// Inner bytes sent.
    pub sent_inner_bytes: u64,
    /// Time since the last packet was sent.
    pub sent_ago: Option<Duration>,
    /// Packets received.
    pub received_packets: u64,
    /// Bytes of the datagrams and frames received.
    pub received_bytes: u64,
    /// Inner bytes received.
    pub received_inner_bytes: u64,
    /// Time since the last packet was received.
    pub received_ago: Option<Duration>,
}

impl Flow {
    /// Counts a batch.
    pub(super) fn add(&self, packets: u64, bytes: u64, inner_bytes: u64, now: Duration) {
        self.packets.fetch_add(packets, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        self.inner_bytes.fetch_add(inner_bytes, Relaxed);
        self.last.store(now.as_nanos() as u64, Relaxed);
    }

    fn ago(&self, now: Duration) -> Option<Duration> {
        let last = self.last.load(Relaxed);
        (last > 0).then(|| now.saturating_sub(Duration::from_nanos(last)))
    }
}

impl Peer {
    pub(super) fn new(id: PeerId, remote: Remote) -> Self {
        Self {
            id,
            sending: RwLock::new(Sending { key: None, remote }),
            receiving: Mutex::new(Receiving {
                openers: Vec::new(),
                remote: remote.peer_only(),
                reported: None,
                moves_until: Duration::ZERO,
                compressed: false,
            }),
            pacer: Mutex::default(),
            sent: Flow::default(),
            received: Flow::default(),
            largest_tcp: AtomicU16::new(0),
            vlan: AtomicU16::new(0),
            nat: RwLock::new(Arc::new([])),
            has_nat: AtomicBool::new(false),
        }
    }

    // The locked data is consistent at every moment, so lock poisoning can be ignored.

    pub(super) fn sending(&self) -> RwLockReadGuard<'_, Sending> {
        self.sending.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn receiving(&self) -> MutexGuard<'_, Receiving> {
        self.receiving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn pacer(&self) -> MutexGuard<'_, Pacer> {
        self.pacer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change_sending(&self, change: impl FnOnce(&mut Sending)) {
        change(&mut self.sending.write().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn remote(&self) -> Remote {
        self.sending().remote
    }

    /// Sends to this address from now on, without a confirmed move.
    pub(super) fn answer_at(&self, remote: Remote) {
        self.change_sending(|sending| sending.remote = remote);
    }

    pub(super) fn move_to(&self, remote: Remote) {
        self.change_sending(|sending| sending.remote = remote);
        let mut receiving = self.receiving();
        receiving.remote = remote.peer_only();
        receiving.reported = None;
    }

    pub(super) fn take_under(&self, key_id: KeyId, opener: Opener) {
        let mut receiving = self.receiving();
        receiving.openers.retain(|(id, _)| *id != key_id);
        if receiving.openers.len() == MAX_OPENERS {
            receiving.openers.remove(0);
        }
        // Most peers have one key most of the time.
        receiving.openers.reserve_exact(1);
        receiving.openers.push((key_id, opener));
    }

    pub(super) fn send_under(&self, key_id: KeyId, sealer: Arc<Sealer>) {
        self.change_sending(|sending| sending.key = Some((key_id, sealer)));
    }

    /// Replaces an exhausted key by that of its next epoch, if there is one.
    pub(super) fn move_on(&self, from: &Arc<Sealer>) -> Option<Arc<Sealer>> {
        let next = from.successor()?;
        self.change_sending(|sending| {
            if let Some((_, sealer)) = &mut sending.key
                && Arc::ptr_eq(sealer, from)
            {
                *sealer = Arc::clone(&next);
            }
        });
        Some(next)
    }

    pub(super) fn retire(&self, key_id: KeyId) {
        self.receiving().openers.retain(|(id, _)| *id != key_id);
        self.change_sending(|sending| {
            sending.key.take_if(|(id, _)| *id == key_id);
        });
    }

    pub(super) fn largest_tcp(&self) -> Option<u16> {
        Some(self.largest_tcp.load(Relaxed)).filter(|&largest| largest > 0)
    }

    pub(super) fn set_largest_tcp(&self, largest: Option<u16>) {
        self.largest_tcp.store(largest.unwrap_or(0), Relaxed);
    }

    pub(super) fn vlan(&self) -> VlanId {
        self.vlan.load(Relaxed)
    }

    pub(super) fn set_vlan(&self, vlan: VlanId) {
        self.vlan.store(vlan, Relaxed);
    }

    /// Returns the rules for the translation of inner addresses, if there are any.
    pub(super) fn nat(&self) -> Option<Arc<[Rule]>> {
        let rules = || Arc::clone(&self.nat.read().unwrap_or_else(PoisonError::into_inner));
        self.has_nat.load(Relaxed).then(rules)
    }

    pub(super) fn set_nat(&self, rules: &[Rule]) {
        *self.nat.write().unwrap_or_else(PoisonError::into_inner) = rules.into();
        self.has_nat.store(!rules.is_empty(), Relaxed);
    }

    /// Returns the counters at a time since the data path started.
    pub(super) fn counters(&self, now: Duration) -> Counters {
        Counters {
            sent_packets: self.sent.packets.load(Relaxed),
            sent_bytes: self.sent.bytes.load(Relaxed),
            sent_inner_bytes: self.sent.inner_bytes.load(Relaxed),
            sent_ago: self.sent.ago(now),
            received_packets: self.received.packets.load(Relaxed),
            received_bytes: self.received.bytes.load(Relaxed),
            received_inner_bytes: self.received.inner_bytes.load(Relaxed),
            received_ago: self.received.ago(now),
        }
    }
}

impl Receiving {
    pub(super) fn opener(&mut self, key_id: KeyId) -> Option<&mut Opener> {
        // The latest key is the most likely one.
        self.openers.iter_mut().rev().find(|(id, _)| *id == key_id).map(|(_, opener)| opener)
    }

    /// Returns whether a compressed packet is the first one of the peer.
    pub(super) fn compresses(&mut self) -> bool {
        !std::mem::replace(&mut self.compressed, true)
    }

    /// Returns whether packets from this address are no sign of a move.
    pub(super) fn is_at(&self, from: Remote) -> bool {
        self.remote == from.peer_only()
    }

    /// Returns whether to report that the peer has moved: the last packet, opened with this key,
    /// came from this address. Only the latest packet under the latest key counts, so that a
    /// delayed one moves nothing. A refused move is reported again after a while.
    pub(super) fn has_moved(&mut self, key_id: KeyId, from: Remote, now: Duration) -> bool {
        let from = from.peer_only();
        let Some(at) = self.openers.iter().rposition(|(id, _)| *id == key_id) else { return false };
        let (earlier, later) = self.openers.split_at(at + 1);
        let is_latest = earlier.last().is_some_and(|(_, opener)| opener.opened_newest())
            && later.iter().all(|(_, opener)| opener.used().0 == 0);
        let is_known =
            self.reported.is_some_and(|(other, at)| other == from && now < at + MOVE_INTERVAL);
        let used = self.moves_until.max(now) + MOVE_INTERVAL;
        if from == self.remote
            || !is_latest
            || is_known
            || used > now + MOVES_AT_ONCE * MOVE_INTERVAL
        {
            return false;
        }
        (self.reported, self.moves_until) = (Some((from, now)), used);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::udp::Endpoint;
    use crate::proto::Role;
    use crate::proto::data::{Cipher, Framing, KeyMaterial, Parameters, keys};
    use zeroize::Zeroizing;

    fn remote(port: u16) -> Remote {
        let remote = ([192, 0, 2, 1], port).into();
        Remote::Udp { group: 0, endpoint: Endpoint { remote, local: None } }
    }

    fn key_id(id: u8) -> KeyId {
        KeyId::new(id).unwrap()
    }

    /// Returns the peer's sealer, after it was given the opener.
    fn key(peer: &Peer, id: u8) -> Arc<Sealer> {
        let parameters = Parameters {
            cipher: Cipher::Aes256Gcm,
            key_id: key_id(id),
            peer_id: Some(1),
            epochs: false,
            framing: Framing::None,
            fragment: None,
            decompress: false,
            replay_window: 64,
        };
        let pair = |role| {
            let material = KeyMaterial::from(Zeroizing::new([id; 256]));
            keys(&material, role, &parameters).unwrap()
        };
        peer.take_under(key_id(id), pair(Role::Server).1);
        pair(Role::Client).0
    }

    fn packet(sealer: &Sealer) -> Vec<u8> {
        let mut packet = vec![0; 100];
        let id = sealer.reserve(1).unwrap().next().unwrap();
        let length = sealer.seal(id, &[b"inner"], &mut packet).unwrap();
        packet.truncate(length);
        packet
    }

    /// Receives a packet from this port. Returns whether it is a move.
    fn receive(peer: &Peer, id: u8, mut packet: Vec<u8>, port: u16, seconds: u64) -> bool {
        let mut receiving = peer.receiving();
        if receiving.opener(key_id(id)).unwrap().open(&mut packet).is_err() {
            return false;
        }
        let now = Duration::from_secs(seconds);
        !receiving.is_at(remote(port)) && receiving.has_moved(key_id(id), remote(port), now)
    }

    #[test]
    fn only_the_latest_authentic_packet_moves_a_peer() {
        let peer = Peer::new(1, remote(1));
        let first = key(&peer, 0);
        let [held, seen, next, forged] = [0; 4].map(|_| packet(&first));
        assert!(!receive(&peer, 0, seen.clone(), 1, 1), "it is where it was");
        assert!(!receive(&peer, 0, seen, 2, 1), "a replay");
        assert!(!receive(&peer, 0, held, 2, 1), "an earlier packet that was held back");
        let mut forged = forged;
        *forged.last_mut().unwrap() ^= 1;
        assert!(!receive(&peer, 0, forged, 2, 1), "not authentic");
        assert!(receive(&peer, 0, next, 2, 1));
        // A packet of the old key is earlier than any of the next key.
        let late = packet(&first);
        let second = key(&peer, 1);
        assert!(receive(&peer, 0, packet(&first), 3, 1), "the next key is not used yet");
        assert!(!receive(&peer, 1, packet(&second), 1, 1));
        assert!(!receive(&peer, 0, late, 4, 1));
        assert!(receive(&peer, 1, packet(&second), 4, 1));
    }

    #[test]
    fn moves_are_limited_and_a_refused_one_is_tried_again() {
        let peer = Peer::new(1, remote(1));
        let sealer = key(&peer, 0);
        let moves = |port, seconds| receive(&peer, 0, packet(&sealer), port, seconds);
        assert!(moves(2, 10));
        assert!(!moves(2, 10), "it was reported just now");
        assert!(moves(2, 11), "it was refused");
        let reported = (0..1000).filter(|number| moves(100 + number % 2, 20)).count();
        assert_eq!(reported, MOVES_AT_ONCE as usize);
        assert!(!moves(102, 20));
        assert!(moves(102, 22));
        peer.move_to(remote(102));
        assert!(!moves(102, 40));
    }
}
