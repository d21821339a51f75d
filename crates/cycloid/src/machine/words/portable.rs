//! Plain Rust: products of 64-bit limbs in 128 bits.

use super::super::cpu::{Level, Token};
use super::masked::reduce_once;
use super::{Limb, Words};

/// The backend that runs on every processor.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Token for Portable {
    const LEVEL: Level = Level::Portable;
}

/// Returns `accumulator + a·x + carry` as low and high limb; at most (B−1) + (B−1)² + (B−1) = B² −
/// 1.
#[inline(always)]
fn mul_add(accumulator: Limb, a: Limb, x: Limb, carry: Limb) -> (Limb, Limb) {
    let wide = u128::from(a) * u128::from(x) + u128::from(accumulator) + u128::from(carry);
    (wide as Limb, (wide >> 64) as Limb)
}

impl Words for Portable {
    #[inline]
    fn mul(self, product: &mut [Limb], a: &[Limb], b: &[Limb]) {
        debug_assert_eq!(product.len(), a.len() + b.len());
        product[..a.len()].fill(0);
        for (i, x) in b.iter().enumerate() {
            product[i + a.len()] = self.add_mul_limb(&mut product[i..i + a.len()], a, *x);
        }
    }

    #[inline]
    fn square(self, product: &mut [Limb], a: &[Limb]) {
        let n = a.len();
        debug_assert_eq!(product.len(), 2 * n);
        // Each product of different limbs once: limb i times those above it, at 2i + 1.
        product.fill(0);
        for i in 0..n {
            product[i + n] = self.add_mul_limb(&mut product[2 * i + 1..i + n], &a[i + 1..], a[i]);
        }
        // Doubles that and adds the squares.
        let mut shifted_out = 0;
        let mut carry = 0;
        for (pair, x) in product.chunks_exact_mut(2).zip(a) {
            let square = u128::from(*x) * u128::from(*x);
            let [low, high] = [pair[0], pair[1]];
            let sum = u128::from(low << 1 | shifted_out) + (square & u128::from(Limb::MAX)) + carry;
            pair[0] = sum as Limb;
            let sum = u128::from(high << 1 | low >> 63) + (square >> 64) + (sum >> 64);
            pair[1] = sum as Limb;
            carry = sum >> 64;
            shifted_out = high >> 63;
        }
    }

    #[inline]
    fn add_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        debug_assert_eq!(accumulator.len(), a.len());
        let mut carry = 0;
        for (accumulator, a) in accumulator.iter_mut().zip(a) {
            (*accumulator, carry) = mul_add(*accumulator, *a, x, carry);
        }
        carry
    }

    #[inline]
    fn sub_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        debug_assert_eq!(accumulator.len(), a.len());
        let mut borrow = 0;
        for (accumulator, a) in accumulator.iter_mut().zip(a) {
            // At most (B−1)² + (B−1) < B², so the high limb and the last borrow add up to a limb.
            let wide = u128::from(*a) * u128::from(x) + u128::from(borrow);
            let (difference, under) = accumulator.overflowing_sub(wide as Limb);
            *accumulator = difference;
            borrow = (wide >> 64) as Limb + Limb::from(under);
        }
        borrow
    }

    #[inline]
    fn montgomery_reduce(self, result: &mut [Limb], wide: &mut [Limb], modulus: &[Limb], n0: Limb) {
        let n = modulus.len();
        debug_assert!(result.len() == n && wide.len() == 2 * n);
        // wide + Σ q_i·2^(64·i)·modulus is divisible by R and less than 2·R·modulus.
        let mut carry = 0;
        for i in 0..n {
            let q = wide[i].wrapping_mul(n0);
            let out = self.add_mul_limb(&mut wide[i..i + n], modulus, q);
            let sum = u128::from(wide[i + n]) + u128::from(out) + u128::from(carry);
            wide[i + n] = sum as Limb;
            carry = (sum >> 64) as Limb;
        }
        result.copy_from_slice(&wide[n..]);
        reduce_once(carry, result, modulus);
    }
}
