//! expand_message_xmd with SHA-256 (RFC 9380, section 5.3.1), and domain separation tags of any
//! length.

use core::ops::Deref;

use sha2::{Digest, Sha256};

use super::Error;

/// An input of hashing to a curve: a prefix (the draft's augmentation), followed by the message.
pub type Message<'a> = [&'a [u8]; 2];

/// Bytes of a digest and of a block of SHA-256.
const DIGEST: usize = 32;
const BLOCK: usize = 64;

/// A domain separation tag of at most 255 bytes.
pub(super) struct Dst<'a> {
    tag: &'a [u8],
    hashed: [u8; DIGEST],
}

impl<'a> Dst<'a> {
    /// Shortens a longer tag by hashing it (RFC 9380, section 5.3.3).
    pub(super) fn new(tag: &'a [u8]) -> Self {
        let mut hashed = [0; DIGEST];
        if tag.len() > 255 {
            hashed = Sha256::new()
                .chain_update(b"H2C-OVERSIZE-DST-")
                .chain_update(tag)
                .finalize()
                .into();
        }
        Self { tag, hashed }
    }
}

impl Deref for Dst<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.tag.len() > 255 { &self.hashed } else { self.tag }
    }
}

/// The maximum output of [`expand_message`]: 255 digests.
const MOST_BYTES: usize = 255 * DIGEST;

/// Expands a message, a prefix followed by the rest, to fill `uniform`: expand_message_xmd with
/// SHA-256 (RFC 9380, section 5.3.1).
///
/// `dst` is the domain separation tag, of any length; one of more than 255 bytes is hashed first
/// (section 5.3.3). A protocol's tag must not be empty (section 3.1), which is not checked here.
///
/// # Errors
/// [`Error::TooManyBytes`] for more than 8160 bytes; `uniform` is untouched then.
pub fn expand_message(message: &Message<'_>, dst: &[u8], uniform: &mut [u8]) -> Result<(), Error> {
    if uniform.len() > MOST_BYTES {
        return Err(Error::TooManyBytes { most: MOST_BYTES, asked: uniform.len() });
    }
    expand(message, &Dst::new(dst), uniform);
    Ok(())
}

/// Like [`expand_message`], for at most [`MOST_BYTES`].
pub(super) fn expand(message: &Message<'_>, dst: &Dst<'_>, uniform: &mut [u8]) {
    debug_assert!(uniform.len() <= MOST_BYTES);
    let length = (uniform.len() as u16).to_be_bytes();
    let dst_length = [dst.len() as u8];
    let finish = |hash: Sha256| -> [u8; DIGEST] {
        hash.chain_update(&**dst).chain_update(dst_length).finalize().into()
    };
    // Steps 3 to 7: b₀.
    let mut hash = Sha256::new().chain_update([0; BLOCK]);
    message.iter().for_each(|part| hash.update(part));
    let first = finish(hash.chain_update(length).chain_update([0]));
    // Steps 8 to 12: bᵢ is the digest of b₀ ⊕ bᵢ₋₁ and i; b₁ uses b₀ alone.
    let mut block = [0; DIGEST];
    for (i, piece) in (1..=255).zip(uniform.chunks_mut(DIGEST)) {
        block.iter_mut().zip(&first).for_each(|(block, first)| *block ^= first);
        block = finish(Sha256::new().chain_update(block).chain_update([i]));
        piece.copy_from_slice(&block[..piece.len()]);
    }
}
