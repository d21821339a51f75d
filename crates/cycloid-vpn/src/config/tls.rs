//! TLS and data channel settings: the peer's identity and the ciphers.

use std::path::PathBuf;
use std::time::Duration;

use rustls::{CipherSuite, NamedGroup};

use crate::proto::Role;
use crate::proto::data::{Cipher, Digest, Framing};
use crate::proto::tls::NameField;

use super::material::Material;

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// RFC 5246.
    V1_2,
    /// RFC 8446.
    V1_3,
}

/// `verify-x509-name`: the required name in the peer's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerName {
    /// The whole subject, as in `C=KG, ST=NA, L=Bishkek, CN=Server-1`.
    Subject(String),
    /// The common name, or the field that [`Tls::name_fields`] sets.
    Name(String),
    /// A prefix of that name.
    Prefix(String),
}

/// `crl-verify`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// One or more lists in PEM.
    List(Material),
    /// A directory with a file for each revoked certificate, named by its serial number in decimal.
    Directory(PathBuf),
}

/// `tls-cert-profile`: accepted keys and digests of certificates. SHA-1 and RSA keys of fewer than
/// 2048 bits are never accepted, so all profiles but the last have the same effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateProfile {
    /// OpenVPN's for old certificates.
    Insecure,
    /// OpenVPN's default.
    Legacy,
    /// SHA-2, RSA with 2048 bits and more.
    Preferred,
    /// ECDSA with P-256 or P-384, and SHA-256 or SHA-384.
    SuiteB,
}

/// A certificate and its key in a PKCS #11 token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Token {
    /// `pkcs11-providers`: modules, by path or by a name for the system's search.
    pub providers: Vec<PathBuf>,
    /// `pkcs11-id`: the certificate's name; `None` if there is only one.
    pub id: Option<String>,
    /// `pkcs11-id-management`: the management client chooses the certificate.
    pub chosen_by_manager: bool,
    /// `pkcs11-cert-private`: certificates are private objects, which need a login.
    pub private_certificates: bool,
    /// `pkcs11-protected-authentication`: a token with a keypad asks for the PIN itself.
    pub asks_itself: bool,
    /// `pkcs11-pin-cache`: how long the PIN is kept for another login; `None` is unlimited.
    pub pin_cache: Option<Duration>,
}

/// `verify-client-cert`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificate {
    /// Each client needs a certificate.
    Require,
    /// A client may omit its certificate; a given one must be valid.
    Optional,
    /// The server asks for no certificate.
    None,
}

/// TLS settings of the control channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// `ca`: authorities, in PEM.
    pub ca: Option<Material>,
    /// `capath`: a directory with files of authorities, in PEM.
    pub ca_directory: Option<PathBuf>,
    /// `cert`: this end's certificate and its intermediates, in PEM.
    pub certificate: Option<Material>,
    /// `extra-certs`: more intermediates.
    pub extra_certificates: Option<Material>,
    /// `key`: this end's private key, in PEM.
    pub key: Option<Material>,
    /// `pkcs12`: this end's certificate and private key in PKCS #12, and authorities if `ca` is
    /// absent.
    pub pkcs12: Option<Material>,
    /// `pkcs11-providers`, `pkcs11-id`: this end's certificate and key in a token.
    pub token: Option<Token>,
    /// `askpass`: the file with the key's passphrase; `Some(None)` asks the user.
    pub key_passphrase: Option<Option<PathBuf>>,
    /// `crl-verify`.
    pub revoked: Option<Revoked>,
    /// `tls-version-min`. The default is TLS 1.2.
    pub version_min: TlsVersion,
    /// `tls-version-max`. The default is TLS 1.3.
    pub version_max: TlsVersion,
    /// `tls-cipher`: TLS 1.2 cipher suites, best first; empty for all.
    pub cipher_suites_1_2: Vec<CipherSuite>,
    /// `tls-ciphersuites`: TLS 1.3 cipher suites, best first; empty for all.
    pub cipher_suites_1_3: Vec<CipherSuite>,
    /// `tls-groups`: key exchange groups, best first; empty for all.
    pub groups: Vec<NamedGroup>,
    /// `tls-cert-profile`. The default is legacy.
    pub certificate_profile: CertificateProfile,
    /// `verify-x509-name`.
    pub peer_name: Option<PeerName>,
    /// `x509-username-field`: the fields of a certificate that name its owner; empty for CN.
    pub name_fields: Vec<NameField>,
    /// `remote-cert-ku`: the peer's key usage must contain all bits of one of these values. The
    /// bits are those of the extension's first two bytes (0x80 is digitalSignature).
    pub peer_key_usages: Vec<u16>,
    /// `remote-cert-eku`: the required extended key usage, as a name or a dotted identifier.
    pub peer_extended_key_usage: Option<String>,
    /// `remote-cert-tls`: the required role of the peer's certificate, checked by its extended key
    /// usage, and by its key usage if present.
    pub peer_role: Option<Role>,
    /// `peer-fingerprint`: allowed SHA-256 hashes of the peer's certificate in DER. Replaces an
    /// authority.
    pub peer_fingerprints: Vec<[u8; 32]>,
    /// `verify-client-cert`, at a server.
    pub client_certificate: ClientCertificate,
}

