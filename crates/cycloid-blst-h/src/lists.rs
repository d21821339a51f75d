//! Sums, conversions and sums of multiples of many points. Points and scalars are public.

use std::sync::LazyLock;

use cycloid::bls12_381::backend::{First, Second};
use cycloid::bls12_381::raw;

use crate::memory::{List, integer};
use crate::{blst_p1, blst_p1_affine, blst_p2, blst_p2_affine, exports};

/// The most bits of an integer in one sum of multiples.
const PIECE: usize = 256;

/// From this number of points on, more points take more scratch.
const GROWING: usize = 1 << 14;

/// Returns the digit of a scalar in the window of `width` bits from bit `from` on, at most 62 bits.
/// It counts the bit below, and is negative if its own top bit is set and `signed`: the sum of all
/// digits, times their places, is the scalar (Booth).
///
/// # Safety
/// `scalar` refers to enough bytes for all the bits below `from + width`.
unsafe fn digit(scalar: *const u8, from: usize, width: usize, signed: bool) -> i64 {
    let bit = |at: usize| {
        // SAFETY: as the caller says.
        let byte = unsafe { *scalar.add(at / 8) };
        i64::from(byte >> (at % 8) & 1)
    };
    let value = (0..width).fold(0, |value, i| value | bit(from + i) << i);
    let carry = if from > 0 { bit(from - 1) } else { 0 };
    let negative = signed && width > 0 && value >> (width - 1) & 1 == 1;
    value + carry - if negative { 1 << width } else { 0 }
}

