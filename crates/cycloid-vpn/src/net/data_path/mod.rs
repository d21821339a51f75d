//! The threads that move packets: TUN to wire and wire to TUN, for one peer or many.
//!
//! Each worker has a queue of the TUN device and a socket of each group, and is two threads:
//!
//! | thread | reads | then | writes |
//! |---|---|---|---|
//! | outbound | a super-packet from TUN | finds the peer by the inner destination, cuts, seals each segment into one train | the train, in one call |
//! | inbound | a train from a socket, or frames from a stream | finds the peer by its id, opens each packet where it lies, checks its source, joins | super-packets to TUN, one call each |
//!
//! Who the peers are is a `table::Table`, replaced as a whole by the control thread and looked at
//! once a batch. A peer's keys have locks of their own, taken once a train: the kernel steers a
//! peer's datagrams to one worker, so nobody else wants them but the control thread. Packet ids come
//! from a counter that all senders share. Nothing is allocated for a data packet.
//!
//! Packets that are not of the data channel, and what the control thread has to know, go to it by
//! [`Events`]; it answers by [`Handle`], which sends from the calling thread.

mod batch;
mod events;
mod inbound;
mod inner;
mod outbound;
mod peer;
mod shared;
mod table;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

pub use events::{Event, Events};
pub use peer::Counters;
pub use shared::Dropped;

use self::batch::Batch;
use self::peer::Peer;
use self::shared::Shared;
use super::Error;
use super::tcp::PacketStream;
use super::tun::Queue;
use super::udp::{Endpoint, UdpSocket};
use crate::proto::data::{Opener, Sealer};
use crate::proto::wire::KeyId;

/// A peer's number, 24 bits: the one in the packets of the data channel.
pub type PeerId = u32;

/// A stream's number; none is used twice.
pub type StreamId = u64;

/// Where a peer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remote {
    /// Behind a socket of the group with this index.
    Udp {
        /// Which of the groups that the data path was started with.
        group: usize,
        /// Its address, and the one here that it talks to.
        endpoint: Endpoint,
    },
    /// At the other end of a stream.
    Tcp(StreamId),
}

impl Remote {
    /// Without this end's address, which does not make a peer another one.
    fn peer_only(self) -> Self {
        match self {
            Self::Udp { group, endpoint } => {
                Self::Udp { group, endpoint: Endpoint { local: None, ..endpoint } }
            }
            tcp @ Self::Tcp(_) => tcp,
        }
    }
}

/// Whom packets go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peers {
    /// One peer gets everything, and may send everything: a client, or a server of one.
    One,
    /// Each has inner addresses of its own, and may send from these only: a server of many.
    Many {
        /// Packets from one to another do not pass by the TUN device (`client-to-client`).
        client_to_client: bool,
    },
}

/// Starts the threads: one worker for each queue. Each group holds that many sockets, all bound to
/// one port. A client has one group or, over TCP, none.
///
/// # Errors
///
/// Where the kernel gives no descriptors or threads, or a group has too few sockets.
pub fn start(
    queues: Vec<Queue>,
    groups: Vec<Vec<UdpSocket>>,
    peers: Peers,
) -> Result<(Handle, Events), Error> {
    let workers = queues.len();
    if groups.iter().any(|group| group.len() < workers) {
        return Err(Error::new("start the data path", io::Error::other("too few sockets")));
    }
    let failed = |cause: io::Error| Error::new("start the data path", cause);
    let (sender, events) = events::channel().map_err(failed)?;
    let shared = Arc::new(Shared::new(queues, groups, peers, sender).map_err(failed)?);
    let mut handle = Handle { shared: Arc::clone(&shared), threads: Vec::new() };
    for worker in 0..workers {
        let outbound = outbound::Outbound::new(Arc::clone(&shared), worker);
        let inbound = inbound::Inbound::new(Arc::clone(&shared), worker);
        handle.spawn(format!("outbound {worker}"), move || outbound.run()).map_err(failed)?;
        handle.spawn(format!("inbound {worker}"), move || inbound.run()).map_err(failed)?;
    }
    Ok((handle, events))
}

/// What the control thread does to the data path. Dropping it stops the threads.
#[derive(Debug)]
pub struct Handle {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Handle {
    fn spawn(&mut self, name: String, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.threads.push(std::thread::Builder::new().name(name).spawn(run)?);
        Ok(())
    }

