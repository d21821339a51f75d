//! The daemon's client: blocking, for use by any number of threads.
//!
//! Each call has a connection to itself, so threads do not wait for each other; idle connections
//! are kept for reuse. To the daemon, all connections of a client are one application: a login on
//! one applies to all. When the daemon goes away, the application ends and the client stays
//! unusable: a program that continues must create a new client and log in again.

use std::fmt;
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use zeroize::{Zeroize, Zeroizing};

use super::bytes::{Secret, reserve};
use super::frame;
use super::message::{Request, Response, Unreadable};
use super::polling::Polling;
use super::slot::{Answer, ClientSlot};
#[cfg(feature = "tls")]
use super::tls;
use super::version::{self, VERSION};
use crate::error::{Code, Error, Result};

/// Returns the default address of the daemon: `$CYCLOID_HSM_SOCKET`, or `cycloid-hsm.sock` in
/// `$XDG_RUNTIME_DIR`, or `/run/cycloid-hsm/socket`. The variable may also be `tls://host:port`, or
/// several [`addresses`], which [`Client::connect`] understands. An empty variable counts as none.
pub fn default_socket() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(path) = variable("CYCLOID_HSM_SOCKET") {
        return path.into();
    }
    match variable("XDG_RUNTIME_DIR") {
        Some(directory) => PathBuf::from(directory).join("cycloid-hsm.sock"),
        None => "/run/cycloid-hsm/socket".into(),
    }
}

/// Splits a list of addresses, separated by commas: each an absolute path or `tls://host:port`.
/// Anything else is one path, which may contain commas.
pub fn addresses(place: &Path) -> Vec<PathBuf> {
    let parts: Vec<&str> = place.to_str().map_or_else(Vec::new, |text| text.split(',').collect());
    let is_address = |part: &&str| part.starts_with('/') || part.starts_with(TLS);
    if parts.len() > 1 && parts.iter().all(is_address) {
        return parts.into_iter().map(PathBuf::from).collect();
    }
    vec![place.to_owned()]
}

/// The prefix of TLS addresses.
const TLS: &str = "tls://";

/// How often a further connection is tried, if the daemon hangs up on it,
const ATTEMPTS: u32 = 5;
/// and the pause after each time.
const PAUSE: Duration = Duration::from_millis(20);

/// The number of requests of a connection before it asks for a slot: a program that makes few does
/// without.
const FEW: u32 = 8;

/// The address of a daemon.
#[derive(Clone)]
enum Place {
    Socket(PathBuf),
    #[cfg(feature = "tls")]
    Remote(tls::Remote),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => path.display().fmt(f),
            #[cfg(feature = "tls")]
            Self::Remote(remote) => write!(f, "{remote:?}"),
        }
    }
}

impl Place {
    fn read(place: PathBuf) -> Result<Self> {
        match place.to_str().and_then(|text| text.strip_prefix(TLS)) {
            None => Ok(Self::Socket(place)),
            #[cfg(feature = "tls")]
            Some(address) => {
                tls::Remote::new(address, &tls::Identity::from_environment()?).map(Self::Remote)
            }
            #[cfg(not(feature = "tls"))]
            Some(_) => Err(Code::ARGUMENTS_BAD.because("this program was built without TLS")),
        }
    }

    fn open(&self) -> io::Result<Stream> {
        Ok(match self {
            Self::Socket(path) => Stream::Socket(UnixStream::connect(path)?),
            #[cfg(feature = "tls")]
            Self::Remote(remote) => Stream::Remote(remote.open()?.into()),
        })
    }
}

enum Stream {
    Socket(UnixStream),
    #[cfg(feature = "tls")]
    Remote(Box<tls::Stream>),
}

impl Stream {
    /// Reads what has arrived, and waits if nothing has.
    fn read(&mut self, to: &mut [u8], polling: &mut Polling) -> io::Result<usize> {
        match self {
            Self::Socket(stream) => match polling.poll(None, || read_arrived(stream, to)) {
                Some(read) => read,
                None => stream.read(to),
            },
            #[cfg(feature = "tls")]
            Self::Remote(stream) => stream.read(to),
        }
    }

