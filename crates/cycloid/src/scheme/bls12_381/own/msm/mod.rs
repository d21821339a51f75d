//! Multi-scalar multiplication by buckets, with public scalars.
//!
//! The method is Pippenger's (On the evaluation of powers and monomials, 1980), with signed digits:
//! in each window of c bits, the points with the same digit are added up in a bucket, and Σ
//! d·bucket(d) is the window's part of the sum. All additions are of affine points; they depend on
//! each other only from round to round, and run in batches (`math::bls12_381::batch`):
//!
//! - The points are sorted by window and digit, and each bucket is folded in half until one point
//!   is left.
//! - The buckets of a window are folded the same way. With bucket d at place d − 1, the 2^(c − 1)
//!   places are halved: the upper half is added to the lower and kept. Afterwards the points kept
//!   at places 2^j to 2^(j + 1) − 1 are summed to the sum of all points whose place has bit j, and
//!   place 0 holds the sum of all.
//!
//! The result is one point per bit of the scalars, combined by Horner's rule. Scalars of group
//! members are split by the endomorphisms into shorter scalars of more points.

mod buckets;
pub(super) mod prepared;
#[cfg(test)]
mod tests;

use core::marker::PhantomData;

use buckets::{fold_buckets, fold_points, sort};

use super::super::backend::{Group, Scalars};
use super::super::{Affine, Fr};
use super::Cycloid;
use super::curve::{
    Curve, Memory2, Memory3, export, export_affine, import, import_affine, import_some, is_zero,
};
use super::each::{fewest, one};
use super::threads::join;
use crate::machine::field::{Bls12Base, Dense, Wide, WideTask};
use crate::machine::lanes;
use crate::math::bls12_381::{
    self, BATCH, Endomorphism, Field, Point, Points, Reference, inverses_limbs,
};
use crate::math::field::MAX_WIDTH;

/// Number of points sorted together, over as many windows as fit: batches are full, and the working
/// set stays in the cache.
const SORTED: usize = 1 << 14;

/// The same for little memory.
const SORTED_SHORT: usize = 128;

/// Number of points in a sum with integers of any size, computed in stack memory.
pub(super) const ANY: usize = 64;

/// Limbs of that memory, per coefficient of a coordinate.
pub(super) const ANY_SCRATCH: usize = 4800;

/// The widest window.
const MAX_WINDOW: usize = 16;

/// The parameters of a sum.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// Number of points.
    n: usize,
    /// Parts of a scalar: the number of points and scalars derived from each input.
    parts: usize,
    /// Bits per window.
    c: usize,
    /// Number of windows.
    windows: usize,
    /// Number of windows sorted together.
    group: usize,
    /// Number of digits whose buckets are folded together.
    folded: usize,
    /// Additions per batch.
    batch: usize,
}

impl Plan {
    /// Returns the plan for members of the group.
    pub(super) fn of_members<G: Curve>(n: usize) -> Self {
        Self::new(n, G::PARTS, G::PART_BITS, SORTED)
    }

    /// Returns the plan for any points and integers of 256 bits, with less memory.
    pub(super) fn of_any(n: usize) -> Self {
        Self::new(n, 1, 256, SORTED_SHORT)
    }

    /// Returns the plan for any points and integers of `bits` bits, at most 256.
    #[cfg(feature = "internals")]
    pub(super) fn of_bits(n: usize, bits: usize) -> Self {
        Self::new(n, 1, bits, SORTED)
    }

    /// Returns the plan for scalars in `parts` parts of `bits` bits: the window size with the
    /// fewest additions, counting one per point and two per bucket, except that the first point of
    /// a bucket needs none.
    fn new(n: usize, parts: usize, bits: usize, sorted: usize) -> Self {
        let windows = |c: usize| (bits + 1).div_ceil(c);
        let cost = |c: &usize| windows(*c) * (n * parts + (1 << (c - 1)));
        let c = (2..=MAX_WINDOW).min_by_key(cost).unwrap_or(MAX_WINDOW);
        let group = (sorted / (n * parts).max(1)).clamp(1, windows(c));
        let group = windows(c).div_ceil(windows(c).div_ceil(group));
        let folded = (group * n * parts).min(sorted);
        let batch = (folded / 2).clamp(64, BATCH);
        Self { n, parts, c, windows: windows(c), group, folded, batch }
    }

    /// Returns the buckets per window.
    fn buckets(&self) -> usize {
        1 << (self.c - 1)
    }

    /// Returns the number of digits sorted together.
    fn sorted(&self) -> usize {
        self.group * self.n * self.parts
    }

    /// Returns the index of the point that will hold bucket `i` of a group.
    fn home(&self, i: usize) -> usize {
        self.n * self.parts + i
    }

