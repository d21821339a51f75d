//! The pairing: Miller loops and the final exponentiation.

use cycloid::bls12_381::backend::{First, Pairing, Second};
use cycloid::bls12_381::{Cycloid, G1Affine, G2Affine, raw};

use crate::elements::is_one;
use crate::memory::List;
use crate::{
    BLS12_381_G1, BLS12_381_G2, blst_fp6, blst_fp12, blst_p1_affine, blst_p2_affine, exports,
};

/// Number of pairs whose loops run together.
const PAIRS: usize = 16;

/// Returns the product of the loops of pairs; one with infinity counts as 1.
pub(crate) fn miller_loops<'a>(
    n: usize,
    pair: impl Fn(usize) -> (&'a blst_p1_affine, &'a blst_p2_affine),
) -> blst_fp12 {
    let mut product: Option<blst_fp12> = None;
    for start in (0..n).step_by(PAIRS) {
        let mut p = [G1Affine::<Cycloid>::from_raw([[0; 6]; 2]); PAIRS];
        let mut q = [G2Affine::<Cycloid>::from_raw([[[0; 6]; 2]; 2]); PAIRS];
        let mut count = 0;
        for i in start..n.min(start + PAIRS) {
            let (first, second) = pair(i);
            if raw::is_infinity::<First>(first) || raw::is_infinity::<Second>(second) {
                continue;
            }
            (p[count], q[count]) = (G1Affine::from_raw(*first), G2Affine::from_raw(*second));
            count += 1;
        }
        if count > 0 {
            let factor = Cycloid::miller_loop(&p[..count], &q[..count]);
            product = Some(match product {
                None => factor,
                Some(product) => Cycloid::fq12_mul(&product, &factor),
            });
        }
    }
    product.unwrap_or_else(Cycloid::fq12_one)
}

/// Returns whether two values have the same final exponentiation.
pub(crate) fn are_equal_after_exponentiation(a: &blst_fp12, b: &blst_fp12) -> bool {
    let quotient = Cycloid::fq12_mul(&Cycloid::fq12_conjugate(a), b);
    is_one(&Cycloid::final_exponentiation(&quotient))
}

exports! {
    fn blst_miller_loop(out: *mut blst_fp12, q: *const blst_p2_affine, p: *const blst_p1_affine) {
        let q = if q.is_null() { &BLS12_381_G2 } else { &*q };
        let p = if p.is_null() { &BLS12_381_G1 } else { &*p };
        *out = miller_loops(1, |_| (p, q));
    }

    fn blst_miller_loop_n(
        out: *mut blst_fp12, q: *const *const blst_p2_affine, p: *const *const blst_p1_affine,
        n: usize,
    ) {
        if n == 0 {
            // blst leaves the output as it is.
            return;
        }
        let (q, p) = (List::new(q, n, 1), List::new(p, n, 1));
        *out = miller_loops(n, |i| (&*p.at(i), &*q.at(i)));
    }

    fn blst_final_exp(out: *mut blst_fp12, f: *const blst_fp12) {
        *out = Cycloid::final_exponentiation(&*f);
    }

    fn blst_precompute_lines(lines: *mut blst_fp6, q: *const blst_p2_affine) {
        lines.cast::<<Cycloid as Pairing>::Prepared>().write(<Cycloid as Pairing>::prepare(&*q));
    }

    fn blst_miller_loop_lines(
        out: *mut blst_fp12, lines: *const blst_fp6, p: *const blst_p1_affine,
    ) {
        let lines = lines.cast::<<Cycloid as Pairing>::Prepared>();
        *out = Cycloid::miller_loop_prepared(&[G1Affine::from_raw(*p)], &[&*lines]);
    }

    fn blst_fp12_finalverify(a: *const blst_fp12, b: *const blst_fp12) -> i32 {
        are_equal_after_exponentiation(&*a, &*b).into()
    }

    fn blst_aggregated_in_g1(out: *mut blst_fp12, signature: *const blst_p1_affine) {
        *out = miller_loops(1, |_| (&*signature, &BLS12_381_G2));
    }

    fn blst_aggregated_in_g2(out: *mut blst_fp12, signature: *const blst_p2_affine) {
        *out = miller_loops(1, |_| (&BLS12_381_G1, &*signature));
    }
}
