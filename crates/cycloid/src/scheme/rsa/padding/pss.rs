//! EMSA-PSS, the probabilistic encoding of a digest (RFC 8017, section 9.1).

use rand_core::CryptoRng;

use super::mgf1::mask;
use crate::scheme::hash::DigestBytes;
use crate::scheme::rsa::error::Error;
use crate::scheme::rsa::hash_function::HashFunction;
use crate::scheme::rsa::parameters::Pss;

/// The salt of a signature being verified, by its length in bytes.
#[derive(Clone, Copy)]
pub(in crate::scheme::rsa) enum Salt {
    Exactly(usize),
    AtLeast(usize),
}

/// Returns H = Hash(eight zeros ‖ digest ‖ salt).
fn seed(hash: HashFunction, digest: &[u8], salt: &[u8]) -> DigestBytes {
    hash.digest(&[&[0; 8], digest, salt])
}

/// Returns the encoded message within a buffer as long as the modulus. The message has one bit less
/// than the modulus; the unused bits are the leading ones.
fn encoded(buffer: &mut [u8], modulus_bits: usize) -> (&mut [u8], u8) {
    let bits = modulus_bits - 1;
    let start = buffer.len() - bits.div_ceil(8);
    let unused = bits.div_ceil(8) * 8 - bits;
    (&mut buffer[start..], 0xff >> unused)
}

/// EMSA-PSS-ENCODE with a random salt, into a buffer as long as the modulus.
pub(in crate::scheme::rsa) fn encode(
    buffer: &mut [u8],
    modulus_bits: usize,
    pss: Pss<HashFunction>,
    digest: &[u8],
    rng: &mut impl CryptoRng,
) -> Result<(), Error> {
    let leading = buffer.len() - (modulus_bits - 1).div_ceil(8);
    buffer[..leading].fill(0);
    let (encoded, used) = encoded(buffer, modulus_bits);
    // 3. Digest, salt and two bytes must fit.
    match encoded.len().checked_sub(digest.len() + 2) {
        Some(longest) if pss.salt_length <= longest => {}
        _ => return Err(Error::SaltTooLong),
    }
    // 4. The salt, written in its final place. 5, 6. H = Hash(M'). 7, 8. DB = 00 … 00 01 ‖ salt.
    let (db, end) = encoded.split_at_mut(encoded.len() - digest.len() - 1);
    let (padding, salt) = db.split_at_mut(db.len() - pss.salt_length);
    rng.fill_bytes(salt);
    let h = seed(pss.hash, digest, salt);
    padding.fill(0);
    padding[padding.len() - 1] = 1;
    // 9, 10. maskedDB. 11. Unused bits are zero. 12. maskedDB ‖ H ‖ bc.
    mask(pss.mask_hash, &h, db);
    db[0] &= used;
    end[..digest.len()].copy_from_slice(&h);
    end[digest.len()] = 0xbc;
    Ok(())
}

/// EMSA-PSS-VERIFY of a buffer as long as the modulus; destroys the buffer.
pub(in crate::scheme::rsa) fn is_encoding_of(
    buffer: &mut [u8],
    modulus_bits: usize,
    hash: HashFunction,
    mask_hash: HashFunction,
    digest: &[u8],
    salt: Salt,
) -> bool {
    let leading = buffer.len() - (modulus_bits - 1).div_ceil(8);
    if buffer[..leading].iter().any(|byte| *byte != 0) {
        return false;
    }
    let (encoded, used) = encoded(buffer, modulus_bits);
    // 3. The modulus of a legacy key may be too short. 4, 5. maskedDB ‖ H ‖ bc. 6. Unused bits are
    // zero.
    let Some(split) = encoded.len().checked_sub(digest.len() + 1).filter(|split| *split > 0) else {
        return false;
    };
    let (db, end) = encoded.split_at_mut(split);
    let (h, last) = end.split_at(digest.len());
    if last != [0xbc] || db[0] & !used != 0 {
        return false;
    }
    // 7, 8. DB. 9.
    mask(mask_hash, h, db);
    db[0] &= used;
    // 10. Zeros, a one, the salt.
    let zeros = db.iter().take_while(|byte| **byte == 0).count();
    let Some([1, found @ ..]) = db.get(zeros..) else { return false };
    let is_long_enough = match salt {
        Salt::Exactly(length) => found.len() == length,
        Salt::AtLeast(length) => found.len() >= length,
    };
    // 11 to 14. H' = Hash(M').
    is_long_enough && *seed(hash, digest, found) == *h
}
