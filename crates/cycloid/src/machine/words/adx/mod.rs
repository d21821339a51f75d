//! BMI2 and ADX: two carry chains side by side (MULX, ADCX, ADOX).

#[macro_use]
mod text;
mod linear;
mod product;
mod reduce;
mod square;

use super::super::cpu::Adx;
use super::{Limb, Words};

impl Words for Adx {
    const NAME: &'static str = "adx";

    #[inline]
    fn mul(self, product: &mut [Limb], a: &[Limb], b: &[Limb]) {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { product::mul(product, a, b) };
    }

    #[inline]
    fn square(self, product: &mut [Limb], a: &[Limb]) {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { square::square(product, a) };
    }

    #[inline]
    fn add_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { linear::add_mul_limb(accumulator, a, x) }
    }

    #[inline]
    fn sub_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { linear::sub_mul_limb(accumulator, a, x) }
    }

    #[inline]
    fn montgomery_reduce(self, result: &mut [Limb], wide: &mut [Limb], modulus: &[Limb], n0: Limb) {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { reduce::montgomery_reduce(result, wide, modulus, n0) };
    }
}