    /// Returns whether the stream is open and has no unread data.
    fn is_silent(&mut self) -> bool {
        match self {
            Self::Socket(stream) => read_arrived(stream, &mut [0]).is_none(),
            #[cfg(feature = "tls")]
            Self::Remote(stream) => {
                let mut read = || {
                    stream.sock.set_nonblocking(true)?;
                    let read = stream.read(&mut [0]);
                    stream.sock.set_nonblocking(false)?;
                    read
                };
                read().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
            }
        }
    }

    /// Waits for data, which a file may accompany.
    fn read_with_file(&mut self, to: &mut [u8], file: &mut Option<OwnedFd>) -> io::Result<usize> {
        match self {
            Self::Socket(stream) => {
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
                let mut ancillary = RecvAncillaryBuffer::new(&mut space);
                let mut to = [IoSliceMut::new(to)];
                let flags = RecvFlags::CMSG_CLOEXEC;
                let received = rustix::net::recvmsg(stream, &mut to, &mut ancillary, flags)?;
                for message in ancillary.drain() {
                    if let RecvAncillaryMessage::ScmRights(files) = message {
                        *file = files.last().or(file.take());
                    }
                }
                Ok(received.bytes)
            }
            #[cfg(feature = "tls")]
            Self::Remote(stream) => stream.read(to),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Socket(stream) => stream.write_all(bytes),
            #[cfg(feature = "tls")]
            Self::Remote(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }
}

/// Reads what has arrived on a socket, if anything has.
fn read_arrived(stream: &UnixStream, to: &mut [u8]) -> Option<io::Result<usize>> {
    match rustix::net::recv(stream, to, RecvFlags::DONTWAIT) {
        Err(Errno::AGAIN) => None,
        read => Some(read.map(|(count, _)| count).map_err(io::Error::from)),
    }
}

/// A client application of a daemon.
pub struct Client {
    place: Place,
    name: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The ticket that further connections of the application present.
    ticket: Option<Secret>,
    idle: Vec<Connection>,
    /// Whether the daemon went away, which ended the application.
    lost: bool,
}

struct Connection {
    stream: Stream,
    /// A request or an answer. The memory beyond its length holds no secret.
    buffer: Zeroizing<Vec<u8>>,
    polling: Polling,
    /// Memory for requests, once the daemon has given one.
    slot: Option<ClientSlot>,
    /// The number of requests until one is asked for.
    without_slot: Option<u32>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.place)
    }
}

/// The words of an error for a closed connection: the daemon has ended, or does not serve this user.
pub const HUNG_UP: &str = "has hung up";

/// The beginning of an error about certificates: the daemon is there, and one end refuses the
/// other.
pub const TLS_FAILED: &str = "TLS has failed with the daemon at";

/// Returns the error for a connection that broke, or whose daemon is of another version.
fn lost(place: &Place, error: &io::Error) -> Error {
    let unreadable = error.get_ref().and_then(|error| error.downcast_ref());
    if let Some(Unreadable::Version1) = unreadable {
        return version::mismatch(1, VERSION);
    }
    #[cfg(feature = "tls")]
    if let Some(reason) = tls::reason(error) {
        return Code::DEVICE_REMOVED.because(format!("{TLS_FAILED} {place}: {reason}"));
    }
    Code::DEVICE_REMOVED.because(match error.kind() {
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => format!("the daemon at {place} {HUNG_UP}: {error}"),
        _ => format!("no daemon at {place}: {error}"),
    })
}

impl Client {
    /// Connects as a new application, called `name` in the daemon's log. `place` is the path of a
    /// socket, or `tls://host:port`; for TLS the environment names the certificates
    /// (`Identity::from_environment` in the module `tls`). Of several [`addresses`], the first at
    /// which a daemon listens is taken.
    ///
    /// # Errors
    /// [`Code::DEVICE_REMOVED`] if no daemon listens there; [`Code::TOKEN_NOT_RECOGNIZED`] if it
    /// speaks another version of the protocol; [`Code::ARGUMENTS_BAD`] if the address or the
    /// certificates are invalid.
    pub fn connect(place: impl Into<PathBuf>, name: impl Into<String>) -> Result<Self> {
        let (name, mut refused) = (name.into(), None);
        for place in addresses(&place.into()) {
            match Self::at(Place::read(place)?, name.clone()) {
                Err(error) if error.code == Code::DEVICE_REMOVED => {
                    refused.get_or_insert(error);
                }
                other => return other,
            }
        }
        Err(refused.unwrap_or_else(|| Code::ARGUMENTS_BAD.into()))
    }

