//! A peer of the data path: its keys, address and counters.

use std::sync::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use super::{PeerId, Remote};
use crate::proto::data::{Opener, Sealer};
use crate::proto::wire::KeyId;

/// Number of keys accepted for receiving: the current, the previous and the next one.
const MAX_OPENERS: usize = 3;

/// A peer, shared by all threads.
pub(super) struct Peer {
    pub(super) id: PeerId,
    sending: RwLock<Sending>,
    receiving: Mutex<Receiving>,
    pub(super) sent: Flow,
    pub(super) received: Flow,
    /// Maximum length of packets of inner TCP connections; zero is unlimited.
    largest_tcp: AtomicU16,
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
    /// The new address that was last reported to the control thread.
    reported: Option<Remote>,
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
                remote,
                reported: None,
                compressed: false,
            }),
            sent: Flow::default(),
            received: Flow::default(),
            largest_tcp: AtomicU16::new(0),
        }
    }

    // The locked data is consistent at every moment, so lock poisoning can be ignored.

    pub(super) fn sending(&self) -> RwLockReadGuard<'_, Sending> {
        self.sending.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn receiving(&self) -> MutexGuard<'_, Receiving> {
        self.receiving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change_sending(&self, change: impl FnOnce(&mut Sending)) {
        change(&mut self.sending.write().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn remote(&self) -> Remote {
        self.sending().remote
    }

    pub(super) fn move_to(&self, remote: Remote) {
        self.change_sending(|sending| sending.remote = remote);
        let mut receiving = self.receiving();
        receiving.remote = remote;
        receiving.reported = None;
    }

    pub(super) fn take_under(&self, key_id: KeyId, opener: Opener) {
        let mut receiving = self.receiving();
        receiving.openers.retain(|(id, _)| *id != key_id);
        if receiving.openers.len() == MAX_OPENERS {
            receiving.openers.remove(0);
        }
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

    /// Returns whether an authentic packet from this address is the first sign that the peer has
    /// moved.
    pub(super) fn moved(&mut self, from: Remote) -> bool {
        let from = from.peer_only();
        let moved = from != self.remote.peer_only() && self.reported != Some(from);
        if moved {
            self.reported = Some(from);
        }
        moved
    }
}
