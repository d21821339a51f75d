//! Functions linear in the length, in plain Rust that the compiler vectorises.

use super::super::ct::Mask;
use super::super::words::{Limb, montgomery_n0};
use super::{LANE_LIMB_BITS, LANES, LIMB_MASK, Lanes};

/// Returns −1 / modulus mod 2⁵² in each lane, for Montgomery multiplication. Every modulus must be
/// odd.
pub fn montgomery_k0(modulus: &[Lanes]) -> Lanes {
    // An inverse modulo 2⁶⁴ is also an inverse modulo 2⁵².
    Lanes(modulus[0].0.map(|limb| montgomery_n0(limb) & LIMB_MASK))
}

/// Computes `a −= modulus` in the lanes where `a ≥ modulus`: from almost reduced, a < 2·modulus, to
/// reduced.
pub fn reduce_once(a: &mut [Lanes], modulus: &[Lanes]) {
    debug_assert_eq!(a.len(), modulus.len());
    let below = a.iter().zip(modulus).fold([0; LANES], |borrow, (a, m)| {
        core::array::from_fn(|lane| sub_borrow(a.0[lane], m.0[lane], borrow[lane]).1)
    });
    let keep = below.map(|below| Mask::from_bit(below ^ 1).value());
    let mut borrow = [0; LANES];
    for (a, m) in a.iter_mut().zip(modulus) {
        for lane in 0..LANES {
            (a.0[lane], borrow[lane]) = sub_borrow(a.0[lane], m.0[lane] & keep[lane], borrow[lane]);
        }
    }
}

/// Computes `a += b`; the sum is less than R.
pub fn add(a: &mut [Lanes], b: &[Lanes]) {
    debug_assert_eq!(a.len(), b.len());
    let mut carry = [0; LANES];
    for (a, b) in a.iter_mut().zip(b) {
        for ((a, b), carry) in a.0.iter_mut().zip(&b.0).zip(&mut carry) {
            let sum = *a + b + *carry;
            (*a, *carry) = (sum & LIMB_MASK, sum >> LANE_LIMB_BITS);
        }
    }
    debug_assert_eq!(carry, [0; LANES]);
}

/// Returns in which lanes `a` and `b` are equal.
pub fn equal(a: &[Lanes], b: &[Lanes]) -> [Mask; LANES] {
    debug_assert_eq!(a.len(), b.len());
    let difference = a.iter().zip(b).fold([0; LANES], |any, (a, b)| {
        core::array::from_fn(|lane| any[lane] | (a.0[lane] ^ b.0[lane]))
    });
    difference.map(Mask::is_zero)
}

/// Computes `a = 2·a mod modulus` for a < modulus; modulus ≤ R / 4.
pub fn double_mod(a: &mut [Lanes], modulus: &[Lanes]) {
    let mut carry = [0; LANES];
    for a in a.iter_mut() {
        for (a, carry) in a.0.iter_mut().zip(&mut carry) {
            // Below 2·2⁵², carry included.
            let double = *a << 1 | *carry;
            (*a, *carry) = (double & LIMB_MASK, double >> LANE_LIMB_BITS);
        }
    }
    reduce_once(a, modulus);
}

/// Returns `a − b − borrow` mod 2⁵², and the borrow out; `a` and `b` are below 2⁵².
#[inline(always)]
const fn sub_borrow(a: Limb, b: Limb, borrow: Limb) -> (Limb, Limb) {
    let difference = a.wrapping_sub(b).wrapping_sub(borrow);
    (difference & LIMB_MASK, difference >> 63)
}
