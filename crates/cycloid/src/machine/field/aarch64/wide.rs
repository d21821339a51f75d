//! Unreduced products: signed integers of 768 bits for the base prime of BLS12-381; numbers kept
//! below p·R for the scalar prime, for which correcting the upper halves suffices.

use core::mem::MaybeUninit;

use super::super::super::cpu::Aarch64;
use super::super::super::ct::Mask;
use super::super::super::words;
use super::super::{Bls12Base, Bls12Scalar, Prime, Wide};
use super::bls12_base::MODULI;
use super::{Limb, bls12_base, bls12_complex, bls12_scalar, linear_dense};

/// A number.
type Base = [Limb; 6];

/// An unreduced product.
type BaseWide = [Limb; 12];

/// Returns what `write` writes.
///
/// # Safety
/// `write` initialises the whole value at the pointer.
#[inline(always)]
unsafe fn written<T>(write: impl FnOnce(*mut Limb)) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    write(value.as_mut_ptr().cast());
    // SAFETY: as for this function.
    unsafe { value.assume_init() }
}

impl Wide<Bls12Base> for Aarch64 {
    type Wide = BaseWide;

    #[inline(always)]
    fn import(self, words: &[Base]) -> Base {
        words[0]
    }

    #[inline(always)]
    fn export(self, element: &Base, words: &mut [Base]) {
        words[0] = *element;
    }

    #[inline(always)]
    fn mul_wide(self, a: &Base, b: &Base) -> BaseWide {
        // SAFETY: the kernel writes the whole product, which is apart from both factors.
        unsafe { written(|out| bls12_base::mul_wide(out, a.as_ptr(), b.as_ptr())) }
    }

    #[inline(always)]
    fn add_wide(self, a: &BaseWide, b: &BaseWide) -> BaseWide {
        let mut sum = *a;
        words::add(&mut sum, b);
        sum
    }

    #[inline(always)]
    fn sub_wide(self, a: &BaseWide, b: &BaseWide) -> BaseWide {
        let mut difference = *a;
        words::sub(&mut difference, b);
        difference
    }

    #[inline(always)]
    fn reduce_wide(self, wide: &BaseWide) -> Base {
        // SAFETY: the kernel writes the whole residue, which is apart from the product.
        unsafe { written(|out| bls12_base::reduce_wide(out, wide.as_ptr(), &MODULI, 1)) }
    }

    #[inline(always)]
    fn sum_of_products(self, [a, b]: [&Base; 2], [c, d]: [&Base; 2]) -> Base {
        let (a, b, c, d) = (a.as_ptr(), b.as_ptr(), c.as_ptr(), d.as_ptr());
        // SAFETY: the kernel writes the whole sum.
        unsafe { written(|out| bls12_base::sum_of_products(out, a, b, c, d, &MODULI)) }
    }

    #[inline(always)]
    fn difference_of_products(self, ab: [&Base; 2], [c, d]: [&Base; 2]) -> Base {
        Wide::<Bls12Base>::sum_of_products(self, ab, [&linear_dense::negate_6(c), d])
    }

    #[inline(always)]
    fn mul_complex(self, a: &[Base; 2], b: &[Base; 2]) -> [Base; 2] {
        let (a, b) = (a.as_ptr().cast(), b.as_ptr().cast());
        // SAFETY: the kernel writes the whole product, which is apart from both factors.
        unsafe { written(|out| bls12_complex::mul(out, a, b, &MODULI)) }
    }

    #[inline(always)]
    fn square_complex(self, a: &[Base; 2]) -> [Base; 2] {
        // SAFETY: the kernel writes the whole square.
        unsafe { written(|out| bls12_complex::square(out, a.as_ptr().cast(), &MODULI)) }
    }

    /// Reduces two sums instead of three squares.
    #[inline(always)]
    fn square_quartic(self, a: &[Base; 2], b: &[Base; 2]) -> [[Base; 2]; 2] {
        let f = |a: &Base, b: &Base| Wide::<Bls12Base>::add_factor(self, a, b);
        let square = |a: &[Base; 2]| -> [BaseWide; 2] {
            // SAFETY: the kernel writes the whole square, which is apart from its base.
            unsafe { written(|out| bls12_complex::square_wide(out, a.as_ptr().cast())) }
        };
        let mut both = square(&[f(&a[0], &b[0]), f(&a[1], &b[1])]);
        let (mut aa, bb) = (square(a), square(b));
        Wide::<Bls12Base>::sub_both_wide(self, &mut both, &aa, &bb);
        Wide::<Bls12Base>::add_turned_wide(self, &mut aa, &bb);
        [aa, both].map(|sum| Wide::<Bls12Base>::reduce_complex_wide(self, &sum))
    }

