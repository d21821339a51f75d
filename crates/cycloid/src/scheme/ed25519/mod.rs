//! Ed25519 signatures (RFC 8032): plain, with a context, and prehashed.
//!
//! - [`SigningKey`]: signs, one message at a time. It contains its public key, so that signing with
//!   a mismatched public key is impossible.
//! - [`VerifyingKey`]: verifies by a named rule.
//! - [`SigningKey::verify_after_sign`]: verifies each signature before it is released.
//! - [`run_batch`]: runs any number of both, eight side by side.
//!
//! # Which signatures are valid
//!
//! A signature is an encoded point R and a number S; the key is an encoded point A; k is the hash
//! of R, A and the message. Every rule requires S to be less than the order L of the base point B,
//! so that S cannot be replaced by S + L. The rules differ in points that no honest signer makes:
//! points of *small order*, dividing the cofactor 8; points with a small-order component; and
//! non-canonical encodings, in which y is p or more, or x = 0 is marked odd.
//!
//! | | [`verify`](VerifyingKey::verify) | [`verify_strict`](VerifyingKey::verify_strict) | [`verify_cofactored`](VerifyingKey::verify_cofactored) |
//! |---|---|---|---|
//! | equation | S·B = R + k·A | S·B = R + k·A | 8·S·B = 8·R + 8·k·A |
//! | A of small order | allowed | refused | allowed |
//! | A not canonical | allowed | refused | allowed |
//! | R of small order | allowed | refused | allowed |
//! | R not canonical | refused | refused | allowed |
//! | in words | as most libraries do: R is compared as bytes | a signature binds its signer to one message | RFC 8032's own equation with the encodings of ZIP 215, the rule that agrees with batch equations |
//!
//! Every signature that `verify_strict` accepts is accepted by `verify`, and every one that
//! `verify` accepts is accepted by `verify_cofactored`. A [`VerifyingKey`] can be made from every
//! encoding that decodes to a point.
//!
//! All memory is on the stack. **Time** of signing depends only on the lengths of message and
//! context. Time of verification depends on all its inputs, which are public.
//!
//! ```
//! use cycloid::scheme::ed25519::{SigningKey, VerifyingKey};
//!
//! let key = SigningKey::generate(&mut getrandom::SysRng)?;
//! let signature = key.sign(b"message");
//!
//! let public = VerifyingKey::new(key.verifying_key().as_bytes())?;
//! public.verify_strict(b"message", &signature)?;
//! assert!(public.verify(b"massage", &signature).is_err());
//! # Ok::<(), cycloid::scheme::ed25519::Error>(())
//! ```

mod batch;
#[cfg(feature = "encoding")]
mod encoding;
mod hash;
mod sign;
#[cfg(feature = "signature")]
mod traits;
mod verify;

use core::fmt;

#[cfg(feature = "encoding")]
pub use super::FormatError;
#[cfg(test)]
pub(super) use batch::run_batch_with;
pub use batch::{Job, run_batch};
#[cfg(feature = "encoding")]
pub use encoding::{
    KEY_PAIR_DER_LENGTH, KEY_PAIR_PEM_LENGTH, PRIVATE_KEY_DER_LENGTH, PRIVATE_KEY_PEM_LENGTH,
    PUBLIC_KEY_DER_LENGTH, PUBLIC_KEY_PEM_LENGTH,
};
pub use sign::SigningKey;
#[cfg(feature = "signature")]
pub use traits::Signature;
pub use verify::VerifyingKey;

/// The longest context, in bytes.
pub const MAX_CONTEXT: usize = 255;

/// Why an Ed25519 operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not encode a point.
    PublicKey,
    /// The public key is of small order or not canonical, and [`Rule::Strict`] refuses it.
    WeakPublicKey,
    /// The signature is not valid for this message and key.
    Signature,
    /// The context has more than [`MAX_CONTEXT`] bytes.
    ContextTooLong,
    /// The digest of a prehashed message does not have 64 bytes.
    DigestLength,
    /// The signature that was made does not verify, so it was not released. A key has changed in
    /// memory, or a computation went wrong.
    Fault,
    /// The random generator fails or repeats itself.
    RandomGenerator,
    /// The [`Job`] has not run in a batch yet.
    NotDone,
    /// Reading or writing a key failed.
    #[cfg(feature = "encoding")]
    Format(FormatError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PublicKey => f.write_str("the public key is not a point"),
            Self::WeakPublicKey => f.write_str("the public key is of small order or not canonical"),
            Self::Signature => f.write_str("the signature does not verify"),
            Self::ContextTooLong => {
                write!(f, "the context has more than {MAX_CONTEXT} bytes")
            }
            Self::DigestLength => f.write_str("a digest for Ed25519ph has 64 bytes"),
            Self::Fault => f.write_str("the signature that was made does not verify"),
            Self::RandomGenerator => f.write_str("the random generator fails or repeats itself"),
            Self::NotDone => f.write_str("the job has not been run"),
            #[cfg(feature = "encoding")]
            Self::Format(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

super::random::cause!(Error);

/// The variants of Ed25519; a signature is valid for one variant only (RFC 8032, section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant<'a> {
    /// Ed25519.
    Plain,
    /// Ed25519ctx with this context, which should not be empty.
    Context(&'a [u8]),
    /// Ed25519ph with this context, which may be empty: the message argument is the 64-byte SHA-512
    /// digest of the message.
    Prehashed(&'a [u8]),
}

/// The conditions on a signature beyond S being less than L; the [module](self) has the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The rule of [`VerifyingKey::verify`].
    Cofactorless,
    /// The rule of [`VerifyingKey::verify_strict`].
    Strict,
    /// The rule of [`VerifyingKey::verify_cofactored`].
    Cofactored,
}
