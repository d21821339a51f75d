//! Sorting points into buckets, and adding up the buckets.

use core::ops::Range;

use super::Plan;
use crate::math::bls12_381::{Packed, Points, Reference};

/// Sorts the points by their digits in the windows from `first` on, as many windows as `ends` has
/// buckets for. Writes references to `sorted`, and the end of each bucket to `ends`.
pub(super) fn sort(
    plan: &Plan,
    integers: &[[u64; 4]],
    first: usize,
    ends: &mut [u64],
    sorted: &mut [u64],
) {
    let windows = first..first + ends.len() / plan.buckets();
    ends.fill(0);
    each_digit(plan, integers, windows.clone(), |bucket, _| ends[bucket] += 1);
    let mut sum = 0;
    for end in ends.iter_mut() {
        (*end, sum) = (sum, sum + *end);
    }
    // Turns each bucket's start into its end.
    each_digit(plan, integers, windows, |bucket, reference| {
        sorted[ends[bucket] as usize] = reference.to_limb();
        ends[bucket] += 1;
    });
}

/// Calls `work` with the bucket and the point for each nonzero digit in some windows.
#[inline(always)]
fn each_digit(
    plan: &Plan,
    integers: &[[u64; 4]],
    windows: Range<usize>,
    mut work: impl FnMut(usize, Reference),
) {
    for (i, integer) in integers.iter().enumerate().take(plan.n) {
        for (part, scalar) in integer.chunks_exact(4 / plan.parts).enumerate() {
            for window in windows.clone() {
                let (digit, negative) = digit(scalar, window * plan.c, plan.c);
                if digit > 0 {
                    let bucket = (window - windows.start) * plan.buckets() + digit - 1;
                    work(bucket, Reference::new(part * plan.n + i, negative));
                }
            }
        }
    }
}

/// Folds the sorted points of each bucket to one and writes its reference to `buckets`.
///
/// Takes as many points at a time as there is room for. The rest of a bucket continues with the
/// next piece.
pub(super) fn fold_points<F: Packed>(
    points: &mut Points<'_, F>,
    plan: &Plan,
    ends: &[u64],
    sorted: &mut [u64],
    buckets: &mut [u64],
) {
    let total = ends.last().map_or(0, |end| *end as usize);
    buckets.fill(Reference::NONE.to_limb());
    let (mut begin, mut first) = (0, 0);
    while begin < total {
        let end = total.min(begin + plan.folded);
        let last = ends.partition_point(|at| (*at as usize) < end);
        // The start and end of a bucket within the current piece.
        let starts = |bucket: usize| match bucket.checked_sub(1) {
            Some(before) if bucket > first => ends[before] as usize,
            _ => begin,
        };
        let mut room = plan.room();
        for round in 0.. {
            let mut done = true;
            for (bucket, bucket_end) in ends.iter().enumerate().take(last + 1).skip(first) {
                let start = starts(bucket);
                let count = end.min(*bucket_end as usize) - start;
                let left = count.div_ceil(1 << round);
                let half = left.div_ceil(2);
                for i in start..start + left - half {
                    let [p, q] = [i, i + half].map(|i| Reference::from_limb(sorted[i]));
                    let sum = match (left, round) {
                        (2, _) => plan.home(bucket),
                        (_, 0) => {
                            room += 1;
                            room - 1
                        }
                        _ => p.number(),
                    };
                    points.add(p, q, sum);
                    sorted[i] = Reference::new(sum, false).to_limb();
                    done = false;
                }
            }
            points.finish();
            if done {
                break;
            }
        }
        for bucket in first..=last {
            if starts(bucket) < end.min(ends[bucket] as usize) {
                buckets[bucket] = sorted[starts(bucket)];
            }
        }
        (begin, first) = (end, last);
        if end < ends[last] as usize {
            begin -= 1;
            sorted[begin] = buckets[last];
        }
    }
}

/// Folds the buckets of each window: afterwards place 2^j holds the sum of the buckets whose place
/// has bit j, and place 0 the sum of all buckets.
pub(super) fn fold_buckets<F: Packed>(
    points: &mut Points<'_, F>,
    plan: &Plan,
    buckets: &mut [u64],
) {
    let size = plan.buckets();
    for log in (0..plan.c - 1).rev() {
        let half = 1 << log;
        for window in (0..buckets.len()).step_by(size) {
            // The part still to be halved, and the kept parts.
            for place in core::iter::once(0).chain((log + 1..plan.c - 1).map(|log| 1 << log)) {
                for i in window + place..window + place + half {
                    add_bucket(points, plan, buckets, i, i + half);
                }
            }
        }
        points.finish();
    }
}

/// Adds bucket q to bucket p.
fn add_bucket<F: Packed>(
    points: &mut Points<'_, F>,
    plan: &Plan,
    buckets: &mut [u64],
    p: usize,
    q: usize,
) {
    let [a, b] = [p, q].map(|i| Reference::from_limb(buckets[i]));
    if b == Reference::NONE {
        return;
    }
    let home = plan.home(p);
    let sum = Reference::new(home, false).to_limb();
    if a != Reference::NONE {
        points.add(a, b, home);
        buckets[p] = sum;
    } else if b.number() < plan.home(0) {
        buckets[p] = b.to_limb();
    } else {
        // The place it comes from will hold another sum.
        points.copy(b.number(), home);
        buckets[p] = b.moved(home).to_limb();
    }
}

/// Returns the magnitude and the sign of the c-bit digit that begins at bit `at` (Booth).
#[inline(always)]
pub(super) fn digit(limbs: &[u64], at: usize, c: usize) -> (usize, bool) {
    // The window and, in the lowest position, the bit below it.
    let (limb, shift) = (at / 64, at % 64);
    let word = |i: usize| limbs.get(i).copied().unwrap_or(0);
    let both = u128::from(word(limb)) | u128::from(word(limb + 1)) << 64;
    let below = if at == 0 {
        0
    } else if shift == 0 {
        word(limb - 1) >> 63
    } else {
        both as u64 >> (shift - 1) & 1
    };
    let window = (both >> shift) as usize & ((1 << c) - 1);
    let value = window + below as usize;
    if window >> (c - 1) == 1 { ((1 << c) - value, true) } else { (value, false) }
}