    /// Adds a peer, which has no keys yet; replaces one of the same id.
    pub fn add_peer(&self, id: PeerId, remote: Remote) {
        let peer = Arc::new(Peer::new(id, remote));
        self.shared.publish(|table| table.add_peer(peer));
    }

    /// Forgets a peer: its keys, its routes, its counters. Its stream stays open.
    pub fn remove_peer(&self, id: PeerId) {
        self.shared.publish(|table| table.remove_peer(id));
    }

    /// Says where a peer is from now on.
    pub fn set_remote(&self, id: PeerId, remote: Remote) {
        self.shared.publish(|table| table.move_peer(id, remote));
    }

    /// Gives a peer exactly these inner addresses and networks (address, bits of the prefix). The
    /// longest prefix has an address; of equal ones, the one given last.
    pub fn set_routes(&self, id: PeerId, networks: &[(IpAddr, u8)]) {
        self.shared.publish(|table| table.set_routes(id, networks));
    }

    /// Keeps TCP connections through the tunnel with this peer to packets of this many bytes, IP
    /// header included, or no longer does (`mssfix`).
    pub fn set_largest_tcp(&self, id: PeerId, largest: Option<u16>) {
        self.with_peer(id, |peer| peer.set_largest_tcp(largest));
    }

    /// Takes packets of this key from now on, as well as of up to two before.
    pub fn take_under(&self, id: PeerId, key_id: KeyId, opener: Opener) {
        self.with_peer(id, |peer| peer.take_under(key_id, opener));
    }

    /// Sends with this key from now on.
    pub fn send_under(&self, id: PeerId, key_id: KeyId, sealer: Arc<Sealer>) {
        self.with_peer(id, |peer| peer.send_under(key_id, sealer));
    }

    /// Neither sends nor takes packets with this key any longer.
    pub fn retire(&self, id: PeerId, key_id: KeyId) {
        self.with_peer(id, |peer| peer.retire(key_id));
    }

    /// What has passed to and from a peer.
    pub fn counters(&self, id: PeerId) -> Option<Counters> {
        self.with_peer(id, |peer| peer.counters(&self.shared))
    }

    /// What was dropped since the start, by reason.
    pub fn dropped(&self) -> Dropped {
        self.shared.drops.snapshot()
    }

    fn with_peer<T>(&self, id: PeerId, act: impl FnOnce(&Peer) -> T) -> Option<T> {
        let table = self.shared.table.current();
        table.peer(id).map(|peer| act(peer))
    }

    /// Sends a packet as it is.
    ///
    /// # Errors
    ///
    /// Where the kernel refuses; `NotConnected` for a stream that is gone or that takes no more.
    pub fn send_control(&self, packet: &[u8], to: Remote) -> io::Result<()> {
        let table = self.shared.table.current();
        self.shared.send_packet(&table, packet, to)
    }

    /// Seals an inner packet, such as [`crate::proto::data::PING`], and sends it.
    ///
    /// # Errors
    ///
    /// As [`Self::send_control`]; `NotConnected` for a peer that is not there or has no key.
    pub fn send_data(&self, id: PeerId, inner: &[u8]) -> io::Result<()> {
        let table = self.shared.table.current();
        let peer = table.peer(id).ok_or(io::ErrorKind::NotConnected)?;
        let mut batch = Batch::new(0);
        batch.push(&self.shared, &table, peer, inner);
        batch.flush(&self.shared, &table)
    }

    /// Takes a connected stream; its packets come as events until a peer is added at it.
    ///
    /// # Errors
    ///
    /// Where the connection is gone already.
    pub fn add_stream(&self, stream: TcpStream) -> io::Result<(StreamId, SocketAddr)> {
        let stream = Arc::new(PacketStream::new(stream)?);
        let remote = stream.remote();
        let id = self.shared.next_stream.fetch_add(1, Ordering::Relaxed);
        self.shared.publish(|table| table.add_stream(id, Arc::clone(&stream)));
        self.shared.watch(id, &stream).inspect_err(|_| self.close_stream(id))?;
        Ok((id, remote))
    }

    /// Ends a stream. What was written and has not left may be lost.
    pub fn close_stream(&self, id: StreamId) {
        self.shared.publish(|table| {
            if let Some(stream) = table.remove_stream(id) {
                stream.shutdown();
            }
        });
    }

    /// Stops the threads and waits for their end.
    pub fn stop(self) {}
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.stop();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}
