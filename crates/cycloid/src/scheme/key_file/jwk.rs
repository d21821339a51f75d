//! JSON Web Keys (RFC 7517) for RSA and the NIST curves (RFC 7518, sections 6.2 and 6.3), and for
//! Ed25519 and X25519 (RFC 8037, section 2).

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::Value;
use zeroize::{Zeroize, Zeroizing};

use super::der::{OTHER_CURVE, rsa_or_legacy};
use super::error::REPLACE;
use super::{Error, PrivateKey, PublicKey};
use crate::scheme::nist::{self, Curve};
use crate::scheme::rsa::{KeyPair, LegacyPublicKey, OtherPrime, OwnedPublicKey, PrivateComponents};
use crate::scheme::{ed25519, x25519};

const DAMAGED: Error = Error::Malformed { what: "JSON Web Key" };

/// A parsed key, wiped when dropped.
struct Jwk(Value);

impl Drop for Jwk {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Wipes every string. Nesting is limited by the parser.
fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(values) => values.iter_mut().for_each(wipe),
        Value::Object(members) => members.values_mut().for_each(wipe),
        _ => {}
    }
}

/// A decoded member.
type Bytes = Zeroizing<Vec<u8>>;

impl Jwk {
    fn parse(file: &[u8]) -> Result<Self, Error> {
        let file = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
        let key = Self(serde_json::from_slice(file).map_err(|_| DAMAGED)?);
        if key.0.get("keys").is_some() {
            return Err(Error::Unsupported {
                what: "a set of JSON Web Keys",
                hint: "take one key out of it",
            });
        }
        Ok(key)
    }

    fn text(&self, name: &str) -> Result<&str, Error> {
        self.0.get(name).and_then(Value::as_str).ok_or(DAMAGED)
    }

    fn is_private(&self) -> bool {
        self.0.get("d").is_some()
    }

    fn bytes(&self, name: &str) -> Result<Bytes, Error> {
        bytes(&self.0, name)
    }

    /// Returns a member that may be missing; nothing then.
    fn optional(&self, name: &str) -> Result<Bytes, Error> {
        if self.0.get(name).is_some() { self.bytes(name) } else { Ok(Bytes::default()) }
    }
}

/// Decodes a member in constant time.
fn bytes(value: &Value, name: &str) -> Result<Bytes, Error> {
    let text = value.get(name).and_then(Value::as_str).ok_or(DAMAGED)?;
    let mut bytes = Zeroizing::new(vec![0; text.len()]);
    let length = Base64UrlUnpadded::decode(text, &mut bytes).map_err(|_| DAMAGED)?.len();
    bytes.truncate(length);
    Ok(bytes)
}

/// Reads a private key.
pub(super) fn read_private(file: &[u8]) -> Result<PrivateKey, Error> {
    let key = Jwk::parse(file)?;
    let kind = key.text("kty")?;
    if !key.is_private() && matches!(kind, "RSA" | "EC" | "OKP") {
        return Err(Error::IsPublic { what: "a public JSON Web Key" });
    }
    match (kind, key.text("crv")) {
        ("RSA", _) => read_rsa(&key),
        ("EC", Ok(name)) => read_ec(named(name)?, &key),
        ("OKP", Ok("Ed25519")) => {
            let private = Box::new(ed25519::SigningKey::from_seed(&*array(&key.bytes("d")?)?));
            matching(PrivateKey::Ed25519(private), &key)
        }
        ("OKP", Ok("X25519")) => {
            let private = Box::new(x25519::PrivateKey::from(*array(&key.bytes("d")?)?));
            matching(PrivateKey::X25519(private), &key)
        }
        (kind, curve) => Err(unsupported(kind, curve)),
    }
}

/// Returns the private key if it matches the public one next to it.
fn matching(private: PrivateKey, key: &Jwk) -> Result<PrivateKey, Error> {
    if public(key)? == private.public_key() { Ok(private) } else { Err(Error::Mismatch) }
}

