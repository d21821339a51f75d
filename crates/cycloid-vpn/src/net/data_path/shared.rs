//! State shared by the data path's threads and the control thread.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, epoll, eventfd};

use super::events::{Event, EventSender, signal};
use super::macs::Macs;
use super::table::{Published, Table};
use super::{Peers, Remote, StreamId};
use crate::net::tcp::{PacketStream, Written};
use crate::net::tun::{Frames, Queue};
use crate::net::udp::UdpSocket;

/// The shared state.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) peers: Peers,
    pub(super) frames: Frames,
    /// The hardware addresses behind the peers. Not a part of the table: a peer adds to them at any
    /// time.
    macs: RwLock<Macs>,
    pub(super) table: Published<Table>,
    pub(super) queues: Vec<Queue>,
    next_group: AtomicUsize,
    pub(super) next_stream: AtomicU64,
    pub(super) drops: Drops,
    events: EventSender,
    workers: Vec<Worker>,
    stopping: AtomicBool,
    started: Instant,
}

/// The descriptors that a worker's threads wait for.
#[derive(Debug)]
pub(super) struct Worker {
    /// The inbound thread's epoll set: sockets, streams and wake-up.
    pub(super) arrivals: OwnedFd,
    pub(super) wake_inbound: OwnedFd,
    pub(super) wake_outbound: OwnedFd,
    /// Whether the outbound thread reads the queue; otherwise the inbound thread does.
    outbound_has_queue: AtomicBool,
}

impl Worker {
    pub(super) fn outbound_has_queue(&self) -> bool {
        self.outbound_has_queue.load(Ordering::Acquire)
    }
}

/// The epoll token of the inbound thread's wake-up.
pub(super) const WAKE: u64 = u64::MAX;

/// The epoll token of the queue, while the inbound thread reads it.
pub(super) const QUEUE: u64 = u64::MAX - 1;

/// Epoll tokens: sockets use their group's index, streams start here.
pub(super) const FIRST_STREAM: u64 = 1 << 32;

impl Shared {
    pub(super) fn new(queues: Vec<Queue>, peers: Peers, events: EventSender) -> io::Result<Self> {
        let mut workers = Vec::with_capacity(queues.len());
        for queue in &queues {
            let worker = Worker {
                arrivals: epoll::create(epoll::CreateFlags::CLOEXEC)?,
                wake_inbound: wake()?,
                wake_outbound: wake()?,
                outbound_has_queue: AtomicBool::new(false),
            };
            let add = |source: &dyn std::os::fd::AsFd, name| {
                let name = epoll::EventData::new_u64(name);
                epoll::add(&worker.arrivals, source.as_fd(), name, epoll::EventFlags::IN)
            };
            add(&worker.wake_inbound, WAKE)?;
            add(queue, QUEUE)?;
            workers.push(worker);
        }
        Ok(Self {
            peers,
            frames: queues.first().map_or(Frames::Ip, Queue::frames),
            macs: RwLock::default(),
            table: Published::default(),
            queues,
            next_group: AtomicUsize::new(0),
            next_stream: AtomicU64::new(FIRST_STREAM),
            drops: Drops::default(),
            events,
            workers,
            stopping: AtomicBool::new(false),
            started: Instant::now(),
        })
    }

    pub(super) fn worker(&self, index: usize) -> &Worker {
        &self.workers[index]
    }

    // The data is consistent at every moment, so lock poisoning can be ignored.

