//! TLS inside the control channel: requirements on the peer's certificate, and the connection.
//!
//! No host name is checked: a peer is identified by its certificate's authority, fingerprint,
//! subject and usage. rustls asks a clock for the time; here it returns the time last passed to the
//! core.

mod ber;
mod encrypted;
mod identity;
mod pkcs12;
mod reasons;
mod revocation;
mod short_rsa;
mod suites;
mod verifier;

use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Duration;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};
use rustls::time_provider::TimeProvider;
use rustls::{
    CipherSuite, ClientConfig, ClientConnection, Connection, InconsistentKeys, NamedGroup,
    ServerConfig, ServerConnection, SupportedProtocolVersion,
};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use zeroize::Zeroizing;

use super::{Error, Role};
pub use encrypted::is_encrypted;
pub use identity::{Identity, NameField, Subject};
pub(crate) use identity::{decimal, short_name};
pub use pkcs12::{Pkcs12, Pkcs12Error};
pub use revocation::{RevocationList, RevokedSerials, UnusableList};
pub use suites::{Choice, UnusableNames, groups, tls12_suites, tls13_suites};
use verifier::Verifier;
pub use verifier::{NameRule, PeerRules, Usage};

/// The longest TLS record, header included: RFC 8446, 5.2, and RFC 5246, 6.2.3.
const MAX_RECORD: usize = 5 + (1 << 14) + 2048;

/// A certificate chain and its private key.
#[derive(Debug)]
pub struct Credentials {
    /// This end's certificate first.
    pub chain: Vec<CertificateDer<'static>>,
    /// PKCS #8, SEC 1 or PKCS #1.
    pub key: PrivateKeyDer<'static>,
}

impl Credentials {
    /// Parses PEM. `passphrase` decrypts an [encrypted](is_encrypted()) private key.
    ///
    /// # Errors
    /// A missing certificate or private key, or a wrong passphrase.
    pub fn from_pem(
        certificates: &[u8],
        key: &[u8],
        passphrase: Option<&str>,
    ) -> Result<Self, Error> {
        let wrong = |what: &str| Error::Configuration(what.into());
        let key = match passphrase {
            _ if !is_encrypted(key) => {
                PrivateKeyDer::from_pem_slice(key).map_err(|_| wrong("no private key in PEM"))?
            }
            Some(passphrase) => encrypted::decrypt(key, passphrase)?,
            None => return Err(wrong("the private key is encrypted")),
        };
        Ok(Self { chain: certificates_from_pem(certificates)?, key })
    }
}

/// A certificate chain whose private key is elsewhere, such as in a token.
#[derive(Clone, Debug)]
pub struct External {
    /// This end's certificate first.
    pub chain: Vec<CertificateDer<'static>>,
    /// Signs handshakes.
    pub key: Arc<dyn SigningKey>,
    /// Where steps of handshakes run, if the key signs slowly.
    pub elsewhere: Option<Arc<dyn Elsewhere>>,
}

/// Another thread for steps of handshakes, each of which may sign.
pub trait Elsewhere: fmt::Debug + Send + Sync {
    /// Runs the step later, and then has [`Server::proceed`](super::server::Server::proceed) or
    /// [`Client::proceed`](super::client::Client::proceed) called. A step that is dropped ends its
    /// connection.
    fn run(&self, step: Box<dyn FnOnce() + Send>);
}

impl Clone for Credentials {
    fn clone(&self) -> Self {
        Self { chain: self.chain.clone(), key: self.key.clone_key() }
    }
}

/// Returns all certificates of a PEM text. None, or an unreadable one, is an error.
pub fn certificates_from_pem(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(Error::Configuration("no certificate in PEM".into())),
    }
}

