//! Key generation (FIPS 186-5, appendix A.1.3: random probable primes).

use rand_core::CryptoRng;

use super::length::{MAX_BITS, MIN_GENERATED_BITS};
use super::numbers::{are_apart, divide_exactly, inverse_of, invert_exponent, multiply, remainder};
use super::private::{Parts, PrivateKey, private_key_limbs};
use super::{Error, KeyError, checked_memory, prime_limbs};
use crate::machine::ct::{self, Mask};
use crate::machine::stack;
use crate::machine::words::{self, Limb};
use crate::math::modular::{self, Modulus};
use crate::math::prime::{self, powers_of_two};
use crate::scheme::stack_use;

/// Returns the limbs of scratch for generating a key of `bits` bits. The search for a prime of h
/// limbs needs more than the 16·h + 16 limbs of all later steps.
pub const fn generate_scratch_limbs(bits: usize) -> usize {
    prime::generate_scratch_limbs(prime_limbs(bits))
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>> PrivateKey<M> {
    /// Generates a key of exactly `bits` bits, an even number, with a public exponent that is odd
    /// and at least 65537.
    ///
    /// `memory` has at least [`private_key_limbs`], and `scratch` [`generate_scratch_limbs`], which
    /// is wiped. Time depends on the number of candidates tried, which reveals nothing about the
    /// primes.
    ///
    /// # Errors
    /// [`Error::GeneratedLength`], [`KeyError::PublicExponent`], [`Error::MemoryTooSmall`];
    /// [`Error::RandomGenerator`] if `rng` repeats itself, or gives no prime among the standard's
    /// maximum number of candidates, which happens to a sound generator once in 10¹² times.
    pub fn generate(
        bits: usize,
        public_exponent: u32,
        memory: M,
        rng: &mut impl CryptoRng,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        check_generated_length(bits)?;
        Self::generate_checked(bits, public_exponent, memory, rng, scratch)
    }

    /// Like [`generate`](Self::generate), for an even number of bits that the caller has checked.
    pub(super) fn generate_checked(
        bits: usize,
        public_exponent: u32,
        mut memory: M,
        rng: &mut impl CryptoRng,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        if public_exponent < 65537 || public_exponent.is_multiple_of(2) {
            return Err(KeyError::PublicExponent.into());
        }
        let exponent = u64::from(public_exponent);
        let scratch = checked_memory(scratch, generate_scratch_limbs(bits))?;
        checked_memory(memory.as_mut(), private_key_limbs(bits))?;
        let room = memory.as_mut();
        let outcome = stack::clean(stack_use::RSA_GENERATE, || {
            fill(room, bits, exponent, rng, &mut *scratch)
        });
        ct::wipe(scratch);
        match outcome {
            Ok(()) => Ok(Self::from_prepared(memory, bits, exponent)),
            Err(error) => {
                ct::wipe(memory.as_mut());
                Err(error)
            }
        }
    }
}

/// Returns an error unless keys of this length are generated.
pub(super) fn check_generated_length(bits: usize) -> Result<(), Error> {
    if (MIN_GENERATED_BITS..=MAX_BITS).contains(&bits) && bits.is_multiple_of(2) {
        Ok(())
    } else {
        Err(Error::GeneratedLength { bits })
    }
}

/// Computes all parts of a key in its memory.
fn fill(
    memory: &mut [Limb],
    bits: usize,
    exponent: u64,
    rng: &mut impl CryptoRng,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let Parts { n, n_r_squared, d, p, p_r_squared, d_p, q, q_r_squared, d_q, q_inverse, .. } =
        Parts::of_mut(memory, bits)?;
    let h = p.len();
    // 4, 5. Primes p with e invertible modulo p − 1, at least 2^(bits/2 − 100) apart, among 5·nlen
    // and 10·nlen candidates.
    let usable = |prime: &[Limb]| inverse_of(less_one_modulo(prime, exponent), exponent).is_some();
    prime::generate_within(5 * bits, p, bits / 2, usable, rng, scratch)?;
    // A refused prime is not used, so the refusal may be public.
    let far = |prime: &[Limb]| usable(prime) && are_apart(p, prime, bits, &mut *d_p).reveal();
    prime::generate_within(10 * bits, q, bits / 2, far, rng, scratch)?;

    let (product, scratch) = scratch.split_at_mut(2 * h);
    multiply(product, p, q);
    n.copy_from_slice(&product[..n.len()]);
    // The modulus is half of the public key.
    ct::mark_public(n);

    // d mod (p − 1) and d mod (q − 1) are the inverses of e modulo p − 1 and q − 1.
    let (order_p, scratch) = scratch.split_at_mut(h);
    let (order_q, scratch) = scratch.split_at_mut(h);
    order_p.copy_from_slice(p);
    order_q.copy_from_slice(q);
    words::decrement(order_p);
    words::decrement(order_q);
    invert_exponent(d_p, order_p, exponent, scratch)?;
    invert_exponent(d_q, order_q, exponent, scratch)?;

    // λ = lcm(p − 1, q − 1) = (p − 1)·q' / g, doubled as often as necessary, where q' is q − 1
    // without its factors of 2 and g the greatest common divisor of q' and p − 1. The length of q'
    // is secret, so no operand has it: for every odd m, g is gcd(p − 1, m) with m = 3·(p − 1) + q',
    // which has two bits more than the primes since √2·2^(h−1) < p − 1 < 2^h and q' < 2^(h−1).
    let (multiple, rest) = scratch.split_at_mut(h + 1);
    let (padded, rest) = rest.split_at_mut(h + 1);
    let (divisor, rest) = rest.split_at_mut(h + 1);
    let twos_of_q = powers_of_two::take_out(order_q);
    multiply(multiple, order_p, &[3]);
    words::add(multiple, order_q);
    padded[..h].copy_from_slice(order_p);
    padded[h] = 0;
    modular::gcd_long_in_frames(divisor, padded, multiple, rest)?;
    let (quotient, rest) = rest.split_at_mut(h);
    divide_exactly(quotient, order_q, &divisor[..h]);
    let twos_of_p = powers_of_two::take_out(order_p);
    multiply(product, order_p, quotient);
    let is_less = Mask::less(twos_of_p, twos_of_q);
    powers_of_two::put_in(product, is_less.select(twos_of_q, twos_of_p));
    let (whole, rest) = rest.split_at_mut(product.len());
    invert_exponent(whole, product, exponent, rest)?;
    d.copy_from_slice(&whole[..d.len()]);

    let scratch = rest;
    Modulus::prepare(n, n_r_squared, scratch)?;
    Modulus::prepare(q, q_r_squared, scratch)?;
    let p_modulus = Modulus::prepare(p, p_r_squared, scratch)?;
    // 1/q mod p.
    let residue = &mut product[..h];
    modular::mul(residue, q, &[1], &p_modulus, scratch)?;
    modular::invert_long_in_frames(q_inverse, residue, p, scratch)?;
    Ok(())
}

/// Returns `x − 1 mod exponent` for an odd x, in constant time.
fn less_one_modulo(x: &[Limb], exponent: u64) -> Limb {
    let rest = remainder(x, exponent);
    Mask::is_zero(rest).select(exponent - 1, rest.wrapping_sub(1))
}

#[cfg(test)]
mod tests;
