//! 256-bit integers as little-endian bytes.

use crate::machine::words::Limb;

/// Returns the limbs of a number.
pub(crate) fn limbs(bytes: &[u8; 32]) -> [Limb; 4] {
    let (chunks, _) = bytes.as_chunks();
    core::array::from_fn(|i| Limb::from_le_bytes(chunks[i]))
}

/// Returns the bytes of a number.
pub(crate) fn bytes(limbs: &[Limb; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (chunk, limb) in bytes.chunks_exact_mut(8).zip(limbs) {
        chunk.copy_from_slice(&limb.to_le_bytes());
    }
    bytes
}
