//! The private key, its public value and key agreement.

use core::fmt;

use rand_core::TryCryptoRng;

use super::group::Order;
use super::{Error, Group, Validation, checked_memory, limbs, public};
use crate::machine::ct::{self, Mask};
use crate::machine::stack;
use crate::machine::words::{self, LIMB_BITS, Limb};
use crate::math::modular::{self, Exponent};
use crate::scheme::{random, stack_use};

/// Returns the limbs of memory for a private key with an exponent of `exponent_bits` bits.
pub const fn private_key_limbs(exponent_bits: usize) -> usize {
    limbs(exponent_bits)
}

/// Returns the limbs of scratch with which operations are fastest, for a modulus of `bits` bits and
/// an exponent of `exponent_bits`.
pub const fn scratch_limbs(bits: usize, exponent_bits: usize) -> usize {
    2 * limbs(bits) + modular::pow_scratch_limbs(limbs(bits), exponent_bits)
}

/// Returns the minimum limbs of scratch of operations with a modulus of `bits` bits.
pub const fn minimum_scratch_limbs(bits: usize) -> usize {
    // The base, the result (or a check's result), and scratch for the exponentiation.
    2 * limbs(bits) + modular::pow_minimum_scratch_limbs(limbs(bits))
}

/// A private exponent x of a group, in the memory `M`; wiped when dropped.
///
/// The value is secret; its declared length in bits is public.
pub struct PrivateKey<'g, M: AsRef<[Limb]> + AsMut<[Limb]>> {
    group: Group<'g>,
    memory: M,
    bits: usize,
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>> Drop for PrivateKey<'_, M> {
    fn drop(&mut self) {
        ct::wipe(self.memory.as_mut());
    }
}

/// Prints only the group.
impl<M: AsRef<[Limb]> + AsMut<[Limb]>> fmt::Debug for PrivateKey<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dh::PrivateKey({:?})", self.group)
    }
}

impl<'g, M: AsRef<[Limb]> + AsMut<[Limb]>> PrivateKey<'g, M> {
    /// Draws a random exponent of at most [`Group::exponent_bits`] bits, uniform among those that
    /// the group allows (NIST SP 800-56A rev. 3, section 5.6.1.1.4).
    ///
    /// `memory` has at least [`private_key_limbs`]. Time depends on the number of refused draws and
    /// on nothing about the accepted one.
    ///
    /// # Errors
    /// [`Error::MemoryTooSmall`]; [`Error::RandomGenerator`] if the generator fails, returns the
    /// same eight bytes twice, or gives no usable value in 128 draws. Used memory is wiped then.
    pub fn generate(
        group: &Group<'g>,
        mut memory: M,
        rng: &mut impl TryCryptoRng,
    ) -> Result<Self, Error> {
        let bits = group.exponent_bits();
        let exponent = checked_memory(memory.as_mut(), private_key_limbs(bits))?;
        stack::clean(stack_use::DH, || draw(group, exponent, bits, rng))?;
        Ok(Self { group: *group, memory, bits })
    }

    /// Reads a given exponent, big-endian. If p is a safe prime, it is from 1 to p − 2 and not (p −
    /// 1)/2; otherwise it is from 1 to q − 1.
    ///
    /// Its length in bytes, including leading zeros, is public and determines the time of
    /// operations. `memory` has at least [`private_key_limbs`] for the bits of that length, or for
    /// those of p if they are fewer.
    ///
    /// # Errors
    /// [`Error::PrivateExponent`], [`Error::MemoryTooSmall`]; the memory is wiped then.
    pub fn new(group: &Group<'g>, exponent: &[u8], mut memory: M) -> Result<Self, Error> {
        let (beyond, bytes) = exponent.split_at(exponent.len().saturating_sub(group.length()));
        let bits = (8 * bytes.len()).min(group.bits());
        let limbs = checked_memory(memory.as_mut(), private_key_limbs(bits))?;
        let beyond = beyond.iter().fold(0, |any, byte| any | Limb::from(*byte));
        let allowed = stack::clean(stack_use::DH, || {
            words::from_be_bytes(limbs, bytes);
            Mask::is_zero(beyond).value() & is_allowed(group, limbs).value()
        });
        // Refused numbers are not used, so the refusal may be public.
        if Mask::is_zero(!allowed).reveal() {
            Ok(Self { group: *group, memory, bits })
        } else {
            ct::wipe(memory.as_mut());
            Err(Error::PrivateExponent)
        }
    }

