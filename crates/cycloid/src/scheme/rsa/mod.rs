//! RSA: signatures and encryption (RFC 8017), with keys of 2048 to 8192 bits.
//!
//! A key lives in memory of the caller's choice, such as an array or a boxed slice of limbs;
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
//! let mut scratch = [cycloid::machine::lanes::Lanes([0; 8]); rsa::generate_scratch_lanes(BITS)];
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
//! and keys with three primes are refused, each with an error of its own. A key for RSASSA-PSS only
//! (id-RSASSA-PSS, with or without parameters) stays restricted: its [`Restriction`] is part of the
//! key and is written with it.
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
//! With the feature `signature`, a `SigningKey` around a context and a `VerifyingKey` around a
//! public key implement the traits of the crate `signature`.

mod batch;
mod blinding;
mod context;
mod eight;
#[cfg(feature = "encoding")]
mod encoding;
mod generate;
mod oaep;
mod operation;
mod pkcs1v15;
mod pkcs1v15_encryption;
mod private;
mod pss;
mod public;
#[cfg(feature = "hazardous")]
mod raw;
mod restriction;
mod step;
#[cfg(test)]
mod stuck_generators;
#[cfg(test)]
mod tests;
#[cfg(feature = "signature")]
mod traits;
mod verification;

pub use batch::{Batch, Job, batch_lanes};
pub use context::{Context, context_limbs, minimum_context_limbs};
#[cfg(feature = "encoding")]
pub use encoding::{
    der_scratch_limbs, pem_scratch_limbs, private_key_der_length, private_key_pem_length,
    public_key_der_length, public_key_pem_length,
};
pub use generate::generate_scratch_lanes;
pub use oaep::Oaep;
pub use private::{PrivateComponents, PrivateKey, check_primes_scratch_limbs, private_key_limbs};
pub use pss::Pss;
pub use public::{PublicKey, encrypt_scratch_limbs, public_key_limbs, verify_scratch_limbs};
pub use restriction::Restriction;
pub use step::Step;
#[cfg(feature = "signature")]
pub use traits::{Signature, SigningKey, VerifyingKey};
pub use verification::{Verification, verify_batch, verify_batch_scratch_lanes, verify_batch_with};

use super::{Hash, random};
use crate::machine::words::{LIMB_BITS, LIMB_BYTES};
use crate::math::modular;

/// The shortest modulus that a key may have, in bits.
pub const MIN_BITS: usize = 2048;

/// The longest modulus that a key may have, in bits.
pub const MAX_BITS: usize = 8192;

