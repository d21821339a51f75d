//! AArch64 for one number: kernels for P-256, P-384 and 2²⁵⁵ − 19.
//!
//! P-224 and the primes of BLS12-381 use the kernels of `words` (`dense`). P-521 is as in
//! plain Rust.

#[macro_use]
mod text;
mod p25519;
mod p256;
mod p384;

use core::mem::MaybeUninit;

use super::super::cpu::Aarch64;
use super::super::ct::Mask;
use super::super::words::{self, Limb, Portable, Words};
use super::form::{equal_limbs, montgomery, redundant_p25519};
use super::portable::{as_portable, one_number};
use super::{Arithmetic, CurveArithmetic, P224, P256, P384, P521, P25519, Prime};

/// Code shared by the primes with kernels of their own, in module `$kernels`: n limbs.
macro_rules! from_kernels {
    ($prime:ident $n:literal $kernels:ident) => {
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
            $kernels::add(a, b)
        }

        #[inline(always)]
        fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            $kernels::sub(a, b)
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

as_portable!(Aarch64 P521);

impl CurveArithmetic<P224> for Aarch64 {}
impl CurveArithmetic<P384> for Aarch64 {}
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
}

impl CurveArithmetic<P25519> for Aarch64 {
    #[inline(always)]
    fn ladder_step(
        self,
        x1: &Self::Element,
        state: &mut [Self::Element; 4],
        swap: Mask,
        a24: Limb,
    ) {
        debug_assert!(a24 < 1 << 17 && state.iter().all(|number| number[3] <= 1 << 63));
        // SAFETY: the state is sixteen limbs, one after the other.
        unsafe { p25519::ladder_step(state.as_mut_ptr().cast(), x1.as_ptr(), swap.value(), a24) };
    }

    #[inline(always)]
    fn add_edwards(self, point: &[[Limb; 4]; 4], addend: &[[Limb; 4]; 3]) -> [[Limb; 4]; 4] {
        let mut sum = MaybeUninit::<[[Limb; 4]; 4]>::uninit();
        // SAFETY: the kernel writes the whole sum.
        unsafe {
            let (point, addend) = (point.as_ptr().cast(), addend.as_ptr().cast());
            p25519::add_edwards(sum.as_mut_ptr().cast(), point, addend);
            sum.assume_init()
        }
    }
}
