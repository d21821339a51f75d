//! Keys in DER: what the structure is, which algorithm it names, and the key.

use alloc::boxed::Box;

use ::der::asn1::{AnyRef, UintRef};
use ::der::oid::ObjectIdentifier;
use ::der::{Decode, Header, Reader, SliceReader, Tag, Tagged};
use pkcs8::PrivateKeyInfoRef;
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use super::error::{DSA, REPLACE};
use super::{Error, PrivateKey, PublicKey, diffie_hellman};
use crate::scheme::FormatError;
use crate::scheme::ec;
use crate::scheme::encoding::{Number, first_tags};
use crate::scheme::rfc8410;
use crate::scheme::rsa::{self, KeyPair, LegacyPublicKey, OwnedPublicKey};
use crate::scheme::{ed25519, nist, x25519};

/// The kinds of keys that an algorithm identifier names.
#[derive(Clone, Copy)]
enum Kind {
    Rsa,
    Ec,
    Ed25519,
    X25519,
    Dh,
}

const fn oid(text: &str) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(text)
}

/// The algorithms of keys that are read. The last two of RSA are RSASSA-PSS with SHAKE.
const KINDS: [(ObjectIdentifier, Kind); 9] = [
    (oid("1.2.840.113549.1.1.1"), Kind::Rsa),
    (oid("1.2.840.113549.1.1.10"), Kind::Rsa),
    (oid("1.3.6.1.5.5.7.6.30"), Kind::Rsa),
    (oid("1.3.6.1.5.5.7.6.31"), Kind::Rsa),
    (oid("1.2.840.10045.2.1"), Kind::Ec),
    (rfc8410::ED25519, Kind::Ed25519),
    (rfc8410::X25519, Kind::X25519),
    (PKCS3, Kind::Dh),
    (diffie_hellman::X942, Kind::Dh),
];

/// dhKeyAgreement (PKCS #3).
const PKCS3: ObjectIdentifier = oid("1.2.840.113549.1.3.1");

/// The algorithms of keys that are refused by name.
const REFUSED: [(ObjectIdentifier, &str); 6] = [
    (oid("1.2.840.10040.4.1"), "a DSA key, which Cycloid does not support"),
    (oid("1.3.101.111"), "an X448 key, which Cycloid does not support"),
    (oid("1.3.101.113"), "an Ed448 key, which Cycloid does not support"),
    (oid("2.16.840.1.101.3.4.3.17"), "an ML-DSA key, which this library does not support"),
    (oid("2.16.840.1.101.3.4.3.18"), "an ML-DSA key, which this library does not support"),
    (oid("2.16.840.1.101.3.4.3.19"), "an ML-DSA key, which this library does not support"),
];

impl Kind {
    fn of(algorithm: ObjectIdentifier) -> Result<Self, Error> {
        let known = KINDS.iter().find(|(oid, _)| *oid == algorithm).map(|(_, kind)| *kind);
        known.ok_or_else(|| {
            let refused = REFUSED.iter().find(|(oid, _)| *oid == algorithm);
            let what = "a key for an algorithm that Cycloid does not support";
            Error::Unsupported { what: refused.map_or(what, |(_, what)| what), hint: REPLACE }
        })
    }
}

const DAMAGED_PRIVATE: Error = Error::Malformed { what: "private key in DER" };
const DAMAGED_PUBLIC: Error = Error::Malformed { what: "public key in DER" };

/// Reads a private key from PKCS #8, PKCS #1 or SEC 1.
pub(super) fn read_private(der: &[u8], passphrase: Option<&[u8]>) -> Result<PrivateKey, Error> {
    let fields = first_tags(der).map_err(|_| DAMAGED_PRIVATE)?;
    match fields {
        [Tag::Integer, Tag::Sequence] if version(der) == Some(3) => Err(Error::Unsupported {
            what: "a PKCS #12 archive",
            hint: "extract the key with `openssl pkcs12 -nocerts -nodes`",
        }),
        [Tag::Integer, Tag::Sequence] => read_private_info(der),
        [Tag::Integer, Tag::OctetString] => read_sec1(der),
        [Tag::Integer, Tag::Integer] => match numbers(der) {
            2 => Err(Error::IsPublic { what: "a PKCS #1 public key" }),
            6 => Err(DSA),
            _ => Ok(PrivateKey::Rsa(KeyPair::from_der(der)?)),
        },
        [Tag::Sequence, Tag::OctetString] => decrypt(der, passphrase),
        [Tag::Sequence, Tag::BitString] => Err(Error::IsPublic { what: "a SubjectPublicKeyInfo" }),
        [Tag::Sequence, Tag::Sequence] => Err(Error::IsPublic { what: "a certificate" }),
        _ => Err(DAMAGED_PRIVATE),
    }
}

