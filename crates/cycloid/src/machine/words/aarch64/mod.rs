//! AArch64: MUL and UMULH, which keep the flags of ADCS, and NEON for table lookups.
//!
//! Time depends on lengths only. There is no division, no branch on a value and no address from
//! one. Arm lists the instructions among those whose time does not depend on data where PSTATE.DIT
//! is set (Arm Architecture Reference Manual, DDI 0487); the library does not set it.

#[macro_use]
mod text;
mod linear;
mod lookup;
mod product;
mod reduce;
mod square;

use super::super::cpu::Aarch64;
use super::{Limb, Words};

impl Words for Aarch64 {
    #[inline]
    fn mul(self, product: &mut [Limb], a: &[Limb], b: &[Limb]) {
        product::mul(product, a, b);
    }

    #[inline]
    fn square(self, product: &mut [Limb], a: &[Limb]) {
        square::square(product, a);
    }

    #[inline]
    fn add_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        linear::add_mul_limb(accumulator, a, x)
    }

    #[inline]
    fn sub_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        linear::sub_mul_limb(accumulator, a, x)
    }

    #[inline]
    fn montgomery_reduce(self, result: &mut [Limb], wide: &mut [Limb], modulus: &[Limb], n0: Limb) {
        reduce::montgomery_reduce(result, wide, modulus, n0);
    }

    #[inline]
    fn lookup(self, out: &mut [Limb], table: &[Limb], index: usize) {
        lookup::lookup(out, table, index);
    }
}
