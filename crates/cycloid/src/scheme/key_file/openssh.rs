//! Keys of OpenSSH: private keys in `openssh-key-v1` (PROTOCOL.key in its sources) and public keys
//! as lines (RFC 4253, section 6.6; RFC 5656, section 3.1; RFC 8709, section 4).

use alloc::boxed::Box;
use alloc::vec;

use base64ct::{Base64, Encoding};
use ssh_cipher::{Cipher, Tag};
use zeroize::Zeroizing;

use super::der::rsa_or_legacy;
use super::error::{DSA, REPLACE};
use super::{Error, PrivateKey, PublicKey};
use crate::machine::ct;
use crate::scheme::ec;
use crate::scheme::ed25519;
use crate::scheme::nist::{self, Curve};
use crate::scheme::rsa::{KeyPair, LegacyPublicKey, OwnedPublicKey, PrivateComponents};

const MAGIC: &[u8] = b"openssh-key-v1\0";

/// The most rounds of bcrypt: some ten seconds. OpenSSH's default is 24 at most.
const MAX_ROUNDS: u32 = 1024;

const DAMAGED: Error = Error::Malformed { what: "OpenSSH private key" };
const DAMAGED_PUBLIC: Error = Error::Malformed { what: "OpenSSH public key" };

/// Splits off a number of four bytes.
fn number(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, after) = rest.split_first_chunk()?;
    // Lengths and counts are the structure of the file.
    ct::mark_public(bytes);
    *rest = after;
    Some(u32::from_be_bytes(*bytes))
}

/// Splits off a string: its length, then its bytes (RFC 4251, section 5).
fn string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(rest)?).ok()?;
    let (string, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(string)
}

/// Reads a private key, decoded from PEM.
pub(super) fn read_private(file: &[u8], passphrase: Option<&[u8]>) -> Result<PrivateKey, Error> {
    let mut rest = file.strip_prefix(MAGIC).ok_or(DAMAGED)?;
    let mut next = || string(&mut rest).ok_or(DAMAGED);
    let (cipher, kdf, options) = (next()?, next()?, next()?);
    if number(&mut rest) != Some(1) {
        return Err(DAMAGED);
    }
    let public = string(&mut rest).ok_or(DAMAGED)?;
    let private = string(&mut rest).ok_or(DAMAGED)?;
    let mut private = Zeroizing::new(private.to_vec());
    // The tag of an authenticated cipher follows the private part.
    let tag = rest;
    match (cipher, kdf) {
        (b"none", b"none") if tag.is_empty() => {}
        (b"none", b"none") => return Err(DAMAGED),
        (_, b"bcrypt") => {
            let what = "an encrypted OpenSSH private key";
            let passphrase = passphrase.ok_or(Error::Encrypted { what })?;
            decrypt(cipher, options, passphrase, &mut private, tag)?;
        }
        _ => return Err(UNSUPPORTED_CIPHER),
    }
    read_decrypted(&private, public)
}

const UNSUPPORTED_CIPHER: Error = Error::Unsupported {
    what: "an OpenSSH private key encrypted with a cipher that Cycloid does not support",
    hint: "encrypt it again with `ssh-keygen -p -Z aes256-ctr -f KEY`",
};

/// The ciphers of OpenSSH.
const CIPHERS: [Cipher; 10] = [
    Cipher::Aes256Ctr,
    Cipher::Aes192Ctr,
    Cipher::Aes128Ctr,
    Cipher::Aes256Cbc,
    Cipher::Aes192Cbc,
    Cipher::Aes128Cbc,
    Cipher::Aes256Gcm,
    Cipher::Aes128Gcm,
    Cipher::ChaCha20Poly1305,
    Cipher::TdesCbc,
];

