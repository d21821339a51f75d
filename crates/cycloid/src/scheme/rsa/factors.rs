//! Keys with primes of unequal lengths or with three to five primes (RFC 8017, section 3.2).
//!
//! The primes lie where the halves of other keys do, each with its exponent and its coefficient.
//! They are checked and written back; operations compute modulo n.

use super::components::PrivateComponents;
use super::numbers::{are_apart, equal, fill, is_one, modulo};
use super::{Error, KeyError, checked_memory, limbs};
use crate::machine::ct::Mask;
use crate::machine::words::{self, LIMB_BYTES, Limb, rare};
use crate::math::modular::Modulus;

/// The most primes of a key.
pub(super) const MAX_PRIMES: usize = 5;

/// The shortest prime, in bytes. Finding a factor of this length with elliptic curves takes longer
/// than factoring the modulus.
const MIN_PRIME_BYTES: usize = 64;

/// The lengths of a key's primes in limbs; zero stands for none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Lengths([u16; MAX_PRIMES]);

impl Lengths {
    fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().map(usize::from).take_while(|length| *length > 0)
    }
}

/// A prime, d modulo the prime less 1, and its coefficient: for the first prime the inverse of the
/// second, for the second prime nothing.
pub(super) struct Factor<T> {
    pub(super) prime: T,
    pub(super) exponent: T,
    pub(super) coefficient: T,
}

/// Returns the primes stored in a key's memory after n, R² and d.
pub(super) fn of(
    memory: &[Limb],
    lengths: Lengths,
) -> impl Iterator<Item = Factor<&[Limb]>> + use<'_> {
    let mut rest = memory;
    lengths.iter().enumerate().map(move |(i, length)| {
        let (prime, after) = rest.split_at(length);
        let (exponent, after) = after.split_at(length);
        let (coefficient, after) = after.split_at(length);
        rest = after;
        Factor { prime, exponent, coefficient: if i == 1 { &[] } else { coefficient } }
    })
}

/// Returns the limbs of scratch of [`load`] for a modulus of `n` limbs: two products, and four
/// numbers as long as a prime.
pub(super) const fn scratch_limbs(n: usize) -> usize {
    2 * (n + MAX_PRIMES) + 4 * n
}

/// Loads the primes into a key's memory, which holds n and d already, checks them and prepares n.
pub(super) fn load(
    components: &PrivateComponents<'_>,
    bits: usize,
    exponent: u64,
    memory: &mut [Limb],
    scratch: &mut [Limb],
) -> Result<Lengths, Error> {
    let scratch = checked_memory(scratch, scratch_limbs(limbs(bits)))?;
    let (whole, memory) = memory.split_at_mut(3 * limbs(bits));
    let (n, whole) = whole.split_at_mut(limbs(bits));
    let (r_squared, d) = whole.split_at_mut(limbs(bits));
    let lengths = fill_factors(components, n.len(), memory)?;
    check_factors(memory, lengths, [n, d], exponent, scratch)?;
    super::public::check_fingerprint(n)?;
    Modulus::prepare(n, r_squared, scratch)?;
    Ok(lengths)
}

/// Writes the primes, exponents and coefficients to memory.
fn fill_factors(
    components: &PrivateComponents<'_>,
    n: usize,
    memory: &mut [Limb],
) -> Result<Lengths, Error> {
    let PrivateComponents { prime1, exponent1, coefficient, prime2, exponent2, .. } = *components;
    let both = [[prime1, exponent1, coefficient], [prime2, exponent2, &[]]];
    let others = components.other_primes.iter();
    let others = others.map(|other| [other.prime, other.exponent, other.coefficient]);
    if both.len() + others.len() > MAX_PRIMES {
        return Err(KeyError::MultiPrime.into());
    }
    let mut lengths = [0; MAX_PRIMES];
    let mut rest = memory;
    for (length, [prime, exponent, coefficient]) in
        lengths.iter_mut().zip(both.into_iter().chain(others))
    {
        // The lengths of the primes are public.
        let is_zero = |byte: &&u8| Mask::is_zero(Limb::from(**byte)).reveal();
        let prime = &prime[prime.iter().take_while(is_zero).count()..];
        if prime.len() < MIN_PRIME_BYTES {
            return Err(KeyError::Primes.into());
        }
        let l = prime.len().div_ceil(LIMB_BYTES);
        let (this, after) = rest.split_at_mut_checked(3 * l).ok_or(KeyError::Product)?;
        fill(&mut this[..l], prime, Error::Key(KeyError::Primes))?;
        fill(&mut this[l..2 * l], exponent, Error::Key(KeyError::PrivateExponent))?;
        fill(&mut this[2 * l..], coefficient, Error::Key(KeyError::PrivateExponent))?;
        *length = l as u16;
        rest = after;
    }
    let lengths = Lengths(lengths);
    // Each prime adds less than a limb to the length of the product. So three numbers for each
    // prime fit into the 3.5 times the length of the modulus that the halves occupy.
    let sum: usize = lengths.iter().sum();
    if (n..=n + MAX_PRIMES).contains(&sum) {
        Ok(lengths)
    } else {
        Err(Error::Key(KeyError::Product))
    }
}

