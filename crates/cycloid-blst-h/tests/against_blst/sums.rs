//! Sums and multiples of points, checks, and signatures.

use cycloid_blst_h as ours;

use crate::inputs::{Random, same, scalars};

/// Compares these functions for one of the groups.
macro_rules! sums {
    ($group:ident;
     $double:ident $on_curve:ident $in_group:ident
     $affine_on_curve:ident $affine_in_group:ident $affine_serialize:ident $affine_compress:ident
     $from_jacobian:ident $sign2:ident $is_inf:ident $to_affine:ident $is_equal:ident
     $add:ident $add_or_double:ident $add_affine:ident $add_or_double_affine:ident $mult:ident
     $unchecked:ident $sign:ident $sk_to_pk:ident $sk_to_pk2:ident $serialize:ident) => {
        mod $group {
            use super::*;
            use crate::points::$group::*;

            #[test]
            fn sums_and_multiples() {
                let random = &mut Random(3);
                let all = points(random);
                for a in &all {
                    point(
                        "double",
                        |o| unsafe { ours::$double(o, a) },
                        |o| unsafe { blst::$double(o, theirs(a)) },
                    );
                    unsafe {
                        assert_eq!(ours::$on_curve(a) != 0, blst::$on_curve(theirs(a)));
                        assert_eq!(ours::$in_group(a) != 0, blst::$in_group(theirs(a)));
                        assert_eq!(ours::$is_inf(a) != 0, blst::$is_inf(theirs(a)));
                        let (x, mut off) = (affine(a), affine(a));
                        assert_eq!(
                            ours::$affine_in_group(&x) != 0,
                            blst::$affine_in_group(x.as_ptr().cast())
                        );
                        off[1] = off[0];
                        for x in [x, off] {
                            assert_eq!(
                                ours::$affine_on_curve(&x) != 0,
                                blst::$affine_on_curve(x.as_ptr().cast())
                            );
                        }
                    }
                    same(
                        "to_affine",
                        [ZERO; 2],
                        |o| unsafe { ours::$to_affine(o, a) },
                        |o| unsafe { blst::$to_affine(o.cast(), theirs(a)) },
                    );
                    same(
                        "from_jacobian",
                        [ZERO; 3],
                        |o| unsafe { ours::$from_jacobian(o, a) },
                        |o| unsafe { blst::$from_jacobian(o.cast(), theirs(a)) },
                    );
                    let flat = affine(a);
                    let their_flat: *const TheirAffine = flat.as_ptr().cast();
                    same(
                        "affine_serialize",
                        [0; 2 * ENCODED],
                        |o| unsafe { ours::$affine_serialize(o.cast(), &flat) },
                        |o| unsafe { blst::$affine_serialize(o.cast(), their_flat) },
                    );
                    same(
                        "affine_compress",
                        [0; ENCODED],
                        |o| unsafe { ours::$affine_compress(o.cast(), &flat) },
                        |o| unsafe { blst::$affine_compress(o.cast(), their_flat) },
                    );
                    for b in &all {
                        let flat = affine(b);
                        let other: *const TheirAffine = flat.as_ptr().cast();
                        unsafe {
                            assert_eq!(
                                ours::$is_equal(a, b) != 0,
                                blst::$is_equal(theirs(a), theirs(b))
                            )
                        };
                        point(
                            "add",
                            |o| unsafe { ours::$add(o, a, b) },
                            |o| unsafe { blst::$add(o, theirs(a), theirs(b)) },
                        );
                        point(
                            "add_or_double",
                            |o| unsafe { ours::$add_or_double(o, a, b) },
                            |o| unsafe { blst::$add_or_double(o, theirs(a), theirs(b)) },
                        );
                        point(
                            "add_affine",
                            |o| unsafe { ours::$add_affine(o, a, &flat) },
                            |o| unsafe { blst::$add_affine(o, theirs(a), other) },
                        );
                        point(
                            "add_or_double_affine",
                            |o| unsafe { ours::$add_or_double_affine(o, a, &flat) },
                            |o| unsafe { blst::$add_or_double_affine(o, theirs(a), other) },
                        );
                    }
                    let mut long = [0; 64];
                    for scalar in scalars(random) {
                        long[..32].copy_from_slice(&scalar);
                        long[32..].copy_from_slice(&random.bytes::<32>());
                        for bits in [
                            0, 1, 7, 64, 65, 128, 143, 144, 150, 175, 176, 180, 254, 255, 256, 260,
                            500,
                        ] {
                            let k = long.as_ptr();
                            point(
                                &format!("mult {bits}"),
                                |o| unsafe { ours::$mult(o, a, k, bits) },
                                |o| unsafe { blst::$mult(o, theirs(a), k, bits) },
                            );
                        }
                        let k = long.as_ptr();
                        point(
                            "unchecked",
                            |o| unsafe { ours::$unchecked(o, a, k, 255) },
                            |o| unsafe { blst::$unchecked(o, theirs(a), k, 255) },
                        );
                    }
                }
                let a = &all[2];
                for scalar in scalars(random) {
                    if unsafe { ours::blst_scalar_fr_check(&scalar) } == 0 {
                        continue;
                    }
                    let sk: *const blst::blst_scalar = scalar.as_ptr().cast();
                    let signed = same(
                        "sign",
                        [ZERO; 3],
                        |o| unsafe { ours::$sign(o, a, &scalar) },
                        |o| unsafe { blst::$sign(o.cast(), theirs(a), sk) },
                    );
                    let public = point(
                        "sk_to_pk",
                        |o| unsafe { ours::$sk_to_pk(o, &scalar) },
                        |o| unsafe { blst::$sk_to_pk(o, sk) },
                    );
                    same(
                        "sk_to_pk2",
                        ([0; 2 * ENCODED], [ZERO; 2]),
                        |o| unsafe {
                            ours::$sk_to_pk2((*o).0.as_mut_ptr(), &raw mut (*o).1, &scalar)
                        },
                        |o| unsafe {
                            blst::$sk_to_pk2((*o).0.as_mut_ptr(), (&raw mut (*o).1).cast(), sk)
                        },
                    );
                    same(
                        "sign2",
                        ([0; 2 * ENCODED], [ZERO; 2]),
                        |o| unsafe {
                            ours::$sign2((*o).0.as_mut_ptr(), &raw mut (*o).1, a, &scalar);
                        },
                        |o| unsafe {
                            let point = (&raw mut (*o).1).cast();
                            blst::$sign2((*o).0.as_mut_ptr(), point, theirs(a), sk);
                        },
                    );
                    for a in [signed, public] {
                        same(
                            "serialize",
                            [0; 2 * ENCODED],
                            |o| unsafe { ours::$serialize(o.cast(), &a) },
                            |o| unsafe { blst::$serialize(o.cast(), theirs(&a)) },
                        );
                    }
                }
            }
        }
    };
}

