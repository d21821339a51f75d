//! Signature verification, for certificates and for handshakes.

use std::fmt;
use std::marker::PhantomData;

use aws_lc_rs::digest;
#[cfg(feature = "post-quantum")]
use aws_lc_rs::signature;
use cycloid::scheme::ec::{Curve, P256, P384, P521, PublicKey};
use cycloid::scheme::ecdsa::Signature;
use cycloid::scheme::rsa;
use cycloid::scheme::{Hash, ed25519};
use rustls::SignatureScheme;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id,
};

use crate::frequent_keys::HasFrequent;

macro_rules! algorithms {
    ($(#[$doc:meta])* $name:ident $remembers:literal) => {
        $(#[$doc])*
        pub static $name: WebPkiSupportedAlgorithms = {
            const ECDSA_P256_SHA256: Algorithm = &Ecdsa::<P256>::new(Hash::Sha256, $remembers);
            const ECDSA_P256_SHA384: Algorithm = &Ecdsa::<P256>::new(Hash::Sha384, $remembers);
            const ECDSA_P256_SHA512: Algorithm = &Ecdsa::<P256>::new(Hash::Sha512, $remembers);
            const ECDSA_P384_SHA256: Algorithm = &Ecdsa::<P384>::new(Hash::Sha256, $remembers);
            const ECDSA_P384_SHA384: Algorithm = &Ecdsa::<P384>::new(Hash::Sha384, $remembers);
            const ECDSA_P384_SHA512: Algorithm = &Ecdsa::<P384>::new(Hash::Sha512, $remembers);
            const ECDSA_P521_SHA256: Algorithm = &Ecdsa::<P521>::new(Hash::Sha256, $remembers);
            const ECDSA_P521_SHA384: Algorithm = &Ecdsa::<P521>::new(Hash::Sha384, $remembers);
            const ECDSA_P521_SHA512: Algorithm = &Ecdsa::<P521>::new(Hash::Sha512, $remembers);
            WebPkiSupportedAlgorithms {
                all: &[
                    ECDSA_P256_SHA256,
                    ECDSA_P256_SHA384,
                    ECDSA_P256_SHA512,
                    ECDSA_P384_SHA256,
                    ECDSA_P384_SHA384,
                    ECDSA_P384_SHA512,
                    ECDSA_P521_SHA256,
                    ECDSA_P521_SHA384,
                    ECDSA_P521_SHA512,
                    ED25519,
                    RSA_PSS_SHA256,
                    RSA_PSS_SHA384,
                    RSA_PSS_SHA512,
                    RSA_PKCS1_SHA256,
                    RSA_PKCS1_SHA384,
                    RSA_PKCS1_SHA512,
                    RSA_PKCS1_SHA256_WITHOUT_PARAMETERS,
                    RSA_PKCS1_SHA384_WITHOUT_PARAMETERS,
                    RSA_PKCS1_SHA512_WITHOUT_PARAMETERS,
                    #[cfg(feature = "post-quantum")]
                    ML_DSA_44,
                    #[cfg(feature = "post-quantum")]
                    ML_DSA_65,
                    #[cfg(feature = "post-quantum")]
                    ML_DSA_87,
                ],
                // In rustls's order: a client offers them in it.
                mapping: &[
                    (
                        SignatureScheme::ECDSA_NISTP384_SHA384,
                        &[ECDSA_P384_SHA384, ECDSA_P256_SHA384, ECDSA_P521_SHA384],
                    ),
                    (
                        SignatureScheme::ECDSA_NISTP256_SHA256,
                        &[ECDSA_P256_SHA256, ECDSA_P384_SHA256, ECDSA_P521_SHA256],
                    ),
                    (
                        SignatureScheme::ECDSA_NISTP521_SHA512,
                        &[ECDSA_P521_SHA512, ECDSA_P384_SHA512, ECDSA_P256_SHA512],
                    ),
                    (SignatureScheme::ED25519, &[ED25519]),
                    (SignatureScheme::RSA_PSS_SHA512, &[RSA_PSS_SHA512]),
                    (SignatureScheme::RSA_PSS_SHA384, &[RSA_PSS_SHA384]),
                    (SignatureScheme::RSA_PSS_SHA256, &[RSA_PSS_SHA256]),
                    (SignatureScheme::RSA_PKCS1_SHA512, &[RSA_PKCS1_SHA512]),
                    (SignatureScheme::RSA_PKCS1_SHA384, &[RSA_PKCS1_SHA384]),
                    (SignatureScheme::RSA_PKCS1_SHA256, &[RSA_PKCS1_SHA256]),
                    #[cfg(feature = "post-quantum")]
                    (SignatureScheme::ML_DSA_44, &[ML_DSA_44]),
                    #[cfg(feature = "post-quantum")]
                    (SignatureScheme::ML_DSA_65, &[ML_DSA_65]),
                    #[cfg(feature = "post-quantum")]
                    (SignatureScheme::ML_DSA_87, &[ML_DSA_87]),
                ],
            }
        };
    };
}

algorithms! {
    /// All algorithms, and their mapping from the signature schemes of TLS: an ECDSA scheme means
    /// any curve in TLS 1.2, and the first one in TLS 1.3. Frequently used keys on NIST curves are
    /// prepared.
    VERIFICATION_ALGORITHMS true
}

algorithms! {
    /// The same without a cache of keys.
    VERIFICATION_ALGORITHMS_WITHOUT_MEMORY false
}

type Algorithm = &'static dyn SignatureVerificationAlgorithm;

const ED25519: Algorithm = &Ed25519;

const RSA_PSS_SHA256: Algorithm = &Rsa::pss(Hash::Sha256, alg_id::RSA_PSS_SHA256);
const RSA_PSS_SHA384: Algorithm = &Rsa::pss(Hash::Sha384, alg_id::RSA_PSS_SHA384);
const RSA_PSS_SHA512: Algorithm = &Rsa::pss(Hash::Sha512, alg_id::RSA_PSS_SHA512);
const RSA_PKCS1_SHA256: Algorithm = &Rsa::pkcs1(Hash::Sha256, alg_id::RSA_PKCS1_SHA256);
const RSA_PKCS1_SHA384: Algorithm = &Rsa::pkcs1(Hash::Sha384, alg_id::RSA_PKCS1_SHA384);
const RSA_PKCS1_SHA512: Algorithm = &Rsa::pkcs1(Hash::Sha512, alg_id::RSA_PKCS1_SHA512);

// Some certificates omit the parameters, which should be NULL; both forms must be accepted (RFC
// 4055, section 5).
const RSA_PKCS1_SHA256_WITHOUT_PARAMETERS: Algorithm =
    &Rsa::pkcs1(Hash::Sha256, without_parameters(&[0x06, 9, 42, 134, 72, 134, 247, 13, 1, 1, 11]));
const RSA_PKCS1_SHA384_WITHOUT_PARAMETERS: Algorithm =
    &Rsa::pkcs1(Hash::Sha384, without_parameters(&[0x06, 9, 42, 134, 72, 134, 247, 13, 1, 1, 12]));
const RSA_PKCS1_SHA512_WITHOUT_PARAMETERS: Algorithm =
    &Rsa::pkcs1(Hash::Sha512, without_parameters(&[0x06, 9, 42, 134, 72, 134, 247, 13, 1, 1, 13]));

#[cfg(feature = "post-quantum")]
const ML_DSA_44: Algorithm = &MlDsa { verification: &signature::ML_DSA_44, id: alg_id::ML_DSA_44 };
#[cfg(feature = "post-quantum")]
const ML_DSA_65: Algorithm = &MlDsa { verification: &signature::ML_DSA_65, id: alg_id::ML_DSA_65 };
#[cfg(feature = "post-quantum")]
const ML_DSA_87: Algorithm = &MlDsa { verification: &signature::ML_DSA_87, id: alg_id::ML_DSA_87 };

/// Returns an algorithm identifier that consists only of its OBJECT IDENTIFIER in DER.
const fn without_parameters(identifier: &'static [u8]) -> AlgorithmIdentifier {
    AlgorithmIdentifier::from_slice(identifier)
}

/// Returns the digest of a message.
pub(crate) fn digest(hash: Hash, message: &[u8]) -> digest::Digest {
    let algorithm = match hash {
        Hash::Sha384 => &digest::SHA384,
        Hash::Sha512 => &digest::SHA512,
        _ => &digest::SHA256,
    };
    digest::digest(algorithm, message)
}

/// ECDSA on a curve with a hash function.
struct Ecdsa<C> {
    hash: Hash,
    /// Whether frequently used keys are prepared.
    remembers: bool,
    curve: PhantomData<C>,
}

impl<C> Ecdsa<C> {
    const fn new(hash: Hash, remembers: bool) -> Self {
        Self { hash, remembers, curve: PhantomData }
    }
}

impl<C: HasFrequent> SignatureVerificationAlgorithm for Ecdsa<C> {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key = PublicKey::<C>::from_sec1(public_key).map_err(|_| InvalidSignature)?;
        let signature = Signature::from_der(signature).map_err(|_| InvalidSignature)?;
        let digest = digest(self.hash, message);
        let frequent = self.remembers.then(C::frequent);
        match frequent.and_then(|frequent| frequent.prepared(&key)) {
            Some(prepared) => prepared.verify_prehashed(digest.as_ref(), &signature),
            None => key.verify_prehashed(digest.as_ref(), &signature),
        }
        .map_err(|_| InvalidSignature)?;
        if let Some(frequent) = frequent {
            frequent.verified(&key);
        }
        Ok(())
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        C::ALGORITHM
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        match self.hash {
            Hash::Sha384 => alg_id::ECDSA_SHA384,
            Hash::Sha512 => alg_id::ECDSA_SHA512,
            _ => alg_id::ECDSA_SHA256,
        }
    }
}

impl<C: Curve> fmt::Debug for Ecdsa<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cycloid ECDSA on {} with {:?}", C::NAME, self.hash)
    }
}