    /// Returns the first index of the points that hold sums.
    fn room(&self) -> usize {
        self.home(self.group * self.buckets())
    }

    /// Returns the number of points in memory.
    fn points(&self) -> usize {
        self.room() + self.folded / 2
    }

    /// Returns the limbs of scratch.
    pub(super) fn scratch<G: Curve>(&self) -> usize {
        let points = self.points() * 2 * G::DEGREE * PACKED;
        let inverses = 2 * self.batch.next_multiple_of(MAX_WIDTH) * PACKED;
        ALIGNMENT + points + inverses + self.sorted() + 2 * self.group * self.buckets() + 4 * self.n
    }
}

/// The most limbs of a packed residue with any backend.
const PACKED: usize = 8;

/// Limbs per cache line.
const ALIGNMENT: usize = 8;

/// Returns the limbs of scratch for n members of the group in `parts` parts.
pub(super) fn scratch<G: Curve>(n: usize, parts: usize) -> usize {
    let of = |n| Plan::of_members::<G>(n).scratch::<G>();
    // Parts differ by at most one point.
    parts * of(n / parts).max(of(n.div_ceil(parts)))
}

/// Returns Σ kᵢ·aᵢ of members of the group, in parts that may run in parallel.
pub(super) fn sum_of_parts<G: Curve>(
    points: &[Affine<Cycloid, G>],
    scalars: &[Fr<Cycloid>],
    scratch: &mut [u64],
    parts: usize,
) -> Memory3<G>
where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    if parts > 1 {
        // Both halves have the same number of points, up to one.
        let left = parts / 2;
        let (first, second) = points.split_at(points.len() * left / parts);
        let (first_scalars, second_scalars) = scalars.split_at(first.len());
        let (scratch, rest) = scratch.split_at_mut(scratch.len() / parts * left);
        let (first, second) = join(
            || sum_of_parts::<G>(first, first_scalars, scratch, left),
            || sum_of_parts::<G>(second, second_scalars, rest, parts - left),
        );
        return <Cycloid as Group<G>>::add(&first, &second);
    }
    sum_of_multiples::<G>(
        Plan::of_members::<G>(points.len()),
        |i| points[i].raw(),
        |i| split::<G>(&Cycloid::fr_to_integer(scalars[i].raw())),
        scratch,
    )
}

/// Returns Σ kᵢ·aᵢ for 0 ≤ i < n, with `integers` whole or [`split`], by a plan.
pub(super) fn sum_of_multiples<'a, G: Curve>(
    plan: Plan,
    point: impl Fn(usize) -> &'a Memory2<G>,
    integer: impl Fn(usize) -> [u64; 4],
    scratch: &mut [u64],
) -> Memory3<G>
where
    G::Memory: 'a,
{
    let n = plan.n;
    let sum = Sum::<G, _>::new(plan, point, integer, scratch);
    match lanes::Backend::best() {
        Some(backend) if n >= fewest(backend) => Bls12Base::run_eight_wide(backend, sum),
        _ => one(sum),
    }
}

struct Sum<'s, G, P> {
    plan: Plan,
    point: P,
    /// The parts of each scalar, as consecutive limbs.
    integers: &'s [[u64; 4]],
    memory: &'s mut [u64],
    group: PhantomData<G>,
}

impl<'a, 's, G: Curve, P: Fn(usize) -> &'a Memory2<G>> Sum<'s, G, P>
where
    G::Memory: 'a,
{
    fn new(
        plan: Plan,
        point: P,
        integer: impl Fn(usize) -> [u64; 4],
        scratch: &'s mut [u64],
    ) -> Self {
        let aligned = scratch.as_ptr().align_offset(ALIGNMENT * size_of::<u64>());
        let memory = scratch.split_at_mut(aligned).1;
        let (memory, integers) = memory.split_at_mut(memory.len() - 4 * plan.n);
        let (integers, _) = integers.as_chunks_mut::<4>();
        for (i, to) in integers.iter_mut().enumerate() {
            // Multiples of infinity are skipped.
            *to = if is_zero::<G>(point(i)) { [0; 4] } else { integer(i) };
        }
        Self { plan, point, integers, memory, group: PhantomData }
    }
}

