//! Verifies the peer's certificate: chain, revocation, fingerprint, name and usage.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::LazyLock;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{
    CertificateDer, ServerName, SignatureVerificationAlgorithm, TrustAnchor, UnixTime, alg_id,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, OtherError, SignatureScheme,
};
use webpki::{
    EndEntityCert, ExtendedKeyUsageValidator, KeyPurposeIdIter, KeyUsage,
    RequiredEkuNotFoundContext, VerifiedPath, anchor_from_trusted_cert,
};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::ExtendedKeyUsage;

use super::identity::{Identity, NameField, fingerprint};
use super::revocation::{Refusal, Revocation, RevocationList, RevokedSerials, split};
use crate::proto::{Error, Role};

/// Requirements on the peer's certificate. Without authorities and fingerprints every peer is
/// refused.
#[derive(Clone, Debug, Default)]
pub struct PeerRules {
    /// `ca`: trusted authorities. A chain ends at one that no other of them issued.
    pub authorities: Vec<CertificateDer<'static>>,
    /// `crl-verify`: revocation lists, applied to the peer's whole chain. If there is any list, a
    /// peer is refused if its own authority has none or an expired one; authorities above may have
    /// none.
    pub revocation: Vec<RevocationList>,
    /// `crl-verify DIRECTORY dir`: revoked serial numbers.
    pub revoked_serials: Option<RevokedSerials>,
    /// `peer-fingerprint`: SHA-256 of accepted certificates. Without authorities, only these count;
    /// with authorities, both must match.
    pub fingerprints: Vec<[u8; 32]>,
    /// `verify-x509-name`.
    pub name: Option<NameRule>,
    /// `x509-username-field`: the fields that a certificate must have and that name its owner;
    /// without any, the common name does.
    pub name_fields: Vec<NameField>,
    /// `tls-cert-profile suiteb`: only ECDSA with P-256 or P-384, and SHA-256 or SHA-384.
    pub suite_b: bool,
    /// `remote-cert-tls` and `remote-cert-eku`.
    pub usage: Usage,
    /// `remote-cert-ku`: the certificate must have all bits of one of these values. The extension's
    /// first byte is the low byte.
    pub key_usages: Vec<u16>,
    /// `verify-client-cert optional` and `none`: accept a client without a certificate.
    pub optional: bool,
}

/// `verify-x509-name`: the required subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// The whole subject: `C=DE, O=Example, CN=server`.
    Subject(String),
    /// The owner's name.
    Name(String),
    /// A prefix of the owner's name.
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

/// The required extended key usage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Usage {
    /// If the extension is present, it must contain the peer's role.
    #[default]
    IfPresent,
    /// The extension must be present and contain the peer's role.
    Required,
    /// The extension must contain this purpose, given as the numbers of an object identifier.
    Purpose(Vec<usize>),
}

/// id-kp-serverAuth and id-kp-clientAuth, RFC 5280, 4.2.1.12.
const SERVER_AUTH: &[usize] = &[1, 3, 6, 1, 5, 5, 7, 3, 1];
const CLIENT_AUTH: &[usize] = &[1, 3, 6, 1, 5, 5, 7, 3, 2];

/// If a certificate names purposes, it must name one of these. Applies to the whole chain; only the
/// peer's own certificate can be required to name a purpose at all.
struct Purposes<'a>([&'a [usize]; 2]);

impl ExtendedKeyUsageValidator for Purposes<'_> {
    fn validate(&self, purposes: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        let mut present = Vec::new();
        for purpose in purposes {
            present.push(purpose?.to_decoded_oid());
        }
        if present.is_empty() || present.iter().any(|purpose| self.0.contains(&&purpose[..])) {
            return Ok(());
        }
        Err(webpki::Error::RequiredEkuNotFoundContext(RequiredEkuNotFoundContext {
            required: KeyUsage::server_auth(),
            present,
        }))
    }
}

/// Returns whether a certificate names this purpose.
fn has_purpose(certificate: &Certificate, wanted: &[usize]) -> bool {
    let purposes = || {
        let extensions = certificate.tbs_certificate().extensions()?;
        let extension = extensions.iter().find(|it| it.extn_id.to_string() == "2.5.29.37")?;
        ExtendedKeyUsage::from_der(extension.extn_value.as_bytes()).ok()
    };
    let is_wanted = |number: &Vec<usize>| number == wanted;
    purposes().is_some_and(|all| {
        all.0.iter().any(|it| is_wanted(&it.arcs().map(|arc| arc as usize).collect()))
    })
}

