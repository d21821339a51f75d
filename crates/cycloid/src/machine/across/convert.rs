//! Conversion between 64-bit limbs and digits, and functions linear in the length.

use super::super::ct::Mask;
use super::super::lanes::Lanes;
use super::super::words::{LIMB_BITS, Limb};
use super::{DIGIT_BITS, DIGIT_MASK};

/// Sets `destination` to `source`, a little-endian number of 64-bit limbs, with leading zeros.
///
/// Bits of `source` beyond the 51·8 bits per element that fit must be zero.
pub fn load(destination: &mut [Lanes], source: &[Limb]) {
    let destination = Lanes::as_limbs_mut(destination);
    for (i, digit) in destination.iter_mut().enumerate() {
        let (word, bit) = word_and_bit(i);
        let low = source.get(word).copied().unwrap_or(0) >> bit;
        // Shifting in two steps makes the shift by 64, for bit 0, give zero.
        let high = source.get(word + 1).copied().unwrap_or(0) << 1 << (LIMB_BITS - 1 - bit);
        *digit = (low | high) & DIGIT_MASK;
    }
    debug_assert!({
        let (word, bit) = word_and_bit(destination.len());
        let mut beyond = source.get(word..).unwrap_or(&[]).iter();
        beyond.next().is_none_or(|limb| limb >> bit == 0) && beyond.all(|limb| *limb == 0)
    });
}

/// Sets `destination` to `source`, whose digits must be below 2⁵¹, as a little-endian number of
/// 64-bit limbs, with leading zeros.
///
/// Bits of `source` beyond the 64·`destination.len()` bits that fit must be zero.
pub fn store(destination: &mut [Limb], source: &[Lanes]) {
    destination.fill(0);
    for (i, digit) in Lanes::as_limbs(source).iter().enumerate() {
        let (word, bit) = word_and_bit(i);
        debug_assert!(*digit <= DIGIT_MASK);
        let high = digit >> 1 >> (LIMB_BITS - 1 - bit);
        for (word, part) in [(word, digit << bit), (word + 1, high)] {
            match destination.get_mut(word) {
                Some(destination) => *destination |= part,
                None => debug_assert_eq!(part, 0),
            }
        }
    }
}

/// Returns the position of digit `i` in a number of 64-bit limbs.
const fn word_and_bit(i: usize) -> (usize, usize) {
    let bit = i * DIGIT_BITS;
    (bit / LIMB_BITS, bit % LIMB_BITS)
}

/// Reduces an almost reduced `a` modulo `modulus`, to digits below 2⁵¹; the digits of `modulus` are
/// below 2⁵¹.
pub fn reduce(a: &mut [Lanes], modulus: &[Lanes]) {
    let a = Lanes::as_limbs_mut(a);
    let mut carry = 0;
    for digit in a.iter_mut() {
        let sum = *digit + carry;
        (*digit, carry) = (sum & DIGIT_MASK, sum >> DIGIT_BITS);
    }
    debug_assert_eq!(carry, 0);
    reduce_once(a, Lanes::as_limbs(modulus));
}

/// Computes `a = 2·a mod modulus` for a < modulus, with all digits below 2⁵¹.
pub(super) fn double_mod(a: &mut [Lanes], modulus: &[Lanes]) {
    let a = Lanes::as_limbs_mut(a);
    let mut carry = 0;
    for digit in a.iter_mut() {
        let double = *digit << 1 | carry;
        (*digit, carry) = (double & DIGIT_MASK, double >> DIGIT_BITS);
    }
    debug_assert_eq!(carry, 0);
    reduce_once(a, Lanes::as_limbs(modulus));
}

/// Computes `a −= modulus` if `a ≥ modulus`.
fn reduce_once(a: &mut [Limb], modulus: &[Limb]) {
    debug_assert_eq!(a.len(), modulus.len());
    let below = a.iter().zip(modulus).fold(0, |borrow, (a, m)| sub_borrow(*a, *m, borrow).1);
    let keep = Mask::from_bit(below ^ 1).value();
    let mut borrow = 0;
    for (a, m) in a.iter_mut().zip(modulus) {
        (*a, borrow) = sub_borrow(*a, m & keep, borrow);
    }
}

/// Returns `a − b − borrow` mod 2⁵¹, and the borrow out; `a` and `b` are below 2⁵¹.
#[inline(always)]
const fn sub_borrow(a: Limb, b: Limb, borrow: Limb) -> (Limb, Limb) {
    let difference = a.wrapping_sub(b).wrapping_sub(borrow);
    (difference & DIGIT_MASK, difference >> 63)
}
