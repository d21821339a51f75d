//! The outbound path, TUN to wire: reads super-packets, finds the peer by the inner destination,
//! splits, seals and sends.

mod frames;

use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::batch::Batch;
use super::events::{Event, clear};
use super::gathering::Gathering;
use super::inner::addresses;
use super::pacer::TcpData;
use super::peer::Peer;
use super::shared::Shared;
use super::table::{Snapshot, Table};
use super::{PeerId, Peers, StreamId};
use crate::net::nat::{Way, translate};
use crate::net::offload::{VirtioHeader, clamp_mss, split};
use crate::net::tcp::Written;
use crate::net::tun::{self, Frames};
use crate::net::udp::MAX_SEGMENTS;

/// Number of reads before the batch is sent and the table refreshed; more if they do not fill a
/// train.
const ROUNDS: usize = 16;

/// Number of packets in one turn from which on the outbound thread is worth its wake-up.
pub(super) const MANY_PACKETS: usize = 8;

/// How long data for several peers counts as mixed.
const MIXED_TIME: Duration = Duration::from_millis(5);

/// How long the outbound thread waits for packets before it returns the queue.
const IDLE_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// The outbound thread of a worker.
pub(super) struct Outbound {
    shared: Arc<Shared>,
    worker: usize,
    sender: Arc<Mutex<Sender>>,
}

impl Outbound {
    pub(super) fn new(shared: Arc<Shared>, worker: usize, sender: Arc<Mutex<Sender>>) -> Self {
        Self { shared, worker, sender }
    }

    /// Runs until the data path stops or the device fails.
    pub(super) fn run(self) {
        let shared = Arc::clone(&self.shared);
        let queue = &shared.queues[self.worker];
        // Without this slack a short pause takes about twice as long. A failure is harmless.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1000));
        let mut gathering = Gathering::new(Instant::now());
        while !shared.stopping() {
            if !shared.worker(self.worker).outbound_has_queue() {
                self.wait(None, None);
                continue;
            }
            let turn = match lock(&self.sender).turn(&shared) {
                Ok(turn) => turn,
                Err(cause) => return shared.tell(Event::Failed { cause }),
            };
            if !turn.pause.is_zero() {
                std::thread::sleep(turn.pause);
            }
            if let Some(stream) = turn.stalled {
                self.drain(&shared, stream);
                continue;
            }
            gathering.turn(Instant::now(), turn.packets);
            if !gathering.pause()
                && !turn.more
                && !self.wait(Some((queue, PollFlags::IN)), Some(&IDLE_TIME))
                && let Err(cause) = shared.return_queue(self.worker)
            {
                return shared.tell(Event::Failed { cause });
            }
        }
    }

    /// Waits until the stream of the only peer has accepted the pending data. Meanwhile packets
    /// queue in the TUN device, where their connections notice the backpressure, instead of being
    /// dropped.
    fn drain(&self, shared: &Shared, stream: StreamId) {
        let table = shared.table.current();
        let Some(stream) = table.stream(stream) else { return };
        while !shared.stopping() && matches!(stream.flush(), Ok(Written::Pending)) {
            self.wait(Some((&**stream, PollFlags::OUT)), None);
        }
    }

    /// Waits for a descriptor or a wake-up, up to a time limit. Returns false if nothing happened.
    fn wait(&self, source: Option<(&dyn AsFd, PollFlags)>, limit: Option<&Timespec>) -> bool {
        let wake = &self.shared.worker(self.worker).wake_outbound;
        let mut sources = vec![PollFd::new(wake, PollFlags::IN)];
        sources
            .extend(source.map(|(source, flags)| PollFd::from_borrowed_fd(source.as_fd(), flags)));
        // An early return after a signal is harmless.
        let happened = poll(&mut sources, limit) != Ok(0);
        if !sources[0].revents().is_empty() {
            clear(wake);
        }
        happened
    }
}

/// Moves packets from a queue to the wire. The inbound thread does so while there are few: a packet
/// then wakes one thread at each end, not two. The outbound thread takes over when there are many.
pub(super) struct Sender {
    worker: usize,
    table: Snapshot<Table>,
    batch: Batch,
    buffer: Vec<u8>,
    /// The end of a pause in the current turn, in the data path's time; zero without one.
    pause_until: Duration,
    /// The peer of the last data, and when it was another one than that before.
    last_peer: Option<PeerId>,
    mixed: Duration,
}

/// The result of a turn.
pub(super) struct SenderTurn {
    /// Number of packets.
    pub(super) packets: usize,
    /// Whether there may be more.
    pub(super) more: bool,
    /// How long to wait before the next turn.
    pub(super) pause: Duration,
    /// The stream of the only peer, if its pending data must be written first.
    pub(super) stalled: Option<StreamId>,
}

