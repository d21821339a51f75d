//! BMI2 and ADX for one number: an assembly kernel for each product modulo each prime.
//!
//! Elements are saturated limbs of 64 bits, in the form of constants in memory. In Montgomery form
//! they are less than the prime, so equal residues are equal elements.

#[macro_use]
mod text;
#[macro_use]
mod dense;
mod bls12_base;
mod bls12_complex;
mod bls12_scalar;
mod bls12_sums;
mod cyclotomic;
mod doubling;
mod linear;
mod linear_complex;
mod linear_dense;
mod linear_long;
mod p224;
mod p25519;
mod p256;
mod p384;
mod p521;
mod wide;

use core::mem::MaybeUninit;

use super::super::cpu::Adx;
use super::super::ct::Mask;
use super::super::words::{LIMB_BITS, Limb, Words};
use super::curve::edwards_negated;
use super::form::{equal_limbs, montgomery, montgomery_wide, redundant_p25519};
use super::portable::one_number;
use super::{
    Arithmetic, Bls12Base, Bls12Scalar, CurveArithmetic, P224, P256, P384, P521, P25519, Prime,
};

pub(super) use linear_dense::{add_4, add_6, sub_4, sub_6};

/// A kernel's result in memory. By the System V ABI, the caller passes its address in `rdi`, and the
/// kernel returns the address in `rax`. The compiler can pass the address of the value's final
/// place. A copy would wait for the kernel's stores, because it loads more at a time than they
/// wrote.
#[repr(C)]
struct Returned<T>(T);

