//! Functions that ocaml-bls12-381, and Octez with it, add to blst (`blst_extended.h` there). They
//! compile them into their copy of blst; here they are part of the library.

use cycloid::bls12_381::Cycloid;
use cycloid::bls12_381::backend::Scalars;
use cycloid::internals::ct::Mask;

use crate::{
    blst_fr, blst_p1, blst_p1_affine, blst_p1s_mult_pippenger, blst_p2, blst_p2_affine,
    blst_p2s_mult_pippenger, exports,
};

/// Returns whether two elements are equal, which becomes public.
fn are_equal(a: &blst_fr, b: &blst_fr) -> bool {
    Mask::is_zero(a.iter().zip(b).fold(0, |any, (a, b)| any | (a ^ b))).reveal()
}

exports! {
    fn blst_fr_is_zero(a: *const blst_fr) -> i32 {
        are_equal(&*a, &Cycloid::ZERO).into()
    }

    fn blst_fr_is_one(a: *const blst_fr) -> i32 {
        are_equal(&*a, &Cycloid::ONE).into()
    }

    fn blst_fr_is_equal(a: *const blst_fr, b: *const blst_fr) -> i32 {
        are_equal(&*a, &*b).into()
    }

    fn blst_fr_set_to_zero(a: *mut blst_fr) {
        *a = Cycloid::ZERO;
    }

    fn blst_fr_set_to_one(a: *mut blst_fr) {
        *a = Cycloid::ONE;
    }

    fn blst_p1s_mult_pippenger_cont(
        out: *mut blst_p1, points: *const blst_p1_affine, n: usize, scalars: *const u8,
        bits: usize, scratch: *mut u64,
    ) {
        let (points, scalars) = ([points, core::ptr::null()], [scalars, core::ptr::null()]);
        blst_p1s_mult_pippenger(out, points.as_ptr(), n, scalars.as_ptr(), bits, scratch);
    }

    fn blst_p2s_mult_pippenger_cont(
        out: *mut blst_p2, points: *const blst_p2_affine, n: usize, scalars: *const u8,
        bits: usize, scratch: *mut u64,
    ) {
        let (points, scalars) = ([points, core::ptr::null()], [scalars, core::ptr::null()]);
        blst_p2s_mult_pippenger(out, points.as_ptr(), n, scalars.as_ptr(), bits, scratch);
    }
}
