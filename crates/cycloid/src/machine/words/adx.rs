//! BMI2 and ADX: two carry chains side by side (MULX, ADCX, ADOX).

use super::super::cpu::Adx;
use super::{Limb, Portable, Words};

impl Words for Adx {
    const NAME: &'static str = "adx";

    #[inline]
    fn mul(self, product: &mut [Limb], a: &[Limb], b: &[Limb]) {
        Portable.mul(product, a, b);
    }

    #[inline]
    fn square(self, product: &mut [Limb], a: &[Limb]) {
        Portable.square(product, a);
    }

    #[inline]
    fn add_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        Portable.add_mul_limb(accumulator, a, x)
    }

    #[inline]
    fn sub_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        Portable.sub_mul_limb(accumulator, a, x)
    }

    #[inline]
    fn montgomery_reduce(self, result: &mut [Limb], wide: &mut [Limb], modulus: &[Limb], n0: Limb) {
        Portable.montgomery_reduce(result, wide, modulus, n0);
    }
}
