//! Conversion between integers and residues, and constants.

use super::super::super::ct;
use super::super::super::lanes::{self, LANE_LIMB_BITS, LANES, LIMB_MASK, Lanes};
use super::super::super::words::{LIMB_BITS, Limb};
use super::super::Arithmetic;
use super::Shape;
use super::columns::MAX_COLUMNS;

/// Returns the residues of eight integers below 2^BITS.
#[inline(always)]
pub(super) fn load<A: Arithmetic<P, Element = [Lanes; M]>, P: Shape<M>, const M: usize>(
    arithmetic: A,
    numbers: &[P::Words],
) -> [Lanes; M] {
    assert_eq!(numbers.len(), LANES);
    let mut element = [Lanes::ZERO; M];
    for (lane, number) in numbers.iter().enumerate() {
        lanes::load(&mut element, lane, number.as_ref());
    }
    if !P::MONTGOMERY {
        return element;
    }
    let residue = arithmetic.mul(&element, &splat(&P::ENTER));
    ct::wipe(Lanes::as_limbs_mut(&mut element));
    residue
}

/// Writes the integers from 0 to the prime minus one.
#[inline(always)]
pub(super) fn store<A: Arithmetic<P, Element = [Lanes; M]>, P: Shape<M>, const M: usize>(
    arithmetic: A,
    element: &[Lanes; M],
    numbers: &mut [P::Words],
) {
    assert_eq!(numbers.len(), LANES);
    let mut integer = *element;
    if P::MONTGOMERY {
        // (x + Q·p) / R for x < R, and some Q that exceeds R by a 2⁵²th of it at most: below 2p.
        let mut one = [Lanes::ZERO; M];
        one[0] = Lanes([1; LANES]);
        integer = arithmetic.mul(element, &one);
    } else {
        // Below 3p.
        lanes::reduce_once(&mut integer, &splat(&P::LIMBS));
    }
    lanes::reduce_once(&mut integer, &splat(&P::LIMBS));
    for (lane, number) in numbers.iter_mut().enumerate() {
        lanes::store(number.as_mut(), &integer, lane);
    }
    ct::wipe(Lanes::as_limbs_mut(&mut integer));
}

/// Returns the same limbs in every lane.
#[inline(always)]
pub(super) fn splat<const M: usize>(limbs: &[Limb; M]) -> [Lanes; M] {
    limbs.map(|limb| Lanes([limb; LANES]))
}

/// Returns 2^(52·M) less a prime.
pub(super) const fn complement<const M: usize>(prime: &[Limb; M]) -> [Limb; M] {
    let (mut limbs, mut borrow, mut j) = ([0; M], 0, 0);
    while j < M {
        let limb = 0u64.wrapping_sub(prime[j]).wrapping_sub(borrow);
        limbs[j] = limb & LIMB_MASK;
        borrow = limb >> 63;
        j += 1;
    }
    limbs
}

/// Returns a prime times 2^`exponent`, as columns.
pub(super) const fn shifted(prime: &[Limb], exponent: usize) -> [Limb; MAX_COLUMNS] {
    let mut columns = [0; MAX_COLUMNS];
    let mut bit = 0;
    while bit < prime.len() * 64 {
        if prime[bit / 64] >> (bit % 64) & 1 == 1 {
            let at = exponent + bit;
            columns[at / LANE_LIMB_BITS] |= 1 << (at % LANE_LIMB_BITS);
        }
        bit += 1;
    }
    columns
}

/// Converts a number from 64-bit limbs to limbs of 52 bits.
pub(super) const fn limbs<const M: usize>(words: &[Limb]) -> [Limb; M] {
    let mut limbs = [0; M];
    let mut bit = 0;
    while bit < words.len() * LIMB_BITS {
        if words[bit / LIMB_BITS] >> (bit % LIMB_BITS) & 1 == 1 {
            limbs[bit / LANE_LIMB_BITS] |= 1 << (bit % LANE_LIMB_BITS);
        }
        bit += 1;
    }
    limbs
}

/// Returns twice a number; the result fits.
#[inline]
pub(super) const fn double<const M: usize>(limbs: &[Limb; M]) -> [Limb; M] {
    let mut twice = [0; M];
    let mut carry = 0;
    let mut j = 0;
    while j < M {
        let limb = limbs[j] << 1 | carry;
        twice[j] = limb & LIMB_MASK;
        carry = limb >> LANE_LIMB_BITS;
        j += 1;
    }
    assert!(carry == 0);
    twice
}

/// Returns R² modulo `modulus`, where R = 2^(52·M).
pub(super) const fn r_squared<const M: usize>(modulus: &[Limb; M]) -> [Limb; M] {
    power_of_two(modulus, 2 * M * LANE_LIMB_BITS)
}

/// Returns 2^`exponent` modulo `modulus`.
pub(super) const fn power_of_two<const M: usize>(
    modulus: &[Limb; M],
    exponent: usize,
) -> [Limb; M] {
    // The highest power of two below the modulus, or a lower one that is the result.
    let mut limb = M - 1;
    while modulus[limb] == 0 {
        limb -= 1;
    }
    let bits = limb * LANE_LIMB_BITS + modulus[limb].ilog2() as usize;
    let mut bit = if bits < exponent { bits } else { exponent };
    let mut power = [0; M];
    power[bit / LANE_LIMB_BITS] = 1 << (bit % LANE_LIMB_BITS);
    while bit < exponent {
        power = double(&power);
        // Minus the modulus, unless that is negative.
        let mut difference = [0; M];
        let mut borrow = 0;
        let mut j = 0;
        while j < M {
            let limb = power[j].wrapping_sub(modulus[j]).wrapping_sub(borrow);
            difference[j] = limb & LIMB_MASK;
            borrow = limb >> (LIMB_BITS - 1);
            j += 1;
        }
        if borrow == 0 {
            power = difference;
        }
        bit += 1;
    }
    power
}
