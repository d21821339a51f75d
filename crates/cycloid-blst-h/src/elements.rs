//! Elements of Fp, Fp2 and Fp12.

use cycloid::bls12_381::backend::{First, Pairing, Second};
use cycloid::bls12_381::{Cycloid, raw};

use crate::memory::{slice, store};
use crate::scalars::hexadecimal;
use crate::{blst_fp, blst_fp2, blst_fp6, blst_fp12, c_bool, exports};

/// Returns an integer below 2³⁸⁴ modulo p.
fn fp(integer: &[u64; 6]) -> blst_fp {
    raw::from_short_integers::<First>(&raw::reduce(integer))
}

fn fp_from_le(bytes: &[u8; 48]) -> blst_fp {
    fp(&core::array::from_fn(|i| {
        u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("eight bytes"))
    }))
}

fn fp_to_le(a: &blst_fp) -> [u8; 48] {
    let limbs = raw::to_integers::<First>(a);
    core::array::from_fn(|i| (limbs[i / 8] >> (8 * (i % 8))) as u8)
}

/// Returns an integer in little-endian pieces from the top, modulo p.
fn wide<'a>(pieces: impl Iterator<Item = &'a [u8]>, big_endian: bool) -> blst_fp {
    // 2³⁸⁴ in Montgomery form.
    let shift = raw::double_times::<First>(&fp(&[1, 0, 0, 0, 0, 0]), &384);
    let mut sum = [0; 6];
    for piece in pieces {
        let mut padded = [0; 48];
        padded[..piece.len()].copy_from_slice(piece);
        if big_endian {
            padded[..piece.len()].reverse();
        }
        sum = raw::add::<First>(&raw::mul::<First>(&sum, &shift), &fp_from_le(&padded));
    }
    sum
}

fn fp2_sqrt(a: &blst_fp2) -> (bool, blst_fp2) {
    raw::sqrt::<Second>(a)
}

/// Returns whether `a` is 1.
pub(crate) fn is_one(a: &blst_fp12) -> bool {
    Cycloid::fq12_equal(a, &Cycloid::fq12_one())
}

/// What the fields have in common.
macro_rules! field {
    ($G:ty, $type:ty, $add:ident $sub:ident $triple:ident $eight:ident $shift:ident $mul:ident
     $square:ident $negate:ident $euclid:ident $invert:ident) => {
        exports! {
            fn $add(out: *mut $type, a: *const $type, b: *const $type) {
                *out = raw::add::<$G>(&*a, &*b);
            }

            fn $sub(out: *mut $type, a: *const $type, b: *const $type) {
                *out = raw::sub::<$G>(&*a, &*b);
            }

            fn $triple(out: *mut $type, a: *const $type) {
                *out = raw::triple::<$G>(&*a);
            }

            fn $eight(out: *mut $type, a: *const $type) {
                *out = raw::double_times::<$G>(&*a, &3);
            }

            fn $shift(out: *mut $type, a: *const $type, count: usize) {
                *out = raw::double_times::<$G>(&*a, &count);
            }

            fn $mul(out: *mut $type, a: *const $type, b: *const $type) {
                store(out, raw::mul::<$G>(&*a, &*b));
            }

            fn $square(out: *mut $type, a: *const $type) {
                store(out, raw::square::<$G>(&*a));
            }

            fn $negate(out: *mut $type, a: *const $type, flag: c_bool) {
                *out = raw::negate_if::<$G>(&*a, &(flag != 0));
            }

            fn $euclid(out: *mut $type, a: *const $type) {
                *out = raw::invert::<$G>(&*a);
            }

            fn $invert(out: *mut $type, a: *const $type) {
                *out = raw::invert::<$G>(&*a);
            }
        }
    };
}

field!(First, blst_fp, blst_fp_add blst_fp_sub blst_fp_mul_by_3 blst_fp_mul_by_8 blst_fp_lshift
    blst_fp_mul blst_fp_sqr blst_fp_cneg blst_fp_eucl_inverse blst_fp_inverse);
field!(Second, blst_fp2, blst_fp2_add blst_fp2_sub blst_fp2_mul_by_3 blst_fp2_mul_by_8
    blst_fp2_lshift blst_fp2_mul blst_fp2_sqr blst_fp2_cneg blst_fp2_eucl_inverse
    blst_fp2_inverse);