/// Checks that n is the product of the primes, that they are odd and far apart, and that d, the
/// exponents and the coefficients match them.
fn check_factors(
    memory: &[Limb],
    lengths: Lengths,
    [n, d]: [&[Limb]; 2],
    exponent: u64,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let room = n.len() + MAX_PRIMES;
    let (product, scratch) = scratch.split_at_mut(room);
    let (next, scratch) = scratch.split_at_mut(room);
    let mut used = 0;
    let mut right = rare::is_less(d, n);
    for (i, factor) in of(memory, lengths).enumerate() {
        let Factor { prime, exponent: residue, coefficient } = factor;
        let l = prime.len();
        // Whether the parts form a key is the result of the import.
        if !Mask::from_bit(prime[0] & 1).reveal() {
            return Err(KeyError::Even.into());
        }
        for earlier in of(memory, lengths).take(i) {
            check_apart(earlier.prime, prime, scratch)?;
        }
        // e·d ≡ e·d_i ≡ 1 modulo r_i − 1.
        let (order, rest) = scratch.split_at_mut(l);
        let (remainder, rest) = rest.split_at_mut(l);
        order.copy_from_slice(prime);
        order[0] &= !1;
        right = right & rare::is_less(residue, order);
        for candidate in [residue, d] {
            let multiple = &mut rest[..candidate.len() + 1];
            words::product(multiple, candidate, &[exponent]);
            modulo(remainder, multiple, order);
            right = right & is_one(remainder);
        }
        // q·qInv ≡ 1 modulo p, R_i·t_i ≡ 1 modulo r_i.
        if i != 1 {
            let second = of(memory, lengths).nth(1).map_or(&[][..], |factor| factor.prime);
            modulo(remainder, if i == 0 { second } else { &product[..used] }, prime);
            let multiple = &mut rest[..2 * l];
            words::product(multiple, remainder, coefficient);
            modulo(remainder, multiple, prime);
            right = right & is_one(remainder) & rare::is_less(coefficient, prime);
        }
        if i == 0 {
            product[..l].copy_from_slice(prime);
        } else {
            words::product(&mut next[..used + l], &product[..used], prime);
            product[..used + l].copy_from_slice(&next[..used + l]);
        }
        used += l;
    }
    let (low, high) = product[..used].split_at(n.len());
    // Whether the parts form a key is the result of the import.
    if !(equal(low, n) & rare::is_zero(high)).reveal() {
        return Err(KeyError::Product.into());
    }
    // Whether the exponents and coefficients match is the result of the import.
    if right.reveal() { Ok(()) } else { Err(Error::Key(KeyError::PrivateExponent)) }
}

/// Checks that two primes differ in the 100 highest bits of the longer one, as FIPS 186-5, appendix
/// A.1.3, requires of halves.
fn check_apart(a: &[Limb], b: &[Limb], scratch: &mut [Limb]) -> Result<(), Error> {
    let l = a.len().max(b.len());
    let (a_padded, rest) = scratch.split_at_mut(l);
    let (b_padded, room) = rest.split_at_mut(l);
    for (padded, number) in [(&mut *a_padded, a), (&mut *b_padded, b)] {
        padded.fill(0);
        padded[..number.len()].copy_from_slice(number);
    }
    let top = a_padded[l - 1] | b_padded[l - 1];
    // The lengths of the primes in bytes are public.
    let used = top.to_be_bytes();
    let used = used.iter().position(|byte| !Mask::is_zero(Limb::from(*byte)).reveal());
    let bits = 8 * (l * LIMB_BYTES - used.unwrap_or(0));
    // Whether the primes are far enough apart is the result of the import.
    if are_apart(a_padded, b_padded, 2 * bits, room).reveal() {
        Ok(())
    } else {
        Err(Error::Key(KeyError::Primes))
    }
}