/// The prepared rules.
#[derive(Debug)]
pub(super) struct Verifier {
    role: Role,
    rules: PeerRules,
    anchors: Vec<TrustAnchor<'static>>,
    /// The certificates of the anchors.
    ends: Vec<CertificateDer<'static>>,
    /// Authorities of `ca` between a peer and an anchor.
    between: Vec<CertificateDer<'static>>,
    revocation: Option<Revocation>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    /// Prepares the rules. `role` is this end's role.
    pub(super) fn new(role: Role, rules: PeerRules) -> Result<Self, Error> {
        let algorithms = match rules.suite_b {
            false => cycloid_rustls::VERIFICATION_ALGORITHMS,
            true => suite_b(),
        };
        let (ends, between) = split(&rules.authorities, algorithms.all);
        let configuration = |what: String| Error::Configuration(what);
        let anchors = ends
            .iter()
            .map(|certificate| anchor_from_trusted_cert(certificate).map(|it| it.to_owned()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| configuration(format!("authority's certificate: {error}")))?;
        if anchors.is_empty() && !rules.authorities.is_empty() {
            return Err(configuration(
                "no authority is a root: each is issued by another one".into(),
            ));
        }
        let (lists, serials) = (&rules.revocation, rules.revoked_serials.as_ref());
        let revocation = Revocation::new(lists, serials, &ends, algorithms.all)
            .map_err(|problem| configuration(problem.into()))?;
        let [ends, between] = [ends, between].map(|all| all.into_iter().cloned().collect());
        if anchors.is_empty() && rules.fingerprints.is_empty() && !rules.optional {
            return Err(Error::Configuration("no trusted authority or fingerprint".into()));
        }
        Ok(Self { role, rules, anchors, ends, between, revocation, algorithms })
    }

    /// Returns the identity of a verified peer from its certificates, its own first; with the
    /// authorities above it if `with_chain`.
    pub(super) fn identity(
        &self,
        certificates: &[CertificateDer<'_>],
        with_chain: bool,
        now: UnixTime,
    ) -> Option<Identity> {
        let (own, intermediates) = certificates.split_first()?;
        let parsed = Certificate::from_der(own).ok()?;
        let identity = Identity::of_parsed(own, &parsed).ok()?;
        let mut identity = identity.named_by(&self.rules.name_fields, &parsed).ok()?;
        if with_chain {
            identity.authorities = match self.anchors.is_empty() {
                true => Some(Vec::new()),
                false => self.verify_chain(own, intermediates, now).ok(),
            };
        }
        Some(identity)
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
        let parsed = Certificate::from_der(certificate).map_err(|_| refused("it is unreadable"))?;
        if let Some(wanted) = self.wanted_purpose().filter(|_| !self.anchors.is_empty())
            && !has_purpose(&parsed, wanted)
        {
            return Err(refused("its extended key usage does not allow this purpose"));
        }
        let identity = Identity::of_parsed(certificate, &parsed)
            .map_err(|_| refused("its subject is unreadable or contains control characters"))?
            .named_by(&rules.name_fields, &parsed)
            .map_err(|_| refused("it lacks a field of x509-username-field"))?;
        if self.anchors.is_empty()
            && let Some(revocation) = &self.revocation
        {
            revocation.check_alone(&identity.serial).map_err(taken_back)?;
        }
        let has = |bits: u16| identity.key_usage.is_some_and(|usage| usage & bits == bits);
        if !rules.key_usages.is_empty() && !rules.key_usages.iter().any(|&bits| has(bits)) {
            return Err(refused("its key usage does not allow this use"));
        }
        match &rules.name {
            Some(rule) if !rule.holds(&identity) => Err(refused("its name does not match")),
            _ => Ok(()),
        }
    }

    /// Returns the purpose of the peer's role.
    fn role_purpose(&self) -> &'static [usize] {
        match self.role {
            Role::Client => SERVER_AUTH,
            Role::Server => CLIENT_AUTH,
        }
    }

    /// Returns the purpose that the peer's own certificate must name, if any.
    fn wanted_purpose(&self) -> Option<&[usize]> {
        match &self.rules.usage {
            Usage::IfPresent => None,
            Usage::Required => Some(self.role_purpose()),
            Usage::Purpose(wanted) => Some(wanted),
        }
    }

    /// Verifies the chain, and returns the certificates above the peer's own, the root last.
    fn verify_chain(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<Vec<Vec<u8>>, rustls::Error> {
        let end = EndEntityCert::try_from(certificate).map_err(|error| failed(&error))?;
        let known = self.between.iter().map(|it| CertificateDer::from(it.as_ref()));
        let given = intermediates.iter().map(|it| CertificateDer::from(it.as_ref()));
        let intermediates: Vec<_> = given.chain(known).collect();
        // Another path to an authority may succeed, so the reason is kept until all paths were
        // tried.
        let reason = RefCell::new(None);
        let check = |path: &VerifiedPath<'_>| {
            let Some(revocation) = &self.revocation else { return Ok(()) };
            revocation.check(path, now).map_err(|why| {
                reason.borrow_mut().get_or_insert(why);
                webpki::Error::CertRevoked
            })
        };
        let role = self.role_purpose();
        let purposes = Purposes([role, self.wanted_purpose().unwrap_or(role)]);
        end.verify_for_usage(
            self.algorithms.all,
            &self.anchors,
            &intermediates,
            now,
            purposes,
            None,
            Some(&check),
        )
        .map(|path| self.above(&path))
        .map_err(|error| match (&error, reason.take()) {
            (webpki::Error::CertRevoked, Some(why)) => taken_back(why),
            _ => failed(&error),
        })
    }

    fn above(&self, path: &VerifiedPath<'_>) -> Vec<Vec<u8>> {
        let is_end = |(anchor, _): &(&TrustAnchor<'_>, _)| {
            anchor.subject == path.anchor().subject
                && anchor.subject_public_key_info == path.anchor().subject_public_key_info
        };
        let end = self.anchors.iter().zip(&self.ends).find(is_end).map(|(_, end)| end.to_vec());
        path.intermediate_certificates().map(|it| it.der().to_vec()).chain(end).collect()
    }
}

/// Returns the algorithms of `tls-cert-profile suiteb`, RFC 6460, 3.
fn suite_b() -> WebPkiSupportedAlgorithms {
    static SUITE_B: LazyLock<WebPkiSupportedAlgorithms> = LazyLock::new(|| {
        let keys = [alg_id::ECDSA_P256, alg_id::ECDSA_P384];
        let signatures = [alg_id::ECDSA_SHA256, alg_id::ECDSA_SHA384];
        let chosen = |all: &[&'static dyn SignatureVerificationAlgorithm]| -> &'static [_] {
            let mut chosen = all.to_vec();
            chosen.retain(|algorithm| {
                keys.contains(&algorithm.public_key_alg_id())
                    && signatures.contains(&algorithm.signature_alg_id())
            });
            // Once in the program's life.
            chosen.leak()
        };
        let all = cycloid_rustls::VERIFICATION_ALGORITHMS;
        let mapping = all.mapping.iter().map(|(scheme, all)| (*scheme, chosen(all)));
        let mapping: Vec<_> = mapping.filter(|(_, all)| !all.is_empty()).collect();
        WebPkiSupportedAlgorithms { all: chosen(all.all), mapping: mapping.leak() }
    });
    *SUITE_B
}

fn taken_back(why: Refusal) -> rustls::Error {
    match why {
        Refusal::Revoked => CertificateError::Revoked.into(),
        Refusal::Other(why) => refused(why),
    }
}

/// Returns the reason as text; rustls sends `certificate_unknown` for it.
fn refused(why: impl Into<Cow<'static, str>>) -> rustls::Error {
    #[derive(Debug)]
    struct Refused(Cow<'static, str>);
    impl std::fmt::Display for Refused {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "peer certificate refused: {}", self.0)
        }
    }
    impl std::error::Error for Refused {}
    CertificateError::Other(OtherError(std::sync::Arc::new(Refused(why.into())))).into()
}

fn failed(error: &webpki::Error) -> rustls::Error {
    match error {
        webpki::Error::CertExpired { .. } | webpki::Error::InvalidCertValidity => {
            CertificateError::Expired.into()
        }
        webpki::Error::CertNotValidYet { .. } => CertificateError::NotValidYet.into(),
        // The second: an authority of the same name, but with another key.
        webpki::Error::UnknownIssuer | webpki::Error::InvalidSignatureForPublicKey => {
            CertificateError::UnknownIssuer.into()
        }
        webpki::Error::RequiredEkuNotFoundContext(_) => {
            refused("its extended key usage does not allow this purpose")
        }
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
