//! A client's connection: receives frames, and sends answers from any thread.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};
use zeroize::Zeroize;

use super::application::{Application, Peer};
use super::wire::Wire;
use crate::rpc::frame::{self, Frame};
use crate::rpc::message::Response;
use crate::rpc::slot::{self, DaemonSlot};
use crate::rpc::{Unreadable, append, version};
use crate::spans::{self, Span};
use crate::{Code, Error, Result};

/// The maximum number of requests in flight on one connection.
const MOST_REQUESTS: usize = 256;

/// The number of bytes of requests in flight at which reading pauses.
const MOST_BYTES: usize = 4 << 20;

/// The number of unsent bytes at which reading pauses.
const MOST_UNSENT: usize = 1 << 20;

/// How long a worker handles the requests of one connection before those of others.
const LONGEST_TURN: Duration = Duration::from_micros(250);

/// A slot that was empty so many times in a row is not looked at any more, so that clients at rest
/// cost nothing.
const MOST_IDLE_LOOKS: u32 = 256;

/// A client's connection.
#[derive(Debug)]
pub struct Connection {
    /// Its number.
    pub number: u64,
    /// The application it belongs to, once Hello or Attach has named it.
    pub application: OnceLock<Arc<Application>>,
    /// The peer's identity, once known.
    peer: OnceLock<Peer>,
    since: Instant,
    wire: Wire,
    poll: Arc<OwnedFd>,
    input: Mutex<Vec<u8>>,
    output: Mutex<Vec<u8>>,
    under_way: AtomicUsize,
    /// The bytes of the requests under way.
    bytes_under_way: AtomicUsize,
    /// Whether data has arrived since the last look.
    arrived: AtomicBool,
    /// Whether reading is paused until there is room again.
    held: AtomicBool,
    /// Whether there is data, read or decrypted, that epoll does not report.
    has_more: AtomicBool,
    /// Whether epoll reports room in the socket.
    watches_room: AtomicBool,
    /// Held while changing what epoll reports, so the last writer has seen the latest state.
    watching: Mutex<()>,
    /// Memory for requests, once the client has asked for it.
    slot: OnceLock<DaemonSlot>,
    /// Whether the connection is among those whose slots are looked at.
    is_watched: AtomicBool,
    /// The number of times in a row that nothing was there.
    idle_looks: AtomicU32,
    is_closed: AtomicBool,
}

/// The state of a connection after reading.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    /// The connection stays open.
    Open,
    /// Others come first; then there is more to do.
    Unfinished,
    /// The connection is unusable.
    Closed,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wire.as_fd()
    }
}

impl Connection {
    /// Creates a connection and adds it to `poll`. `peer` is the peer's identity, unless the wire
    /// determines it.
    ///
    /// # Errors
    /// The kernel's errors.
    pub(super) fn new(
        number: u64,
        peer: Option<Peer>,
        wire: Wire,
        poll: Arc<OwnedFd>,
    ) -> io::Result<Arc<Self>> {
        let connection = Arc::new(Self {
            number,
            application: OnceLock::new(),
            peer: peer.map_or_else(OnceLock::new, OnceLock::from),
            since: Instant::now(),
            wire,
            poll,
            input: Mutex::default(),
            output: Mutex::default(),
            under_way: AtomicUsize::new(0),
            bytes_under_way: AtomicUsize::new(0),
            arrived: AtomicBool::new(false),
            held: AtomicBool::new(false),
            has_more: AtomicBool::new(false),
            watches_room: AtomicBool::new(false),
            watching: Mutex::default(),
            slot: OnceLock::new(),
            is_watched: AtomicBool::new(false),
            idle_looks: AtomicU32::new(0),
            is_closed: AtomicBool::new(false),
        });
        epoll::add(
            &*connection.poll,
            &connection.wire,
            EventData::new_u64(number),
            EventFlags::IN | EventFlags::ET,
        )?;
        Ok(connection)
    }