/// Writes the functions on lists for one group.
macro_rules! lists {
    (
        $G:ty, $point:ty, $affine:ty, $zero:expr, $module:ident,
        $to_affine:ident $add:ident
        $table_sizeof:ident $table:ident $wbits_scratch:ident $wbits:ident
        $scratch_sizeof:ident $pippenger:ident $tile:ident
    ) => {
        mod $module {
            use super::*;

            /// Returns Σ kᵢ·aᵢ for `bits` bits of the kᵢ from bit `from` on, a multiple of eight.
            ///
            /// # Safety
            /// As for [the crate](crate).
            pub(super) unsafe fn sum_of_piece(
                points: List<$affine>,
                n: usize,
                scalars: List<u8>,
                (from, bits): (usize, usize),
                scratch: &mut [u64],
            ) -> $point {
                raw::msm_vartime::<$G>(
                    n,
                    bits,
                    // SAFETY: as the caller says.
                    |i| unsafe { &*points.at(i) },
                    // SAFETY: as the caller says.
                    |i| unsafe { integer(scalars.at(i).add(from / 8), bits) },
                    scratch,
                )
            }

            /// Returns Σ dᵢ·aᵢ with signed digits of at most `bits` bits.
            pub(super) fn sum_of_digits(points: &[$affine], digits: &[u64], bits: usize) -> $point {
                let mut scratch = vec![0; raw::msm_scratch_limbs::<$G>(points.len(), bits)];
                let integer = |i: usize| [digits[i], 0, 0, 0];
                raw::msm_vartime::<$G>(points.len(), bits, |i| &points[i], integer, &mut scratch)
            }

            /// Returns the point, negated if `negative`.
            pub(super) fn signed(point: &$affine, negative: bool) -> $affine {
                [point[0], raw::negate_if::<$G>(&point[1], &negative)]
            }

            /// Returns the limbs of scratch for n integers as long as the group order, or of 256 bits.
            pub(super) fn scratch_limbs(n: usize) -> usize {
                let limbs = |bits| raw::msm_scratch_limbs::<$G>(n, bits);
                limbs(PIECE - 1).max(limbs(PIECE))
            }

            /// The counts that take more scratch than the next one, and that scratch.
            static PEAKS: LazyLock<Vec<(usize, usize)>> = LazyLock::new(|| {
                let peak = |n: &usize| scratch_limbs(*n) > scratch_limbs(n + 1);
                (1..GROWING).filter(peak).map(|n| (n, scratch_limbs(n))).collect()
            });

            /// Returns the limbs of scratch that are enough for n integers and for fewer.
            pub(super) fn scratch_limbs_up_to(n: usize) -> usize {
                let fewer = PEAKS.iter().filter(|(count, _)| *count < n).map(|(_, limbs)| *limbs);
                fewer.max().unwrap_or(0).max(scratch_limbs(n))
            }

            pub(super) const INFINITY: $point = [$zero; 3];
        }

        exports! {
            fn $to_affine(out: *mut $affine, points: *const *const $point, n: usize) {
                if n == 0 {
                    return;
                }
                let points = List::new(points, n, 1);
                raw::to_affine_many::<$G>(n, |i| &*points.at(i), |i, affine| *out.add(i) = affine);
            }

            fn $add(out: *mut $point, points: *const *const $affine, n: usize) {
                *out = if n == 0 {
                    $module::INFINITY
                } else {
                    let points = List::new(points, n, 1);
                    raw::sum_vartime::<$G>(n, |i| &*points.at(i))
                };
            }

            fn $table_sizeof(wbits: usize, n: usize) -> usize {
                (size_of::<$affine>() * n) << (wbits - 1)
            }

            fn $table(
                table: *mut $affine, wbits: usize, points: *const *const $affine, n: usize,
            ) {
                if n == 0 {
                    return;
                }
                let (points, row) = (List::new(points, n, 1), 1 << (wbits - 1));
                let mut multiples = vec![$module::INFINITY; row];
                for i in 0..n {
                    let point = *points.at(i);
                    multiples[0] = raw::from_affine::<$G>(&point);
                    for j in 1..row {
                        multiples[j] = if j % 2 == 1 {
                            raw::double::<$G>(&multiples[j / 2])
                        } else if raw::is_infinity::<$G>(&point) {
                            multiples[0]
                        } else {
                            raw::add_finite::<$G>(&multiples[j - 1], &point)
                        };
                    }
                    let write = |j, affine| *table.add(i * row + j) = affine;
                    raw::to_affine_many::<$G>(row, |j| &multiples[j], write);
                }
            }

            fn $wbits_scratch(n: usize) -> usize {
                size_of::<$point>() * n.clamp(1, 4096)
            }

            fn $wbits(
                out: *mut $point, table: *const $affine, wbits: usize, n: usize,
                scalars: *const *const u8, bits: usize, _scratch: *mut u64,
            ) {
                let mut sum = $module::INFINITY;
                if n == 0 {
                    *out = sum;
                    return;
                }
                let (scalars, row) = (List::new(scalars, n, bits.div_ceil(8)), 1 << (wbits - 1));
                let mut terms: Vec<$affine> = Vec::with_capacity(n);
                for window in (0..=bits / wbits).rev() {
                    for _ in 0..wbits {
                        sum = raw::double::<$G>(&sum);
                    }
                    terms.clear();
                    let (from, width) = (window * wbits, wbits.min(bits - window * wbits));
                    for i in 0..n {
                        let digit = digit(scalars.at(i), from, width, width == wbits);
                        if digit != 0 {
                            let place = i * row + digit.unsigned_abs() as usize - 1;
                            terms.push($module::signed(&*table.add(place), digit < 0));
                        }
                    }
                    let part = raw::sum_vartime::<$G>(terms.len(), |i| &terms[i]);
                    sum = raw::add_points::<$G>(&sum, &part);
                }
                *out = sum;
            }

            fn $scratch_sizeof(n: usize) -> usize {
                // Programs use the scratch for fewer points as well, which may take more.
                let limbs = if n == 0 { 0 } else { $module::scratch_limbs_up_to(n) };
                // Callers take the size for no points as the size of one bucket.
                (8 * limbs).max(size_of::<[$affine; 2]>())
            }

            fn $pippenger(
                out: *mut $point, points: *const *const $affine, n: usize,
                scalars: *const *const u8, bits: usize, scratch: *mut u64,
            ) {
                let mut sum = $module::INFINITY;
                if n == 0 || bits == 0 {
                    *out = sum;
                    return;
                }
                let (points, scalars) =
                    (List::new(points, n, 1), List::new(scalars, n, bits.div_ceil(8)));
                if n == 1 {
                    let point = raw::from_affine::<$G>(&*points.at(0));
                    *out = crate::groups::$module::multiply(&point, scalars.at(0), bits);
                    return;
                }
                // The caller's scratch is for 255 and 256 bits, which may take less than fewer bits.
                let enough = $module::scratch_limbs(n);
                let most = bits.min(PIECE);
                let needed = raw::msm_scratch_limbs::<$G>(n, most)
                    .max(raw::msm_scratch_limbs::<$G>(n, (bits - 1) % PIECE + 1));
                let mut own = Vec::new();
                let scratch = if needed <= enough && !scratch.is_null() {
                    core::slice::from_raw_parts_mut(scratch, enough)
                } else {
                    own.resize(needed, 0);
                    &mut own[..]
                };
                for from in (0..bits).step_by(PIECE).rev() {
                    let count = PIECE.min(bits - from);
                    let part =
                        $module::sum_of_piece(points, n, scalars, (from, count), &mut *scratch);
                    for _ in 0..if from + PIECE < bits { PIECE } else { 0 } {
                        sum = raw::double::<$G>(&sum);
                    }
                    sum = raw::add_points::<$G>(&sum, &part);
                }
                *out = sum;
            }

            fn $tile(
                out: *mut $point, points: *const *const $affine, n: usize,
                scalars: *const *const u8, bits: usize, _scratch: *mut u64, bit0: usize,
                window: usize,
            ) {
                if n == 0 {
                    *out = $module::INFINITY;
                    return;
                }
                let (points, scalars) =
                    (List::new(points, n, 1), List::new(scalars, n, bits.div_ceil(8)));
                let width = window.min(bits.saturating_sub(bit0));
                let (mut terms, mut digits) = (Vec::with_capacity(n), Vec::with_capacity(n));
                for i in 0..n {
                    let digit = digit(scalars.at(i), bit0, width, bit0 + window <= bits);
                    terms.push($module::signed(&*points.at(i), digit < 0));
                    digits.push(digit.unsigned_abs());
                }
                *out = $module::sum_of_digits(&terms, &digits, width + 1);
            }
        }
    };
}

lists!(
    First, blst_p1, blst_p1_affine, [0; 6], first,
    blst_p1s_to_affine blst_p1s_add
    blst_p1s_mult_wbits_precompute_sizeof blst_p1s_mult_wbits_precompute
    blst_p1s_mult_wbits_scratch_sizeof blst_p1s_mult_wbits
    blst_p1s_mult_pippenger_scratch_sizeof blst_p1s_mult_pippenger blst_p1s_tile_pippenger
);

lists!(
    Second, blst_p2, blst_p2_affine, [[0; 6]; 2], second,
    blst_p2s_to_affine blst_p2s_add
    blst_p2s_mult_wbits_precompute_sizeof blst_p2s_mult_wbits_precompute
    blst_p2s_mult_wbits_scratch_sizeof blst_p2s_mult_wbits
    blst_p2s_mult_pippenger_scratch_sizeof blst_p2s_mult_pippenger blst_p2s_tile_pippenger
);
