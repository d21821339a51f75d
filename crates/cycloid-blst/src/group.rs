//! G1 and G2 in blst's Jacobian coordinates.

use core::ptr;

use blst::{BLST_ERROR, blst_fp, blst_fp2, blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};
use cycloid::bls12_381::backend::Group;
use cycloid::bls12_381::{Affine, First, Fr, Message, Projective, Second};

use crate::Blst;
use crate::ffi::{result, test};
use crate::scalars::scalar;

/// Bits of a scalar below r.
const SCALAR_BITS: usize = 255;

/// Limbs of a scalar in the scratch of a sum of multiples.
const SCALAR_LIMBS: usize = 4;

macro_rules! group {
    (
        $group:ident, $projective:ident, $affine:ident, $coordinate:ident, $length:literal,
        $generator:ident, $is_inf:ident, $affine_is_inf:ident, $is_equal:ident,
        $affine_is_equal:ident, $add:ident, $add_affine:ident, $double:ident, $cneg:ident,
        $from_affine:ident, $to_affine:ident, $to_affine_many:ident, $on_curve:ident,
        $uncompress:ident, $in_group:ident, $mult:ident, $sum:ident,
        $scratch_sizeof:ident, $pippenger:ident, $map:ident, $hash:ident, $encode:ident
    ) => {
        impl Group<$group> for Blst {
            type Projective = $projective;
            type Affine = $affine;
            type TableForm = ();

            fn identity() -> $projective {
                $projective::default()
            }

            fn affine_identity() -> $affine {
                $affine::default()
            }

            fn generator() -> $affine {
                // SAFETY: a pointer to a constant of blst.
                unsafe { *blst::$generator() }
            }

            fn is_identity(a: &$projective) -> bool {
                test!($is_inf(a))
            }

            fn affine_is_identity(a: &$affine) -> bool {
                test!($affine_is_inf(a))
            }

            fn equal(a: &$projective, b: &$projective) -> bool {
                test!($is_equal(a, b))
            }

            fn affine_equal(a: &$affine, b: &$affine) -> bool {
                test!($affine_is_equal(a, b))
            }

            fn add(a: &$projective, b: &$projective) -> $projective {
                result!($add(a, b))
            }

            fn add_affine(a: &$projective, b: &$affine) -> $projective {
                result!($add_affine(a, b))
            }

            fn double(a: &$projective) -> $projective {
                result!($double(a))
            }

            fn negate(a: &$projective) -> $projective {
                let mut negative = *a;
                // SAFETY: an exclusive reference.
                unsafe { blst::$cneg(&mut negative, true) };
                negative
            }

            fn affine_negate(a: &$affine) -> $affine {
                $affine { x: a.x, y: a.y.negate() }
            }

            fn from_affine(a: &$affine) -> $projective {
                result!($from_affine(a))
            }

            fn to_affine(a: &$projective) -> $affine {
                result!($to_affine(a))
            }

            fn to_affine_many(
                points: &[Projective<Self, $group>],
                affine: &mut [Affine<Self, $group>],
            ) {
                let n = points.len().min(affine.len());
                if n == 0 {
                    return;
                }
                // A null pointer means that the remaining points follow the first.
                let points = [points.as_ptr().cast(), ptr::null()];
                // SAFETY: reads n points and writes as many; a public point has the same
                // representation as blst's.
                unsafe { blst::$to_affine_many(affine.as_mut_ptr().cast(), points.as_ptr(), n) };
            }

            fn from_coordinates(x: &[u8; $length], y: &[u8; $length]) -> Option<$affine> {
                let (x, y) = ($coordinate::from_be_bytes(x), $coordinate::from_be_bytes(y));
                let point = $affine { x, y };
                // blst represents infinity as (0, 0), which is not a point on the curve.
                (test!($on_curve(&point)) && !test!($affine_is_inf(&point))).then_some(point)
            }

            fn coordinates(a: &$affine) -> ([u8; $length], [u8; $length]) {
                (a.x.to_be_bytes(), a.y.to_be_bytes())
            }

            fn decompress(x: &[u8; $length], larger: bool) -> Option<$affine> {
                let mut bytes = *x;
                bytes[0] |= if larger { 0xa0 } else { 0x80 };
                let mut point = $affine::default();
                // SAFETY: the function reads the length of a coordinate.
                let error = unsafe { blst::$uncompress(&mut point, bytes.as_ptr()) };
                // Two points of order 3 have x = 0; blst reports them as not in the group.
                let found = [BLST_ERROR::BLST_SUCCESS, BLST_ERROR::BLST_POINT_NOT_IN_GROUP];
                found.contains(&error).then_some(point)
            }

            fn in_group(a: &$affine) -> bool {
                test!($affine_is_inf(a)) || test!($in_group(a))
            }

            fn multiply(a: &$projective, k: &blst::blst_fr) -> $projective {
                result!($mult(a, scalar(k).b.as_ptr(), SCALAR_BITS))
            }

            // The interface multiplies arbitrary points by integers: blst's own windows give wrong
            // results for points of small order.

            fn multiply_short_many_vartime(
                points: &mut [Projective<Self, $group>],
                weights: &[u128],
            ) {
                for (point, weight) in points.iter_mut().zip(weights) {
                    let bytes = weight.to_le_bytes();
                    let multiple = result!($mult(point.raw(), bytes.as_ptr(), 128));
                    *point = Projective::from_raw(multiple);
                }
            }

            fn sum(points: &[Affine<Self, $group>]) -> $projective {
                if points.is_empty() {
                    return $projective::default();
                }
                let pointers = [points.as_ptr().cast(), ptr::null()];
                result!($sum(pointers.as_ptr(), points.len()))
            }

            fn msm_scratch_limbs(n: usize) -> usize {
                // SAFETY: only computes a size.
                n * SCALAR_LIMBS + unsafe { blst::$scratch_sizeof(n) }.div_ceil(8)
            }

            fn msm_vartime(
                points: &[Affine<Self, $group>],
                scalars: &[Fr<Self>],
                scratch: &mut [u64],
            ) -> $projective {
                let n = points.len();
                if n == 0 {
                    return $projective::default();
                }
                let (integers, buckets) = scratch.split_at_mut(n * SCALAR_LIMBS);
                for (integer, scalar) in integers.chunks_exact_mut(SCALAR_LIMBS).zip(scalars) {
                    integer.copy_from_slice(&scalar.to_integer().map(u64::to_le));
                }
                let points = [points.as_ptr().cast(), ptr::null()];
                let integers = [integers.as_ptr().cast(), ptr::null()];
                result!($pippenger(
                    points.as_ptr(),
                    n,
                    integers.as_ptr(),
                    // With 256, a bit that is never set would get a window of its own.
                    SCALAR_BITS,
                    buckets.as_mut_ptr()
                ))
            }

            fn map_to_curve(uniform: &[[u8; 64]]) -> $projective {
                let (first, second) = uniform.split_at($length / 48);
                let first = $coordinate::reduce(first);
                if second.is_empty() {
                    return result!($map(&first, ptr::null()));
                }
                result!($map(&first, &$coordinate::reduce(second)))
            }

            fn hash_to_curve([prefix, message]: &Message<'_>, dst: &[u8]) -> $projective {
                result!($hash(
                    message.as_ptr(),
                    message.len(),
                    dst.as_ptr(),
                    dst.len(),
                    prefix.as_ptr(),
                    prefix.len()
                ))
            }

            fn encode_to_curve([prefix, message]: &Message<'_>, dst: &[u8]) -> $projective {
                result!($encode(
                    message.as_ptr(),
                    message.len(),
                    dst.as_ptr(),
                    dst.len(),
                    prefix.as_ptr(),
                    prefix.len()
                ))
            }
        }
    };
}

