//! Batched additions of affine points: one inversion serves all their slopes.
//!
//! An addition of affine points takes a slope λ = (y₂ − y₁)/(x₂ − x₁), then two products and a
//! square. The denominators of many additions are inverted together (Montgomery, Speeding the
//! Pollard and elliptic curve methods of factorization, 1987, section 10.3.1), for three more
//! products each, so an addition takes 5M + 1S, half of a complete one. Over Fp2 the norms are
//! inverted together.
//!
//! Points are stored consecutively in memory in the backend's packed form and addressed by index.
//! Infinity is all zeros, which is on neither curve. Equal and opposite points and infinity are
//! handled correctly, and time depends on which points they are: all points are public.

use super::Fp;
use super::fp2::{Field, Fp2, MaskOf};
use super::point::Affine;
use crate::machine::ct::Mask;
use crate::machine::field::{Arithmetic, Bls12Base, Masks, Wide};
use crate::machine::prefetch::prefetch_vartime;
use crate::machine::words::Limb;
use crate::math::field::MAX_WIDTH;

/// A field of coordinates whose elements are stored in the backend's packed form.
pub(crate) trait Packed: Field {
    /// Loads one element for each index in `at`; an element has [`limbs`] limbs.
    fn gather(arithmetic: Self::Arithmetic, memory: &[Limb], at: &[usize]) -> Self;

    /// Stores the first `at.len()` numbers at these indices.
    fn scatter(&self, memory: &mut [Limb], at: &[usize]);

    /// Returns an element of Fp that is 0 only for 0.
    fn norm(&self) -> Fp<Self::Arithmetic>;

    /// Returns the inverse, computed from `of_norm` = 1 / [`norm`](Self::norm).
    fn inverse(&self, of_norm: &Fp<Self::Arithmetic>) -> Self;
}

impl<A: Wide<Bls12Base>> Packed for Fp<A> {
    #[inline(always)]
    fn gather(f: A, memory: &[Limb], at: &[usize]) -> Self {
        Self::from_raw(f, f.gather(memory, at))
    }

    #[inline(always)]
    fn scatter(&self, memory: &mut [Limb], at: &[usize]) {
        self.arithmetic().scatter(self.raw(), memory, at);
    }

    #[inline(always)]
    fn norm(&self) -> Self {
        *self
    }

    #[inline(always)]
    fn inverse(&self, of_norm: &Self) -> Self {
        *of_norm
    }
}

impl<A: Wide<Bls12Base>> Packed for Fp2<A> {
    #[inline(always)]
    fn gather(f: A, memory: &[Limb], at: &[usize]) -> Self {
        let upper = Places::new(at.len(), |i| at[i] + A::PACKED);
        Self::new(&Fp::gather(f, memory, at), &Fp::gather(f, memory, upper.all()))
    }

    #[inline(always)]
    fn scatter(&self, memory: &mut [Limb], at: &[usize]) {
        let upper = Places::new(at.len(), |i| at[i] + A::PACKED);
        let [c0, c1] = self.parts();
        c0.scatter(memory, at);
        c1.scatter(memory, upper.all());
    }

    #[inline(always)]
    fn norm(&self) -> Fp<A> {
        Fp2::norm(self)
    }

    #[inline(always)]
    fn inverse(&self, of_norm: &Fp<A>) -> Self {
        self.conjugate().scale(of_norm)
    }
}

/// Up to as many indices as a backend has numbers.
struct Places {
    at: [usize; MAX_WIDTH],
    count: usize,
}

impl Places {
    #[inline(always)]
    fn new(count: usize, place: impl Fn(usize) -> usize) -> Self {
        let mut at = [0; MAX_WIDTH];
        for (i, at) in at.iter_mut().enumerate().take(count) {
            *at = place(i);
        }
        Self { at, count }
    }

    #[inline(always)]
    fn all(&self) -> &[usize] {
        &self.at[..self.count]
    }
}

/// Returns the limbs of a coordinate in memory.
pub(crate) const fn limbs<F: Field>() -> usize {
    F::DEGREE * <F::Arithmetic as Wide<Bls12Base>>::PACKED
}

/// Returns the limbs of working memory for inverting `elements` elements together.
pub(crate) const fn inverses_limbs<A: Wide<Bls12Base>>(elements: usize) -> usize {
    2 * elements.next_multiple_of(A::WIDTH) * A::PACKED
}

