//! P-256: six limbs of 46 bits, in Montgomery form with R = 2²⁷⁶.
//!
//! −1/p is 1 modulo 2⁹⁶, so the multiple of p that clears a column is the column itself. The unit is
//! p. The product of factors below a·p and b·p is below (1 + a·b / 2²⁰)·p; for products that are
//! subtracted, a·b is below 100,000.

use super::super::super::super::lanes::four::FourVectors;
use super::super::super::super::words::Limb;
use super::super::super::{P256, Prime};
use super::{Across, Columns, carried, joined, multiple, power_of_two, times, upper};

/// The number of limbs.
const N: usize = 6;

/// Bits of a limb.
const BITS: usize = 46;

/// R² modulo p.
const R_SQUARED: [Limb; N] = power_of_two(&P256::MODULUS, 2 * N * BITS, BITS);

/// The fifth limb of p + 1 = 2²⁵⁶ − 2²²⁴ + 2¹⁹² + 2⁹⁶; the third is 2⁴, those below the fifth are 0.
const FIFTH: Limb = (1 << BITS) - (1 << 40) + (1 << 8);

/// The sixth limb of p + 1.
const SIXTH: Limb = (1 << 26) - 1;

/// The integer 1.
const INTEGER_ONE: [Limb; N] = multiple(&[1], 1, BITS, 0);

impl Across<N> for P256 {
    const RADIX_BITS: usize = BITS;
    const UNIT: [Limb; N] = multiple(&Self::MODULUS, 1, BITS, (1 << BITS) - (1 << 41));
    const COORDINATE: [Limb; N] = multiple(&Self::MODULUS, 256, BITS, (1 << BITS) + (1 << 23));
    const ONE: [Limb; N] = power_of_two(&Self::MODULUS, N * BITS, BITS);

    #[inline(always)]
    fn carry<V: FourVectors>(v: V, limbs: &[V::Word; N]) -> [V::Word; N] {
        carried::<V, { BITS as u32 }, N>(v, limbs)
    }

    #[inline(always)]
    fn reduce<V: FourVectors>(
        v: V,
        i: usize,
        [low, high]: &mut [Columns<V, N>; 2],
        carry: &mut V::Word,
    ) {
        let column = v.add(v.add(low[0][i], v.shift_left::<6>(high[0][i])), *carry);
        let multiple = v.and(column, v.splat((1 << BITS) - 1));
        *carry = v.shift_right::<{ BITS as u32 }>(column);
        let two = &mut low[(i + 2) / N][(i + 2) % N];
        *two = v.add(*two, v.shift_left::<4>(multiple));
        let four = &mut low[(i + 4) / N][(i + 4) % N];
        *four = v.mul_add_low(*four, multiple, v.splat(FIFTH));
        let five = &mut low[(i + 5) / N][(i + 5) % N];
        *five = v.mul_add_low(*five, multiple, v.splat(SIXTH));
        let five = &mut high[(i + 5) / N][(i + 5) % N];
        *five = v.mul_add_high(*five, multiple, v.splat(FIFTH));
        let six = &mut high[(i + 6) / N][(i + 6) % N];
        *six = v.mul_add_high(*six, multiple, v.splat(SIXTH));
    }

    #[inline(always)]
    fn sum<V: FourVectors>(v: V, columns: &[Columns<V, N>; 2], carry: V::Word) -> [V::Word; N] {
        upper(v, columns, carry)
    }

    #[inline(always)]
    fn enter<V: FourVectors>(v: V, integers: &[V::Word; N]) -> [V::Word; N] {
        times::<V, Self, N>(v, integers, &R_SQUARED)
    }

    #[inline(always)]
    fn leave<V: FourVectors>(v: V, factors: &[V::Word; N]) -> [V::Word; N] {
        times::<V, Self, N>(v, factors, &INTEGER_ONE)
    }

    /// A reduced integer is at most p.
    fn integer(mut limbs: [Limb; N]) -> Self::Words {
        for j in 0..N - 1 {
            limbs[j + 1] += limbs[j] >> BITS;
            limbs[j] &= (1 << BITS) - 1;
        }
        joined::<Self, N>(&limbs)
    }
}
