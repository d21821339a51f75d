//! Ed25519 signatures (RFC 8032): the plain ones, with a context, and of a digest.
//!
//! - [`SigningKey`]: signatures, one at a time. It owns its public key, so that none can be signed
//!   with that does not belong to it.
//! - [`VerifyingKey`]: verification, by rules that are chosen by name.
//! - [`SigningKey::verify_after_sign`]: each signature verified before it is released.
//! - [`run_batch`]: any number of both, eight side by side.
//!
//! # What a signature has to be
//!
//! A signature is an encoded point R and a number S; the key is an encoded point A, and k the hash
//! of R, A and the message. In all rules S must be less than the order L of the base point B, so
//! that it cannot be replaced by S + L. They differ in points that no honest signer makes: of *small
//! order*, which divides the cofactor 8; with a part of small order; or in an encoding that is not
//! the one the point is encoded as, y being p or more, or x = 0 being called odd.
//!
//! | | [`verify`](VerifyingKey::verify) | [`verify_strict`](VerifyingKey::verify_strict) | [`verify_cofactored`](VerifyingKey::verify_cofactored) |
//! |---|---|---|---|
//! | equation | S·B = R + k·A | S·B = R + k·A | 8·S·B = 8·R + 8·k·A |
//! | A of small order | allowed | refused | allowed |
//! | A in another encoding | allowed | refused | allowed |
//! | R of small order | allowed | refused | allowed |
//! | R in another encoding | refused | refused | allowed |
//! | in words | what most libraries do: R is compared as bytes | a signature binds its signer to one message | RFC 8032's own equation with the encodings of ZIP 215, the one that a batch equation agrees with |
//!
//! What `verify_strict` accepts, `verify` accepts, and what that accepts, `verify_cofactored` does.
//! A [`VerifyingKey`] can be made of every encoding that has a point.
//!
//! Nothing but the stack is used. **Time** of signing depends on the lengths of message and context
//! only; that of verification on everything, all of which is public.
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
pub use super::rfc8410::FormatError;
pub use batch::{Job, run_batch, run_batch_with};
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

/// Why an operation was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not the encoding of a point.
    PublicKey,
    /// The public key is of small order or in another encoding, which [`Rule::Strict`] refuses.
    WeakPublicKey,
    /// The signature is not one of the message by the key.
    Signature,
    /// The context has more than [`MAX_CONTEXT`] bytes.
    ContextTooLong,
    /// What is signed as a digest does not have 64 bytes.
    DigestLength,
    /// The signature that was made does not verify, so it was not released: a key has changed in
    /// memory, or a computation went wrong.
    Fault,
    /// The random generator failed, or repeats itself.
    RandomGenerator,
    /// The [`Job`] has not been in a batch.
    NotDone,
    /// A key was not read or written.
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
            Self::NotDone => f.write_str("the job has not been done"),
            #[cfg(feature = "encoding")]
            Self::Format(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

super::random::cause!(Error);

/// The variants of Ed25519, of which each has signatures of its own (RFC 8032, section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant<'a> {
    /// Ed25519.
    Plain,
    /// Ed25519ctx with this context, which should not be empty.
    Context(&'a [u8]),
    /// Ed25519ph with this context, which may be empty: the message is the 64 bytes of the
    /// message's SHA-512.
    Prehashed(&'a [u8]),
}

/// What is asked of a signature beyond S being less than L; the [module](self) has the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// That of [`VerifyingKey::verify`].
    Cofactorless,
    /// That of [`VerifyingKey::verify_strict`].
    Strict,
    /// That of [`VerifyingKey::verify_cofactored`].
    Cofactored,
}
