//! A slot: memory that the daemon and one connection of a client share, for one request at a time.
//! Neither needs the kernel to pass a message, except to wake a client that sleeps.
//!
//! A client writes its request, and the daemon takes it when it looks; the answer takes the place
//! of the request. While the daemon does not look, the client uses the socket, which wakes the
//! daemon: before it sleeps, the daemon marks the slot as unwatched, and then checks it once more.
//!
//! Each side distrusts what it reads here. A message is copied before it is read, by a length that
//! was read once. What the other side does at the wrong time harms its own connection alone.
//! Messages may be secret, so whoever takes one wipes it.

mod memory;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};

use rustix::fs::Timespec;
use rustix::thread::futex;

use super::bytes::{append, reserve};
use memory::{Contents, Memory};

/// The number of words of a message.
const WORDS: usize = 256;

/// The maximum length of a message in a slot, in bytes. Longer ones go through the socket.
pub const MAX_LENGTH: usize = 8 * WORDS;

/// No request: the client's turn.
const FREE: u32 = 0;
/// A request for the daemon.
const ASKED: u32 = 1;
/// The daemon has taken the request.
const TAKEN: u32 = 2;
/// An answer for the client.
const ANSWERED: u32 = 3;
/// The answer is in the socket, or the connection ends.
const IN_SOCKET: u32 = 4;

/// How long a client sleeps before it looks whether the daemon is still there.
const LONGEST_SLEEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

impl Contents {
    fn state(&self) -> &AtomicU32 {
        &self.state.0
    }

    fn write(&self, message: &[u8]) {
        for (word, bytes) in self.message.0.iter().zip(message.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(whole), Ordering::Relaxed);
        }
        let length = u32::try_from(message.len()).expect("messages are far shorter");
        self.length.0.store(length, Ordering::Relaxed);
    }

    /// Appends the message to `to`, and wipes it. Returns whether its length is possible.
    fn take(&self, to: &mut Vec<u8>) -> bool {
        let length = self.length.0.load(Ordering::Relaxed) as usize;
        if length > MAX_LENGTH {
            return false;
        }
        reserve(to, length);
        for (i, word) in self.message.0[..length.div_ceil(8)].iter().enumerate() {
            let whole = word.load(Ordering::Relaxed).to_ne_bytes();
            append(to, &whole[..(length - 8 * i).min(8)]);
            word.store(0, Ordering::Relaxed);
        }
        true
    }
}

/// The daemon's side.
pub struct DaemonSlot {
    memory: Memory,
    /// Whether a request was taken and not answered, whatever the memory says.
    busy: AtomicBool,
}

impl std::fmt::Debug for DaemonSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DaemonSlot")
    }
}

impl DaemonSlot {
    /// Creates a slot, and the file for the client.
    ///
    /// # Errors
    /// The kernel's errors.
    pub fn create() -> io::Result<(OwnedFd, Self)> {
        let (file, memory) = Memory::create()?;
        Ok((file, Self { memory, busy: AtomicBool::new(false) }))
    }

