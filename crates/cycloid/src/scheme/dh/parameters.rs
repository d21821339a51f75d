//! Custom groups, checked on construction.

use rand_core::CryptoRng;

use super::group::Order;
use super::{Error, Group, MAX_BITS, MIN_BITS, checked_memory, limbs};
use crate::machine::words::{self, LIMB_BITS, LIMB_BYTES, Limb};
use crate::math::modular::{self, Exponent, Modulus};
use crate::math::{jacobi, prime};

/// The shortest order of a generator, in bits (NIST SP 800-56A rev. 3, table 1).
const MIN_ORDER_BITS: usize = 224;

/// Rounds of the Miller-Rabin test. The party that chose the number does not know the bases, so a
/// composite passes with a probability of at most 2^−128.
const ROUNDS: usize = 64;

/// Returns the limbs of memory for a [`Group`] with a modulus of `bits` bits: p, R² mod p, g and q.
pub const fn group_limbs(bits: usize) -> usize {
    4 * limbs(bits)
}

/// Returns the limbs of scratch for [`Group::new`] with a modulus of `bits` bits.
pub const fn group_scratch_limbs(bits: usize) -> usize {
    let n = limbs(bits);
    let needs = [
        prime::is_probable_prime_scratch_limbs(n),
        n + modular::pow_minimum_scratch_limbs(n),
        jacobi::scratch_limbs(n),
    ];
    let mut most = needs[0];
    let mut i = 1;
    while i < needs.len() {
        most = if needs[i] > most { needs[i] } else { most };
        i += 1;
    }
    most
}

/// The numbers of a group, big-endian; leading zeros are allowed. All are public.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'p> {
    /// p.
    pub prime: &'p [u8],
    /// g.
    pub generator: &'p [u8],
    /// q, the prime order of g. Without it, p must be a safe prime.
    pub order: Option<&'p [u8]>,
}

impl<'a> Group<'a> {
    /// Creates a custom group. If a known group has these parameters, returns that one without
    /// further checks.
    ///
    /// Checks the length of p, [`MIN_BITS`] to [`MAX_BITS`]; that p is prime; without a given q,
    /// that (p − 1)/2 is prime; with one, that q has at least 224 bits, is prime, divides p − 1,
    /// and that g^q = 1; and that g is between 2 and p − 2. Primality is tested with random bases
    /// from `rng`; a composite passes with a probability of at most 2^−128. This takes about as
    /// long as a hundred agreements with exponents as long as p.
    ///
    /// `memory` has at least [`group_limbs`], `scratch` [`group_scratch_limbs`] for the length of
    /// p. Time depends on the values.
    ///
    /// # Errors
    /// [`Error::ModulusLength`], [`Error::NotPrime`], [`Error::NotSafePrime`], [`Error::Order`],
    /// [`Error::Generator`], [`Error::MemoryTooSmall`].
    pub fn new(
        parameters: &Parameters<'_>,
        memory: &'a mut [Limb],
        rng: &mut impl CryptoRng,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let ([p, r_squared, g, q], scratch) = parameters.read(memory, scratch)?;
        let n = p.len();
        halve(q, p);
        // A given order of (p − 1)/2 means only that p must be a safe prime, and g a square.
        let mut is_square_wanted = false;
        let mut is_safe = true;
        if let Some(order) = parameters.order {
            let half = &mut scratch[..n];
            half.copy_from_slice(q);
            fill(q, order, Error::Order)?;
            is_safe = q == half;
            is_square_wanted = is_safe;
        }
        if let Some(known) = known(p, g).filter(|_| is_safe) {
            return Ok(*known);
        }
        if p[0] & 1 == 0 {
            return Err(Error::NotPrime);
        }
        let modulus = Modulus::prepare(p, r_squared, scratch)?;
        let mut is_prime = |number: &[Limb], rounds: usize| {
            prime::is_probable_prime_vartime(number, rounds, rng, scratch).map_err(Error::from)
        };
        if is_safe {
            // If q is prime, one round proves p = 2q + 1 prime. Let r^k be a prime power that
            // divides p exactly and is less than p: q does not divide the order of its units, so
            // a^2q = 1 only for a = ±1 modulo r^k. If a^q = ±1 modulo p, the sign is the same for
            // all r^k, so a = ±1 modulo p, which is not a base of the test.
            if !is_prime(q, ROUNDS)? {
                return Err(Error::NotSafePrime);
            }
            if !is_prime(p, 1)? {
                return Err(Error::NotPrime);
            }
        } else {
            let order_bits = words::bit_length_vartime(q);
            if order_bits < MIN_ORDER_BITS
                || order_bits >= words::bit_length_vartime(p)
                || !is_prime(q, ROUNDS)?
            {
                return Err(Error::Order);
            }
            if !is_prime(p, ROUNDS)? {
                return Err(Error::NotPrime);
            }
            if !is_one_modulo(p, q, &mut scratch[..n]) {
                return Err(Error::Order);
            }
        }
        check_range(g, p)?;
        let order = if !is_safe {
            let (power, scratch) = scratch.split_at_mut(n);
            let exponent = Exponent::new(words::trim_vartime(q));
            modular::pow_vartime(power, g, &exponent, &modulus, scratch)?;
            if words::trim_vartime(power) != [1] {
                return Err(Error::Generator);
            }
            Order::Prime(words::trim_vartime(q))
        } else if jacobi::symbol_vartime(g, p, scratch) == 1 {
            Order::Half
        } else if is_square_wanted {
            return Err(Error::Generator);
        } else {
            Order::Whole
        };
        Ok(Self::from_checked(None, modulus, words::trim_vartime(g), order))
    }

