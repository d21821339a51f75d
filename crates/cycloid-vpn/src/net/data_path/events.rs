//! Events from the data path to the control thread: a bounded channel with a pollable descriptor.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rustix::event::{EventfdFlags, eventfd};

use super::{PeerId, Remote, StreamId};

/// Maximum number of queued events; further events are dropped.
const CAPACITY: usize = 1024;

/// An event for the control thread.
#[derive(Debug)]
pub enum Event {
    /// A packet outside of the data channel, not authenticated yet.
    Received {
        /// The claimed sender.
        from: Remote,
        /// The packet as received.
        packet: Vec<u8>,
    },
    /// An authentic inner packet that is neither IP, or a frame, nor a ping.
    Message {
        /// The sender.
        peer: PeerId,
        /// The inner packet.
        packet: Vec<u8>,
    },
    /// The latest authentic packet of a peer came from a new address. Repeated after a second if
    /// the peer is not moved there; limited in number.
    Float {
        /// The peer.
        peer: PeerId,
        /// Its new address.
        from: Remote,
    },
    /// A peer compresses packets although it may not. Reported once.
    Compresses {
        /// The peer.
        peer: PeerId,
    },
    /// A stream has ended and was removed.
    Closed {
        /// The stream.
        stream: StreamId,
    },
    /// A thread has ended because the TUN device or one of its descriptors failed.
    Failed {
        /// The cause.
        cause: io::Error,
    },
}

/// The control thread's end of the channel.
#[derive(Debug)]
pub struct Events {
    receiver: Receiver<Event>,
    ready: Arc<OwnedFd>,
}

/// The data path's end of the channel.
#[derive(Debug)]
pub(super) struct EventSender {
    sender: SyncSender<Event>,
    ready: Arc<OwnedFd>,
}

pub(super) fn channel() -> io::Result<(EventSender, Events)> {
    let (sender, receiver) = sync_channel(CAPACITY);
    let ready = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
    Ok((EventSender { sender, ready: Arc::clone(&ready) }, Events { receiver, ready }))
}

impl Events {
    /// Returns the next event. After `None`, the descriptor becomes readable with the next event;
    /// otherwise it stays readable while there may be more.
    pub fn next(&self) -> Option<Event> {
        self.receiver.try_recv().ok().or_else(|| {
            clear(&self.ready);
            // More events may follow one that arrived just now, so the descriptor stays readable.
            self.receiver.try_recv().ok().inspect(|_| signal(&self.ready))
        })
    }
}

impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}

impl EventSender {
    /// Sends an event. Returns whether the channel had room.
    pub(super) fn send(&self, event: Event) -> bool {
        let sent = self.sender.try_send(event).is_ok();
        signal(&self.ready);
        sent
    }
}

/// Makes an `eventfd` readable.
pub(super) fn signal(eventfd: &OwnedFd) {
    // Fails only if it is readable already.
    let _ = rustix::io::write(eventfd, &1_u64.to_ne_bytes());
}

/// Makes an `eventfd` unreadable.
pub(super) fn clear(eventfd: &OwnedFd) {
    // Fails only if it is not readable.
    let _ = rustix::io::read(eventfd, &mut [0; 8]);
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn the_descriptor_is_readable_until_the_channel_is_empty() {
        let (sender, events) = channel().unwrap();
        let readable = || {
            let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
            poll(&mut [PollFd::new(&events, PollFlags::IN)], Some(&at_once)).unwrap() == 1
        };
        let closed = |stream| Event::Closed { stream };
        assert!(!readable());
        assert!((0..3).all(|stream| sender.send(closed(stream))));
        for stream in 0..3 {
            assert!(
                matches!(events.next(), Some(Event::Closed { stream: found }) if found == stream)
            );
            assert!(readable(), "the rest must still wake the reader");
        }
        assert!(events.next().is_none());
        assert!(!readable());
    }
}
