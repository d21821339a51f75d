//! Multiples and sums of multiples for every point of a curve, in the memory of a few points: the
//! defaults for a backend without its own implementation.

use super::backend::{Group, Integer, SourceGroup};

/// Bits of a window; a sum takes n · 256/5 additions plus 2·31 per window.
const WINDOW: usize = 5;

/// Returns k·a by doubling and adding.
pub(super) fn multiply_integer<B: Group<G>, G: SourceGroup>(
    a: &B::Projective,
    k: &[u64],
) -> B::Projective {
    let mut multiple = B::identity();
    for limb in k.iter().rev() {
        for bit in (0..u64::BITS).rev() {
            multiple = B::double(&multiple);
            if limb >> bit & 1 == 1 {
                multiple = B::add(&multiple, a);
            }
        }
    }
    multiple
}

/// Returns Σ kᵢ·aᵢ for 0 ≤ i < n by buckets (Pippenger), with complete additions only.
pub(super) fn by_buckets<'a, B: Group<G>, G: SourceGroup>(
    n: usize,
    point: impl Fn(usize) -> &'a B::Affine,
    integer: impl Fn(usize) -> Integer,
) -> B::Projective
where
    B::Affine: 'a,
{
    let mut sum = B::identity();
    if n == 0 {
        return sum;
    }
    for window in (0..256_usize.div_ceil(WINDOW)).rev() {
        for _ in 0..WINDOW {
            sum = B::double(&sum);
        }
        // Bucket d − 1 sums the points with the digit d.
        let mut buckets = [B::identity(); (1 << WINDOW) - 1];
        for i in 0..n {
            let digit = digit(&integer(i), window * WINDOW);
            if digit != 0 {
                buckets[digit - 1] = B::add_affine(&buckets[digit - 1], point(i));
            }
        }
        // Σ d·bucket(d) is the sum of the running sums from the top.
        let mut running = B::identity();
        for bucket in buckets.iter().rev() {
            running = B::add(&running, bucket);
            sum = B::add(&sum, &running);
        }
    }
    sum
}

/// Returns the window of an integer that begins at `bit`.
fn digit(integer: &Integer, bit: usize) -> usize {
    let (limb, shift) = (bit / 64, bit % 64);
    let next = integer.get(limb + 1).copied().unwrap_or(0);
    let both = u128::from(next) << 64 | u128::from(integer[limb]);
    (both >> shift) as usize & ((1 << WINDOW) - 1)
}