exports! {
    fn blst_fp_sqrt(out: *mut blst_fp, a: *const blst_fp) -> i32 {
        let (square, root) = raw::sqrt::<First>(&*a);
        *out = root;
        square.into()
    }

    fn blst_fp_is_square(a: *const blst_fp) -> i32 {
        raw::sqrt::<First>(&*a).0.into()
    }

    fn blst_fp2_sqrt(out: *mut blst_fp2, a: *const blst_fp2) -> i32 {
        let (square, root) = fp2_sqrt(&*a);
        *out = root;
        square.into()
    }

    fn blst_fp2_is_square(a: *const blst_fp2) -> i32 {
        fp2_sqrt(&*a).0.into()
    }

    fn blst_fp_from_uint32(out: *mut blst_fp, a: *const u32) {
        let a = a.cast::<[u32; 12]>().read();
        *out = fp(&core::array::from_fn(|i| u64::from(a[2 * i]) | u64::from(a[2 * i + 1]) << 32));
    }

    fn blst_uint32_from_fp(out: *mut u32, a: *const blst_fp) {
        let limbs = raw::to_integers::<First>(&*a);
        let words: [u32; 12] = core::array::from_fn(|i| (limbs[i / 2] >> (32 * (i % 2))) as u32);
        out.cast::<[u32; 12]>().write(words);
    }

    fn blst_fp_from_uint64(out: *mut blst_fp, a: *const u64) {
        *out = fp(&a.cast::<[u64; 6]>().read());
    }

    fn blst_uint64_from_fp(out: *mut u64, a: *const blst_fp) {
        out.cast::<[u64; 6]>().write(raw::to_integers::<First>(&*a));
    }

    fn blst_fp_from_bendian(out: *mut blst_fp, a: *const u8) {
        let mut bytes = a.cast::<[u8; 48]>().read();
        bytes.reverse();
        *out = fp_from_le(&bytes);
    }

    fn blst_bendian_from_fp(out: *mut u8, a: *const blst_fp) {
        let mut bytes = fp_to_le(&*a);
        bytes.reverse();
        out.cast::<[u8; 48]>().write(bytes);
    }

    fn blst_fp_from_lendian(out: *mut blst_fp, a: *const u8) {
        *out = fp_from_le(&a.cast::<[u8; 48]>().read());
    }

    fn blst_lendian_from_fp(out: *mut u8, a: *const blst_fp) {
        out.cast::<[u8; 48]>().write(fp_to_le(&*a));
    }

    fn blst_fp_from_le_bytes(out: *mut blst_fp, input: *const u8, length: usize) {
        *out = wide(slice(input, length).chunks(48).rev(), false);
    }

    fn blst_fp_from_be_bytes(out: *mut blst_fp, input: *const u8, length: usize) {
        *out = wide(slice(input, length).rchunks(48).rev(), true);
    }

    fn blst_fp_from_hexascii(out: *mut blst_fp, hex: *const u8) {
        let mut value = [0; 48];
        hexadecimal(hex, &mut value);
        *out = fp_from_le(&value);
    }

    fn blst_fp_to(out: *mut blst_fp, a: *const blst_fp) {
        *out = fp(&*a);
    }

    fn blst_fp_from(out: *mut blst_fp, a: *const blst_fp) {
        *out = raw::to_integers::<First>(&*a);
    }

    fn blst_fp12_sqr(out: *mut blst_fp12, a: *const blst_fp12) {
        *out = Cycloid::fq12_square(&*a);
    }

    fn blst_fp12_cyclotomic_sqr(out: *mut blst_fp12, a: *const blst_fp12) {
        *out = Cycloid::gt_square(&*a);
    }

    fn blst_fp12_mul(out: *mut blst_fp12, a: *const blst_fp12, b: *const blst_fp12) {
        *out = Cycloid::fq12_mul(&*a, &*b);
    }

    fn blst_fp12_mul_by_xy00z0(out: *mut blst_fp12, a: *const blst_fp12, line: *const blst_fp6) {
        *out = raw::mul_by_line::<First>(&*a, &*line);
    }

    fn blst_fp12_conjugate(a: *mut blst_fp12) {
        *a = Cycloid::fq12_conjugate(&*a);
    }

    fn blst_fp12_inverse(out: *mut blst_fp12, a: *const blst_fp12) {
        *out = Cycloid::fq12_invert(&*a);
    }

    fn blst_fp12_frobenius_map(out: *mut blst_fp12, a: *const blst_fp12, n: usize) {
        *out = raw::frobenius::<First>(&*a, &n);
    }

    fn blst_fp12_is_equal(a: *const blst_fp12, b: *const blst_fp12) -> i32 {
        Cycloid::fq12_equal(&*a, &*b).into()
    }

    fn blst_fp12_is_one(a: *const blst_fp12) -> i32 {
        is_one(&*a).into()
    }

    fn blst_fp12_in_group(a: *const blst_fp12) -> i32 {
        Cycloid::gt_contains(&*a).into()
    }

    fn blst_fp12_one() -> *const blst_fp12 {
        static ONE: std::sync::LazyLock<blst_fp12> = std::sync::LazyLock::new(Cycloid::fq12_one);
        &raw const *ONE
    }

    fn blst_fp12_sizeof() -> usize {
        size_of::<blst_fp12>()
    }

    fn blst_bendian_from_fp12(out: *mut u8, a: *const blst_fp12) {
        // The order is that of the powers of w: coefficients of 1 and w first, then of v and v·w.
        let a = *a;
        let mut bytes = [0; 576];
        let coefficients = [0, 3, 1, 4, 2, 5].map(|i| a[i]);
        for (bytes, part) in bytes.chunks_exact_mut(48).zip(coefficients.as_flattened()) {
            bytes.copy_from_slice(&fp_to_le(part));
            bytes.reverse();
        }
        out.cast::<[u8; 576]>().write(bytes);
    }
}