    /// Returns the peer's identity.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`] while it is unknown; no request is handled before.
    pub fn peer(&self) -> Result<&Peer> {
        if let (None, Some(peer)) = (self.peer.get(), self.wire.peer()) {
            let _ = self.peer.set(peer);
        }
        self.peer.get().ok_or_else(|| Code::DEVICE_ERROR.into())
    }

    /// Returns how long the connection has been open, while the peer is unauthenticated.
    pub fn unauthenticated_for(&self) -> Option<Duration> {
        (!self.wire.is_established()).then(|| self.since.elapsed())
    }

    /// Returns the peer's identity, if known, and whether no request is under way.
    pub fn holder(&self) -> (Option<&Peer>, bool) {
        (self.peer().ok(), self.under_way.load(Ordering::SeqCst) == 0)
    }

    /// Closes the connection.
    pub fn hang_up(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.wire.shut_down();
        if let Some(slot) = self.slot.get() {
            slot.abandon();
        }
    }

    /// Returns whether the connection was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Answers a request for a slot: by Done, which the file of its memory accompanies.
    ///
    /// # Errors
    /// [`Code::FUNCTION_NOT_SUPPORTED`] for a client on another machine; [`Code::DEVICE_MEMORY`] if
    /// the connection has a slot or answers that are not sent yet; [`Code::HOST_MEMORY`].
    fn share(self: &Arc<Self>, identifier: u32) -> Result<()> {
        if self.wire.is_remote() {
            return Err(Code::FUNCTION_NOT_SUPPORTED.into());
        }
        let mut output = lock(&self.output);
        if !output.is_empty() || self.slot.get().is_some() {
            return Err(Code::DEVICE_MEMORY.because("the connection has other answers to send"));
        }
        let refused = |error: io::Error| Code::HOST_MEMORY.because(error.to_string());
        let (file, slot) = DaemonSlot::create().map_err(refused)?;
        frame::write(identifier, &mut output, |to| Response::Done {}.write(to));
        match self.wire.write_with_file(&output, &file) {
            Ok(sent) => drop(output.drain(..sent)),
            Err(error) => {
                output.clear();
                return Err(refused(error));
            }
        }
        // Nobody else sets it: the lock is held.
        let _ = self.slot.set(slot);
        Ok(())
    }

    /// Lets the client use its slot, if it has one. Returns whether the caller is to note that the
    /// slot must be looked at from now on.
    pub(super) fn watch_slot(&self) -> bool {
        let Some(slot) = self.slot.get() else { return false };
        let new = !self.is_closed() && !self.is_watched.swap(true, Ordering::SeqCst);
        if new {
            self.idle_looks.store(0, Ordering::Relaxed);
            slot.watch(true);
        }
        new
    }

    /// Returns whether the slot need not be looked at any more: the connection is closed, or the
    /// client has not used the slot for long.
    pub(super) fn is_slot_at_rest(&self) -> bool {
        self.is_closed() || self.idle_looks.load(Ordering::Relaxed) >= MOST_IDLE_LOOKS
    }

    /// Makes the client use the socket. There may be a last request in the slot.
    pub(super) fn forget_slot(&self) {
        self.is_watched.store(false, Ordering::SeqCst);
        if let Some(slot) = self.slot.get() {
            slot.watch(false);
        }
    }

    /// Passes the request in the slot to `handle`, if there is one. Returns whether there was one.
    pub(super) fn serve_slot(self: &Arc<Self>, handle: impl FnOnce(Reply, &[u8])) -> bool {
        let Some(slot) = self.slot.get() else { return false };
        if !slot.is_asked() || self.is_closed() || self.is_full() {
            let is_idle = self.under_way.load(Ordering::Relaxed) == 0;
            self.idle_looks.fetch_add(u32::from(is_idle), Ordering::Relaxed);
            return false;
        }
        self.idle_looks.store(0, Ordering::Relaxed);
        IN_SLOT.with_borrow_mut(|message| {
            if !slot.take(message) {
                return false;
            }
            let length = message.len();
            self.under_way.fetch_add(1, Ordering::Relaxed);
            self.bytes_under_way.fetch_add(length, Ordering::Relaxed);
            let connection = Some(self.clone());
            let reply = Reply { connection, identifier: 0, length, in_slot: true };
            let handled = catch_unwind(AssertUnwindSafe(|| handle(reply, message)));
            wipe(message);
            if handled.is_err() {
                self.hang_up();
            }
            true
        })
    }

