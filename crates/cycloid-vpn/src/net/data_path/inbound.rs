//! The inbound path, wire to TUN: receives trains and frames, opens packets in place, checks inner
//! sources, joins packets and writes them.

mod frames;

use std::io;
use std::net::IpAddr;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use rustix::event::{Timespec, epoll};

use super::batch::Batch;
use super::ethernet::{Mac, TAG};
use super::events::{Event, clear};
use super::gathering::Gathering;
use super::inner::addresses;
use super::outbound::{MANY_PACKETS, Sender, lock};
use super::peer::{Peer, Receiving};
use super::shared::{FIRST_STREAM, QUEUE, Shared, WAKE};
use super::table::{Snapshot, Table};
use super::{PeerId, Peers, Remote, StreamId};
use crate::net::nat::{Way, translate};
use crate::net::offload::{Joiner, clamp_mss};
use crate::net::tcp::MAX_FRAME;
use crate::net::tun::{Frames, Offload};
use crate::net::udp::{Endpoint, RECEIVE_BUFFER};
use crate::proto::Error;
use crate::proto::data::{Opened, PING, data_header};
use crate::proto::wire::KeyId;

/// Maximum number of receptions from one source before others get their turn.
const ROUNDS: usize = 16;

/// Maximum number of single datagrams gathered before they are joined and written.
const MAX_GATHERED: usize = 32;

/// Room for a train after another, and for several frames of maximum length.
const BUFFER: usize = 2 * RECEIVE_BUFFER;
const _: () = assert!(BUFFER >= MAX_FRAME);

/// The inbound thread of a worker.
pub(super) struct Inbound {
    shared: Arc<Shared>,
    worker: usize,
    table: Snapshot<Table>,
    buffer: Vec<u8>,
    places: Vec<Range<usize>>,
    /// Streams with unread data after their turn; edge-triggered epoll does not report them again.
    unfinished: Vec<StreamId>,
    joiner: Joiner,
    /// Packets from one peer to another.
    batch: Batch,
    /// The other direction, while the outbound thread does not serve it.
    sender: Arc<Mutex<Sender>>,
}

impl Inbound {
    pub(super) fn new(shared: Arc<Shared>, worker: usize, sender: Arc<Mutex<Sender>>) -> Self {
        let offload = shared.queues[worker].offload();
        Self {
            joiner: Joiner::new(offload >= Offload::Tcp, offload == Offload::TcpAndUdp),
            table: shared.table.snapshot(),
            buffer: vec![0; BUFFER],
            places: Vec::new(),
            unfinished: Vec::new(),
            batch: Batch::new(worker),
            sender,
            shared,
            worker,
        }
    }

    /// Runs until the data path stops.
    pub(super) fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut ready = Vec::with_capacity(64);
        let mut gathering = Gathering::new(Instant::now());
        // Without this slack a pause takes about twice as long. A failure is harmless.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1000));
        while !shared.stopping() {
            gathering.pause();
            let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
            let timeout = (!self.unfinished.is_empty()).then_some(&at_once);
            ready.clear();
            let arrivals = &shared.worker(self.worker).arrivals;
            match epoll::wait(arrivals, rustix::buffer::spare_capacity(&mut ready), timeout) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(cause) => return shared.tell(Event::Failed { cause: cause.into() }),
            }
            let table = Arc::clone(self.table.latest(&shared.table));
            let mut turn = Turn {
                shared: &shared,
                table: &table,
                batch: &mut self.batch,
                joiner: &mut self.joiner,
                worker: self.worker,
                source: None,
                mac: None,
                taken: 0,
            };
            for stream in std::mem::take(&mut self.unfinished) {
                if turn.stream(stream, &mut self.buffer, &mut self.places) {
                    self.unfinished.push(stream);
                }
            }
            let mut has_outgoing = false;
            for event in &ready {
                match event.data.u64() {
                    QUEUE => has_outgoing = true,
                    WAKE => {
                        clear(&shared.worker(self.worker).wake_inbound);
                        lock(&self.sender).refresh(&shared);
                    }
                    stream @ FIRST_STREAM.. => {
                        if turn.stream(stream, &mut self.buffer, &mut self.places) {
                            self.unfinished.push(stream);
                        }
                    }
                    group => turn.socket(group as usize, &mut self.buffer, &mut self.places),
                }
            }
            let taken = turn.taken;
            gathering.turn(Instant::now(), taken);
            self.batch.send(&shared, &table);
            if has_outgoing && let Err(cause) = self.send_outgoing(taken) {
                return shared.tell(Event::Failed { cause });
            }
        }
    }

    /// Sends packets from the TUN device, unless they or the incoming ones are many: then the
    /// outbound thread takes over.
    fn send_outgoing(&self, taken: usize) -> io::Result<()> {
        let has_few = taken < MANY_PACKETS && {
            let turn = lock(&self.sender).turn(&self.shared)?;
            turn.packets < MANY_PACKETS && turn.stalled.is_none()
        };
        if has_few { Ok(()) } else { self.shared.pass_queue(self.worker) }
    }
}

