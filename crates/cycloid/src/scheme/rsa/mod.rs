//! RSA: signatures and encryption (RFC 8017), with keys of 2041 to 16384 bits.
//!
//! With the feature `alloc`, a [`KeyPair`] owns its key and all working memory, and any number of
//! threads use it.
//!
//! Without a heap, a key lives in memory of the caller's choice, such as an array of limbs;
//! [`public_key_limbs`] and [`private_key_limbs`] return the sizes. A key is checked once, when it
//! is made. A private key is wiped when it is dropped. Private operations go through a [`Context`],
//! one per thread, which holds the blinding and all working memory; more memory makes it faster
//! ([`context_limbs`], [`minimum_context_limbs`]). A [`Batch`] runs many private operations, and
//! [`verify_batch`] many verifications, eight side by side.
//!
//! **Time.** A private operation is blinded with a random number from the context and computed in
//! constant time by the Chinese remainder theorem. Before the result is released, it is raised to
//! the public exponent and compared with the input. The bit lengths of the modulus and of the
//! primes, and the public exponent, are public.
//!
//! ```
//! # use cycloid::scheme::{Hash, rsa::{self, Context, PrivateKey, PublicKey}};
//! # fn example(rng: &mut impl rand_core::CryptoRng) -> Result<(), rsa::Error> {
//! const BITS: usize = 2048;
//! let mut scratch = [0; rsa::generate_scratch_limbs(BITS)];
//! let memory = [0; rsa::private_key_limbs(BITS)];
//! let key = PrivateKey::generate(BITS, 65537, memory, rng, &mut scratch)?;
//!
//! let mut context = [0; rsa::context_limbs(BITS)];
//! let mut context = Context::new(&key, rng, &mut context)?;
//! let mut signature = [0; BITS / 8];
//! context.sign_pkcs1v15(Hash::Sha256, b"message", &mut signature)?;
//!
//! let mut scratch = [0; rsa::verify_scratch_limbs(BITS)];
//! key.public().verify_pkcs1v15(Hash::Sha256, b"message", &signature, &mut scratch)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Forms of keys
//!
//! Moduli have from [`MIN_BITS`] to [`MAX_BITS`] bits, and public exponents are odd, at least 3 and
//! have up to 64 bits. [`PrivateComponents`] may miss parts, such as everything but n, e and d.
//! Primes of unequal lengths and three to five primes are for keys made elsewhere: they are checked
//! and written like others, but operations compute modulo n, which takes about three times as long.
//!
//! # Hash functions
//!
//! A [`Hash`](enum@Hash) is chosen at run time. PKCS #1 v1.5 also signs digests by any other
//! function of the trait `Digest` that has an identifier: [`DigestInfo`]. RSASSA-PSS and OAEP take
//! any other function as a [`HashFunction`], except in [`SignatureScheme`] and [`VerifyJob`].
//!
//! # Encryption
//!
//! A public key encrypts with OAEP, or with PKCS #1 v1.5 if a protocol requires it; a context
//! decrypts. With OAEP, an invalid ciphertext is an error that does not say what is wrong with it.
//! With PKCS #1 v1.5 it is not an error, because attackers exploit such errors (Bleichenbacher,
//! 1998). Decryption returns a synthetic message instead, always the same for the same ciphertext.
//!
//! ```
//! # #[cfg(feature = "encoding")] {
//! use cycloid::scheme::Hash;
//! use cycloid::scheme::rsa::{self, Context, Error, Oaep, PrivateKey};
//! use getrandom::SysRng;
//! use rand_core::UnwrapErr;
//! # let pem = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rsa/2048.pem"));
//!
//! const BITS: usize = 2048;
//! let mut rng = UnwrapErr(SysRng);
//! let memory = [0; rsa::private_key_limbs(BITS)];
//! let key = PrivateKey::from_pem(pem, memory, &mut [0; rsa::pem_scratch_limbs(BITS)])?;
//! let mut ciphertext = [0; BITS / 8];
//! let mut scratch = [0; rsa::encrypt_scratch_limbs(BITS)];
//! let mut context = [0; rsa::context_limbs(BITS)];
//! let mut context = Context::new(&key, UnwrapErr(SysRng), &mut context)?;
//! let mut output = [0; BITS / 8];
//!
//! let oaep = Oaep { label: b"session 7", ..Oaep::new(Hash::Sha256) };
//! key.public().encrypt_oaep(&oaep, b"a key", &mut rng, &mut ciphertext, &mut scratch)?;
//! let length = context.decrypt_oaep(&oaep, &ciphertext, &mut output)?;
//! assert_eq!(&output[..length], b"a key");
//! let other = Oaep { label: b"session 8", ..oaep };
//! assert_eq!(context.decrypt_oaep(&other, &ciphertext, &mut output), Err(Error::Decryption));
//!
//! key.public().encrypt_pkcs1v15(b"a key", &mut rng, &mut ciphertext, &mut scratch)?;
//! let length = context.decrypt_pkcs1v15(&ciphertext, &mut output)?;
//! assert_eq!(&output[..length], b"a key");
//! ciphertext[100] ^= 1;
//! let length = context.decrypt_pkcs1v15(&ciphertext, &mut output)?;
//! assert_ne!(&output[..length], b"a key");
//! # }
//! # Ok::<(), cycloid::scheme::rsa::Error>(())
//! ```
//!
//! # Keys in files
//!
//! With the feature `encoding`, which is on by default, keys are read from and written to PKCS #1,
//! PKCS #8 and SubjectPublicKeyInfo, in DER and in PEM. This needs no heap either: PEM is decoded
//! into the scratch, which is wiped, and a key is written to the caller's buffer. `from_pem` and
//! `from_der` accept every format; functions such as `from_pkcs8_pem` accept one. Encrypted keys
//! are refused with an error of their own. A key for RSASSA-PSS only (id-RSASSA-PSS, with or
//! without parameters) stays restricted: its [`Restriction`] is part of the key and is written with
//! it.
//!
//! ```
//! # #[cfg(feature = "encoding")] {
//! use cycloid::scheme::rsa::{self, MAX_BITS, PrivateKey, PublicKey};
//!
//! # let pem = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rsa/2048.pem"));
//! // Memory for a key of any length, since the length is not known in advance.
//! let memory = [0; rsa::private_key_limbs(MAX_BITS)];
//! let mut scratch = [0; rsa::pem_scratch_limbs(MAX_BITS)];
//! let key = PrivateKey::from_pem(pem, memory, &mut scratch)?;
//!
//! let mut text = [0; rsa::private_key_pem_length(MAX_BITS)];
//! let written = key.to_pkcs8_pem(&mut text)?;
//! assert_eq!(written, pem);
//!
//! let mut der = [0; rsa::public_key_der_length(MAX_BITS)];
//! let der = key.public().to_spki_der(&mut der)?;
//! let memory = [0; rsa::public_key_limbs(MAX_BITS)];
//! let public = PublicKey::from_spki_der(der, memory, &mut scratch)?;
//! assert_eq!(public.modulus_limbs(), key.public().modulus_limbs());
//! # }
//! # Ok::<(), cycloid::scheme::rsa::Error>(())
//! ```
//!
//! The output of these functions contains the key: the caller wipes it after use.
//!
//! # The traits of `signature`
//!
//! With the feature `signature`, a `SigningKey` around a key pair and a `VerifyingKey` around a
//! public key implement the traits of the crate `signature`.