/// TLS settings of either end.
#[derive(Clone, Debug, Default)]
pub struct TlsSettings {
    /// This end's credentials; optional for a client.
    pub credentials: Option<Credentials>,
    /// This end's credentials in place of `credentials`, with the key elsewhere.
    pub external: Option<External>,
    /// Requirements on the peer.
    pub peer: PeerRules,
    /// Allow only TLS 1.3.
    pub only_tls13: bool,
    /// Allow only TLS 1.2.
    pub only_tls12: bool,
    /// Cipher suites of TLS 1.2, best first; empty allows all.
    pub suites_1_2: Vec<CipherSuite>,
    /// Cipher suites of TLS 1.3, best first; empty allows all.
    pub suites_1_3: Vec<CipherSuite>,
    /// Key exchange groups, best first; empty allows all.
    pub groups: Vec<NamedGroup>,
}

impl TlsSettings {
    /// Returns a provider restricted to the settings.
    fn provider(&self) -> CryptoProvider {
        let mut provider = cycloid_rustls::default_provider();
        let all = std::mem::take(&mut provider.cipher_suites);
        for (wanted, tls13) in [(&self.suites_1_3, true), (&self.suites_1_2, false)] {
            let version = all.iter().filter(|suite| suite.tls13().is_some() == tls13);
            if wanted.is_empty() {
                provider.cipher_suites.extend(version);
                continue;
            }
            for name in wanted {
                let suite = version.clone().find(|suite| suite.suite() == *name);
                provider.cipher_suites.extend(suite);
            }
        }
        if !self.groups.is_empty() {
            let all = std::mem::take(&mut provider.kx_groups);
            for wanted in &self.groups {
                provider.kx_groups.extend(all.iter().find(|group| group.name() == *wanted));
            }
        }
        provider
    }
}

/// Creates TLS connections; cheap to clone.
#[derive(Clone, Debug)]
pub struct TlsFactory {
    kind: Kind,
    clock: Arc<Clock>,
    verifier: Arc<Verifier>,
    with_chains: bool,
    elsewhere: Option<Arc<dyn Elsewhere>>,
}

#[derive(Clone, Debug)]
enum Kind {
    Client(Arc<ClientConfig>),
    Server(Arc<ServerConfig>),
}

impl TlsFactory {
    /// Parses keys and certificates once for all connections.
    pub fn new(role: Role, settings: &TlsSettings) -> Result<Self, Error> {
        let clock = Arc::new(Clock::default());
        let provider = Arc::new(settings.provider());
        let versions: &[&SupportedProtocolVersion] =
            match (settings.only_tls12, settings.only_tls13) {
                (false, false) => &[&rustls::version::TLS13, &rustls::version::TLS12],
                (false, true) => &[&rustls::version::TLS13],
                (true, false) => &[&rustls::version::TLS12],
                (true, true) => {
                    return Err(Error::Configuration("no TLS version is left".into()));
                }
            };
        let verifier = Arc::new(Verifier::new(role, settings.peer.clone())?);
        let configuration = |error: rustls::Error| {
            Error::Configuration(match error {
                rustls::Error::General(text) => text,
                other => other.to_string(),
            })
        };
        let key_provider = provider.key_provider;
        let own_certificate = || {
            if let Some(External { chain, key, .. }) = &settings.external {
                let key = certified(chain, Arc::clone(key))?;
                return Ok(Arc::new(SingleCertAndKey::from(key)));
            }
            let own = settings.credentials.as_ref();
            let own =
                own.ok_or_else(|| Error::Configuration("a server needs a certificate".into()))?;
            let key = match key_provider.load_private_key(own.key.clone_key()) {
                Ok(key) => key,
                Err(error) => {
                    let short = short_rsa::load(&own.key).ok_or_else(|| configuration(error))?;
                    if role == Role::Server {
                        return Err(Error::Configuration(
                            "the server's RSA key has fewer than 2048 bits, and others can compute \
                             it: make a longer one"
                                .into(),
                        ));
                    }
                    short
                }
            };
            Ok::<_, Error>(Arc::new(SingleCertAndKey::from(certified(&own.chain, key)?)))
        };
        let kind = match role {
            Role::Client => {
                let builder = ClientConfig::builder_with_details(provider, clock.clone())
                    .with_protocol_versions(versions)
                    .map_err(configuration)?
                    .dangerous()
                    .with_custom_certificate_verifier(verifier.clone());
                let has_certificate = settings.credentials.is_some() || settings.external.is_some();
                let mut config = if has_certificate {
                    builder.with_client_cert_resolver(own_certificate()?)
                } else {
                    builder.with_no_client_auth()
                };
                config.enable_sni = false;
                config.resumption = rustls::client::Resumption::disabled();
                Kind::Client(Arc::new(config))
            }
            Role::Server => {
                let mut config = ServerConfig::builder_with_details(provider, clock.clone())
                    .with_protocol_versions(versions)
                    .map_err(configuration)?
                    .with_client_cert_verifier(verifier.clone())
                    .with_cert_resolver(own_certificate()?);
                config.send_tls13_tickets = 0;
                config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
                Kind::Server(Arc::new(config))
            }
        };
        let elsewhere = settings.external.as_ref().and_then(|external| external.elsewhere.clone());
        Ok(Self { kind, clock, verifier, with_chains: false, elsewhere })
    }

