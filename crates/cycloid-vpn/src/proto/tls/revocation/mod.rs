//! Checks revocation along the whole chain of a peer: its own certificate and every authority above
//! it.
//!
//! | certificate | result if its authority has no list |
//! |---|---|
//! | the peer's own certificate | refused |
//! | an authority between it and the root | accepted, as by OpenVPN |
//! | the root | accepted |
//!
//! A list applies if its issuer has the authority's name and the authority's key signed it. It must
//! be in force. Of two lists in force with the same scope, the newer one applies. If an authority
//! has only lists that cannot be used (expired, of another scope, signed by another key), the
//! certificates that they should cover are refused.
//!
//! Source: RFC 5280, 5 and 6.3; openvpn(8), "--crl-verify".

mod list;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm, TrustAnchor, UnixTime};
use webpki::{VerifiedPath, anchor_from_trusted_cert};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::ext::pkix::crl::CrlDistributionPoints;
use x509_cert::ext::pkix::{BasicConstraints, SubjectKeyIdentifier};

use super::identity::{Subject, decimal, key_usage};
use list::Signed;
pub use list::{RevocationList, UnusableList};

/// The key usage bit that allows an authority to sign lists, RFC 5280, 4.2.1.3.
const MAY_SIGN_LISTS: u16 = 0x02;

type Algorithms = &'static [&'static dyn SignatureVerificationAlgorithm];

/// `crl-verify DIRECTORY dir`: tells whether a serial number, in decimal, is revoked.
#[derive(Clone)]
pub struct RevokedSerials(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl RevokedSerials {
    /// Calls `is_revoked` for each certificate of a chain, at each handshake.
    pub fn new(is_revoked: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_revoked))
    }

    /// Returns whether this serial number is revoked.
    pub fn contains(&self, serial: &str) -> bool {
        self.0(serial)
    }
}

impl fmt::Debug for RevokedSerials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RevokedSerials")
    }
}

/// The reason for refusing a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The peer's own certificate is revoked.
    Revoked,
    /// Another reason, as text.
    Other(String),
}

/// A certificate of an authority or peer, reduced to the data for revocation checks.
struct Link {
    subject: Subject,
    issuer: Subject,
    /// The contents of the subject's Name and SubjectPublicKeyInfo.
    anchor: TrustAnchor<'static>,
    key_identifier: Option<Vec<u8>>,
    key_usage: Option<u16>,
    is_authority: bool,
    serial: Vec<u8>,
    points: CrlDistributionPoints,
    signed: Signed,
}

impl Link {
    fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let anchor = anchor_from_trusted_cert(certificate).ok()?.to_owned();
        let parsed = Certificate::from_der(certificate).ok()?;
        let fields = parsed.tbs_certificate();
        let extension = |number: &str| {
            let number = ObjectIdentifier::new_unwrap(number);
            let mut all = fields.extensions().into_iter().flatten();
            all.find(|it| it.extn_id == number).map(|it| it.extn_value.as_bytes())
        };
        let constraints = extension("2.5.29.19").map(BasicConstraints::from_der);
        let key_identifier = extension("2.5.29.14").map(SubjectKeyIdentifier::from_der);
        let points = extension("2.5.29.31").map(CrlDistributionPoints::from_der);
        Some(Self {
            subject: Subject::of(fields.subject()),
            issuer: Subject::of(fields.issuer()),
            anchor,
            key_identifier: key_identifier.and_then(|it| Some(it.ok()?.0.as_bytes().to_vec())),
            key_usage: key_usage(&parsed),
            is_authority: constraints.is_some_and(|it| it.is_ok_and(|it| it.ca)),
            serial: fields.serial_number().as_bytes().to_vec(),
            points: points.transpose().ok()?.unwrap_or_default(),
            signed: Signed::parse(certificate).ok()?,
        })
    }

    fn is_self_issued(&self) -> bool {
        self.subject == self.issuer
    }

    fn is_issued_by(&self, issuer: &Self, algorithms: Algorithms) -> bool {
        self.issuer == issuer.subject
            && self.signed.is_signed_by(&issuer.anchor.subject_public_key_info, algorithms)
    }

    fn is(&self, anchor: &TrustAnchor<'_>) -> bool {
        self.anchor.subject == anchor.subject
            && self.anchor.subject_public_key_info == anchor.subject_public_key_info
    }
}

/// Splits `ca` into trust anchors and intermediates. As with OpenVPN, a chain ends at a root: an
/// authority issued by another one of `ca` is checked like any intermediate. An authority whose
/// issuer is not in `ca` is an anchor too.
pub(super) fn split<'a>(
    authorities: &'a [CertificateDer<'static>],
    algorithms: Algorithms,
) -> (Vec<&'a CertificateDer<'static>>, Vec<&'a CertificateDer<'static>>) {
    let links: Vec<_> = authorities.iter().map(Link::of).collect();
    let is_between = |link: &Option<Link>| {
        link.as_ref().is_some_and(|link| {
            let mut others = links.iter().flatten();
            !link.is_self_issued() && others.any(|other| link.is_issued_by(other, algorithms))
        })
    };
    let (between, ends): (Vec<_>, Vec<_>) =
        authorities.iter().zip(&links).partition(|(_, link)| is_between(link));
    let certificates = |all: Vec<(&'a CertificateDer<'static>, _)>| -> Vec<_> {
        all.into_iter().map(|(certificate, _)| certificate).collect()
    };
    (certificates(ends), certificates(between))
}

/// The revocation data: lists, serial numbers and anchors.
pub(super) struct Revocation {
    lists: Vec<RevocationList>,
    serials: Option<RevokedSerials>,
    /// The trust anchors.
    ends: Vec<Link>,
    algorithms: Algorithms,
}

