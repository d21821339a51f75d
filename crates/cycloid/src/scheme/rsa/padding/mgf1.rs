//! The mask generation functions: MGF1 (RFC 8017, appendix B.2.1), and SHAKE itself (RFC 8702,
//! section 3.1).

use crate::scheme::rsa::hash_function::HashFunction;

/// Computes `data ^= MGF1(seed)`, or `data ^= SHAKE(seed)` if `hash` is SHAKE.
pub(in crate::scheme::rsa) fn mask(hash: HashFunction, seed: &[u8], data: &mut [u8]) {
    if let Some(mask) = hash.mask() {
        return mask(seed, data);
    }
    for (counter, block) in (0u32..).zip(data.chunks_mut(hash.digest_length())) {
        let digest = hash.digest(&[seed, &counter.to_be_bytes()]);
        for (byte, mask) in block.iter_mut().zip(&*digest) {
            *byte ^= mask;
        }
    }
}