group!(
    First,
    blst_p1,
    blst_p1_affine,
    blst_fp,
    48,
    blst_p1_affine_generator,
    blst_p1_is_inf,
    blst_p1_affine_is_inf,
    blst_p1_is_equal,
    blst_p1_affine_is_equal,
    blst_p1_add_or_double,
    blst_p1_add_or_double_affine,
    blst_p1_double,
    blst_p1_cneg,
    blst_p1_from_affine,
    blst_p1_to_affine,
    blst_p1s_to_affine,
    blst_p1_affine_on_curve,
    blst_p1_uncompress,
    blst_p1_affine_in_g1,
    blst_p1_mult,
    blst_p1s_add,
    blst_p1s_mult_pippenger_scratch_sizeof,
    blst_p1s_mult_pippenger,
    blst_map_to_g1,
    blst_hash_to_g1,
    blst_encode_to_g1
);

group!(
    Second,
    blst_p2,
    blst_p2_affine,
    blst_fp2,
    96,
    blst_p2_affine_generator,
    blst_p2_is_inf,
    blst_p2_affine_is_inf,
    blst_p2_is_equal,
    blst_p2_affine_is_equal,
    blst_p2_add_or_double,
    blst_p2_add_or_double_affine,
    blst_p2_double,
    blst_p2_cneg,
    blst_p2_from_affine,
    blst_p2_to_affine,
    blst_p2s_to_affine,
    blst_p2_affine_on_curve,
    blst_p2_uncompress,
    blst_p2_affine_in_g2,
    blst_p2_mult,
    blst_p2s_add,
    blst_p2s_mult_pippenger_scratch_sizeof,
    blst_p2s_mult_pippenger,
    blst_map_to_g2,
    blst_hash_to_g2,
    blst_encode_to_g2
);