/// One turn of the loop, with one snapshot of the table.
struct Turn<'a> {
    shared: &'a Shared,
    table: &'a Table,
    batch: &'a mut Batch,
    joiner: &'a mut Joiner,
    worker: usize,
    /// The last inner source and its peer: consecutive packets usually share it.
    source: Option<(IpAddr, PeerId)>,
    /// The same for the source of a frame.
    mac: Option<(Mac, PeerId)>,
    /// Number of packets so far.
    taken: usize,
}

impl<'a> Turn<'a> {
    /// Receives trains. Gathers single datagrams in the buffer as if they were a train.
    fn socket(&mut self, group: usize, buffer: &mut [u8], places: &mut Vec<Range<usize>>) {
        // A group that was just removed may still be reported.
        let Some(socket) = self.table.group(group).map(|sockets| &sockets[self.worker]) else {
            return;
        };
        let mut rounds = 0..ROUNDS;
        let mut more = true;
        while more && rounds.next().is_some() {
            let (mut filled, mut packets) = (0, 0);
            while packets < MAX_GATHERED && filled + RECEIVE_BUFFER <= buffer.len() {
                // Errors other than `WouldBlock` belong to earlier datagrams and can be ignored.
                let Ok(incoming) = socket.receive(&mut buffer[filled..]) else {
                    more = false;
                    break;
                };
                let endpoint = Endpoint { remote: incoming.from, local: incoming.local };
                let end = filled + incoming.length;
                places.clear();
                let starts = (filled..end).step_by(incoming.segment);
                places.extend(starts.map(|at| at..(at + incoming.segment).min(end)));
                self.packets(Remote::Udp { group, endpoint }, buffer, places);
                packets += places.len();
                filled = end;
            }
            self.write(buffer);
        }
    }

    /// Reads frames and writes pending data. Returns whether there may be more to read.
    fn stream(&mut self, id: StreamId, buffer: &mut [u8], places: &mut Vec<Range<usize>>) -> bool {
        let Some(stream) = self.table.stream(id) else { return false };
        let result = stream.flush().and_then(|_| {
            for _ in 0..ROUNDS {
                let full = stream.read(buffer, places)?;
                self.packets(Remote::Tcp(id), buffer, places);
                self.write(buffer);
                if !full {
                    return Ok(false);
                }
            }
            Ok(true)
        });
        match result {
            Ok(more) => more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(_) => {
                self.shared.publish_removal(|table| drop(table.remove_stream(id)));
                self.shared.tell(Event::Closed { stream: id });
                false
            }
        }
    }

    /// Opens the packets at these places of the buffer. They stay there until they are written.
    fn packets(&mut self, from: Remote, buffer: &mut [u8], places: &[Range<usize>]) {
        let mut current: Option<Current<'a>> = None;
        self.taken += places.len();
        for place in places {
            let packet = &mut buffer[place.clone()];
            let header = match self.shared.peers {
                Peers::Static { .. } => Some((KeyId::FIRST, None)),
                Peers::One { .. } | Peers::Many { .. } => data_header(packet),
            };
            let Some((key_id, peer_id)) = header else {
                self.shared.tell(Event::Received { from, packet: packet.to_vec() });
                continue;
            };
            let current = match &mut current {
                Some(current) if current.named == peer_id => current,
                current => match self.find(peer_id, from) {
                    Some(peer) => {
                        // Drop the previous peer's lock before taking the next one.
                        *current = None;
                        let is_free = self.shared.peers.floats() && self.table.at(from).is_none();
                        current.insert(Current::new(self.shared, peer, peer_id, is_free))
                    }
                    None => {
                        self.shared.drops.unknown.add(1);
                        continue;
                    }
                },
            };
            let begin = packet.as_ptr().addr();
            match current.open(key_id, packet, from) {
                Some(Opened::InPlace(inner)) => {
                    let start = place.start + (inner.as_ptr().addr() - begin);
                    let inner = start..start + inner.len();
                    self.deliver(current.peer, buffer, inner);
                }
                Some(Opened::Apart) => {
                    // It is in another buffer, so it cannot wait with the others.
                    self.write(buffer);
                    let peer = current.peer;
                    if let Some(opener) = current.receiving.opener(key_id) {
                        let inner = opener.apart();
                        if let Peers::Many { vlans: Some(_), .. } = self.shared.peers {
                            // It may need room for a tag.
                            let mut room = [&[0; TAG][..], &*inner].concat();
                            let place = TAG..room.len();
                            self.deliver(peer, &mut room, place);
                            self.write(&mut room);
                            continue;
                        }
                        let place = 0..inner.len();
                        self.deliver(peer, inner, place);
                        self.write(inner);
                    }
                }
                Some(Opened::Fragment) | None => {}
            }
        }
    }

