//! Expansion of messages (RFC 9380, section 5.3), and hashing to fields (section 5.2).

use core::ops::Deref;

use sha2::{Digest, Sha256, Sha512};
#[cfg(feature = "sha3")]
use shake::digest::{ExtendableOutput, Update, XofReader};
#[cfg(feature = "sha3")]
use shake::{Shake128, Shake256};

use super::Error;
use super::error::equal_counts;

/// An input of hashing to a curve: a prefix (the draft's augmentation), followed by the message.
pub type Message<'a> = [&'a [u8]; 2];

/// The prefix of a long tag before it is hashed.
const OVERSIZE: &[u8] = b"H2C-OVERSIZE-DST-";

/// A domain separation tag of at most 255 bytes.
pub(super) struct Dst<'a> {
    tag: &'a [u8],
    hashed: [u8; 64],
    /// Length of the hashed tag.
    length: usize,
}

impl<'a> Dst<'a> {
    /// Shortens a longer tag by hashing it with SHA-256 (RFC 9380, section 5.3.3).
    pub(super) fn new(tag: &'a [u8]) -> Self {
        Self::with_digest::<Sha256>(tag)
    }

    fn with_digest<D: Digest>(tag: &'a [u8]) -> Self {
        let mut dst = Self { tag, hashed: [0; 64], length: <D as Digest>::output_size() };
        if tag.len() > 255 {
            let digest = D::new().chain_update(OVERSIZE).chain_update(tag).finalize();
            dst.hashed[..dst.length].copy_from_slice(&digest);
        }
        dst
    }

    #[cfg(feature = "sha3")]
    fn with_xof<D: Default + Update + ExtendableOutput>(tag: &'a [u8], length: usize) -> Self {
        let mut dst = Self { tag, hashed: [0; 64], length };
        if tag.len() > 255 {
            let hash = D::default().chain(OVERSIZE).chain(tag);
            hash.finalize_xof().read(&mut dst.hashed[..length]);
        }
        dst
    }
}

impl Deref for Dst<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.tag.len() > 255 { &self.hashed[..self.length] } else { self.tag }
    }
}

/// A function that expands a message to uniform bytes (RFC 9380, section 5.3).
pub trait Expander: private::Sealed {
    /// The most bytes of output.
    const MOST_BYTES: usize;

    /// Expands a message, a prefix followed by the rest, to fill `uniform`.
    ///
    /// `dst` is the domain separation tag, of any length; one of more than 255 bytes is hashed
    /// first (section 5.3.3). A protocol's tag must not be empty (section 3.1), which is not
    /// checked here.
    ///
    /// # Errors
    /// [`Error::TooManyBytes`] for more than [`MOST_BYTES`](Self::MOST_BYTES); `uniform` is
    /// untouched then.
    fn expand(message: &Message<'_>, dst: &[u8], uniform: &mut [u8]) -> Result<(), Error> {
        if uniform.len() > Self::MOST_BYTES {
            return Err(Error::TooManyBytes { most: Self::MOST_BYTES, asked: uniform.len() });
        }
        Self::fill(message, dst, uniform);
        Ok(())
    }
}