mod batch;
mod blinding;
mod complete;
mod components;
mod context;
mod digest_info;
mod eight;
#[cfg(feature = "encoding")]
mod encoding;
mod error;
mod factors;
mod generate;
mod hash_function;
#[cfg(feature = "alloc")]
mod key_pair;
#[cfg(feature = "alloc")]
mod legacy;
mod length;
mod memory;
mod numbers;
mod oaep;
mod operation;
#[cfg(feature = "alloc")]
mod owned_public_key;
mod padding;
mod parameters;
mod pkcs1v15;
mod pkcs1v15_encryption;
mod private;
mod pss;
mod public;
#[cfg(feature = "hazardous")]
mod raw;
mod restriction;
mod signature;
mod signature_scheme;
mod step;
#[cfg(test)]
mod stuck_generators;
#[cfg(test)]
mod tests;
#[cfg(feature = "signature")]
mod traits;
mod verification;
#[cfg(feature = "hazardous")]
mod weak;

#[cfg(feature = "encoding")]
pub use super::FormatError;
pub use batch::{Batch, Job, batch_limbs};
pub use components::{OtherPrime, PrivateComponents};
pub use context::{Context, context_limbs, minimum_context_limbs};
pub use digest_info::DigestInfo;
#[cfg(feature = "pkcs8")]
pub(super) use encoding::pss_algorithm;
#[cfg(feature = "encoding")]
pub use encoding::{
    der_scratch_limbs, pem_scratch_limbs, private_key_der_length, private_key_pem_length,
    public_key_der_length, public_key_pem_length,
};
pub use error::{Error, KeyError};
pub use generate::generate_scratch_limbs;
pub use hash_function::HashFunction;
#[cfg(feature = "alloc")]
pub use key_pair::KeyPair;
#[cfg(feature = "alloc")]
pub use legacy::LegacyPublicKey;
pub use length::{MAX_BITS, MIN_BITS};
#[cfg(feature = "alloc")]
pub use owned_public_key::OwnedPublicKey;
pub use parameters::{Oaep, Pss};
pub use private::{
    PrivateKey, any_private_key_scratch_limbs, check_primes_scratch_limbs, private_key_limbs,
    private_key_scratch_limbs,
};
pub use public::{PublicKey, encrypt_scratch_limbs, public_key_limbs, verify_scratch_limbs};
pub use restriction::Restriction;
pub use signature::Signature;
pub use signature_scheme::SignatureScheme;
pub use step::Step;
#[cfg(feature = "signature")]
pub use traits::{SigningKey, VerifyingKey};
#[cfg(feature = "internals")]
pub use verification::verify_batch_with;
pub use verification::{VerifyJob, verify_batch, verify_batch_scratch_limbs};

use super::Hash;
use length::{limbs, prime_limbs};
use memory::checked_memory;
