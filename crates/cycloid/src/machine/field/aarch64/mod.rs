//! AArch64 for one number: kernels for P-256, P-384, 2²⁵⁵ − 19 and the primes of BLS12-381.
//!
//! P-224 and P-521 are as in plain Rust.

#[macro_use]
mod text;
#[macro_use]
mod dense;
#[macro_use]
mod bls12_base;
mod bls12_complex;
mod bls12_scalar;
mod linear_dense;
mod p25519;
mod p256;
mod p384;
mod wide;

use core::mem::MaybeUninit;

use super::super::cpu::Aarch64;
use super::super::ct::Mask;
use super::super::words::{Limb, Portable, Words};
use super::form::{equal_limbs, montgomery, montgomery_wide, redundant_p25519};
use super::portable::{as_portable, one_number};
use super::{
    Arithmetic, Bls12Base, Bls12Scalar, CurveArithmetic, P224, P256, P384, P521, P25519, Prime,
};

/// Code shared by the primes with kernels of their own, in module `$kernels`: n limbs. Sums and
/// differences are there as well, unless `$add` and `$sub` say otherwise.
macro_rules! from_kernels {
    ($prime:ident $n:literal $kernels:ident) => {
        from_kernels!($prime $n $kernels $kernels::add, $kernels::sub);
    };
    ($prime:ident $n:literal $kernels:ident $add:path, $sub:path) => {
        type Element = [Limb; $n];
        const STORED_LIMBS: usize = $n;
        const ZERO: Self::Element = [0; $n];

        one_number!();

        #[inline(always)]
        fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            let mut product = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the kernel writes the whole product.
            unsafe {
                $kernels::mul(product.as_mut_ptr().cast(), a.as_ptr(), b.as_ptr());
                product.assume_init()
            }
        }

        #[inline(always)]
        fn square(self, a: &Self::Element) -> Self::Element {
            Arithmetic::<$prime>::square_times(self, a, 1)
        }

        #[inline(always)]
        fn square_times(self, a: &Self::Element, times: usize) -> Self::Element {
            if times == 0 {
                return *a;
            }
            let mut power = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: `times` is not 0, and the kernel writes the whole power.
            unsafe {
                $kernels::square_times(power.as_mut_ptr().cast(), a.as_ptr(), times);
                power.assume_init()
            }
        }

        #[inline(always)]
        fn mul_in_place(self, a: &mut Self::Element, b: &Self::Element) {
            // SAFETY: the product may be where a factor is.
            unsafe { $kernels::mul(a.as_mut_ptr(), a.as_ptr(), b.as_ptr()) };
        }

        #[inline(always)]
        fn square_times_in_place(self, a: &mut Self::Element, times: usize) {
            if times != 0 {
                // SAFETY: `times` is not 0, and the power may be where its base is.
                unsafe { $kernels::square_times(a.as_mut_ptr(), a.as_ptr(), times) };
            }
        }

        #[inline(always)]
        fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            $add(a, b)
        }

        #[inline(always)]
        fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            $sub(a, b)
        }

        #[inline(always)]
        fn stored(self, constant: &[Limb]) -> Self::Element {
            core::array::from_fn(|i| constant[i])
        }

        #[inline(always)]
        fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Limb) {
            Words::lookup(self, out.as_flattened_mut(), table, index as usize);
        }

        #[inline(always)]
        fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Limb) {
            Words::lookup(self, out.as_flattened_mut(), table.as_flattened(), index as usize);
        }
    };
}

impl Arithmetic<P256> for Aarch64 {
    from_kernels!(P256 4 p256);
    montgomery!(P256 4);
}

impl Arithmetic<P384> for Aarch64 {
    from_kernels!(P384 6 p384);
    montgomery!(P384 6);
}

impl Arithmetic<Bls12Base> for Aarch64 {
    from_kernels!(Bls12Base 6 bls12_base linear_dense::add_6, linear_dense::sub_6);
    montgomery_wide!(Bls12Base 6);