fn array(bytes: &[u8]) -> Result<Zeroizing<[u8; 32]>, Error> {
    bytes.try_into().map(Zeroizing::new).map_err(|_| DAMAGED)
}

fn read_rsa(key: &Jwk) -> Result<PrivateKey, Error> {
    let none = Vec::new();
    let others = match key.0.get("oth") {
        None => &none,
        Some(others) => others.as_array().ok_or(DAMAGED)?,
    };
    let member = |other: &Value| {
        Ok::<_, Error>([bytes(other, "r")?, bytes(other, "d")?, bytes(other, "t")?])
    };
    let others = others.iter().map(member).collect::<Result<Vec<_>, _>>()?;
    let others: Vec<_> = others
        .iter()
        .map(|[prime, exponent, coefficient]| OtherPrime { prime, exponent, coefficient })
        .collect();
    let components = PrivateComponents {
        modulus: &key.bytes("n")?,
        public_exponent: &key.bytes("e")?,
        private_exponent: &key.bytes("d")?,
        prime1: &key.optional("p")?,
        prime2: &key.optional("q")?,
        exponent1: &key.optional("dp")?,
        exponent2: &key.optional("dq")?,
        coefficient: &key.optional("qi")?,
        other_primes: &others,
    };
    Ok(PrivateKey::Rsa(KeyPair::from_components(&components)?))
}

fn read_ec(curve: Curve, key: &Jwk) -> Result<PrivateKey, Error> {
    let private = nist::PrivateKey::from_bytes(curve, &key.bytes("d")?)?;
    matching(PrivateKey::Nist(Box::new(private)), key)
}

/// Reads a public key.
pub(super) fn read_public(file: &[u8]) -> Result<PublicKey, Error> {
    let key = Jwk::parse(file)?;
    if key.is_private() {
        return Err(Error::IsPrivate { what: "a private JSON Web Key" });
    }
    public(&key)
}

fn public(key: &Jwk) -> Result<PublicKey, Error> {
    match (key.text("kty")?, key.text("crv")) {
        ("RSA", _) => {
            let (n, e) = (key.bytes("n")?, key.bytes("e")?);
            rsa_or_legacy(OwnedPublicKey::from_components(&n, &e), || {
                LegacyPublicKey::from_components(&n, &e)
            })
        }
        ("EC", Ok(name)) => read_point(named(name)?, key),
        ("OKP", Ok("Ed25519")) => {
            Ok(PublicKey::Ed25519(ed25519::VerifyingKey::new(&*array(&key.bytes("x")?)?)?))
        }
        ("OKP", Ok("X25519")) => Ok(PublicKey::X25519(*array(&key.bytes("x")?)?)),
        (kind, curve) => Err(unsupported(kind, curve)),
    }
}

/// Returns the curve with that name.
fn named(name: &str) -> Result<Curve, Error> {
    Curve::ALL.into_iter().find(|curve| curve.name() == name).ok_or(OTHER_CURVE)
}

fn read_point(curve: Curve, key: &Jwk) -> Result<PublicKey, Error> {
    let (x, y) = (key.bytes("x")?, key.bytes("y")?);
    // The uncompressed form: 4, then both coordinates, which have their full lengths (RFC 7518,
    // section 6.2.1.2).
    if x.len() != curve.bytes() || y.len() != curve.bytes() {
        return Err(DAMAGED);
    }
    let point = [&[4], &x[..], &y[..]].concat();
    Ok(PublicKey::Nist(nist::PublicKey::from_sec1(curve, &point)?))
}

/// Returns the refusal of a key of another type or on another curve.
fn unsupported(kind: &str, curve: Result<&str, Error>) -> Error {
    match (kind, curve) {
        ("oct", _) => Error::Unsupported {
            what: "a symmetric JSON Web Key",
            hint: "give the file of a private or public key",
        },
        ("EC" | "OKP", Err(_)) => DAMAGED,
        _ => Error::Unsupported {
            what: "a JSON Web Key for an algorithm that Cycloid does not support",
            hint: REPLACE,
        },
    }
}
