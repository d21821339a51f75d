//! Connections through a proxy: HTTP's CONNECT for TCP, and SOCKS 5 for TCP and UDP.
//!
//! A proxy that answers slowly, too much or nonsense causes an error by the deadline, never a
//! hanging program.

mod digest;
mod http;
mod relay;
mod socks;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use zeroize::Zeroizing;

use super::tcp;

pub use http::{Http, Method};
pub use relay::Relay;
pub use socks::{associate, connect as socks};

/// A user's name and password at a proxy.
#[derive(Clone)]
pub struct Account {
    /// The name.
    pub name: String,
    /// The password.
    pub password: Zeroizing<String>,
}

/// Why a proxy made no connection.
#[derive(Debug)]
pub enum Failure {
    /// The proxy cannot be reached, or stopped answering.
    Io(io::Error),
    /// The proxy refuses, for this reason.
    Refused(String),
    /// The proxy wants a name and a password.
    NeedsAccount,
    /// The proxy refuses the name or the password.
    WrongAccount,
    /// The answer breaks the protocol.
    Malformed(&'static str),
    /// The proxy wants a kind of authentication that is not supported.
    Unsupported(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the proxy: {error}"),
            Self::Refused(reason) => write!(f, "the proxy refuses the connection: {reason}"),
            Self::NeedsAccount => f.write_str("the proxy asks for a user name and a password"),
            Self::WrongAccount => f.write_str("the proxy refuses the user name or the password"),
            Self::Malformed(what) => write!(f, "the proxy's answer is malformed: {what}"),
            Self::Unsupported(what) => {
                write!(f, "the proxy wants {what}, which is not supported: use Basic or Digest")
            }
        }
    }
}

impl std::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A connection to a proxy with a deadline for the whole exchange.
struct Exchange {
    stream: TcpStream,
    deadline: Instant,
}

impl Exchange {
    fn open(proxy: SocketAddr, options: &tcp::Options) -> io::Result<Self> {
        let deadline = Instant::now() + options.patience;
        let stream = tcp::connect(proxy, options)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(options.patience))?;
        Ok(Self { stream, deadline })
    }

    /// Fills the buffer, and reads nothing behind it: the peer's packets may follow.
    fn fill(&mut self, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => buffer = &mut buffer[read..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the stream without timeouts.
    fn finish(self) -> io::Result<TcpStream> {
        self.stream.set_read_timeout(None)?;
        self.stream.set_write_timeout(None)?;
        Ok(self.stream)
    }
}
