//! Conversion between limbs and bytes, most significant first.

use super::{LIMB_BYTES, Limb};

/// Reads big-endian `bytes` into `limbs` with leading zeros. Bytes that do not fit must be zero.
///
/// Excess nonzero bytes are not reported: the caller knows that there are none, or has checked.
pub fn from_be_bytes(limbs: &mut [Limb], bytes: &[u8]) {
    debug_assert!(bytes.iter().rev().skip(limbs.len() * LIMB_BYTES).all(|byte| *byte == 0));
    let mut chunks = bytes.rchunks(LIMB_BYTES);
    for limb in limbs {
        let chunk = chunks.next().unwrap_or(&[]);
        *limb = chunk.iter().fold(0, |limb, byte| limb << 8 | Limb::from(*byte));
    }
}

/// Writes `limbs` as big-endian `bytes` with leading zeros. Limbs that do not fit must be zero.
pub fn to_be_bytes(bytes: &mut [u8], limbs: &[Limb]) {
    let fits = bytes.len().div_ceil(LIMB_BYTES);
    debug_assert!(limbs.iter().skip(fits).all(|limb| *limb == 0));
    let mut limbs = limbs.iter();
    for chunk in bytes.rchunks_mut(LIMB_BYTES) {
        let limb = limbs.next().copied().unwrap_or(0).to_be_bytes();
        chunk.copy_from_slice(&limb[LIMB_BYTES - chunk.len()..]);
    }
}

/// Returns the memory of limbs as bytes, for use as scratch.
pub const fn as_bytes_mut(limbs: &mut [Limb]) -> &mut [u8] {
    // SAFETY: a limb is `LIMB_BYTES` bytes, any byte value is valid, and a byte needs no alignment;
    // the borrow is carried over.
    unsafe {
        core::slice::from_raw_parts_mut(limbs.as_mut_ptr().cast::<u8>(), limbs.len() * LIMB_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        let limbs = [0x0807_0605_0403_0201, 0x0a09];
        let mut bytes = [0xff; 17];
        to_be_bytes(&mut bytes, &limbs);
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
        to_be_bytes(&mut bytes[..10], &limbs);
        assert_eq!(bytes[..10], [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
        let mut back = [7; 3];
        from_be_bytes(&mut back, &bytes[..10]);
        assert_eq!(back, [limbs[0], limbs[1], 0]);
        from_be_bytes(&mut back[..2], &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(back, [0x0102, 0, 0]);
        from_be_bytes(&mut back, &[]);
        assert_eq!(back, [0; 3]);
    }

    #[test]
    fn limbs_as_bytes() {
        let mut limbs = [0; 2];
        as_bytes_mut(&mut limbs)[8..].fill(0xff);
        assert_eq!(limbs, [0, Limb::MAX]);
    }
}