    /// Reads the available data, and passes each request to `handle`. A panic in `handle`, which
    /// would be a defect, closes the connection. If that takes long, epoll reports the connection
    /// again, so that others come first.
    ///
    /// Epoll reports new data once. If a worker already reads, it reads the new data too.
    pub fn serve(self: &Arc<Self>, mut handle: impl FnMut(Reply, &[u8])) -> State {
        self.arrived.store(true, Ordering::SeqCst);
        while self.arrived.load(Ordering::SeqCst) {
            let Ok(mut input) = self.input.try_lock() else { return State::Open };
            while self.arrived.swap(false, Ordering::SeqCst) {
                let read = AssertUnwindSafe(|| self.read(&mut input, &mut handle));
                let state = match catch_unwind(read) {
                    // TLS may leave data in the socket, which epoll then reports again.
                    Ok(Ok(State::Open)) if self.wire.is_remote() => self.watch(),
                    Ok(Ok(state)) => state,
                    _ => State::Closed,
                };
                if state == State::Unfinished {
                    // First, so that the worker that is told of the rest can read it.
                    drop(input);
                    return self.watch();
                }
                if state == State::Closed {
                    self.hang_up();
                    return State::Closed;
                }
            }
        }
        State::Open
    }

    /// Reads some of what has arrived. Returns the number of bytes, which is `None` at the end, and
    /// the number of those that there was room for.
    fn fill(&self, input: &mut Vec<u8>) -> (Option<usize>, usize) {
        let filled = input.len();
        // The buffer doubles with the data received, so a claimed length alone allocates nothing.
        let room = 4096.max(filled);
        input.resize(filled + room, 0);
        let _span = spans::enter(Span::Read);
        let count = loop {
            match self.wire.read(&mut input[filled..]) {
                Ok(0) => break None,
                Ok(count) => break Some(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break Some(0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break None,
            }
        };
        input.truncate(filled + count.unwrap_or(0));
        (count, room)
    }

    fn read(
        self: &Arc<Self>,
        input: &mut Vec<u8>,
        handle: &mut impl FnMut(Reply, &[u8]),
    ) -> Result<State, Unreadable> {
        let begun = Instant::now();
        // Epoll does not report data that is already decrypted.
        while !self.is_held() || self.wire.holds_more() {
            // Before, nothing is read: a client that sends faster does not make the buffer grow.
            let (count, room) = match frame::read(input)? {
                Some(_) => (Some(0), 0),
                None => self.fill(input),
            };
            let mut taken = 0;
            while begun.elapsed() < LONGEST_TURN
                && let Some(frame) = frame::read(&input[taken..])?
            {
                let Frame { identifier, message, length } = frame;
                self.under_way.fetch_add(1, Ordering::Relaxed);
                self.bytes_under_way.fetch_add(length, Ordering::Relaxed);
                let connection = Some(self.clone());
                let reply = Reply { connection, identifier, length, in_slot: false };
                handle(reply, message);
                taken += length;
            }
            input[..taken].zeroize();
            input.drain(..taken);
            let (has_frame, holds_more) = (frame::read(input)?.is_some(), self.wire.holds_more());
            self.has_more.store(has_frame || holds_more, Ordering::SeqCst);
            match count {
                _ if has_frame => return Ok(State::Unfinished),
                None => return Ok(State::Closed),
                Some(count) if count < room && !holds_more => break,
                Some(_) if begun.elapsed() >= LONGEST_TURN => return Ok(State::Unfinished),
                Some(_) => {}
            }
        }
        Ok(State::Open)
    }

    /// Pauses reading while there is no room, and returns whether it is paused.
    fn is_held(&self) -> bool {
        if self.is_full() {
            self.held.store(true, Ordering::SeqCst);
        }
        // Room may have become free before `held` was visible to other threads.
        self.held.load(Ordering::SeqCst) && (self.is_full() || !self.release())
    }

    /// Ends a pause. Returns whether there was one.
    fn release(&self) -> bool {
        self.held.swap(false, Ordering::SeqCst)
    }

    fn is_full(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) >= MOST_REQUESTS
            || self.bytes_under_way.load(Ordering::SeqCst) >= MOST_BYTES
            || lock(&self.output).len() >= MOST_UNSENT
    }

    /// Lets epoll report what the connection waits for, also what is there already.
    fn watch(&self) -> State {
        let _watching = lock(&self.watching);
        let unsent = !lock(&self.output).is_empty() || self.wire.is_unsent();
        // Requests that were read are not in the socket, but its room is reported in any case.
        let has_more = self.has_more.load(Ordering::SeqCst);
        let room = unsent || has_more && !self.held.load(Ordering::SeqCst);
        self.watches_room.store(room, Ordering::SeqCst);
        let mut flags = EventFlags::IN | EventFlags::ET;
        flags.set(EventFlags::OUT, room);
        match epoll::modify(&*self.poll, &self.wire, EventData::new_u64(self.number), flags) {
            Ok(()) => State::Open,
            Err(_) => State::Closed,
        }
    }

    /// Sends queued data, as far as the socket accepts it.
    pub fn flush(&self) {
        let _span = spans::enter(Span::Send);
        let mut output = lock(&self.output);
        let mut sent = 0;
        while sent < output.len() {
            match self.wire.write(&output[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => sent = output.len(),
            }
        }
        output[..sent].zeroize();
        output.drain(..sent);
        // A send error also shows up when reading.
        let _ = self.wire.flush();
        let unsent = !output.is_empty() || self.wire.is_unsent();
        drop(output);
        // Unread data is reported again when a pause ends.
        let released = self.held.load(Ordering::SeqCst) && !self.is_full() && self.release();
        if released || unsent || self.watches_room.load(Ordering::SeqCst) {
            self.watch();
        }
    }

    /// Sends an answer, which `write` encodes.
    fn send(self: &Arc<Self>, reply: &Reply, write: impl FnOnce(&mut Vec<u8>)) {
        let &Reply { identifier, length, in_slot, .. } = reply;
        let to_do = match self.slot.get().filter(|_| in_slot) {
            Some(slot) => FOR_SLOT.with_borrow_mut(|answer| {
                write(answer);
                let short = answer.len() <= slot::MAX_LENGTH;
                if !short {
                    self.queue(identifier, |to| append(to, answer));
                    self.flush();
                }
                self.is_done(length);
                let wake = slot.answer(short.then_some(answer));
                wipe(answer);
                wake.then_some(ToDo::Wake)
            }),
            None => {
                self.queue(identifier, write);
                self.is_done(length);
                Some(ToDo::Flush)
            }
        };
        let Some(to_do) = to_do else { return };
        OUTBOX.with_borrow_mut(|outbox| match outbox {
            Some(waiting) => {
                let is_same =
                    |(other, what): &(Arc<Self>, ToDo)| Arc::ptr_eq(other, self) && *what == to_do;
                if !waiting.iter().any(is_same) {
                    waiting.push((self.clone(), to_do));
                }
            }
            None => self.finish(to_do),
        });
    }

    /// Notes that a request of `length` bytes has its answer.
    fn is_done(&self, length: usize) {
        self.bytes_under_way.fetch_sub(length, Ordering::SeqCst);
        self.under_way.fetch_sub(1, Ordering::SeqCst);
    }

    fn finish(&self, to_do: ToDo) {
        match (to_do, self.slot.get()) {
            (ToDo::Wake, Some(slot)) => {
                let _span = spans::enter(Span::Send);
                slot.wake();
            }
            _ => self.flush(),
        }
    }

    /// Queues an answer for the socket. An answer that is longer than a frame can be becomes a
    /// refusal.
    fn queue(&self, identifier: u32, write: impl FnOnce(&mut Vec<u8>)) {
        let mut output = lock(&self.output);
        let start = output.len();
        frame::write(identifier, &mut output, write);
        if output.len() - start - 4 > frame::MAX_LENGTH {
            output[start..].zeroize();
            output.truncate(start);
            let response = too_long();
            frame::write(identifier, &mut output, |to| response.write(to));
        }
    }
}

/// Wipes a buffer for messages in slots, and frees it if a longer message has been there.
fn wipe(buffer: &mut Vec<u8>) {
    buffer.as_mut_slice().zeroize();
    buffer.clear();
    if buffer.capacity() > 2 * slot::MAX_LENGTH {
        *buffer = Vec::new();
    }
}

/// The last step of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToDo {
    /// Send it through the socket.
    Flush,
    /// Wake the client, which has it in its slot.
    Wake,
}

fn refused(error: Error) -> Response {
    Response::Refused { code: error.code.0, detail: error.detail }
}

/// The answer in place of one that is too long.
fn too_long() -> Response {
    refused(Code::DEVICE_MEMORY.because("the answer is longer than a message can be"))
}

thread_local! {
    /// Connections with queued answers, while this thread gathers them.
    static OUTBOX: RefCell<Option<Outbox>> = const { RefCell::new(None) };

    /// A request from a slot, and an answer for one. They are wiped after use.
    static IN_SLOT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static FOR_SLOT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Connections, and what is left to do for their answers.
type Outbox = Vec<(Arc<Connection>, ToDo)>;

/// While this value lives, answers of this thread are queued; on drop, each connection's answers
/// are sent together.
#[derive(Debug)]
pub(super) struct Gathering(());

impl Gathering {
    /// Begins gathering. There is at most one such value per thread.
    pub(super) fn begin() -> Self {
        OUTBOX.with(|outbox| *outbox.borrow_mut() = Some(Vec::new()));
        Self(())
    }
}

impl Drop for Gathering {
    fn drop(&mut self) {
        let waiting = OUTBOX.with(|outbox| outbox.borrow_mut().take()).unwrap_or_default();
        for (connection, to_do) in &waiting {
            if *to_do == ToDo::Flush {
                connection.flush();
            }
        }
        let _span = spans::enter(Span::Send);
        let asleep = waiting.iter().filter(|(_, to_do)| *to_do == ToDo::Wake);
        DaemonSlot::wake_all(asleep.filter_map(|(connection, _)| connection.slot.get()));
    }
}

/// The destination of an answer. If dropped without an answer, it reports an error.
#[derive(Debug)]
pub struct Reply {
    connection: Option<Arc<Connection>>,
    identifier: u32,
    /// The length of the request's frame.
    length: usize,
    /// Whether the request came through the slot, as the answer is to.
    in_slot: bool,
}

impl Reply {
    /// Returns the connection of the request.
    pub fn connection(&self) -> &Arc<Connection> {
        self.connection.as_ref().expect("it is there until the answer is sent")
    }

    /// Sends the answer.
    pub fn send(mut self, answer: Result<Response>) {
        let response = answer.unwrap_or_else(refused);
        if let Some(connection) = self.connection.take() {
            connection.send(&self, |to| response.write(to));
        }
    }

    /// Answers a request for a slot.
    pub fn share(mut self) {
        match self.connection().share(self.identifier) {
            Ok(()) => {
                if let Some(connection) = self.connection.take() {
                    connection.is_done(self.length);
                    connection.flush();
                }
            }
            Err(error) => self.send(Err(error)),
        }
    }

    /// Refuses the request of a program of protocol version 1, in its encoding.
    pub fn refuse_version_1(mut self, error: &Error) {
        if let Some(connection) = self.connection.take() {
            connection.send(&self, |to| version::write_refusal_1(error, to));
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            let response = refused(Code::DEVICE_ERROR.because("the request was interrupted"));
            connection.send(self, |to| response.write(to));
        }
    }
}
