//! Half-size multipliers for the equation of a signature (Antipa, Brown, Gallant, Lambert, Struik,
//! Vanstone, Accelerated verification of ECDSA signatures, 2005; Pornin, Optimized lattice basis
//! reduction in dimension 2, 2020).

use super::Scalar;
use super::scalar::ORDER;
use crate::machine::words::{self, LIMB_BITS, Limb};

type Number = [Limb; 4];

/// 8·L, the number of points.
const POINTS: Number = {
    let [a, b, c, d] = ORDER;
    [a << 3, b << 3 | a >> 61, c << 3 | b >> 61, d << 3 | c >> 61]
};

/// An odd d less than L, and a c below 2²⁵³ with c = d·k modulo 8·L, or c = −d·k if `negative`.
///
/// For almost every k, both have at most 130 bits; nothing but time depends on that.
#[derive(Clone, Copy)]
pub(super) struct HalfSize {
    pub(super) c: Number,
    pub(super) d: Number,
    pub(super) negative: bool,
}

/// The algorithm ends with the first remainder of so many bits.
const BITS: usize = 128;

impl HalfSize {
    fn bits(&self) -> usize {
        bits(&self.c).max(bits(&self.d))
    }
}

/// Returns half-size multipliers for `k`.
///
/// The extended Euclidean algorithm on 8·L and k has remainders c and cofactors d, alternately
/// positive and negative: c = ±d·k modulo 8·L, and the product of a remainder and the next cofactor
/// is at most 8·L. So for the first remainder below 2¹²⁸, both have at most 128 bits. Of two
/// cofactors in a row one is odd, because they have no common divisor: if that one is even, the
/// shorter one of its neighbours is taken. The one before is k or less, below 2²⁵³, since the
/// cofactor of 8·L is even; so a neighbour after it is taken only if it is below 2²⁵², less than L.
/// A remainder is 0 only after a common divisor of 8·L and k, which is at most 8 for 0 < k < L, so
/// for k = 0 only.
pub(super) fn half_size_vartime(k: &Scalar) -> HalfSize {
    let mut before = HalfSize { c: POINTS, d: [0; 4], negative: true };
    let mut this = HalfSize { c: *k.limbs(), d: [1, 0, 0, 0], negative: false };
    while bits(&this.c) > BITS {
        (before, this) =
            several_vartime(&before, &this).unwrap_or_else(|| (this, next_vartime(&before, &this)));
    }
    if this.d[0] & 1 == 1 {
        return this;
    }
    debug_assert!(this.c != [0; 4]);
    let next = next_vartime(&before, &this);
    if next.bits() < before.bits() { next } else { before }
}

/// Returns two consecutive steps after `before` and `this`, as many as follow from the upper 64 bits
/// of the remainders; `None` for none. The remainders stay longer than [`BITS`], as they are before
/// (Lehmer, Euclid's algorithm for large numbers, 1938).
///
/// With a and b the upper bits of both remainders, which are a·2^s + α and b·2^s + β with α and β
/// less than 2^s, the algorithm on a and b gives x = ±(u·a − v·b) with alternating signs. The same u
/// and v on the whole numbers give x·2^s ± (u·α − v·β), which differs from x·2^s by less than
/// v·2^s, because u is at most v. So the next remainder is not negative if its x is at least its v,
/// and less than this one if their difference is at least the sum of both v. Then the quotient is
/// the one of the whole numbers.
fn several_vartime(before: &HalfSize, this: &HalfSize) -> Option<(HalfSize, HalfSize)> {
    let shift = bits(&before.c) - LIMB_BITS;
    // A remainder exceeds its error by at least this, so it is longer than `BITS`.
    let least = 1 << BITS.saturating_sub(shift);
    let (mut a, mut b) = (from_bit(&before.c, shift), from_bit(&this.c, shift));
    // u and v of a and of b. v is at most the first a divided by the a before, and does not overflow.
    let ((mut u_a, mut v_a), (mut u_b, mut v_b)) = ((1, 0), (0, 1));
    let mut is_odd = false;
    while b != 0 {
        let quotient = a / b;
        let remainder = a - quotient * b;
        let (u, v) = (u_a + quotient * u_b, v_a + quotient * v_b);
        if remainder < v.saturating_add(least) || b - remainder < v.saturating_add(v_b) {
            break;
        }
        (a, b) = (b, remainder);
        ((u_a, v_a), (u_b, v_b)) = ((u_b, v_b), (u, v));
        is_odd = !is_odd;
    }
    if v_a == 0 {
        return None;
    }
    let combined = |u: Limb, v: Limb, is_odd: bool| {
        let (c, negative) = if is_odd {
            (difference(v, &this.c, u, &before.c), this.negative)
        } else {
            (difference(u, &before.c, v, &this.c), before.negative)
        };
        HalfSize { c, d: sum(u, &before.d, v, &this.d), negative }
    };
    Some((combined(u_a, v_a, is_odd), combined(u_b, v_b, !is_odd)))
}

/// Returns a·x + b·y, which is below 2²⁵⁶.
fn sum(a: Limb, x: &Number, b: Limb, y: &Number) -> Number {
    let mut above = 0;
    core::array::from_fn(|i| {
        let low = u128::from(a) * u128::from(x[i]) + u128::from(above as Limb);
        let all = u128::from(b) * u128::from(y[i]) + u128::from(low as Limb);
        above = (above >> LIMB_BITS) + (low >> LIMB_BITS) + (all >> LIMB_BITS);
        all as Limb
    })
}

/// Returns a·x − b·y, which is at least 0 and below 2²⁵⁶.
fn difference(a: Limb, x: &Number, b: Limb, y: &Number) -> Number {
    let (first, second) = (sum(a, x, 0, y), sum(b, y, 0, x));
    let mut borrow = false;
    core::array::from_fn(|i| {
        let (once, below) = first[i].overflowing_sub(second[i]);
        let (twice, below_again) = once.overflowing_sub(Limb::from(borrow));
        borrow = below | below_again;
        twice
    })
}

