//! Implementations of the traits of the crates `pkcs8` and `spki`: keys as documents, and what
//! builders of certificates ask of a key and a signature.
//!
//! Methods of the same name on a key itself take a buffer instead of returning a document.

use alloc::vec;

use der::asn1::{Any, BitString};
use der::{Decode, Document, SecretDocument};
use pkcs8::{DecodePrivateKey, EncodePrivateKey, KeyError};
use spki::{
    AlgorithmIdentifierOwned, DecodePublicKey, DynSignatureAlgorithmIdentifier, EncodePublicKey,
    ObjectIdentifier, SignatureBitStringEncoding,
};
use zeroize::Zeroizing;

use super::Hash;
use super::ec::{self, Curve};
use super::{ecdsa, ed25519, nist, rsa, x25519};

/// The traits' errors have no text, so they name the class of the defect alone.
fn refused(_: impl core::error::Error) -> pkcs8::Error {
    KeyError::Invalid.into()
}

fn public_refused(_: impl core::error::Error) -> spki::Error {
    spki::Error::KeyMalformed
}

/// Implements reading and writing for a key whose methods take a buffer of at most `$length` bytes.
macro_rules! private {
    ([$($generics:tt)*] $key:ty, $length:expr, $from:ident, $to:ident) => {
        impl<$($generics)*> DecodePrivateKey for $key {
            fn from_pkcs8_der(der: &[u8]) -> pkcs8::Result<Self> {
                Self::$from(der).map_err(refused)
            }
        }

        impl<$($generics)*> EncodePrivateKey for $key {
            fn to_pkcs8_der(&self) -> pkcs8::Result<SecretDocument> {
                let mut room = Zeroizing::new(vec![0; $length]);
                Ok(SecretDocument::try_from(self.$to(&mut room).map_err(refused)?)?)
            }
        }
    };
}

private!([C: Curve] ec::PrivateKey<C>, ec::private_key_der_length::<C>(), from_pkcs8_der, to_pkcs8_der);
private!([] nist::PrivateKey, nist::MAX_PRIVATE_KEY_DER_LENGTH, from_der, to_pkcs8_der);
private!([] ed25519::SigningKey, ed25519::PRIVATE_KEY_DER_LENGTH, from_der, to_der);
private!([] x25519::PrivateKey, x25519::PRIVATE_KEY_DER_LENGTH, from_der, to_der);

impl DecodePrivateKey for rsa::KeyPair {
    fn from_pkcs8_der(der: &[u8]) -> pkcs8::Result<Self> {
        Self::from_der(der).map_err(refused)
    }
}

impl EncodePrivateKey for rsa::KeyPair {
    fn to_pkcs8_der(&self) -> pkcs8::Result<SecretDocument> {
        Ok(SecretDocument::try_from(self.to_pkcs8_der().as_slice())?)
    }
}

/// Likewise for a public key.
macro_rules! public {
    ([$($generics:tt)*] $key:ty, $length:expr, $from:ident, $to:ident) => {
        impl<$($generics)*> DecodePublicKey for $key {
            fn from_public_key_der(der: &[u8]) -> spki::Result<Self> {
                Self::$from(der).map_err(public_refused)
            }
        }

        impl<$($generics)*> EncodePublicKey for $key {
            fn to_public_key_der(&self) -> spki::Result<Document> {
                let mut room = vec![0; $length];
                Ok(Document::from_der(self.$to(&mut room).map_err(public_refused)?)?)
            }
        }
    };
}

public!([C: Curve] ec::PublicKey<C>, ec::public_key_der_length::<C>(), from_spki_der, to_spki_der);
public!([] nist::PublicKey, nist::MAX_PUBLIC_KEY_DER_LENGTH, from_spki_der, to_spki_der);
public!([] ed25519::VerifyingKey, ed25519::PUBLIC_KEY_DER_LENGTH, from_der, to_der);

impl DecodePublicKey for rsa::OwnedPublicKey {
    fn from_public_key_der(der: &[u8]) -> spki::Result<Self> {
        Self::from_der(der).map_err(public_refused)
    }
}

impl EncodePublicKey for rsa::OwnedPublicKey {
    fn to_public_key_der(&self) -> spki::Result<Document> {
        Ok(Document::from_der(&self.to_spki_der())?)
    }
}

/// Writes the public key within a verifying key.
macro_rules! verifying {
    ([$($generics:tt)*] $key:ty) => {
        impl<$($generics)*> EncodePublicKey for $key {
            fn to_public_key_der(&self) -> spki::Result<Document> {
                self.public_key().to_public_key_der()
            }
        }
    };
}

verifying!([C: Curve] ecdsa::VerifyingKey<C>);
verifying!([] nist::VerifyingKey);
verifying!([] rsa::VerifyingKey);