    /// Creates a group after the checks that need no random numbers: p is odd and of an allowed
    /// length, g is between 2 and p − 2, and a given q is less than p. Only for computing the
    /// public value of a private key, and for numbers that were checked before.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "alloc")]
    pub(in crate::scheme) fn unchecked(
        parameters: &Parameters<'_>,
        memory: &'a mut [Limb],
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let ([p, r_squared, g, q], scratch) = parameters.read(memory, scratch)?;
        let n = p.len();
        if p[0] & 1 == 0 {
            return Err(Error::NotPrime);
        }
        check_range(g, p)?;
        let order = match parameters.order {
            None => Order::Whole,
            Some(order) => {
                fill(q, order, Error::Order)?;
                let half = &mut scratch[..n];
                halve(half, p);
                match words::compare_vartime(q, p).is_lt() {
                    false => return Err(Error::Order),
                    true if q == half => Order::Half,
                    true => Order::Prime(words::trim_vartime(q)),
                }
            }
        };
        let modulus = Modulus::prepare(p, r_squared, scratch)?;
        Ok(Self::from_checked(None, modulus, words::trim_vartime(g), order))
    }
}

impl Parameters<'_> {
    /// Reads p and g if their lengths are allowed. Returns the memory of p, R², g and q, each as
    /// long as p, and the scratch.
    fn read<'m, 's>(
        &self,
        memory: &'m mut [Limb],
        scratch: &'s mut [Limb],
    ) -> Result<([&'m mut [Limb]; 4], &'s mut [Limb]), Error> {
        let bits = self.checked_bits()?;
        let n = limbs(bits);
        let memory = checked_memory(memory, group_limbs(bits))?;
        let scratch = checked_memory(scratch, group_scratch_limbs(bits))?;
        let (p, rest) = memory.split_at_mut(n);
        let (r_squared, rest) = rest.split_at_mut(n);
        let (g, q) = rest.split_at_mut(n);
        fill(p, self.prime, Error::ModulusLength { bits })?;
        fill(g, self.generator, Error::Generator)?;
        Ok(([p, r_squared, g, q], scratch))
    }

    /// Returns the length of p in bits, if it is allowed.
    fn checked_bits(&self) -> Result<usize, Error> {
        let bytes = trimmed(self.prime);
        let bits = bytes.first().map_or(0, |top| 8 * bytes.len() - top.leading_zeros() as usize);
        if (MIN_BITS..=MAX_BITS).contains(&bits) {
            Ok(bits)
        } else {
            Err(Error::ModulusLength { bits })
        }
    }
}

/// Returns an error if g is not between 2 and p − 2.
fn check_range(g: &[Limb], p: &[Limb]) -> Result<(), Error> {
    let is_minus_one = g[0] == p[0] - 1 && g[1..] == p[1..];
    let is_less = words::compare_vartime(g, p).is_lt();
    if words::bit_length_vartime(g) < 2 || !is_less || is_minus_one {
        return Err(Error::Generator);
    }
    Ok(())
}

/// Returns the known group with these parameters.
pub(super) fn known(p: &[Limb], g: &[Limb]) -> Option<&'static Group<'static>> {
    let same =
        |group: &&Group<'_>| group.prime() == p && group.generator() == words::trim_vartime(g);
    Group::KNOWN.into_iter().find(same)
}

/// Writes `bytes` to `number`; returns `error` if they do not fit.
fn fill(number: &mut [Limb], bytes: &[u8], error: Error) -> Result<(), Error> {
    let bytes = trimmed(bytes);
    if bytes.len() > number.len() * LIMB_BYTES {
        return Err(error);
    }
    words::from_be_bytes(number, bytes);
    Ok(())
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}

/// Computes `half = ⌊x / 2⌋`.
fn halve(half: &mut [Limb], x: &[Limb]) {
    for (i, half) in half.iter_mut().enumerate() {
        let next = x.get(i + 1).copied().unwrap_or(0);
        *half = x[i] >> 1 | next << (LIMB_BITS - 1);
    }
}

/// Returns whether x mod q is 1; `remainder` is working memory. All have the same number of limbs.
fn is_one_modulo(x: &[Limb], q: &[Limb], remainder: &mut [Limb]) -> bool {
    remainder.fill(0);
    for limb in x.iter().rev() {
        for bit in (0..LIMB_BITS).rev() {
            let carry = words::double(remainder);
            remainder[0] |= limb >> bit & 1;
            words::reduce_once(carry, remainder, q);
        }
    }
    words::trim_vartime(remainder) == [1]
}
