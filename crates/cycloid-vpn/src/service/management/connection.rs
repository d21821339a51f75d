//! The listener and connections of the management interface.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::sockopt::socket_peercred;
use zeroize::{Zeroize, Zeroizing};

use super::output::Output;

/// The longest line, in bytes.
const MAX_LINE: usize = 4096;

/// The address that management clients connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A Unix socket; `user` and `group`, if set, restrict the connecting processes.
    Unix {
        /// The path.
        path: PathBuf,
        /// The user id of `management-client-user`.
        user: Option<u32>,
        /// The group id of `management-client-group`.
        group: Option<u32>,
    },
    /// A TCP address and port.
    Tcp(SocketAddr),
}

/// The listening socket.
#[derive(Debug)]
pub(super) enum Listener {
    Unix(UnixListener, Endpoint),
    Tcp(TcpListener),
}

impl Listener {
    pub(super) fn bind(endpoint: &Endpoint) -> io::Result<Self> {
        match endpoint {
            Endpoint::Unix { path, .. } => {
                // Removes a stale socket of an earlier process, but never another kind of file.
                if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
                    match UnixStream::connect(path) {
                        Ok(_) => return Err(io::ErrorKind::AddrInUse.into()),
                        Err(_) => fs::remove_file(path)?,
                    }
                }
                let listener = UnixListener::bind(path)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Unix(listener, endpoint.clone()))
            }
            Endpoint::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listener))
            }
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(listener, _) => listener.as_fd(),
            Self::Tcp(listener) => listener.as_fd(),
        }
    }

    /// Returns the address of a TCP listener.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Unix(..) => None,
            Self::Tcp(listener) => listener.local_addr().ok(),
        }
    }

    /// Accepts the next permitted connection, if one is pending.
    pub(super) fn accept(&self) -> Option<Stream> {
        match self {
            Self::Unix(listener, endpoint) => {
                let (stream, _) = listener.accept().ok()?;
                let Endpoint::Unix { user, group, .. } = endpoint else { return None };
                let peer = socket_peercred(&stream).ok()?;
                let allowed = user.is_none_or(|user| peer.uid.as_raw() == user)
                    && group.is_none_or(|group| peer.gid.as_raw() == group);
                stream.set_nonblocking(true).ok()?;
                allowed.then_some(Stream::Unix(stream))
            }
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                stream.set_nodelay(true).ok()?;
                Some(Stream::Tcp(stream))
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, Endpoint::Unix { path, .. }) = self {
            let _ = fs::remove_file(path);
        }
    }
}

/// A connection's byte stream.
#[derive(Debug)]
pub(super) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(bytes),
            Self::Tcp(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connected management client.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Stream,
    /// Received bytes: an incomplete line, or lines that wait until the output queue has room.
    input: Zeroizing<Vec<u8>>,
    pub(super) output: Output,
    /// Number of wrong passwords so far; `None` once authenticated.
    pub(super) attempts: Option<u32>,
    /// Time of the connection.
    came: Duration,
    /// Start of the time without any progress in sending.
    stalled: Option<Duration>,
    /// Enabled real-time notifications.
    pub(super) realtime: Realtime,
    /// Whether the connection ends once the queue is sent; no more input is processed.
    pub(super) closing: bool,
    /// Whether the client has closed its sending side.
    pub(super) ended: bool,
    /// The lines of an open `client-auth`, up to `END`.
    pub(super) block: Option<(u64, u64, Vec<String>)>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Realtime {
    pub(super) state: bool,
    pub(super) log: bool,
    pub(super) echo: bool,
}

impl Connection {
    pub(super) fn new(stream: Stream, with_password: bool, now: Duration) -> Self {
        Self {
            stream,
            input: Zeroizing::new(Vec::with_capacity(MAX_LINE)),
            output: Output::default(),
            attempts: with_password.then_some(0),
            came: now,
            stalled: None,
            realtime: Realtime::default(),
            closing: false,
            ended: false,
            block: None,
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.stream.fd()
    }

    /// Returns whether to read more; not while the client leaves the output queue full.
    pub(super) fn may_read(&self) -> bool {
        !self.closing && !self.ended && !self.output.is_high() && self.input.len() < MAX_LINE
    }

    /// Reads received bytes, up to the buffer's capacity.
    ///
    /// # Errors
    ///
    /// A broken connection.
    pub(super) fn read(&mut self) -> io::Result<()> {
        while self.may_read() {
            // Fixed buffer size: growing would leave copies of passwords in memory.
            let mut bytes = Zeroizing::new([0; MAX_LINE]);
            let room = MAX_LINE - self.input.len();
            match self.stream.read(&mut bytes[..room]) {
                Ok(0) => self.ended = true,
                Ok(length) => self.input.extend_from_slice(&bytes[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the next complete line without its line end.
    ///
    /// # Errors
    ///
    /// A line that is too long.
    pub(super) fn line(&mut self) -> io::Result<Option<Zeroizing<String>>> {
        if self.closing || self.output.is_high() {
            return Ok(None);
        }
        let Some(end) = self.input.iter().position(|byte| *byte == b'\n') else {
            let full = self.input.len() >= MAX_LINE;
            return if full { Err(io::ErrorKind::InvalidData.into()) } else { Ok(None) };
        };
        let line = &self.input[..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut text = Zeroizing::new(String::with_capacity(3 * line.len()));
        line.utf8_chunks().for_each(|chunk| {
            text.extend(chunk.valid().chars().filter(|c| *c == '\t' || !c.is_control()));
        });
        let rest = self.input.len() - end - 1;
        self.input.copy_within(end + 1.., 0);
        self.input[rest..].zeroize();
        self.input.truncate(rest);
        Ok(Some(text))
    }

    /// Returns the start of an overdue obligation: to send the password, or to read the output.
    pub(super) fn owes_since(&self) -> Option<Duration> {
        self.attempts.map(|_| self.came).or(self.stalled)
    }

    /// Sends queued output. An error ends the connection.
    pub(super) fn send(&mut self, now: Duration) -> io::Result<()> {
        let progress = self.output.send(&mut self.stream)?;
        self.stalled = match self.stalled {
            _ if self.output.is_empty() => None,
            Some(since) if !progress => Some(since),
            _ => Some(now),
        };
        let done = self.closing && self.output.is_empty();
        if done || self.output.overflowed() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(())
    }
}