impl fmt::Debug for Revocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revocation").field("lists", &self.lists).finish_non_exhaustive()
    }
}

impl Revocation {
    /// Returns `None` without revocation data. Otherwise an unreadable authority certificate is an
    /// error.
    pub(super) fn new(
        lists: &[RevocationList],
        serials: Option<&RevokedSerials>,
        ends: &[&CertificateDer<'static>],
        algorithms: Algorithms,
    ) -> Result<Option<Self>, &'static str> {
        if lists.is_empty() && serials.is_none() {
            return Ok(None);
        }
        let ends = ends.iter().map(|end| Link::of(end)).collect::<Option<_>>();
        Ok(Some(Self {
            lists: lists.to_vec(),
            serials: serials.cloned(),
            ends: ends.ok_or("authority's certificate: unreadable")?,
            algorithms,
        }))
    }

    /// Checks a peer's certificate without a chain, by its serial number only.
    pub(super) fn check_alone(&self, serial: &[u8]) -> Result<(), Refusal> {
        match self.has_serial(serial) {
            true => Err(Refusal::Revoked),
            false => Ok(()),
        }
    }

    /// Checks each certificate of a path with verified signatures, root first.
    pub(super) fn check(&self, path: &VerifiedPath<'_>, now: UnixTime) -> Result<(), Refusal> {
        let of_end = || self.ends.iter().filter(|end| end.is(path.anchor()));
        // A root may have been reissued with another serial number.
        let end = of_end().find(|end| !self.end_is_revoked(end, now));
        let Some(end) = end else {
            return Err(Refusal::Other(match of_end().next() {
                Some(end) => format!("its authority {} is revoked", end.subject),
                None => "its authority is unknown".into(),
            }));
        };
        let mut between = Vec::new();
        for certificate in path.intermediate_certificates().rev() {
            let link = Link::of(&certificate.der()).ok_or_else(|| {
                Refusal::Other("the certificate of an authority above it is unreadable".into())
            })?;
            let issuer = between.last().unwrap_or(end);
            if self.is_revoked(&link, issuer, now)? == Some(true) {
                let text = format!("the authority above it, {}, is revoked", link.subject);
                return Err(Refusal::Other(text));
            }
            between.push(link);
        }
        let link = Link::of(&path.end_entity().der())
            .ok_or_else(|| Refusal::Other("it is unreadable".into()))?;
        let issuer = between.last().unwrap_or(end);
        match self.is_revoked(&link, issuer, now)? {
            Some(false) => Ok(()),
            Some(true) => Err(Refusal::Revoked),
            None if self.lists.is_empty() => Ok(()),
            None => Err(Refusal::Other(format!(
                "no revocation list of its authority {}: add one to crl-verify",
                issuer.subject
            ))),
        }
    }

    /// Returns whether an authority has revoked a certificate that it issued, or `None` if it has
    /// no list.
    fn is_revoked(
        &self,
        link: &Link,
        issuer: &Link,
        now: UnixTime,
    ) -> Result<Option<bool>, Refusal> {
        if self.has_serial(&link.serial) {
            return Ok(Some(true));
        }
        let name = &issuer.subject;
        let refuse = |problem: &str| {
            Err(Refusal::Other(format!("the revocation list of its authority {name} {problem}")))
        };
        let key = &issuer.anchor.subject_public_key_info;
        let named = self.lists.iter().filter(|list| {
            list.issuer() == name && !list.names_another_key(issuer.key_identifier.as_deref())
        });
        let (own, foreign): (Vec<_>, Vec<_>) =
            named.partition(|list| list.is_signed_by(key, self.algorithms));
        if own.is_empty() {
            return if foreign.is_empty() {
                Ok(None)
            } else {
                refuse("is not signed by that authority's key")
            };
        }
        if issuer.key_usage.is_some_and(|usage| usage & MAY_SIGN_LISTS == 0) {
            return refuse("is invalid: the authority may not sign lists (key usage)");
        }
        let covers = |list: &&RevocationList| list.scope().covers(link.is_authority, &link.points);
        let own: Vec<_> = own.into_iter().filter(covers).collect();
        if own.is_empty() {
            return refuse("does not cover this kind of certificate");
        }
        let now = now.as_secs();
        let ended = |list: &RevocationList| list.next_update().is_some_and(|end| end < now);
        let (own, late): (Vec<_>, Vec<_>) = own.into_iter().partition(|list| !ended(list));
        if own.is_empty() && !late.is_empty() {
            return refuse("has expired: create a new one");
        }
        let own: Vec<_> = own.into_iter().filter(|list| list.this_update() <= now).collect();
        if own.is_empty() {
            return refuse("is not valid yet: check the clock");
        }
        let newest = own.iter().filter(|list| {
            let newer = |other: &&RevocationList| {
                other.scope() == list.scope() && other.this_update() > list.this_update()
            };
            !own.iter().any(newer)
        });
        Ok(Some(newest.into_iter().any(|list| list.contains(&link.serial))))
    }

    /// Returns whether an anchor is revoked. A root is checked against its own lists. An anchor
    /// whose issuer is not in `ca` is revoked by any list of the issuer's name, because the list's
    /// signature cannot be checked.
    fn end_is_revoked(&self, end: &Link, now: UnixTime) -> bool {
        if end.is_self_issued() {
            return self.is_revoked(end, end, now) == Ok(Some(true));
        }
        let listed =
            |list: &RevocationList| *list.issuer() == end.issuer && list.contains(&end.serial);
        self.has_serial(&end.serial) || self.lists.iter().any(listed)
    }

    fn has_serial(&self, serial: &[u8]) -> bool {
        self.serials.as_ref().is_some_and(|serials| serials.contains(&decimal(serial)))
    }
}
