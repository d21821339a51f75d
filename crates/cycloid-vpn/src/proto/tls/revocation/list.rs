//! A certificate revocation list (RFC 5280, 5), version 1 or 2.

use std::fmt;
use std::sync::OnceLock;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateRevocationListDer, SignatureVerificationAlgorithm, UnixTime};
use x509_cert::der::asn1::{AnyRef, BitStringRef, ObjectIdentifier};
use x509_cert::der::{self, Decode, Reader, SliceReader, Tag, TagMode, TagNumber, Tagged};
use x509_cert::ext::pkix::crl::dp::IssuingDistributionPoint;
use x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, crl::CrlDistributionPoints};
use x509_cert::ext::{Extension, Extensions};
use x509_cert::name::Name;
use x509_cert::time::Time;

use super::super::identity::Subject;

const AUTHORITY_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.35");
const DELTA: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.27");
const ISSUING_POINT: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.28");
const REASON: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.21");
const INVALIDITY_DATE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.24");
const CERTIFICATE_ISSUER: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.29");

/// A list of an authority's revoked certificates.
#[derive(Clone, Debug)]
pub struct RevocationList {
    issuer: Subject,
    issuer_key: Option<Vec<u8>>,
    this_update: UnixTime,
    next_update: Option<UnixTime>,
    scope: Scope,
    /// Sorted, each without leading zeros.
    serials: Vec<Box<[u8]>>,
    signed: Signed,
    /// The key under which the signature has verified.
    good_by: OnceLock<Box<[u8]>>,
}

/// The error for an unusable list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableList {
    /// The problem.
    pub problem: String,
    /// The next step for the user.
    pub hint: &'static str,
}

impl fmt::Display for UnusableList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for UnusableList {}

const BROKEN: &str = "create the list again, or copy it again";
const COMPLETE: &str = "use a complete list of each authority";

impl From<der::Error> for UnusableList {
    fn from(error: der::Error) -> Self {
        Self { problem: format!("a revocation list is malformed: {error}"), hint: BROKEN }
    }
}

/// The certificates of the authority that a list covers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scope {
    only_authorities: bool,
    only_others: bool,
    /// The certificate must name one of these distribution points; if empty, any certificate
    /// matches.
    points: Vec<GeneralName>,
}

impl RevocationList {
    /// Parses all lists of a PEM text.
    ///
    /// # Errors
    /// No list, or an unusable one.
    pub fn from_pem(pem: &[u8]) -> Result<Vec<Self>, UnusableList> {
        let all: Vec<_> = CertificateRevocationListDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(|error| UnusableList {
                problem: format!("a revocation list is not valid PEM: {error}"),
                hint: BROKEN,
            })?;
        if all.is_empty() {
            return Err(UnusableList {
                problem: "no revocation list in PEM".into(),
                hint: "a list begins with -----BEGIN X509 CRL-----; convert DER with `openssl crl -inform DER`",
            });
        }
        all.iter().map(|list| Self::from_der(list)).collect()
    }

