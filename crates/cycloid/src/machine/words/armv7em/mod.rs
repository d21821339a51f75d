//! Armv7E-M: UMAAL, which adds two words to the product of two others.
//!
//! On a little-endian processor, limbs of 64 bits are words of 32 bits in the same order, and the
//! kernels compute with those. Numbers with an odd number of limbs take the last limb on its own.
//!
//! Time depends on lengths only: UMAAL, UMULL and MUL take one cycle on a Cortex-M4 and M7,
//! whatever their operands. (On a Cortex-M3, which has no UMAAL, UMULL ends early.) There is no
//! division, no branch on a value and no address from one.

#[macro_use]
mod text;
mod linear;
mod lookup;
#[cfg(feature = "small")]
pub(super) mod masked;
mod product;
mod reduce;
mod square;

pub(in crate::machine) use lookup::lookup_of_curve;

use super::super::cpu::Armv7em;
use super::{LIMB_BYTES, Limb, Words};

/// Words of 32 bits in a limb.
const WORDS: usize = LIMB_BYTES / size_of::<u32>();

impl Words for Armv7em {
    #[inline]
    fn mul(self, product: &mut [Limb], a: &[Limb], b: &[Limb]) {
        product::mul(self, product, a, b);
    }

    #[inline]
    fn square(self, product: &mut [Limb], a: &[Limb]) {
        if cfg!(feature = "small") {
            product::mul(self, product, a, a);
        } else {
            square::square(self, product, a);
        }
    }

    #[inline]
    fn add_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        linear::add_mul_limb(self, accumulator, a, x)
    }

    #[inline]
    fn sub_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        linear::sub_mul_limb(self, accumulator, a, x)
    }

    #[inline]
    fn montgomery_reduce(self, result: &mut [Limb], wide: &mut [Limb], modulus: &[Limb], n0: Limb) {
        reduce::montgomery_reduce(self, result, wide, modulus, n0);
    }

    #[inline]
    fn lookup(self, out: &mut [Limb], table: &[Limb], index: usize) {
        lookup::lookup(self, out, table, index);
    }
}
