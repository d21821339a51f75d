//! The transport of a connection: a local socket, or TLS 1.3 with a client certificate. Neither
//! blocks.

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{ServerConfig, ServerConnection};
use x509_cert::der::Decode;

use super::application::Peer;
use crate::crypto;
use crate::mechanism::Hash;
use crate::rpc::tls::{ALPN, authorities, certificates, in_words, prepare, private_key};
use crate::{Code, Result};

/// The maximum number of reads from a socket before other sockets have their turn.
const MOST_READS: usize = 16;

/// The number of characters of a certificate's subject that are shown.
const MOST_SUBJECT: usize = 128;

/// The settings for serving other machines.
#[derive(Clone)]
pub struct Tls {
    /// The address to listen at.
    pub address: SocketAddr,
    /// The time limit of the handshake.
    pub handshake: Duration,
    config: Arc<ServerConfig>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tls({})", self.address)
    }
}

impl Tls {
    /// Reads PEM files: the daemon's certificate with its intermediate certificates, its private
    /// key, and the authorities that sign client certificates. A client without a certificate from
    /// one of these is refused.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if a file does not contain what it should.
    pub fn new(
        address: SocketAddr,
        certificate: &Path,
        key: &Path,
        clients: &Path,
    ) -> Result<Self> {
        let provider = Arc::new(cycloid_rustls::default_provider());
        let unusable = |path: &Path, error: &dyn fmt::Display| {
            Code::ARGUMENTS_BAD.because(format!("{}: {error}", path.display()))
        };
        let verifier = WebPkiClientVerifier::builder_with_provider(
            authorities(clients)?.into(),
            provider.clone(),
        );
        let verifier = verifier.build().map_err(|error| unusable(clients, &error))?;
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| unusable(certificate, &error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(certificates(certificate)?, private_key(key)?);
        let mut config = config.map_err(|error| unusable(key, &in_words(&error)))?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        // A resumed session could outlive the client's certificate.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self { address, handshake: Duration::from_secs(10), config: config.into() })
    }
}

/// A transport.
#[derive(Debug)]
pub(super) enum Wire {
    Local(UnixStream),
    Remote(Box<Remote>),
}

/// A TLS connection.
pub(super) struct Remote {
    stream: TcpStream,
    state: Mutex<ServerConnection>,
    /// Whether the handshake has authenticated both sides.
    established: AtomicBool,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Remote({:?})", self.stream)
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Local(stream) => stream.as_fd(),
            Self::Remote(remote) => remote.stream.as_fd(),
        }
    }
}

impl Wire {
    /// Wraps a local connection.
    pub(super) fn local(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::Local(stream))
    }

    /// Wraps a connection from another machine, which is unauthenticated at first.
    pub(super) fn remote(stream: TcpStream, tls: &Tls) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        prepare(&stream)?;
        let state = ServerConnection::new(tls.config.clone()).map_err(io::Error::other)?;
        let (state, established) = (Mutex::new(state), AtomicBool::new(false));
        Ok(Self::Remote(Remote { stream, state, established }.into()))
    }

    /// Returns whether the peer is on another machine.
    pub(super) const fn is_remote(&self) -> bool {
        matches!(self, Self::Remote(_))
    }

    /// Returns whether the peer is authenticated.
    pub(super) fn is_established(&self) -> bool {
        match self {
            Self::Local(_) => true,
            Self::Remote(remote) => remote.established.load(Ordering::Acquire),
        }
    }

    /// Returns the identity of the peer of an established TLS connection.
    pub(super) fn peer(&self) -> Option<Peer> {
        match self {
            Self::Local(_) => None,
            Self::Remote(remote) => {
                let state = remote.state();
                Some(Peer::Certificate(name(state.peer_certificates()?.first()?)))
            }
        }
    }

    /// Reads some available bytes; 0 at the end.
    ///
    /// # Errors
    /// The kernel's errors; those of TLS, which are also sent to the peer as alerts.
    pub(super) fn read(&self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(stream) => { stream }.read(to),
            Self::Remote(remote) => remote.read(to),
        }
    }

    /// Returns whether [`read`](Self::read) can return data that is already decrypted, which epoll
    /// does not report.
    pub(super) fn holds_more(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Remote(remote) => match remote.state().process_new_packets() {
                Ok(state) => state.plaintext_bytes_to_read() > 0,
                Err(_) => true,
            },
        }
    }

    /// Accepts bytes to send, and returns their number.
    ///
    /// # Errors
    /// The kernel's errors.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Local(stream) => { stream }.write(bytes),
            Self::Remote(remote) => {
                let mut state = remote.state();
                let taken = state.writer().write(bytes)?;
                remote.send(&mut state)?;
                if taken == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(taken) }
            }
        }
    }

    /// Sends bytes to a process on this machine, accompanied by a file. Returns their number.
    ///
    /// # Errors
    /// The kernel's errors; [`io::ErrorKind::Unsupported`] if the peer is on another machine.
    pub(super) fn write_with_file(&self, bytes: &[u8], file: &OwnedFd) -> io::Result<usize> {
        let Self::Local(stream) = self else { return Err(io::ErrorKind::Unsupported.into()) };
        let files = [file.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&files));
        let bytes = [IoSlice::new(bytes)];
        Ok(rustix::net::sendmsg(stream, &bytes, &mut ancillary, SendFlags::NOSIGNAL)?)
    }

    /// Sends accepted bytes, as far as the socket takes them.
    ///
    /// # Errors
    /// The kernel's errors.
    pub(super) fn flush(&self) -> io::Result<()> {
        match self {
            Self::Local(_) => Ok(()),
            Self::Remote(remote) => remote.send(&mut remote.state()),
        }
    }

    /// Returns whether accepted bytes are still unsent.
    pub(super) fn is_unsent(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Remote(remote) => remote.state().wants_write(),
        }
    }

    /// Closes the transport.
    pub(super) fn shut_down(&self) {
        // It may be closed already.
        let _ = match self {
            Self::Local(stream) => stream.shutdown(Shutdown::Both),
            Self::Remote(remote) => remote.stream.shutdown(Shutdown::Both),
        };
    }
}

impl Remote {
    fn state(&self) -> MutexGuard<'_, ServerConnection> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, to: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state();
        for _ in 0..MOST_READS {
            match state.reader().read(to) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            state.read_tls(&mut &self.stream)?;
            let read = state.process_new_packets();
            if read.is_ok() && !state.is_handshaking() {
                self.established.store(true, Ordering::Release);
            }
            // Sends the next handshake message, or the alert if processing failed.
            let sent = self.send(&mut state);
            read.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            sent?;
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn send(&self, state: &mut ServerConnection) -> io::Result<()> {
        while state.wants_write() {
            match state.write_tls(&mut &self.stream) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Returns the name of a certificate's holder: its subject, for readers of the log, and the SHA-256
/// digest of the certificate, which is unique.
fn name(certificate: &[u8]) -> String {
    let subject = x509_cert::Certificate::from_der(certificate)
        .map(|certificate| certificate.tbs_certificate().subject().to_string());
    let subject: String = subject
        .unwrap_or_default()
        .chars()
        .filter(|character| !character.is_control())
        .take(MOST_SUBJECT)
        .collect();
    let digest = crypto::digest(Hash::Sha256, certificate);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{subject} sha256:{digest}")
}