struct Ed25519;

impl SignatureVerificationAlgorithm for Ed25519 {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key = public_key.try_into().map_err(|_| InvalidSignature)?;
        let signature = signature.try_into().map_err(|_| InvalidSignature)?;
        let key = ed25519::VerifyingKey::new(key).map_err(|_| InvalidSignature)?;
        key.verify(message, signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ED25519
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ED25519
    }
}

impl fmt::Debug for Ed25519 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cycloid Ed25519")
    }
}

/// RSA with a hash function, and keys of 2048 to 8192 bits.
struct Rsa {
    hash: Hash,
    is_pss: bool,
    signature: AlgorithmIdentifier,
}

impl Rsa {
    /// PSS with a salt as long as the digest (RFC 8446, section 4.2.3).
    const fn pss(hash: Hash, signature: AlgorithmIdentifier) -> Self {
        Self { hash, is_pss: true, signature }
    }

    const fn pkcs1(hash: Hash, signature: AlgorithmIdentifier) -> Self {
        Self { hash, is_pss: false, signature }
    }
}

/// The shortest RSA key in a certificate, in bits. The library also takes keys of 2041 bits.
const MIN_BITS: usize = 2048;

/// The longest RSA key in a certificate, in bits. The stack holds it and its scratch.
const MAX_BITS: usize = 8192;