mod private {
    pub trait Sealed {
        /// Expands to at most as many bytes as are possible.
        fn fill(message: &super::Message<'_>, dst: &[u8], uniform: &mut [u8]);
    }
}

/// expand_message_xmd with SHA-256.
#[derive(Clone, Copy, Debug)]
pub struct XmdSha256;

/// expand_message_xmd with SHA-512.
#[derive(Clone, Copy, Debug)]
pub struct XmdSha512;

/// expand_message_xof with SHAKE128.
#[cfg(feature = "sha3")]
#[derive(Clone, Copy, Debug)]
pub struct XofShake128;

/// expand_message_xof with SHAKE256.
#[cfg(feature = "sha3")]
#[derive(Clone, Copy, Debug)]
pub struct XofShake256;

impl Expander for XmdSha256 {
    const MOST_BYTES: usize = 255 * 32;
}

impl private::Sealed for XmdSha256 {
    fn fill(message: &Message<'_>, dst: &[u8], uniform: &mut [u8]) {
        expand(message, &Dst::new(dst), uniform);
    }
}

impl Expander for XmdSha512 {
    const MOST_BYTES: usize = 255 * 64;
}

impl private::Sealed for XmdSha512 {
    fn fill(message: &Message<'_>, dst: &[u8], uniform: &mut [u8]) {
        expand_xmd::<Sha512, 64, 128>(message, &Dst::with_digest::<Sha512>(dst), uniform);
    }
}

#[cfg(feature = "sha3")]
impl Expander for XofShake128 {
    const MOST_BYTES: usize = 65_535;
}

#[cfg(feature = "sha3")]
impl private::Sealed for XofShake128 {
    fn fill(message: &Message<'_>, dst: &[u8], uniform: &mut [u8]) {
        expand_xof::<Shake128>(message, &Dst::with_xof::<Shake128>(dst, 32), uniform);
    }
}

#[cfg(feature = "sha3")]
impl Expander for XofShake256 {
    const MOST_BYTES: usize = 65_535;
}

#[cfg(feature = "sha3")]
impl private::Sealed for XofShake256 {
    fn fill(message: &Message<'_>, dst: &[u8], uniform: &mut [u8]) {
        expand_xof::<Shake256>(message, &Dst::with_xof::<Shake256>(dst, 64), uniform);
    }
}

/// Expands a message, a prefix followed by the rest, to fill `uniform`: expand_message_xmd with
/// SHA-256 (RFC 9380, section 5.3.1), as [`XmdSha256`].
///
/// # Errors
/// [`Error::TooManyBytes`] for more than 8160 bytes; `uniform` is untouched then.
pub fn expand_message(message: &Message<'_>, dst: &[u8], uniform: &mut [u8]) -> Result<(), Error> {
    XmdSha256::expand(message, dst, uniform)
}

/// Like [`expand_message`], for at most 8160 bytes.
pub(super) fn expand(message: &Message<'_>, dst: &Dst<'_>, uniform: &mut [u8]) {
    debug_assert!(uniform.len() <= XmdSha256::MOST_BYTES);
    expand_xmd::<Sha256, 32, 64>(message, dst, uniform);
}

/// expand_message_xmd (RFC 9380, section 5.3.1) with a digest and a block of these many bytes.
fn expand_xmd<D: Digest, const DIGEST: usize, const BLOCK: usize>(
    message: &Message<'_>,
    dst: &Dst<'_>,
    uniform: &mut [u8],
) {
    let length = (uniform.len() as u16).to_be_bytes();
    let dst_length = [dst.len() as u8];
    let finish = |hash: D| -> [u8; DIGEST] {
        let mut digest = [0; DIGEST];
        digest.copy_from_slice(&hash.chain_update(&**dst).chain_update(dst_length).finalize());
        digest
    };
    // Steps 3 to 7: b₀.
    let mut hash = D::new().chain_update([0; BLOCK]);
    message.iter().for_each(|part| hash.update(part));
    let first = finish(hash.chain_update(length).chain_update([0]));
    // Steps 8 to 12: bᵢ is the digest of b₀ ⊕ bᵢ₋₁ and i; b₁ uses b₀ alone.
    let mut block = [0; DIGEST];
    for (i, piece) in (1..=255).zip(uniform.chunks_mut(DIGEST)) {
        block.iter_mut().zip(&first).for_each(|(block, first)| *block ^= first);
        block = finish(D::new().chain_update(block).chain_update([i]));
        piece.copy_from_slice(&block[..piece.len()]);
    }
}

/// expand_message_xof (RFC 9380, section 5.3.2).
#[cfg(feature = "sha3")]
fn expand_xof<D: Default + Update + ExtendableOutput>(
    message: &Message<'_>,
    dst: &Dst<'_>,
    uniform: &mut [u8],
) {
    let length = (uniform.len() as u16).to_be_bytes();
    let hash = message.iter().fold(D::default(), Update::chain);
    let hash = hash.chain(length).chain(&**dst).chain([dst.len() as u8]);
    hash.finalize_xof().read(uniform);
}

/// A field to which messages are hashed: [`Fr`](super::Fr), [`Fp`](super::Fp) and
/// [`Fp2`](super::Fp2).
pub trait HashedField: Sized {
    /// Uniform bytes for an element: with 128 bits more than the modulus for each coefficient.
    const UNIFORM_BYTES: usize;

    /// Reduces [`UNIFORM_BYTES`](Self::UNIFORM_BYTES): a big-endian integer for each coefficient,
    /// that of 1 first.
    fn from_uniform(bytes: &[u8]) -> Self;
}

/// Hashes a message to any number of elements (hash_to_field, RFC 9380, section 5.2). `scratch` has
/// [`HashedField::UNIFORM_BYTES`] for each.
///
/// # Errors
/// [`Error::Counts`] if the scratch has another length; [`Error::TooManyBytes`].
pub fn hash_to_field<E: Expander, F: HashedField>(
    message: &Message<'_>,
    dst: &[u8],
    elements: &mut [F],
    scratch: &mut [u8],
) -> Result<(), Error> {
    equal_counts(F::UNIFORM_BYTES * elements.len(), scratch.len())?;
    E::expand(message, dst, scratch)?;
    for (element, bytes) in elements.iter_mut().zip(scratch.chunks_exact(F::UNIFORM_BYTES)) {
        *element = F::from_uniform(bytes);
    }
    Ok(())
}
