//! A batch of sealed packets for one peer, sent in one call: a train of datagrams of equal length,
//! or frames of a stream.

use std::io;
use std::sync::Arc;

use super::peer::Peer;
use super::shared::Shared;
use super::table::Table;
use super::{Remote, StreamId};
use crate::net::tcp::{self, Written};
use crate::net::udp::{MAX_SEGMENTS, MAX_TRAIN};
use crate::proto::Error;
use crate::proto::data::{PacketIds, Sealer};

/// Maximum number of frame bytes in one write.
const MAX_WRITE: usize = 128 << 10;

/// The longest inner packet with its compression framing.
const LONGEST_FRAMED: usize = u16::MAX as usize + 2;

/// Sealed packets for one peer that are not sent yet.
pub(super) struct Batch {
    worker: usize,
    buffer: Vec<u8>,
    length: usize,
    /// Length of each datagram in the train, except the last.
    segment: usize,
    packets: usize,
    inner_bytes: u64,
    /// Room for a packet that is divided into fragments; empty until there is one.
    framed: Vec<u8>,
    to: Option<(Arc<Peer>, Remote)>,
    /// The stream whose pending data waits for the kernel.
    stalled: Option<StreamId>,
}

impl Batch {
    /// Returns an empty batch that sends through this worker's sockets.
    pub(super) fn new(worker: usize) -> Self {
        Self {
            worker,
            buffer: vec![0; MAX_WRITE],
            length: 0,
            segment: 0,
            packets: 0,
            inner_bytes: 0,
            framed: Vec::new(),
            to: None,
            stalled: None,
        }
    }

    /// Seals an inner packet for a peer.
    pub(super) fn push(&mut self, shared: &Shared, table: &Table, peer: &Arc<Peer>, inner: &[u8]) {
        self.push_all(shared, table, peer, 1, |add| add(inner));
    }

    /// Seals `count` inner packets for a peer, which `produce` passes one by one.
    pub(super) fn push_all(
        &mut self,
        shared: &Shared,
        table: &Table,
        peer: &Arc<Peer>,
        count: u32,
        produce: impl FnOnce(&mut dyn FnMut(&[u8])),
    ) {
        let sending = peer.sending();
        let (remote, sealer) =
            (sending.remote, sending.key.as_ref().map(|(_, key)| Arc::clone(key)));
        drop(sending);
        let Some(sealer) = sealer else {
            shared.drops.keyless.add(count.into());
            return;
        };
        if sealer.has_fragments() {
            self.direct_to(shared, table, peer, remote);
            return produce(&mut |inner| self.add_fragments(shared, table, peer, &sealer, inner));
        }
        let Some((mut ids, sealer)) = reserve(peer, sealer, count) else {
            shared.drops.keyless.add(count.into());
            return;
        };
        self.direct_to(shared, table, peer, remote);
        produce(&mut |inner| {
            // `produce` passes at most `count` packets, so each has an id.
            if let Some(id) = ids.next() {
                let needed = sealer.overhead() + inner.len();
                self.add(shared, table, needed, matches!(remote, Remote::Tcp(_)), inner.len(), {
                    let sealer = &sealer;
                    move |out| sealer.seal(id, &[inner], out)
                });
            }
        });
    }

    /// Begins a new batch if the peer or its address is another one.
    fn direct_to(&mut self, shared: &Shared, table: &Table, peer: &Arc<Peer>, remote: Remote) {
        let same = |(other, at): &(Arc<Peer>, Remote)| Arc::ptr_eq(other, peer) && *at == remote;
        if !self.to.as_ref().is_some_and(same) {
            self.send(shared, table);
            self.to = Some((Arc::clone(peer), remote));
        }
    }

