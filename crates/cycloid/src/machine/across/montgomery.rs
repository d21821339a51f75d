//! Montgomery multiplication from its steps: one number, or two whose steps alternate.

use core::marker::PhantomData;

use super::super::lanes::vector::Vectors;
use super::super::lanes::{LANES, Lanes};
use super::super::words::Limb;
use super::kernel::{into_factors, windows};
use super::product::{self, Carried, Reduction};
use super::vector::{DigitVectors, Tiles};
use super::{Modulus, montgomery_work, padding, square, vectors};

/// The steps that go through the vectors of a number in tiles; `product` says what each does.
pub(super) trait Steps: Copy {
    type Vectors: DigitVectors;

    /// Digits of a number.
    fn n(self) -> usize;

    fn low(
        self,
        v: Self::Vectors,
        digits: &mut [Lanes],
        carried: &mut Carried,
        rows: &[Limb],
        windows: &[Lanes],
    );

    fn high(
        self,
        v: Self::Vectors,
        columns: &mut [Lanes],
        high: &Lanes,
        rows: &[Limb],
        windows: &[Lanes],
    );

    fn reduce(
        self,
        v: Self::Vectors,
        result: &mut [Lanes],
        columns: &[Lanes],
        carried: &Carried,
        quotient: &[Limb],
        windows: &[Lanes],
    );
}

/// Numbers of N digits in W vectors, all of which stand in registers. Everything is inlined, and
/// no address is computed and no loop counted at run time.
#[derive(Clone, Copy)]
pub(super) struct OneTile<V, const N: usize, const W: usize>(PhantomData<V>);

impl<V, const N: usize, const W: usize> OneTile<V, N, W> {
    pub(super) const STEPS: Self = {
        assert!(W == vectors(N));
        Self(PhantomData)
    };
}

impl<V: DigitVectors, const N: usize, const W: usize> Steps for OneTile<V, N, W> {
    type Vectors = V;

    #[inline(always)]
    fn n(self) -> usize {
        N
    }

    #[inline(always)]
    fn low(
        self,
        v: V,
        digits: &mut [Lanes],
        carried: &mut Carried,
        rows: &[Limb],
        windows: &[Lanes],
    ) {
        product::low::<_, W>(v, digits, 0, carried, rows, windows);
    }

    #[inline(always)]
    fn high(self, v: V, columns: &mut [Lanes], high: &Lanes, rows: &[Limb], windows: &[Lanes]) {
        product::high::<_, W>(v, columns, 0, &mut { *high }, rows, windows);
    }

    #[inline(always)]
    fn reduce(
        self,
        v: V,
        result: &mut [Lanes],
        columns: &[Lanes],
        carried: &Carried,
        quotient: &[Limb],
        windows: &[Lanes],
    ) {
        let state = &mut { Reduction::START };
        product::reduce::<_, W>(v, result, columns, 0, carried, state, quotient, windows);
    }
}

/// Numbers of any other length, in tiles as equal as can be, each a call.
#[derive(Clone, Copy)]
pub(super) struct ManyTiles<V> {
    pub(super) n: usize,
    pub(super) backend: PhantomData<V>,
}

impl<V: Tiles> ManyTiles<V> {
    /// The first vectors and the widths of the tiles.
    #[inline(always)]
    fn tiles(self) -> impl Iterator<Item = (usize, usize)> {
        let vectors = vectors(self.n);
        let count = vectors.div_ceil(V::MAX_TILE);
        let mut next = 0;
        (0..count).map(move |i| {
            let (tile, width) = (next, (vectors + i) / count);
            next += width;
            (tile, width)
        })
    }
}

impl<V: Tiles> Steps for ManyTiles<V> {
    type Vectors = V;

    #[inline(always)]
    fn n(self) -> usize {
        self.n
    }

    #[inline(always)]
    fn low(
        self,
        v: V,
        digits: &mut [Lanes],
        carried: &mut Carried,
        rows: &[Limb],
        windows: &[Lanes],
    ) {
        for (tile, width) in self.tiles() {
            v.low_tile(width, &mut digits[tile..][..width], tile, carried, rows, windows);
        }
    }

    #[inline(always)]
    fn high(self, v: V, columns: &mut [Lanes], high: &Lanes, rows: &[Limb], windows: &[Lanes]) {
        let mut high = *high;
        for (tile, width) in self.tiles() {
            let columns = &mut columns[tile..][..width];
            v.high_tile(width, columns, tile, &mut high, rows, windows);
        }
    }

    #[inline(always)]
    fn reduce(
        self,
        v: V,
        result: &mut [Lanes],
        columns: &[Lanes],
        carried: &Carried,
        quotient: &[Limb],
        windows: &[Lanes],
    ) {
        let state = &mut { Reduction::START };
        for (tile, width) in self.tiles() {
            v.reduce_tile(width, result, columns, tile, carried, state, quotient, windows);
        }
    }
}

#[inline(always)]
pub(super) fn multiply<S: Steps>(
    steps: S,
    accumulator: &mut [Lanes],
    by: &[Lanes],
    work: &mut [Lanes],
    modulus: &Modulus<'_, S::Vectors>,
) {
    let mut product = Product::new(steps, work, modulus);
    product.multiply_low(accumulator, by);
    product.multiply_high(by);
    product.quotient();
    product.reduce(accumulator);
}