    /// Parses a list in DER.
    ///
    /// # Errors
    /// A malformed list, or one whose revocations are not fully known: a delta list, an indirect
    /// list (certificates of other authorities), a list of some reasons only, or one with an
    /// unknown critical extension.
    pub fn from_der(bytes: &[u8]) -> Result<Self, UnusableList> {
        let signed = Signed::parse(bytes)?;
        let mut reader = SliceReader::new(&signed.content)?;
        let mut list = reader.sequence(|fields| -> der::Result<_> {
            let version = fields.decode::<Option<u8>>()?;
            let algorithm: AnyRef<'_> = fields.decode()?;
            if algorithm.value() != signed.algorithm {
                return Err(Tag::Sequence.value_error().into());
            }
            let issuer: Name = fields.decode()?;
            let this_update: Time = fields.decode()?;
            let next_update: Option<Time> = fields.decode()?;
            let has_entries = !fields.is_finished() && Tag::peek(fields)? == Tag::Sequence;
            let entries = if has_entries { Some(fields.decode::<AnyRef<'_>>()?) } else { None };
            let extensions = fields.context_specific(TagNumber(0), TagMode::Explicit)?;
            Ok(Fields { version, issuer, this_update, next_update, entries, extensions })
        })?;
        reader.finish()?;
        let extensions = list.extensions.take().unwrap_or_default();
        match list.version {
            Some(1) => {}
            None if extensions.is_empty() => {}
            _ => return Err(malformed("version")),
        }
        let issuer = Subject::of(&list.issuer);
        let mut scope = Scope::default();
        let mut issuer_key = None;
        for extension in &extensions {
            let value = extension.extn_value.as_bytes();
            match extension.extn_id {
                AUTHORITY_KEY => {
                    let key = AuthorityKeyIdentifier::from_der(value)?.key_identifier;
                    issuer_key = key.map(|key| key.as_bytes().to_vec());
                }
                ISSUING_POINT => scope = Scope::parse(value, &issuer)?,
                DELTA => return Err(partial(&issuer, "a delta list")),
                _ => not_critical(extension, &issuer)?,
            }
        }
        let mut serials = Vec::new();
        let mut reader = SliceReader::new(list.entries.map_or(&[], |entries| entries.value()))?;
        while !reader.is_finished() {
            let entry = reader.sequence(|entry| -> der::Result<_> {
                let serial: AnyRef<'_> = entry.decode()?;
                serial.tag().assert_eq(Tag::Integer)?;
                // The date means nothing here, and lists of providers contain invalid ones.
                entry.decode::<AnyRef<'_>>()?;
                let extensions =
                    if entry.is_finished() { None } else { Some(entry.decode::<Extensions>()?) };
                Ok((serial.value(), extensions))
            });
            let (serial, extensions) = entry?;
            if extensions.is_some() && list.version.is_none() {
                return Err(malformed("version"));
            }
            for extension in extensions.iter().flatten() {
                match extension.extn_id {
                    REASON | INVALIDITY_DATE => {}
                    CERTIFICATE_ISSUER => return Err(partial(&issuer, "an indirect list")),
                    _ => not_critical(extension, &issuer)?,
                }
            }
            serials.push(without_zeros(serial).into());
        }
        serials.sort_unstable();
        let known = cycloid_rustls::VERIFICATION_ALGORITHMS.all;
        if !known.iter().any(|known| known.signature_alg_id().as_ref() == signed.algorithm) {
            return Err(UnusableList {
                problem: format!(
                    "the revocation list of {issuer} has an untrusted signature algorithm"
                ),
                hint: "sign it again with SHA-256, e.g. `openssl ca -gencrl -md sha256`",
            });
        }
        let unix = |time: Time| UnixTime::since_unix_epoch(time.to_unix_duration());
        Ok(Self {
            issuer,
            issuer_key,
            this_update: unix(list.this_update),
            next_update: list.next_update.map(unix),
            scope,
            serials,
            signed,
            good_by: OnceLock::new(),
        })
    }

    /// Returns the issuer of the list.
    pub fn issuer(&self) -> &Subject {
        &self.issuer
    }

    /// Returns the time of issue in seconds since 1970.
    pub fn this_update(&self) -> u64 {
        self.this_update.as_secs()
    }

    /// Returns the expiry in seconds since 1970, or `None` if the list has none.
    pub fn next_update(&self) -> Option<u64> {
        self.next_update.map(|time| time.as_secs())
    }

    /// Returns whether the list contains a serial number, big-endian.
    pub(super) fn contains(&self, serial: &[u8]) -> bool {
        let serial = without_zeros(serial);
        self.serials.binary_search_by(|other| (**other).cmp(serial)).is_ok()
    }

    pub(super) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns whether the list names another key than this as its signer's.
    pub(super) fn names_another_key(&self, key_identifier: Option<&[u8]>) -> bool {
        match (&self.issuer_key, key_identifier) {
            (Some(named), Some(key)) => named != key,
            _ => false,
        }
    }

    /// Returns whether a key signed the list; `key` is the contents of a SubjectPublicKeyInfo.
    pub(super) fn is_signed_by(
        &self,
        key: &[u8],
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> bool {
        if self.good_by.get().is_some_and(|good| **good == *key) {
            return true;
        }
        let good = self.signed.is_signed_by(key, algorithms);
        if good {
            let _ = self.good_by.set(key.into());
        }
        good
    }
}

struct Fields<'a> {
    version: Option<u8>,
    issuer: Name,
    this_update: Time,
    next_update: Option<Time>,
    entries: Option<AnyRef<'a>>,
    extensions: Option<Extensions>,
}

fn malformed(what: &str) -> UnusableList {
    UnusableList { problem: format!("a revocation list has a malformed {what}"), hint: BROKEN }
}

fn partial(issuer: &Subject, what: &str) -> UnusableList {
    let problem = format!("the revocation list of {issuer} is {what}, which is not supported");
    UnusableList { problem, hint: COMPLETE }
}

/// Rejects unknown critical extensions, as RFC 5280, 5.2, requires.
fn not_critical(extension: &Extension, issuer: &Subject) -> Result<(), UnusableList> {
    if !extension.critical {
        return Ok(());
    }
    let number = extension.extn_id;
    Err(UnusableList {
        problem: format!(
            "the revocation list of {issuer} has a critical extension that is not supported: {number}"
        ),
        hint: "create the list without it",
    })
}

impl Scope {
    fn parse(extension: &[u8], issuer: &Subject) -> Result<Self, UnusableList> {
        let point = IssuingDistributionPoint::from_der(extension)?;
        let refused = [
            (point.indirect_crl, "an indirect list"),
            (point.only_some_reasons.is_some(), "a list of some reasons only"),
            (point.only_contains_attribute_certs, "a list of attribute certificates"),
        ];
        if let Some((_, what)) = refused.iter().find(|(is, _)| *is) {
            return Err(partial(issuer, what));
        }
        let points = match point.distribution_point {
            None => Vec::new(),
            Some(DistributionPointName::FullName(names)) => names,
            Some(_) => {
                return Err(partial(issuer, "a list for a distribution point without a full name"));
            }
        };
        Ok(Self {
            only_authorities: point.only_contains_ca_certs,
            only_others: point.only_contains_user_certs,
            points,
        })
    }

    /// Returns whether a list of this scope covers a certificate that names these points.
    pub(super) fn covers(&self, is_authority: bool, points: &CrlDistributionPoints) -> bool {
        let kind = if is_authority { !self.only_others } else { !self.only_authorities };
        // Points for other issuers or for some reasons do not match.
        let names = points.0.iter().filter(|it| it.reasons.is_none() && it.crl_issuer.is_none());
        let mut names = names.filter_map(|it| match &it.distribution_point {
            Some(DistributionPointName::FullName(names)) => Some(names),
            _ => None,
        });
        kind && (self.points.is_empty()
            || names.any(|names| names.iter().any(|name| self.points.contains(name))))
    }
}

/// The common structure of certificates and lists: contents and an authority's signature.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    content: Vec<u8>,
    /// The contents of the AlgorithmIdentifier.
    algorithm: Vec<u8>,
    signature: Vec<u8>,
}

impl Signed {
    pub(super) fn parse(bytes: &[u8]) -> der::Result<Self> {
        let mut reader = SliceReader::new(bytes)?;
        let signed = reader.sequence(|fields| -> der::Result<_> {
            let content = fields.tlv_bytes()?.to_vec();
            let algorithm: AnyRef<'_> = fields.decode()?;
            algorithm.tag().assert_eq(Tag::Sequence)?;
            let signature: BitStringRef<'_> = fields.decode()?;
            let signature = signature.as_bytes().ok_or_else(|| Tag::BitString.value_error())?;
            Ok(Self {
                content,
                algorithm: algorithm.value().to_vec(),
                signature: signature.to_vec(),
            })
        })?;
        reader.finish()?;
        Ok(signed)
    }

    /// Verifies the signature; `key` is the contents of a SubjectPublicKeyInfo.
    pub(super) fn is_signed_by(
        &self,
        key: &[u8],
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> bool {
        let read = || {
            let mut reader = SliceReader::new(key)?;
            let kind: AnyRef<'_> = reader.decode()?;
            let bits: BitStringRef<'_> = reader.decode()?;
            let bits = bits.as_bytes().ok_or_else(|| Tag::BitString.value_error())?;
            reader.finish()?;
            Ok((kind.value(), bits))
        };
        let Ok::<_, der::Error>((kind, bits)) = read() else { return false };
        algorithms.iter().any(|algorithm| {
            algorithm.signature_alg_id().as_ref() == self.algorithm
                && algorithm.public_key_alg_id().as_ref() == kind
                && algorithm.verify_signature(bits, &self.content, &self.signature).is_ok()
        })
    }
}

/// Strips leading zeros, whose number depends on the encoder.
fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}
