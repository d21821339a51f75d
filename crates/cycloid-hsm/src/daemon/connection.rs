//! A client's connection: receives frames, and sends answers from any thread.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};
use zeroize::Zeroize;

use super::application::{Application, Peer};
use super::wire::Wire;
use crate::rpc::frame::{self, Frame};
use crate::rpc::message::Response;
use crate::rpc::{Unreadable, version};
use crate::spans::{self, Span};
use crate::{Code, Error, Result};

/// The maximum number of requests in flight on one connection.
const MOST_REQUESTS: usize = 256;

/// The number of bytes of requests in flight at which reading pauses.
const MOST_BYTES: usize = 4 << 20;

/// The number of unsent bytes at which reading pauses.
const MOST_UNSENT: usize = 1 << 20;

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
    /// Whether epoll reports room in the socket.
    watches_room: AtomicBool,
    /// Held while changing what epoll reports, so the last writer has seen the latest state.
    watching: Mutex<()>,
}

/// The state of a connection after reading.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    /// The connection stays open.
    Open,
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
            watches_room: AtomicBool::new(false),
            watching: Mutex::default(),
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
        self.wire.shut_down();
    }

    /// Reads all available data, and passes each request to `handle`. A panic in `handle`, which
    /// would be a defect, closes the connection.
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
                if state == State::Closed {
                    self.hang_up();
                    return State::Closed;
                }
            }
        }
        State::Open
    }

    fn read(
        self: &Arc<Self>,
        input: &mut Vec<u8>,
        handle: &mut impl FnMut(Reply, &[u8]),
    ) -> Result<State, Unreadable> {
        // Epoll does not report data that is already decrypted.
        while !self.is_held() || self.wire.holds_more() {
            let filled = input.len();
            // The buffer doubles with the data received, so a claimed length alone allocates
            // nothing.
            input.resize(filled + 4096.max(filled), 0);
            let span = spans::enter(Span::Read);
            let read = self.wire.read(&mut input[filled..]);
            drop(span);
            let count = match read {
                Ok(0) => None,
                Ok(count) => Some(count),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => Some(0),
                    io::ErrorKind::Interrupted => {
                        input.truncate(filled);
                        continue;
                    }
                    _ => None,
                },
            };
            let room = input.len() - filled;
            input.truncate(filled + count.unwrap_or(0));
            let mut taken = 0;
            while let Some(frame) = frame::read(&input[taken..])? {
                let Frame { identifier, message, length } = frame;
                self.under_way.fetch_add(1, Ordering::Relaxed);
                self.bytes_under_way.fetch_add(length, Ordering::Relaxed);
                let reply = Reply { connection: Some(self.clone()), identifier, length };
                handle(reply, message);
                taken += length;
            }
            input[..taken].zeroize();
            input.drain(..taken);
            match count {
                None => return Ok(State::Closed),
                Some(count) if count < room && !self.wire.holds_more() => break,
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
        self.watches_room.store(unsent, Ordering::SeqCst);
        let mut flags = EventFlags::IN | EventFlags::ET;
        flags.set(EventFlags::OUT, unsent);
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

    /// Sends an answer, which `write` encodes, to a request of `length` bytes. An answer that is
    /// longer than a frame can be becomes a refusal.
    fn send(
        self: &Arc<Self>,
        (identifier, length): (u32, usize),
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let mut output = lock(&self.output);
        let start = output.len();
        frame::write(identifier, &mut output, write);
        if output.len() - start - 4 > frame::MAX_LENGTH {
            output[start..].zeroize();
            output.truncate(start);
            let response = too_long();
            frame::write(identifier, &mut output, |to| response.write(to));
        }
        drop(output);
        self.bytes_under_way.fetch_sub(length, Ordering::SeqCst);
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        OUTBOX.with(|outbox| match &mut *outbox.borrow_mut() {
            Some(waiting) => {
                if !waiting.iter().any(|other| Arc::ptr_eq(other, self)) {
                    waiting.push(self.clone());
                }
            }
            None => self.flush(),
        });
    }
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
    static OUTBOX: RefCell<Option<Vec<Arc<Connection>>>> = const { RefCell::new(None) };
}

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
        waiting.iter().for_each(|connection| connection.flush());
    }
}

/// The destination of an answer. If dropped without an answer, it reports an error.
#[derive(Debug)]
pub struct Reply {
    connection: Option<Arc<Connection>>,
    identifier: u32,
    /// The length of the request's frame.
    length: usize,
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
            connection.send((self.identifier, self.length), |to| response.write(to));
        }
    }

    /// Refuses the request of a program of protocol version 1, in its encoding.
    pub fn refuse_version_1(mut self, error: &Error) {
        if let Some(connection) = self.connection.take() {
            connection
                .send((self.identifier, self.length), |to| version::write_refusal_1(error, to));
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            let response = refused(Code::DEVICE_ERROR.because("the request was interrupted"));
            connection.send((self.identifier, self.length), |to| response.write(to));
        }
    }
}
