//! Whom this end accepts: chains, revocation, fingerprints, names and usages.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, ServerName, TrustAnchor, UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, OtherError, SignatureScheme,
};
use webpki::{
    CertRevocationList, EndEntityCert, ExpirationPolicy, ExtendedKeyUsageValidator,
    KeyPurposeIdIter, KeyUsage, OwnedCertRevocationList, RequiredEkuNotFoundContext,
    RevocationCheckDepth, RevocationOptionsBuilder, UnknownStatusPolicy, anchor_from_trusted_cert,
};

use super::identity::{Identity, fingerprint};
use crate::proto::{Error, Role};

/// What the other end's certificate must be. With neither authorities nor fingerprints nobody is
/// accepted.
#[derive(Clone, Debug, Default)]
pub struct PeerRules {
    /// `ca`: those that may vouch for the peer.
    pub authorities: Vec<CertificateDer<'static>>,
    /// `crl-verify`: which of their certificates they took back. Where there is a list, a
    /// certificate whose authority has none, or an old one, is refused.
    pub revocation: Vec<CertificateRevocationListDer<'static>>,
    /// `peer-fingerprint`: SHA-256 of certificates that are accepted. Without authorities these
    /// alone decide; with them both must hold.
    pub fingerprints: Vec<[u8; 32]>,
    /// `verify-x509-name`.
    pub name: Option<NameRule>,
    /// `remote-cert-tls` and `remote-cert-eku`.
    pub usage: Usage,
    /// `remote-cert-ku`: of one of these the certificate must have all bits, the first byte of the
    /// extension being the low one.
    pub key_usages: Vec<u16>,
    /// `verify-client-cert optional` and `none`: a client without a certificate is let in.
    pub optional: bool,
}

/// `verify-x509-name`: what the subject must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// The whole of it: `C=DE, O=Example, CN=server`.
    Subject(String),
    /// The common name.
    Name(String),
    /// How the common name starts.
    Prefix(String),
}

impl NameRule {
    fn holds(&self, identity: &Identity) -> bool {
        match self {
            Self::Subject(subject) => identity.subject == *subject,
            Self::Name(name) => identity.common_name == *name,
            Self::Prefix(prefix) => identity.common_name.starts_with(prefix),
        }
    }
}

/// What the certificate must say it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Usage {
    /// If it says anything, then that it is for the other end's role.
    #[default]
    IfPresent,
    /// It must say that it is for the other end's role.
    Required,
    /// It must name this purpose: the numbers of an object identifier.
    Purpose(Vec<usize>),
}

/// id-kp-serverAuth and id-kp-clientAuth, RFC 5280, 4.2.1.12.
const SERVER_AUTH: &[usize] = &[1, 3, 6, 1, 5, 5, 7, 3, 1];
const CLIENT_AUTH: &[usize] = &[1, 3, 6, 1, 5, 5, 7, 3, 2];

/// What a certificate is looked through for.
struct Purpose<'a> {
    wanted: &'a [usize],
    required: bool,
}

impl ExtendedKeyUsageValidator for Purpose<'_> {
    fn validate(&self, purposes: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        let mut present = Vec::new();
        for purpose in purposes {
            present.push(purpose?.to_decoded_oid());
        }
        if present.iter().any(|purpose| purpose == self.wanted)
            || (present.is_empty() && !self.required)
        {
            return Ok(());
        }
        Err(webpki::Error::RequiredEkuNotFoundContext(RequiredEkuNotFoundContext {
            required: KeyUsage::server_auth(),
            present,
        }))
    }
}