    #[inline(always)]
    fn double(self, a: &Self::Element) -> Self::Element {
        linear_dense::double_6(a)
    }
}

impl Arithmetic<Bls12Scalar> for Aarch64 {
    from_kernels!(Bls12Scalar 4 bls12_scalar linear_dense::add_4, linear_dense::sub_4);
    montgomery_wide!(Bls12Scalar 4);

    #[inline(always)]
    fn double(self, a: &Self::Element) -> Self::Element {
        linear_dense::double_4(a)
    }
}

impl Arithmetic<P25519> for Aarch64 {
    from_kernels!(P25519 4 p25519);

    #[inline(always)]
    fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
        debug_assert!(small < 1 << 57);
        let mut product = MaybeUninit::<Self::Element>::uninit();
        // SAFETY: the kernel writes the whole product.
        unsafe {
            p25519::mul_small(product.as_mut_ptr().cast(), a.as_ptr(), small);
            product.assume_init()
        }
    }

    redundant_p25519!();
}

as_portable!(Aarch64 P224);
as_portable!(Aarch64 P521);

impl CurveArithmetic<P224> for Aarch64 {}
impl CurveArithmetic<P521> for Aarch64 {}

impl CurveArithmetic<P256> for Aarch64 {
    #[inline(always)]
    fn double_times(self, point: &[[Limb; 4]; 3], times: usize) -> [[Limb; 4]; 3] {
        let mut point = *point;
        if times != 0 {
            // SAFETY: the point is twelve limbs, and `times` is not 0.
            unsafe { p256::double_times(point.as_mut_ptr().cast(), times) };
        }
        point
    }

    #[inline(always)]
    fn add_affine(self, point: &[[Limb; 4]; 3], addend: &[[Limb; 4]; 2]) -> [[Limb; 4]; 5] {
        let mut sum = MaybeUninit::<[[Limb; 4]; 5]>::uninit();
        // SAFETY: the kernel writes the whole sum, H and R, which are apart from both points.
        unsafe {
            let (point, addend) = (point.as_ptr().cast(), addend.as_ptr().cast());
            p256::add_affine(sum.as_mut_ptr().cast(), point, addend);
            sum.assume_init()
        }
    }
}

impl CurveArithmetic<P384> for Aarch64 {
    #[inline(always)]
    fn double_times(self, point: &[[Limb; 6]; 3], times: usize) -> [[Limb; 6]; 3] {
        let mut point = *point;
        if times != 0 {
            // SAFETY: the point is eighteen limbs, and `times` is not 0.
            unsafe { p384::double_times(point.as_mut_ptr().cast(), times) };
        }
        point
    }
}

impl CurveArithmetic<P25519> for Aarch64 {
    #[inline(always)]
    fn ladder(
        self,
        x1: &Self::Element,
        state: &mut [Self::Element; 4],
        steps: usize,
        swaps: &[[Limb; 4]],
        a24: Limb,
    ) {
        debug_assert!(a24 < 1 << 17 && state.iter().all(|number| number[3] <= 1 << 63));
        assert!((1..=256).contains(&steps));
        let swaps = swaps[0].as_ptr();
        // SAFETY: the state is sixteen limbs, one after the other, and there are from 1 to 256
        // steps.
        unsafe { p25519::ladder(state.as_mut_ptr().cast(), x1.as_ptr(), swaps, a24, steps) };
    }

    #[inline(always)]
    fn add_edwards(
        self,
        point: &[[Limb; 4]; 4],
        addend: &[[Limb; 4]; 3],
        negative: Mask,
    ) -> [[Limb; 4]; 4] {
        let mut sum = MaybeUninit::<[[Limb; 4]; 4]>::uninit();
        // SAFETY: the kernel writes the whole sum.
        unsafe {
            let (point, addend) = (point.as_ptr().cast(), addend.as_ptr().cast());
            p25519::add_edwards(sum.as_mut_ptr().cast(), point, addend, negative.value());
            sum.assume_init()
        }
    }
}