impl<'a, G: Curve, P: Fn(usize) -> &'a Memory2<G>> WideTask<Bls12Base> for Sum<'_, G, P>
where
    G::Memory: 'a,
{
    type Output = Memory3<G>;

    fn run<A: Wide<Bls12Base>>(self, f: A) -> Memory3<G> {
        let Self { plan, point, integers, memory, .. } = self;
        let infinity = [G::ZERO, G::ONE, G::ZERO];
        if plan.n == 0 {
            return infinity;
        }
        let (points, memory) = memory.split_at_mut(plan.points() * Points::<G::Field<A>>::LIMBS);
        let (inverses, memory) = memory.split_at_mut(inverses_limbs::<A>(plan.batch));
        let (sorted, memory) = memory.split_at_mut(plan.sorted());
        let (ends, memory) = memory.split_at_mut(plan.group * plan.buckets());
        let buckets = &mut memory[..plan.group * plan.buckets()];
        let mut points = Points::new(f, points, inverses);
        put_multiples::<G, A>(f, &mut points, &plan, point);
        let (mut windows, mut sum) = (plan.windows, infinity);
        while windows > 0 {
            let first = windows.saturating_sub(plan.group);
            let count = windows - first;
            let ends = &mut ends[..count * plan.buckets()];
            let buckets = &mut buckets[..count * plan.buckets()];
            sort(&plan, integers, first, ends, sorted);
            fold_points(&mut points, &plan, ends, sorted, buckets);
            fold_buckets(&mut points, &plan, buckets);
            for window in buckets.chunks_exact(plan.buckets()).rev() {
                sum = add_window::<G, A>(&points, window, &sum);
            }
            windows = first;
        }
        sum
    }
}

/// Splits a scalar below r; returns the parts as consecutive limbs.
fn split<G: Curve>(integer: &[u64; 4]) -> [u64; 4] {
    let parts = G::split(integer);
    let limbs = 4 / G::PARTS;
    core::array::from_fn(|i| (parts[i / limbs] >> (64 * (i % limbs))) as u64)
}

/// Writes the points and their images under the endomorphisms for all parts of the scalars.
fn put_multiples<'a, G: Curve, A: Wide<Bls12Base>>(
    f: A,
    points: &mut Points<'_, G::Field<A>>,
    plan: &Plan,
    point: impl Fn(usize) -> &'a Memory2<G>,
) where
    G::Memory: 'a,
{
    for i in (0..plan.n).step_by(A::WIDTH) {
        let affine = import_some::<G, A>(f, i..plan.n, &point);
        points.put(i, plan.n - i, &affine);
        for part in 1..plan.parts {
            let multiple = G::Field::<A>::endomorphism(&affine.to_point(), part);
            // The endomorphism of part i has the sign (−1)^i.
            let y = if part % 2 == 1 { multiple.y.negate() } else { multiple.y };
            let multiple = bls12_381::Affine { x: multiple.x, y };
            points.put(part * plan.n + i, plan.n - i, &multiple);
        }
    }
}

/// Returns 2^c·sum plus the sum of a window's buckets.
fn add_window<G: Curve, A: Wide<Bls12Base>>(
    points: &Points<'_, G::Field<A>>,
    buckets: &[u64],
    sum: &Memory3<G>,
) -> Memory3<G> {
    let bits = buckets.len().ilog2() as usize;
    // Place 2^j belongs to bit j, and place 0 to bit 0.
    let places = core::iter::once(0).chain((0..bits).map(|log| 1 << log));
    let mut affine = [[G::ZERO; 2]; 2 * MAX_WIDTH];
    let mut references = [Reference::NONE; 2 * MAX_WIDTH];
    for (reference, place) in references.iter_mut().zip(places) {
        *reference = Reference::from_limb(buckets[place]);
    }
    for (affine, references) in
        affine.chunks_exact_mut(A::WIDTH).zip(references.chunks_exact(A::WIDTH))
    {
        if references.iter().any(|reference| *reference != Reference::NONE) {
            export_affine::<G, A>(&points.take(references), affine);
        }
    }
    one(Horner::<G> { sum, bits, affine: &affine, references: &references })
}

/// Computes 2^(bits + 1)·sum + Σ 2^i·P(i + 1) + P(0), skipping missing points.
struct Horner<'a, G: Curve> {
    sum: &'a Memory3<G>,
    bits: usize,
    affine: &'a [Memory2<G>],
    references: &'a [Reference],
}

impl<G: Curve> WideTask<Bls12Base> for Horner<'_, G> {
    type Output = Memory3<G>;

    fn run<A: Wide<Bls12Base>>(self, f: A) -> Memory3<G> {
        let mut sum = import::<G, A>(f, core::slice::from_ref(self.sum));
        let add = |sum: &mut Point<G::Field<A>>, i: usize| {
            if self.references[i] != Reference::NONE && !is_zero::<G>(&self.affine[i]) {
                *sum = sum.add_affine(&import_affine::<G, A>(f, &[self.affine[i]]));
            }
        };
        sum = sum.double();
        for i in (1..=self.bits).rev() {
            sum = sum.double();
            add(&mut sum, i);
        }
        add(&mut sum, 0);
        let mut out = [[G::ZERO; 3]];
        export::<G, A>(&sum, &mut out);
        out[0]
    }
}
