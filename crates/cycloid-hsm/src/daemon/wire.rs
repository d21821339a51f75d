//! What carries a connection's bytes: a socket of this machine, or TLS 1.3 to another, whose client shows
//! a certificate. Neither ever waits.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{ServerConfig, ServerConnection};
use x509_cert::der::Decode;

use super::application::Peer;
use crate::crypto;
use crate::error::{Code, Result};
use crate::mechanism::Hash;
use crate::rpc::tls::{ALPN, authorities, certificates, prepare, private_key};

/// How often a socket is read before others have their turn, however much comes.
const MOST_READS: usize = 16;

/// Characters of a certificate's subject that are shown.
const MOST_SUBJECT: usize = 128;

/// How a daemon serves other machines.
#[derive(Clone)]
pub struct Tls {
    /// Where it listens.
    pub address: SocketAddr,
    /// How long a client may take until both sides know each other.
    pub handshake: Duration,
    config: Arc<ServerConfig>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tls({})", self.address)
    }
}

impl Tls {
    /// With files, all PEM: the daemon's certificate with those between it and its authority, its private
    /// key, and the authorities that vouch for clients. A client without a certificate of theirs is not
    /// served.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] where a file is not what it should be.
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
        let mut config = config.map_err(|error| unusable(certificate, &error))?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        // A session that is resumed would outlive the client's certificate.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self { address, handshake: Duration::from_secs(10), config: config.into() })
    }
}

/// What carries the bytes.
#[derive(Debug)]
pub(super) enum Wire {
    Local(UnixStream),
    Remote(Box<Remote>),
}

/// A TLS connection.
pub(super) struct Remote {
    stream: TcpStream,
    state: Mutex<ServerConnection>,
    /// Both sides know each other.
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
    /// To a process on this machine.
    pub(super) fn local(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::Local(stream))
    }

    /// To another machine, which has yet to show who it is.
    pub(super) fn remote(stream: TcpStream, tls: &Tls) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        prepare(&stream)?;
        let state = ServerConnection::new(tls.config.clone()).map_err(io::Error::other)?;
        let (state, established) = (Mutex::new(state), AtomicBool::new(false));
        Ok(Self::Remote(Remote { stream, state, established }.into()))
    }

    /// Whether it is known who is at the other end.
    pub(super) fn is_established(&self) -> bool {
        match self {
            Self::Local(_) => true,
            Self::Remote(remote) => remote.established.load(Ordering::Acquire),
        }
    }

    /// Who is at the other end of an established TLS connection.
    pub(super) fn peer(&self) -> Option<Peer> {
        match self {
            Self::Local(_) => None,
            Self::Remote(remote) => {
                let state = remote.state();
                Some(Peer::Certificate(name(state.peer_certificates()?.first()?)))
            }
        }
    }

    /// Some of what has come; 0 at the end.
    ///
    /// # Errors
    /// Those of the kernel; those of TLS, of which the other end is told.
    pub(super) fn read(&self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(stream) => { stream }.read(to),
            Self::Remote(remote) => remote.read(to),
        }
    }

    /// Whether something has come that [`read`](Self::read) gives without the kernel, which then does not
    /// tell of it.
    pub(super) fn holds_more(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Remote(remote) => match remote.state().process_new_packets() {
                Ok(state) => state.plaintext_bytes_to_read() > 0,
                Err(_) => true,
            },
        }
    }

    /// Takes bytes to send, and gives how many it took.
    ///
    /// # Errors
    /// Those of the kernel.
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

    /// Sends what was taken and not yet sent, as far as it goes.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn flush(&self) -> io::Result<()> {
        match self {
            Self::Local(_) => Ok(()),
            Self::Remote(remote) => remote.send(&mut remote.state()),
        }
    }

    /// Whether something was taken and is not yet sent.
    pub(super) fn is_unsent(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Remote(remote) => remote.state().wants_write(),
        }
    }

    /// Ends it.
    pub(super) fn shut_down(&self) {
        // It may have ended already.
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
            // The next part of the handshake, or why there is none.
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

/// How the holder of a certificate is called: by its subject, for who reads the log, and by the SHA-256
/// digest of the certificate, which no other has.
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