impl Tls {
    /// Returns whether this end has a certificate.
    pub fn has_certificate(&self) -> bool {
        self.certificate.is_some() || self.pkcs12.is_some() || self.token.is_some()
    }

    /// Returns whether authorities judge the peer's certificate.
    pub fn has_authorities(&self) -> bool {
        self.ca.is_some() || self.ca_directory.is_some() || self.pkcs12.is_some()
    }
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            ca: None,
            ca_directory: None,
            certificate: None,
            extra_certificates: None,
            key: None,
            pkcs12: None,
            token: None,
            key_passphrase: None,
            revoked: None,
            version_min: TlsVersion::V1_2,
            version_max: TlsVersion::V1_3,
            cipher_suites_1_2: Vec::new(),
            cipher_suites_1_3: Vec::new(),
            groups: Vec::new(),
            certificate_profile: CertificateProfile::Legacy,
            peer_name: None,
            name_fields: Vec::new(),
            peer_key_usages: Vec::new(),
            peer_extended_key_usage: None,
            peer_role: None,
            peer_fingerprints: Vec::new(),
            client_certificate: ClientCertificate::Require,
        }
    }
}

/// The default of `data-ciphers`, in order of preference.
pub(super) const DATA_CIPHERS: [Cipher; 3] =
    [Cipher::Aes256Gcm, Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305];

/// Settings of the data channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataChannel {
    /// `data-ciphers`, in order of preference. The default is AES-256-GCM, AES-128-GCM,
    /// ChaCha20-Poly1305. CBC ciphers use the digest of `auth`.
    pub ciphers: Vec<Cipher>,
    /// `data-ciphers-fallback`: the cipher for peers that do not negotiate.
    pub fallback: Option<Cipher>,
    /// `cipher`: the cipher announced to peers that do not negotiate.
    pub cipher: Option<Cipher>,
    /// `auth`. The default is SHA-1. AEADs do not use it.
    pub digest: Digest,
    /// `comp-lzo`, `compress`.
    pub framing: Framing,
    /// `allow-compression asym`: whether to accept packets that the peer compresses.
    pub decompress: bool,
    /// `replay-window`: how many packets a packet may be late. The default is 64.
    pub replay_window: u32,
}

impl DataChannel {
    /// Returns the names of `data-ciphers`, joined with `between`.
    pub fn cipher_names(&self, between: &str) -> String {
        let names: Vec<_> = self.ciphers.iter().map(|cipher| cipher.name()).collect();
        names.join(between)
    }
}

impl Default for DataChannel {
    fn default() -> Self {
        Self {
            ciphers: DATA_CIPHERS.to_vec(),
            fallback: None,
            cipher: None,
            digest: Digest::Sha1,
            framing: Framing::None,
            decompress: false,
            replay_window: 64,
        }
    }
}

/// Key renewal, keepalive and timeout settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// `reneg-sec`: a key's maximum lifetime. The default is 3600 s; `None` is unlimited.
    pub renegotiate_after: Option<Duration>,
    /// The second number of `reneg-sec`: a key's minimum lifetime. `None` is 90 % of the maximum at
    /// a server, and the maximum at a client.
    pub renegotiate_not_before: Option<Duration>,
    /// `reneg-bytes`: limit on bytes per direction under one key; `None` is unlimited.
    pub renegotiate_bytes: Option<u64>,
    /// `reneg-pkts`: limit on packets per direction under one key; `None` is unlimited.
    pub renegotiate_packets: Option<u64>,
    /// `hand-window`: time limit of a handshake. The default is 60 s.
    pub hand_window: Duration,
    /// `tran-window`: how long an old key remains valid next to its successor. The default is 3600
    /// s.
    pub transition_window: Duration,
    /// `ping`: send a ping after sending nothing for this long.
    pub ping: Option<Duration>,
    /// `ping-restart`: reconnect after this much silence from the peer; a server drops the client
    /// instead. The default for a client that pulls is 120 s.
    pub ping_restart: Option<Duration>,
    /// `ping-exit`: exit after this much silence from the peer.
    pub ping_exit: Option<Duration>,
    /// `ping-timer-rem`: start the silence timer only once the peer's address is known.
    pub ping_timer_needs_peer: bool,
    /// `inactive`: exit if the tunnel carries no more than this many bytes in this time.
    pub inactive: Option<(Duration, u64)>,
    /// `session-timeout`: exit after this time.
    pub session_timeout: Option<Duration>,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            renegotiate_after: Some(Duration::from_secs(3600)),
            renegotiate_not_before: None,
            renegotiate_bytes: None,
            renegotiate_packets: None,
            hand_window: Duration::from_secs(60),
            transition_window: Duration::from_secs(3600),
            ping: None,
            ping_restart: None,
            ping_exit: None,
            ping_timer_needs_peer: false,
            inactive: None,
            session_timeout: None,
        }
    }
}
