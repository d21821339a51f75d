//! Points of both curves: sums, multiples, encodings, hashing, and signatures.

use cycloid::bls12_381::backend::{First, Group, Second};
use cycloid::bls12_381::{Cycloid, G1Affine, G2Affine, raw};
use zeroize::Zeroize;

use crate::BLST_ERROR::{
    self, BLST_BAD_ENCODING, BLST_POINT_NOT_IN_GROUP, BLST_POINT_NOT_ON_CURVE, BLST_SUCCESS,
};
use crate::memory::{integer, limbs, slice};
use crate::scalars::{is_below_r, is_zero, reduced};
use crate::{
    BLS12_381_G1, BLS12_381_G2, blst_fp, blst_fp2, blst_p1, blst_p1_affine, blst_p2,
    blst_p2_affine, blst_scalar, c_bool, exports,
};

/// Returns whether big-endian coordinates of 48 bytes are all below p.
fn are_canonical(bytes: &[u8]) -> bool {
    const P: [u64; 6] = [
        0xb9fe_ffff_ffff_aaab,
        0x1eab_fffe_b153_ffff,
        0x6730_d2a0_f6b0_f624,
        0x6477_4b84_f385_12bf,
        0x4b1b_a7b6_434b_acd7,
        0x1a01_11ea_397f_e69a,
    ];
    bytes.chunks_exact(48).all(|bytes| {
        let limb =
            |i: usize| u64::from_be_bytes(bytes[8 * i..8 * i + 8].try_into().expect("eight"));
        (0..6).map(limb).lt(P.iter().rev().copied())
    })
}

/// Flags in the first byte of an encoding.
const COMPRESSED: u8 = 0x80;
const INFINITY: u8 = 0x40;
const LARGER: u8 = 0x20;