    fn find(&self, id: Option<PeerId>, from: Remote) -> Option<&'a Arc<Peer>> {
        match (self.shared.peers, id, from) {
            (Peers::One { .. } | Peers::Static { .. }, ..) => self.table.only(),
            // OpenVPN keeps its peer id when it begins a new session within a connection, although
            // the server has pushed another. The core gives that id to nobody else.
            (Peers::Many { .. }, Some(id), Remote::Udp { .. }) => {
                self.table.peer(id).or_else(|| self.table.at(from))
            }
            // Without a peer id, and always on a stream, the address identifies the peer.
            (Peers::Many { .. }, ..) => self.table.at(from),
        }
    }

    /// Forwards an authentic inner packet.
    fn deliver(&mut self, peer: &Arc<Peer>, buffer: &mut [u8], place: Range<usize>) {
        if self.shared.frames == Frames::Ethernet {
            return self.deliver_frame(peer, buffer, place);
        }
        let inner = &mut buffer[place.clone()];
        let Some((source, destination)) = addresses(inner) else {
            let packet = inner.to_vec();
            return self.shared.tell(Event::Message { peer: peer.id, packet });
        };
        if let Some(largest) = peer.largest_tcp() {
            clamp_mss(inner, largest);
        }
        if let Some(rules) = peer.nat() {
            translate(&rules, inner, Way::In);
        }
        if let Peers::Many { client_to_client, .. } = self.shared.peers {
            if !self.has(peer, source) {
                return self.shared.drops.spoofed.add(1);
            }
            if client_to_client && let Some(other) = self.table.with_address(destination) {
                return self.batch.push(self.shared, self.table, other, inner);
            }
        }
        self.joiner.push(buffer, place);
    }

    /// Writes opened packets to the TUN device.
    fn write(&mut self, buffer: &mut [u8]) {
        let queue = &self.shared.queues[self.worker];
        self.joiner.flush(buffer, |slices| {
            if queue.write(slices).is_err() {
                self.shared.drops.unwritten.add(1);
            }
        });
    }

    fn has(&mut self, peer: &Peer, address: IpAddr) -> bool {
        let source = Some((address, peer.id));
        if self.source == source {
            return true;
        }
        let has = self.table.with_address(address).is_some_and(|owner| owner.id == peer.id);
        if has {
            self.source = source;
        }
        has
    }
}

/// The peer whose packets are being opened. Holds the lock on its receiving keys, and adds to its
/// counters on drop.
struct Current<'a> {
    shared: &'a Shared,
    peer: &'a Arc<Peer>,
    /// The peer id in its packets.
    named: Option<PeerId>,
    /// Whether the peer may be answered at the packets' address if it has moved there.
    is_free: bool,
    receiving: MutexGuard<'a, Receiving>,
    packets: u64,
    bytes: u64,
    inner_bytes: u64,
}

impl<'a> Current<'a> {
    fn new(shared: &'a Shared, peer: &'a Arc<Peer>, named: Option<PeerId>, is_free: bool) -> Self {
        let receiving = peer.receiving();
        Self { shared, peer, named, is_free, receiving, packets: 0, bytes: 0, inner_bytes: 0 }
    }

    /// Opens a packet. Returns `None` for an unauthentic packet or a ping.
    fn open<'p>(
        &mut self,
        key_id: KeyId,
        packet: &'p mut [u8],
        from: Remote,
    ) -> Option<Opened<'p>> {
        let length = packet.len() as u64;
        let Some(opener) = self.receiving.opener(key_id) else {
            self.shared.drops.unknown.add(1);
            return None;
        };
        let opened = match opener.open_any(packet) {
            Ok(opened) => opened,
            Err(error) => {
                self.shared.drops.rejected.add(1);
                if matches!(error, Error::Incompatible(_)) && self.receiving.compresses() {
                    self.shared.tell(Event::Compresses { peer: self.peer.id });
                }
                return None;
            }
        };
        let inner: &[u8] = match &opened {
            Opened::InPlace(inner) => inner,
            Opened::Apart => opener.apart(),
            Opened::Fragment => &[],
        };
        let (length_inside, silent) = (inner.len() as u64, inner.is_empty() || *inner == PING);
        if !self.receiving.is_at(from) && self.receiving.has_moved(key_id, from, self.shared.now())
        {
            // The answer to this packet already goes to the new address, unless another peer has
            // it. The control thread confirms the move or takes it back.
            if self.is_free {
                self.peer.answer_at(from);
            }
            self.shared.tell(Event::Float { peer: self.peer.id, from });
        }
        self.packets += 1;
        self.bytes += length;
        if silent {
            return None;
        }
        self.inner_bytes += length_inside;
        Some(opened)
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        if self.packets > 0 {
            self.peer.received.add(self.packets, self.bytes, self.inner_bytes, self.shared.now());
        }
    }
}
