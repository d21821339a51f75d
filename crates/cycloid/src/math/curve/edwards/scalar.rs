//! Integers modulo L = 2²⁵² + 27742317777372353535851937790883648493, the order of the base point
//! of edwards25519, and their digits.

use crate::machine::ct::{self, Mask};
use crate::machine::words::{self, LIMB_BITS, Limb, Words};

/// L.
pub(crate) const ORDER: [Limb; 4] =
    [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 0x1000_0000_0000_0000];

/// −1 / L modulo 2⁶⁴.
const N0: Limb = words::montgomery_n0(ORDER[0]);

/// R = 2²⁵⁶ modulo L, and R².
const R: [Limb; 4] = power_of_two(256);
const R_SQUARED: [Limb; 4] = power_of_two(512);

/// A number less than L; wiped when dropped.
#[derive(Clone)]
pub(crate) struct Scalar([Limb; 4]);

impl Drop for Scalar {
    fn drop(&mut self) {
        ct::wipe(&mut self.0);
    }
}

impl Scalar {
    pub(crate) const ZERO: Self = Self([0; 4]);

    /// Returns the number if it is less than L, which becomes public.
    pub(crate) fn canonical(number: &[Limb; 4]) -> Option<Self> {
        words::is_less(number, &ORDER).reveal().then_some(Self(*number))
    }

    /// Returns `low` + 2²⁵⁶·`high` modulo L.
    pub(crate) fn reduced(low: &[Limb; 4], high: &[Limb; 4]) -> Self {
        words::Backend::best().run(MultiplyAdd { a: high, b: &R, c: low })
    }

    /// Returns this number times `factor` plus `summand`.
    pub(crate) fn multiply_add(&self, factor: &Self, summand: &Self) -> Self {
        words::Backend::best().run(MultiplyAdd { a: &self.0, b: &factor.0, c: &summand.0 })
    }

    /// Returns the inverse, 0 for 0: the power of L − 2.
    pub(crate) fn invert(&self) -> Self {
        let mut exponent = ORDER;
        words::sub(&mut exponent, &[2]);
        let mut power = Self([1, 0, 0, 0]);
        for limb in exponent.iter().rev() {
            for bit in (0..LIMB_BITS).rev() {
                power = power.multiply_add(&power, &Self::ZERO);
                if limb >> bit & 1 == 1 {
                    power = power.multiply_add(self, &Self::ZERO);
                }
            }
        }
        power
    }

    /// Returns L minus this number, 0 for 0.
    pub(crate) fn negate(&self) -> Self {
        let mut difference = Self(ORDER);
        words::sub(&mut difference.0, &self.0);
        words::reduce_once(0, &mut difference.0, &ORDER);
        difference
    }

    /// Returns the number modulo 2^`AT` and divided by it, rounded down; `AT` is from 65 to
    /// 127.
    pub(super) fn split<const AT: usize>(&self) -> [[Limb; 4]; 2] {
        const { assert!(AT > LIMB_BITS && AT < 2 * LIMB_BITS) };
        let [first, second, third, fourth] = self.0;
        let shift = AT - LIMB_BITS;
        let (rest, back) = (second >> shift, LIMB_BITS - shift);
        let low = [first, second & ((1 << shift) - 1), 0, 0];
        [low, [rest | third << back, third >> shift | fourth << back, fourth >> shift, 0]]
    }

    #[cfg(test)]
    pub(crate) const fn limbs_mut(&mut self) -> &mut [Limb; 4] {
        &mut self.0
    }

    pub(crate) const fn limbs(&self) -> &[Limb; 4] {
        &self.0
    }
}

/// Computes a·b + c modulo L, where b is less than L, and a and c are arbitrary.
struct MultiplyAdd<'a> {
    a: &'a [Limb; 4],
    b: &'a [Limb; 4],
    c: &'a [Limb; 4],
}

impl words::Task for MultiplyAdd<'_> {
    type Output = Scalar;

    fn run<W: Words>(self, words: W) -> Scalar {
        let mut work = [0; words::montgomery_work_limbs(4)];
        let mut product = Scalar(*self.a);
        words.montgomery_mul(&mut product.0, self.b, &mut work, &ORDER, N0);
        words.montgomery_mul(&mut product.0, &R_SQUARED, &mut work, &ORDER, N0);
        let mut summand = Scalar(*self.c);
        words.montgomery_mul(&mut summand.0, &R, &mut work, &ORDER, N0);
        ct::wipe(&mut work);
        let carry = words::add(&mut product.0, &summand.0);
        words::reduce_once(carry, &mut product.0, &ORDER);
        product
    }
}

