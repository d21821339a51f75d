//! Fq12 and the pairing, computed by blst.

use core::ptr;

use blst::{blst_fp, blst_fp6, blst_fp12, blst_p2_affine};
use cycloid::bls12_381::backend::Mask;
use cycloid::bls12_381::backend::Pairing;
use cycloid::bls12_381::{G1Affine, G2Affine};

use crate::Blst;
use crate::ffi::{result, test};
use crate::group::Coordinate;

/// The number of lines of a Miller loop.
const LINES: usize = 68;

impl Pairing for Blst {
    type Fq12 = blst_fp12;
    type Prepared = [blst_fp6; LINES];

    fn fq12_from_coefficients(coefficients: &[[u8; 48]; 12]) -> blst_fp12 {
        combine(|i| blst_fp::from_be_bytes(&coefficients[i]))
    }

    fn fq12_coefficients(a: &blst_fp12) -> [[u8; 48]; 12] {
        core::array::from_fn(|i| coefficient(a, i).to_be_bytes())
    }

    fn fq12_one() -> blst_fp12 {
        // SAFETY: a pointer to a constant of blst.
        unsafe { *blst::blst_fp12_one() }
    }

    fn fq12_equal(a: &blst_fp12, b: &blst_fp12) -> bool {
        test!(blst_fp12_is_equal(a, b))
    }

    fn fq12_add(a: &blst_fp12, b: &blst_fp12) -> blst_fp12 {
        combine(|i| result!(blst_fp_add(coefficient(a, i), coefficient(b, i))))
    }

    fn fq12_sub(a: &blst_fp12, b: &blst_fp12) -> blst_fp12 {
        combine(|i| result!(blst_fp_sub(coefficient(a, i), coefficient(b, i))))
    }

    fn fq12_mul(a: &blst_fp12, b: &blst_fp12) -> blst_fp12 {
        result!(blst_fp12_mul(a, b))
    }

    fn fq12_square(a: &blst_fp12) -> blst_fp12 {
        result!(blst_fp12_sqr(a))
    }

    fn fq12_invert(a: &blst_fp12) -> blst_fp12 {
        result!(blst_fp12_inverse(a))
    }

    fn fq12_conjugate(a: &blst_fp12) -> blst_fp12 {
        let mut conjugate = *a;
        // SAFETY: an exclusive reference.
        unsafe { blst::blst_fp12_conjugate(&mut conjugate) };
        conjugate
    }

    fn fq12_select(mask: Mask, a: &blst_fp12, b: &blst_fp12) -> blst_fp12 {
        combine(|i| {
            let (a, b) = (coefficient(a, i), coefficient(b, i));
            blst_fp { l: core::array::from_fn(|j| mask.select(a.l[j], b.l[j])) }
        })
    }

    fn gt_contains(a: &blst_fp12) -> bool {
        test!(blst_fp12_in_group(a))
    }

    fn gt_square(a: &blst_fp12) -> blst_fp12 {
        result!(blst_fp12_cyclotomic_sqr(a))
    }

    fn prepare(q: &blst_p2_affine) -> [blst_fp6; LINES] {
        let mut lines = [blst_fp6::default(); LINES];
        // SAFETY: the function writes 68 lines.
        unsafe { blst::blst_precompute_lines(lines.as_mut_ptr(), q) };
        lines
    }

    fn miller_loop(p: &[G1Affine<Self>], q: &[G2Affine<Self>]) -> blst_fp12 {
        let n = p.len().min(q.len());
        if n == 0 {
            return Self::fq12_one();
        }
        // A null pointer means that the remaining points follow the first.
        let (p, q) = ([p.as_ptr().cast(), ptr::null()], [q.as_ptr().cast(), ptr::null()]);
        result!(blst_miller_loop_n(q.as_ptr(), p.as_ptr(), n))
    }

    fn miller_loop_prepared(p: &[G1Affine<Self>], q: &[&[blst_fp6; LINES]]) -> blst_fp12 {
        let one = |p: &G1Affine<Self>, q: &[blst_fp6; LINES]| -> blst_fp12 {
            result!(blst_miller_loop_lines(q.as_ptr(), p.raw()))
        };
        let factors = p.iter().zip(q).map(|(p, q)| one(p, q));
        factors.reduce(|a, b| result!(blst_fp12_mul(&a, &b))).unwrap_or_else(Self::fq12_one)
    }

    fn final_exponentiation(a: &blst_fp12) -> blst_fp12 {
        result!(blst_final_exp(a))
    }
}

/// Returns a coefficient by its index in the tower.
fn coefficient(a: &blst_fp12, i: usize) -> &blst_fp {
    &a.fp6[i / 6].fp2[i % 6 / 2].fp[i % 2]
}

/// Builds the element from the coefficients that `of` returns, in the order of the tower.
fn combine(of: impl Fn(usize) -> blst_fp) -> blst_fp12 {
    let mut element = blst_fp12::default();
    for i in 0..12 {
        element.fp6[i / 6].fp2[i % 6 / 2].fp[i % 2] = of(i);
    }
    element
}