/// Limbs of scratch for reading a key and verifying a signature.
const SCRATCH: usize = {
    let (reading, verifying) =
        (rsa::der_scratch_limbs(MAX_BITS), rsa::verify_scratch_limbs(MAX_BITS));
    if reading > verifying { reading } else { verifying }
};

impl SignatureVerificationAlgorithm for Rsa {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let mut scratch = [0; SCRATCH];
        let memory = [0; rsa::public_key_limbs(MAX_BITS)];
        let key = rsa::PublicKey::from_pkcs1_der(public_key, memory, &mut scratch)
            .map_err(|_| InvalidSignature)?;
        if key.bits() < MIN_BITS {
            return Err(InvalidSignature);
        }
        let digest = digest(self.hash, message);
        let digest = digest.as_ref();
        let outcome = if self.is_pss {
            let salt = Some(self.hash.digest_length());
            key.verify_pss_prehashed(self.hash, digest, salt, signature, &mut scratch)
        } else {
            key.verify_pkcs1v15_prehashed(self.hash, digest, signature, &mut scratch)
        };
        outcome.map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::RSA_ENCRYPTION
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.signature
    }
}

impl fmt::Debug for Rsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let padding = if self.is_pss { "PSS" } else { "PKCS #1 v1.5" };
        write!(f, "Cycloid RSA {padding} with {:?}", self.hash)
    }
}

/// ML-DSA (FIPS 204), computed by AWS-LC.
#[cfg(feature = "post-quantum")]
struct MlDsa {
    verification: &'static dyn signature::VerificationAlgorithm,
    id: AlgorithmIdentifier,
}

#[cfg(feature = "post-quantum")]
impl SignatureVerificationAlgorithm for MlDsa {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        signature::UnparsedPublicKey::new(self.verification, public_key)
            .verify(message, signature)
            .map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.id
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.id
    }
}

#[cfg(feature = "post-quantum")]
impl fmt::Debug for MlDsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AWS-LC {:?}", self.verification)
    }
}

#[cfg(test)]
mod tests {
    use cycloid::scheme::ec::PrivateKey;

    use super::*;

    /// Checks that valid signatures, and no others, are accepted however often a key was used.
    fn many<C: HasFrequent>(hash: Hash) {
        let mut bytes = vec![7; C::BYTES];
        bytes[0] = 0;
        let key = PrivateKey::<C>::from_bytes(&bytes).unwrap();
        let public = key.public_key().to_uncompressed();
        let prepared = || C::frequent().prepared(key.public_key()).is_some();
        for remembers in [false, true] {
            let algorithm = Ecdsa::<C>::new(hash, remembers);
            for number in 0..20_u8 {
                let message = [number; 40];
                let signature = key.sign_prehashed(hash, digest(hash, &message).as_ref()).to_der();
                let verify = |public: &[u8], message: &[u8], signature: &[u8]| {
                    algorithm.verify_signature(public, message, signature).is_ok()
                };
                assert!(verify(&public, &message, &signature));
                assert!(!verify(&public, &[number; 41], &signature));
                assert!(!verify(&public[1..], &message, &signature));
                assert!(!verify(&public, &message, &signature[1..]));
            }
            assert_eq!(prepared(), remembers);
        }
    }

    #[test]
    fn frequently_used_keys_verify_correctly() {
        many::<P256>(Hash::Sha256);
        many::<P384>(Hash::Sha384);
        many::<P521>(Hash::Sha512);
    }

    /// The two tables differ only in the cache.
    #[test]
    fn both_tables_have_the_same_algorithms() {
        let [one, other] = [&VERIFICATION_ALGORITHMS, &VERIFICATION_ALGORITHMS_WITHOUT_MEMORY];
        assert_eq!(std::format!("{one:?}"), std::format!("{other:?}"));
        assert_eq!(one.all.len(), if cfg!(feature = "post-quantum") { 22 } else { 19 });
    }
}