    /// [`connect`](Self::connect)s to a daemon on another machine.
    ///
    /// # Errors
    /// [`Code::DEVICE_REMOVED`].
    #[cfg(feature = "tls")]
    pub fn connect_tls(remote: &tls::Remote, name: impl Into<String>) -> Result<Self> {
        Self::at(Place::Remote(remote.clone()), name.into())
    }

    fn at(place: Place, name: String) -> Result<Self> {
        let client = Self { place, name, state: Mutex::new(State::default()) };
        let connection = client.open()?;
        client.state().idle.push(connection);
        Ok(client)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request, and waits for the answer.
    ///
    /// # Errors
    /// The daemon's errors; [`Code::DATA_LEN_RANGE`] if the request is longer than a frame can be;
    /// [`Code::DEVICE_REMOVED`] if the daemon is gone, and from then on for every call. A request
    /// that was in flight when the daemon went away may have been carried out.
    pub fn call(&self, request: &Request) -> Result<Response> {
        let idle = {
            let mut state = self.state();
            if state.lost {
                return Err(Code::DEVICE_REMOVED.because("the daemon went away"));
            }
            state.idle.pop()
        };
        let mut connection = match idle {
            Some(connection) => connection,
            None => self.open()?,
        };
        if let Err(error) = connection.prepare() {
            return Err(self.lose(&error));
        }
        match connection.write(request).map(|()| connection.exchange()) {
            Ok(Ok(response)) => {
                self.keep(connection);
                match response {
                    Response::Refused { code, detail } => Err(Code(code).because(detail)),
                    response => Ok(response),
                }
            }
            Ok(Err(error)) => Err(self.lose(&error)),
            Err(too_long) => {
                self.keep(connection);
                Err(too_long)
            }
        }
    }

    /// Returns whether the daemon is known to be gone, without sending anything.
    pub fn is_lost(&self) -> bool {
        let mut state = self.state();
        if state.idle.last_mut().is_some_and(|connection| !connection.stream.is_silent()) {
            *state = State { lost: true, ..State::default() };
        }
        state.lost
    }

    /// Marks the client as lost and closes its idle connections, without waiting for another
    /// thread. This is for the child of a `fork`, in which locks of other threads never open and
    /// the connections belong to the parent.
    pub fn abandon(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            *state = State { lost: true, ..State::default() };
        }
    }

    fn keep(&self, connection: Connection) {
        let mut state = self.state();
        if !state.lost {
            state.idle.push(connection);
        }
    }

    /// Drops all connections: they lead to the same daemon, so the application has ended.
    fn lose(&self, error: &io::Error) -> Error {
        *self.state() = State { lost: true, ..State::default() };
        lost(&self.place, error)
    }

    /// Opens another connection: the application's first, or a further one.
    fn open(&self) -> Result<Connection> {
        for _ in 0..ATTEMPTS {
            if let Some(connection) = self.try_open()? {
                return Ok(connection);
            }
            thread::sleep(PAUSE);
        }
        Err(Code::DEVICE_MEMORY.because("the daemon takes no more connections"))
    }

    /// Opens a connection; `None` if the daemon hung up on a further one.
    fn try_open(&self) -> Result<Option<Connection>> {
        let stream = self.place.open().map_err(|error| self.lose(&error))?;
        let without_slot = matches!(stream, Stream::Socket(_)).then_some(FEW);
        let (buffer, polling) = (Zeroizing::default(), Polling::default());
        let mut connection = Connection { stream, buffer, polling, slot: None, without_slot };
        let known = self.state().ticket.clone();
        let request = match known.clone() {
            Some(ticket) => Request::Attach { version: VERSION, ticket },
            None => Request::Hello { version: VERSION, name: self.name.clone() },
        };
        connection.write(&request)?;
        let answer = match connection.exchange() {
            // The daemon is full, or ends: then the next connection finds nobody.
            Err(_) if known.is_some() => return Ok(None),
            answer => answer.map_err(|error| self.lose(&error))?,
        };
        match answer {
            Response::Welcome { ticket, .. } => {
                if known.is_none() {
                    self.state().ticket = Some(ticket);
                }
                Ok(Some(connection))
            }
            Response::Refused { code, detail } => {
                let error = Code(code).because(detail);
                // Either the daemon is full, or it was restarted and does not know the application.
                if known.is_some() && error.code != Code::DEVICE_MEMORY {
                    return Err(self.lose(&io::Error::other(error)));
                }
                Err(error)
            }
            _ => Err(Code::DEVICE_ERROR.because("unexpected answer from the daemon")),
        }
    }
}

