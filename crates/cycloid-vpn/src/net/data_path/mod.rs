//! The data path: threads that move packets from TUN to wire and from wire to TUN, for one or many
//! peers.
//!
//! Each worker has a queue of the TUN device and a socket of each group, and consists of two
//! threads:
//!
//! | thread | reads | then | writes |
//! |---|---|---|---|
//! | outbound | a super-packet from TUN | finds the peer by the inner destination, splits, seals each segment into one train | the train, in one call |
//! | inbound | a train from a socket, or frames from a stream | finds the peer by its id, opens each packet in place, checks its source, joins | super-packets to TUN, one call each |
//!
//! While there are few packets, the inbound thread reads TUN as well: a packet and its answer then
//! wake one thread, not two.
//!
//! The peers are in a `table::Table`, which the control thread replaces as a whole and the workers
//! check once per batch. Each peer's keys have their own locks, taken once per train. The kernel
//! steers a peer's datagrams to one worker, so only the control thread contends for them. All
//! senders draw packet ids from a shared counter. Data packets cause no allocation.
//!
//! With a TAP device, inner packets are Ethernet frames. A server for many then works like a switch:
//! it learns the hardware addresses behind each peer, and sends other frames to all.
//!
//! Other packets and notifications go to the control thread as [`Events`]. It acts through
//! [`Handle`], which sends from the calling thread.

mod batch;
mod ethernet;
mod events;
mod gathering;
mod inbound;
mod inner;
mod macs;
mod outbound;
mod pacer;
mod peer;
mod remote;
mod shared;
mod table;
mod vlan;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

pub use events::{Event, Events};
pub use peer::Counters;
pub use remote::{PeerId, Peers, Remote, StreamId};
pub use shared::Dropped;
pub use vlan::{VlanId, Vlans};

use self::batch::Batch;
use self::peer::Peer;
use self::shared::Shared;
use super::Error;
use super::nat::Rule;
use super::tcp::PacketStream;
use super::tun::Queue;
use super::udp::UdpSocket;
use crate::proto::data::{Opener, Sealer};
use crate::proto::wire::KeyId;

/// Starts the threads, one worker per queue. Each group holds one socket per worker, all bound to
/// one port. The groups have the indices from 0 on; a client may add and remove others.
///
/// # Errors
///
/// The kernel refuses descriptors or threads, or a group has too few sockets.
pub fn start(
    queues: Vec<Queue>,
    groups: Vec<Vec<UdpSocket>>,
    peers: Peers,
) -> Result<(Handle, Events), Error> {
    let workers = queues.len();
    let failed = |cause: io::Error| Error::new("start the data path", cause);
    let (sender, events) = events::channel().map_err(failed)?;
    let shared = Arc::new(Shared::new(queues, peers, sender).map_err(failed)?);
    let mut handle = Handle { shared: Arc::clone(&shared), threads: Vec::new() };
    for group in groups {
        shared.add_group(group).map_err(failed)?;
    }
    for worker in 0..workers {
        let sender = Arc::new(Mutex::new(outbound::Sender::new(&shared, worker)));
        let outbound = outbound::Outbound::new(Arc::clone(&shared), worker, Arc::clone(&sender));
        let inbound = inbound::Inbound::new(Arc::clone(&shared), worker, sender);
        handle.spawn(format!("outbound {worker}"), move || outbound.run()).map_err(failed)?;
        handle.spawn(format!("inbound {worker}"), move || inbound.run()).map_err(failed)?;
    }
    Ok((handle, events))
}