/// Digits ±1, ±3, … ±(2^`WIDTH` − 1) of an odd number below 2²⁵⁴, none of which is 0; wiped when
/// dropped.
///
/// Every bit b of `bits` represents 2b − 1, that is, 1 or −1. So a digit is twice its `WIDTH` bits
/// minus 2^`WIDTH` − 1, and the number is twice all bits minus 2^N − 1, where N is the number of
/// bits.
pub(super) struct Digits<const WIDTH: usize> {
    bits: [Limb; 5],
}

impl<const WIDTH: usize> Drop for Digits<WIDTH> {
    fn drop(&mut self) {
        ct::wipe(&mut self.bits);
    }
}

impl<const WIDTH: usize> Digits<WIDTH> {
    /// The number of digits.
    pub(super) const COUNT: usize = 254usize.div_ceil(WIDTH);

    /// Placeholder digits.
    pub(super) const NONE: Self = Self { bits: [0; 5] };

    /// Returns the digits of this number or its successor, whichever is odd.
    pub(super) fn odd(number: &Scalar) -> Self {
        Self::of(&number.0)
    }

    /// Returns the digits of this number or of the number plus L, whichever is odd.
    pub(super) fn modulo_order(number: &Scalar) -> Self {
        let mut odd = number.0;
        words::add_if(!Mask::from_bit(odd[0] & 1), &mut odd, &ORDER);
        let digits = Self::of(&odd);
        ct::wipe(&mut odd);
        digits
    }

    /// Returns the digits of a number whose lowest bit counts as set.
    fn of(number: &[Limb; 4]) -> Self {
        // (number + 2^N − 1)/2.
        let mut bits = [0; 5];
        for (i, bits) in bits.iter_mut().take(4).enumerate() {
            *bits = number[i] >> 1 | number.get(i + 1).map_or(0, |next| next << 63);
        }
        let top = Self::COUNT * WIDTH - 1;
        bits[top / LIMB_BITS] |= 1 << (top % LIMB_BITS);
        Self { bits }
    }

    /// Returns the index of digit `i` among the odd numbers 1, 3, …, without its sign, and whether
    /// it is negative, as 1 or 0.
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> (Limb, Limb) {
        let (limb, shift) = (i * WIDTH / LIMB_BITS, i * WIDTH % LIMB_BITS);
        let next = self.bits.get(limb + 1).map_or(0, |next| next << 1 << (63 - shift));
        let bits = self.bits[limb] >> shift | next;
        let positive = bits >> (WIDTH - 1) & 1;
        // The bits of a negative digit are the complement of its negation's.
        let index = (bits ^ positive.wrapping_sub(1)) & ((1 << (WIDTH - 1)) - 1);
        (index, positive ^ 1)
    }
}

/// Digits most of which are 0, from the lowest on.
pub(super) type SparseDigits = [i8; 256];

/// Returns the non-adjacent form of a number below 2²⁵³, from the lowest digit: each digit is 0, or
/// odd and less than 2^(`width` − 1) in magnitude, and at most one of `width` consecutive digits is
/// nonzero. `width` is at most 8.
pub(super) fn non_adjacent_form_vartime(number: &[Limb; 4], width: usize) -> SparseDigits {
    let mut digits = [0; 256];
    let (mut place, mut carry): (usize, Limb) = (0, 0);
    while place < digits.len() {
        let (limb, shift) = (place / LIMB_BITS, place % LIMB_BITS);
        let next = number.get(limb + 1).map_or(0, |next| next << 1 << (63 - shift));
        let bits = number[limb] >> shift | next;
        // Digits are 0 as long as bits are equal to the carry.
        let zeros = (bits ^ carry.wrapping_neg()).trailing_zeros() as usize;
        if zeros != 0 {
            place += zeros;
            continue;
        }
        let window = (bits & ((1 << width) - 1)) + carry;
        carry = window >> (width - 1);
        digits[place] = (window as i16 - (carry << width) as i16) as i8;
        place += width;
    }
    digits
}

/// Returns 2^`exponent` modulo L.
const fn power_of_two(exponent: usize) -> [Limb; 4] {
    let mut power = [1, 0, 0, 0];
    let mut done = 0;
    while done < exponent {
        // Below 2L, which is below 2²⁵⁴.
        let mut doubled: [Limb; 4] = [0; 4];
        let mut difference = [0; 4];
        let (mut carry, mut borrow) = (0, false);
        let mut i = 0;
        while i < 4 {
            doubled[i] = power[i] << 1 | carry;
            carry = power[i] >> 63;
            let (once, first) = doubled[i].overflowing_sub(ORDER[i]);
            let (twice, second) = once.overflowing_sub(borrow as Limb);
            difference[i] = twice;
            borrow = first | second;
            i += 1;
        }
        power = if borrow { doubled } else { difference };
        done += 1;
    }
    power
}