/// Returns the step after `this`, whose remainder is not 0.
fn next_vartime(before: &HalfSize, this: &HalfSize) -> HalfSize {
    let mut next = HalfSize { negative: before.negative, ..*before };
    loop {
        // Shifted by limbs, so that the remainder is at most 64 bits longer than what is subtracted.
        let excess = bits(&next.c).saturating_sub(bits(&this.c));
        let shifted = |number: &Number| -> Number {
            let limbs = excess.saturating_sub(1) / LIMB_BITS;
            core::array::from_fn(|i| i.checked_sub(limbs).map_or(0, |i| number[i]))
        };
        let (c, d) = (shifted(&this.c), shifted(&this.d));
        let part = quotient_vartime(&next.c, &c);
        if part == 0 {
            return next;
        }
        // No borrow and no carry: the remainder stays at least 0, the cofactor at most 8·L.
        let (mut borrow, mut carry) = (0, 0);
        for i in 0..4 {
            let product = u128::from(c[i]) * u128::from(part) + borrow;
            let (difference, below) = next.c[i].overflowing_sub(product as Limb);
            next.c[i] = difference;
            borrow = (product >> LIMB_BITS) + u128::from(below);
            let sum = u128::from(d[i]) * u128::from(part) + u128::from(next.d[i]) + carry;
            next.d[i] = sum as Limb;
            carry = sum >> LIMB_BITS;
        }
        debug_assert!(borrow == 0 && carry == 0);
    }
}

/// Returns a number that is at most a/b, and 0 only if a is less than b, which is not 0: the upper
/// 64 bits of a, divided by the same bits of b plus 1.
fn quotient_vartime(a: &Number, b: &Number) -> Limb {
    if bits(b) > bits(a) {
        return 0;
    }
    let shift = bits(a).saturating_sub(LIMB_BITS);
    let (a_top, b_top) = (from_bit(a, shift), from_bit(b, shift));
    match b_top.checked_add(1).map_or(0, |above| a_top / above) {
        0 => Limb::from(words::compare_vartime(a, b).is_ge()),
        quotient => quotient,
    }
}

/// Returns the 64 bits of a number from `bit` on.
fn from_bit(number: &Number, bit: usize) -> Limb {
    let (limb, shift) = (bit / LIMB_BITS, bit % LIMB_BITS);
    let next = number.get(limb + 1).map_or(0, |next| next << 1 << (LIMB_BITS - 1 - shift));
    number[limb] >> shift | next
}

/// Returns the number of bits without leading zeros.
fn bits(number: &Number) -> usize {
    words::bit_length_vartime(number)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    fn number(limbs: &Number) -> BigUint {
        limbs.iter().rev().fold(BigUint::ZERO, |number, limb| (number << 64) + *limb)
    }

    /// Returns the remainder of Euclid's algorithm on 8·L and `k` that is the first one of 128 bits,
    /// and its cofactor.
    fn euclid(k: &BigUint) -> (BigUint, BigUint) {
        let (mut before, mut this) =
            ((number(&ORDER) << 3, BigUint::ZERO), (k.clone(), 1u8.into()));
        while this.0.bits() > 128 {
            let quotient = &before.0 / &this.0;
            let next = (&before.0 - &quotient * &this.0, &before.1 + &quotient * &this.1);
            (before, this) = (this, next);
        }
        this
    }

    /// Returns the bits of the longer multiplier for k modulo L.
    fn check(k: &BigUint) -> u64 {
        let k = &(k % number(&ORDER));
        let mut digits = k.iter_u64_digits();
        let limbs = core::array::from_fn(|_| digits.next().unwrap_or(0));
        let HalfSize { c, d, negative } =
            half_size_vartime(&Scalar::canonical(&limbs).expect("less than L"));
        let (c, d, points) = (number(&c), number(&d), number(&ORDER) << 3);
        let (remainder, cofactor) = euclid(k);
        if cofactor.bit(0) {
            assert_eq!((&c, &d), (&remainder, &cofactor));
        }
        assert!(d.bit(0) && d < number(&ORDER) && c.bits() <= 253, "{k}");
        let signed = if negative { &points - &c } else { c.clone() };
        assert_eq!(&d * k % &points, signed % &points, "{k}");
        c.bits().max(d.bits())
    }

    #[test]
    fn multipliers_are_odd_and_short() {
        let one = BigUint::from(1u8);
        let order = number(&ORDER);
        let mut state = BigUint::from(0x9e37_79b9_7f4a_7c15u64);
        let mut lengths = 0;
        for _ in 0..5000 {
            state = (&state * &state + 12345u32) % ((&one << 1300) - 1u8);
            let bits = check(&(&state >> 300));
            assert!(bits < 145);
            lengths += bits;
        }
        assert!(lengths < 129 * 5000);

        // Numbers near fractions of the order of the group, for quotients that are long, and whose
        // continued fraction has only short ones.
        for bit in 0..253 {
            for near in 0..5u8 {
                check(&((&one << bit) + near));
                check(&(&order - (&one << bit) + near));
                check(&((&order << 3) / ((&one << bit) + near)));
            }
        }
        for divisor in 1..200u32 {
            for factor in 1..8u32 {
                let near = (&order * factor) / divisor;
                check(&near);
                check(&(near + 1u8));
            }
        }
        let mut fibonacci = [one.clone(), one];
        while fibonacci[1] < order {
            let [a, b] = fibonacci;
            check(&(&a * (&order << 3) / &b));
            fibonacci = [b.clone(), a + b];
        }
    }
}