    /// Sets whether a peer's identity has the authorities above it, which costs another
    /// verification of the chain.
    pub fn with_chains(self, with_chains: bool) -> Self {
        Self { with_chains, ..self }
    }

    /// Sets the time for certificate validation.
    pub fn set_time(&self, unix: u64) {
        self.clock.0.store(unix, Ordering::Relaxed);
    }

    /// Returns a new connection.
    pub fn connect(&self) -> Result<Tls, Error> {
        let connection = match &self.kind {
            Kind::Client(config) => {
                let nobody = ServerName::try_from("openvpn.invalid").expect("a valid name");
                ClientConnection::new(config.clone(), nobody).map(Connection::Client)
            }
            Kind::Server(config) => ServerConnection::new(config.clone()).map(Connection::Server),
        }
        .map_err(|error| Error::Tls(error.to_string()))?;
        Ok(Tls {
            connection: Some(connection),
            incoming: Vec::new(),
            factory: self.clone(),
            step: None,
        })
    }
}

/// Returns the certificate with its key, after a check that they are a pair.
fn certified(
    chain: &[CertificateDer<'static>],
    key: Arc<dyn SigningKey>,
) -> Result<CertifiedKey, Error> {
    let certified = CertifiedKey::new(chain.to_vec(), key);
    match certified.keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(certified),
        // Certificates of version 1, as many providers give their clients, are unknown to webpki.
        Err(rustls::Error::InvalidCertificate(_)) => {
            let parsed = chain.first().and_then(|der| Certificate::from_der(der).ok());
            let wanted = parsed
                .and_then(|it| it.tbs_certificate().subject_public_key_info().to_der().ok())
                .ok_or_else(|| Error::Configuration("the certificate is unreadable".into()))?;
            match certified.key.public_key() {
                Some(public) if public.as_ref() != wanted.as_slice() => Err(Error::Configuration(
                    "the private key is not that of the certificate".into(),
                )),
                _ => Ok(certified),
            }
        }
        Err(error) => Err(Error::Configuration(reasons::in_words(&error))),
    }
}

/// The time last passed to the core, in seconds since 1970.
#[derive(Debug, Default)]
struct Clock(AtomicU64);

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(self.0.load(Ordering::Relaxed))))
    }
}

/// A TLS connection. Each record carries one message of the control channel, so TLS gets records
/// one at a time.
#[derive(Debug)]
pub struct Tls {
    /// `None` while a step of the handshake runs elsewhere.
    connection: Option<Connection>,
    /// Complete records that wait for the end of a step, and an incomplete one.
    incoming: Vec<u8>,
    factory: TlsFactory,
    /// Gets the end of the step that runs elsewhere.
    step: Option<Receiver<Step>>,
}

/// The end of a step.
#[derive(Debug)]
struct Step {
    connection: Connection,
    messages: Vec<Zeroizing<Vec<u8>>>,
    result: Result<(), Error>,
}

/// The most bytes that a peer may send during a step, so that a slow key costs no more memory.
const MAX_WAITING: usize = 4 * MAX_RECORD;