sums!(g1;
    blst_p1_double blst_p1_on_curve blst_p1_in_g1
    blst_p1_affine_on_curve blst_p1_affine_in_g1 blst_p1_affine_serialize
    blst_p1_affine_compress blst_p1_from_jacobian blst_sign_pk2_in_g2 blst_p1_is_inf blst_p1_to_affine
    blst_p1_is_equal blst_p1_add blst_p1_add_or_double blst_p1_add_affine
    blst_p1_add_or_double_affine blst_p1_mult blst_p1_unchecked_mult blst_sign_pk_in_g2
    blst_sk_to_pk_in_g1 blst_sk_to_pk2_in_g1 blst_p1_serialize);

sums!(g2;
    blst_p2_double blst_p2_on_curve blst_p2_in_g2
    blst_p2_affine_on_curve blst_p2_affine_in_g2 blst_p2_affine_serialize
    blst_p2_affine_compress blst_p2_from_jacobian blst_sign_pk2_in_g1 blst_p2_is_inf blst_p2_to_affine
    blst_p2_is_equal blst_p2_add blst_p2_add_or_double blst_p2_add_affine
    blst_p2_add_or_double_affine blst_p2_mult blst_p2_unchecked_mult blst_sign_pk_in_g1
    blst_sk_to_pk_in_g2 blst_sk_to_pk2_in_g2 blst_p2_serialize);