/// Writes the functions of one group.
macro_rules! group {
    (
        $G:ty, $Affine:ident, $field:ty, $point:ty, $affine:ty,
        $coordinate:literal, $both:literal, $plain:literal,
        $module:ident,
        $add:ident $add_or_double:ident $add_affine:ident $add_or_double_affine:ident $double:ident
        $mult:ident $unchecked_mult:ident $cneg:ident $to_affine:ident $from_affine:ident
        $from_jacobian:ident $on_curve:ident $in_group:ident $is_equal:ident $is_inf:ident
        $generator:ident $affine_on_curve:ident $affine_in_group:ident $affine_is_equal:ident
        $affine_is_inf:ident $affine_generator:ident $sizeof:ident $affine_sizeof:ident
        $map:ident $encode:ident $hash:ident
        $serialize:ident $compress:ident $affine_serialize:ident $affine_compress:ident
        $uncompress:ident $deserialize:ident $aggregate:ident
        $sk_to_pk:ident $sign:ident $sk_to_pk2:ident $sign2:ident
        $generator_symbol:ident
    ) => {
        /// The group's operations on values.
        pub(crate) mod $module {
            use super::*;

            /// Returns a + b.
            pub(crate) fn add_affine(a: &$point, b: &$affine) -> $point {
                if raw::is_infinity::<$G>(b) { *a } else { raw::add_finite::<$G>(a, b) }
            }

            /// Returns k·a for an integer of any number of bits and any point of the curve.
            ///
            /// # Safety
            /// `scalar` refers to ⌈bits / 8⌉ bytes.
            pub(crate) unsafe fn multiply(a: &$point, scalar: *const u8, bits: usize) -> $point {
                // SAFETY: as the caller says.
                unsafe {
                    if bits <= 256 {
                        let mut k = integer(scalar, bits);
                        let product = raw::multiply::<$G>(a, &k, &bits);
                        k.zeroize();
                        return product;
                    }
                    let piece = |at: usize| integer(scalar.add(at / 8), (bits - at).min(256));
                    let mut k: Vec<u64> = (0..bits).step_by(256).flat_map(piece).collect();
                    let product = raw::multiply::<$G>(a, &k, &bits);
                    k.zeroize();
                    product
                }
            }

            /// Returns the affine coordinates.
            pub(crate) fn to_affine(a: &$point) -> $affine {
                raw::to_affine::<$G>(a)
            }

            /// Returns k·a for a member of the group and a scalar below r.
            pub(crate) fn multiply_member(a: &$point, k: &[u64; 4]) -> $point {
                // SAFETY: it is a static.
                let [x, y, z] = unsafe { *$generator() };
                // Whether a point is the generator is public.
                let is_generator = raw::are_equal::<$G>(&[a[0], a[1]], &[x, y])
                    && raw::are_equal::<$G>(&[a[2], a[2]], &[z, z]);
                if is_generator {
                    raw::multiply_generator::<$G>(k)
                } else {
                    raw::multiply_member::<$G>(a, k)
                }
            }

            /// Returns sk·a with Z = 1, or infinity.
            pub(crate) fn sign(a: &$point, sk: &blst_scalar) -> $point {
                let mut k = reduced(limbs(sk));
                let product = multiply_member(a, &k);
                k.zeroize();
                raw::from_affine::<$G>(&to_affine(&product))
            }

            /// Returns the hash of a message.
            ///
            /// # Safety
            /// As for [the crate](crate).
            pub(crate) unsafe fn hash(
                (message, length): (*const u8, usize),
                (dst, dst_length): (*const u8, usize),
                (prefix, prefix_length): (*const u8, usize),
                uniform: bool,
            ) -> $point {
                // SAFETY: as the caller says.
                let (message, dst, prefix) = unsafe {
                    (slice(message, length), slice(dst, dst_length), slice(prefix, prefix_length))
                };
                raw::hash_to_group::<$G>(&[prefix, message], dst, uniform)
            }

            /// Returns the compressed form.
            pub(crate) fn compressed(a: &$affine) -> [u8; $coordinate] {
                $Affine::<Cycloid>::from_raw(*a).to_compressed()
            }

            /// Returns the uncompressed form.
            pub(crate) fn serialized(a: &$affine) -> [u8; $both] {
                $Affine::<Cycloid>::from_raw(*a).to_uncompressed()
            }

            /// Decodes the compressed form.
            pub(crate) fn uncompress(
                input: &[u8; $coordinate],
                write: impl FnOnce($affine),
            ) -> BLST_ERROR {
                if input[0] & COMPRESSED == 0 {
                    return BLST_BAD_ENCODING;
                }
                if input[0] & INFINITY != 0 {
                    return infinity(input, write);
                }
                let mut x = *input;
                x[0] &= !(COMPRESSED | INFINITY | LARGER);
                if !are_canonical(&x) {
                    return BLST_BAD_ENCODING;
                }
                finish(raw::decompress::<$G>(&x, input[0] & LARGER != 0), write)
            }

            /// Decodes either form.
            ///
            /// # Safety
            /// `input` refers to an encoding as long as its first byte says.
            pub(crate) unsafe fn deserialize(
                input: *const u8,
                write: impl FnOnce($affine),
            ) -> BLST_ERROR {
                // SAFETY: as the caller says.
                let bytes = unsafe {
                    if *input & COMPRESSED != 0 {
                        return uncompress(&input.cast::<[u8; $coordinate]>().read(), write);
                    }
                    input.cast::<[u8; $both]>().read()
                };
                if bytes[0] & (COMPRESSED | INFINITY | LARGER) != 0 {
                    if bytes[0] & INFINITY != 0 {
                        return infinity(&bytes, write);
                    }
                    return BLST_BAD_ENCODING;
                }
                if !are_canonical(&bytes) {
                    return BLST_BAD_ENCODING;
                }
                let (x, y) = bytes.split_at($coordinate);
                let (x, y) = (x.try_into().expect("half"), y.try_into().expect("half"));
                finish(<Cycloid as Group<$G>>::from_coordinates(x, y), write)
            }

            fn infinity(input: &[u8], write: impl FnOnce($affine)) -> BLST_ERROR {
                if input[0] & !(COMPRESSED | INFINITY) != 0 || input[1..].iter().any(|b| *b != 0) {
                    return BLST_BAD_ENCODING;
                }
                write(Default::default());
                BLST_SUCCESS
            }

            /// A point with x = 0 is on the curve, but of order 3.
            fn finish(point: Option<$affine>, write: impl FnOnce($affine)) -> BLST_ERROR {
                let Some(point) = point else { return BLST_POINT_NOT_ON_CURVE };
                write(point);
                if raw::is_infinity::<$G>(&point[..1]) {
                    BLST_POINT_NOT_IN_GROUP
                } else {
                    BLST_SUCCESS
                }
            }

            /// Writes the uncompressed form with the flag of the larger y and of infinity.
            pub(crate) fn decorated(a: &$affine) -> [u8; $both] {
                let mut bytes = serialized(a);
                bytes[0] |= compressed(a)[0] & LARGER;
                bytes
            }
        }

        exports! {
            fn $add(out: *mut $point, a: *const $point, b: *const $point) {
                *out = raw::add_different::<$G>(&*a, &*b);
            }

            fn $add_or_double(out: *mut $point, a: *const $point, b: *const $point) {
                *out = raw::add_points::<$G>(&*a, &*b);
            }

            fn $add_affine(out: *mut $point, a: *const $point, b: *const $affine) {
                *out = if raw::is_infinity::<$G>(&*b) {
                    *a
                } else {
                    raw::add_different_finite::<$G>(&*a, &*b)
                };
            }

            fn $add_or_double_affine(out: *mut $point, a: *const $point, b: *const $affine) {
                *out = $module::add_affine(&*a, &*b);
            }

            fn $double(out: *mut $point, a: *const $point) {
                *out = raw::double::<$G>(&*a);
            }

            fn $mult(out: *mut $point, a: *const $point, scalar: *const u8, bits: usize) {
                // Longer scalars are split by the group's endomorphisms, whether or not the point is
                // in the group.
                if ($plain..=256).contains(&bits) {
                    // blst reads whole bytes here.
                    let mut k = integer(scalar, bits.next_multiple_of(8));
                    if (is_below_r(&k) & !is_zero(&k)).reveal() {
                        *out = $module::multiply_member(&*a, &k);
                        k.zeroize();
                        return;
                    }
                }
                *out = $module::multiply(&*a, scalar, bits);
            }

            fn $unchecked_mult(out: *mut $point, a: *const $point, scalar: *const u8, bits: usize) {
                *out = $module::multiply(&*a, scalar, bits);
            }

            fn $cneg(a: *mut $point, flag: c_bool) {
                // The other coordinates stay where they are.
                let y = &raw mut (*a)[1];
                *y = raw::negate_if::<$G>(&*y, &(flag != 0));
            }

            fn $to_affine(out: *mut $affine, a: *const $point) {
                *out = $module::to_affine(&*a);
            }

            fn $from_affine(out: *mut $point, a: *const $affine) {
                *out = raw::from_affine::<$G>(&*a);
            }

            fn $from_jacobian(out: *mut $point, a: *const $point) {
                *out = raw::from_affine::<$G>(&$module::to_affine(&*a));
            }

            fn $on_curve(a: *const $point) -> i32 {
                raw::is_on_curve::<$G>(&*a).into()
            }

            fn $in_group(a: *const $point) -> i32 {
                raw::is_in_group::<$G>(&*a).into()
            }

            fn $is_equal(a: *const $point, b: *const $point) -> i32 {
                raw::points_are_equal::<$G>(&*a, &*b).into()
            }

            fn $is_inf(a: *const $point) -> i32 {
                let z = [(*a)[2]];
                raw::is_infinity::<$G>(&z).into()
            }

            fn $generator() -> *const $point {
                static GENERATOR: std::sync::LazyLock<$point> = std::sync::LazyLock::new(|| {
                    raw::from_affine::<$G>(&<Cycloid as Group<$G>>::generator())
                });
                &raw const *GENERATOR
            }

            fn $affine_on_curve(a: *const $affine) -> i32 {
                let a = *a;
                raw::is_on_curve::<$G>(&raw::from_affine::<$G>(&a)).into()
            }

            fn $affine_in_group(a: *const $affine) -> i32 {
                raw::is_in_group::<$G>(&raw::from_affine::<$G>(&*a)).into()
            }

            fn $affine_is_equal(a: *const $affine, b: *const $affine) -> i32 {
                raw::are_equal::<$G>(&*a, &*b).into()
            }

            fn $affine_is_inf(a: *const $affine) -> i32 {
                raw::is_infinity::<$G>(&*a).into()
            }

            fn $affine_generator() -> *const $affine {
                &raw const $generator_symbol
            }

            fn $sizeof() -> usize {
                size_of::<$point>()
            }

            fn $affine_sizeof() -> usize {
                size_of::<$affine>()
            }

            fn $map(out: *mut $point, u: *const $field, v: *const $field) {
                *out = if v.is_null() {
                    raw::map_to_group::<$G>(&[*u])
                } else {
                    raw::map_to_group::<$G>(&[*u, *v])
                };
            }

            fn $encode(
                out: *mut $point, message: *const u8, length: usize, dst: *const u8,
                dst_length: usize, prefix: *const u8, prefix_length: usize,
            ) {
                let dst = (dst, dst_length);
                *out = $module::hash((message, length), dst, (prefix, prefix_length), false);
            }

            fn $hash(
                out: *mut $point, message: *const u8, length: usize, dst: *const u8,
                dst_length: usize, prefix: *const u8, prefix_length: usize,
            ) {
                let dst = (dst, dst_length);
                *out = $module::hash((message, length), dst, (prefix, prefix_length), true);
            }

            fn $serialize(out: *mut u8, a: *const $point) {
                out.cast::<[u8; $both]>().write($module::serialized(&$module::to_affine(&*a)));
            }

            fn $compress(out: *mut u8, a: *const $point) {
                out.cast::<[u8; $coordinate]>().write($module::compressed(&$module::to_affine(&*a)));
            }

            fn $affine_serialize(out: *mut u8, a: *const $affine) {
                out.cast::<[u8; $both]>().write($module::serialized(&*a));
            }

            fn $affine_compress(out: *mut u8, a: *const $affine) {
                out.cast::<[u8; $coordinate]>().write($module::compressed(&*a));
            }

            fn $uncompress(out: *mut $affine, input: *const u8) -> BLST_ERROR {
                $module::uncompress(&input.cast::<[u8; $coordinate]>().read(), |point| *out = point)
            }

            fn $deserialize(out: *mut $affine, input: *const u8) -> BLST_ERROR {
                $module::deserialize(input, |point| *out = point)
            }

            fn $aggregate(out: *mut $point, a: *const $point, input: *const u8) -> BLST_ERROR {
                let mut point: $affine = Default::default();
                let error = $module::deserialize(input, |decoded| point = decoded);
                if error != BLST_SUCCESS {
                    return error;
                }
                let single = raw::from_affine::<$G>(&point);
                if raw::is_infinity::<$G>(&point) {
                    // The sum stays as it is.
                    if a.is_null() {
                        *out = single;
                    }
                    return BLST_SUCCESS;
                }
                if !raw::is_in_group::<$G>(&single) {
                    return BLST_POINT_NOT_IN_GROUP;
                }
                *out = if a.is_null() { single } else { $module::add_affine(&*a, &point) };
                BLST_SUCCESS
            }

            fn $sk_to_pk(out: *mut $point, sk: *const blst_scalar) {
                *out = $module::sign(&*$generator(), &*sk);
            }

            fn $sign(out: *mut $point, hash: *const $point, sk: *const blst_scalar) {
                *out = $module::sign(&*hash, &*sk);
            }

            fn $sk_to_pk2(out: *mut u8, out_pk: *mut $affine, sk: *const blst_scalar) {
                $sign2(out, out_pk, $generator(), sk);
            }

            fn $sign2(
                out: *mut u8, out_point: *mut $affine, hash: *const $point, sk: *const blst_scalar,
            ) {
                let point = $module::to_affine(&$module::sign(&*hash, &*sk));
                if !out_point.is_null() {
                    *out_point = point;
                }
                if !out.is_null() {
                    out.cast::<[u8; $both]>().write($module::decorated(&point));
                }
            }
        }
    };
}