impl Tls {
    /// Processes received bytes and returns the contents of each complete record. After an error
    /// there may be an alert to send.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        message: impl FnMut(Zeroizing<Vec<u8>>),
    ) -> Result<(), Error> {
        self.incoming.extend_from_slice(bytes);
        if self.is_away() && self.incoming.len() > MAX_WAITING {
            return Err(Error::Malformed("too much TLS before an answer"));
        }
        self.process(message)
    }

    /// Returns whether a step of the handshake runs elsewhere. Until it ends, nothing is sent.
    pub fn is_away(&self) -> bool {
        self.connection.is_none()
    }

    /// Continues after a step that has ended elsewhere, like [`receive`](Self::receive). Without
    /// one, it does nothing.
    pub fn proceed(&mut self, mut message: impl FnMut(Zeroizing<Vec<u8>>)) -> Result<(), Error> {
        let Some(step) = &self.step else { return Ok(()) };
        let Step { connection, messages, result } = match step.try_recv() {
            Ok(step) => step,
            Err(TryRecvError::Empty) => return Ok(()),
            Err(TryRecvError::Disconnected) => {
                self.step = None;
                return Err(Error::Unsigned("no thread signs any more".into()));
            }
        };
        self.step = None;
        self.connection = Some(connection);
        messages.into_iter().for_each(&mut message);
        result?;
        self.process(message)
    }

    /// Processes the complete records, unless a step runs elsewhere. Those of a handshake become
    /// the next step.
    fn process(&mut self, mut message: impl FnMut(Zeroizing<Vec<u8>>)) -> Result<(), Error> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        let mut complete = 0;
        while let Some(end) = end_of_record(&self.incoming, complete)? {
            complete = end;
        }
        if complete == 0 {
            return Ok(());
        }
        let records: Vec<u8> = self.incoming.drain(..complete).collect();
        match &self.factory.elsewhere {
            Some(elsewhere) if connection.is_handshaking() => {
                let (sender, step) = sync_channel(1);
                self.step = Some(step);
                let connection = self.connection.take();
                elsewhere.run(Box::new(move || {
                    let Some(mut connection) = connection else { return };
                    let mut messages = Vec::new();
                    let result =
                        take_records(&mut connection, &records, |message| messages.push(message));
                    // The peer may have gone meanwhile.
                    let _ = sender.send(Step { connection, messages, result });
                }));
                Ok(())
            }
            _ => take_records(connection, &records, &mut message),
        }
    }

    /// Sends a message in its own record.
    pub fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let mut writer = self.connected_mut()?.writer();
        writer.write_all(message).map_err(|error| Error::Tls(error.to_string()))
    }

    fn connected_mut(&mut self) -> Result<&mut Connection, Error> {
        self.connection.as_mut().ok_or(Error::Unexpected("the TLS handshake is running"))
    }

    /// Frees the memory that is kept for later records.
    pub fn shrink(&mut self) {
        self.incoming.shrink_to_fit();
    }

    /// Returns whether there is output for the peer.
    pub fn wants_write(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.wants_write())
    }

    /// Appends all output for the peer.
    pub fn take_output(&mut self, output: &mut Vec<u8>) {
        let Some(connection) = &mut self.connection else { return };
        while connection.wants_write() {
            if connection.write_tls(output).is_err() {
                unreachable!("writing to a vector succeeds");
            }
        }
    }

    /// Returns whether the handshake is running; until it ends, nothing is authenticated.
    pub fn is_handshaking(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.is_handshaking())
    }

    /// Exports key material without a context (RFC 5705 and RFC 8446, 7.5). The output also depends
    /// on the length.
    pub fn export<const LEN: usize>(&self, label: &str) -> Result<Zeroizing<[u8; LEN]>, Error> {
        let mut output = Zeroizing::new([0; LEN]);
        self.connection
            .as_ref()
            .ok_or(Error::Unexpected("the TLS handshake is running"))?
            .export_keying_material(&mut output[..], label.as_bytes(), None)
            .map_err(|error| Error::Tls(error.to_string()))?;
        Ok(output)
    }

    /// Returns the peer's identity, if it sent a certificate.
    pub fn peer(&self) -> Option<Identity> {
        let certificates = self.connection.as_ref()?.peer_certificates()?;
        let TlsFactory { verifier, with_chains, clock, .. } = &self.factory;
        verifier.identity(certificates, *with_chains, clock.current_time()?)
    }

    /// Returns version and cipher suite, for the log.
    pub fn description(&self) -> String {
        let Some(connection) = &self.connection else { return String::new() };
        let version = connection.protocol_version().and_then(|version| version.as_str());
        let suite = connection.negotiated_cipher_suite();
        let suite = suite.and_then(|suite| suite.suite().as_str());
        let group = connection.negotiated_key_exchange_group();
        let group = group.and_then(|group| group.name().as_str());
        format!(
            "{} {}, key exchange {}",
            version.unwrap_or_default(),
            suite.unwrap_or_default(),
            group.unwrap_or_default()
        )
    }
}