/// The control thread's handle to the data path. Drop stops the threads.
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

    /// Adds a peer without keys. Replaces a peer with the same id.
    pub fn add_peer(&self, id: PeerId, remote: Remote) {
        self.shared.change_macs(|macs| macs.add_peer(id));
        let peer = Arc::new(Peer::new(id, remote));
        if self.shared.publish(|table| table.add_peer(peer)) {
            self.shared.wake();
        }
    }

    /// Removes a peer with its keys, routes and counters. Its stream stays open.
    pub fn remove_peer(&self, id: PeerId) {
        self.shared.publish_removal(|table| table.remove_peer(id));
        self.shared.change_macs(|macs| macs.remove_peer(id));
    }

    /// Changes a peer's address.
    pub fn set_remote(&self, id: PeerId, remote: Remote) {
        self.shared.publish(|table| table.move_peer(id, remote));
    }

    /// Sets a peer's inner addresses and networks, as addresses with prefix lengths. The longest
    /// prefix wins; among equal prefixes the latest wins.
    pub fn set_routes(&self, id: PeerId, networks: &[(IpAddr, u8)]) {
        self.shared.publish(|table| table.set_routes(id, networks));
    }

    /// Limits the number of hardware addresses behind each peer (`max-routes-per-client`).
    pub fn limit_hardware_addresses(&self, most: usize) {
        self.shared.change_macs(|macs| macs.limit(most));
    }

    /// The same for a single peer.
    pub fn limit_hardware_addresses_of(&self, id: PeerId, most: usize) {
        self.shared.change_macs(|macs| macs.limit_of(id, most));
    }

    /// Forgets the hardware addresses from which no frame came for this time
    /// (`stale-routes-check`).
    pub fn forget_hardware_addresses(&self, unused: Duration) {
        let since = self.shared.now().checked_sub(unused);
        self.shared.change_macs(|macs| since.into_iter().for_each(|it| macs.forget_unused(it)));
    }

    /// Puts a peer into a VLAN.
    pub fn set_vlan(&self, id: PeerId, vlan: VlanId) {
        self.with_peer(id, |peer| peer.set_vlan(vlan));
    }

    /// Returns the hardware addresses behind a peer, in the order in which they were learned.
    pub fn hardware_addresses(&self, id: PeerId) -> Vec<String> {
        self.shared.macs().of(id).iter().map(ToString::to_string).collect()
    }

    /// Clamps TCP connections with this peer to packets of `largest` bytes, IP header included
    /// (`mssfix`). `None` stops clamping.
    pub fn set_largest_tcp(&self, id: PeerId, largest: Option<u16>) {
        self.with_peer(id, |peer| peer.set_largest_tcp(largest));
    }

    /// Sets how inner addresses of a peer's packets are translated (`client-nat`).
    pub fn set_nat(&self, id: PeerId, rules: &[Rule]) {
        self.with_peer(id, |peer| peer.set_nat(rules));
    }

    /// Accepts packets under this key, in addition to up to two earlier keys.
    pub fn take_under(&self, id: PeerId, key_id: KeyId, opener: Opener) {
        self.with_peer(id, |peer| peer.take_under(key_id, opener));
    }

    /// Sends packets under this key from now on.
    pub fn send_under(&self, id: PeerId, key_id: KeyId, sealer: Arc<Sealer>) {
        self.with_peer(id, |peer| peer.send_under(key_id, sealer));
    }

    /// Stops sending and accepting packets under this key.
    pub fn retire(&self, id: PeerId, key_id: KeyId) {
        self.with_peer(id, |peer| peer.retire(key_id));
    }

    /// Returns a peer's traffic counters.
    pub fn counters(&self, id: PeerId) -> Option<Counters> {
        self.with_peer(id, |peer| peer.counters(self.shared.now()))
    }

    /// Returns the numbers of dropped packets since the start, by reason.
    pub fn dropped(&self) -> Dropped {
        self.shared.drops.snapshot()
    }

    fn with_peer<T>(&self, id: PeerId, act: impl FnOnce(&Peer) -> T) -> Option<T> {
        let table = self.shared.table.current();
        table.peer(id).map(|peer| act(peer))
    }

    /// Sends a packet unchanged.
    ///
    /// # Errors
    ///
    /// The kernel's error; `NotConnected` for a closed or congested stream.
    pub fn send_control(&self, packet: &[u8], to: Remote) -> io::Result<()> {
        let table = self.shared.table.current();
        self.shared.send_packet(&table, packet, to)
    }

    /// Seals and sends an inner packet, such as [`crate::proto::data::PING`].
    ///
    /// # Errors
    ///
    /// Those of [`Self::send_control`]; `NotConnected` for an unknown peer or one without a key.
    pub fn send_data(&self, id: PeerId, inner: &[u8]) -> io::Result<()> {
        let table = self.shared.table.current();
        let peer = table.peer(id).ok_or(io::ErrorKind::NotConnected)?;
        let mut batch = Batch::new(0);
        batch.push(&self.shared, &table, peer, inner);
        batch.flush(&self.shared, &table)
    }

    /// Adds a group of sockets, one for each worker. Returns its index for [`Remote::Udp`].
    ///
    /// # Errors
    ///
    /// Too few sockets, or the kernel's refusal.
    pub fn add_group(&self, sockets: Vec<UdpSocket>) -> io::Result<usize> {
        self.shared.add_group(sockets)
    }

    /// Closes a group's sockets.
    pub fn remove_group(&self, group: usize) {
        self.shared.remove_group(group);
    }

    /// Adds a connected stream. Its packets arrive as events until a peer is added for it.
    ///
    /// # Errors
    ///
    /// A connection that is already closed.
    pub fn add_stream(&self, stream: TcpStream) -> io::Result<(StreamId, SocketAddr)> {
        let stream = Arc::new(PacketStream::new(stream)?);
        let remote = stream.remote();
        let id = self.shared.next_stream.fetch_add(1, Ordering::Relaxed);
        self.shared.publish(|table| table.add_stream(id, Arc::clone(&stream)));
        self.shared.watch(id, &stream).inspect_err(|_| self.close_stream(id))?;
        Ok((id, remote))
    }

    /// Closes a stream. Unsent data may be lost.
    pub fn close_stream(&self, id: StreamId) {
        self.shared.publish_removal(|table| {
            if let Some(stream) = table.remove_stream(id) {
                stream.shutdown();
            }
        });
    }

    /// Stops the threads and waits for them to end.
    pub fn stop(self) {}
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.stop();
        for thread in self.threads.drain(..) {
            // A panic has already been reported by the thread.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Weak;
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;
    use crate::net::udp::Endpoint;

    const MANY: Peers = Peers::Many { client_to_client: false, vlans: None };

    fn remote(port: u16) -> Remote {
        let remote = SocketAddr::from(([192, 0, 2, 1], port));
        Remote::Udp { group: 0, endpoint: Endpoint { remote, local: None } }
    }

    /// Returns whether the threads were woken since the last call.
    fn wakes(handle: &Handle) -> bool {
        let wake = &handle.shared.worker(0).wake_outbound;
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_set = poll(&mut [PollFd::new(wake, PollFlags::IN)], Some(&at_once)).unwrap() == 1;
        events::clear(wake);
        is_set
    }

    /// Waits for threads, however slow the machine is.
    #[track_caller]
    fn until(is_so: impl Fn() -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(Instant::now() < end, "the threads have not come that far");
            std::thread::yield_now();
        }
    }

    /// A client that connects costs no wake-ups.
    #[test]
    fn only_removals_wake_the_threads() {
        let (sender, _events) = events::channel().unwrap();
        let shared = Shared::new(vec![Queue::idle().unwrap()], MANY, sender).unwrap();
        let handle = Handle { shared: Arc::new(shared), threads: Vec::new() };
        handle.add_peer(1, remote(1));
        handle.set_routes(1, &[(IpAddr::from([10, 8, 0, 2]), 32)]);
        handle.set_remote(1, remote(2));
        assert!(!wakes(&handle));
        handle.add_peer(1, remote(3));
        assert!(wakes(&handle), "the earlier peer is removed");
        handle.remove_peer(1);
        assert!(wakes(&handle));
    }

    /// Keys are wiped once no thread has the peer any more.
    #[test]
    fn waiting_threads_drop_a_removed_peer() {
        let (handle, _events) = start(vec![Queue::idle().unwrap()], Vec::new(), MANY).unwrap();
        handle.add_peer(1, remote(1));
        let table = handle.shared.table.current();
        let peer: Weak<Peer> = Arc::downgrade(table.peer(1).unwrap());
        handle.shared.wake();
        // The published one, this one, and those of the inbound thread and the sender.
        until(|| Arc::strong_count(&table) == 4);
        drop(table);
        assert!(peer.upgrade().is_some());
        handle.remove_peer(1);
        until(|| peer.strong_count() == 0);
    }
}
