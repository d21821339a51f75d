//! The pairing and contexts against blst. Values of Miller loops differ by a factor that the final
//! exponentiation removes; everything after it is the same.

// Every call passes references and arrays as long as blst's header says.
#![allow(clippy::undocumented_unsafe_blocks)]

use blst::BLST_ERROR;
use cycloid_blst_h as ours;

type Fp12 = ours::blst_fp12;
const ZERO: Fp12 = [[[0; 6]; 2]; 6];
const DST: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";

fn g1(k: u64) -> ours::blst_p1_affine {
    let (mut p, mut a) = ([[0; 6]; 3], [[0; 6]; 2]);
    let scalar = k.to_le_bytes();
    unsafe {
        ours::blst_p1_mult(&mut p, ours::blst_p1_generator(), scalar.as_ptr(), 64);
        ours::blst_p1_to_affine(&mut a, &p);
    }
    a
}

fn g2(k: u64) -> ours::blst_p2_affine {
    let (mut p, mut a) = ([[[0; 6]; 2]; 3], [[[0; 6]; 2]; 2]);
    let scalar = k.to_le_bytes();
    unsafe {
        ours::blst_p2_mult(&mut p, ours::blst_p2_generator(), scalar.as_ptr(), 64);
        ours::blst_p2_to_affine(&mut a, &p);
    }
    a
}

fn cast<T, U>(a: &T) -> *const U {
    core::ptr::from_ref(a).cast()
}

/// Applies our final exponentiation and blst's, which must agree.
fn finished(a: &Fp12) -> Fp12 {
    let (mut x, mut y) = (ZERO, ZERO);
    unsafe {
        ours::blst_final_exp(&mut x, a);
        blst::blst_final_exp(y.as_mut_ptr().cast(), cast(a));
    }
    assert_eq!(x, y);
    x
}

#[test]
fn miller_loops() {
    let all: Vec<_> = (1..=20).map(|i| (g1(3 * i), g2(7 * i + 1))).collect();
    for (p, q) in &all {
        let (mut x, mut y, mut z) = (ZERO, ZERO, ZERO);
        let mut lines = [[[[0; 6]; 2]; 3]; 68];
        unsafe {
            ours::blst_miller_loop(&mut x, q, p);
            blst::blst_miller_loop(y.as_mut_ptr().cast(), cast(q), cast(p));
            ours::blst_precompute_lines(lines.as_mut_ptr(), q);
            ours::blst_miller_loop_lines(&mut z, lines.as_ptr(), p);
            assert_eq!(finished(&x), finished(&y));
            assert_eq!(finished(&x), finished(&z));
            assert_ne!(ours::blst_fp12_finalverify(&x, &y), 0);
            assert_eq!(ours::blst_fp12_finalverify(&x, ours::blst_fp12_one()), 0);
            let gt = finished(&x);
            assert_eq!(ours::blst_fp12_in_group(&gt), 1);
            assert_eq!(ours::blst_fp12_in_group(&x) != 0, blst::blst_fp12_in_group(cast(&x)));
        }
    }
    for n in [1, 2, 7, 8, 9, 16, 17, 20] {
        let p: Vec<*const _> = all.iter().map(|(p, _)| &raw const *p).collect();
        let q: Vec<_> = all.iter().map(|(_, q)| *q).collect();
        let q = [q.as_ptr(), core::ptr::null()];
        let (mut x, mut y) = (ZERO, ZERO);
        unsafe {
            ours::blst_miller_loop_n(&mut x, q.as_ptr(), p.as_ptr(), n);
            blst::blst_miller_loop_n(
                y.as_mut_ptr().cast(),
                q.as_ptr().cast(),
                p.as_ptr().cast(),
                n,
            );
        }
        assert_eq!(finished(&x), finished(&y), "{n}");
    }
    let infinity = [[0; 6]; 2];
    let mut x = ZERO;
    unsafe { ours::blst_miller_loop(&mut x, &all[0].1, &infinity) };
    assert_eq!(x, unsafe { ours::blst_fp12_one().read() });
}