/// Converts an error, and tells a refused certificate from other failures.
fn of_rustls(error: rustls::Error) -> Error {
    use rustls::AlertDescription as Alert;
    let refused = match &error {
        rustls::Error::InvalidCertificate(_)
        | rustls::Error::InvalidCertRevocationList(_)
        | rustls::Error::NoCertificatesPresented
        | rustls::Error::General(_) => true,
        rustls::Error::AlertReceived(alert) => matches!(
            alert,
            Alert::BadCertificate
                | Alert::UnsupportedCertificate
                | Alert::CertificateRevoked
                | Alert::CertificateExpired
                | Alert::CertificateUnknown
                | Alert::CertificateRequired
                | Alert::UnknownCA
                | Alert::AccessDenied
        ),
        _ => false,
    };
    match error {
        // A key that is elsewhere and did not sign.
        rustls::Error::Other(rustls::OtherError(cause)) => Error::Unsigned(cause.to_string()),
        error if refused => Error::Refused(reasons::in_words(&error)),
        error => Error::Tls(reasons::in_words(&error)),
    }
}

/// Returns the end of the record that begins at `start`, if it is complete.
fn end_of_record(bytes: &[u8], start: usize) -> Result<Option<usize>, Error> {
    let Some(header) = bytes.get(start..start + 5) else { return Ok(None) };
    let length = 5 + usize::from(u16::from_be_bytes([header[3], header[4]]));
    if length > MAX_RECORD {
        return Err(Error::Malformed("TLS record too long"));
    }
    Ok(Some(start + length).filter(|end| *end <= bytes.len()))
}

/// Passes complete records to TLS, one at a time.
fn take_records(
    connection: &mut Connection,
    records: &[u8],
    mut message: impl FnMut(Zeroizing<Vec<u8>>),
) -> Result<(), Error> {
    let mut taken = 0;
    while let Some(end) = end_of_record(records, taken)? {
        take_record(connection, &records[taken..end], &mut message)?;
        taken = end;
    }
    Ok(())
}

fn take_record(
    connection: &mut Connection,
    mut record: &[u8],
    message: &mut impl FnMut(Zeroizing<Vec<u8>>),
) -> Result<(), Error> {
    let failed = |error: String| Error::Tls(error);
    while !record.is_empty() {
        let read = connection.read_tls(&mut record).map_err(|error| failed(error.to_string()))?;
        if read == 0 {
            return Err(Error::Tls("the connection was closed".into()));
        }
        let state = connection.process_new_packets().map_err(of_rustls)?;
        if state.plaintext_bytes_to_read() > 0 {
            let mut text = Zeroizing::new(vec![0; state.plaintext_bytes_to_read()]);
            connection.reader().read_exact(&mut text).map_err(|error| failed(error.to_string()))?;
            message(text);
        }
        if state.peer_has_closed() {
            return Err(Error::Tls("the peer closed the connection".into()));
        }
    }
    Ok(())
}