    pub(super) fn macs(&self) -> RwLockReadGuard<'_, Macs> {
        self.macs.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn change_macs(&self, change: impl FnOnce(&mut Macs)) {
        change(&mut self.macs.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the time since the start.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Changes the table. Threads take the latest one when they next have work.
    pub(super) fn publish<T>(&self, change: impl FnOnce(&mut Table) -> T) -> T {
        self.table.update(change)
    }

    /// Removes entries of the table, and wakes waiting threads so that none keeps them.
    pub(super) fn publish_removal<T>(&self, change: impl FnOnce(&mut Table) -> T) -> T {
        let removed = self.table.update(change);
        self.wake();
        removed
    }

    /// Wakes all threads, so that each takes the latest table.
    pub(super) fn wake(&self) {
        for worker in &self.workers {
            signal(&worker.wake_inbound);
            signal(&worker.wake_outbound);
        }
    }

    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.wake();
    }

    pub(super) fn stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    pub(super) fn tell(&self, event: Event) {
        if !self.events.send(event) {
            self.drops.untold.add(1);
        }
    }

    /// Adds sockets, one for each worker. Returns the index of their group, which is never reused.
    pub(super) fn add_group(&self, sockets: Vec<UdpSocket>) -> io::Result<usize> {
        if sockets.len() < self.workers.len() {
            return Err(io::Error::other("too few sockets"));
        }
        let group = self.next_group.fetch_add(1, Ordering::Relaxed);
        let sockets: Arc<[UdpSocket]> = sockets.into();
        self.publish(|table| table.add_group(group, Arc::clone(&sockets)));
        for (worker, socket) in self.workers.iter().zip(&*sockets) {
            let name = epoll::EventData::new_u64(group as u64);
            epoll::add(&worker.arrivals, socket, name, epoll::EventFlags::IN)?;
        }
        Ok(group)
    }

    /// Closes a group's sockets once no thread uses them any more.
    pub(super) fn remove_group(&self, group: usize) {
        if let Some(sockets) = self.table.current().group(group) {
            for (worker, socket) in self.workers.iter().zip(&**sockets) {
                // A failure means that it was never added.
                let _ = epoll::delete(&worker.arrivals, socket);
            }
        }
        self.publish_removal(|table| table.remove_group(group));
    }

    /// Passes a worker's queue from the inbound thread to the outbound thread.
    pub(super) fn pass_queue(&self, worker: usize) -> io::Result<()> {
        let own = &self.workers[worker];
        epoll::delete(&own.arrivals, &self.queues[worker])?;
        own.outbound_has_queue.store(true, Ordering::Release);
        signal(&own.wake_outbound);
        Ok(())
    }

    /// Returns a worker's queue to the inbound thread. Packets that have arrived meanwhile wake it.
    pub(super) fn return_queue(&self, worker: usize) -> io::Result<()> {
        let own = &self.workers[worker];
        own.outbound_has_queue.store(false, Ordering::Release);
        let name = epoll::EventData::new_u64(QUEUE);
        epoll::add(&own.arrivals, &self.queues[worker], name, epoll::EventFlags::IN)?;
        Ok(())
    }

    /// Registers a stream with a worker's epoll set for reading and writing. Edge-triggered, so
    /// that an idle writable stream does not cause wake-ups.
    pub(super) fn watch(&self, id: StreamId, stream: &PacketStream) -> io::Result<()> {
        let worker = (id % self.workers.len() as u64) as usize;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        epoll::add(&self.workers[worker].arrivals, stream, epoll::EventData::new_u64(id), flags)?;
        Ok(())
    }

    /// Sends a train or frames from this worker.
    pub(super) fn send(
        &self,
        worker: usize,
        table: &Table,
        bytes: &[u8],
        segment: usize,
        to: Remote,
    ) -> io::Result<Written> {
        match to {
            Remote::Udp { group, endpoint } => {
                let group = table.group(group).ok_or(io::ErrorKind::NotConnected)?;
                group[worker].send(bytes, segment, &endpoint)?;
                Ok(Written::All)
            }
            Remote::Tcp(id) => table.stream(id).ok_or(io::ErrorKind::NotConnected)?.write(bytes),
        }
    }

    /// Sends one packet.
    pub(super) fn send_packet(&self, table: &Table, packet: &[u8], to: Remote) -> io::Result<()> {
        let written = match to {
            Remote::Udp { .. } => self.send(0, table, packet, packet.len(), to)?,
            Remote::Tcp(id) => {
                table.stream(id).ok_or(io::ErrorKind::NotConnected)?.write_packet(packet)?
            }
        };
        match written {
            Written::Refused => Err(io::ErrorKind::NotConnected.into()),
            Written::All | Written::Pending => Ok(()),
        }
    }
}

fn wake() -> io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?)
}

/// A counter of dropped packets.
#[derive(Debug, Default)]
pub(super) struct Drop(AtomicU64);

impl Drop {
    pub(super) fn add(&self, packets: u64) {
        self.0.fetch_add(packets, Ordering::Relaxed);
    }
}

macro_rules! drops {
    ($($(#[$documentation:meta])* $name:ident,)*) => {
        /// Live counters of dropped packets, by reason.
        #[derive(Debug, Default)]
        pub(super) struct Drops {
            $(pub(super) $name: Drop,)*
        }

        /// Numbers of dropped packets since the start, by reason.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Dropped {
            $($(#[$documentation])* pub $name: u64,)*
        }

        impl Drops {
            pub(super) fn snapshot(&self) -> Dropped {
                Dropped { $($name: self.$name.0.load(Ordering::Relaxed),)* }
            }
        }
    };
}

drops! {
    /// Unknown peer or key.
    unknown,
    /// Unauthentic, replayed or malformed.
    rejected,
    /// Inner source address not assigned to the peer, or a frame from a group.
    spoofed,
    /// Frame with a tag from a peer, or of a VLAN that the device does not carry.
    foreign,
    /// Inner destination without a peer, or neither an IP packet nor a frame.
    unroutable,
    /// Peer without a key, or with an exhausted one.
    keyless,
    /// Refused by the socket or stream, or too long for a datagram.
    unsent,
    /// Refused by the TUN device.
    unwritten,
    /// Events dropped because the channel was full.
    untold,
}
