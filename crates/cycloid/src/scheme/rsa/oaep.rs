//! Encryption with optimal asymmetric padding, RSAES-OAEP (RFC 8017, section 7.1).

use rand_core::CryptoRng;

use super::context::Context;
use super::operation::Operation;
use super::pss::mask;
use super::public::PublicKey;
use super::{Error, Hash};
use crate::machine::ct::{self, Mask};
use crate::machine::stack;
use crate::machine::words::Limb;
use crate::scheme::{random, stack_use};

/// The OAEP parameters that sender and receiver agree on.
///
/// Every [`enum@Hash`] is acceptable, including SHA-1: OAEP does not rely on collision resistance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oaep<'a> {
    /// The hash function of the label; the seed is as long as its digest.
    pub hash: Hash,
    /// The hash function of the mask, MGF1.
    pub mask_hash: Hash,
    /// The label that the ciphertext is bound to. The ciphertext does not contain it.
    pub label: &'a [u8],
}

impl Oaep<'_> {
    /// Uses one hash function for label and mask, and an empty label.
    pub const fn new(hash: Hash) -> Self {
        Self { hash, mask_hash: hash, label: &[] }
    }

    /// Returns the length of the longest message, in bytes, under a modulus of `length` bytes.
    pub const fn longest_message(&self, length: usize) -> usize {
        // Zero if nothing fits, which cannot happen with a modulus of 2048 bits or more.
        length.saturating_sub(self.overhead())
    }

    /// Returns the bytes of an encoded message besides the message: a zero, the seed, the label's
    /// digest and a one.
    const fn overhead(&self) -> usize {
        2 * self.hash.digest_length() + 2
    }
}

/// EME-OAEP encoding (RFC 8017, section 7.1.1, step 2): fills `encoded`, which is as long as the
/// modulus. Constant-time except for lengths and the label.
///
/// # Errors
/// [`Error::MessageTooLong`], [`Error::RandomGenerator`].
pub(super) fn encode(
    encoded: &mut [u8],
    oaep: &Oaep<'_>,
    rng: &mut impl CryptoRng,
    message: &[u8],
) -> Result<(), Error> {
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
/// `output` has at least [`Oaep::longest_message`] bytes. Constant-time except for success or
/// failure: nothing reveals which check failed, and only the returned length reveals where the
/// message begins.
///
/// # Errors
/// [`Error::Decryption`]; `output` is untouched then.
pub(super) fn decode(
    encoded: &mut [u8],
    oaep: &Oaep<'_>,
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

impl<M: AsRef<[Limb]>> PublicKey<M> {
    /// RSAES-OAEP: encrypts a message of at most [`Oaep::longest_message`] bytes with the caller's
    /// random generator. `ciphertext` is as long as the modulus; `scratch` has at least
    /// [`encrypt_scratch_limbs`](super::encrypt_scratch_limbs) and is wiped. Constant-time except
    /// for lengths and the label.
    ///
    /// ```
    /// # use cycloid::scheme::{Hash, rsa::{self, Oaep, PublicKey}};
    /// # fn example(key: &PublicKey<&[u64]>, rng: &mut impl rand_core::CryptoRng) -> Result<(), rsa::Error> {
    /// const BITS: usize = 2048;
    /// let mut ciphertext = [0; BITS / 8];
    /// let mut scratch = [0; rsa::encrypt_scratch_limbs(BITS)];
    /// let oaep = Oaep { label: b"session 7", ..Oaep::new(Hash::Sha256) };
    /// key.encrypt_oaep(&oaep, b"a key", rng, &mut ciphertext, &mut scratch)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::MessageTooLong`], [`Error::Length`], [`Error::MemoryTooSmall`],
    /// [`Error::RandomGenerator`], [`Error::Restricted`]; `ciphertext` is untouched then.
    pub fn encrypt_oaep(
        &self,
        oaep: &Oaep<'_>,
        message: &[u8],
        rng: &mut impl CryptoRng,
        ciphertext: &mut [u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        stack::clean(stack_use::RSA_PUBLIC, || {
            self.encrypt(ciphertext, scratch, |encoded| encode(encoded, oaep, rng, message))
        })
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> Context<'_, M, R> {
    /// RSAES-OAEP: decrypts a ciphertext, writes the message to the start of `output` and returns
    /// its length.
    ///
    /// `output` has at least [`Oaep::longest_message`] bytes, so that time does not depend on the
    /// message's length. That many bytes are written, with zeros after the message.
    ///
    /// ```
    /// # use cycloid::scheme::{Hash, rsa::{self, Context, Oaep}};
    /// # fn example(
    /// #     context: &mut Context<'_, [u64; 320], impl rand_core::CryptoRng>,
    /// #     ciphertext: &[u8],
    /// # ) -> Result<(), rsa::Error> {
    /// let oaep = Oaep { label: b"session 7", ..Oaep::new(Hash::Sha256) };
    /// let mut output = [0; 190];
    /// let length = context.decrypt_oaep(&oaep, ciphertext, &mut output)?;
    /// let message = &output[..length];
    /// # let _ = message;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Decryption`] if the padding, the label or the key is wrong, without saying which.
    /// From public values: [`Error::Length`] and [`Error::OutOfRange`] for the ciphertext,
    /// [`Error::OutputTooSmall`], [`Error::Restricted`]. Also [`Error::RandomGenerator`] and
    /// [`Error::Fault`]. `output` is untouched then.
    pub fn decrypt_oaep(
        &mut self,
        oaep: &Oaep<'_>,
        ciphertext: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Error> {
        self.perform(Operation::decrypt_oaep(*oaep, ciphertext, output))
    }
}

#[cfg(test)]
mod tests;