/// An element of Fp or Fp2 as a coordinate.
pub(crate) trait Coordinate<const N: usize> {
    /// Decodes big-endian integers below p; for Fp2 the coefficient of u comes first.
    fn from_be_bytes(bytes: &[u8; N]) -> Self;

    /// Encodes in the format of [`from_be_bytes`](Self::from_be_bytes).
    fn to_be_bytes(&self) -> [u8; N];

    /// Reduces big-endian integers modulo p; for Fp2 the coefficient of 1 comes first.
    fn reduce(uniform: &[[u8; 64]]) -> Self;

    fn negate(&self) -> Self;
}

impl Coordinate<48> for blst_fp {
    fn from_be_bytes(bytes: &[u8; 48]) -> Self {
        // The function reads 48 bytes.
        result!(blst_fp_from_bendian(bytes.as_ptr()))
    }

    fn to_be_bytes(&self) -> [u8; 48] {
        let mut bytes = [0; 48];
        // SAFETY: the function writes 48 bytes.
        unsafe { blst::blst_bendian_from_fp(bytes.as_mut_ptr(), self) };
        bytes
    }

    fn reduce(uniform: &[[u8; 64]]) -> Self {
        result!(blst_fp_from_be_bytes(uniform[0].as_ptr(), 64))
    }

    fn negate(&self) -> Self {
        result!(blst_fp_cneg(self, true))
    }
}

impl Coordinate<96> for blst_fp2 {
    fn from_be_bytes(bytes: &[u8; 96]) -> Self {
        let half = |i: usize| blst_fp::from_be_bytes(&core::array::from_fn(|j| bytes[48 * i + j]));
        Self { fp: [half(1), half(0)] }
    }

    fn to_be_bytes(&self) -> [u8; 96] {
        let mut bytes = [0; 96];
        for (bytes, coefficient) in bytes.chunks_exact_mut(48).zip(self.fp.iter().rev()) {
            bytes.copy_from_slice(&coefficient.to_be_bytes());
        }
        bytes
    }

    fn reduce(uniform: &[[u8; 64]]) -> Self {
        Self { fp: [blst_fp::reduce(&uniform[..1]), blst_fp::reduce(&uniform[1..])] }
    }

    fn negate(&self) -> Self {
        result!(blst_fp2_cneg(self, true))
    }
}
