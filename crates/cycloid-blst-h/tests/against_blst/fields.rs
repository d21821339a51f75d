//! Elements of Fr, Fp and Fp2.

use cycloid_blst_h as ours;

use crate::inputs::{Random, fps, frs, same};

/// Compares functions of one or two elements.
macro_rules! elements {
    ($values:expr, $zero:expr; $($unary:ident)*; $($binary:ident)*) => {
        for a in &$values {
            $(same(stringify!($unary), $zero, |out| unsafe { ours::$unary(out, a) },
                |out| unsafe { blst::$unary(out.cast(), core::ptr::from_ref(a).cast()) });)*
            for b in &$values {
                $(same(stringify!($binary), $zero, |out| unsafe { ours::$binary(out, a, b) },
                    |out| unsafe {
                        blst::$binary(out.cast(), core::ptr::from_ref(a).cast(), core::ptr::from_ref(b).cast())
                    });)*
            }
        }
    };
}

#[test]
fn fields() {
    let random = &mut Random(1);
    let fr = frs(random);
    elements!(fr, [0u64; 4]; blst_fr_mul_by_3 blst_fr_sqr blst_fr_eucl_inverse blst_fr_inverse
        blst_fr_to blst_fr_from; blst_fr_add blst_fr_sub blst_fr_mul);
    let fp = fps(random);
    elements!(fp, [0u64; 6]; blst_fp_mul_by_3 blst_fp_mul_by_8 blst_fp_sqr blst_fp_eucl_inverse
        blst_fp_inverse blst_fp_to blst_fp_from; blst_fp_add blst_fp_sub blst_fp_mul);
    let fp2: Vec<[[u64; 6]; 2]> =
        fp.iter().flat_map(|a| [[*a, fp[0]], [fp[0], *a], [*a, fp[7]]]).collect();
    elements!(fp2, [[0u64; 6]; 2]; blst_fp2_mul_by_3 blst_fp2_mul_by_8 blst_fp2_sqr
        blst_fp2_eucl_inverse blst_fp2_inverse; blst_fp2_add blst_fp2_sub blst_fp2_mul);
    for a in &fr {
        for count in [1, 5, 64, 70] {
            same(
                "lshift",
                [0; 4],
                |o| unsafe { ours::blst_fr_lshift(o, a, count) },
                |o| unsafe { blst::blst_fr_lshift(o.cast(), core::ptr::from_ref(a).cast(), count) },
            );
            same(
                "rshift",
                [0; 4],
                |o| unsafe { ours::blst_fr_rshift(o, a, count) },
                |o| unsafe { blst::blst_fr_rshift(o.cast(), core::ptr::from_ref(a).cast(), count) },
            );
        }
        for b in &fr {
            let twiddle = &fr[6];
            let (mut x, mut y) = ([*a, *b], [*a, *b]);
            unsafe {
                ours::blst_fr_ct_bfly(&mut x[0], &mut x[1], twiddle);
                let at = y.as_mut_ptr();
                blst::blst_fr_ct_bfly(
                    at.cast(),
                    at.add(1).cast(),
                    core::ptr::from_ref(twiddle).cast(),
                );
                assert_eq!(x, y);
                ours::blst_fr_gs_bfly(&mut x[0], &mut x[1], twiddle);
                blst::blst_fr_gs_bfly(
                    at.cast(),
                    at.add(1).cast(),
                    core::ptr::from_ref(twiddle).cast(),
                );
                assert_eq!(x, y);
            }
        }
    }
    for a in &fp {
        for flag in [false, true] {
            same(
                "cneg",
                [0; 6],
                |o| unsafe { ours::blst_fp_cneg(o, a, flag.into()) },
                |o| unsafe { blst::blst_fp_cneg(o.cast(), core::ptr::from_ref(a).cast(), flag) },
            );
        }
        let (mut root, mut theirs) = ([0; 6], [0; 6]);
        unsafe {
            let square = ours::blst_fp_sqrt(&mut root, a) != 0;
            assert_eq!(
                square,
                blst::blst_fp_sqrt(theirs.as_mut_ptr().cast(), core::ptr::from_ref(a).cast())
            );
            assert_eq!(square, ours::blst_fp_is_square(a) != 0);
            if square {
                ours::blst_fp_sqr(&mut root, &root);
                assert_eq!(root, *a);
            }
        }
        let mut bytes = [[0; 48]; 2];
        unsafe {
            ours::blst_bendian_from_fp(bytes[0].as_mut_ptr(), a);
            blst::blst_bendian_from_fp(bytes[1].as_mut_ptr(), core::ptr::from_ref(a).cast());
        }
        assert_eq!(bytes[0], bytes[1]);
    }
    for a in &fp2 {
        let (mut root, mut theirs) = ([[0; 6]; 2], [[0u64; 6]; 2]);
        unsafe {
            let square = ours::blst_fp2_sqrt(&mut root, a) != 0;
            assert_eq!(
                square,
                blst::blst_fp2_sqrt(theirs.as_mut_ptr().cast(), core::ptr::from_ref(a).cast())
            );
            assert_eq!(square, ours::blst_fp2_is_square(a) != 0);
            if square {
                ours::blst_fp2_sqr(&mut root, &root);
                assert_eq!(root, *a);
            }
        }
    }
    // Integers beyond the moduli.
    for bytes in [[0xff; 48], random.bytes(), random.bytes()] {
        same(
            "bendian",
            [0; 6],
            |o| unsafe { ours::blst_fp_from_bendian(o, bytes.as_ptr()) },
            |o| unsafe { blst::blst_fp_from_bendian(o.cast(), bytes.as_ptr()) },
        );
        same(
            "lendian",
            [0; 6],
            |o| unsafe { ours::blst_fp_from_lendian(o, bytes.as_ptr()) },
            |o| unsafe { blst::blst_fp_from_lendian(o.cast(), bytes.as_ptr()) },
        );
    }
}

#[test]
fn additions_of_octez() {
    let all = frs(&mut Random(9));
    let (mut zero, mut one) = ([9u64; 4], [9u64; 4]);
    unsafe {
        ours::blst_fr_set_to_zero(&mut zero);
        ours::blst_fr_set_to_one(&mut one);
        let mut expected = [0u64; 4];
        blst::blst_fr_from_uint64(expected.as_mut_ptr().cast(), [1, 0, 0, 0].as_ptr());
        assert_eq!((zero, one), ([0; 4], expected));
    }
    for a in all.iter().chain([&one]) {
        for b in all.iter().chain([&one]) {
            assert_eq!(unsafe { ours::blst_fr_is_equal(a, b) } != 0, a == b);
        }
        assert_eq!(unsafe { ours::blst_fr_is_zero(a) } != 0, *a == zero);
        assert_eq!(unsafe { ours::blst_fr_is_one(a) } != 0, *a == one);
    }
}
