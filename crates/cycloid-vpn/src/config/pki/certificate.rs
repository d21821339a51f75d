//! Writes certificates and revocation lists (RFC 5280).

use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use x509_cert::crl::{RevokedCert, TbsCertList};
use x509_cert::der::asn1::{Any, BitString, OctetString, Uint};
use x509_cert::der::flagset::FlagSet;
use x509_cert::der::pem::{self, LineEnding};
use x509_cert::der::{self, DateTime, Decode, Encode, Tag};
use x509_cert::ext::pkix::crl::CrlNumber;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, CrlReason, ExtendedKeyUsage, KeyUsage, KeyUsages,
    SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, ToExtension};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{AlgorithmIdentifierOwned, ObjectIdentifier, SubjectPublicKeyInfoOwned};
use x509_cert::time::{Time, Validity};
use x509_cert::{Certificate, Version};

use super::key::Key;
use crate::proto::Role;

/// The bytes of a key identifier (RFC 7093, section 2, method 1).
const KEY_IDENTIFIER: usize = 20;
/// The last second of the year 9999.
const END: u64 = 253_402_300_799;

const SERVER: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.1");
const CLIENT: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.2");

/// An authority's name and key.
pub(super) struct Issuer {
    pub(super) name: Name,
    pub(super) key: Key,
    /// The key identifier in its certificate.
    key_identifier: Option<Vec<u8>>,
}

/// The purpose of a certificate.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    /// It signs certificates and revocation lists.
    Authority,
    /// A server or client. `encipherment` permits RSA key transport.
    Peer { role: Role, encipherment: bool },
}

/// The fields of a certificate, except the keys.
pub(super) struct Draft {
    pub(super) serial: [u8; 16],
    pub(super) subject: Name,
    /// The first and last second, since 1970.
    pub(super) valid: (u64, u64),
    pub(super) purpose: Purpose,
}

/// The error of a key that cannot sign, or whose algorithm is unknown.
pub(super) fn unusable() -> der::Error {
    der::ErrorKind::Failed.into()
}

impl Draft {
    /// Signs a key's own certificate and returns it in PEM.
    pub(super) fn sign_own(&self, key: &Key) -> der::Result<String> {
        let public = key.public_key().ok_or_else(unusable)?;
        self.sign_by(&public, key, &self.subject, None)
    }

    /// Signs a certificate for a public key and returns it in PEM.
    pub(super) fn sign(
        &self,
        public: &SubjectPublicKeyInfoOwned,
        issuer: &Issuer,
    ) -> der::Result<String> {
        self.sign_by(public, &issuer.key, &issuer.name, Some(issuer))
    }

    fn sign_by(
        &self,
        public: &SubjectPublicKeyInfoOwned,
        signing: &Key,
        issuer_name: &Name,
        issuer: Option<&Issuer>,
    ) -> der::Result<String> {
        let (from, to) = self.valid;
        let version = Any::new(Tag::Integer, [Version::V3 as u8])?.to_der()?;
        let fields = [
            explicit(0, &version)?,
            SerialNumber::<x509_cert::certificate::Rfc5280>::new(&self.serial)?.to_der()?,
            algorithm(signing)?.to_der()?,
            issuer_name.to_der()?,
            Validity::<x509_cert::certificate::Rfc5280>::new(date(from)?, date(to)?).to_der()?,
            self.subject.to_der()?,
            public.to_der()?,
            explicit(3, &self.extensions(public, issuer)?.to_der()?)?,
        ];
        let content = Any::new(Tag::Sequence, fields.concat())?.to_der()?;
        signed("CERTIFICATE", &content, signing)
    }

    fn extensions(
        &self,
        public: &SubjectPublicKeyInfoOwned,
        issuer: Option<&Issuer>,
    ) -> der::Result<Vec<Extension>> {
        let (usages, ca): (FlagSet<KeyUsages>, bool) = match self.purpose {
            Purpose::Authority => (KeyUsages::KeyCertSign | KeyUsages::CRLSign, true),
            Purpose::Peer { encipherment: true, .. } => {
                (KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment, false)
            }
            Purpose::Peer { .. } => (KeyUsages::DigitalSignature.into(), false),
        };
        let identifier = OctetString::new(key_identifier(public))?;
        let mut extensions = vec![
            BasicConstraints { ca, path_len_constraint: None }.to_extension(&self.subject, &[])?,
            KeyUsage(usages).to_extension(&self.subject, &[])?,
            SubjectKeyIdentifier(identifier).to_extension(&self.subject, &[])?,
        ];
        if let Some(issuer) = issuer {
            extensions.extend(issuer.authority_key_identifier()?);
        }
        if let Purpose::Peer { role, .. } = self.purpose {
            let purpose = if role == Role::Server { SERVER } else { CLIENT };
            extensions.push(ExtendedKeyUsage(vec![purpose]).to_extension(&self.subject, &[])?);
        }
        Ok(extensions)
    }
}

