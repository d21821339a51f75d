//! Sums of multiples of fixed points, from a table of the points' multiples by powers of two.
//!
//! With 2^(c·w)·P in the table for every window w, the digits of all windows share one set of
//! buckets, and nothing is doubled (Brickell, Gordon, McCurley, Wilson, Fast exponentiation with
//! precomputation, 1992). The table has the backend's packed form, in which points are added, so a
//! sum converts no point. Short sums share their batches.

use core::marker::PhantomData;

use super::super::super::backend::{Group, Scalars};
use super::super::super::{Affine, Fr, Projective};
use super::super::Cycloid;
use super::super::curve::{Curve, Memory2, Memory3, import_some, to_memory3};
use super::super::each::{many, one};
use super::super::group::Double;
use super::super::shared_inversion;
use super::buckets::{digit, fold_buckets};
use super::{ALIGNMENT, MAX_WINDOW, PACKED, Plan, SORTED, add_window};
use crate::machine::field::{Bls12Base, Dense, Wide, WideTask};
use crate::machine::lanes;
use crate::math::bls12_381::{BATCH, Packed, Points, Reference, inverses_limbs};
use crate::math::field::MAX_WIDTH;

/// The form of a table: the backend that packed its points, or that for one number, and the limb
/// where they start.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableForm {
    backend: Option<lanes::Backend>,
    start: usize,
}

/// The parameters of sums of `n` multiples each.
#[derive(Clone, Copy)]
struct TablePlan {
    /// Number of points in a sum.
    n: usize,
    /// Number of windows, and of table entries per point.
    windows: usize,
    /// Number of sums computed together.
    sums: usize,
    /// The buckets of these sums; a sum takes the place of a window.
    buckets: Plan,
}

impl TablePlan {
    /// Returns the plan for sums of `n` multiples, up to `sums` of them together: the window size
    /// with the fewest additions.
    fn new(n: usize, sums: usize) -> Self {
        let windows = |c: usize| 256_usize.div_ceil(c);
        let cost = |c: &usize| windows(*c) * n + (1 << (c - 1));
        let c = (4..=MAX_WINDOW).min_by_key(cost).unwrap_or(MAX_WINDOW);
        let digits = (n * windows(c)).max(1);
        let sums = (SORTED / digits).clamp(1, sums.max(1));
        let folded = (sums * digits).min(SORTED);
        let batch = (folded / 2).clamp(64, BATCH);
        let buckets = Plan { n: 0, parts: 1, c, windows: sums, group: sums, folded, batch };
        Self { n, windows: windows(c), sums, buckets }
    }

    /// Returns the number of digits of the sums computed together.
    fn digits(&self) -> usize {
        self.sums * self.n * self.windows
    }

    /// Returns the number of points in memory: one per bucket, up to two for three folded digits,
    /// and one more.
    fn points(&self) -> usize {
        self.spare() + 1
    }

    /// Returns the index of the point that holds the sum of a bucket's later digits.
    fn spare(&self) -> usize {
        self.buckets.room() + self.buckets.folded * 2 / 3 + 1
    }

    /// Returns the limbs of scratch.
    fn scratch<G: Curve>(&self) -> usize {
        let points = self.points() * 2 * G::DEGREE * PACKED;
        let inverses = 2 * self.buckets.batch.next_multiple_of(MAX_WIDTH) * PACKED;
        ALIGNMENT + points + inverses + self.digits() + 2 * self.sums * self.buckets.buckets()
    }
}

/// Returns the limbs of a table for `points` points in sums of `size`.
pub(in super::super) fn table_limbs<G: Curve>(points: usize, size: usize) -> usize {
    ALIGNMENT + points * TablePlan::new(size, 1).windows * 2 * G::DEGREE * PACKED
}

/// Returns the limbs of scratch for sums of `size` multiples of `points` points in all.
pub(in super::super) fn scratch<G: Curve>(points: usize, size: usize) -> usize {
    TablePlan::new(size, points / size.max(1)).scratch::<G>()
}

/// Number of points whose multiples are computed together.
const PIECE: usize = 64;