/// Batch inversion of nonzero elements, as many at a time as the backend has numbers. Elements are
/// pushed one after the other, and their inverses are popped in the opposite order.
pub(crate) struct Inverses<'m, A: Wide<Bls12Base>> {
    /// For each element, the element and the product of all preceding ones.
    memory: &'m mut [Limb],
    product: Fp<A>,
    count: usize,
}

impl<'m, A: Wide<Bls12Base>> Inverses<'m, A> {
    /// Prepares an inversion in [`inverses_limbs`] of memory.
    pub(crate) fn new(arithmetic: A, memory: &'m mut [Limb]) -> Self {
        Self { memory, product: Fp::one(arithmetic), count: 0 }
    }

    /// Returns the number of elements that fit.
    pub(crate) fn room(&self) -> usize {
        self.memory.len() / inverses_limbs::<A>(1) * A::WIDTH
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, elements: &Fp<A>) {
        if self.count == 0 {
            self.product = Fp::one(elements.arithmetic());
        }
        let [own, before] = self.places();
        elements.scatter(self.memory, own.all());
        self.product.scatter(self.memory, before.all());
        self.product = &self.product * elements;
        self.count += 1;
    }

    /// Inverts; called after the last push and before the first pop.
    pub(crate) fn invert(&mut self) {
        self.product = self.product.invert();
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Fp<A> {
        self.count -= 1;
        let [own, before] = self.places();
        let f = self.product.arithmetic();
        let inverse = &self.product * &Fp::gather(f, self.memory, before.all());
        self.product = &self.product * &Fp::gather(f, self.memory, own.all());
        inverse
    }

    #[inline(always)]
    fn places(&self) -> [Places; 2] {
        [0, 1].map(|second| {
            let start = (2 * self.count + second) * A::WIDTH * A::PACKED;
            Places::new(A::WIDTH, |place| start + place * A::PACKED)
        })
    }
}

/// A reference to a point in memory by its number, or to its negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reference(u64);

impl Reference {
    /// A reference to no point.
    pub(crate) const NONE: Self = Self(u64::MAX);

    pub(crate) const fn new(number: usize, negative: bool) -> Self {
        Self((number as u64) << 1 | negative as u64)
    }

    /// Converts to a limb, and back.
    pub(crate) const fn to_limb(self) -> Limb {
        self.0
    }

    pub(crate) const fn from_limb(limb: Limb) -> Self {
        Self(limb)
    }

    #[inline(always)]
    pub(crate) const fn number(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Returns a reference to the copy of the point at another number, with the same sign.
    pub(crate) const fn moved(self, number: usize) -> Self {
        Self::new(number, self.is_negative())
    }

    #[inline(always)]
    const fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }
}

/// An addition: two points, and the destination of the sum.
#[derive(Clone, Copy)]
struct Addition {
    p: Reference,
    q: Reference,
    sum: usize,
}

/// The maximum number of additions in a batch.
pub(crate) const BATCH: usize = 1024;

/// Points in memory, and a queue of additions.
pub(crate) struct Points<'m, F: Packed> {
    arithmetic: F::Arithmetic,
    memory: &'m mut [Limb],
    /// The points that references mean, instead of those in memory.
    table: Option<&'m [Limb]>,
    inverses: Inverses<'m, F::Arithmetic>,
    additions: [Addition; BATCH],
    count: usize,
    batch: usize,
}

impl<'m, F: Packed> Points<'m, F> {
    /// Uses points in `memory`, and memory for the inverses of at least one addition.
    pub(crate) fn new(
        arithmetic: F::Arithmetic,
        memory: &'m mut [Limb],
        inverses: &'m mut [Limb],
    ) -> Self {
        let none = Addition { p: Reference::NONE, q: Reference::NONE, sum: 0 };
        let inverses = Inverses::new(arithmetic, inverses);
        let batch = inverses.room().min(BATCH);
        let additions = [none; BATCH];
        Self { arithmetic, memory, table: None, inverses, additions, count: 0, batch }
    }

    /// Lets references mean points of a table, or with `None` those in memory. Sums and copies are
    /// written to memory in both cases. Must not be called while additions are queued.
    pub(crate) fn read_from(&mut self, table: Option<&'m [Limb]>) {
        debug_assert!(self.count == 0);
        self.table = table;
    }

    /// Returns the limbs of the points that references mean.
    #[inline(always)]
    fn source(&self) -> &[Limb] {
        match self.table {
            Some(table) => table,
            None => self.memory,
        }
    }

    /// Limbs of a point.
    pub(crate) const LIMBS: usize = 2 * limbs::<F>();

    const WIDTH: usize = <F::Arithmetic as Arithmetic<Bls12Base>>::WIDTH;