    /// Returns the group.
    pub const fn group(&self) -> &Group<'g> {
        &self.group
    }

    /// Returns the limbs of x, lowest first.
    pub(super) fn exponent_limbs(&self) -> &[Limb] {
        &self.memory.as_ref()[..limbs(self.bits)]
    }

    pub(super) fn exponent(&self) -> Exponent<'_> {
        Exponent::with_bits(self.exponent_limbs(), self.bits).expect("checked when it was made")
    }

    /// Computes `value = g^x mod p`, big-endian, as long as p.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::MemoryTooSmall`]; nothing is written to `value` then.
    pub fn public_value(&self, value: &mut [u8], scratch: &mut [Limb]) -> Result<(), Error> {
        let group = &self.group;
        checked_length(group, value)?;
        let scratch = self.checked_scratch(scratch)?;
        let (result, rest) = scratch.split_at_mut(group.prime().len());
        stack::clean(stack_use::DH, || {
            modular::pow(result, group.generator(), &self.exponent(), &group.modulus(), rest)?;
            write_public(value, result);
            ct::wipe(result);
            Ok(())
        })
    }

    /// Computes the secret shared with the party whose public value is `peer`: `shared = peer^x mod
    /// p`, big-endian, as long as p (NIST SP 800-56A rev. 3, section 5.7.1.1; RFC 8446, section
    /// 7.4.1).
    ///
    /// `peer` is big-endian; leading zeros are allowed. A secret of 0, 1 or p − 1 is refused, and
    /// the refusal becomes public.
    ///
    /// # Errors
    /// [`Error::PublicRange`], [`Error::PublicSubgroup`], [`Error::SharedSecret`],
    /// [`Error::Length`], [`Error::MemoryTooSmall`]; nothing is written to `shared` then.
    pub fn agree(
        &self,
        peer: &[u8],
        validation: Validation,
        shared: &mut [u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        let group = &self.group;
        checked_length(group, shared)?;
        let scratch = self.checked_scratch(scratch)?;
        let outcome =
            stack::clean(stack_use::DH, || self.agree_in(peer, validation, shared, scratch));
        // The exponentiation has wiped the rest.
        ct::wipe(&mut scratch[..minimum_scratch_limbs(group.bits())]);
        outcome
    }

    fn agree_in(
        &self,
        peer: &[u8],
        validation: Validation,
        shared: &mut [u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        let group = &self.group;
        let (base, rest) = scratch.split_at_mut(group.prime().len());
        public::read(base, group, peer, validation, rest)?;
        let (secret, rest) = rest.split_at_mut(base.len());
        modular::pow(secret, base, &self.exponent(), &group.modulus(), rest)?;
        write_secret(shared, secret, group)
    }

    /// Returns the used part of the scratch.
    fn checked_scratch<'s>(&self, scratch: &'s mut [Limb]) -> Result<&'s mut [Limb], Error> {
        checked_memory(scratch, minimum_scratch_limbs(self.group.bits()))?;
        let used = scratch.len().min(scratch_limbs(self.group.bits(), self.bits));
        Ok(&mut scratch[..used])
    }
}

/// Draws a random exponent of at most the given bits that the group allows; zeros on an error.
fn draw(
    group: &Group<'_>,
    exponent: &mut [Limb],
    bits: usize,
    rng: &mut impl TryCryptoRng,
) -> Result<(), Error> {
    let last = exponent.len() - 1;
    for _ in 0..random::DRAWS {
        random::fill_limbs(rng, exponent)?;
        exponent[last] &= Limb::MAX >> (exponent.len() * LIMB_BITS - bits);
        // Refused numbers are not used, so the refusal may be public.
        if is_allowed(group, exponent).reveal() {
            return Ok(());
        }
    }
    ct::wipe(exponent);
    Err(Error::RandomGenerator)
}

/// Writes a public value, which is sent to the other party, and declares it public.
pub(super) fn write_public(value: &mut [u8], power: &[Limb]) {
    ct::mark_public(power);
    words::to_be_bytes(value, power);
}

/// Writes a shared secret unless it is predictable.
pub(super) fn write_secret(
    shared: &mut [u8],
    secret: &[Limb],
    group: &Group<'_>,
) -> Result<(), Error> {
    let others = |than: &[Limb]| secret[1..].iter().zip(than).fold(0, |any, (a, b)| any | (a ^ b));
    let small = Mask::is_zero(secret[1..].iter().fold(secret[0] & !1, |any, limb| any | limb));
    let prime = group.prime();
    let minus_one = Mask::is_zero(others(&prime[1..]) | (secret[0] ^ (prime[0] - 1)));
    // A refused secret is not used, so the refusal may be public.
    if !Mask::is_zero(small.value() | minus_one.value()).reveal() {
        return Err(Error::SharedSecret);
    }
    words::to_be_bytes(shared, secret);
    Ok(())
}

/// Returns an error if a result is not as long as p.
pub(super) fn checked_length(group: &Group<'_>, result: &[u8]) -> Result<(), Error> {
    let (needed, given) = (group.length(), result.len());
    if given == needed { Ok(()) } else { Err(Error::Length { needed, given }) }
}

/// Returns whether `exponent` is from 1 to q − 1. If p is a safe prime, whether it is from 1 to p −
/// 2 and not (p − 1)/2, so that g^x is neither 1 nor p − 1.
fn is_allowed(group: &Group<'_>, exponent: &[Limb]) -> Mask {
    let limb = |i: usize| exponent.get(i).copied().unwrap_or(0);
    let allowed = match group.order() {
        Order::Prime(order) => is_below(exponent, order).value(),
        Order::Half | Order::Whole => {
            let prime = group.prime();
            let half = group.half().enumerate().fold(0, |any, (i, half)| any | (limb(i) ^ half));
            let last = (1..prime.len())
                .fold(limb(0) ^ (prime[0] - 1), |any, i| any | (limb(i) ^ prime[i]));
            is_below(exponent, prime).value()
                & !Mask::is_zero(half).value()
                & !Mask::is_zero(last).value()
        }
    };
    !Mask::is_zero(allowed & !words::is_zero(exponent).value())
}

/// Returns whether `a < b`, for numbers of any lengths.
fn is_below(a: &[Limb], b: &[Limb]) -> Mask {
    let common = a.len().min(b.len());
    let below = words::is_less(&a[..common], &b[..common]);
    let equal_or_longer = words::is_zero(&a[common..]).value();
    let b_longer = !words::is_zero(&b[common..]).value();
    !Mask::is_zero(equal_or_longer & (below.value() | b_longer))
}
