//! Armv7E-M for one number: kernels with UMAAL for P-256 and 2²⁵⁵ − 19.
//!
//! P-224, P-384 and the primes of BLS12-381 use the kernels of `words` (`dense`). P-521 is as in
//! plain Rust.

#[macro_use]
mod text;
mod p25519;
mod p256;

use core::mem::MaybeUninit;

use super::super::cpu::Armv7em;
use super::super::ct::Mask;
use super::super::words::armv7em::lookup_of_curve;
use super::super::words::{Limb, Portable};
use super::curve::edwards_negated;
use super::form::{equal_limbs, montgomery, redundant_p25519};
use super::portable::{as_portable, one_number};
use super::{Arithmetic, CurveArithmetic, P224, P256, P384, P521, P25519, Prime};

/// Code shared by the primes with kernels of their own, in module `$kernels`: four limbs.
macro_rules! from_kernels {
    ($prime:ident $kernels:ident) => {
        type Element = [Limb; 4];
        const STORED_LIMBS: usize = 4;
        const ZERO: Self::Element = [0; 4];

        one_number!();

        #[inline(always)]
        fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            let mut product = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the token proves UMAAL; the kernel writes the whole product.
            unsafe {
                $kernels::mul(product.as_mut_ptr().cast(), a.as_ptr(), b.as_ptr());
                product.assume_init()
            }
        }

        #[inline(always)]
        fn square(self, a: &Self::Element) -> Self::Element {
            let mut square = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the token proves UMAAL; the kernel writes the whole square.
            unsafe {
                $kernels::square(square.as_mut_ptr().cast(), a.as_ptr());
                square.assume_init()
            }
        }

        #[inline(always)]
        fn square_times(self, a: &Self::Element, times: usize) -> Self::Element {
            let mut power = *a;
            Arithmetic::<$prime>::square_times_in_place(self, &mut power, times);
            power
        }

        #[inline(always)]
        fn mul_in_place(self, a: &mut Self::Element, b: &Self::Element) {
            // SAFETY: the token proves UMAAL; the product may be where a factor is.
            unsafe { $kernels::mul(a.as_mut_ptr(), a.as_ptr(), b.as_ptr()) };
        }

        #[inline(always)]
        fn square_times_in_place(self, a: &mut Self::Element, times: usize) {
            for _ in 0..times {
                // SAFETY: the token proves UMAAL; the square may be where its root is.
                unsafe { $kernels::square(a.as_mut_ptr(), a.as_ptr()) };
            }
        }

        #[inline(always)]
        fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            let mut sum = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the kernel writes the whole sum.
            unsafe {
                $kernels::add(sum.as_mut_ptr().cast(), a.as_ptr(), b.as_ptr());
                sum.assume_init()
            }
        }

        #[inline(always)]
        fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            let mut difference = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the kernel writes the whole difference.
            unsafe {
                $kernels::sub(difference.as_mut_ptr().cast(), a.as_ptr(), b.as_ptr());
                difference.assume_init()
            }
        }

        #[inline(always)]
        fn stored(self, constant: &[Limb]) -> Self::Element {
            core::array::from_fn(|i| constant[i])
        }

        #[inline(always)]
        fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Limb) {
            lookup_of_curve(self, out.as_flattened_mut(), table, index as usize);
        }

        #[inline(always)]
        fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Limb) {
            lookup_of_curve(self, out.as_flattened_mut(), table.as_flattened(), index as usize);
        }
    };
}

impl Arithmetic<P256> for Armv7em {
    from_kernels!(P256 p256);
    montgomery!(P256 4);
}

impl Arithmetic<P25519> for Armv7em {
    from_kernels!(P25519 p25519);

    #[inline(always)]
    fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
        debug_assert!((1..=1 << 25).contains(&small));
        let mut product = MaybeUninit::<Self::Element>::uninit();
        // SAFETY: the token proves UMAAL; the kernel writes the whole product.
        unsafe {
            p25519::mul_small(product.as_mut_ptr().cast(), a.as_ptr(), small as u32 - 1);
            product.assume_init()
        }
    }

    redundant_p25519!();
}

as_portable!(Armv7em P521);

