//! The pairing. Values of Miller loops differ by a factor that the final
//! exponentiation removes; everything after it is the same.

use cycloid_blst_h as ours;

pub(crate) type Fp12 = ours::blst_fp12;
pub(crate) const ZERO: Fp12 = [[[0; 6]; 2]; 6];

pub(crate) fn g1(k: u64) -> ours::blst_p1_affine {
    let (mut p, mut a) = ([[0; 6]; 3], [[0; 6]; 2]);
    let scalar = k.to_le_bytes();
    unsafe {
        ours::blst_p1_mult(&mut p, ours::blst_p1_generator(), scalar.as_ptr(), 64);
        ours::blst_p1_to_affine(&mut a, &p);
    }
    a
}

pub(crate) fn g2(k: u64) -> ours::blst_p2_affine {
    let (mut p, mut a) = ([[[0; 6]; 2]; 3], [[[0; 6]; 2]; 2]);
    let scalar = k.to_le_bytes();
    unsafe {
        ours::blst_p2_mult(&mut p, ours::blst_p2_generator(), scalar.as_ptr(), 64);
        ours::blst_p2_to_affine(&mut a, &p);
    }
    a
}

pub(crate) fn cast<T, U>(a: &T) -> *const U {
    core::ptr::from_ref(a).cast()
}

/// Applies our final exponentiation and blst's, which must agree.
pub(crate) fn finished(a: &Fp12) -> Fp12 {
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