#[cfg(feature = "encryption")]
fn decrypt(der: &[u8], passphrase: Option<&[u8]>) -> Result<PrivateKey, Error> {
    let passphrase = passphrase.ok_or(Error::Encrypted { what: ENCRYPTED })?;
    let decrypted = super::encrypted::decrypt_pkcs8(der, passphrase)?;
    match first_tags(&decrypted) {
        Ok([Tag::Integer, Tag::Sequence]) => read_private_info(&decrypted),
        // A wrong passphrase can give valid padding, but hardly ever the start of a key.
        _ => Err(Error::Passphrase),
    }
}

#[cfg(not(feature = "encryption"))]
fn decrypt(_: &[u8], passphrase: Option<&[u8]>) -> Result<PrivateKey, Error> {
    Err(match passphrase {
        None => Error::Encrypted { what: ENCRYPTED },
        Some(_) => Error::Feature { what: ENCRYPTED, feature: "encryption" },
    })
}

const ENCRYPTED: &str = "an encrypted PKCS #8 file";

/// Returns the version that a structure begins with.
fn version(der: &[u8]) -> Option<u8> {
    let mut reader = SliceReader::new(der).ok()?;
    Header::decode(&mut reader).ok()?;
    u8::decode(&mut reader).ok()
}

/// Returns the number of fields of a sequence.
fn numbers(der: &[u8]) -> usize {
    let Ok(mut reader) = SliceReader::new(der) else { return 0 };
    let Ok(_) = Header::decode(&mut reader) else { return 0 };
    core::iter::from_fn(|| AnyRef::decode(&mut reader).ok()).count()
}

/// Reads OneAsymmetricKey (RFC 5958, section 2).
fn read_private_info(der: &[u8]) -> Result<PrivateKey, Error> {
    let algorithm = |mut reader: SliceReader<'_>| {
        Header::decode(&mut reader)?;
        u8::decode(&mut reader)?;
        Ok::<_, ::der::Error>(AlgorithmIdentifierRef::decode(&mut reader)?.oid)
    };
    let algorithm = SliceReader::new(der).and_then(algorithm).map_err(|_| DAMAGED_PRIVATE)?;
    Ok(match Kind::of(algorithm)? {
        Kind::Rsa => PrivateKey::Rsa(KeyPair::from_der(der)?),
        Kind::Ec => return read_sec1(der),
        Kind::Ed25519 => PrivateKey::Ed25519(Box::new(ed25519::SigningKey::from_der(der)?)),
        Kind::X25519 => PrivateKey::X25519(Box::new(x25519::PrivateKey::from_der(der)?)),
        Kind::Dh => {
            let info = PrivateKeyInfoRef::from_der(der).map_err(|_| DAMAGED_PRIVATE)?;
            let x = Number::from_der(info.private_key.as_bytes()).map_err(|_| DAMAGED_PRIVATE)?;
            return diffie_hellman::read_private(&info.algorithm, x.0);
        }
    })
}

/// Reads a key on a NIST curve, in either format, on the curve that it names.
fn read_sec1(der: &[u8]) -> Result<PrivateKey, Error> {
    nist::PrivateKey::from_der(der).map(|key| PrivateKey::Nist(Box::new(key))).map_err(on_curve)
}

/// Reads a point of SubjectPublicKeyInfo, on the curve that it names.
fn read_point(der: &[u8]) -> Result<PublicKey, Error> {
    nist::PublicKey::from_spki_der(der).map(PublicKey::Nist).map_err(on_curve)
}

fn on_curve(error: ec::Error) -> Error {
    match error {
        ec::Error::Format(FormatError::OtherCurve) => OTHER_CURVE,
        error => error.into(),
    }
}

