//! P-521: eleven limbs of 48 bits.
//!
//! 2⁵²⁸ is 2⁷: a column above the tenth is added to the one eleven below, times 2⁷.
//!
//! **Bounds.** The unit is 2⁷·p, a full limb at each place, and a factor has carried limbs in the
//! end, so the number does not matter. A factor's limbs are below 5 units; those of two factors may
//! also be below a and b units, where a·b is at most 25 and both are at most 15. The high half of a
//! product is then below 25·2⁴⁴, and counts 2⁴ times. Products from the eleventh column on also
//! count 2⁷ times. Eleven low and eleven high halves belong to a column and the one eleven above it
//! together. So with an addend below 2⁵³ a column is below 2⁷·11·(2⁵² + 25·2⁴⁸) + 2⁵³ < 2⁶⁴.

use super::super::super::super::lanes::four::FourVectors;
use super::super::super::super::words::Limb;
use super::super::super::P521;
use super::super::columns::each;
use super::{Across, Columns, carries, joined};

/// The number of limbs.
const N: usize = 11;

/// Bits of a limb.
const BITS: usize = 48;

impl Across<N> for P521 {
    const RADIX_BITS: usize = BITS;
    const UNIT: [Limb; N] = {
        let mut limbs = [(1 << BITS) - 1; N];
        limbs[0] = (1 << BITS) - 128;
        limbs
    };
    const COORDINATE: [Limb; N] = {
        let mut limbs = Self::UNIT;
        let mut j = 0;
        while j < N {
            limbs[j] *= 2;
            j += 1;
        }
        limbs
    };
    const ONE: [Limb; N] = {
        let mut limbs = [0; N];
        limbs[0] = 1;
        limbs
    };

    #[inline(always)]
    fn carry<V: FourVectors>(v: V, limbs: &[V::Word; N]) -> [V::Word; N] {
        let mask = v.splat((1 << BITS) - 1);
        let excess = v.shift_left::<7>(v.shift_right::<{ BITS as u32 }>(limbs[N - 1]));
        let mut sums = carries::<V, { BITS as u32 }, N>(v, limbs);
        sums[0] = excess;
        each!(V, j < N => sums[j] = v.add(sums[j], v.and(limbs[j], mask)));
        sums
    }

    #[inline(always)]
    fn factor<V: FourVectors>(v: V, limbs: &[V::Word; N]) -> [V::Word; N] {
        Self::carry(v, limbs)
    }

    #[inline(always)]
    fn reduce<V: FourVectors>(_: V, _: usize, _: &mut [Columns<V, N>; 2], _: &mut V::Word) {}

    #[inline(always)]
    fn sum<V: FourVectors>(v: V, [low, high]: &[Columns<V, N>; 2], _: V::Word) -> [V::Word; N] {
        let mut sum = low[0];
        each!(V, j < N => {
            let above = v.add(low[1][j], v.shift_left::<4>(high[1][j]));
            sum[j] = v.add(sum[j], v.shift_left::<4>(high[0][j]));
            sum[j] = v.add(sum[j], v.shift_left::<7>(above));
        });
        sum
    }

    #[inline(always)]
    fn enter<V: FourVectors>(_: V, integers: &[V::Word; N]) -> [V::Word; N] {
        *integers
    }

    #[inline(always)]
    fn leave<V: FourVectors>(v: V, factors: &[V::Word; N]) -> [V::Word; N] {
        Self::carry(v, factors)
    }

    /// The first pass leaves less than 2⁵²¹ + 2¹⁶; if that has bit 521, the rest is short.
    fn integer(mut limbs: [Limb; N]) -> Self::Words {
        for _ in 0..2 {
            for j in 0..N - 1 {
                limbs[j + 1] += limbs[j] >> BITS;
                limbs[j] &= (1 << BITS) - 1;
            }
            limbs[0] += limbs[N - 1] >> 41;
            limbs[N - 1] &= (1 << 41) - 1;
        }
        joined::<Self, N>(&limbs)
    }
}