/// Why an RSA operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The modulus has fewer than [`MIN_BITS`] bits or more than [`MAX_BITS`].
    ModulusLength {
        /// Its bits.
        bits: usize,
    },
    /// The modulus, or a prime, is even.
    Even,
    /// The public exponent is even, below 3, or has more than 32 bits.
    PublicExponent,
    /// The primes differ in length, are equal, or are too close to each other.
    Primes,
    /// The product of the primes is not the modulus.
    Product,
    /// The private exponent, one of its residues or the coefficient does not match the primes and
    /// the public exponent.
    PrivateExponent,
    /// The modulus has the fingerprint of keys that are easily factored (ROCA, CVE-2017-15361).
    Fingerprint,
    /// The memory for a key, a context or the scratch is too small.
    MemoryTooSmall {
        /// Limbs needed.
        needed: usize,
        /// Limbs given.
        given: usize,
    },
    /// The buffer or the input is not as long as the modulus, in bytes.
    Length {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The output is too small for the key, or for the longest message that the ciphertext may
    /// hold.
    OutputTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The bytes are not a key of this format in DER: they are truncated, have trailing data,
    /// encode a length or a number in more bytes than necessary, or contain a negative number.
    Der,
    /// The text holds no PEM (RFC 7468), or its base64 is invalid.
    Pem,
    /// The text is PEM, but no label matches this kind of key.
    PemLabel,
    /// The private key is encrypted with a password; decrypt it elsewhere first.
    Encrypted,
    /// The file holds a public key, but a private key is required.
    IsPublicKey,
    /// The key is for an algorithm other than RSA.
    Algorithm,
    /// The algorithm's parameters are not NULL, as RFC 8017, appendix A.1, requires.
    Parameters,
    /// The parameters of RSASSA-PSS (RFC 4055, section 3.1) are malformed, or have an unsupported
    /// hash function, mask or trailer.
    PssParameters,
    /// The key is for RSASSA-PSS signatures only, and another operation was requested.
    Restricted,
    /// The key is for RSASSA-PSS signatures with other parameters only.
    RestrictedPss {
        /// Its parameters; the salt may be longer.
        allowed: Pss,
    },
    /// The private key has more than two primes, which is not supported.
    MultiPrime,
    /// A factor of the modulus is composite.
    Composite,
    /// The random generator repeats itself, or gave no usable number in more tries than a sound one
    /// ever needs.
    RandomGenerator,
    /// The public key stored with the private key (RFC 5958) does not match it.
    PublicKey,
    /// The digest's length is not that of the hash function.
    DigestLength,
    /// The hash function is for verification only.
    HashRetired,
    /// The modulus is too short for the hash function and the salt.
    SaltTooLong,
    /// The batch is for keys of another length.
    KeyLength {
        /// The length of the batch's moduli in bits.
        needed: usize,
        /// The length of the key's modulus in bits.
        given: usize,
    },
    /// The job has not been run yet.
    NotDone,
    /// The input, as a number, is not less than the modulus.
    OutOfRange,
    /// The signature is not valid for this message and key.
    Signature,
    /// The message is too long for the modulus and the padding.
    MessageTooLong {
        /// The longest message, in bytes.
        longest: usize,
        /// Bytes given.
        given: usize,
    },
    /// The ciphertext is not valid for this key and these parameters. The reason is not revealed.
    Decryption,
    /// The result failed its check: a hardware fault. Nothing was released.
    Fault,
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::ModulusLength { bits } => {
                write!(f, "a modulus of {bits} bits is not between {MIN_BITS} and {MAX_BITS}")
            }
            Self::Even => f.write_str("the modulus or a prime is even"),
            Self::PublicExponent => {
                f.write_str("the public exponent is even, below 3 or longer than 32 bits")
            }
            Self::Primes => f.write_str("the primes are equal, too close or of different lengths"),
            Self::Product => f.write_str("the product of the primes is not the modulus"),
            Self::PrivateExponent => {
                f.write_str("the private exponents or the coefficient do not match the primes")
            }
            Self::Fingerprint => f.write_str("the modulus is easily factored (ROCA)"),
            Self::MemoryTooSmall { needed, given } => {
                write!(f, "the memory has {given} limbs, but {needed} are needed")
            }
            Self::Length { needed, given } => {
                write!(f, "the buffer or input has {given} bytes, but the modulus has {needed}")
            }
            Self::OutputTooSmall { needed, given } => {
                write!(f, "the output has {given} bytes, but {needed} are needed")
            }
            Self::Der => f.write_str("the DER is not an RSA key in this format"),
            Self::Pem => f.write_str("the text is not PEM, or its base64 is wrong"),
            Self::PemLabel => f.write_str("no PEM label matches this kind of RSA key"),
            Self::IsPublicKey => f.write_str("the file holds a public key, not a private one"),
            Self::Encrypted => f.write_str("the private key is encrypted with a password"),
            Self::Algorithm => f.write_str("the key is not an RSA key"),
            Self::Parameters => f.write_str("the algorithm parameters are not NULL"),
            Self::PssParameters => {
                f.write_str("the parameters of RSASSA-PSS are malformed or not supported")
            }
            Self::Restricted => {
                f.write_str("the key is restricted to signatures with RSASSA-PSS (id-RSASSA-PSS)")
            }
            Self::RestrictedPss { allowed: Pss { hash, mask_hash, salt_length } } => write!(
                f,
                "the key is restricted to RSASSA-PSS with {hash:?}, MGF1 with {mask_hash:?} and a \
                 salt of {salt_length} bytes or more"
            ),
            Self::Composite => f.write_str("a factor of the modulus is not prime"),
            Self::RandomGenerator => {
                f.write_str("the random generator repeats itself or gives no usable number")
            }
            Self::MultiPrime => f.write_str("keys with more than two primes are not supported"),
            Self::PublicKey => {
                f.write_str("the public key in the file does not match the private key")
            }
            Self::DigestLength => f.write_str("the digest length does not match the hash function"),
            Self::HashRetired => f.write_str("the hash function is for verification only"),
            Self::SaltTooLong => f.write_str("the modulus is too short for digest and salt"),
            Self::KeyLength { needed, given } => {
                write!(f, "the key has {given} bits, but the batch is for {needed}")
            }
            Self::NotDone => f.write_str("the job has not been run"),
            Self::OutOfRange => f.write_str("the input is not less than the modulus"),
            Self::Signature => f.write_str("the signature is not valid"),
            Self::MessageTooLong { longest, given } => {
                write!(f, "the message has {given} bytes, but at most {longest} fit")
            }
            Self::Decryption => f.write_str("the ciphertext cannot be decrypted"),
            Self::Fault => f.write_str("the private operation gave a wrong result"),
        }
    }
}

impl core::error::Error for Error {}

random::cause!(Error);

impl From<modular::Error> for Error {
    /// Converts errors of modular arithmetic. Its arguments were checked here, so an error is a
    /// lack of memory or an impossible result.
    fn from(error: modular::Error) -> Self {
        match error {
            modular::Error::ScratchTooSmall { needed, given } => {
                Self::MemoryTooSmall { needed: needed / LIMB_BYTES, given: given / LIMB_BYTES }
            }
            modular::Error::ModulusEven | modular::Error::ModulusZero => Self::Even,
            modular::Error::RandomGenerator => Self::RandomGenerator,
            _ => Self::Fault,
        }
    }
}

/// Returns the limbs of a modulus of `bits` bits.
const fn limbs(bits: usize) -> usize {
    bits.div_ceil(LIMB_BITS)
}

/// Returns the limbs of each prime of a modulus of `bits` bits.
const fn prime_limbs(bits: usize) -> usize {
    bits.div_ceil(2).div_ceil(LIMB_BITS)
}

/// Returns the first `needed` limbs of `memory`.
fn checked_memory(memory: &mut [u64], needed: usize) -> Result<&mut [u64], Error> {
    let given = memory.len();
    memory.get_mut(..needed).ok_or(Error::MemoryTooSmall { needed, given })
}