    /// Seals the fragments of an inner packet; only datagrams have them.
    fn add_fragments(
        &mut self,
        shared: &Shared,
        table: &Table,
        peer: &Peer,
        sealer: &Arc<Sealer>,
        inner: &[u8],
    ) {
        let mut room = std::mem::take(&mut self.framed);
        room.resize(LONGEST_FRAMED, 0);
        match sealer.fragments(inner, &mut room) {
            Ok(fragments) => match reserve(peer, Arc::clone(sealer), fragments.len() as u32) {
                Some((ids, sealer)) => {
                    let needed = sealer.overhead();
                    for (index, (id, fragment)) in ids.zip(fragments).enumerate() {
                        let inner_bytes = if index == 0 { inner.len() } else { 0 };
                        let needed = needed + fragment.len();
                        self.add(shared, table, needed, false, inner_bytes, |out| {
                            sealer.seal_fragment(id, fragment, out)
                        });
                    }
                }
                None => shared.drops.keyless.add(1),
            },
            Err(_) => shared.drops.unsent.add(1),
        }
        self.framed = room;
    }

    /// Adds a packet that `seal` writes in at most `needed` bytes.
    fn add(
        &mut self,
        shared: &Shared,
        table: &Table,
        needed: usize,
        framed: bool,
        inner_bytes: usize,
        seal: impl FnOnce(&mut [u8]) -> Result<usize, Error>,
    ) {
        let (prefix, capacity) = if framed { (tcp::LENGTH, MAX_WRITE) } else { (0, MAX_TRAIN) };
        let needed = prefix + needed;
        if needed > capacity.min(tcp::MAX_FRAME) {
            shared.drops.unsent.add(1);
            return;
        }
        if self.length + needed > capacity || (!framed && self.packets == MAX_SEGMENTS) {
            self.send(shared, table);
        }
        let room = &mut self.buffer[self.length..][..needed];
        let Ok(sealed) = seal(&mut room[prefix..]) else {
            shared.drops.unsent.add(1);
            return;
        };
        if framed {
            // `sealed` fits 16 bits: `needed` is at most the longest frame.
            room[..prefix].copy_from_slice(&(sealed as u16).to_be_bytes());
        } else if self.packets > 0 && sealed > self.segment {
            // A longer packet starts a new train.
            let place = self.length..self.length + sealed;
            self.send(shared, table);
            self.buffer.copy_within(place, 0);
        }
        if self.packets == 0 {
            self.segment = sealed;
        }
        self.length += prefix + sealed;
        self.packets += 1;
        self.inner_bytes += inner_bytes as u64;
        if !framed && sealed < self.segment {
            // A shorter packet ends the train.
            self.send(shared, table);
        }
    }

    /// Sends the batch and counts packets that fail.
    pub(super) fn send(&mut self, shared: &Shared, table: &Table) {
        // `flush` has counted the failed packets.
        let _ = self.flush(shared, table);
    }

    /// Sends the batch.
    ///
    /// # Errors
    ///
    /// A refusal by the socket or stream.
    pub(super) fn flush(&mut self, shared: &Shared, table: &Table) -> io::Result<()> {
        let Some((peer, remote)) = &self.to else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if self.packets == 0 {
            return Ok(());
        }
        let bytes = &self.buffer[..self.length];
        let packets = self.packets as u64;
        let result = match shared.send(self.worker, table, bytes, self.segment, *remote) {
            Ok(Written::Refused) => Err(io::ErrorKind::NotConnected.into()),
            Ok(written) => {
                if let (Written::Pending, Remote::Tcp(stream)) = (written, *remote) {
                    self.stalled = Some(stream);
                }
                peer.sent.add(packets, self.length as u64, self.inner_bytes, shared.now());
                Ok(())
            }
            Err(error) => Err(error),
        };
        if result.is_err() {
            shared.drops.unsent.add(packets);
        }
        self.length = 0;
        self.packets = 0;
        self.inner_bytes = 0;
        result
    }

    /// Returns the stream with pending data, if any, and resets it.
    pub(super) fn take_stalled(&mut self) -> Option<StreamId> {
        self.stalled.take()
    }
}

/// Reserves packet ids, in a later epoch if the current one is exhausted.
fn reserve(peer: &Peer, mut sealer: Arc<Sealer>, count: u32) -> Option<(PacketIds, Arc<Sealer>)> {
    loop {
        match sealer.reserve(count) {
            Ok(ids) => return Some((ids, sealer)),
            Err(_) => sealer = peer.move_on(&sealer)?,
        }
    }
}