/// Writes the table of the points, for sums of `size` on eight lanes, or on one number without a
/// backend.
pub(in super::super) fn prepare<G: Curve>(
    backend: Option<lanes::Backend>,
    points: &[Affine<Cycloid, G>],
    size: usize,
    table: &mut [u64],
) -> TableForm
where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    let plan = TablePlan::new(size, 1);
    let start = table.as_ptr().align_offset(ALIGNMENT * size_of::<u64>()).min(ALIGNMENT);
    let form = TableForm { backend, start };
    let mut affine = [[G::ZERO; 2]; PIECE];
    for (piece, points) in points.chunks(PIECE).enumerate() {
        let count = points.len();
        let mut multiples = [[G::ZERO; 3]; PIECE];
        for (multiple, point) in multiples.iter_mut().zip(points) {
            *multiple = to_memory3::<G>(point.raw());
        }
        for window in 0..plan.windows {
            shared_inversion::to_affine::<G>(
                count,
                |i| &multiples[i],
                |i, point| affine[i] = point,
            );
            let first = piece * PIECE * plan.windows + window;
            let pack = Pack::<G> {
                points: &affine[..count],
                table: &mut table[start..],
                first,
                step: plan.windows,
            };
            match form.backend {
                Some(backend) => Bls12Base::run_eight_wide(backend, pack),
                None => one(pack),
            }
            for _ in 0..plan.buckets.c {
                let before = multiples;
                many::<Double<G>>(&before[..count], &mut multiples[..count]);
            }
        }
    }
    form
}

/// Writes points to every `step`-th place of a table, from `first` on.
struct Pack<'a, G: Curve> {
    points: &'a [Memory2<G>],
    table: &'a mut [u64],
    first: usize,
    step: usize,
}

impl<G: Curve> WideTask<Bls12Base> for Pack<'_, G> {
    type Output = ();

    fn run<A: Wide<Bls12Base>>(self, f: A) {
        let limbs = Points::<G::Field<A>>::LIMBS;
        let n = self.points.len();
        for i in (0..n).step_by(A::WIDTH) {
            let point = import_some::<G, A>(f, i..n, &|i: usize| &self.points[i]);
            let count = A::WIDTH.min(n - i);
            let x: [usize; MAX_WIDTH] =
                core::array::from_fn(|place| (self.first + (i + place) * self.step) * limbs);
            let y = x.map(|at| at + limbs / 2);
            point.x.scatter(self.table, &x[..count]);
            point.y.scatter(self.table, &y[..count]);
        }
    }
}

/// Computes each of `sums` from the next `size` points and scalars.
pub(in super::super) fn sums_of_multiples<G: Curve>(
    form: &TableForm,
    table: &[u64],
    size: usize,
    scalars: &[Fr<Cycloid>],
    sums: &mut [Projective<Cycloid, G>],
    scratch: &mut [u64],
) where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    let plan = TablePlan::new(size, sums.len());
    let aligned = scratch.as_ptr().align_offset(ALIGNMENT * size_of::<u64>()).min(ALIGNMENT);
    let scratch = &mut scratch[aligned..];
    for (group, sums) in sums.chunks_mut(plan.sums).enumerate() {
        let task = Sums::<G> {
            plan,
            table: &table[form.start..],
            first: group * plan.sums * size,
            scalars,
            sums,
            memory: scratch,
            group: PhantomData,
        };
        match form.backend {
            Some(backend) => Bls12Base::run_eight_wide(backend, task),
            None => one(task),
        }
    }
}

/// Some sums, computed together.
struct Sums<'a, G: Curve>
where
    Cycloid: Group<G>,
{
    plan: TablePlan,
    table: &'a [u64],
    /// The first point and scalar.
    first: usize,
    scalars: &'a [Fr<Cycloid>],
    sums: &'a mut [Projective<Cycloid, G>],
    memory: &'a mut [u64],
    group: PhantomData<G>,
}

impl<G: Curve> WideTask<Bls12Base> for Sums<'_, G>
where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    type Output = ();

    fn run<A: Wide<Bls12Base>>(self, f: A) {
        let Self { plan, table, first, scalars, sums, memory, .. } = self;
        let size = plan.buckets.buckets();
        let points = plan.points() * Points::<G::Field<A>>::LIMBS;
        let (points, memory) = memory.split_at_mut(points);
        let (inverses, memory) = memory.split_at_mut(inverses_limbs::<A>(plan.buckets.batch));
        let (sorted, memory) = memory.split_at_mut(plan.digits());
        let (ends, memory) = memory.split_at_mut(sums.len() * size);
        let buckets = &mut memory[..sums.len() * size];
        sort(&plan, first, &scalars[first..first + sums.len() * plan.n], ends, sorted);
        let mut points = Points::new(f, points, inverses);
        fold_table(&mut points, table, &plan, ends, sorted, buckets);
        fold_buckets(&mut points, &plan.buckets, buckets);
        let infinity = <Cycloid as Group<G>>::identity();
        for (sum, buckets) in sums.iter_mut().zip(buckets.chunks_exact(size)) {
            *sum = Projective::from_raw(add_window::<G, A>(&points, buckets, &infinity));
        }
    }
}

