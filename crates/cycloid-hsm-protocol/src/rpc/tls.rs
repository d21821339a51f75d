//! The client side of a TLS 1.3 connection to a daemon on another machine: rustls with Cycloid's
//! provider, and certificates on both sides.

use std::fmt;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use zeroize::Zeroizing;

use crate::error::{Code, Error, Result};

/// The protocol's name (ALPN, RFC 7301), which prevents connections to a server or client of
/// another protocol.
pub const ALPN: &[u8] = b"cycloid-hsm/1";

/// The time limit for connecting and for the handshake.
const PATIENCE: Duration = Duration::from_secs(10);

/// The idle time after which TCP keepalive probes the peer.
const SILENCE: Duration = Duration::from_secs(60);

/// An open connection.
pub(super) type Stream = StreamOwned<ClientConnection, TcpStream>;

fn bad(path: &Path, error: impl fmt::Display) -> Error {
    Code::ARGUMENTS_BAD.because(format!("{}: {error}", path.display()))
}

/// Returns the reason of a failure in words, for either end. Rare ones keep the words of rustls.
pub fn in_words(error: &rustls::Error) -> String {
    use rustls::{AlertDescription as Alert, CertificateError, Error, InconsistentKeys};

    let words = match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "no known authority has issued the peer's certificate"
        }
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            "the private key is not that of the certificate"
        }
        Error::AlertReceived(Alert::UnknownCA) => {
            "the peer does not trust the authority of this end's certificate"
        }
        Error::AlertReceived(Alert::CertificateExpired) => {
            "the peer says that this end's certificate has expired"
        }
        Error::AlertReceived(Alert::CertificateRequired) => "the peer requires a certificate",
        other => return other.to_string(),
    };
    words.into()
}

/// Returns the reason in words, if an error of a stream is one of TLS.
pub(super) fn reason(error: &io::Error) -> Option<String> {
    error.get_ref()?.downcast_ref().map(in_words)
}

/// Reads the certificates of a PEM file; there must be at least one.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`].
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let all: Vec<_> = all.map_err(|error| bad(path, error))?;
    if all.is_empty() { Err(bad(path, "no certificate in the file")) } else { Ok(all) }
}

/// Reads the private key of a PEM file.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`].
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>> {
    let pem = std::fs::read(path).map(Zeroizing::new).map_err(|error| bad(path, error))?;
    PrivateKeyDer::from_pem_slice(&pem).map_err(|error| match error {
        pem::Error::NoItemsFound => bad(path, "no private key in the file"),
        other => bad(path, other),
    })
}

/// Reads the trusted authorities of a PEM file.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`].
pub fn authorities(path: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| bad(path, error))?;
    }
    Ok(roots)
}

/// Returns the configuration of a client without a certificate.
///
/// # Errors
/// [`Code::GENERAL_ERROR`] if the provider lacks TLS 1.3.
pub fn client(authorities: RootCertStore) -> Result<ClientConfig> {
    let config = ClientConfig::builder_with_provider(cycloid_rustls::default_provider().into())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| Code::GENERAL_ERROR.because(error.to_string()))?;
    Ok(config.with_root_certificates(authorities).with_no_client_auth())
}

/// Sets TCP options: keepalive to detect a vanished peer, and no delay before small segments.
///
/// # Errors
/// Errors of the system.
pub fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    rustix::net::sockopt::set_socket_keepalive(stream, true)?;
    rustix::net::sockopt::set_tcp_keepidle(stream, SILENCE)?;
    Ok(())
}

/// A client's certificate, key and trusted authorities, as paths of PEM files.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its certificate, followed by the intermediate certificates up to an authority that the
    /// daemon knows.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
    /// The authorities that may sign the daemon's certificate.
    pub authorities: PathBuf,
}

impl Identity {
    /// Takes the paths from `CYCLOID_HSM_CERTIFICATE`, `CYCLOID_HSM_KEY` and `CYCLOID_HSM_CA`.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if one is not set.
    pub fn from_environment() -> Result<Self> {
        let file = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).ok_or_else(|| {
                Code::ARGUMENTS_BAD
                    .because(format!("{name} is not set, but a TLS connection needs it"))
            })
        };
        Ok(Self {
            certificate: file("CYCLOID_HSM_CERTIFICATE")?,
            key: file("CYCLOID_HSM_KEY")?,
            authorities: file("CYCLOID_HSM_CA")?,
        })
    }
}

/// A daemon on another machine.
#[derive(Clone)]
pub struct Remote {
    address: String,
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

/// Shows the address alone.
impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tls://{}", self.address)
    }
}

impl Remote {
    /// Describes the daemon at `address`, a host and a port. Its certificate must name the host.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if the address is invalid, or a file does not contain what it
    /// should.
    pub fn new(address: &str, identity: &Identity) -> Result<Self> {
        let wrong = || Code::ARGUMENTS_BAD.because(format!("{address:?} is not HOST:PORT"));
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        port.parse::<u16>().map_err(|_| wrong())?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned()).map_err(|_| wrong())?;
        let chain = certificates(&identity.certificate)?;
        let config = ClientConfig::builder_with_provider(cycloid_rustls::default_provider().into())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| bad(&identity.certificate, error))?
            .with_root_certificates(authorities(&identity.authorities)?)
            .with_client_auth_cert(chain, private_key(&identity.key)?);
        let mut config = config.map_err(|error| bad(&identity.key, in_words(&error)))?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Self { address: address.to_owned(), name, config: config.into() })
    }

    /// Connects, and completes the client's side of the handshake. Whether the daemon accepts the
    /// client's certificate shows in its first answer.
    pub(super) fn open(&self) -> io::Result<Stream> {
        let mut stream = self.reach()?;
        prepare(&stream)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut connection = ClientConnection::new(self.config.clone(), self.name.clone())
            .map_err(io::Error::other)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        Ok(StreamOwned::new(connection, stream))
    }

    /// Connects to the first of the host's addresses that answers.
    fn reach(&self) -> io::Result<TcpStream> {
        let mut last = io::ErrorKind::NotFound.into();
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}