    /// Says whether the daemon looks at the slot. After it has said no, it must look once more.
    pub fn watch(&self, watched: bool) {
        self.memory.contents().watched.0.store(watched.into(), Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Returns whether there may be a request.
    pub fn is_asked(&self) -> bool {
        self.memory.contents().state().load(Ordering::SeqCst) == ASKED
            && !self.busy.load(Ordering::SeqCst)
    }

    /// Appends the client's request to `to`, if there is one. A request whose length is impossible
    /// is empty. Until it is answered there is no other one.
    pub fn take(&self, to: &mut Vec<u8>) -> bool {
        if !self.is_asked() || self.busy.swap(true, Ordering::SeqCst) {
            return false;
        }
        let contents = self.memory.contents();
        let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
        if contents.state().compare_exchange(ASKED, TAKEN, success, failure).is_err() {
            self.busy.store(false, Ordering::SeqCst);
            return false;
        }
        contents.take(to);
        true
    }

    /// Answers the request; `None` if the answer is in the socket. Returns whether the client must
    /// be woken.
    pub fn answer(&self, message: Option<&[u8]>) -> bool {
        let contents = self.memory.contents();
        let message = message.filter(|message| message.len() <= MAX_LENGTH);
        if let Some(message) = message {
            contents.write(message);
        }
        // Before the client sees the answer: its next request must be found.
        self.busy.store(false, Ordering::SeqCst);
        let state = if message.is_some() { ANSWERED } else { IN_SOCKET };
        contents.state().store(state, Ordering::SeqCst);
        contents.asleep.0.load(Ordering::SeqCst) != 0
    }

    /// Wakes the client.
    pub fn wake(&self) {
        let _ = futex::wake(self.memory.contents().state(), futex::Flags::empty(), 1);
    }

    /// Wakes the clients of several slots together, so that none runs before all are awake: each
    /// switch to a client and back costs more than the calls of the kernel here.
    pub fn wake_all<'a>(slots: impl IntoIterator<Item = &'a Self>) {
        // Clients that sleep on their states are moved here, asleep, and then woken.
        let here = AtomicU32::new(0);
        let flags = futex::Flags::empty();
        let mut all = slots.into_iter().peekable();
        let Some(first) = all.next() else { return };
        if all.peek().is_none() {
            return first.wake();
        }
        for slot in std::iter::once(first).chain(all) {
            let state = slot.memory.contents().state();
            let current = state.load(Ordering::SeqCst);
            // If the client has changed the state, it does not sleep, or should not.
            if futex::cmp_requeue(state, flags, 0, 1, &here, current).is_err() {
                slot.wake();
            }
        }
        let _ = futex::wake(&here, flags, u32::MAX >> 1);
    }

    /// Sends a client that waits to the socket, because the connection ends.
    pub fn abandon(&self) {
        self.watch(false);
        let state = self.memory.contents().state();
        // An answer that the client has not read yet stays.
        for waiting in [ASKED, TAKEN] {
            let (success, failure) = (Ordering::SeqCst, Ordering::SeqCst);
            let _ = state.compare_exchange(waiting, IN_SOCKET, success, failure);
        }
        self.wake();
    }
}

impl Drop for DaemonSlot {
    fn drop(&mut self) {
        self.abandon();
    }
}

/// The client's side.
pub struct ClientSlot(Memory);

/// Where the answer to a request is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It was appended to the buffer.
    Here,
    /// It comes through the socket, or the connection has ended.
    InSocket,
    /// It has an impossible length.
    Unreadable,
}

impl ClientSlot {
    /// Uses the daemon's file.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if it is not as a daemon makes it; the kernel's errors.
    pub(super) fn new(file: &OwnedFd) -> io::Result<Self> {
        Memory::map(file).map(Self)
    }

    /// Gives a request to the daemon. Returns `false` if it must be sent through the socket: it is
    /// too long, or the daemon does not look.
    pub(super) fn ask(&self, message: &[u8]) -> bool {
        if message.len() > MAX_LENGTH || !self.is_watched() {
            return false;
        }
        self.offer(message);
        self.is_accepted()
    }

    fn offer(&self, message: &[u8]) {
        let contents = self.0.contents();
        contents.write(message);
        contents.state().store(ASKED, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Returns whether the daemon has the request that was offered, or will find it. If not, takes
    /// it back.
    fn is_accepted(&self) -> bool {
        if self.is_watched() {
            return true;
        }
        // The daemon may have gone to sleep without it. If not, it has taken the request.
        let contents = self.0.contents();
        let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
        if contents.state().compare_exchange(ASKED, FREE, success, failure).is_err() {
            return true;
        }
        contents.take(&mut zeroize::Zeroizing::new(Vec::new()));
        false
    }

    fn is_watched(&self) -> bool {
        self.0.contents().watched.0.load(Ordering::SeqCst) != 0
    }

    /// Takes the answer, if it is there.
    pub(super) fn answer(&self, to: &mut Vec<u8>) -> Option<Answer> {
        let contents = self.0.contents();
        let answer = match contents.state().load(Ordering::Acquire) {
            ASKED | TAKEN => return None,
            ANSWERED => match contents.take(to) {
                true => Answer::Here,
                false => Answer::Unreadable,
            },
            _ => Answer::InSocket,
        };
        contents.state().store(FREE, Ordering::SeqCst);
        Some(answer)
    }

    /// Sleeps until there is an answer, but not for long.
    pub(super) fn sleep(&self) {
        let contents = self.0.contents();
        contents.asleep.0.store(1, Ordering::SeqCst);
        let state = contents.state().load(Ordering::SeqCst);
        if state == ASKED || state == TAKEN {
            let flags = futex::Flags::empty();
            let _ = futex::wait(contents.state(), flags, state, Some(&LONGEST_SLEEP));
        }
        contents.asleep.0.store(0, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests;