group!(
    First, G1Affine, blst_fp, blst_p1, blst_p1_affine, 48, 96, 176,
    first,
    blst_p1_add blst_p1_add_or_double blst_p1_add_affine blst_p1_add_or_double_affine blst_p1_double
    blst_p1_mult blst_p1_unchecked_mult blst_p1_cneg blst_p1_to_affine blst_p1_from_affine
    blst_p1_from_jacobian blst_p1_on_curve blst_p1_in_g1 blst_p1_is_equal blst_p1_is_inf
    blst_p1_generator blst_p1_affine_on_curve blst_p1_affine_in_g1 blst_p1_affine_is_equal
    blst_p1_affine_is_inf blst_p1_affine_generator blst_p1_sizeof blst_p1_affine_sizeof
    blst_map_to_g1 blst_encode_to_g1 blst_hash_to_g1
    blst_p1_serialize blst_p1_compress blst_p1_affine_serialize blst_p1_affine_compress
    blst_p1_uncompress blst_p1_deserialize blst_aggregate_in_g1
    blst_sk_to_pk_in_g1 blst_sign_pk_in_g2 blst_sk_to_pk2_in_g1 blst_sign_pk2_in_g2
    BLS12_381_G1
);

group!(
    Second, G2Affine, blst_fp2, blst_p2, blst_p2_affine, 96, 192, 144,
    second,
    blst_p2_add blst_p2_add_or_double blst_p2_add_affine blst_p2_add_or_double_affine blst_p2_double
    blst_p2_mult blst_p2_unchecked_mult blst_p2_cneg blst_p2_to_affine blst_p2_from_affine
    blst_p2_from_jacobian blst_p2_on_curve blst_p2_in_g2 blst_p2_is_equal blst_p2_is_inf
    blst_p2_generator blst_p2_affine_on_curve blst_p2_affine_in_g2 blst_p2_affine_is_equal
    blst_p2_affine_is_inf blst_p2_affine_generator blst_p2_sizeof blst_p2_affine_sizeof
    blst_map_to_g2 blst_encode_to_g2 blst_hash_to_g2
    blst_p2_serialize blst_p2_compress blst_p2_affine_serialize blst_p2_affine_compress
    blst_p2_uncompress blst_p2_deserialize blst_aggregate_in_g2
    blst_sk_to_pk_in_g2 blst_sign_pk_in_g1 blst_sk_to_pk2_in_g2 blst_sign_pk2_in_g1
    BLS12_381_G2
);
