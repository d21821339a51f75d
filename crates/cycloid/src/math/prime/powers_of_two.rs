//! Powers of two in secret numbers: the factors of two in p − 1 reveal bits of the prime p.

use crate::machine::ct::Mask;
use crate::machine::words::{LIMB_BITS, Limb};

/// The maximum number of factors of two that are taken out or multiplied in.
pub(crate) const MOST: usize = LIMB_BITS - 1;

/// Shift distances; their subsets sum to every number up to [`MOST`].
const DISTANCES: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Halves a number while it is even, at most [`MOST`] times, and returns the number of halvings.
/// Constant-time.
///
/// A number may still be even afterwards if it was divisible by 2⁶⁴.
pub(crate) fn take_out(x: &mut [Limb]) -> Limb {
    // The number of bits below the lowest set bit equals the number of trailing zeros.
    let low = x[0] | 1 << MOST;
    let halvings = Limb::from((low.wrapping_sub(1) & !low).count_ones());
    for (bit, distance) in DISTANCES.into_iter().enumerate() {
        let wanted = Mask::from_bit(halvings >> bit & 1);
        for i in 0..x.len() {
            let above = x.get(i + 1).copied().unwrap_or(0);
            let shifted = x[i] >> distance | above << (LIMB_BITS as u32 - distance);
            x[i] = wanted.select(shifted, x[i]);
        }
    }
    halvings
}

/// Computes `x = x · 2^doublings` for at most [`MOST`] doublings; the result fits into as many
/// limbs. Constant-time.
pub(crate) fn put_in(x: &mut [Limb], doublings: Limb) {
    for (bit, distance) in DISTANCES.into_iter().enumerate() {
        let wanted = Mask::from_bit(doublings >> bit & 1);
        for i in (0..x.len()).rev() {
            let below = i.checked_sub(1).map_or(0, |below| x[below]);
            let shifted = x[i] << distance | below >> (LIMB_BITS as u32 - distance);
            x[i] = wanted.select(shifted, x[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::prime::tests::Counter;
    use rand_core::Rng;

    #[test]
    fn put_in_undoes_take_out() {
        let mut random = Counter(3);
        for twos in 0..=MOST {
            let odd = [random.next_u64() | 1, random.next_u64(), 0];
            let mut x = odd;
            put_in(&mut x, twos as Limb);
            let wide = |x: &[Limb]| u128::from(x[1]) << 64 | u128::from(x[0]);
            assert_eq!(wide(&x), wide(&odd) << twos);
            assert_eq!(x[2], odd[1].unbounded_shr(64 - twos as u32));
            assert_eq!(take_out(&mut x), twos as Limb);
            assert_eq!(x, odd);
        }
        let mut x = [0, 6];
        assert_eq!((take_out(&mut x), x), (MOST as Limb, [12, 0]));
    }
}