/// Decrypts `text`, which `tag` authenticates if the cipher has one.
fn decrypt(
    cipher: &[u8],
    mut options: &[u8],
    passphrase: &[u8],
    text: &mut [u8],
    tag: &[u8],
) -> Result<(), Error> {
    let cipher = CIPHERS.into_iter().find(|known| known.as_str().as_bytes() == cipher);
    let (cipher, sizes) = cipher
        .and_then(|cipher| Some((cipher, cipher.key_and_iv_size()?)))
        .ok_or(UNSUPPORTED_CIPHER)?;
    let tag = match tag {
        [] => None,
        tag => Some(Tag::try_from(tag).map_err(|_| DAMAGED)?),
    };
    if tag.is_some() != cipher.has_tag() {
        return Err(DAMAGED);
    }
    let salt = string(&mut options).ok_or(DAMAGED)?;
    let rounds = number(&mut options).filter(|_| options.is_empty()).ok_or(DAMAGED)?;
    if rounds > MAX_ROUNDS {
        return Err(Error::Costly);
    }
    // ChaCha20-Poly1305 has a second key, for the lengths of packets, and no initial value
    // (PROTOCOL.chacha20poly1305 in the sources of OpenSSH): a key file is packet 0.
    let (key_length, derived_length) = match (cipher, sizes) {
        (Cipher::ChaCha20Poly1305, (key_length, _)) => (key_length, 2 * key_length),
        (_, (key_length, iv_length)) => (key_length, key_length + iv_length),
    };
    let mut derived = Zeroizing::new([0; 64]);
    let derived = &mut derived[..derived_length];
    // An empty passphrase is not a wrong format: OpenSSH does not encrypt with one.
    bcrypt_pbkdf::bcrypt_pbkdf(passphrase, salt, rounds, derived)
        .map_err(|_| if passphrase.is_empty() { Error::Passphrase } else { DAMAGED })?;
    let (key, mut iv) = derived.split_at(key_length);
    if cipher == Cipher::ChaCha20Poly1305 {
        iv = &[0; 8];
    }
    cipher.decrypt(key, iv, text, tag).map_err(|error| match error {
        ssh_cipher::Error::Crypto => Error::Passphrase,
        _ => DAMAGED,
    })
}

/// Reads the private part: two equal numbers, the key, a comment and padding.
fn read_decrypted(text: &[u8], public: &[u8]) -> Result<PrivateKey, Error> {
    let mut rest = text;
    let checks = number(&mut rest).zip(number(&mut rest));
    if checks.is_none_or(|(first, second)| first != second) {
        return Err(Error::Passphrase);
    }
    let mut next = || string(&mut rest).ok_or(DAMAGED);
    let kind = next()?;
    // The type of the key is also in the unencrypted part.
    ct::mark_public(kind);
    let key = match kind {
        b"ssh-rsa" => {
            let (n, e, d, q_inverse, p, q) = (next()?, next()?, next()?, next()?, next()?, next()?);
            PrivateKey::Rsa(KeyPair::from_components(&PrivateComponents {
                modulus: n,
                public_exponent: e,
                private_exponent: d,
                prime1: p,
                prime2: q,
                coefficient: q_inverse,
                ..PrivateComponents::default()
            })?)
        }
        b"ssh-ed25519" => {
            let (_, pair) = (next()?, next()?);
            let pair: &[u8; 64] = pair.try_into().map_err(|_| DAMAGED)?;
            let (seed, public) = pair.split_first_chunk().ok_or(DAMAGED)?;
            let key = Box::new(ed25519::SigningKey::from_seed(seed));
            // The public key is also in the unencrypted part.
            ct::mark_public(public);
            if key.verifying_key().as_bytes() != public {
                return Err(Error::Mismatch);
            }
            PrivateKey::Ed25519(key)
        }
        b"ecdsa-sha2-nistp256" => read_ecdsa(Curve::P256, [next()?, next()?, next()?])?,
        b"ecdsa-sha2-nistp384" => read_ecdsa(Curve::P384, [next()?, next()?, next()?])?,
        b"ecdsa-sha2-nistp521" => read_ecdsa(Curve::P521, [next()?, next()?, next()?])?,
        _ => return Err(unsupported(kind)),
    };
    next()?;
    // Padding is part of the format: 1, 2, 3 and so on, as many as the cipher's blocks need.
    ct::mark_public(rest);
    if rest.iter().zip(1..).any(|(byte, count)| *byte != count) {
        return Err(DAMAGED);
    }
    if read_blob(public)? != key.public_key() {
        return Err(Error::Mismatch);
    }
    Ok(key)
}