/// The rules, ready for use.
#[derive(Debug)]
pub(super) struct Verifier {
    role: Role,
    rules: PeerRules,
    anchors: Vec<TrustAnchor<'static>>,
    lists: Vec<CertRevocationList<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    /// `role` is this end's own.
    pub(super) fn new(role: Role, rules: PeerRules) -> Result<Self, Error> {
        let anchors = rules
            .authorities
            .iter()
            .map(|certificate| anchor_from_trusted_cert(certificate).map(|it| it.to_owned()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Error::Configuration(format!("authority's certificate: {error}")))?;
        let lists = rules
            .revocation
            .iter()
            .map(|list| OwnedCertRevocationList::from_der(list).map(CertRevocationList::from))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Error::Configuration(format!("revocation list: {error}")))?;
        if anchors.is_empty() && rules.fingerprints.is_empty() && !rules.optional {
            return Err(Error::Configuration(
                "neither an authority nor a fingerprint says whom to trust".into(),
            ));
        }
        Ok(Self {
            role,
            rules,
            anchors,
            lists,
            algorithms: cycloid_rustls::VERIFICATION_ALGORITHMS,
        })
    }

    fn verify(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        let rules = &self.rules;
        if self.anchors.is_empty() && rules.fingerprints.is_empty() {
            return Err(CertificateError::UnknownIssuer.into());
        }
        if !rules.fingerprints.is_empty() && !rules.fingerprints.contains(&fingerprint(certificate))
        {
            return Err(refused("its fingerprint is not on the list"));
        }
        if !self.anchors.is_empty() {
            self.verify_chain(certificate, intermediates, now)?;
        }
        let identity = Identity::of(certificate)
            .map_err(|_| refused("its subject cannot be read, or has control characters"))?;
        let has = |bits: u16| identity.key_usage.is_some_and(|usage| usage & bits == bits);
        if !rules.key_usages.is_empty() && !rules.key_usages.iter().any(|&bits| has(bits)) {
            return Err(refused("its key is not for this use"));
        }
        match &rules.name {
            Some(rule) if !rule.holds(&identity) => Err(refused("its name is another")),
            _ => Ok(()),
        }
    }

    fn verify_chain(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        let end = EndEntityCert::try_from(certificate).map_err(|error| failed(&error))?;
        let role = match self.role {
            Role::Client => SERVER_AUTH,
            Role::Server => CLIENT_AUTH,
        };
        let usage = match &self.rules.usage {
            Usage::IfPresent => Purpose { wanted: role, required: false },
            Usage::Required => Purpose { wanted: role, required: true },
            Usage::Purpose(wanted) => Purpose { wanted, required: true },
        };
        let lists: Vec<&CertRevocationList<'_>> = self.lists.iter().collect();
        let revocation = RevocationOptionsBuilder::new(&lists).ok().map(|options| {
            options
                .with_depth(RevocationCheckDepth::EndEntity)
                .with_status_policy(UnknownStatusPolicy::Deny)
                .with_expiration_policy(ExpirationPolicy::Enforce)
                .build()
        });
        end.verify_for_usage(
            self.algorithms.all,
            &self.anchors,
            intermediates,
            now,
            usage,
            revocation,
            None,
        )
        .map(drop)
        .map_err(|error| failed(&error))
    }
}

/// The reason in words; rustls sends `certificate_unknown` for it.
fn refused(why: &'static str) -> rustls::Error {
    #[derive(Debug)]
    struct Refused(&'static str);
    impl std::fmt::Display for Refused {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "the peer's certificate is refused: {}", self.0)
        }
    }
    impl std::error::Error for Refused {}
    CertificateError::Other(OtherError(std::sync::Arc::new(Refused(why)))).into()
}

fn failed(error: &webpki::Error) -> rustls::Error {
    match error {
        webpki::Error::CertExpired { .. } => CertificateError::Expired.into(),
        webpki::Error::CertNotValidYet { .. } => CertificateError::NotValidYet.into(),
        webpki::Error::CertRevoked => CertificateError::Revoked.into(),
        webpki::Error::UnknownIssuer => CertificateError::UnknownIssuer.into(),
        webpki::Error::UnknownRevocationStatus => CertificateError::UnknownRevocationStatus.into(),
        webpki::Error::CrlExpired { .. } => refused("its authority's revocation list is too old"),
        webpki::Error::RequiredEkuNotFoundContext(_) => refused("it is not for this purpose"),
        _ => CertificateError::BadEncoding.into(),
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.verify(certificate, intermediates, now)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for Verifier {
    fn client_auth_mandatory(&self) -> bool {
        !self.rules.optional
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.verify(certificate, intermediates, now)?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