/// The data is consistent at every moment, so lock poisoning can be ignored.
pub(super) fn lock(sender: &Mutex<Sender>) -> MutexGuard<'_, Sender> {
    sender.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sender {
    pub(super) fn new(shared: &Shared, worker: usize) -> Self {
        Self {
            worker,
            table: shared.table.snapshot(),
            batch: Batch::new(worker),
            buffer: vec![0; tun::MAX_READ],
            pause_until: Duration::ZERO,
            last_peer: None,
            mixed: Duration::ZERO,
        }
    }

    /// Drops an old table, which may have removed entries.
    pub(super) fn refresh(&mut self, shared: &Shared) {
        self.table.latest(&shared.table);
    }

    /// Moves up to [`ROUNDS`] super-packets, or small ones for a whole train.
    pub(super) fn turn(&mut self, shared: &Shared) -> io::Result<SenderTurn> {
        let mut table = Arc::clone(self.table.latest(&shared.table));
        let queue = &shared.queues[self.worker];
        let mut buffer = std::mem::take(&mut self.buffer);
        let (mut packets, mut more) = (0, Ok(true));
        self.pause_until = Duration::ZERO;
        let mut reads = 0;
        while self.pause_until.is_zero()
            && reads < MAX_SEGMENTS
            && (reads < ROUNDS || packets < MAX_SEGMENTS)
        {
            reads += 1;
            match queue.read(&mut buffer) {
                Ok(read) => packets += self.packet(shared, &mut table, &mut buffer[..read]),
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
        self.batch.send(shared, &table);
        let stalled = self.batch.take_stalled().filter(|_| shared.peers.is_one());
        let pause = match self.pause_until {
            Duration::ZERO => Duration::ZERO,
            until => until.saturating_sub(shared.now()),
        };
        Ok(SenderTurn { packets, more: more?, pause, stalled })
    }

    /// Records data for a peer, and decides on a pause. While there are packets to other peers in
    /// between, there is none: they would wait, too, and their time already is a pause.
    fn pace(&mut self, shared: &Shared, peer: &Peer, data: &TcpData, count: u32) {
        let now = shared.now();
        if self.last_peer.replace(peer.id).is_some_and(|last| last != peer.id) {
            self.mixed = now;
        }
        let mut pacer = peer.pacer();
        pacer.record(data, count, now);
        let pause = pacer.pause(now);
        if !pause.is_zero() && now > self.mixed + MIXED_TIME {
            self.pause_until = now + pause;
        }
    }

    /// Moves one super-packet, and returns the number of its segments. If the table has no peer for
    /// its destination, retries with the latest table, which may be newer.
    fn packet(&mut self, shared: &Shared, table: &mut Arc<Table>, read: &mut [u8]) -> usize {
        let Some((header, inner)) = read.split_first_chunk_mut::<{ VirtioHeader::LENGTH }>() else {
            return 0;
        };
        if shared.frames == Frames::Ethernet {
            self.frame(shared, table, &VirtioHeader::from_bytes(*header), inner);
            return 1;
        }
        let mut peer = recipient(shared.peers, table, inner);
        if peer.is_none()
            && let Some(newer) = self.table.newer(&shared.table)
        {
            *table = Arc::clone(newer);
            peer = recipient(shared.peers, table, inner);
        }
        let data = TcpData::of(inner);
        let segments = split(&VirtioHeader::from_bytes(*header), inner);
        let (Some(peer), Ok(mut segments)) = (peer, segments) else {
            shared.drops.unroutable.add(1);
            return 1;
        };
        let (largest, nat, count) = (peer.largest_tcp(), peer.nat(), segments.remaining());
        if let Some(data) = data {
            self.pace(shared, peer, &data, count as u32);
        }
        self.batch.push_all(shared, table, peer, count as u32, |add| {
            while let Some(segment) = segments.next() {
                if let Some(largest) = largest {
                    clamp_mss(segment, largest);
                }
                if let Some(rules) = &nat {
                    translate(rules, segment, Way::Out);
                }
                add(segment);
            }
        });
        count
    }
}

/// Returns the peer that receives an inner packet.
fn recipient<'t>(peers: Peers, table: &'t Table, inner: &[u8]) -> Option<&'t Arc<Peer>> {
    match peers {
        Peers::One { .. } | Peers::Static { .. } => table.only(),
        Peers::Many { .. } => {
            addresses(inner).and_then(|(_, destination)| table.with_address(destination))
        }
    }
}
