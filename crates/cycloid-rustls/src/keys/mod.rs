//! Private keys: loading and signing.

mod ecdsa;
mod ed25519;
mod rsa;

use std::sync::Arc;

use cycloid::scheme::{FormatError, ec, ed25519 as ed, nist};
use pkcs8::der::asn1::OctetStringRef;
use pkcs8::der::{Decode, Header, SliceReader};
use pkcs8::{AlgorithmIdentifierRef, ObjectIdentifier, PrivateKeyInfoRef};
use rustls::Error;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;

/// Loads a key from DER: RSA in PKCS #1 or PKCS #8, ECDSA on P-256, P-384 or P-521 in SEC 1 or PKCS
/// #8, Ed25519 in PKCS #8, and ML-DSA in PKCS #8 with the feature `post-quantum`.
///
/// # Errors
/// [`rustls::Error::General`] with a description: the format of the file and the problem with it,
/// or that the algorithm of the key is not supported.
pub fn any_supported_key(der: &PrivateKeyDer<'_>) -> Result<Arc<dyn SigningKey>, Error> {
    let bytes = der.secret_der();
    let outcome = match der {
        PrivateKeyDer::Pkcs1(_) => rsa(bytes, "PKCS #1"),
        PrivateKeyDer::Sec1(_) => on_any_curve(bytes, "SEC 1").unwrap_or_else(|| {
            Err(format!("the private key (SEC 1) is on an unsupported curve: it is {SUPPORTED}"))
        }),
        PrivateKeyDer::Pkcs8(_) => pkcs8(der),
        _ => Err("the private key is neither PKCS #1, nor PKCS #8, nor SEC 1".into()),
    };
    outcome.map_err(Error::General)
}

/// A key, or the reason why loading it failed.
type Outcome = Result<Arc<dyn SigningKey>, String>;

const SUPPORTED: &str = "neither RSA, nor ECDSA on P-256, P-384 or P-521, nor Ed25519";

/// rsaEncryption and id-RSASSA-PSS (RFC 8017, appendix C).
const RSA: [ObjectIdentifier; 2] = [
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1"),
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10"),
];
/// id-ecPublicKey (RFC 5480, section 2.1.1).
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
/// id-Ed25519 (RFC 8410, section 3).
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
/// id-ml-dsa-44, id-ml-dsa-65 and id-ml-dsa-87 (RFC 9881, section 2).
#[cfg(feature = "post-quantum")]
const ML_DSA: [ObjectIdentifier; 3] = [
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.17"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.18"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.19"),
];

/// Loads a key in PKCS #8 (RFC 5958), with the algorithm that the file names.
fn pkcs8(der: &PrivateKeyDer<'_>) -> Outcome {
    const FILE: &str = "PKCS #8";
    let bytes = der.secret_der();
    let info = PrivateKeyInfoRef::from_der(bytes).map_err(|error| {
        if is_encrypted(bytes) {
            "the private key (PKCS #8) is encrypted with a password: decrypt it first".into()
        } else {
            format!("the private key is not PKCS #8 in DER: {error}")
        }
    })?;
    match info.algorithm.oid {
        oid if RSA.contains(&oid) => rsa(bytes, FILE),
        EC => on_any_curve(bytes, FILE).unwrap_or_else(|| {
            let curve = info.algorithm.parameters_oid();
            let curve = curve.map_or_else(|_| "its own parameters".into(), |oid| oid.to_string());
            Err(format!("the private key (PKCS #8, ECDSA on {curve}) is {SUPPORTED}"))
        }),
        ED25519 => match ed::SigningKey::from_der(bytes) {
            Ok(key) => Ok(Arc::new(ed25519::Ed25519Key::new(key))),
            Err(error) => Err(unusable("Ed25519", FILE, error)),
        },
        #[cfg(feature = "post-quantum")]
        oid if ML_DSA.contains(&oid) => {
            let key = rustls::crypto::aws_lc_rs::sign::any_supported_type(der);
            key.map_err(|error| unusable("ML-DSA", FILE, error))
        }
        oid => Err(format!("the private key (PKCS #8, algorithm {oid}) is {SUPPORTED}")),
    }
}

/// Returns whether this is EncryptedPrivateKeyInfo (RFC 5958, section 3): an algorithm and a
/// ciphertext.
fn is_encrypted(der: &[u8]) -> bool {
    let fields = |mut reader: SliceReader<'_>| {
        Header::decode(&mut reader)?;
        AlgorithmIdentifierRef::decode(&mut reader)?;
        <&OctetStringRef>::decode(&mut reader).map(|_| ())
    };
    SliceReader::new(der).and_then(fields).is_ok()
}

fn unusable(algorithm: &str, file: &str, reason: impl std::fmt::Display) -> String {
    format!("the {algorithm} private key ({file}) is not usable: {reason}")
}

fn rsa(der: &[u8], file: &str) -> Outcome {
    match rsa::RsaKey::from_der(der) {
        Ok(key) => Ok(Arc::new(key)),
        Err(reason) => Err(unusable("RSA", file, reason)),
    }
}

/// Loads a key on a curve of TLS; `None` if it is on another.
fn on_any_curve(der: &[u8], file: &str) -> Option<Outcome> {
    Some(match nist::PrivateKey::from_der(der) {
        Ok(nist::PrivateKey::P256(key)) => Ok(Arc::new(ecdsa::EcdsaKey::new(key))),
        Ok(nist::PrivateKey::P384(key)) => Ok(Arc::new(ecdsa::EcdsaKey::new(key))),
        Ok(nist::PrivateKey::P521(key)) => Ok(Arc::new(ecdsa::EcdsaKey::new(key))),
        Ok(nist::PrivateKey::P224(_)) | Err(ec::Error::Format(FormatError::OtherCurve)) => {
            return None;
        }
        Err(error) => Err(unusable("ECDSA", file, error)),
    })
}
