//! Implementations of the traits of the crate `signature` 2, as of those of version 3.

use rand_core::CryptoRng;
use signature_2::hazmat::{PrehashSigner, PrehashVerifier};
use signature_2::{Error, Keypair, SignatureEncoding, Signer, Verifier};

use super::ec::Curve;
use super::{ecdsa, ed25519, nist, rsa};

/// The errors of both versions say nothing.
fn error(_: signature::Error) -> Error {
    Error::new()
}

/// Implements the traits for a key pair and its signatures, encoded as `$repr`.
macro_rules! signatures {
    ($([$($generics:tt)*] $signing:ty, [$($on:tt)*] $verifying:ty, $signature:ty = $repr:ty;)*) => {$(
        impl<$($on)*> SignatureEncoding for $signature {
            type Repr = $repr;
        }

        impl<$($generics)*> Signer<$signature> for $signing {
            fn try_sign(&self, message: &[u8]) -> Result<$signature, Error> {
                signature::Signer::<$signature>::try_sign(self, message).map_err(error)
            }
        }

        impl<$($on)*> Verifier<$signature> for $verifying {
            fn verify(&self, message: &[u8], signature: &$signature) -> Result<(), Error> {
                signature::Verifier::verify(self, message, signature).map_err(error)
            }
        }
    )*};
}

/// Likewise for keys that take digests.
macro_rules! prehashed {
    ($([$($generics:tt)*] $signing:ty, [$($on:tt)*] $verifying:ty, $signature:ty;)*) => {$(
        impl<$($generics)*> PrehashSigner<$signature> for $signing {
            fn sign_prehash(&self, digest: &[u8]) -> Result<$signature, Error> {
                signature::hazmat::PrehashSigner::<$signature>::sign_prehash(self, digest)
                    .map_err(error)
            }
        }

        impl<$($on)*> PrehashVerifier<$signature> for $verifying {
            fn verify_prehash(&self, digest: &[u8], signature: &$signature) -> Result<(), Error> {
                signature::hazmat::PrehashVerifier::verify_prehash(self, digest, signature)
                    .map_err(error)
            }
        }
    )*};
}

/// Implements the trait that names the verifying key.
macro_rules! key_pairs {
    ($([$($generics:tt)*] $signing:ty, $verifying:ty;)*) => {
        $(impl<$($generics)*> Keypair for $signing {
            type VerifyingKey = $verifying;

            fn verifying_key(&self) -> $verifying {
                signature::Keypair::verifying_key(self)
            }
        })*
    };
}

key_pairs! {
    [C: Curve] ecdsa::SigningKey<C>, ecdsa::VerifyingKey<C>;
    [] nist::SigningKey, nist::VerifyingKey;
    [] ed25519::SigningKey, ed25519::VerifyingKey;
    [F] rsa::SigningKey<F>, rsa::VerifyingKey;
}

signatures! {
    [C: Curve] ecdsa::SigningKey<C>, [C: Curve] ecdsa::VerifyingKey<C>,
        ecdsa::Signature<C> = ecdsa::SignatureBytes;
    [C: Curve] ecdsa::SigningKey<C>, [C: Curve] ecdsa::VerifyingKey<C>,
        ecdsa::DerSignature<C> = ecdsa::SignatureBytes;
    [] nist::SigningKey, [] nist::VerifyingKey, nist::DerSignature = ecdsa::SignatureBytes;
    [] ed25519::SigningKey, [] ed25519::VerifyingKey, ed25519::Signature = [u8; 64];
    [F: Fn() -> R, R: CryptoRng] rsa::SigningKey<F>, [] rsa::VerifyingKey,
        rsa::Signature = rsa::Signature;
}

prehashed! {
    [C: Curve] ecdsa::SigningKey<C>, [C: Curve] ecdsa::VerifyingKey<C>, ecdsa::Signature<C>;
    [C: Curve] ecdsa::SigningKey<C>, [C: Curve] ecdsa::VerifyingKey<C>, ecdsa::DerSignature<C>;
    [] nist::SigningKey, [] nist::VerifyingKey, nist::DerSignature;
    [F: Fn() -> R, R: CryptoRng] rsa::SigningKey<F>, [] rsa::VerifyingKey, rsa::Signature;
}
