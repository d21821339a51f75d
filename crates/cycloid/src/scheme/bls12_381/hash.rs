//! expand_message_xmd with SHA-256 (RFC 9380, section 5.3.1), and tags of any length.

use core::ops::Deref;

use sha2::{Digest, Sha256};

use super::backend::Message;

/// Bytes of a digest and of a block of SHA-256.
const DIGEST: usize = 32;
const BLOCK: usize = 64;

/// A tag that separates domains, of at most 255 bytes.
pub(super) struct Dst<'a> {
    tag: &'a [u8],
    hashed: [u8; DIGEST],
}

impl<'a> Dst<'a> {
    /// A longer tag is hashed (RFC 9380, section 5.3.3).
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

/// Expands a message to up to 127 pieces of 64 bytes each. `dst` has at most 255 bytes.
pub fn expand_message(message: &Message<'_>, dst: &[u8], uniform: &mut [[u8; 64]]) {
    let length = (size_of_val(uniform) as u16).to_be_bytes();
    let dst_length = [dst.len() as u8];
    let finish = |hash: Sha256| -> [u8; DIGEST] {
        hash.chain_update(dst).chain_update(dst_length).finalize().into()
    };
    let mut hash = Sha256::new().chain_update([0; BLOCK]);
    message.iter().for_each(|part| hash.update(part));
    let first = finish(hash.chain_update(length).chain_update([0]));
    let mut block = finish(Sha256::new().chain_update(first).chain_update([1]));
    for (i, half) in uniform.as_flattened_mut().chunks_mut(DIGEST).enumerate() {
        if i > 0 {
            block.iter_mut().zip(&first).for_each(|(block, first)| *block ^= first);
            block = finish(Sha256::new().chain_update(block).chain_update([i as u8 + 1]));
        }
        half.copy_from_slice(&block);
    }
}
