//! EME-OAEP, optimal asymmetric padding (RFC 8017, section 7.1).

use rand_core::CryptoRng;

use super::mgf1::mask;
use crate::machine::ct::{self, Mask};
use crate::machine::words::Limb;
use crate::scheme::random;
use crate::scheme::rsa::error::Error;
use crate::scheme::rsa::hash_function::HashFunction;
use crate::scheme::rsa::parameters::Oaep;

/// EME-OAEP encoding (RFC 8017, section 7.1.1, step 2): fills `encoded`, which is as long as the
/// modulus. Constant-time except for lengths and the label.
///
/// # Errors
/// [`Error::HashUnsuitable`], [`Error::ModulusTooShort`], [`Error::MessageTooLong`],
/// [`Error::RandomGenerator`].
pub(in crate::scheme::rsa) fn encode(
    encoded: &mut [u8],
    oaep: &Oaep<'_, HashFunction>,
    rng: &mut impl CryptoRng,
    message: &[u8],
) -> Result<(), Error> {
    if oaep.uses_shake() {
        return Err(Error::HashUnsuitable);
    }
    if !oaep.fits(encoded.len()) {
        return Err(Error::ModulusTooShort);
    }
    let longest = oaep.longest_message(encoded.len());
    if message.len() > longest {
        return Err(Error::MessageTooLong { longest, given: message.len() });
    }
    // i. EM = 0x00 || maskedSeed || maskedDB.
    encoded[0] = 0;
    let (seed, db) = encoded[1..].split_at_mut(oaep.hash.digest_length());
    // a, b, c. DB = lHash || PS || 0x01 || M.
    let (label_hash, rest) = db.split_at_mut(seed.len());
    let (padding, end) = rest.split_at_mut(rest.len() - message.len() - 1);
    label_hash.copy_from_slice(&oaep.hash.digest(&[oaep.label]));
    padding.fill(0);
    end[0] = 1;
    end[1..].copy_from_slice(message);
    // d, e, f. maskedDB.
    random::fill(rng, seed)?;
    mask(oaep.mask_hash, seed, db);
    // g, h. maskedSeed.
    mask(oaep.mask_hash, db, seed);
    Ok(())
}

/// EME-OAEP decoding (RFC 8017, section 7.1.2, step 3) of all of `encoded`, which is as long as the
/// modulus and is destroyed. Writes the message to the start of `output`, followed by zeros up to
/// the length of the longest message, and returns the message's length.
///
/// `output` has at least [`Oaep::longest_message`] bytes, and the modulus is
/// [long enough](Oaep::fits). Constant-time except for success or
/// failure: nothing reveals which check failed, and only the returned length reveals where the
/// message begins.
///
/// # Errors
/// [`Error::Decryption`]; `output` is untouched then.
pub(in crate::scheme::rsa) fn decode(
    encoded: &mut [u8],
    oaep: &Oaep<'_, HashFunction>,
    output: &mut [u8],
) -> Result<usize, Error> {
    let longest = oaep.longest_message(encoded.len());
    // a, b. EM = Y || maskedSeed || maskedDB, and DB = lHash' || PS || 0x01 || M.
    let (y, rest) = encoded.split_at_mut(1);
    let (seed, db) = rest.split_at_mut(oaep.hash.digest_length());
    // c, d. The seed. e, f. DB.
    mask(oaep.mask_hash, db, seed);
    mask(oaep.mask_hash, seed, db);
    // g. Every condition is evaluated, even after one fails (Manger, 2001).
    let (label_hash, rest) = db.split_at_mut(seed.len());
    let mut good = Mask::is_zero(Limb::from(y[0]))
        & ct::equal_bytes(label_hash, &oaep.hash.digest(&[oaep.label]));
    let mut found = Mask::from_bit(0);
    let mut padding = 0;
    for (i, byte) in (0..).zip(&*rest) {
        let first = !Mask::is_zero(Limb::from(*byte)) & !found;
        good = good & (!first | Mask::equal(Limb::from(*byte), 1));
        padding = first.select(i, padding);
        found = found | first;
    }
    // The result reveals that decoding failed, and nothing more.
    if !(good & found).reveal() {
        return Err(Error::Decryption);
    }
    let message = &mut rest[1..];
    let padding = padding as usize;
    ct::shift_bytes(message, padding);
    output[..longest].copy_from_slice(message);
    // Never below zero; a check for that would need a branch.
    Ok(longest.wrapping_sub(padding))
}