    #[inline(always)]
    fn mul_complex_wide(self, a: &[Base; 2], b: &[Base; 2]) -> [BaseWide; 2] {
        let (a, b) = (a.as_ptr().cast(), b.as_ptr().cast());
        // SAFETY: the kernel writes the whole product, which is apart from both factors.
        unsafe { written(|out| bls12_complex::mul_wide(out, a, b)) }
    }

    #[inline(always)]
    fn reduce_complex_wide(self, wide: &[BaseWide; 2]) -> [Base; 2] {
        let wide = wide.as_ptr().cast();
        // SAFETY: the kernel writes both residues, which are apart from the two products.
        unsafe { written(|out| bls12_base::reduce_wide(out, wide, &MODULI, 2)) }
    }

    #[inline(always)]
    fn add_complex_wide(self, a: &mut [BaseWide; 2], b: &[BaseWide; 2]) {
        let a: *mut Limb = a.as_mut_ptr().cast();
        // SAFETY: both are two products.
        unsafe { bls12_complex::add_wide(a, a, b.as_ptr().cast()) };
    }

    #[inline(always)]
    fn sub_complex_wide(self, a: &mut [BaseWide; 2], b: &[BaseWide; 2]) {
        let a: *mut Limb = a.as_mut_ptr().cast();
        // SAFETY: both are two products.
        unsafe { bls12_complex::sub_wide(a, a, b.as_ptr().cast()) };
    }

    #[inline(always)]
    fn add_turned_wide(self, a: &mut [BaseWide; 2], b: &[BaseWide; 2]) {
        let a: *mut Limb = a.as_mut_ptr().cast();
        // SAFETY: both are two products.
        unsafe { bls12_complex::add_turned_wide(a, a, b.as_ptr().cast()) };
    }

    #[inline(always)]
    fn sub_both_wide(self, a: &mut [BaseWide; 2], b: &[BaseWide; 2], c: &[BaseWide; 2]) {
        let (b, c) = (b.as_ptr().cast(), c.as_ptr().cast());
        // SAFETY: each is two products.
        unsafe { bls12_complex::sub_both_wide(a.as_mut_ptr().cast(), b, c) };
    }

    #[inline(always)]
    fn add_factor(self, a: &Base, b: &Base) -> Base {
        linear_dense::add_plain_6(a, b)
    }
}

impl Wide<Bls12Scalar> for Aarch64 {
    type Wide = [Limb; 8];

    #[inline(always)]
    fn import(self, words: &[[Limb; 4]]) -> [Limb; 4] {
        words[0]
    }

    #[inline(always)]
    fn export(self, element: &[Limb; 4], words: &mut [[Limb; 4]]) {
        words[0] = *element;
    }

    #[inline(always)]
    fn mul_wide(self, a: &[Limb; 4], b: &[Limb; 4]) -> [Limb; 8] {
        // SAFETY: the kernel writes the whole product, which is apart from both factors.
        unsafe { written(|out| bls12_scalar::mul_wide(out, a.as_ptr(), b.as_ptr())) }
    }

    #[inline]
    fn add_wide(self, a: &[Limb; 8], b: &[Limb; 8]) -> [Limb; 8] {
        let mut sum = *a;
        let carry = words::add(&mut sum, b);
        words::reduce_once(carry, &mut sum[4..], &Bls12Scalar::MODULUS);
        sum
    }

    #[inline]
    fn sub_wide(self, a: &[Limb; 8], b: &[Limb; 8]) -> [Limb; 8] {
        let mut difference = *a;
        let borrow = words::sub(&mut difference, b);
        words::add_if(Mask::from_bit(borrow), &mut difference[4..], &Bls12Scalar::MODULUS);
        difference
    }

    #[inline(always)]
    fn reduce_wide(self, wide: &[Limb; 8]) -> [Limb; 4] {
        let modulus = &bls12_scalar::MODULUS;
        // SAFETY: the kernel writes the whole residue.
        unsafe { written(|out| bls12_scalar::reduce_wide(out, wide.as_ptr(), modulus)) }
    }
}