    /// Writes points to consecutive places from `number` on, as many as the backend has numbers, or
    /// `count`.
    #[inline(always)]
    pub(crate) fn put(&mut self, number: usize, count: usize, points: &Affine<F>) {
        let at = Places::new(count.min(Self::WIDTH), |i| (number + i) * Self::LIMBS);
        self.write(points, &at);
    }

    /// Loads as many references as the backend has numbers. A reference to no point loads an
    /// arbitrary point. Must not be called while additions are queued.
    pub(crate) fn take(&self, references: &[Reference]) -> Affine<F> {
        debug_assert!(self.count == 0);
        self.read(&|place: usize| match references[place] {
            Reference::NONE => Reference::new(0, false),
            point => point,
        })
    }

    /// Copies a point.
    pub(crate) fn copy(&mut self, from: usize, to: usize) {
        let (from, to) = (from * Self::LIMBS, to * Self::LIMBS);
        match self.table {
            Some(table) => {
                self.memory[to..to + Self::LIMBS].copy_from_slice(&table[from..from + Self::LIMBS]);
            }
            None => self.memory.copy_within(from..from + Self::LIMBS, to),
        }
    }

    /// Queues point number `sum` to become p + q, at the latest with the next
    /// [`finish`](Self::finish). Until then no other addition may use `sum`, or write to p or q.
    #[inline(always)]
    pub(crate) fn add(&mut self, p: Reference, q: Reference, sum: usize) {
        if self.count == self.batch {
            self.finish();
        }
        self.additions[self.count] = Addition { p, q, sum };
        self.count += 1;
    }

    /// Runs the queued additions.
    pub(crate) fn finish(&mut self) {
        if self.count == 0 {
            return;
        }
        let groups = self.count.div_ceil(Self::WIDTH);
        for group in 0..groups {
            self.expect(group + Self::AHEAD, 0);
            self.push_group(group);
        }
        self.inverses.invert();
        for group in (0..groups).rev() {
            self.expect(group.wrapping_sub(Self::AHEAD), limbs::<F>());
            self.add_group(group);
        }
        self.count = 0;
    }

    /// Distance in groups between the group being added and the group being prefetched.
    const AHEAD: usize = MAX_WIDTH.div_ceil(Self::WIDTH);

    /// Prefetches the coordinates, at `coordinate` in a point, of a group if it exists.
    #[inline(always)]
    fn expect(&self, group: usize, coordinate: usize) {
        let start = group.saturating_mul(Self::WIDTH).min(self.count);
        for addition in self.additions[start..self.count].iter().take(Self::WIDTH) {
            for point in [addition.p, addition.q] {
                let at = point.number() * Self::LIMBS + coordinate;
                prefetch_vartime(self.source(), at, limbs::<F>());
            }
        }
    }

    /// Returns the addition at a place of a group; the last one fills missing places.
    #[inline(always)]
    fn addition(&self, group: usize, place: usize) -> &Addition {
        &self.additions[(group * Self::WIDTH + place).min(self.count - 1)]
    }

    /// Pushes the denominators of a group for inversion.
    #[inline(never)]
    fn push_group(&mut self, group: usize) {
        let f = self.arithmetic;
        f.run(
            #[inline(always)]
            || {
                let x = |which: fn(&Addition) -> Reference| {
                    let at = Places::new(Self::WIDTH, |place| {
                        which(self.addition(group, place)).number() * Self::LIMBS
                    });
                    F::gather(f, self.source(), at.all())
                };
                let difference = x(|addition| addition.q).sub(&x(|addition| addition.p));
                let norm = if self.is_special(group, &difference) {
                    Pair::new(self, group).denominator.norm()
                } else {
                    difference.norm()
                };
                self.inverses.push(&norm);
            },
        );
    }

    /// Adds the pairs of a group.
    #[inline(never)]
    fn add_group(&mut self, group: usize) {
        let f = self.arithmetic;
        f.run(
            #[inline(always)]
            || {
                let inverse = self.inverses.pop();
                let sum = Pair::new(self, group).add(&inverse);
                let count = (self.count - group * Self::WIDTH).min(Self::WIDTH);
                let at = Places::new(count, |i| self.addition(group, i).sum * Self::LIMBS);
                self.write(&sum, &at);
            },
        );
    }

    /// Returns whether a group contains equal x coordinates or points that may be infinity.
    #[inline(always)]
    fn is_special(&self, group: usize, difference: &F) -> bool {
        let zero = |point: Reference| self.source()[point.number() * Self::LIMBS] == 0;
        let candidate = (0..Self::WIDTH).any(|place| {
            let addition = self.addition(group, place);
            zero(addition.p) | zero(addition.q)
        });
        candidate || difference.is_zero().reveal_any()
    }