/// Code shared by all primes: the kernels of module `$kernels` for `$n` limbs, `$add` and `$sub`,
/// and tables.
macro_rules! from_kernels {
    ($n:literal $kernels:ident $add:path, $sub:path) => {
        type Element = [Limb; $n];
        const STORED_LIMBS: usize = $n;
        const ZERO: Self::Element = [0; $n];

        one_number!();

        #[inline(always)]
        fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            let mut product = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the token proves BMI2 and ADX; the kernel writes the whole product.
            unsafe {
                $kernels::mul(product.as_mut_ptr().cast(), a.as_ptr(), b.as_ptr());
                product.assume_init()
            }
        }

        #[inline(always)]
        fn square(self, a: &Self::Element) -> Self::Element {
            let mut square = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the token proves BMI2 and ADX; the kernel writes the whole square.
            unsafe {
                $kernels::square(square.as_mut_ptr().cast(), a.as_ptr());
                square.assume_init()
            }
        }

        #[inline(always)]
        fn square_times(self, a: &Self::Element, times: usize) -> Self::Element {
            if times == 0 {
                return *a;
            }
            let mut power = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the token proves BMI2 and ADX; `times` is not 0, and the kernel writes the
            // whole power.
            unsafe {
                $kernels::square_times(power.as_mut_ptr().cast(), a.as_ptr(), times);
                power.assume_init()
            }
        }

        /// A copy would wait for the kernel's stores: it loads more at a time than they wrote.
        #[inline(always)]
        fn mul_in_place(self, a: &mut Self::Element, b: &Self::Element) {
            // SAFETY: the token proves BMI2 and ADX; the product may be where a factor is.
            unsafe { $kernels::mul(a.as_mut_ptr(), a.as_ptr(), b.as_ptr()) };
        }

        #[inline(always)]
        fn square_times_in_place(self, a: &mut Self::Element, times: usize) {
            if times != 0 {
                // SAFETY: the token proves BMI2 and ADX; `times` is not 0, and the power may be
                // where its base is.
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

impl Arithmetic<P224> for Adx {
    from_kernels!(4 p224 linear::add_p224, linear::sub_p224);
    montgomery!(P224 4);
}

impl Arithmetic<P256> for Adx {
    from_kernels!(4 p256 linear::add_p256, linear::sub_p256);
    montgomery!(P256 4);
}

impl Arithmetic<P384> for Adx {
    from_kernels!(6 p384 linear_long::add_p384, linear_long::sub_p384);
    montgomery!(P384 6);
}

impl Arithmetic<Bls12Base> for Adx {
    from_kernels!(6 bls12_base add_6, sub_6);
    montgomery_wide!(Bls12Base 6);
}

impl Arithmetic<Bls12Scalar> for Adx {
    from_kernels!(4 bls12_scalar add_4, sub_4);
    montgomery_wide!(Bls12Scalar 4);
}

impl Arithmetic<P521> for Adx {
    from_kernels!(9 p521 linear_long::add_p521, linear_long::sub_p521);
    equal_limbs!();

    fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
        let mut number = [0; 9];
        number[0] = small;
        Arithmetic::<P521>::mul(self, a, &number)
    }

    /// The number plus 1 reaches 2⁵²¹ only if the number is the prime; the rest is then 0.
    fn load(self, numbers: &[[Limb; 9]]) -> Self::Element {
        Arithmetic::<P521>::add(self, &numbers[0], &<Self as Arithmetic<P521>>::ZERO)
    }

    fn store(self, element: &Self::Element, numbers: &mut [[Limb; 9]]) {
        numbers[0] = *element;
    }
}

impl Arithmetic<P25519> for Adx {
    from_kernels!(4 p25519 linear::add_p25519, linear::sub_p25519);

    #[inline(always)]
    fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
        debug_assert!(small < 1 << 58);
        let mut product = MaybeUninit::<Self::Element>::uninit();
        // SAFETY: the token proves BMI2 and ADX; the kernel writes the whole product.
        unsafe {
            p25519::mul_small(product.as_mut_ptr().cast(), a.as_ptr(), small);
            product.assume_init()
        }
    }

    redundant_p25519!();
}

impl CurveArithmetic<P224> for Adx {}
/// [`CurveArithmetic::double_times`] by a kernel for `$n` limbs.
macro_rules! double_times {
    ($n:literal $kernel:path) => {
        #[inline(always)]
        fn double_times(self, point: &[[Limb; $n]; 3], times: usize) -> [[Limb; $n]; 3] {
            let mut point = *point;
            for _ in 0..times {
                // SAFETY: the token proves BMI2 and ADX; a point may be replaced by its double.
                unsafe { $kernel(point.as_mut_ptr().cast(), point.as_ptr().cast()) };
            }
            point
        }
    };
}

impl CurveArithmetic<P384> for Adx {
    double_times!(6 doubling::double_p384);
}

impl CurveArithmetic<P521> for Adx {
    double_times!(9 doubling::double_p521);
}

impl CurveArithmetic<P256> for Adx {
    double_times!(4 p256::double);

    #[inline(always)]
    fn add_affine(self, point: &[[Limb; 4]; 3], addend: &[[Limb; 4]; 2]) -> [[Limb; 4]; 5] {
        let mut sum = MaybeUninit::<[[Limb; 4]; 5]>::uninit();
        // SAFETY: the token proves BMI2 and ADX; the kernel writes the whole sum.
        unsafe {
            let (point, addend) = (point.as_ptr().cast(), addend.as_ptr().cast());
            p256::add_affine(sum.as_mut_ptr().cast(), point, addend);
            sum.assume_init()
        }
    }

    const POINTS_READ_MEANWHILE: usize = 64;

    #[inline(always)]
    fn add_affine_then_look_up(
        self,
        point: &mut [[Limb; 4]; 3],
        addend: &mut [[Limb; 4]; 2],
        row: &[Limb],
        index: Limb,
        negative: Mask,
    ) {
        assert_eq!(row.len(), 64 * 8);
        // SAFETY: the token proves BMI2, ADX and AVX2; the row has 64 entries.
        unsafe {
            let (point, addend) = (point.as_mut_ptr().cast(), addend.as_mut_ptr().cast());
            p256::add_affine_then_look_up(point, addend, row.as_ptr(), index, negative.value());
        }
    }
}

impl CurveArithmetic<P25519> for Adx {
    #[inline(always)]
    fn ladder_step(
        self,
        x1: &Self::Element,
        state: &mut [Self::Element; 4],
        swap: Mask,
        a24: Limb,
    ) {
        CurveArithmetic::<P25519>::ladder(self, x1, state, 1, &[[swap.value() & 1, 0, 0, 0]], a24);
    }

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
        let mut left = steps;
        while left > 0 {
            let times = (left - 1) % LIMB_BITS + 1;
            let swaps = swaps[0][(left - 1) / LIMB_BITS] << (LIMB_BITS - times);
            // SAFETY: the token proves BMI2 and ADX; the state is sixteen limbs, one after the
            // other, and `times` is not 0.
            unsafe {
                p25519::ladder_steps(state.as_mut_ptr().cast(), x1.as_ptr(), swaps, times, a24);
            }
            left -= times;
        }
    }

    #[inline(always)]
    fn add_edwards(
        self,
        point: &[[Limb; 4]; 4],
        addend: &[[Limb; 4]; 3],
        negative: Mask,
    ) -> [[Limb; 4]; 4] {
        let addend = &edwards_negated::<P25519, _>(self, addend, negative);
        let mut sum = MaybeUninit::<[[Limb; 4]; 4]>::uninit();
        // SAFETY: the token proves BMI2 and ADX; the kernel writes the whole sum.
        unsafe {
            let (point, addend) = (point.as_ptr().cast(), addend.as_ptr().cast());
            p25519::add_affine(sum.as_mut_ptr().cast(), point, addend);
            sum.assume_init()
        }
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
        assert_eq!(row.len(), 16 * 12);
        debug_assert!(point[..3].iter().all(|number| number[3] <= 1 << 63));
        // SAFETY: the token proves BMI2, ADX and AVX2; the row has sixteen entries.
        unsafe {
            let (point, addend) = (point.as_mut_ptr().cast(), addend.as_mut_ptr().cast());
            p25519::add_affine_then_look_up(point, addend, row.as_ptr(), index, negative.value());
        }
    }

    #[inline(always)]
    fn add_edwards_vartime(
        self,
        point: &mut [[Limb; 4]; 4],
        addend: &[[Limb; 4]; 3],
        twice_z: Option<&[Limb; 4]>,
        is_negative: bool,
        with_t: bool,
    ) {
        let twice_z = twice_z.map_or(core::ptr::null(), |z| z.as_ptr());
        // SAFETY: the token proves BMI2 and ADX; 2·Z is four limbs or null.
        unsafe {
            let (point, addend) = (point.as_mut_ptr().cast(), addend.as_ptr().cast());
            p25519::add_vartime(point, addend, twice_z, is_negative.into(), with_t.into());
        }
    }

    #[inline(always)]
    fn double_edwards(self, point: &mut [[Limb; 4]; 4], times: usize) {
        assert_ne!(times, 0);
        // SAFETY: the token proves BMI2 and ADX; `times` is not 0.
        unsafe { p25519::double(point.as_mut_ptr().cast(), times) };
    }
}