/// Reads the curve's name, which the type repeats, the point and the scalar.
fn read_ecdsa(curve: Curve, [_, point, scalar]: [&[u8]; 3]) -> Result<PrivateKey, Error> {
    let mut padded = Zeroizing::new(vec![0; curve.bytes()]);
    // A leading zero marks the number as positive; zeros may be missing.
    let excess = scalar.len().saturating_sub(curve.bytes());
    let (excess, scalar) = scalar.split_at(excess);
    // Zeros before the number are part of the format.
    ct::mark_public(excess);
    if excess.iter().any(|byte| *byte != 0) {
        return Err(ec::Error::PrivateKeyRange.into());
    }
    padded[curve.bytes() - scalar.len()..].copy_from_slice(scalar);
    let key = nist::PrivateKey::from_bytes(curve, &padded)?;
    if key.public_key() != nist::PublicKey::from_sec1(curve, point)? {
        return Err(Error::Mismatch);
    }
    Ok(PrivateKey::Nist(Box::new(key)))
}

/// Reads a line: the type, the key in base64, and a comment.
pub(super) fn read_public(line: &[u8]) -> Result<PublicKey, Error> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
    let mut fields = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|f| !f.is_empty());
    let (kind, base64) = fields.next().zip(fields.next()).ok_or(DAMAGED_PUBLIC)?;
    // Other lines may follow a key without comment.
    let end = base64.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    let base64 = &base64[..end.unwrap_or(base64.len())];
    let mut blob = vec![0; base64.len()];
    let blob = Base64::decode(base64, &mut blob).map_err(|_| DAMAGED_PUBLIC)?;
    if string(&mut &*blob) != Some(kind) {
        return Err(DAMAGED_PUBLIC);
    }
    read_blob(blob)
}

/// Reads the encoding of a public key.
fn read_blob(blob: &[u8]) -> Result<PublicKey, Error> {
    let mut rest = blob;
    let mut next = || string(&mut rest).ok_or(DAMAGED_PUBLIC);
    let kind = next()?;
    let key = match kind {
        b"ssh-rsa" => {
            let (e, n) = (next()?, next()?);
            rsa_or_legacy(OwnedPublicKey::from_components(n, e), || {
                LegacyPublicKey::from_components(n, e)
            })?
        }
        b"ssh-ed25519" => {
            let key = next()?.try_into().map_err(|_| DAMAGED_PUBLIC)?;
            PublicKey::Ed25519(ed25519::VerifyingKey::new(key)?)
        }
        b"ecdsa-sha2-nistp256" => read_point(Curve::P256, [next()?, next()?])?,
        b"ecdsa-sha2-nistp384" => read_point(Curve::P384, [next()?, next()?])?,
        b"ecdsa-sha2-nistp521" => read_point(Curve::P521, [next()?, next()?])?,
        _ => return Err(unsupported(kind)),
    };
    if rest.is_empty() { Ok(key) } else { Err(DAMAGED_PUBLIC) }
}

/// Reads a point; the type repeats the curve's name.
fn read_point(curve: Curve, [_, point]: [&[u8]; 2]) -> Result<PublicKey, Error> {
    Ok(PublicKey::Nist(nist::PublicKey::from_sec1(curve, point)?))
}

/// Returns the refusal of a key of another type.
fn unsupported(kind: &[u8]) -> Error {
    match kind {
        b"ssh-dss" => DSA,
        _ if kind.ends_with(b"-cert-v01@openssh.com") => Error::Unsupported {
            what: "an OpenSSH certificate",
            hint: "give the file of the key that it certifies",
        },
        _ if kind.starts_with(b"sk-") => Error::Unsupported {
            what: "an OpenSSH key on a security token",
            hint: "its private key cannot leave the token; make another key",
        },
        _ => Error::Unsupported {
            what: "an OpenSSH key for an algorithm that Cycloid does not support",
            hint: REPLACE,
        },
    }
}