#[test]
fn fp12() {
    let value = |i: u64| {
        let mut x = ZERO;
        unsafe { ours::blst_miller_loop(&mut x, &g2(i), &g1(i)) };
        x
    };
    let all = [value(1), value(2), ZERO, unsafe { ours::blst_fp12_one().read() }];
    for a in &all {
        for b in &all {
            let (mut x, mut y) = (ZERO, ZERO);
            unsafe {
                ours::blst_fp12_mul(&mut x, a, b);
                blst::blst_fp12_mul(y.as_mut_ptr().cast(), cast(a), cast(b));
                assert_eq!(x, y);
                let line = [b[0], b[1], b[4]];
                ours::blst_fp12_mul_by_xy00z0(&mut x, a, &line);
                blst::blst_fp12_mul_by_xy00z0(y.as_mut_ptr().cast(), cast(a), cast(&line));
                assert_eq!(x, y);
                assert_eq!(
                    ours::blst_fp12_is_equal(a, b) != 0,
                    blst::blst_fp12_is_equal(cast(a), cast(b))
                );
            }
        }
        for n in 1..=3 {
            let (mut x, mut y) = (ZERO, ZERO);
            unsafe {
                ours::blst_fp12_frobenius_map(&mut x, a, n);
                blst::blst_fp12_frobenius_map(y.as_mut_ptr().cast(), cast(a), n);
            }
            assert_eq!(x, y);
        }
        let (mut x, mut y) = (ZERO, ZERO);
        unsafe {
            ours::blst_fp12_sqr(&mut x, a);
            blst::blst_fp12_sqr(y.as_mut_ptr().cast(), cast(a));
            assert_eq!(x, y);
            ours::blst_fp12_cyclotomic_sqr(&mut x, a);
            blst::blst_fp12_cyclotomic_sqr(y.as_mut_ptr().cast(), cast(a));
            assert_eq!(x, y);
            ours::blst_fp12_inverse(&mut x, a);
            blst::blst_fp12_inverse(y.as_mut_ptr().cast(), cast(a));
            assert_eq!(x, y);
            ours::blst_fp12_conjugate(&mut x);
            blst::blst_fp12_conjugate(y.as_mut_ptr().cast());
            assert_eq!(x, y);
            assert_eq!(ours::blst_fp12_is_one(a) != 0, blst::blst_fp12_is_one(cast(a)));
            let (mut s, mut t) = ([0u8; 576], [0u8; 576]);
            ours::blst_bendian_from_fp12(s.as_mut_ptr(), a);
            blst::blst_bendian_from_fp12(t.as_mut_ptr(), cast(a));
            assert_eq!(s, t);
        }
    }
}

/// A key, a message, and its signature.
fn signed(i: u8) -> (ours::blst_p1_affine, Vec<u8>, ours::blst_p2_affine) {
    let (mut sk, message) = ([0; 32], vec![i; usize::from(i)]);
    let (mut hash, mut key, mut signature) = ([[[0; 6]; 2]; 3], [[0; 6]; 3], [[[0; 6]; 2]; 3]);
    let (mut flat_key, mut flat_signature) = ([[0; 6]; 2], [[[0; 6]; 2]; 2]);
    unsafe {
        ours::blst_keygen(&mut sk, [i; 32].as_ptr(), 32, core::ptr::null(), 0);
        ours::blst_sk_to_pk_in_g1(&mut key, &sk);
        ours::blst_p1_to_affine(&mut flat_key, &key);
        ours::blst_hash_to_g2(
            &mut hash,
            message.as_ptr(),
            message.len(),
            DST.as_ptr(),
            DST.len(),
            core::ptr::null(),
            0,
        );
        ours::blst_sign_pk_in_g1(&mut signature, &hash, &sk);
        ours::blst_p2_to_affine(&mut flat_signature, &signature);
    }
    (flat_key, message, flat_signature)
}

