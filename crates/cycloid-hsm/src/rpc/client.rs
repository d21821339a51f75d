//! A client: blocking, and for as many threads as want it.
//!
//! Each call takes a connection of its own for as long as it lasts, so that threads do not wait for each
//! other; connections that are free are kept. All connections of a client are one application to the
//! daemon: who is logged in on one is on all. Where the daemon goes, the application has ended, and the
//! client is of no more use: whoever wants to go on connects anew, and is not logged in.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use zeroize::Zeroize;

use super::codec::{Malformed, Secret};
use super::message::{Request, Response};
use super::{VERSION, frame};
use crate::error::{Code, Error, Result};

/// Where a daemon listens unless told otherwise: `$CYCLOID_HSM_SOCKET`, or `cycloid-hsm.sock` in
/// `$XDG_RUNTIME_DIR`, or `/run/cycloid-hsm/socket`.
pub fn default_socket() -> PathBuf {
    if let Some(path) = std::env::var_os("CYCLOID_HSM_SOCKET") {
        return path.into();
    }
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(directory) => PathBuf::from(directory).join("cycloid-hsm.sock"),
        None => "/run/cycloid-hsm/socket".into(),
    }
}

/// An application of a daemon.
pub struct Client {
    socket: PathBuf,
    name: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What further connections of the application show.
    ticket: Option<Secret>,
    idle: Vec<Connection>,
    /// The daemon went, and the application ended with it.
    lost: bool,
}

struct Connection {
    stream: UnixStream,
    buffer: Vec<u8>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({})", self.socket.display())
    }
}

fn unreachable_daemon(socket: &Path, error: &io::Error) -> Error {
    Code::DEVICE_REMOVED.because(format!("no daemon at {}: {error}", socket.display()))
}

impl Client {
    /// A new application, called `name` in the daemon's log.
    ///
    /// # Errors
    /// [`Code::DEVICE_REMOVED`] where no daemon listens at `socket`.
    pub fn connect(socket: impl Into<PathBuf>, name: impl Into<String>) -> Result<Self> {
        let client =
            Self { socket: socket.into(), name: name.into(), state: Mutex::new(State::default()) };
        let connection = client.open()?;
        client.state().idle.push(connection);
        Ok(client)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// Those of the daemon; [`Code::DATA_LEN_RANGE`] if the request is longer than a frame can be;
    /// [`Code::DEVICE_REMOVED`] where the daemon is gone, from then on for every call. A request that
    /// was sent when the daemon went may have been done.
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

    /// Whether the daemon went away, as far as can be seen without asking it.
    pub fn is_lost(&self) -> bool {
        let mut state = self.state();
        if state.idle.last_mut().is_some_and(|connection| !connection.is_open()) {
            *state = State { lost: true, ..State::default() };
        }
        state.lost
    }

    /// Closes what connections it can without waiting for another thread, and is lost: for the child of
    /// a `fork`, where other threads' locks never open and the connections are the parent's.
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

    /// Drops all connections: they lead to the same daemon, and the application ended with it.
    fn lose(&self, error: &io::Error) -> Error {
        *self.state() = State { lost: true, ..State::default() };
        unreachable_daemon(&self.socket, error)
    }

    /// A connection more: the application's first, or a further one.
    fn open(&self) -> Result<Connection> {
        let stream = UnixStream::connect(&self.socket).map_err(|error| self.lose(&error))?;
        let mut connection = Connection { stream, buffer: Vec::new() };
        let known = self.state().ticket.clone();
        let request = match known.clone() {
            Some(ticket) => Request::Attach { version: VERSION, ticket },
            None => Request::Hello { version: VERSION, name: self.name.clone() },
        };
        connection.write(&request)?;
        let answer = connection.exchange().map_err(|error| match known {
            // It listens, and hangs up on one connection more. The others say whether it is there.
            Some(_) => Code::DEVICE_MEMORY.because("the daemon takes no more connections"),
            None => self.lose(&error),
        });
        match answer? {
            Response::Welcome { ticket, .. } => {
                if known.is_none() {
                    self.state().ticket = Some(ticket);
                }
                Ok(connection)
            }
            Response::Refused { code, detail } => {
                let error = Code(code).because(detail);
                // The daemon is full, or it is another one, which does not know the application.
                if known.is_some() && error.code != Code::DEVICE_MEMORY {
                    return Err(self.lose(&io::Error::other(error)));
                }
                Err(error)
            }
            _ => Err(Code::DEVICE_ERROR.because("the daemon answers something else")),
        }
    }
}

impl Connection {
    /// Puts a request into the buffer.
    fn write(&mut self, request: &Request) -> Result<()> {
        self.buffer.clear();
        frame::write(0, &mut self.buffer, |to| request.write(to));
        if self.buffer.len() - 4 > frame::MAX_LENGTH {
            self.buffer.zeroize();
            return Err(Code::DATA_LEN_RANGE.because("the request is too long"));
        }
        Ok(())
    }

    /// Sends what is in the buffer, and reads the answer.
    fn exchange(&mut self) -> io::Result<Response> {
        let sent = self.stream.write_all(&self.buffer);
        self.buffer.zeroize();
        sent?;
        loop {
            let malformed = |_| io::Error::new(io::ErrorKind::InvalidData, "a malformed answer");
            if let Some(frame) = frame::read(&self.buffer).map_err(malformed)? {
                // One request, one answer: anything else belongs to nobody here.
                let alone = frame.identifier == 0 && frame.length == self.buffer.len();
                let response = if alone { Response::read(frame.message) } else { Err(Malformed) };
                self.buffer.zeroize();
                return response.map_err(malformed);
            }
            let filled = self.buffer.len();
            self.buffer.resize(filled.max(512) * 2, 0);
            let count = match self.stream.read(&mut self.buffer[filled..]) {
                Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                other => other,
            };
            self.buffer.truncate(filled + *count.as_ref().unwrap_or(&0));
            count?;
        }
    }

    /// Whether the other end is there and silent, as it is between two requests.
    fn is_open(&mut self) -> bool {
        let silent = |stream: &mut UnixStream| {
            stream.set_nonblocking(true)?;
            let read = stream.read(&mut [0]);
            stream.set_nonblocking(false)?;
            read
        };
        silent(&mut self.stream).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }
}