impl Issuer {
    /// Returns the issuer with this certificate and key, or `None` if the certificate is of another
    /// key.
    pub(super) fn new(certificate: &Certificate, key: Key) -> Option<Self> {
        let fields = certificate.tbs_certificate();
        if key.public_key()? != *fields.subject_public_key_info() {
            return None;
        }
        let identifier = fields.get_extension::<SubjectKeyIdentifier>().ok()?;
        let key_identifier = identifier.map(|(_, it)| it.0.as_bytes().to_vec());
        Some(Self { name: fields.subject().clone(), key, key_identifier })
    }

    /// Signs a list of revoked certificates, and returns it in PEM. Each entry has a serial number
    /// and a time of revocation. Times are in seconds since 1970.
    pub(super) fn sign_list(
        &self,
        revoked: &[(Vec<u8>, u64)],
        (this_update, next_update): (u64, u64),
    ) -> der::Result<String> {
        let entries = revoked.iter().map(|(serial, time)| {
            let reason = CrlReason::Unspecified.to_extension(&self.name, &[])?;
            Ok(RevokedCert::<x509_cert::certificate::Rfc5280> {
                serial_number: SerialNumber::new(serial)?,
                revocation_date: date(*time)?,
                crl_entry_extensions: Some(vec![reason]),
            })
        });
        let entries = entries.collect::<der::Result<Vec<_>>>()?;
        let number = CrlNumber(Uint::new(&this_update.to_be_bytes())?);
        let mut extensions: Vec<_> = self.authority_key_identifier()?.into_iter().collect();
        extensions.push(number.to_extension(&self.name, &[])?);
        let content = TbsCertList {
            version: Version::V2,
            signature: algorithm(&self.key)?,
            issuer: self.name.clone(),
            this_update: date(this_update)?,
            next_update: Some(date(next_update)?),
            // An empty list must be absent (RFC 5280, 5.1.2.6).
            revoked_certificates: Some(entries).filter(|entries| !entries.is_empty()),
            crl_extensions: Some(extensions),
        };
        signed("X509 CRL", &content.to_der()?, &self.key)
    }

    fn authority_key_identifier(&self) -> der::Result<Option<Extension>> {
        let Some(identifier) = &self.key_identifier else { return Ok(None) };
        let extension = AuthorityKeyIdentifier {
            key_identifier: Some(OctetString::new(identifier.as_slice())?),
            ..AuthorityKeyIdentifier::default()
        };
        extension.to_extension(&self.name, &[]).map(Some)
    }
}

fn key_identifier(public: &SubjectPublicKeyInfoOwned) -> Vec<u8> {
    digest(&SHA256, public.subject_public_key.raw_bytes()).as_ref()[..KEY_IDENTIFIER].to_vec()
}

/// Returns the date `unix` seconds after 1970, at most the end of 9999, the last date of a
/// certificate. Dates until 2049 are UTCTime (RFC 5280, 4.1.2.5).
fn date(unix: u64) -> der::Result<Time> {
    Ok(DateTime::from_unix_duration(Duration::from_secs(unix.min(END)))?.into())
}

fn algorithm(key: &Key) -> der::Result<AlgorithmIdentifierOwned> {
    let (contents, _) = key.signer().ok_or_else(unusable)?;
    AlgorithmIdentifierOwned::from_der(&Any::new(Tag::Sequence, contents.as_ref())?.to_der()?)
}

/// Returns the contents with their signature, in PEM.
fn signed(label: &str, content: &[u8], key: &Key) -> der::Result<String> {
    let (_, signer) = key.signer().ok_or_else(unusable)?;
    let signature = signer.sign(content).map_err(|_| unusable())?;
    let signature = BitString::from_bytes(&signature)?.to_der()?;
    let fields = [content, &algorithm(key)?.to_der()?, &signature].concat();
    let whole = Any::new(Tag::Sequence, fields)?.to_der()?;
    Ok(pem::encode_string(label, LineEnding::LF, &whole)?)
}

/// Returns an element with an explicit, constructed context-specific tag.
fn explicit(number: u32, element: &[u8]) -> der::Result<Vec<u8>> {
    let tag = Tag::ContextSpecific { constructed: true, number: der::TagNumber(number) };
    Any::new(tag, element)?.to_der()
}