pub(super) const OTHER_CURVE: Error = Error::Unsupported {
    what: "a key on a curve other than P-224, P-256, P-384 and P-521",
    hint: REPLACE,
};

/// Reads a public key from SubjectPublicKeyInfo, PKCS #1 or a certificate.
pub(super) fn read_public(der: &[u8]) -> Result<PublicKey, Error> {
    match first_tags(der).map_err(|_| DAMAGED_PUBLIC)? {
        [Tag::Sequence, Tag::BitString] => read_public_info(der),
        [Tag::Integer, Tag::Integer] if numbers(der) == 2 => read_rsa(der),
        [Tag::Sequence, Tag::Sequence] => read_public_info(
            certificate_key(der).map_err(|_| Error::Malformed { what: "certificate" })?,
        ),
        [Tag::Sequence, Tag::OctetString] => Err(Error::IsPrivate { what: ENCRYPTED }),
        [Tag::Integer, Tag::Sequence] if version(der) == Some(3) => Err(Error::Unsupported {
            what: "a PKCS #12 archive",
            hint: "extract its certificate with `openssl pkcs12 -nokeys`",
        }),
        [Tag::Integer, _] => Err(Error::IsPrivate { what: "a private key in DER" }),
        _ => Err(DAMAGED_PUBLIC),
    }
}

/// Returns the SubjectPublicKeyInfo of a certificate (RFC 5280, section 4.1).
fn certificate_key(der: &[u8]) -> ::der::Result<&[u8]> {
    let mut reader = SliceReader::new(der)?;
    let key = reader.sequence(|certificate| {
        let key = certificate.sequence(|fields| {
            // The version is the only tagged field before the key.
            if fields.peek_byte() == Some(0xa0) {
                fields.tlv_bytes()?;
            }
            // Serial number, signature, issuer, validity, subject.
            for tag in [Tag::Integer, Tag::Sequence, Tag::Sequence, Tag::Sequence, Tag::Sequence] {
                AnyRef::decode(fields)?.tag().assert_eq(tag)?;
            }
            let key = fields.tlv_bytes()?;
            while !fields.is_finished() {
                fields.tlv_bytes()?;
            }
            Ok::<_, ::der::Error>(key)
        })?;
        // Signature algorithm and signature.
        certificate.tlv_bytes()?;
        certificate.tlv_bytes()?;
        Ok::<_, ::der::Error>(key)
    })?;
    reader.finish()?;
    Ok(key)
}

/// Reads SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7).
fn read_public_info(der: &[u8]) -> Result<PublicKey, Error> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| DAMAGED_PUBLIC)?;
    Ok(match Kind::of(info.algorithm.oid)? {
        Kind::Rsa => return read_rsa(der),
        Kind::Ec => return read_point(der),
        Kind::Ed25519 => PublicKey::Ed25519(ed25519::VerifyingKey::from_der(der)?),
        Kind::X25519 => PublicKey::X25519(x25519::public_key_from_der(der)?),
        Kind::Dh => {
            let value = info.subject_public_key.as_bytes().ok_or(DAMAGED_PUBLIC)?;
            let value = UintRef::from_der(value).map_err(|_| DAMAGED_PUBLIC)?;
            return diffie_hellman::read_public(&info.algorithm, value.as_bytes());
        }
    })
}

/// Reads an RSA key of any length.
fn read_rsa(der: &[u8]) -> Result<PublicKey, Error> {
    rsa_or_legacy(OwnedPublicKey::from_der(der), || LegacyPublicKey::from_der(der))
}

/// Returns a key, or the legacy key if the modulus is too short.
pub(super) fn rsa_or_legacy(
    key: Result<OwnedPublicKey, rsa::Error>,
    legacy: impl FnOnce() -> Result<LegacyPublicKey, rsa::Error>,
) -> Result<PublicKey, Error> {
    match key {
        Err(rsa::Error::Key(rsa::KeyError::ModulusLength { bits })) if bits < rsa::MIN_BITS => {
            match legacy() {
                Err(rsa::Error::Key(rsa::KeyError::LegacyLength { .. })) => {
                    Err(rsa::Error::Key(rsa::KeyError::ModulusLength { bits }).into())
                }
                key => Ok(PublicKey::LegacyRsa(key?)),
            }
        }
        key => Ok(PublicKey::Rsa(key?)),
    }
}