/// Sorts references to table entries by sum and digit, and writes the end of each bucket to `ends`.
fn sort(
    plan: &TablePlan,
    first: usize,
    scalars: &[Fr<Cycloid>],
    ends: &mut [u64],
    sorted: &mut [u64],
) {
    let each_digit = |work: &mut dyn FnMut(usize, Reference)| {
        for (i, scalar) in scalars.iter().enumerate() {
            let integer = Cycloid::fr_to_integer(scalar.raw());
            let buckets = i / plan.n * plan.buckets.buckets();
            for window in 0..plan.windows {
                let (digit, negative) = digit(&integer, window * plan.buckets.c, plan.buckets.c);
                if digit > 0 {
                    let number = (first + i) * plan.windows + window;
                    work(buckets + digit - 1, Reference::new(number, negative));
                }
            }
        }
    };
    ends.fill(0);
    each_digit(&mut |bucket, _| ends[bucket] += 1);
    let mut sum = 0;
    for end in ends.iter_mut() {
        (*end, sum) = (sum, sum + *end);
    }
    // Turns each bucket's start into its end.
    each_digit(&mut |bucket, reference| {
        sorted[ends[bucket] as usize] = reference.to_limb();
        ends[bucket] += 1;
    });
}

/// Folds the sorted points of each bucket to one in memory and writes its reference to `buckets`.
///
/// Takes as many whole buckets at a time as there is room for. A bucket without enough room is
/// folded in pieces, each of which is added to the preceding ones.
fn fold_table<'m, F: Packed>(
    points: &mut Points<'m, F>,
    table: &'m [u64],
    plan: &TablePlan,
    ends: &[u64],
    sorted: &mut [u64],
    buckets: &mut [u64],
) {
    let total = ends.last().map_or(0, |end| *end as usize);
    buckets.fill(Reference::NONE.to_limb());
    let (mut begin, mut first) = (0, 0);
    while begin < total {
        let limit = total.min(begin + plan.buckets.folded);
        let whole = ends.partition_point(|end| *end as usize <= limit);
        let end = match whole.checked_sub(1).map(|last| ends[last] as usize) {
            Some(end) if end > begin => end,
            _ => limit,
        };
        let last = ends.partition_point(|at| (*at as usize) < end);
        // The digits of a bucket within the current piece.
        let range = |bucket: usize| {
            let start = bucket.checked_sub(1).map_or(0, |before| ends[before] as usize);
            (start.max(begin), end.min(ends[bucket] as usize))
        };
        // The first bucket may have a sum of earlier digits.
        let earlier = Reference::from_limb(buckets[first]);
        let place = |bucket: usize| match bucket == first && earlier != Reference::NONE {
            true => plan.spare(),
            false => plan.buckets.home(bucket),
        };
        let mut room = plan.buckets.room();
        for round in 0.. {
            points.read_from((round == 0).then_some(table));
            let mut done = round > 0;
            for bucket in first..=last {
                let (start, stop) = range(bucket);
                let left = stop.saturating_sub(start).div_ceil(1 << round);
                let half = left.div_ceil(2);
                for i in start..start + left - half {
                    let [p, q] = [i, i + half].map(|i| Reference::from_limb(sorted[i]));
                    let sum = match (left, round) {
                        (2, _) => place(bucket),
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
                // Later rounds read only memory.
                if round == 0 && left % 2 == 1 {
                    let to = if left == 1 { place(bucket) } else { room };
                    room += usize::from(left > 1);
                    let lone = Reference::from_limb(sorted[start + half - 1]);
                    points.copy(lone.number(), to);
                    sorted[start + half - 1] = lone.moved(to).to_limb();
                }
            }
            points.finish();
            if done {
                break;
            }
        }
        for (bucket, folded) in buckets.iter_mut().enumerate().take(last + 1).skip(first) {
            let (start, stop) = range(bucket);
            if start < stop {
                *folded = sorted[start];
            }
        }
        if earlier != Reference::NONE && range(first).0 < range(first).1 {
            let home = plan.buckets.home(first);
            points.add(earlier, Reference::from_limb(buckets[first]), home);
            points.finish();
            buckets[first] = Reference::new(home, false).to_limb();
        }
        (begin, first) = (end, last);
    }
}
