//! Signs TLS handshakes by a key in a token.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::digest;
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use rustls::pki_types::CertificateDer;
use rustls::sign::SigningKey;
use rustls::{SignatureAlgorithm, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::der::asn1::{ObjectIdentifier, UintRef};
use x509_cert::der::{Decode, Encode};

use super::token_key::TokenKey;
use crate::service::Failure;

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// The curves, the schemes that TLS binds to them, and the bytes of a coordinate.
const CURVES: [(ObjectIdentifier, SignatureScheme); 3] = [
    (ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7"), SignatureScheme::ECDSA_NISTP256_SHA256),
    (ObjectIdentifier::new_unwrap("1.3.132.0.34"), SignatureScheme::ECDSA_NISTP384_SHA384),
    (ObjectIdentifier::new_unwrap("1.3.132.0.35"), SignatureScheme::ECDSA_NISTP521_SHA512),
];

const PSS: [SignatureScheme; 3] = [
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
];
const PKCS1: [SignatureScheme; 3] = [
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
];

/// A private key in a token. Handshakes sign in turns.
pub(super) struct Signer {
    token_key: Arc<Mutex<TokenKey>>,
    algorithm: SignatureAlgorithm,
    /// The possible schemes, best first.
    schemes: Vec<SignatureScheme>,
}

impl Signer {
    /// Returns the key of this certificate, for a token with these mechanisms.
    pub(super) fn new(
        certificate: &CertificateDer<'_>,
        mechanisms: &[MechanismType],
        token_key: TokenKey,
    ) -> Result<Self, Failure> {
        let unusable = |why: &str| {
            Failure::new(format!("pkcs11-id: {why}")).hint(
                "use an RSA, ECDSA (P-256, P-384, P-521) or Ed25519 key in a token that signs",
            )
        };
        let parsed = Certificate::from_der(certificate);
        let parsed = parsed.map_err(|_| unusable("the certificate is unreadable"))?;
        let key = &parsed.tbs_certificate().subject_public_key_info().algorithm;
        let curve = key.parameters.as_ref().and_then(|it| it.decode_as::<ObjectIdentifier>().ok());
        let (algorithm, schemes) = match key.oid {
            RSA => {
                let mut schemes = Vec::new();
                if has(mechanisms, MechanismType::RSA_PKCS_PSS) {
                    schemes.extend(PSS);
                }
                if has(mechanisms, MechanismType::RSA_PKCS) {
                    schemes.extend(PKCS1);
                }
                (SignatureAlgorithm::RSA, schemes)
            }
            EC if has(mechanisms, MechanismType::ECDSA) => {
                let known = CURVES.iter().find(|(oid, _)| curve == Some(*oid));
                (SignatureAlgorithm::ECDSA, known.map(|(_, scheme)| *scheme).into_iter().collect())
            }
            ED25519 if has(mechanisms, MechanismType::EDDSA) => {
                (SignatureAlgorithm::ED25519, vec![SignatureScheme::ED25519])
            }
            _ => return Err(unusable("the token does not sign with this kind of key")),
        };
        if schemes.is_empty() {
            return Err(unusable("the token does not sign with this kind of key"));
        }
        Ok(Self { token_key: Arc::new(Mutex::new(token_key)), algorithm, schemes })
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("schemes", &self.schemes).finish_non_exhaustive()
    }
}

impl SigningKey for Signer {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn rustls::sign::Signer>> {
        let scheme = self.schemes.iter().find(|scheme| offered.contains(scheme))?;
        Some(Box::new(One { token_key: Arc::clone(&self.token_key), scheme: *scheme }))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.algorithm
    }
}

/// Why a token has not signed. The peer was not refused, so a renegotiation may be tried again.
#[derive(Debug)]
struct Unsigned(String);

impl fmt::Display for Unsigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsigned {}

impl From<Unsigned> for rustls::Error {
    fn from(unsigned: Unsigned) -> Self {
        Self::Other(rustls::OtherError(Arc::new(unsigned)))
    }
}

/// A signature in a handshake.
struct One {
    token_key: Arc<Mutex<TokenKey>>,
    scheme: SignatureScheme,
}

impl fmt::Debug for One {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("One").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

impl rustls::sign::Signer for One {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        let failed = |why: String| Unsigned(format!("the token: {why}")).into();
        let (mechanism, input) = request(self.scheme, message)
            .ok_or_else(|| failed("unknown signature scheme".into()))?;
        // The session is complete at every moment, so lock poisoning can be ignored.
        let mut token_key = self.token_key.lock().unwrap_or_else(PoisonError::into_inner);
        let signature = token_key.with_key(|session, key| session.sign(&mechanism, key, &input));
        let signature = signature.map_err(failed)?;
        match self.scheme {
            SignatureScheme::ECDSA_NISTP256_SHA256
            | SignatureScheme::ECDSA_NISTP384_SHA384
            | SignatureScheme::ECDSA_NISTP521_SHA512 => {
                to_der(&signature).ok_or_else(|| failed("a signature is malformed".into()))
            }
            _ => Ok(signature),
        }
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}

/// Returns the mechanism of a scheme and its input for this message.
fn request(scheme: SignatureScheme, message: &[u8]) -> Option<(Mechanism<'static>, Vec<u8>)> {
    use SignatureScheme as Scheme;
    let (algorithm, mechanism, mask, prefix) = match scheme {
        Scheme::ED25519 => {
            let parameters = EddsaParams::new(EddsaSignatureScheme::Ed25519);
            return Some((Mechanism::Eddsa(parameters), message.to_vec()));
        }
        Scheme::RSA_PKCS1_SHA256 | Scheme::RSA_PSS_SHA256 | Scheme::ECDSA_NISTP256_SHA256 => {
            (&digest::SHA256, MechanismType::SHA256, PkcsMgfType::MGF1_SHA256, (0x31, 1, 0x20))
        }
        Scheme::RSA_PKCS1_SHA384 | Scheme::RSA_PSS_SHA384 | Scheme::ECDSA_NISTP384_SHA384 => {
            (&digest::SHA384, MechanismType::SHA384, PkcsMgfType::MGF1_SHA384, (0x41, 2, 0x30))
        }
        Scheme::RSA_PKCS1_SHA512 | Scheme::RSA_PSS_SHA512 | Scheme::ECDSA_NISTP521_SHA512 => {
            (&digest::SHA512, MechanismType::SHA512, PkcsMgfType::MGF1_SHA512, (0x51, 3, 0x40))
        }
        _ => return None,
    };
    let hash = digest::digest(algorithm, message);
    Some(match scheme {
        _ if PSS.contains(&scheme) => {
            let s_len = (hash.as_ref().len() as u64).into();
            let parameters = PkcsPssParams { hash_alg: mechanism, mgf: mask, s_len };
            (Mechanism::RsaPkcsPss(parameters), hash.as_ref().to_vec())
        }
        _ if PKCS1.contains(&scheme) => {
            // DigestInfo (RFC 8017, 9.2, note 1).
            let (all, number, length) = prefix;
            let mut input = vec![0x30, all, 0x30, 0x0d, 0x06, 0x09];
            input.extend([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, number]);
            input.extend([0x05, 0x00, 0x04, length]);
            input.extend_from_slice(hash.as_ref());
            (Mechanism::RsaPkcs, input)
        }
        _ => (Mechanism::Ecdsa, hash.as_ref().to_vec()),
    })
}

/// Converts an ECDSA signature: two numbers of equal length to DER (RFC 5480).
fn to_der(signature: &[u8]) -> Option<Vec<u8>> {
    if signature.is_empty() || !signature.len().is_multiple_of(2) {
        return None;
    }
    let (r, s) = signature.split_at(signature.len() / 2);
    let [r, s] = [UintRef::new(r).ok()?, UintRef::new(s).ok()?];
    let body = [r.to_der().ok()?, s.to_der().ok()?].concat();
    let mut der = vec![0x30];
    match u8::try_from(body.len()).ok()? {
        short @ ..0x80 => der.push(short),
        long => der.extend([0x81, long]),
    }
    der.extend(body);
    Some(der)
}

/// Returns whether a token has a mechanism.
fn has(mechanisms: &[MechanismType], wanted: MechanismType) -> bool {
    mechanisms.contains(&wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_converted_to_der() {
        assert_eq!(to_der(&[0x80, 1]), Some(vec![0x30, 7, 2, 2, 0, 0x80, 2, 1, 1]));
        assert_eq!(to_der(&[0, 0, 0, 2]), Some(vec![0x30, 6, 2, 1, 0, 2, 1, 2]));
        let long = to_der(&[0xff; 132]).unwrap();
        assert_eq!(long[..5], [0x30, 0x81, 138, 2, 67]);
        assert_eq!(to_der(&[]), None);
        assert_eq!(to_der(&[1, 2, 3]), None);
    }

    #[test]
    fn inputs_of_the_mechanisms() {
        let (mechanism, input) = request(SignatureScheme::RSA_PKCS1_SHA256, b"abc").unwrap();
        assert!(matches!(mechanism, Mechanism::RsaPkcs));
        assert_eq!(input.len(), 19 + 32);
        assert_eq!(input[..2], [0x30, 0x31]);
        let (_, input) = request(SignatureScheme::ECDSA_NISTP384_SHA384, b"abc").unwrap();
        assert_eq!(input, digest::digest(&digest::SHA384, b"abc").as_ref());
        let (_, input) = request(SignatureScheme::ED25519, b"abc").unwrap();
        assert_eq!(input, b"abc");
        assert!(request(SignatureScheme::RSA_PKCS1_SHA1, b"abc").is_none());
    }
}
