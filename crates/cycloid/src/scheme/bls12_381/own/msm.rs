//! Sums of multiples by buckets, of public scalars.
//!
//! Pippenger, On the evaluation of powers and monomials, 1980, with signed digits: for each window of
//! c bits the points with the same digit are added up in a bucket, and Σ d·bucket(d) is the sum of the
//! running sums from the top. n points take ⌈256/c⌉·(n + 2^c) additions. These are complete, so that it
//! is right for any points in any order.

use core::marker::PhantomData;

use super::each::one;
use super::group::{Curve, Memory2, Memory3, export, import, import_affine, is_zero};
use crate::machine::field::{Bls12Base, Wide, WideTask};
use crate::math::bls12_381::{Field, Point};

/// Bits of a window for n points: about as many additions for the points as for the buckets.
fn window(n: usize) -> usize {
    (n.max(8).ilog2() as usize).saturating_sub(2).clamp(3, 13)
}

/// Buckets: a digit is from −2^(c − 1) to 2^(c − 1).
fn buckets(n: usize) -> usize {
    1 << (window(n) - 1)
}

/// Limbs of a point in memory.
const fn point_limbs<G: Curve>() -> usize {
    3 * size_of::<G::Memory>() / size_of::<u64>()
}

/// Limbs of scratch for n points.
pub(super) fn scratch<G: Curve>(n: usize) -> usize {
    4 * n + buckets(n) * point_limbs::<G>()
}

/// Σ kᵢ·aᵢ for 0 ≤ i < n, of any points of the curve and integers below 2²⁵⁵.
pub(super) fn sum_of_multiples<'a, G: Curve>(
    n: usize,
    point: impl Fn(usize) -> &'a Memory2<G>,
    integer: impl Fn(usize) -> [u64; 4],
    scratch: &mut [u64],
) -> Memory3<G>
where
    G::Memory: 'a,
{
    let (integers, memory) = scratch.split_at_mut(4 * n);
    let (integers, _) = integers.as_chunks_mut::<4>();
    for (i, to) in integers.iter_mut().enumerate() {
        *to = integer(i);
    }
    one(Sum::<G, _> { n, point, integers, memory, group: PhantomData })
}

struct Sum<'s, G, P> {
    n: usize,
    point: P,
    integers: &'s [[u64; 4]],
    memory: &'s mut [u64],
    group: PhantomData<G>,
}

impl<'a, G: Curve, P: Fn(usize) -> &'a Memory2<G>> WideTask<Bls12Base> for Sum<'_, G, P>
where
    G::Memory: 'a,
{
    type Output = Memory3<G>;

    fn run<A: Wide<Bls12Base>>(self, f: A) -> Memory3<G> {
        let c = window(self.n);
        let limbs = point_limbs::<G>();
        let mut sum = Point::infinity(f);
        let mut out = [[G::ZERO; 3]];
        for window in (0..256usize.div_ceil(c)).rev() {
            sum = sum.double_times(c);
            let infinity = [G::ZERO, G::ONE, G::ZERO];
            let memory = &mut self.memory[..buckets(self.n) * limbs];
            memory.chunks_exact_mut(limbs).for_each(|bucket| G::write(&infinity, bucket));
            for (i, integer) in self.integers.iter().enumerate() {
                let (digit, negative) = digit(integer, window * c, c);
                let affine = (self.point)(i);
                if digit == 0 || is_zero::<G>(affine) {
                    continue;
                }
                let bucket = &mut memory[(digit - 1) * limbs..digit * limbs];
                let mut addend = import_affine::<G, A>(f, &[*affine]);
                if negative {
                    addend.y = addend.y.negate();
                }
                let total = import::<G, A>(f, &[G::read(bucket)]).add_affine(&addend);
                export::<G, A>(&total, &mut out);
                G::write(&out[0], bucket);
            }
            let mut running = Point::infinity(f);
            for bucket in memory.chunks_exact(limbs).rev() {
                running = running.add(&import::<G, A>(f, &[G::read(bucket)]));
                sum = sum.add(&running);
            }
        }
        export::<G, A>(&sum, &mut out);
        out[0]
    }
}

/// The magnitude and the sign of the digit of c bits that begins at bit `at` (Booth).
fn digit(integer: &[u64; 4], at: usize, c: usize) -> (usize, bool) {
    // The window, and the bit below it at the bottom.
    let bit = |at: usize| integer.get(at / 64).map_or(0, |limb| limb >> (at % 64) & 1);
    let (limb, shift) = (at / 64, at % 64);
    let low = integer.get(limb).map_or(0, |limb| limb >> shift);
    let high = integer.get(limb + 1).map_or(0, |limb| limb << 1 << (63 - shift));
    let window = (low | high) & ((1 << c) - 1);
    let below = if at == 0 { 0 } else { bit(at - 1) };
    let digit = window + below;
    if window >> (c - 1) == 1 { ((1 << c) - digit as usize, true) } else { (digit as usize, false) }
}
