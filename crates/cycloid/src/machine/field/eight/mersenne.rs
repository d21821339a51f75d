//! 2²⁵⁵ − 19 and 2⁵²¹ − 1: the part above R = 2^(52·M) is folded back as a small multiple or a
//! shift of itself.

use super::super::super::lanes::vector::Vectors;
use super::super::super::words::Limb;
use super::super::{P521, P25519, Prime};
use super::Shape;
use super::columns::{self, Columns, carry_unsigned, each};
use super::montgomery::split_top;
use super::residue::limbs;

/// p = 2²⁵⁵ − 19; residues are below **2²⁵⁶ + 2²²¹**, so that limb 4 is below 2⁴⁸ + 2¹³.
///
/// A sum is below 2²⁵⁸, so that 0 ≤ t < 8, which leaves less than 2²⁵⁵ + 2²⁰⁹. For a difference d,
/// −4 ≤ ⌊d / 2²⁵⁵⌋ < 4; with t one less, d − t·p is from 2²⁵⁵ − 2²⁰⁹ − 19·5 > 0 to 2²⁵⁶ + 2²⁰⁹ <
/// 3p.
impl Shape<5> for P25519 {
    const LIMBS: [Limb; 5] = limbs(&Self::MODULUS);
    const ENTER: [Limb; 5] = [1, 0, 0, 0, 0];

    // 2²⁶⁰ = 32·19 = 608. In units of 2⁵², and since hi(a₄·b) < 1/15, the columns 5 to 9 are below
    // 7.2, 5.2, 3.2, 1.2 and 1/200. After column 5 has passed the part above one limb on, 608 times
    // each of them plus the columns 0 to 4, at most 9, is below 2⁶⁴; 608 times column 9 is below
    // 2⁵⁴, so the high half of that product is at most 3. The part of column 4 from bit 255 on is
    // folded before the carries; the carry into it is at most 2¹². The result is below 2²⁵⁵ + 2²²⁰.
    #[inline(always)]
    fn reduce<V: Vectors>(v: V, columns: &mut Columns<V>) -> [V::Word; 5] {
        columns[6] = v.add(columns[6], v.high(columns[5]));
        if V::CONVERTS {
            columns[5] = v.low(columns[5]);
            each!(V, j < 5 => {
                let c = columns[5 + j];
                let nine = v.add(c, v.shift_left::<3>(c));
                columns[j] = v.add(columns[j], v.shift_left::<6>(nine));
                columns[j] = v.add(columns[j], v.shift_left::<5>(c));
            });
        } else {
            columns[7] = v.add(columns[7], v.high(columns[6]));
            columns[8] = v.add(columns[8], v.high(columns[7]));
            columns[9] = v.add(columns[9], v.high(columns[8]));
            let factor = v.limb_factor(v.splat(608));
            each!(V, j < 4 => {
                let c = v.factor(columns[5 + j]);
                (columns[j], columns[j + 1]) = v.mul_add(columns[j], columns[j + 1], c, factor);
            });
            let (low, high) = v.mul_add(columns[4], v.splat(0), v.factor(columns[9]), factor);
            columns[4] = low;
            columns[0] = v.add(columns[0], v.mul_small(high, v.splat(608)));
        }
        let t = v.shift_right::<47>(columns[4]);
        columns[4] = v.and(columns[4], v.splat((1 << 47) - 1));
        columns[0] = v.add(columns[0], v.mul_small(t, v.splat(19)));
        let mut limbs = columns::from(v, columns, 0);
        carry_unsigned(v, &mut limbs);
        limbs
    }

    #[inline(always)]
    fn fold<V: Vectors, const LESS: Limb>(v: V, limbs: &mut [V::Word; 5]) {
        let t = split_top::<V, 47, LESS>(v, &mut limbs[4]);
        limbs[0] = v.add(limbs[0], v.mul_small(t, v.splat(19)));
    }
}

/// p = 2⁵²¹ − 1; residues are below **2⁵²²**, so that limb 10 is at most 3.
///
/// A sum is below 2⁵²³, so that 0 ≤ t < 4, which leaves less than 3·2⁵²⁰. For a difference d,
/// −2 ≤ ⌊d₁₀ / 2⌋ < 2; with t one less, d − t·p is from 2⁵²¹ − 2⁵²⁰ − 3 > 0 to below 2⁵²².
impl Shape<11> for P521 {
    const LIMBS: [Limb; 11] = limbs(&Self::MODULUS);
    const ENTER: [Limb; 11] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

    // 2⁵⁷² = 2⁵¹: the lowest bit of each column from 11 on goes to bit 51 of the column 11 below,
    // the others to the one above that. Column 21 is zero, because limb 10 has two bits. The part
    // above bit 521 is folded together with the carry of column 9, so the carries add at most one
    // more.
    #[inline(always)]
    fn reduce<V: Vectors>(v: V, columns: &mut Columns<V>) -> [V::Word; 11] {
        each!(V, j < 10 => {
            let c = columns[11 + j];
            let lowest = v.shift_right::<12>(v.shift_left::<63>(c));
            columns[j] = v.add(columns[j], lowest);
            columns[j + 1] = v.add(columns[j + 1], v.shift_right::<1>(c));
        });
        columns[10] = v.add(columns[10], v.high(columns[9]));
        columns[9] = v.low(columns[9]);
        columns[0] = v.add(columns[0], v.shift_right::<1>(columns[10]));
        columns[10] = v.and(columns[10], v.splat(1));
        let mut limbs = columns::from(v, columns, 0);
        carry_unsigned(v, &mut limbs);
        limbs
    }

    #[inline(always)]
    fn fold<V: Vectors, const LESS: Limb>(v: V, limbs: &mut [V::Word; 11]) {
        let t = split_top::<V, 1, LESS>(v, &mut limbs[10]);
        limbs[0] = v.add(limbs[0], t);
    }
}