/// Returns the algorithm of ECDSA with a hash function (RFC 5758, section 3.2; RFC 8692, section
/// 2.2; for SHA-3, NIST's register).
fn ecdsa_algorithm(hash: Hash) -> spki::Result<AlgorithmIdentifierOwned> {
    let oid = match hash {
        Hash::Sha1 => "1.2.840.10045.4.1",
        Hash::Sha224 => "1.2.840.10045.4.3.1",
        Hash::Sha256 => "1.2.840.10045.4.3.2",
        #[cfg(feature = "sha512")]
        Hash::Sha384 => "1.2.840.10045.4.3.3",
        #[cfg(feature = "sha512")]
        Hash::Sha512 => "1.2.840.10045.4.3.4",
        #[cfg(feature = "sha3")]
        Hash::Sha3_224 => "2.16.840.1.101.3.4.3.9",
        #[cfg(feature = "sha3")]
        Hash::Sha3_256 => "2.16.840.1.101.3.4.3.10",
        #[cfg(feature = "sha3")]
        Hash::Sha3_384 => "2.16.840.1.101.3.4.3.11",
        #[cfg(feature = "sha3")]
        Hash::Sha3_512 => "2.16.840.1.101.3.4.3.12",
        #[cfg(feature = "sha3")]
        Hash::Shake128 => "1.3.6.1.5.5.7.6.32",
        #[cfg(feature = "sha3")]
        Hash::Shake256 => "1.3.6.1.5.5.7.6.33",
        #[cfg(feature = "sha512")]
        Hash::Sha512_224 | Hash::Sha512_256 => return Err(spki::Error::AlgorithmParametersMissing),
    };
    Ok(AlgorithmIdentifierOwned { oid: ObjectIdentifier::new_unwrap(oid), parameters: None })
}

impl<C: Curve> DynSignatureAlgorithmIdentifier for ecdsa::SigningKey<C> {
    fn signature_algorithm_identifier(&self) -> spki::Result<AlgorithmIdentifierOwned> {
        ecdsa_algorithm(self.hash())
    }
}

impl DynSignatureAlgorithmIdentifier for nist::SigningKey {
    fn signature_algorithm_identifier(&self) -> spki::Result<AlgorithmIdentifierOwned> {
        ecdsa_algorithm(self.hash())
    }
}

/// id-Ed25519 (RFC 8410, section 3).
impl DynSignatureAlgorithmIdentifier for ed25519::SigningKey {
    fn signature_algorithm_identifier(&self) -> spki::Result<AlgorithmIdentifierOwned> {
        let oid = ObjectIdentifier::new_unwrap("1.3.101.112");
        Ok(AlgorithmIdentifierOwned { oid, parameters: None })
    }
}

/// The algorithms of RFC 8017, appendix A.2, RFC 8702, section 2, and for SHA-3 those in NIST's
/// register.
impl<F> DynSignatureAlgorithmIdentifier for rsa::SigningKey<F> {
    fn signature_algorithm_identifier(&self) -> spki::Result<AlgorithmIdentifierOwned> {
        let hash = match self.scheme() {
            rsa::SignatureScheme::Pss(pss) => {
                return Ok(AlgorithmIdentifierOwned::from_der(&rsa::pss_algorithm(pss)?)?);
            }
            rsa::SignatureScheme::Pkcs1v15(hash) => hash,
        };
        let oid = match hash {
            Hash::Sha1 => "1.2.840.113549.1.1.5",
            Hash::Sha224 => "1.2.840.113549.1.1.14",
            Hash::Sha256 => "1.2.840.113549.1.1.11",
            #[cfg(feature = "sha512")]
            Hash::Sha384 => "1.2.840.113549.1.1.12",
            #[cfg(feature = "sha512")]
            Hash::Sha512 => "1.2.840.113549.1.1.13",
            #[cfg(feature = "sha512")]
            Hash::Sha512_224 => "1.2.840.113549.1.1.15",
            #[cfg(feature = "sha512")]
            Hash::Sha512_256 => "1.2.840.113549.1.1.16",
            #[cfg(feature = "sha3")]
            Hash::Sha3_224 => "2.16.840.1.101.3.4.3.13",
            #[cfg(feature = "sha3")]
            Hash::Sha3_256 => "2.16.840.1.101.3.4.3.14",
            #[cfg(feature = "sha3")]
            Hash::Sha3_384 => "2.16.840.1.101.3.4.3.15",
            #[cfg(feature = "sha3")]
            Hash::Sha3_512 => "2.16.840.1.101.3.4.3.16",
            // A key with such a scheme cannot be made.
            #[cfg(feature = "sha3")]
            Hash::Shake128 | Hash::Shake256 => {
                return Err(spki::Error::AlgorithmParametersMissing);
            }
        };
        let oid = ObjectIdentifier::new_unwrap(oid);
        Ok(AlgorithmIdentifierOwned { oid, parameters: Some(Any::null()) })
    }
}

/// The contents of a BIT STRING: as many bits as the bytes have.
macro_rules! bit_string {
    ([$($generics:tt)*] $signature:ty, $this:ident => $bytes:expr) => {
        impl<$($generics)*> SignatureBitStringEncoding for $signature {
            fn to_bitstring(&self) -> der::Result<BitString> {
                let $this = self;
                let bytes: &[u8] = $bytes;
                BitString::from_bytes(bytes)
            }
        }
    };
}

bit_string!([C: Curve] ecdsa::DerSignature<C>, this => &this.0.to_der());
bit_string!([] nist::DerSignature, this => this.as_ref());
bit_string!([] ed25519::Signature, this => this.as_ref());
bit_string!([] rsa::Signature, this => this.as_ref());
