//! Private keys: from files to signatures.

mod ecdsa;
mod ed25519;
mod rsa;

use std::sync::Arc;

use cycloid::scheme::ec::{self, P256, P384, P521};
use cycloid::scheme::{ed25519 as ed, rsa as rsa_scheme};
use rustls::Error;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;

/// A key from DER: RSA in PKCS #1 or PKCS #8, ECDSA on P-256, P-384 or P-521 in SEC 1 or PKCS #8,
/// Ed25519 in PKCS #8.
///
/// # Errors
/// [`rustls::Error::General`], which says what is wrong with the key, or that it is of no algorithm
/// of these.
pub fn any_supported_key(der: &PrivateKeyDer<'_>) -> Result<Arc<dyn SigningKey>, Error> {
    let tries: &[Try] = match der {
        PrivateKeyDer::Pkcs1(_) => &[rsa],
        PrivateKeyDer::Sec1(_) => &[p256, p384, p521],
        PrivateKeyDer::Pkcs8(_) => &[rsa, p256, p384, p521, ed25519],
        _ => &[],
    };
    for key in tries {
        match key(der.secret_der()) {
            Ok(key) => return Ok(key),
            Err(Refusal::Other) => {}
            Err(Refusal::Wrong(reason)) => return Err(Error::General(reason)),
        }
    }
    Err(Error::General(
        "the private key is neither RSA, nor ECDSA on P-256, P-384 or P-521, nor Ed25519".into(),
    ))
}

type Try = fn(&[u8]) -> Result<Arc<dyn SigningKey>, Refusal>;

/// Why a key was not loaded.
enum Refusal {
    /// It is one of another algorithm or curve.
    Other,
    /// There is something wrong with it.
    Wrong(String),
}

impl Refusal {
    fn wrong(algorithm: &str, reason: impl std::fmt::Display) -> Self {
        Self::Wrong(format!("the {algorithm} private key is not usable: {reason}"))
    }
}

fn rsa(der: &[u8]) -> Result<Arc<dyn SigningKey>, Refusal> {
    match rsa::RsaKey::from_der(der) {
        Ok(key) => Ok(Arc::new(key)),
        Err(rsa_scheme::Error::Algorithm) => Err(Refusal::Other),
        Err(error) => Err(Refusal::wrong("RSA", error)),
    }
}

/// A key on one of the curves.
fn on<C: ecdsa::TlsCurve>(der: &[u8]) -> Result<Arc<dyn SigningKey>, Refusal> {
    match ec::PrivateKey::<C>::from_der(der) {
        Ok(key) => Ok(Arc::new(ecdsa::EcdsaKey::new(key))),
        Err(ec::Error::Algorithm | ec::Error::OtherCurve) => Err(Refusal::Other),
        Err(error) => Err(Refusal::wrong("ECDSA", error)),
    }
}

fn p256(der: &[u8]) -> Result<Arc<dyn SigningKey>, Refusal> {
    on::<P256>(der)
}

fn p384(der: &[u8]) -> Result<Arc<dyn SigningKey>, Refusal> {
    on::<P384>(der)
}

fn p521(der: &[u8]) -> Result<Arc<dyn SigningKey>, Refusal> {
    on::<P521>(der)
}

fn ed25519(der: &[u8]) -> Result<Arc<dyn SigningKey>, Refusal> {
    match ed::SigningKey::from_der(der) {
        Ok(key) => Ok(Arc::new(ed25519::Ed25519Key::new(key))),
        Err(ed::Error::Format(ed::FormatError::Algorithm)) => Err(Refusal::Other),
        Err(error) => Err(Refusal::wrong("Ed25519", error)),
    }
}
