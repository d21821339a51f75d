//! EME-PKCS1-v1_5 (RFC 8017, section 7.2), with implicit rejection
//! (draft-irtf-cfrg-rsa-guidance, section 7).

use hmac::{Hmac, KeyInit, Mac};
use rand_core::CryptoRng;
use sha2::Sha256;
use sha2::digest::Digest;
use zeroize::Zeroize;

use crate::machine::ct::{self, Mask};
use crate::machine::words::{LIMB_BYTES, Limb};
use crate::scheme::random;
use crate::scheme::rsa::error::Error;

/// Bytes of an encoded message besides the message: 00 02, at least eight of padding, 00.
pub(in crate::scheme::rsa) const OVERHEAD: usize = 11;

/// Redraws of a padding byte that is zero: a sound generator gives that many zeros in a row once in
/// 2¹²⁸ times.
const REDRAWS: usize = 15;

/// Returns the length of the longest message, in bytes, under a modulus of `length` bytes, at least
/// 11.
pub(in crate::scheme::rsa) const fn longest_message(length: usize) -> usize {
    length - OVERHEAD
}

/// EME-PKCS1-v1_5 encoding (RFC 8017, section 7.2.1, step 2): fills `encoded`, which is as long as
/// the modulus. Constant-time except for lengths and for the number of draws.
///
/// # Errors
/// [`Error::MessageTooLong`], [`Error::RandomGenerator`].
pub(in crate::scheme::rsa) fn encode(
    encoded: &mut [u8],
    rng: &mut impl CryptoRng,
    message: &[u8],
) -> Result<(), Error> {
    let longest = longest_message(encoded.len());
    if message.len() > longest {
        return Err(Error::MessageTooLong { longest, given: message.len() });
    }
    // EM = 0x00 || 0x02 || PS || 0x00 || M.
    let (start, end) = encoded.split_at_mut(encoded.len() - message.len() - 1);
    start[0] = 0;
    start[1] = 2;
    end[0] = 0;
    end[1..].copy_from_slice(message);
    let padding = &mut start[2..];
    random::fill(rng, padding)?;
    // A zero is not used, so its draw may be public.
    let is_zero = |byte: &u8| Mask::is_zero(Limb::from(*byte)).reveal();
    for byte in padding {
        let mut redraws = 0..REDRAWS;
        while is_zero(byte) {
            redraws.next().ok_or(Error::RandomGenerator)?;
            rng.fill_bytes(core::slice::from_mut(byte));
        }
    }
    Ok(())
}

/// EME-PKCS1-v1_5 decoding of all of `encoded`, which is as long as the modulus and is destroyed.
/// Writes the message, or the synthetic one, to the start of `output`, followed by zeros up to the
/// length of the longest message, and returns the message's length.
///
/// `output` has at least 11 bytes less than `encoded`. Constant-time except for the length of
/// `encoded`.
pub(in crate::scheme::rsa) fn decode(
    encoded: &mut [u8],
    rejection: &Rejection,
    output: &mut [u8],
) -> usize {
    let longest = longest_message(encoded.len());
    let (good, length) = parse(encoded);
    // Both messages are at the end of buffers of equal length.
    rejection.message(encoded.len(), |synthetic, at| {
        for (byte, other) in encoded[at..].iter_mut().zip(synthetic) {
            *byte = good.select_byte(*byte, *other);
        }
    });
    let length = good.select(length as Limb, rejection.length(longest) as Limb) as usize;
    let message = &mut encoded[OVERHEAD..];
    // Never below zero; a check for that would need a branch.
    ct::shift_bytes(message, longest.wrapping_sub(length));
    output[..longest].copy_from_slice(message);
    length
}

/// Returns whether `encoded` is 00 02, at least eight nonzero bytes, 00 and a message. Also returns
/// the message's length, at most the longest, which is meaningless if the encoding is invalid.
fn parse(encoded: &[u8]) -> (Mask, usize) {
    let (start, rest) = encoded.split_at(OVERHEAD - 1);
    let is_zero = |byte: &u8| Mask::is_zero(Limb::from(*byte));
    let mut good = is_zero(&start[0]) & Mask::equal(Limb::from(start[1]), 2);
    for byte in &start[2..] {
        good = good & !is_zero(byte);
    }
    let mut found = Mask::from_bit(0);
    let mut length = 0;
    for (following, byte) in (0..).zip(rest.iter().rev()) {
        // The first zero is the last one seen when scanning from the end.
        length = is_zero(byte).select(following, length);
        found = found | is_zero(byte);
    }
    (good & found, length as usize)
}

/// The source of synthetic messages for invalid padding.
pub(in crate::scheme::rsa) struct Rejection {
    /// HMAC with the key derivation key.
    keyed: Hmac<Sha256>,
}

/// Number of candidates for the synthetic message's length.
const CANDIDATES: usize = 128;

impl Rejection {
    /// Derives the key for a ciphertext, which is as long as the modulus, and the private exponent
    /// d: KDK = HMAC(SHA-256(d), ciphertext), with d as long as the modulus, in bytes.
    pub(in crate::scheme::rsa) fn new(d: &[Limb], ciphertext: &[u8]) -> Self {
        let mut hash = Sha256::new();
        let mut leading = d.len() * LIMB_BYTES - ciphertext.len();
        for limb in d.iter().rev() {
            hash.update(&limb.to_be_bytes()[leading..]);
            leading = 0;
        }
        let mut key = hash.finalize();
        let mut keyed = hmac(&key);
        keyed.update(ciphertext);
        key.copy_from_slice(&keyed.finalize().into_bytes());
        let keyed = hmac(&key);
        key.as_mut_slice().zeroize();
        Self { keyed }
    }

    /// Computes IRPRF(KDK, label, length) and passes it to `each` in pieces with their positions.
    fn output(&self, label: &[u8], length: usize, mut each: impl FnMut(&[u8], usize)) {
        let bits = 8 * length as u16;
        for (i, at) in (0u16..).zip((0..length).step_by(32)) {
            let mut mac = self.keyed.clone();
            mac.update(&i.to_be_bytes());
            mac.update(label);
            mac.update(&bits.to_be_bytes());
            let mut block = mac.finalize().into_bytes();
            each(&block[..(length - at).min(32)], at);
            block.as_mut_slice().zeroize();
        }
    }

    /// Generates as many bytes as the modulus has; the synthetic message is at their end.
    fn message(&self, length: usize, each: impl FnMut(&[u8], usize)) {
        self.output(b"message", length, each);
    }

    /// Returns the length of the synthetic message, at most `longest`: the last candidate that is
    /// not longer. The probability that there is none is below 2^−128.
    fn length(&self, longest: usize) -> usize {
        // A mask of ones as wide as longest + 1.
        let ones = (longest + 2).next_power_of_two() as Limb - 1;
        let mut length = 0;
        self.output(b"length", 2 * CANDIDATES, |block, _| {
            for pair in block.chunks_exact(2) {
                let candidate = Limb::from(u16::from_be_bytes([pair[0], pair[1]])) & ones;
                length = Mask::less(longest as Limb, candidate).select(length, candidate);
            }
        });
        length as usize
    }
}

fn hmac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of every length")
}