impl Connection {
    /// Writes a request into the buffer.
    fn write(&mut self, request: &Request) -> Result<()> {
        self.buffer.clear();
        frame::write(0, &mut self.buffer, |to| request.write(to));
        if self.buffer.len() - 4 > frame::MAX_LENGTH {
            self.wipe();
            return Err(Code::DATA_LEN_RANGE.because("the request is too long"));
        }
        Ok(())
    }

    /// Empties the buffer and wipes what it held, which is all that its memory ever holds.
    fn wipe(&mut self) {
        self.buffer.as_mut_slice().zeroize();
        self.buffer.clear();
    }

    /// Asks for a slot, if the connection has made some requests. A daemon that has none, or does
    /// not know the message, refuses.
    fn prepare(&mut self) -> io::Result<()> {
        let Some(rest) = &mut self.without_slot else { return Ok(()) };
        *rest -= 1;
        if *rest > 0 {
            return Ok(());
        }
        self.without_slot = None;
        self.buffer.clear();
        frame::write(0, &mut self.buffer, |to| Request::Share {}.write(to));
        self.send()?;
        let mut file = None;
        let answer = self.receive(|stream, to, _| stream.read_with_file(to, &mut file))?;
        if let (Response::Done {}, Some(file)) = (answer, file) {
            self.slot = ClientSlot::new(&file).ok();
        }
        Ok(())
    }

    /// Sends the buffer, and returns the answer.
    fn exchange(&mut self) -> io::Result<Response> {
        match &self.slot {
            Some(slot) if slot.ask(&self.buffer[frame::HEADER..]) => {
                self.wipe();
                if let Some(response) = self.wait()? {
                    return Ok(response);
                }
            }
            _ => self.send()?,
        }
        self.receive(Stream::read)
    }

    /// Waits for the answer to a request in the slot; `None` if it is in the socket.
    fn wait(&mut self) -> io::Result<Option<Response>> {
        let Self { stream, buffer, polling, slot, .. } = self;
        let Some(slot) = slot else { return Ok(None) };
        let mut answer = polling.poll(None, || slot.answer(buffer));
        while answer.is_none() {
            slot.sleep();
            answer = slot.answer(buffer);
            // The daemon may have ended.
            if answer.is_none() && !stream.is_silent() {
                answer = slot.answer(buffer).or(Some(Answer::InSocket));
            }
        }
        let response = match answer {
            Some(Answer::Here) => Response::read(buffer).map(Some),
            Some(Answer::InSocket) | None => Ok(None),
            Some(Answer::Unreadable) => Err(Unreadable::Malformed),
        };
        self.wipe();
        response.map_err(unreadable)
    }

    fn send(&mut self) -> io::Result<()> {
        let sent = self.stream.write_all(&self.buffer);
        self.wipe();
        sent
    }

    /// Reads the answer from the stream, by `read`.
    fn receive(
        &mut self,
        mut read: impl FnMut(&mut Stream, &mut [u8], &mut Polling) -> io::Result<usize>,
    ) -> io::Result<Response> {
        loop {
            if let Some(frame) = frame::read(&self.buffer).map_err(unreadable)? {
                // One request is in flight, so exactly one answer is expected.
                let alone = frame.identifier == 0 && frame.length == self.buffer.len();
                let response =
                    if alone { Response::read(frame.message) } else { Err(Unreadable::Malformed) };
                self.wipe();
                return response.map_err(unreadable);
            }
            let filled = self.buffer.len();
            let length = filled.max(512) * 2;
            reserve(&mut self.buffer, length - filled);
            self.buffer.resize(length, 0);
            let to = &mut self.buffer[filled..];
            let count = match read(&mut self.stream, to, &mut self.polling) {
                Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                other => other,
            };
            self.buffer.truncate(filled + *count.as_ref().unwrap_or(&0));
            count?;
        }
    }
}

fn unreadable(error: Unreadable) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
