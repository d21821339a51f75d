//! P-224, P-256 and P-384: Montgomery form with R = 2^(52·M), and reductions that exploit limbs of
//! the prime that are zero, a power of two, or one.
//!
//! A reduction makes the lowest column a multiple of 2⁵² by adding (P-224: subtracting) the prime
//! times a quotient limb q, M times. From columns a·b < 2^(2·bound) it gets
//! (a·b ± Q·p) / R with Q < R, so the result is less than a·b / R + p.

use super::super::super::lanes::vector::Vectors;
use super::super::super::words::Limb;
use super::super::{P224, P256, P384, Prime};
use super::Shape;
use super::columns::{self, Columns, add_shifted, carry, sub_shifted};
use super::residue::{limbs, r_squared};

/// p = 2²⁵⁶ − 2²²⁴ + 2¹⁹² + 2⁹⁶ − 1, R = 2²⁶⁰ > 15p; residues are below **2²⁵⁹**.
///
/// A product is below 2²⁵⁸ + p. A sum is below 2²⁶⁰, so t times p is subtracted with 0 ≤ t < 16,
/// which leaves less than 2²⁵⁶ + 2²⁰⁹ + 16·2²²⁴. For a difference d, −8 ≤ ⌊d / 2²⁵⁶⌋ < 8; with t
/// one less, d − t·p is from 2²⁵⁶ − 2²⁰⁹ − 9·2²²⁴ > 0 to 2²⁵⁷ + 2²⁰⁹ + 7·2²²⁴ < 3p.
impl Shape<5> for P256 {
    const LIMBS: [Limb; 5] = limbs(&Self::MODULUS);
    const ENTER: [Limb; 5] = r_squared(&Self::LIMBS);
    const QUOTIENT_PRODUCTS: &[usize] = &[4];

    // p + 1 = 2⁴⁴·2⁵² + 2³⁶·2¹⁵⁶ + (2⁴⁸ − 2¹⁶)·2²⁰⁸, and −1 / p = 1 modulo 2⁵².
    #[inline(always)]
    fn clear<V: Vectors>(v: V, columns: &mut Columns<V>, i: usize) {
        let high = v.limb_factor(v.splat((1 << 48) - (1 << 16)));
        let c = columns[i];
        columns[i + 1] = v.add(columns[i + 1], v.shift_right_signed::<52>(c));
        add_shifted::<V, 44, 8, 5>(v, columns, i, 1);
        add_shifted::<V, 36, 16, 5>(v, columns, i, 3);
        (columns[i + 4], columns[i + 5]) =
            v.mul_add(columns[i + 4], columns[i + 5], high, v.factor(c));
    }

    #[inline(always)]
    fn reduce<V: Vectors>(v: V, columns: &mut Columns<V>) -> [V::Word; 5] {
        let mut limbs = columns::from(v, columns, 5);
        carry(v, &mut limbs);
        limbs
    }

    #[inline(always)]
    fn fold<V: Vectors, const LESS: Limb>(v: V, limbs: &mut [V::Word; 5]) {
        let t = split_top::<V, 48, LESS>(v, &mut limbs[4]);
        limbs[0] = v.add(limbs[0], t);
        limbs[1] = v.sub(limbs[1], v.shift_left::<44>(t));
        limbs[3] = v.sub(limbs[3], v.shift_left::<36>(t));
        limbs[4] = v.add(limbs[4], v.shift_left::<16>(t));
    }
}

/// p = 2²²⁴ − 2⁹⁶ + 1, R = 2²⁶⁰; residues are below **2²²⁶**.
///
/// A product minus Q·p, divided by R, is from −p to below 2¹⁹²; the columns start with an
/// additional R·p, which makes it positive and below 2²²⁵. A sum is below 2²²⁷, so that 0 ≤ t < 8,
/// which leaves less than 2²²⁴ + 2²⁰⁹ + 8·2⁹⁶. For a difference d, −4 ≤ ⌊d / 2²²⁴⌋ < 4; with t one
/// less, d − t·p is from 2²²⁴ − 2²⁰⁹ − 5·2⁹⁶ > 0 to 2²²⁵ + 2²⁰⁹ + 4·2⁹⁶ < 3p.
impl Shape<5> for P224 {
    const LIMBS: [Limb; 5] = limbs(&Self::MODULUS);
    const ENTER: [Limb; 5] = r_squared(&Self::LIMBS);
    const COMPLEMENTS: &[usize] = &[224];
    const STARTS: &[(usize, Limb)] = &[(5, 1), (6, (1u64 << 44).wrapping_neg()), (9, 1 << 16)];