    /// Returns whether a point is infinity.
    fn is_infinity(&self, point: Reference) -> bool {
        let at = point.number() * Self::LIMBS;
        self.source()[at..at + Self::LIMBS].iter().all(|limb| *limb == 0)
    }

    #[inline(always)]
    fn write(&mut self, points: &Affine<F>, at: &Places) {
        points.x.scatter(self.memory, at.all());
        let upper = Places::new(at.count, |i| at.at[i] + limbs::<F>());
        points.y.scatter(self.memory, upper.all());
    }

    #[inline(always)]
    fn read(&self, reference: &impl Fn(usize) -> Reference) -> Affine<F> {
        let f = self.arithmetic;
        let at = Places::new(Self::WIDTH, |i| reference(i).number() * Self::LIMBS);
        let upper = Places::new(Self::WIDTH, |i| at.at[i] + limbs::<F>());
        let y = F::gather(f, self.source(), upper.all());
        let y = if (0..Self::WIDTH).any(|i| reference(i).is_negative()) {
            let negative = f.mask(|i| Mask::from_bit(reference(i).is_negative().into()));
            F::select(negative, &y.negate(), &y)
        } else {
            y
        };
        Affine { x: F::gather(f, self.source(), at.all()), y }
    }
}

/// Two points for each number, and the intermediate values of their sum.
struct Pair<F: Packed> {
    p: Affine<F>,
    q: Affine<F>,
    numerator: F,
    denominator: F,
    special: Option<Special<F>>,
}

/// Positions of special cases, in which the slope is a tangent's or does not exist.
struct Special<F: Packed> {
    /// p is infinity.
    p: MaskOf<F::Arithmetic>,
    /// q is infinity.
    q: MaskOf<F::Arithmetic>,
    /// p = −q; both may be infinity.
    infinity: MaskOf<F::Arithmetic>,
}

impl<F: Packed> Pair<F> {
    #[inline(always)]
    fn new(points: &Points<'_, F>, group: usize) -> Self {
        let p = points.read(&|place: usize| points.addition(group, place).p);
        let q = points.read(&|place: usize| points.addition(group, place).q);
        let (numerator, denominator) = (q.y.sub(&p.y), q.x.sub(&p.x));
        let mut pair = Self { p, q, numerator, denominator, special: None };
        if points.is_special(group, &denominator) {
            pair.specialise(points, group);
        }
        pair
    }

    /// Corrects special cases. For equal points the slope is 3x²/2y, and 2y is not 0, since no
    /// point has order two. If there is no slope, the denominator is 1.
    #[inline(never)]
    fn specialise(&mut self, points: &Points<'_, F>, group: usize) {
        let f = points.arithmetic;
        let infinity = |which: fn(&Addition) -> Reference| {
            f.mask(|place| {
                let point = which(points.addition(group, place));
                Mask::from_bit(points.is_infinity(point).into())
            })
        };
        let (p, q) = (infinity(|addition| addition.p), infinity(|addition| addition.q));
        let same_x = self.denominator.is_zero() & !p & !q;
        let same_y = self.p.y.equal(&self.q.y);
        let opposite = same_x & !same_y;
        let xx = self.p.x.square();
        let double = same_x & same_y;
        self.numerator = F::select(double, &xx.double().add(&xx), &self.numerator);
        self.denominator = F::select(double, &self.p.y.double(), &self.denominator);
        self.denominator = F::select(opposite | p | q, &F::one(f), &self.denominator);
        self.special = Some(Special { p, q, infinity: opposite | (p & q) });
    }

    #[inline(always)]
    fn add(&self, inverse_of_norm: &Fp<F::Arithmetic>) -> Affine<F> {
        let Self { p, q, numerator, denominator, special } = self;
        let slope = numerator.mul(&denominator.inverse(inverse_of_norm));
        let x = slope.square().sub(&p.x).sub(&q.x);
        let y = slope.mul(&p.x.sub(&x)).sub(&p.y);
        let mut sum = Affine { x, y };
        if let Some(special) = special {
            let zero = F::zero(x.arithmetic());
            let infinity = Affine { x: zero, y: zero };
            sum = Affine::select(special.p, q, &sum);
            sum = Affine::select(special.q, p, &sum);
            sum = Affine::select(special.infinity, &infinity, &sum);
        }
        sum
    }
}
