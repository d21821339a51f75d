//! P-384: nine limbs of 46 bits, in Montgomery form with R = 2⁴¹⁴.
//!
//! −1/p is 2³² + 1 modulo 2⁶⁴. With the low 46 bits of a column and the carry as c, and the low 14
//! bits of c as b, the multiple m = c + 2³²·b clears the column: c + m·(2³² − 1) is
//! 2⁴⁶·(⌊c / 2¹⁴⌋ + 2¹⁸·b), the next carry, below 2³⁴. Since m is below 2⁴⁷ + 2³⁴, the sum of all
//! multiples is below 2R + R/2⁶.
//!
//! Other columns lose multiples; they start with as much as they may lose, and those above the last
//! one with p. A product of factors below 2¹²·p is thus below 3p + p/2⁵. The unit is 4p.

use super::super::super::super::lanes::four::FourVectors;
use super::super::super::super::words::Limb;
use super::super::super::{P384, Prime};
use super::{Across, Columns, carried, joined, multiple, power_of_two, times, upper};

/// The number of limbs.
const N: usize = 9;

/// Bits of a limb.
const BITS: usize = 46;

/// R² modulo p.
const R_SQUARED: [Limb; N] = power_of_two(&P384::MODULUS, 2 * N * BITS, BITS);

/// More than a column loses.
const LOSS: Limb = 1 << 53;

/// The integer 1.
const INTEGER_ONE: [Limb; N] = multiple(&[1], 1, BITS, 0);

impl Across<N> for P384 {
    const RADIX_BITS: usize = BITS;
    const UNIT: [Limb; N] = multiple(&Self::MODULUS, 4, BITS, (1 << BITS) - (1 << 41));
    const COORDINATE: [Limb; N] = multiple(&Self::MODULUS, 1024, BITS, (1 << BITS) + (1 << 23));
    const START: [[Limb; N]; 2] = {
        let (mut low, mut high) = ([0; N], multiple(&Self::MODULUS, 1, BITS, 0));
        // The columns from the third to the twelfth lose multiples, and the next one what replaces
        // them.
        let mut column = 2;
        while column <= 12 {
            let limbs = if column < N { &mut low } else { &mut high };
            if column < 12 {
                limbs[column % N] += LOSS;
            }
            if column > 2 {
                limbs[column % N] -= LOSS >> BITS;
            }
            column += 1;
        }
        [low, high]
    };
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
        let column = v.add(low[0][i], v.shift_left::<6>(high[0][i]));
        let one = &mut low[(i + 1) / N][(i + 1) % N];
        *one = v.add(*one, v.shift_right::<{ BITS as u32 }>(column));
        let column = v.and(column, v.splat((1 << BITS) - 1));
        let column = v.add(column, *carry);
        let lowest = v.and(column, v.splat((1 << 14) - 1));
        *carry = v.add(v.shift_right::<14>(column), v.shift_left::<18>(lowest));
        let multiple = v.add(column, v.shift_left::<32>(lowest));
        // −2⁹⁶ − 2¹²⁸: 4 and 36 bits above the third limb.
        let two = &mut low[(i + 2) / N][(i + 2) % N];
        let lowest = v.and(multiple, v.splat((1 << 10) - 1));
        *two = v.sub(*two, v.add(v.shift_left::<4>(multiple), v.shift_left::<36>(lowest)));
        let three = &mut low[(i + 3) / N][(i + 3) % N];
        *three = v.sub(*three, v.shift_right::<10>(multiple));
        // 2³⁸⁴: 16 bits above the ninth limb.
        let eight = &mut low[(i + 8) / N][(i + 8) % N];
        *eight = v.mul_add_low(*eight, multiple, v.splat(1 << 16));
        let nine = &mut high[(i + 9) / N][(i + 9) % N];
        *nine = v.mul_add_high(*nine, multiple, v.splat(1 << 16));
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

    /// The first pass leaves less than 2³⁸⁴ + 2¹³⁰; if that has bit 384, the rest is short.
    fn integer(limbs: [Limb; N]) -> Self::Words {
        let mut limbs = limbs.map(Limb::cast_signed);
        for _ in 0..2 {
            for j in 0..N - 1 {
                limbs[j + 1] += limbs[j] >> BITS;
                limbs[j] &= (1 << BITS) - 1;
            }
            // 2³⁸⁴ is 2¹²⁸ + 2⁹⁶ − 2³² + 1.
            let excess = limbs[N - 1] >> 16;
            limbs[N - 1] &= (1 << 16) - 1;
            limbs[0] += excess - (excess << 32);
            limbs[2] += (excess << 4) + (excess << 36);
        }
        for j in 0..N - 1 {
            limbs[j + 1] += limbs[j] >> BITS;
            limbs[j] &= (1 << BITS) - 1;
        }
        joined::<Self, N>(&limbs.map(i64::cast_unsigned))
    }
}