    // p − 1 = 2¹⁶·2²⁰⁸ − 2⁴⁴·2⁵², and 1 / p = 1 modulo 2⁵².
    #[inline(always)]
    fn clear<V: Vectors>(v: V, columns: &mut Columns<V>, i: usize) {
        let c = columns[i];
        columns[i + 1] = v.add(columns[i + 1], v.shift_right_signed::<52>(c));
        add_shifted::<V, 44, 8, 5>(v, columns, i, 1);
        sub_shifted::<V, 16, 36, 5>(v, columns, i, 4);
    }

    #[inline(always)]
    fn reduce<V: Vectors>(v: V, columns: &mut Columns<V>) -> [V::Word; 5] {
        let mut limbs = columns::from(v, columns, 5);
        carry(v, &mut limbs);
        limbs
    }

    #[inline(always)]
    fn fold<V: Vectors, const LESS: Limb>(v: V, limbs: &mut [V::Word; 5]) {
        let t = split_top::<V, 16, LESS>(v, &mut limbs[4]);
        limbs[0] = v.sub(limbs[0], t);
        limbs[1] = v.add(limbs[1], v.shift_left::<44>(t));
    }
}

/// p = 2³⁸⁴ − 2¹²⁸ − 2⁹⁶ + 2³² − 1, R = 2⁴¹⁶; residues are below **2³⁸⁶**.
///
/// A product is below 2³⁵⁶ + p. A sum is below 2³⁸⁷, so that 0 ≤ t < 8, which leaves less than
/// 2³⁸⁴ + 2³⁶⁵ + 9·2¹²⁸. For a difference d, −4 ≤ ⌊d / 2³⁸⁴⌋ < 4; with t one less, d − t·p is from
/// 2³⁸⁴ − 2³⁶⁵ − 6·2¹²⁸ > 0 to 2³⁸⁵ + 2³⁶⁵ + 4·2¹²⁸ < 3p.
impl Shape<8> for P384 {
    const LIMBS: [Limb; 8] = limbs(&Self::MODULUS);
    const ENTER: [Limb; 8] = r_squared(&Self::LIMBS);
    const COMPLEMENTS: &[usize] = &[96, 128];

    // −1 / p = 2³² + 1 modulo 2⁵², so q is the low limb of s = c + (2³²·c mod 2⁵²). The low part of
    // (2³² − 1)·q added to c is s − q, so the part of s above 52 bits is carried.
    #[inline(always)]
    fn clear<V: Vectors>(v: V, columns: &mut Columns<V>, i: usize) {
        let s = v.add(columns[i], v.low(v.shift_left::<32>(columns[i])));
        columns[i + 1] = v.add(columns[i + 1], v.shift_right_signed::<52>(s));
        columns[i + 1] = if V::CONVERTS {
            v.add(columns[i + 1], v.shift_right::<20>(v.low(s)))
        } else {
            let power = v.limb_factor(v.splat(1 << 32));
            v.mul_add_high(columns[i + 1], power, v.factor(s))
        };
        columns[i] = s;
        sub_shifted::<V, 44, 8, 8>(v, columns, i, 1);
        sub_shifted::<V, 24, 28, 8>(v, columns, i, 2);
        add_shifted::<V, 20, 32, 8>(v, columns, i, 7);
    }

    #[inline(always)]
    fn reduce<V: Vectors>(v: V, columns: &mut Columns<V>) -> [V::Word; 8] {
        let mut limbs = columns::from(v, columns, 8);
        carry(v, &mut limbs);
        limbs
    }

    #[inline(always)]
    fn fold<V: Vectors, const LESS: Limb>(v: V, limbs: &mut [V::Word; 8]) {
        let t = split_top::<V, 20, LESS>(v, &mut limbs[7]);
        limbs[0] = v.sub(v.add(limbs[0], t), v.shift_left::<32>(t));
        limbs[1] = v.add(limbs[1], v.shift_left::<44>(t));
        limbs[2] = v.add(limbs[2], v.shift_left::<24>(t));
    }
}

/// Removes t = ⌊top / 2^BITS⌋ − `LESS`, times 2^BITS, from the top limb and returns it.
#[inline(always)]
pub(super) fn split_top<V: Vectors, const BITS: u32, const LESS: Limb>(
    v: V,
    top: &mut V::Word,
) -> V::Word {
    let t = v.shift_right_signed::<BITS>(*top);
    *top = v.and(*top, v.splat((1 << BITS) - 1));
    if LESS == 0 {
        return t;
    }
    *top = v.add(*top, v.splat(LESS << BITS));
    v.sub(t, v.splat(LESS))
}
