//! Unreduced products: signed integers of 768 bits for the base prime; numbers kept below p·R for
//! the scalar prime, for which correcting the upper halves suffices.

use core::mem::MaybeUninit;

use super::super::super::cpu::Adx;
use super::super::{Bls12Base, Bls12Scalar, Wide};
use super::{
    Limb, bls12_base, bls12_complex, bls12_scalar, bls12_sums, cyclotomic, linear_complex,
    linear_dense,
};

/// The kernels of module `$kernels` for `$n` limbs, and the names of those in `linear_dense`.
macro_rules! wide {
    (
        $prime:ident $n:literal $kernels:ident $add_wide:ident $sub_wide:ident;
        $($more:tt)*
    ) => {
        impl Wide<$prime> for Adx {
            type Wide = [Limb; 2 * $n];

            #[inline(always)]
            fn import(self, words: &[[Limb; $n]]) -> [Limb; $n] {
                words[0]
            }

            #[inline(always)]
            fn export(self, element: &[Limb; $n], words: &mut [[Limb; $n]]) {
                words[0] = *element;
            }

            #[inline(always)]
            fn mul_wide(self, a: &[Limb; $n], b: &[Limb; $n]) -> Self::Wide {
                let mut wide = MaybeUninit::<Self::Wide>::uninit();
                // SAFETY: the token proves BMI2 and ADX; the kernel writes the whole product.
                unsafe {
                    $kernels::mul_wide(wide.as_mut_ptr().cast(), a.as_ptr(), b.as_ptr());
                    wide.assume_init()
                }
            }

            #[inline(always)]
            fn add_wide(self, a: &Self::Wide, b: &Self::Wide) -> Self::Wide {
                let mut wide = MaybeUninit::<Self::Wide>::uninit();
                // SAFETY: the kernel writes the whole sum.
                unsafe {
                    linear_dense::$add_wide(wide.as_mut_ptr().cast(), a.as_ptr(), b.as_ptr());
                    wide.assume_init()
                }
            }

            #[inline(always)]
            fn sub_wide(self, a: &Self::Wide, b: &Self::Wide) -> Self::Wide {
                let mut wide = MaybeUninit::<Self::Wide>::uninit();
                // SAFETY: the kernel writes the whole difference.
                unsafe {
                    linear_dense::$sub_wide(wide.as_mut_ptr().cast(), a.as_ptr(), b.as_ptr());
                    wide.assume_init()
                }
            }

            $($more)*
        }
    };
}

wide! { Bls12Base 6 bls12_base add_wide_6 sub_wide_6;
    #[inline(always)]
    fn reduce_wide(self, wide: &[Limb; 12]) -> [Limb; 6] {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { bls12_base::reduce_wide(wide).0 }
    }

    #[inline(always)]
    fn sum_of_products(self, [a, b]: [&[Limb; 6]; 2], [c, d]: [&[Limb; 6]; 2]) -> [Limb; 6] {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { bls12_sums::sum(a, b, c, d).0 }
    }

    #[inline(always)]
    fn difference_of_products(self, ab: [&[Limb; 6]; 2], [c, d]: [&[Limb; 6]; 2]) -> [Limb; 6] {
        let negative = linear_dense::sub_6(&[0; 6], c);
        Wide::<Bls12Base>::sum_of_products(self, ab, [&negative, d])
    }

    #[inline(always)]
    fn sum_of_complex_products(
        self,
        [a, b]: [&[Self::Element; 2]; 2],
        [c, d]: [&[Self::Element; 2]; 2],
    ) -> [Self::Element; 2] {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { bls12_sums::sum_complex(a, b, c, d).0 }
    }

    #[inline(always)]
    fn difference_of_complex_products(
        self,
        ab: [&[Self::Element; 2]; 2],
        [c, d]: [&[Self::Element; 2]; 2],
    ) -> [Self::Element; 2] {
        let negative = [linear_dense::sub_6(&[0; 6], &c[0]), linear_dense::sub_6(&[0; 6], &c[1])];
        Wide::<Bls12Base>::sum_of_complex_products(self, ab, [&negative, d])
    }

    #[inline(always)]
    fn mul_complex(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { bls12_complex::mul(a, b).0 }
    }

    #[inline(always)]
    fn square_complex(self, a: &[Self::Element; 2]) -> [Self::Element; 2] {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { bls12_complex::square(a).0 }
    }

    #[inline(always)]
    fn mul_complex_wide(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Wide; 2] {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { bls12_complex::mul_wide(a, b).0 }
    }

    #[inline(always)]
    fn add_complex(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
        linear_complex::add(a, b).0
    }

    #[inline(always)]
    fn sub_complex(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
        linear_complex::sub(a, b).0
    }

    #[inline(always)]
    fn turn_complex(self, a: &[Self::Element; 2]) -> [Self::Element; 2] {
        linear_complex::turn(a).0
    }

    #[inline(always)]
    fn add_turned(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
        linear_complex::add_turned(b, a).0
    }

    #[inline(always)]
    fn thrice_more(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
        linear_complex::thrice_more(a, b).0
    }

    #[inline(always)]
    fn thrice_less(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
        linear_complex::thrice_less(a, b).0
    }

    #[inline(always)]
    fn add_complex_wide(self, a: &mut [Self::Wide; 2], b: &[Self::Wide; 2]) {
        // SAFETY: both are two products.
        unsafe { bls12_complex::add_wide(a.as_mut_ptr().cast(), b.as_ptr().cast()) };
    }

    #[inline(always)]
    fn add_turned_wide(self, a: &mut [Self::Wide; 2], b: &[Self::Wide; 2]) {
        // SAFETY: both are two products.
        unsafe { bls12_complex::add_turned_wide(a.as_mut_ptr().cast(), b.as_ptr().cast()) };
    }

    #[inline(always)]
    fn sub_both_wide(self, a: &mut [Self::Wide; 2], b: &[Self::Wide; 2], c: &[Self::Wide; 2]) {
        let (b, c) = (b.as_ptr().cast(), c.as_ptr().cast());
        // SAFETY: each is two products.
        unsafe { bls12_complex::sub_both_wide(a.as_mut_ptr().cast(), b, c) };
    }

    #[inline(always)]
    fn square_cyclotomic_words(self, a: &[[[Limb; 6]; 2]; 6], out: &mut [[[Limb; 6]; 2]; 6]) -> bool {
        // SAFETY: the token proves BMI2 and ADX.
        *out = unsafe { cyclotomic::square_cyclotomic(a).0 };
        true
    }

    #[inline(always)]
    fn add_factor(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        linear_dense::add_plain_6(a, b)
    }
}
wide! { Bls12Scalar 4 bls12_scalar add_wide_4 sub_wide_4;
    #[inline(always)]
            fn reduce_wide(self, wide: &Self::Wide) -> [Limb; 4] {
                let mut residue = MaybeUninit::<[Limb; 4]>::uninit();
                // SAFETY: the token proves BMI2 and ADX; the kernel writes the whole residue.
                unsafe {
                    bls12_scalar::reduce_wide(residue.as_mut_ptr().cast(), wide.as_ptr());
                    residue.assume_init()
                }
            }
}
