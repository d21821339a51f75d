//! The parameters of RSASSA-PSS and RSAES-OAEP.

use super::hash_function::HashFunction;
use crate::scheme::hash::Hash;

/// The RSASSA-PSS parameters that signer and verifier agree on (RFC 8017, appendix A.2.3).
///
/// [`Pss::new`] returns the most common parameters, which
/// [`Context::sign_pss`](super::Context::sign_pss) and
/// [`PublicKey::verify_pss`](super::PublicKey::verify_pss) use. `H` is [`enum@Hash`], or
/// [`HashFunction`] for other functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pss<H = Hash> {
    /// The hash function of the message.
    pub hash: H,
    /// The hash function of the mask, MGF1. Any will do, since MGF1 does not rely on collision
    /// resistance. SHAKE is a mask itself, without MGF1 (RFC 8702, section 3.1).
    pub mask_hash: H,
    /// The length of the salt, in bytes.
    pub salt_length: usize,
}

impl Pss {
    /// Uses one hash function for message and mask, and a salt as long as its digest.
    pub const fn new(hash: Hash) -> Self {
        Self { hash, mask_hash: hash, salt_length: hash.digest_length() }
    }
}

impl Pss<HashFunction> {
    /// Uses one hash function, of any kind, for message and mask, and a salt as long as its digest.
    pub const fn of(hash: HashFunction) -> Self {
        Self { hash, mask_hash: hash, salt_length: hash.digest_length() }
    }
}

impl<H: Into<HashFunction>> Pss<H> {
    /// Returns the same parameters, with hash functions of any kind.
    #[inline(always)]
    pub(super) fn general(self) -> Pss<HashFunction> {
        let (hash, mask_hash) = (self.hash.into(), self.mask_hash.into());
        Pss { hash, mask_hash, salt_length: self.salt_length }
    }
}

/// The OAEP parameters that sender and receiver agree on.
///
/// Every hash function except SHAKE is acceptable, including SHA-1: OAEP does not rely on collision
/// resistance. `H` is [`enum@Hash`], or [`HashFunction`] for other functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oaep<'a, H = Hash> {
    /// The hash function of the label; the seed is as long as its digest.
    pub hash: H,
    /// The hash function of the mask, MGF1.
    pub mask_hash: H,
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
        longest_message(self.hash.digest_length(), length)
    }
}

impl Oaep<'_, HashFunction> {
    /// Uses one hash function, of any kind, for label and mask, and an empty label.
    pub const fn of(hash: HashFunction) -> Self {
        Self { hash, mask_hash: hash, label: &[] }
    }

    /// Returns the length of the longest message, in bytes, under a modulus of `length` bytes.
    pub const fn longest_message(&self, length: usize) -> usize {
        longest_message(self.hash.digest_length(), length)
    }

    /// Returns whether an encoding fits a modulus of `length` bytes. Only a legacy key's modulus
    /// may be too short.
    pub(super) const fn fits(&self, length: usize) -> bool {
        2 * self.hash.digest_length() + 2 <= length
    }

    /// Returns whether a hash function is SHAKE, for which OAEP is not defined.
    pub(super) const fn uses_shake(&self) -> bool {
        self.hash.is_extendable() || self.mask_hash.is_extendable()
    }
}

impl<'a, H: Into<HashFunction>> Oaep<'a, H> {
    /// Returns the same parameters, with hash functions of any kind.
    #[inline(always)]
    pub(super) fn general(self) -> Oaep<'a, HashFunction> {
        let (hash, mask_hash) = (self.hash.into(), self.mask_hash.into());
        Oaep { hash, mask_hash, label: self.label }
    }
}

/// Returns the length of the longest message: an encoded one also has a zero, the seed, the label's
/// digest and a one.
const fn longest_message(digest_length: usize, length: usize) -> usize {
    // Zero if nothing fits, which happens with legacy keys alone.
    length.saturating_sub(2 * digest_length + 2)
}
