//! The SHA-512 hashes of Ed25519.

use sha2::{Digest as _, Sha512};

use super::{Error, MAX_CONTEXT, Variant};
use crate::machine::ct;
use crate::machine::lanes::{Backend, LANES};
use crate::math::curve::edwards::Scalar;
use crate::scheme::hash::eight::States;
use crate::scheme::little_endian::limbs;

/// The input of a signature: the variant, and the message in parts.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    /// dom2 (RFC 8032, section 2), in parts.
    domain: [&'a [u8]; 3],
    parts: &'a [&'a [u8]],
}

impl<'a> Message<'a> {
    pub(super) fn new(variant: Variant<'a>, parts: &'a [&'a [u8]]) -> Result<Self, Error> {
        // The prefix string, and the flag that distinguishes the variants.
        let (text, context): (&[u8], _) = match variant {
            Variant::Plain => return Ok(Self { domain: [&[]; 3], parts }),
            Variant::Context(context) => (b"SigEd25519 no Ed25519 collisions\x00", context),
            Variant::Prehashed(context) => {
                if parts.iter().map(|part| part.len()).sum::<usize>() != Digest::LENGTH {
                    return Err(Error::DigestLength);
                }
                (b"SigEd25519 no Ed25519 collisions\x01", context)
            }
        };
        let length = LENGTHS.get(context.len()..=context.len()).ok_or(Error::ContextTooLong)?;
        Ok(Self { domain: [text, length, context], parts })
    }
}

/// Every context length as a byte, for borrowing.
static LENGTHS: [u8; MAX_CONTEXT + 1] = {
    let mut lengths = [0; MAX_CONTEXT + 1];
    let mut length = 0;
    while length < lengths.len() {
        lengths[length] = length as u8;
        length += 1;
    }
    lengths
};

/// A hash input: up to two strings of 32 bytes, then the message with its domain prefix.
#[derive(Clone, Copy)]
pub(super) struct Preimage<'a> {
    pub(super) strings: [&'a [u8]; 2],
    pub(super) message: Message<'a>,
}

impl<'a> Preimage<'a> {
    fn parts(&self) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        let Self { strings, message: Message { domain, parts } } = *self;
        domain.into_iter().chain(strings).chain(parts.iter().copied())
    }
}

/// A digest; wiped when dropped.
pub(super) struct Digest([u8; Self::LENGTH]);

impl Drop for Digest {
    fn drop(&mut self) {
        ct::wipe_bytes(&mut self.0);
    }
}

impl Digest {
    pub(super) const LENGTH: usize = 64;

    /// Returns the digest of some bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut digest = Self([0; Self::LENGTH]);
        Sha512::new_with_prefix(bytes).finalize_into((&mut digest.0).into());
        digest
    }

    /// Returns the two halves.
    pub(super) fn halves(&self) -> [&[u8; 32]; 2] {
        let (halves, _) = self.0.as_chunks();
        [&halves[0], &halves[1]]
    }

    /// Returns the digest as a little-endian number modulo L.
    fn reduced(&self) -> Scalar {
        let [mut low, mut high] = self.halves().map(limbs);
        let scalar = Scalar::reduced(&low, &high);
        ct::wipe(&mut low);
        ct::wipe(&mut high);
        scalar
    }
}

/// Computes the digests of all preimages as numbers modulo L, side by side on a backend. `scalars`
/// has the same length. Inlined, so that callers that never pass a backend contain no code for it.
#[inline(always)]
pub(super) fn reduced_digests(
    backend: Option<Backend>,
    preimages: &[Preimage<'_>],
    scalars: &mut [Scalar],
) {
    match backend.filter(|_| preimages.len() > 1) {
        Some(backend) => {
            for (preimages, scalars) in preimages.chunks(LANES).zip(scalars.chunks_mut(LANES)) {
                reduced_digests_eight(backend, preimages, scalars);
            }
        }
        None => reduced_digests_apart(preimages, scalars),
    }
}

fn reduced_digests_apart(preimages: &[Preimage<'_>], scalars: &mut [Scalar]) {
    for (preimage, scalar) in preimages.iter().zip(scalars) {
        let mut hash = Sha512::new();
        preimage.parts().for_each(|part| hash.update(part));
        let mut digest = Digest([0; Digest::LENGTH]);
        hash.finalize_into((&mut digest.0).into());
        *scalar = digest.reduced();
    }
}

/// Computes up to eight of them side by side.
fn reduced_digests_eight(backend: Backend, preimages: &[Preimage<'_>], scalars: &mut [Scalar]) {
    let messages = core::array::from_fn(|lane| Some(preimages.get(lane)?.parts()));
    let states = States::sha512();
    let digests = states.finish(Some(backend), messages, Digest::LENGTH);
    for (bytes, scalar) in digests.iter().zip(scalars) {
        let mut digest = Digest([0; Digest::LENGTH]);
        digest.0.copy_from_slice(bytes);
        *scalar = digest.reduced();
    }
}