#[inline(always)]
pub(super) fn square<S: Steps>(
    steps: S,
    accumulator: &mut [Lanes],
    work: &mut [Lanes],
    modulus: &Modulus<'_, S::Vectors>,
) {
    let mut product = Product::new(steps, work, modulus);
    product.square_low(accumulator);
    product.square_high();
    product.quotient();
    product.reduce(accumulator);
}

#[inline(always)]
pub(super) fn multiply_pair<S: Steps>(
    steps: S,
    accumulators: [&mut [Lanes]; 2],
    by: [&[Lanes]; 2],
    work: &mut [Lanes],
    moduli: [&Modulus<'_, S::Vectors>; 2],
) {
    let [mut first, mut second] = Product::pair(steps, work, moduli);
    let [a, b] = accumulators;
    first.multiply_low(a, by[0]);
    second.multiply_low(b, by[1]);
    first.multiply_high(by[0]);
    second.multiply_high(by[1]);
    first.quotient();
    second.quotient();
    first.reduce(a);
    second.reduce(b);
}

#[inline(always)]
pub(super) fn square_pair<S: Steps>(
    steps: S,
    accumulators: [&mut [Lanes]; 2],
    work: &mut [Lanes],
    moduli: [&Modulus<'_, S::Vectors>; 2],
) {
    let [mut first, mut second] = Product::pair(steps, work, moduli);
    let [a, b] = accumulators;
    first.square_low(a);
    second.square_low(b);
    first.square_high();
    second.square_high();
    first.quotient();
    second.quotient();
    first.reduce(a);
    second.reduce(b);
}

/// A product on its way: the memory of its steps.
struct Product<'a, S: Steps> {
    steps: S,
    v: S::Vectors,
    /// Of the modulus.
    modulus: &'a [Lanes],
    /// Of −1 / modulus.
    inverse: &'a [Lanes],
    /// Of the one factor.
    windows: &'a mut [Lanes],
    /// Digits of the other in the form in which a backend multiplies.
    factors: &'a mut [Lanes],
    /// The low part of the product.
    low: &'a mut [Lanes],
    carried: Carried,
    /// The high part of the product.
    high: &'a mut [Lanes],
    quotient: &'a mut [Lanes],
}

impl<'a, S: Steps> Product<'a, S> {
    #[inline(always)]
    fn new(steps: S, work: &'a mut [Lanes], modulus: &'a Modulus<'a, S::Vectors>) -> Self {
        let n = steps.n();
        let vectors = vectors(n);
        let (windows, rest) = work[..montgomery_work(n)].split_at_mut(LANES * (vectors + 1));
        let (factors, rest) = rest.split_at_mut(vectors);
        let (low, rest) = rest.split_at_mut(vectors);
        let (high, quotient) = rest.split_at_mut(vectors);
        Self {
            steps,
            v: modulus.backend,
            modulus: &modulus.windows[..n + 1],
            inverse: &modulus.inverse[..n],
            windows,
            factors,
            low,
            carried: Carried::NOTHING,
            high,
            quotient,
        }
    }

    #[inline(always)]
    fn pair(
        steps: S,
        work: &'a mut [Lanes],
        moduli: [&'a Modulus<'a, S::Vectors>; 2],
    ) -> [Self; 2] {
        let [first, second] = moduli;
        let work = work.split_at_mut(montgomery_work(steps.n()));
        [Self::new(steps, work.0, first), Self::new(steps, work.1, second)]
    }

    #[inline(always)]
    fn multiply_low(&mut self, a: &[Lanes], b: &[Lanes]) {
        let vectors = self.low.len();
        windows(self.v, self.windows, self.factors, &a[..vectors]);
        let b = &b[..vectors];
        let by = if S::Vectors::CONVERTS { into_factors(self.v, self.factors, b) } else { b };
        let rows = &Lanes::as_limbs(by)[..self.steps.n()];
        self.steps.low(self.v, self.low, &mut self.carried, rows, self.windows);
    }

    #[inline(always)]
    fn multiply_high(&mut self, b: &[Lanes]) {
        let by = if S::Vectors::CONVERTS { &*self.factors } else { b };
        let rows = &Lanes::as_limbs(by)[..self.steps.n()];
        self.steps.high(self.v, self.high, &self.carried.high, rows, self.windows);
    }

    #[inline(always)]
    fn square_low(&mut self, a: &[Lanes]) {
        let vectors = self.low.len();
        windows(self.v, self.windows, self.factors, &a[..vectors]);
        square::low(self.v, self.low, &mut self.carried, self.steps.n(), self.windows);
    }

    #[inline(always)]
    fn square_high(&mut self) {
        square::high(self.v, self.high, &self.carried.high, self.steps.n(), self.windows);
    }

    /// q = (T mod R) · m' mod R.
    #[inline(always)]
    fn quotient(&mut self) {
        let low = &Lanes::as_limbs(self.low)[padding(self.steps.n())..];
        // What is carried beyond the low part is a multiple of R.
        let ignored = &mut { Carried::NOTHING };
        self.steps.low(self.v, self.quotient, ignored, low, self.inverse);
    }

    /// `result` = (T + q·m) / R.
    #[inline(always)]
    fn reduce(&self, result: &mut [Lanes]) {
        let quotient = &Lanes::as_limbs(self.quotient)[padding(self.steps.n())..];
        let result = &mut result[..self.high.len()];
        self.steps.reduce(self.v, result, self.high, &self.carried, quotient, self.modulus);
    }
}