#[test]
fn contexts() {
    let all: Vec<_> = (1..=19).map(signed).collect();
    for (n, wrong) in [(1, false), (7, false), (8, false), (19, false), (19, true), (1, true)] {
        let mut memory = vec![0u64; unsafe { ours::blst_pairing_sizeof() }.div_ceil(8)];
        let context = memory.as_mut_ptr().cast();
        unsafe { ours::blst_pairing_init(context, 1, DST.as_ptr(), DST.len()) };
        for (i, (key, message, signature)) in all[..n].iter().enumerate() {
            let scalar = [i as u8 + 1, 3, 5, 7, 9, 11, 13, 15];
            let length = message.len() - usize::from(wrong && i == n - 1);
            let error = unsafe {
                ours::blst_pairing_chk_n_mul_n_aggr_pk_in_g1(
                    context,
                    key,
                    1,
                    signature,
                    1,
                    scalar.as_ptr(),
                    64,
                    message.as_ptr(),
                    length,
                    core::ptr::null(),
                    0,
                )
            };
            assert_eq!(error, ours::BLST_ERROR::BLST_SUCCESS);
        }
        unsafe {
            ours::blst_pairing_commit(context);
            assert_eq!(ours::blst_pairing_finalverify(context, core::ptr::null()) != 0, !wrong);
        }
    }
    for (key, message, signature) in &all {
        let sides = |signature: *const ours::blst_p2_affine,
                     key: *const ours::blst_p1_affine,
                     uniform: bool| unsafe {
            let ours = ours::blst_core_verify_pk_in_g1(
                key,
                signature,
                uniform.into(),
                message.as_ptr(),
                message.len(),
                DST.as_ptr(),
                DST.len(),
                core::ptr::null(),
                0,
            );
            let theirs = blst::blst_core_verify_pk_in_g1(
                key.cast(),
                signature.cast(),
                uniform,
                message.as_ptr(),
                message.len(),
                DST.as_ptr(),
                DST.len(),
                core::ptr::null(),
                0,
            );
            assert_eq!(ours as u32, theirs as u32);
            theirs
        };
        let infinity = [[[0; 6]; 2]; 2];
        assert_eq!(sides(signature, key, true), BLST_ERROR::BLST_SUCCESS);
        assert_eq!(sides(signature, key, false), BLST_ERROR::BLST_VERIFY_FAIL);
        assert_eq!(sides(&infinity, key, true), BLST_ERROR::BLST_VERIFY_FAIL);
        assert_eq!(sides(&all[0].2, &[[0; 6]; 2], true), BLST_ERROR::BLST_PK_IS_INFINITY);
    }
}

#[test]
fn contexts_merge_and_refuse() {
    let all: Vec<_> = (1..=4).map(signed).collect();
    let size = unsafe { ours::blst_pairing_sizeof() }.div_ceil(8);
    let mut memory = [vec![0u64; size + 8], vec![0u64; size + 8]];
    let contexts = memory.each_mut().map(|memory| memory.as_mut_ptr().cast::<ours::Context>());
    for (half, context) in contexts.iter().enumerate() {
        unsafe {
            // The tag follows the context, and both may move.
            let tag = context.add(1).cast::<u8>();
            core::ptr::copy_nonoverlapping(DST.as_ptr(), tag, DST.len());
            ours::blst_pairing_init(*context, 1, tag, DST.len());
            assert_eq!(ours::blst_pairing_get_dst(*context), tag.cast_const());
            for (key, message, signature) in &all[2 * half..2 * half + 2] {
                ours::blst_pairing_aggregate_pk_in_g1(
                    *context,
                    key,
                    signature,
                    message.as_ptr(),
                    message.len(),
                    core::ptr::null(),
                    0,
                );
            }
            let other_kind = ours::blst_pairing_aggregate_pk_in_g2(
                *context,
                &g2(1),
                core::ptr::null(),
                DST.as_ptr(),
                1,
                core::ptr::null(),
                0,
            );
            assert_eq!(other_kind, ours::BLST_ERROR::BLST_AGGR_TYPE_MISMATCH);
        }
    }
    unsafe {
        assert_eq!(
            ours::blst_pairing_merge(contexts[0], contexts[1]),
            ours::BLST_ERROR::BLST_AGGR_TYPE_MISMATCH
        );
        ours::blst_pairing_commit(contexts[0]);
        ours::blst_pairing_commit(contexts[1]);
        assert_eq!(
            ours::blst_pairing_merge(contexts[0], contexts[1]),
            ours::BLST_ERROR::BLST_SUCCESS
        );
        assert_eq!(ours::blst_pairing_finalverify(contexts[0], core::ptr::null()), 1);
        assert_eq!(ours::blst_pairing_finalverify(contexts[1], core::ptr::null()), 1);
    }
}

#[test]
fn messages_are_unique_once() {
    let mut tree = vec![0u64; unsafe { ours::blst_uniq_sizeof(300) }.div_ceil(8)];
    let tree = tree.as_mut_ptr().cast();
    let messages: Vec<[u8; 4]> = (0..300u32).map(u32::to_be_bytes).collect();
    unsafe {
        ours::blst_uniq_init(tree);
        for message in &messages {
            assert_eq!(ours::blst_uniq_test(tree, message.as_ptr(), 4), 1);
        }
        for message in &messages {
            assert_eq!(ours::blst_uniq_test(tree, message.as_ptr(), 4), 0);
        }
    }
}
