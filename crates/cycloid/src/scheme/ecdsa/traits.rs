//! Implementations of the traits of the crate `signature` for ECDSA.

use core::fmt;

use signature::hazmat::{PrehashSigner, PrehashVerifier};
use signature::{Keypair, MultipartSigner, MultipartVerifier, SignatureEncoding, Signer, Verifier};

use super::{Hash, Signature, SignatureBytes};
use crate::scheme::ec::{Curve, PrivateKey, PublicKey};

/// A signature that encodes as DER; [`Signature`] encodes with fixed width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerSignature<C: Curve>(pub Signature<C>);

impl<C: Curve> TryFrom<&[u8]> for Signature<C> {
    type Error = signature::Error;

    fn try_from(bytes: &[u8]) -> Result<Self, signature::Error> {
        Self::from_fixed(bytes).map_err(|_| signature::Error::new())
    }
}

impl<C: Curve> TryFrom<&[u8]> for DerSignature<C> {
    type Error = signature::Error;

    fn try_from(bytes: &[u8]) -> Result<Self, signature::Error> {
        Signature::from_der(bytes).map(Self).map_err(|_| signature::Error::new())
    }
}

impl<C: Curve> From<Signature<C>> for SignatureBytes {
    fn from(signature: Signature<C>) -> Self {
        signature.to_fixed()
    }
}

impl<C: Curve> From<DerSignature<C>> for SignatureBytes {
    fn from(DerSignature(signature): DerSignature<C>) -> Self {
        signature.to_der()
    }
}

impl<C: Curve> SignatureEncoding for Signature<C> {
    type Repr = SignatureBytes;
}

impl<C: Curve> SignatureEncoding for DerSignature<C> {
    type Repr = SignatureBytes;
}

/// A public key and the hash function of its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyingKey<C: Curve> {
    key: PublicKey<C>,
    hash: Hash,
}

impl<C: Curve> VerifyingKey<C> {
    /// Creates a key for messages hashed with `hash`.
    pub const fn new(key: PublicKey<C>, hash: Hash) -> Self {
        Self { key, hash }
    }

    /// Returns the public key alone.
    pub const fn public_key(&self) -> &PublicKey<C> {
        &self.key
    }
}

/// A private key and the hash function of its messages and nonces. Signatures equal those of
/// [`PrivateKey::sign`].
///
/// ```
/// use cycloid::scheme::Hash;
/// use cycloid::scheme::ec::{P256, PrivateKey};
/// use cycloid::scheme::ecdsa::{DerSignature, SigningKey};
/// use signature::{Keypair, Signer, Verifier};
///
/// let key = PrivateKey::<P256>::generate(&mut getrandom::SysRng)?;
/// let key = SigningKey::new(key, Hash::Sha256);
/// let signature: DerSignature<P256> = key.sign(b"message");
/// key.verifying_key().verify(b"message", &signature)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SigningKey<C: Curve> {
    key: PrivateKey<C>,
    hash: Hash,
}

impl<C: Curve> SigningKey<C> {
    /// Creates a key for messages hashed with `hash`.
    pub const fn new(key: PrivateKey<C>, hash: Hash) -> Self {
        Self { key, hash }
    }

    /// Returns the private key alone.
    pub const fn private_key(&self) -> &PrivateKey<C> {
        &self.key
    }

    /// Returns the hash function.
    pub const fn hash(&self) -> Hash {
        self.hash
    }
}

impl<C: Curve> fmt::Debug for SigningKey<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ecdsa::SigningKey({:?})", self.verifying_key())
    }
}

impl<C: Curve> Keypair for SigningKey<C> {
    type VerifyingKey = VerifyingKey<C>;

    fn verifying_key(&self) -> VerifyingKey<C> {
        VerifyingKey { key: *self.key.public_key(), hash: self.hash }
    }
}

/// Implements the traits for one encoding, given as a pattern around the signature.
macro_rules! traits {
    ($encoding:ident, $inner:ident in $pattern:pat, $wrapped:expr) => {
        /// Accepts digests of any length.
        impl<C: Curve> PrehashSigner<$encoding<C>> for SigningKey<C> {
            fn sign_prehash(&self, digest: &[u8]) -> Result<$encoding<C>, signature::Error> {
                let $inner = self.key.sign_prehashed(self.hash, digest);
                Ok($wrapped)
            }
        }

        impl<C: Curve> MultipartSigner<$encoding<C>> for SigningKey<C> {
            fn try_multipart_sign(
                &self,
                message: &[&[u8]],
            ) -> Result<$encoding<C>, signature::Error> {
                self.sign_prehash(&self.hash.digest(message))
            }
        }

        impl<C: Curve> Signer<$encoding<C>> for SigningKey<C> {
            fn try_sign(&self, message: &[u8]) -> Result<$encoding<C>, signature::Error> {
                self.try_multipart_sign(&[message])
            }
        }

        /// Accepts digests of any length.
        impl<C: Curve> PrehashVerifier<$encoding<C>> for VerifyingKey<C> {
            fn verify_prehash(
                &self,
                digest: &[u8],
                signature: &$encoding<C>,
            ) -> Result<(), signature::Error> {
                let $pattern = signature;
                let outcome = self.key.verify_prehashed(digest, $inner);
                outcome.map_err(|_| signature::Error::new())
            }
        }

        impl<C: Curve> MultipartVerifier<$encoding<C>> for VerifyingKey<C> {
            fn multipart_verify(
                &self,
                message: &[&[u8]],
                signature: &$encoding<C>,
            ) -> Result<(), signature::Error> {
                self.verify_prehash(&self.hash.digest(message), signature)
            }
        }

        impl<C: Curve> Verifier<$encoding<C>> for VerifyingKey<C> {
            fn verify(
                &self,
                message: &[u8],
                signature: &$encoding<C>,
            ) -> Result<(), signature::Error> {
                self.multipart_verify(&[message], signature)
            }
        }
    };
}

traits!(Signature, inner in inner, inner);
traits!(DerSignature, inner in DerSignature(inner), DerSignature(inner));
