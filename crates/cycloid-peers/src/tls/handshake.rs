//! A single TLS handshake.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::NoServerSessionStorage;
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, Error, ProtocolVersion, RootCertStore, ServerConfig,
    ServerConnection, SupportedProtocolVersion,
};

use super::kind::{Certificate, Kind};
use cycloid_lab::Failure;
use cycloid_lab::peers::Call;

/// The length of a result: the identifiers of version, cipher suite and group.
pub(super) const RESULT: usize = 6;

/// The input of a call whose client trusts another authority than the server's; other calls have
/// empty input.
pub(super) const STRANGER: &[u8] = b"stranger";

/// The files of a certificate: the certificate, its authority's, and its key.
macro_rules! files {
    ($name:literal) => {
        [
            include_bytes!(concat!("certificates/", $name, ".pem")),
            include_bytes!(concat!("certificates/", $name, "-authority.pem")),
            include_bytes!(concat!("certificates/", $name, ".key")),
        ]
    };
}

impl Certificate {
    /// Returns the certificate, its authority's, and its key, as PEM.
    pub(crate) const fn files(self) -> [&'static [u8]; 3] {
        match self {
            Self::P256 => files!("p256"),
            Self::P384 => files!("p384"),
            Self::Rsa2048 => files!("rsa2048"),
            Self::Ed25519 => files!("ed25519"),
        }
    }

    fn authority(self) -> RootCertStore {
        let [_, authority, _] = self.files();
        let mut roots = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_slice(authority);
        roots.add(certificate.expect("the file is PEM")).expect("the certificate is well-formed");
        roots
    }
}

/// The configurations of both sides.
struct Sides {
    name: ServerName<'static>,
    client: Arc<ClientConfig>,
    stranger: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

/// Prepares handshakes of a kind with a provider.
pub(super) fn call(kind: Kind, provider: &Arc<CryptoProvider>) -> Result<Call, Failure> {
    let sides = sides(kind, provider).map_err(|error| {
        Failure::new(
            format!("cannot configure rustls: {error}"),
            "exclude it with --peers, or report this",
        )
    })?;
    Ok(Box::new(move |data, result| {
        let config = if data == STRANGER { &sides.stranger } else { &sides.client };
        let agreed = shake(config, &sides).map_err(|_| "handshake failed")?;
        result.get_mut(..RESULT).ok_or("the result buffer is too short")?.copy_from_slice(&agreed);
        Ok(RESULT)
    }))
}

fn sides(kind: Kind, provider: &Arc<CryptoProvider>) -> Result<Sides, Error> {
    let (own, versions) = limited(kind, provider);
    let [certificate, _, key] = kind.certificate.files();
    let certificate = CertificateDer::from_pem_slice(certificate).expect("the file is PEM");
    let key = PrivateKeyDer::from_pem_slice(key).expect("the file is PEM");
    let mut server = ServerConfig::builder_with_provider(own.into())
        .with_protocol_versions(&versions)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    server.session_storage = Arc::new(NoServerSessionStorage {});
    server.send_tls13_tickets = 0;

    let stranger =
        if kind.certificate == Certificate::P256 { Certificate::P384 } else { Certificate::P256 };
    Ok(Sides {
        name: ServerName::try_from("localhost").expect("the name is valid"),
        client: Arc::new(client(kind, kind.certificate, provider)?),
        stranger: Arc::new(client(kind, stranger, provider)?),
        server: Arc::new(server),
    })
}

/// Returns a provider with only the group of these handshakes, and their version.
fn limited(
    kind: Kind,
    provider: &CryptoProvider,
) -> (CryptoProvider, [&'static SupportedProtocolVersion; 1]) {
    let mut provider = provider.clone();
    provider.kx_groups.retain(|group| group.name() == kind.group);
    (provider, [if kind.version == ProtocolVersion::TLSv1_2 { &TLS12 } else { &TLS13 }])
}

/// Returns the configuration of a client that trusts the authority of `trusted` and resumes no
/// session.
pub(crate) fn client(
    kind: Kind,
    trusted: Certificate,
    provider: &CryptoProvider,
) -> Result<ClientConfig, Error> {
    let (provider, versions) = limited(kind, provider);
    let mut client = ClientConfig::builder_with_provider(provider.into())
        .with_protocol_versions(&versions)?
        .with_root_certificates(trusted.authority())
        .with_no_client_auth();
    client.resumption = Resumption::disabled();
    Ok(client)
}

/// Performs a whole handshake, until both sides may send data.
fn shake(config: &Arc<ClientConfig>, sides: &Sides) -> Result<[u8; RESULT], Error> {
    let mut client = ClientConnection::new(Arc::clone(config), sides.name.clone())?;
    let mut server = ServerConnection::new(Arc::clone(&sides.server))?;
    let mut bytes = Vec::with_capacity(8192);
    while client.is_handshaking() || server.is_handshaking() {
        bytes.clear();
        while client.wants_write() {
            client.write_tls(&mut bytes).map_err(other)?;
        }
        let mut sent = &bytes[..];
        while !sent.is_empty() {
            server.read_tls(&mut sent).map_err(other)?;
            server.process_new_packets()?;
        }
        bytes.clear();
        while server.wants_write() {
            server.write_tls(&mut bytes).map_err(other)?;
        }
        let mut sent = &bytes[..];
        while !sent.is_empty() {
            client.read_tls(&mut sent).map_err(other)?;
            client.process_new_packets()?;
        }
    }
    let negotiated = || {
        let version = u16::from(client.protocol_version()?);
        let suite = u16::from(client.negotiated_cipher_suite()?.suite());
        let group = u16::from(client.negotiated_key_exchange_group()?.name());
        Some([version, suite, group].map(u16::to_be_bytes))
    };
    let negotiated = negotiated().ok_or(Error::HandshakeNotComplete)?;
    let mut result = [0; RESULT];
    result.copy_from_slice(negotiated.as_flattened());
    Ok(result)
}

/// Reading and writing memory cannot fail except by a defect.
fn other(error: std::io::Error) -> Error {
    Error::General(error.to_string())
}
