//! Sums of multiples by buckets, of public scalars.
//!
//! Pippenger, On the evaluation of powers and monomials, 1980, with signed digits: for each window of
//! c bits the points with the same digit are added up in a bucket, and Σ d·bucket(d) is the window's
//! part of the sum. All of that is additions of affine points that wait for each other in rounds only,
//! and are done in batches (`math::bls12_381::batch`):
//!
//! - The points are sorted by window and digit, and each bucket folded in half until one point is left.
//! - The buckets of a window are folded likewise. With bucket d at place d − 1, their 2^(c − 1) places
//!   are halved, the upper half added to the lower and kept; then what was kept at the places from 2^j
//!   to 2^(j + 1) − 1 sums to the points whose place has bit j, and place 0 to all of them.
//!
//! What is left is one point for each bit of the scalars, and Horner's rule. Members of the groups have
//! their scalars split by the endomorphisms, for shorter scalars of more points.

mod buckets;
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

/// Points that are sorted together, over as many windows as that takes: batches are full, and what is
/// worked on stays in the cache.
const SORTED: usize = 1 << 14;

/// The same where there is little memory.
const SORTED_SHORT: usize = 128;

/// Points of a sum with integers of any size, done in memory on the stack.
pub(super) const ANY: usize = 64;

/// Limbs of that memory, for each coefficient of a coordinate.
pub(super) const ANY_SCRATCH: usize = 4800;

/// The widest window.
const MAX_WINDOW: usize = 16;

/// How a sum is done.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// Points.
    n: usize,
    /// Parts of a scalar: points that are made of each, and scalars of theirs.
    parts: usize,
    /// Bits of a window.
    c: usize,
    /// Windows.
    windows: usize,
    /// Windows that are sorted together.
    group: usize,
    /// Digits whose buckets are folded together.
    folded: usize,
    /// Additions of a batch.
    batch: usize,
}

impl Plan {
    /// Of members of the group.
    pub(super) fn of_members<G: Curve>(n: usize) -> Self {
        Self::new(n, G::PARTS, G::PART_BITS, SORTED)
    }

    /// Of any points and integers of 256 bits, with less memory.
    pub(super) fn of_any(n: usize) -> Self {
        Self::new(n, 1, 256, SORTED_SHORT)
    }

    /// For scalars in so many parts of `bits` bits: the windows with the fewest additions, one for a
    /// point and two for a bucket, of which the first point needs none.
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

    /// Buckets of a window.
    fn buckets(&self) -> usize {
        1 << (self.c - 1)
    }

    /// Digits that are sorted together.
    fn sorted(&self) -> usize {
        self.group * self.n * self.parts
    }

    /// The number of the point in which bucket `i` of a group ends.
    fn home(&self, i: usize) -> usize {
        self.n * self.parts + i
    }

    /// The first of the points in which sums come to stand.
    fn room(&self) -> usize {
        self.home(self.group * self.buckets())
    }

    /// Points in memory.
    fn points(&self) -> usize {
        self.room() + self.folded / 2
    }

    /// Limbs of scratch.
    pub(super) fn scratch<G: Curve>(&self) -> usize {
        let points = self.points() * 2 * G::DEGREE * PACKED;
        let inverses = 2 * self.batch.next_multiple_of(MAX_WIDTH) * PACKED;
        ALIGNMENT + points + inverses + self.sorted() + 2 * self.group * self.buckets() + 4 * self.n
    }
}

/// The most limbs that a residue has in memory with any backend.
const PACKED: usize = 8;

/// Limbs of a line of the cache.
const ALIGNMENT: usize = 8;

/// Limbs of scratch for n members of the group in so many parts.
pub(super) fn scratch<G: Curve>(n: usize, parts: usize) -> usize {
    let of = |n| Plan::of_members::<G>(n).scratch::<G>();
    // Parts differ by one point at most.
    parts * of(n / parts).max(of(n.div_ceil(parts)))
}

/// Σ kᵢ·aᵢ of members of the group, in parts that may be done at the same time.
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
        // As many points for one part as for another, up to one.
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

/// Σ kᵢ·aᵢ for 0 ≤ i < n, of `integers` that are whole or [`split`], as the plan says.
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
    /// The parts of each scalar, limbs one after the other.
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
            // Infinity times anything is nothing.
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

/// The parts of a scalar below r, limbs one after the other.
fn split<G: Curve>(integer: &[u64; 4]) -> [u64; 4] {
    let parts = G::split(integer);
    let limbs = 4 / G::PARTS;
    core::array::from_fn(|i| (parts[i / limbs] >> (64 * (i % limbs))) as u64)
}

/// Puts the points with what the endomorphisms make of them for all parts of the scalars.
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
            // Of part i the endomorphism has the sign of (−1)^i.
            let y = if part % 2 == 1 { multiple.y.negate() } else { multiple.y };
            let multiple = bls12_381::Affine { x: multiple.x, y };
            points.put(part * plan.n + i, plan.n - i, &multiple);
        }
    }
}

/// 2^c·sum and what the buckets of a window sum up to.
fn add_window<G: Curve, A: Wide<Bls12Base>>(
    points: &Points<'_, G::Field<A>>,
    buckets: &[u64],
    sum: &Memory3<G>,
) -> Memory3<G> {
    let bits = buckets.len().ilog2() as usize;
    // That of the place with bit j is for bit j, and that of place 0 for bit 0.
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

/// 2^(bits + 1)·sum + Σ 2^i·P(i + 1) + P(0), without the points that are none.
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
