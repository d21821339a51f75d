//! Signatures with the probabilistic scheme, RSASSA-PSS (RFC 8017, sections 8.1 and 9.1).

use rand_core::CryptoRng;

use super::context::Context;
use super::operation::Operation;
use super::public::PublicKey;
use super::verification::Scheme;
use super::{Error, Hash};
use crate::machine::words::Limb;

/// The RSASSA-PSS parameters that signer and verifier agree on (RFC 8017, appendix A.2.3).
///
/// [`Pss::new`] returns the most common parameters, which [`Context::sign_pss`] and
/// [`PublicKey::verify_pss`] use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pss {
    /// The hash function of the message.
    pub hash: Hash,
    /// The hash function of the mask, MGF1. Any will do, since MGF1 does not rely on collision
    /// resistance.
    pub mask_hash: Hash,
    /// The length of the salt, in bytes.
    pub salt_length: usize,
}

impl Pss {
    /// Uses one hash function for message and mask, and a salt as long as its digest.
    pub const fn new(hash: Hash) -> Self {
        Self { hash, mask_hash: hash, salt_length: hash.digest_length() }
    }
}

/// The salt of a signature being verified, by its length in bytes.
#[derive(Clone, Copy)]
pub(super) enum Salt {
    Exactly(usize),
    AtLeast(usize),
}

/// Computes `data ^= MGF1(seed)` (RFC 8017, appendix B.2.1).
pub(super) fn mask(hash: Hash, seed: &[u8], data: &mut [u8]) {
    for (counter, block) in (0u32..).zip(data.chunks_mut(hash.digest_length())) {
        let digest = hash.digest(&[seed, &counter.to_be_bytes()]);
        for (byte, mask) in block.iter_mut().zip(&*digest) {
            *byte ^= mask;
        }
    }
}

/// Returns H = Hash(eight zeros ‖ digest ‖ salt).
fn seed(hash: Hash, digest: &[u8], salt: &[u8]) -> crate::scheme::hash::DigestBytes {
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
pub(super) fn encode(
    buffer: &mut [u8],
    modulus_bits: usize,
    pss: Pss,
    digest: &[u8],
    rng: &mut impl CryptoRng,
) -> Result<(), Error> {
    let leading = buffer.len() - (modulus_bits - 1).div_ceil(8);
    buffer[..leading].fill(0);
    let (encoded, used) = encoded(buffer, modulus_bits);
    // 3. Digest, salt and two bytes must fit.
    if pss.salt_length > encoded.len() - digest.len() - 2 {
        return Err(Error::SaltTooLong);
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
pub(super) fn is_encoding_of(
    buffer: &mut [u8],
    modulus_bits: usize,
    hash: Hash,
    mask_hash: Hash,
    digest: &[u8],
    salt: Salt,
) -> bool {
    let leading = buffer.len() - (modulus_bits - 1).div_ceil(8);
    if buffer[..leading].iter().any(|byte| *byte != 0) {
        return false;
    }
    let (encoded, used) = encoded(buffer, modulus_bits);
    // 3 to 5. maskedDB ‖ H ‖ bc. 6. Unused bits are zero.
    let (db, end) = encoded.split_at_mut(encoded.len() - digest.len() - 1);
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

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> Context<'_, M, R> {
    /// Signs a message with RSASSA-PSS and a random salt as long as the digest; `signature` is as
    /// long as the modulus.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::HashRetired`], [`Error::RestrictedPss`],
    /// [`Error::RandomGenerator`], [`Error::Fault`]; `signature` is untouched then.
    pub fn sign_pss(
        &mut self,
        hash: Hash,
        message: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.sign_pss_with(Pss::new(hash), &hash.digest(&[message]), signature)
    }

    /// Like [`sign_pss`](Self::sign_pss), for a message given by its digest, with a random salt of
    /// `salt_length` bytes.
    ///
    /// # Errors
    /// As [`sign_pss`](Self::sign_pss), [`Error::DigestLength`], and [`Error::SaltTooLong`] if the
    /// salt does not fit the modulus.
    pub fn sign_pss_prehashed(
        &mut self,
        hash: Hash,
        digest: &[u8],
        salt_length: usize,
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.sign_pss_with(Pss { salt_length, ..Pss::new(hash) }, digest, signature)
    }

    /// Like [`sign_pss_prehashed`](Self::sign_pss_prehashed), with all parameters chosen by the
    /// caller.
    ///
    /// # Errors
    /// As [`sign_pss_prehashed`](Self::sign_pss_prehashed).
    pub fn sign_pss_with(
        &mut self,
        pss: Pss,
        digest: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.perform(Operation::sign_pss(pss, digest, signature)?)?;
        Ok(())
    }
}

impl<M: AsRef<[Limb]>> PublicKey<M> {
    /// Verifies an RSASSA-PSS signature whose salt is as long as the digest. `scratch` has at
    /// least [`verify_scratch_limbs`](super::verify_scratch_limbs). All values are public.
    ///
    /// # Errors
    /// [`Error::Signature`] if it is not valid; [`Error::MemoryTooSmall`];
    /// [`Error::RestrictedPss`].
    pub fn verify_pss(
        &self,
        hash: Hash,
        message: &[u8],
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        self.verify_pss_with(Pss::new(hash), &hash.digest(&[message]), signature, scratch)
    }

    /// Like [`verify_pss`](Self::verify_pss), for a message given by its digest, with a salt of
    /// `salt_length` bytes, or of any length.
    ///
    /// # Errors
    /// As [`verify_pss`](Self::verify_pss), and [`Error::DigestLength`].
    pub fn verify_pss_prehashed(
        &self,
        hash: Hash,
        digest: &[u8],
        salt_length: Option<usize>,
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        self.verify(Scheme::pss_of(hash, salt_length), hash, digest, signature, scratch)
    }

    /// Like [`verify_pss`](Self::verify_pss), for a message given by its digest, with all
    /// parameters chosen by the caller.
    ///
    /// # Errors
    /// As [`verify_pss_prehashed`](Self::verify_pss_prehashed).
    pub fn verify_pss_with(
        &self,
        pss: Pss,
        digest: &[u8],
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        self.verify(Scheme::pss(pss), pss.hash, digest, signature, scratch)
    }
}