impl CurveArithmetic<P224> for Armv7em {}
impl CurveArithmetic<P384> for Armv7em {}
impl CurveArithmetic<P521> for Armv7em {}

impl CurveArithmetic<P256> for Armv7em {
    #[inline(always)]
    fn double_times(self, point: &[[Limb; 4]; 3], times: usize) -> [[Limb; 4]; 3] {
        let mut point = *point;
        if times != 0 {
            // SAFETY: the token proves UMAAL; the point is twelve limbs, and `times` is not 0.
            unsafe { p256::double_times(point.as_mut_ptr().cast(), times) };
        }
        point
    }

    #[inline(always)]
    fn add_jacobian(
        self,
        [x1, y1, z1]: [&Self::Element; 3],
        [x2, y2, z2]: [&Self::Element; 3],
    ) -> Option<[Self::Element; 5]> {
        let coordinates = [x1, y1, z1, x2, y2, z2].map(|coordinate| coordinate.as_ptr());
        let mut sum = MaybeUninit::<[Self::Element; 5]>::uninit();
        // SAFETY: the token proves UMAAL; the kernel writes all five elements.
        unsafe {
            p256::add_jacobian(sum.as_mut_ptr().cast(), coordinates.as_ptr());
            Some(sum.assume_init())
        }
    }

    #[inline(always)]
    fn add_affine(
        self,
        [x1, y1, z1]: &[Self::Element; 3],
        [x2, y2]: &[Self::Element; 2],
    ) -> [Self::Element; 5] {
        // The last is not used.
        let coordinates = [x1, y1, z1, x2, y2, y2].map(|coordinate| coordinate.as_ptr());
        let mut sum = MaybeUninit::<[Self::Element; 5]>::uninit();
        // SAFETY: the token proves UMAAL; the kernel writes all five elements.
        unsafe {
            p256::add_affine(sum.as_mut_ptr().cast(), coordinates.as_ptr());
            sum.assume_init()
        }
    }
}

impl CurveArithmetic<P25519> for Armv7em {
    #[inline(always)]
    fn ladder(
        self,
        x1: &Self::Element,
        state: &mut [Self::Element; 4],
        steps: usize,
        swaps: &[[Limb; 4]],
        a24: Limb,
    ) {
        debug_assert!((1..1 << 25).contains(&a24));
        assert!((1..=256).contains(&steps));
        let (state, swaps) = (state.as_mut_ptr().cast(), swaps[0].as_ptr());
        // SAFETY: the token proves UMAAL; the state is sixteen limbs, one after the other, and
        // there are from 1 to 256 steps.
        unsafe { p25519::ladder(state, x1.as_ptr(), swaps, steps, a24 as u32) };
    }

    #[inline(always)]
    fn add_edwards(
        self,
        point: &[[Limb; 4]; 4],
        addend: &[[Limb; 4]; 3],
        negative: Mask,
    ) -> [[Limb; 4]; 4] {
        let mut sum = *point;
        let addend = &edwards_negated::<P25519, _>(self, addend, negative);
        add_edwards(self, &mut sum, addend);
        sum
    }

    const LOOKS_UP_MEANWHILE: bool = true;

    #[inline(always)]
    fn add_edwards_then_look_up(
        self,
        point: &mut [[Limb; 4]; 4],
        addend: &mut [[Limb; 4]; 3],
        row: &[Limb],
        index: Limb,
        negative: Mask,
    ) {
        add_edwards(self, point, addend);
        Arithmetic::<P25519>::lookup_stored(self, addend, row, index);
        // SAFETY: the token proves UADD8 and SEL; the addend is twelve limbs. Stored numbers are
        // below 2²⁵⁵.
        unsafe { p25519::negate_edwards(addend.as_mut_ptr().cast(), negative.value() as u32) };
    }
}

/// Adds a point of edwards25519 to another, in place.
fn add_edwards(_: Armv7em, point: &mut [[Limb; 4]; 4], addend: &[[Limb; 4]; 3]) {
    let point = point.as_mut_ptr().cast();
    // SAFETY: the token proves UMAAL; the sum may be where the point is.
    unsafe { p25519::add_edwards(point, point, addend.as_ptr().cast()) };
}
