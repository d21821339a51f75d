//! A client: blocking, and for as many threads as want it.
//!
//! Each call takes a connection of its own for as long as it lasts, so that threads do not wait for each
//! other; connections that are free are kept. All connections of a client are one application to the
//! daemon: who is logged in on one is on all.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use zeroize::Zeroize;

use super::codec::Secret;
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
    /// Those of the daemon; [`Code::DEVICE_REMOVED`] where it is gone. A request that was sent when the
    /// daemon went may have been done.
    pub fn call(&self, request: &Request) -> Result<Response> {
        let idle = self.state().idle.pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => self.open()?,
        };
        match connection.call(request) {
            Ok(response) => {
                self.state().idle.push(connection);
                match response {
                    Response::Refused { code, detail } => Err(Code(code).because(detail)),
                    response => Ok(response),
                }
            }
            Err(error) => {
                // Its neighbours lead to the same daemon, and the application ended with it.
                *self.state() = State::default();
                Err(unreachable_daemon(&self.socket, &error))
            }
        }
    }

    /// A connection more.
    fn open(&self) -> Result<Connection> {
        let gone = |error| unreachable_daemon(&self.socket, &error);
        let stream = UnixStream::connect(&self.socket).map_err(gone)?;
        let mut connection = Connection { stream, buffer: Vec::new() };
        let ticket = self.state().ticket.clone();
        if let Some(ticket) = ticket {
            let attach = Request::Attach { version: VERSION, ticket };
            if let Response::Welcome { .. } = connection.call(&attach).map_err(gone)? {
                return Ok(connection);
            }
        }
        let hello = Request::Hello { version: VERSION, name: self.name.clone() };
        match connection.call(&hello).map_err(gone)? {
            Response::Welcome { ticket, .. } => {
                self.state().ticket = Some(ticket);
                Ok(connection)
            }
            Response::Refused { code, detail } => Err(Code(code).because(detail)),
            _ => Err(Code::DEVICE_ERROR.because("the daemon answers something else")),
        }
    }
}

impl Connection {
    fn call(&mut self, request: &Request) -> io::Result<Response> {
        self.buffer.clear();
        frame::write(0, &mut self.buffer, |to| request.write(to));
        let sent = self.stream.write_all(&self.buffer);
        self.buffer.zeroize();
        sent?;
        loop {
            let malformed = |_| io::Error::new(io::ErrorKind::InvalidData, "a malformed answer");
            if let Some(frame) = frame::read(&self.buffer).map_err(malformed)? {
                let response = Response::read(frame.message).map_err(malformed);
                self.buffer.zeroize();
                return response;
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
}
