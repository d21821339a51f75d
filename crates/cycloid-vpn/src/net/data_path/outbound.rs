//! The outbound path, TUN to wire: reads super-packets, finds the peer by the inner destination,
//! splits, seals and sends.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};

use super::batch::Batch;
use super::events::{Event, clear};
use super::inner::addresses;
use super::peer::Peer;
use super::shared::Shared;
use super::table::{Snapshot, Table};
use super::{Peers, StreamId};
use crate::net::offload::{VirtioHeader, clamp_mss, split};
use crate::net::tcp::Written;
use crate::net::tun;

/// Maximum number of reads before the batch is sent and the table refreshed.
const ROUNDS: usize = 16;

/// The outbound thread of a worker.
pub(super) struct Outbound {
    shared: Arc<Shared>,
    worker: usize,
    table: Snapshot<Table>,
    batch: Batch,
    buffer: Vec<u8>,
}

impl Outbound {
    pub(super) fn new(shared: Arc<Shared>, worker: usize) -> Self {
        Self {
            table: shared.table.snapshot(),
            batch: Batch::new(worker),
            buffer: vec![0; tun::MAX_READ],
            shared,
            worker,
        }
    }

    /// Runs until the data path stops or the device fails.
    pub(super) fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        while !shared.stopping() {
            let mut table = Arc::clone(self.table.latest(&shared.table));
            match self.read(&shared, &mut table) {
                Ok(true) => {}
                Ok(false) => self.wait(&shared.queues[self.worker], PollFlags::IN),
                Err(cause) => return shared.tell(Event::Failed { cause }),
            }
        }
    }

    /// Moves up to [`ROUNDS`] super-packets. Returns whether there may be more.
    fn read(&mut self, shared: &Shared, table: &mut Arc<Table>) -> io::Result<bool> {
        let queue = &shared.queues[self.worker];
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut more = Ok(true);
        for _ in 0..ROUNDS {
            match queue.read(&mut buffer) {
                Ok(read) => self.packet(shared, table, &mut buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    more = Ok(false);
                    break;
                }
                Err(error) => {
                    more = Err(error);
                    break;
                }
            }
        }
        self.buffer = buffer;
        self.batch.send(shared, table);
        if let Some(stream) = self.batch.take_stalled()
            && shared.peers == Peers::One
        {
            self.drain(shared, table, stream);
        }
        more
    }

    /// Moves one super-packet. If the table has no peer for its destination, retries with the
    /// latest table, which may be newer.
    fn packet(&mut self, shared: &Shared, table: &mut Arc<Table>, read: &mut [u8]) {
        let Some((header, inner)) = read.split_first_chunk_mut::<{ VirtioHeader::LENGTH }>() else {
            return;
        };
        let mut peer = recipient(shared.peers, table, inner);
        if peer.is_none()
            && let Some(newer) = self.table.newer(&shared.table)
        {
            *table = Arc::clone(newer);
            peer = recipient(shared.peers, table, inner);
        }
        let segments = split(&VirtioHeader::from_bytes(*header), inner);
        let (Some(peer), Ok(mut segments)) = (peer, segments) else {
            return shared.drops.unroutable.add(1);
        };
        let largest = peer.largest_tcp();
        self.batch.push_all(shared, table, peer, segments.remaining() as u32, |add| {
            while let Some(segment) = segments.next() {
                if let Some(largest) = largest {
                    clamp_mss(segment, largest);
                }
                add(segment);
            }
        });
    }

    /// Waits until the stream of the only peer has accepted the pending data. Meanwhile packets
    /// queue in the TUN device, where their connections notice the backpressure, instead of being
    /// dropped.
    fn drain(&mut self, shared: &Shared, table: &Table, stream: StreamId) {
        let Some(stream) = table.stream(stream) else { return };
        while !shared.stopping() && matches!(stream.flush(), Ok(Written::Pending)) {
            self.wait(stream, PollFlags::OUT);
        }
    }

    /// Waits for a descriptor or a wake-up.
    fn wait(&self, source: &dyn AsFd, flags: PollFlags) {
        let wake = &self.shared.worker(self.worker).wake_outbound;
        let mut sources =
            [PollFd::from_borrowed_fd(source.as_fd(), flags), PollFd::new(wake, PollFlags::IN)];
        // An early return after a signal is harmless.
        let _ = poll(&mut sources, None);
        if !sources[1].revents().is_empty() {
            clear(wake);
        }
    }
}

/// Returns the peer that receives an inner packet.
fn recipient<'t>(peers: Peers, table: &'t Table, inner: &[u8]) -> Option<&'t Arc<Peer>> {
    match peers {
        Peers::One => table.only(),
        Peers::Many { .. } => {
            addresses(inner).and_then(|(_, destination)| table.with_address(destination))
        }
    }
}
