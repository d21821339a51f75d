//! TLS and the data channel: who the peer must be, and which ciphers.

use std::path::PathBuf;
use std::time::Duration;

use crate::proto::Role;
use crate::proto::data::{Cipher, Digest, Framing};

use super::material::Material;

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// RFC 5246.
    V1_2,
    /// RFC 8446.
    V1_3,
}

/// `verify-x509-name`: what the peer's certificate must say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerName {
    /// The whole subject, as in `C=KG, ST=NA, L=Bishkek, CN=Server-1`.
    Subject(String),
    /// The common name, or another field if [`Tls::username_field`] says so.
    Name(String),
    /// The beginning of it.
    Prefix(String),
}

/// `crl-verify`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// A list, or several, in PEM.
    List(Material),
    /// A directory: the serial number, in decimal, of each revoked certificate is a file's name.
    Directory(PathBuf),
}

/// `tls-cert-profile`: which keys and digests certificates may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateProfile {
    /// SHA-1 and better, RSA with 1024 bits and more.
    Insecure,
    /// SHA-1 and better, RSA with 2048 bits and more.
    Legacy,
    /// SHA-2, RSA with 2048 bits and more.
    Preferred,
    /// SHA-256 and SHA-384, P-256 and P-384.
    SuiteB,
}

/// `verify-client-cert`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificate {
    /// Each client has one.
    Require,
    /// A client that has one must have a good one.
    Optional,
    /// None is asked for.
    None,
}

/// How the control channel's TLS is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// `ca`: authorities, in PEM.
    pub ca: Option<Material>,
    /// `cert`: the own certificate, and what is between it and the authority, in PEM.
    pub certificate: Option<Material>,
    /// `extra-certs`: more of what is in between.
    pub extra_certificates: Option<Material>,
    /// `key`: the own private key, in PEM.
    pub key: Option<Material>,
    /// `askpass`: where the key's passphrase is; `Some(None)` asks a person.
    pub key_passphrase: Option<Option<PathBuf>>,
    /// `crl-verify`.
    pub revoked: Option<Revoked>,
    /// `tls-version-min`; TLS 1.2.
    pub version_min: TlsVersion,
    /// `tls-version-max`; TLS 1.3.
    pub version_max: TlsVersion,
    /// `tls-cipher`: names of cipher suites of TLS 1.2, as IANA or OpenSSL spells them.
    pub cipher_suites_1_2: Option<Vec<String>>,
    /// `tls-ciphersuites`: names of cipher suites of TLS 1.3.
    pub cipher_suites_1_3: Option<Vec<String>>,
    /// `tls-groups`: names of groups, as OpenSSL spells them.
    pub groups: Option<Vec<String>>,
    /// `tls-cert-profile`; legacy.
    pub certificate_profile: CertificateProfile,
    /// `verify-x509-name`.
    pub peer_name: Option<PeerName>,
    /// `x509-username-field`: the subject's field that is a client's name; CN.
    pub username_field: String,
    /// `remote-cert-ku`: the peer's key usages must have all bits of one of these; the bits as in the
    /// first two bytes of the extension (0x80 is digitalSignature).
    pub peer_key_usages: Vec<u16>,
    /// `remote-cert-eku`: the extended key usage that the peer must have, a name or an identifier in
    /// dots.
    pub peer_extended_key_usage: Option<String>,
    /// `remote-cert-tls`: which end the peer's certificate is for, by its extended key usage, and by
    /// its key usage if it has one.
    pub peer_role: Option<Role>,
    /// `peer-fingerprint`: SHA-256 of the peer's certificate in DER is one of these. No authority is
    /// needed then.
    pub peer_fingerprints: Vec<[u8; 32]>,
    /// `verify-client-cert`, at a server.
    pub client_certificate: ClientCertificate,
    /// `tls-exit`: end if TLS fails.
    pub exit_on_failure: bool,
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            ca: None,
            certificate: None,
            extra_certificates: None,
            key: None,
            key_passphrase: None,
            revoked: None,
            version_min: TlsVersion::V1_2,
            version_max: TlsVersion::V1_3,
            cipher_suites_1_2: None,
            cipher_suites_1_3: None,
            groups: None,
            certificate_profile: CertificateProfile::Legacy,
            peer_name: None,
            username_field: "CN".into(),
            peer_key_usages: Vec::new(),
            peer_extended_key_usage: None,
            peer_role: None,
            peer_fingerprints: Vec::new(),
            client_certificate: ClientCertificate::Require,
            exit_on_failure: false,
        }
    }
}

/// What `data-ciphers` is if nothing is said, in the order of preference.
pub(super) const DATA_CIPHERS: [Cipher; 3] =
    [Cipher::Aes256Gcm, Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305];

/// The data channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataChannel {
    /// `data-ciphers`, in the order of preference; AES-256-GCM, AES-128-GCM, ChaCha20-Poly1305. CBC
    /// has the digest of `auth`.
    pub ciphers: Vec<Cipher>,
    /// `data-ciphers-fallback`: for peers that do not negotiate.
    pub fallback: Option<Cipher>,
    /// `cipher`: what peers that do not negotiate are told.
    pub cipher: Option<Cipher>,
    /// `auth`; SHA-1. AEADs do not use it.
    pub digest: Digest,
    /// `comp-lzo`, `compress`.
    pub framing: Framing,
    /// `replay-window`: packets and time by which one may be late; 64, 15 s.
    pub replay_window: (u32, Duration),
}

impl DataChannel {
    /// The names of `data-ciphers`, with this between them.
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
            replay_window: (64, Duration::from_secs(15)),
        }
    }
}

/// When keys are renewed, peers looked after, and connections ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// `reneg-sec`: a key's longest life; 3600 s. Without end if none.
    pub renegotiate_after: Option<Duration>,
    /// The second number of `reneg-sec`: its shortest life; a server takes 90 % of the longest if
    /// none, a client the longest.
    pub renegotiate_not_before: Option<Duration>,
    /// `reneg-bytes`: bytes each way under one key; without end if none.
    pub renegotiate_bytes: Option<u64>,
    /// `reneg-pkts`: packets each way under one key; without end if none.
    pub renegotiate_packets: Option<u64>,
    /// `hand-window`: the time in which a handshake must end; 60 s.
    pub hand_window: Duration,
    /// `tran-window`: the time for which an old key stays beside the next; 3600 s.
    pub transition_window: Duration,
    /// `tls-timeout`: a control packet is sent again after this, then after twice as long; 2 s.
    pub retransmit_after: Duration,
    /// `ping`: what is sent after so long a silence of one's own.
    pub ping: Option<Duration>,
    /// `ping-restart`: connect anew, or at a server forget the client, after so long a silence of the
    /// peer. A client that pulls has 120 s if nothing else is said.
    pub ping_restart: Option<Duration>,
    /// `ping-exit`: end after so long a silence of the peer.
    pub ping_exit: Option<Duration>,
    /// `ping-timer-rem`: count silence only once the peer's address is known.
    pub ping_timer_needs_peer: bool,
    /// `inactive`: end if the tunnel carried no more than so many bytes in this time.
    pub inactive: Option<(Duration, u64)>,
    /// `session-timeout`: end after this time.
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
            retransmit_after: Duration::from_secs(2),
            ping: None,
            ping_restart: None,
            ping_exit: None,
            ping_timer_needs_peer: false,
            inactive: None,
            session_timeout: None,
        }
    }
}
