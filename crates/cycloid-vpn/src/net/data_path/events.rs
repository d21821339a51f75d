//! What the data path tells the control thread: a channel of bounded length with a descriptor to
//! wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rustix::event::{EventfdFlags, eventfd};

use super::{PeerId, Remote, StreamId};

/// How many events may wait; more are dropped.
const CAPACITY: usize = 1024;

/// Something that the control thread is to act on.
#[derive(Debug)]
pub enum Event {
    /// A packet that is not of the data channel. Nobody has looked at it.
    Received {
        /// Who sent it, or pretends to.
        from: Remote,
        /// The packet as it came.
        packet: Vec<u8>,
    },
    /// An authentic inner packet that is neither IP nor a ping.
    Message {
        /// Who sent it.
        peer: PeerId,
        /// The inner packet.
        packet: Vec<u8>,
    },
    /// An authentic packet of a peer came from another address than the one it has; said once.
    Float {
        /// Which peer.
        peer: PeerId,
        /// Where it is now.
        from: Remote,
    },
    /// A stream has ended; it is forgotten.
    Closed {
        /// Which.
        stream: StreamId,
    },
    /// A thread ended, since the TUN device or a descriptor of its own failed.
    Failed {
        /// Why.
        cause: io::Error,
    },
}

/// The control thread's end.
#[derive(Debug)]
pub struct Events {
    receiver: Receiver<Event>,
    ready: Arc<OwnedFd>,
}

/// The data path's end.
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
    /// The next event. Without one, the descriptor becomes readable when there is; after one it is
    /// readable as long as there may be more.
    pub fn next(&self) -> Option<Event> {
        self.receiver.try_recv().ok().or_else(|| {
            clear(&self.ready);
            // Behind one that came just now others may have come.
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
    /// Whether there was room.
    pub(super) fn send(&self, event: Event) -> bool {
        let sent = self.sender.try_send(event).is_ok();
        signal(&self.ready);
        sent
    }
}

/// Makes an `eventfd` readable.
pub(super) fn signal(eventfd: &OwnedFd) {
    // It fails only where it is readable already.
    let _ = rustix::io::write(eventfd, &1_u64.to_ne_bytes());
}

/// Makes an `eventfd` unreadable.
pub(super) fn clear(eventfd: &OwnedFd) {
    // It fails only where it is not readable.
    let _ = rustix::io::read(eventfd, &mut [0; 8]);
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn the_descriptor_is_readable_until_there_was_no_event() {
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
            assert!(readable(), "who stops here is woken for the rest");
        }
        assert!(events.next().is_none());
        assert!(!readable());
    }
}
