//! Multiples of one point on vectors.
//!
//! A vector holds two points: x, y and z in the lanes 0 to 2, and those of the second in the lanes 4
//! to 6. Each point has half of the parts of the scalar (see
//! [`multiply`](super::super::multiply::multiply)). Both are doubled and added at once, by complete
//! formulas (Renes, Costello, Batina, Complete addition formulas for prime order elliptic curves,
//! 2016, algorithms 7 and 9) with two rounds of products. So time does not depend on the scalar.

use super::super::constants::{self, BETA, PSI_X, PSI_Y, PSI2_X};
use super::super::multiply::digit;
use super::super::{Words, montgomery, x_bits};
use super::{ALL, Pairs, Sum, TwelveDifference, TwelveSum, combinations, factor_of_two};
use crate::machine::ct::Mask;
use crate::machine::field::{Arithmetic, Bls12Base, Combination, NONE, Order, Spread, Term};
use crate::machine::lanes::LANES;

/// No lane.
const __: u8 = NONE;

/// Returns the same lanes of both points; a lane from 8 on is of a second vector.
const fn both(lanes: [u8; 4]) -> [u8; LANES] {
    let mut all = [__; LANES];
    let mut i = 0;
    while i < 4 {
        all[i] = lanes[i];
        if lanes[i] != __ {
            all[4 + i] = lanes[i] + 4;
        }
        i += 1;
    }
    all
}

/// Returns the order of the lanes of both points.
const fn order(left: [u8; 4], right: [u8; 4]) -> Order {
    Order::new(both(left), both(right))
}

/// y², y·z, z², x·y.
const DOUBLE: [Order; 1] = [order([1, 1, 2, 0], [1, 2, 2, 1])];

/// Products lane by lane.
const EACH: [Order; 1] = [Order::new(ALL, ALL)];

/// x, y, z of a sum from [`AddLeft`], and [`AddRight`] in the lanes from 8 on.
const ADD: [Order; 2] = [order([0, 1, 2, 3], [1, 2, 3, 3]), order([3, 8, 9, 3], [10, 9, 0, 3])];

combinations! {
    /// Twelve times a vector.
    Twelve<1>: [Term::new(12, 0, ALL)];

    /// 3b·z², y·z, y² − 9b·z² twice, from the products (vector 0), and these times 3b.
    DoubleLeft<2>: [
        Term::of_two(1, [0, 1], both([10, 1, 0, 0])),
        Term::new(-3, 1, both([__, __, 2, 2])),
    ];

    /// 8y² twice, y² + 3b·z², 2x·y.
    DoubleRight<2>: [
        Term::new(8, 0, both([0, 0, __, __])),
        Term::new(1, 0, both([__, __, 0, __])),
        Term::new(1, 1, both([__, __, 2, __])),
        Term::new(2, 0, both([__, __, __, 3])),
    ];

    /// x, y, z from the second products.
    Doubled<1>: [
        Term::new(1, 0, both([3, 0, 1, __])),
        Term::new(1, 0, both([__, 2, __, __])),
    ];

    /// x + y, y + z, x + z.
    Sums<1>: [Term::new(1, 0, both([0, 1, 0, __])), Term::new(1, 0, both([1, 2, 2, __]))];

    /// x₁·z₂ + x₂·z₁ and z₁·z₂ in the lanes 0 and 2, from the products of the coordinates (vector
    /// 0) and of the sums.
    Cross<2>: [
        Term::of_two(1, [0, 1], both([10, __, 2, __])),
        Term::new(-1, 0, both([0, __, __, __])),
        Term::new(-1, 0, both([2, __, __, __])),
    ];

    /// x₁·y₂ + x₂·y₁, y₁·y₂ − 3b·z₁·z₂, y₁·y₂ + 3b·z₁·z₂, y₁·z₂ + y₂·z₁; vector 2 is 3b times
    /// [`Cross`].
    AddLeft<3>: [
        Term::of_two(1, [0, 1], both([8, 1, 1, 9])),
        Term::new(-1, 0, both([0, __, __, 1])),
        Term::new(-1, 0, both([1, __, __, 2])),
        Term::new(-1, 2, both([__, 2, __, __])),
        Term::new(1, 2, both([__, __, 2, __])),
    ];

    /// 3b·(x₁·z₂ + x₂·z₁), 3x₁·x₂, and the negative of the first; vector 1 is 3b times [`Cross`].
    AddRight<2>: [
        Term::new(1, 1, both([0, __, __, __])),
        Term::new(3, 0, both([__, 0, __, __])),
        Term::new(-1, 1, both([__, __, 0, __])),
    ];

    /// The second point in place of the first.
    Second<1>: [Term::new(1, 0, [4, 5, 6, __, __, __, __, __])];

    /// A vector.
    Same<1>: [Term::new(1, 0, ALL)];

    /// A vector with negative lanes.
    Negative<1>: [Term::new(-1, 0, ALL)];

    /// The conjugate of the second point's imaginary parts.
    ConjugateSecond<1>: [
        Term::new(1, 0, [0, 1, 2, __, __, __, __, __]),
        Term::new(-1, 0, [__, __, __, __, 4, 5, 6, __]),
    ];
}

/// Coordinates of two points side by side, in Fp or Fp2.
pub(crate) trait Coordinates: Copy {
    /// The backend.
    type Arithmetic: Spread;

    /// A coordinate in memory.
    type Memory: Copy;

    /// Vectors of a table's entry.
    const VECTORS: usize;

    /// Parts of a scalar.
    const PARTS: usize;

    /// Bits of a part.
    const BITS: usize;

    /// 0, 1 and −1.
    const SMALL: [Self::Memory; 3];

    fn import(f: Self::Arithmetic, memory: &[Self::Memory; LANES]) -> Self;
    fn export(&self, f: Self::Arithmetic) -> [Self::Memory; LANES];
    fn read(
        f: Self::Arithmetic,
        raw: &[<Self::Arithmetic as Arithmetic<Bls12Base>>::Element],
    ) -> Self;
    fn write(&self, raw: &mut [<Self::Arithmetic as Arithmetic<Bls12Base>>::Element]);

    /// Returns a sum of products.
    fn products(f: Self::Arithmetic, left: [&Self; 2], right: [&Self; 2], orders: &[Order])
    -> Self;

    /// Returns a combination of coefficients, as factors.
    fn factors<C: Combination<N>, const N: usize>(f: Self::Arithmetic, of: [&Self; N]) -> Self;

    /// Returns a combination of coefficients, as coefficients.
    fn combine<C: Combination<N>, const N: usize>(f: Self::Arithmetic, of: [&Self; N]) -> Self;

    /// Returns coefficients times 3b, as coefficients.
    fn times_3b(&self, f: Self::Arithmetic) -> Self;

    /// Returns a in the lanes where `mask` is true, b in the others.
    fn select(
        f: Self::Arithmetic,
        mask: <Self::Arithmetic as Arithmetic<Bls12Base>>::Mask,
        a: &Self,
        b: &Self,
    ) -> Self;

    /// Applies the endomorphism that multiplies by −s, and a negation, to the second point.
    fn endomorphism_of_second(&self, f: Self::Arithmetic) -> Self;

    /// Applies the endomorphism twice to both points.
    fn endomorphism_twice(&self, f: Self::Arithmetic) -> Self;
}

/// Coordinates in Fp.
#[derive(Clone, Copy)]
pub(crate) struct OfFp<A: Spread>(A, A::Element);

/// Coordinates in Fp2.
#[derive(Clone, Copy)]
pub(crate) struct OfFp2<A: Spread> {
    pairs: Pairs<A>,
    sums: A::Element,
}

/// Returns x, y and z of a diagonal matrix for each of the points.
fn diagonal<F: Coordinates>(f: F::Arithmetic, first: [F::Memory; 2], second: [F::Memory; 2]) -> F {
    let [zero, one, _] = F::SMALL;
    F::import(f, &[first[0], first[1], one, zero, second[0], second[1], one, zero])
}

/// −1.
const MINUS_ONE: Words = montgomery(
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaaa",
);

impl<A: Spread> Coordinates for OfFp<A> {
    type Arithmetic = A;
    type Memory = Words;
    const VECTORS: usize = 1;
    const PARTS: usize = 2;
    const BITS: usize = 128;
    const SMALL: [Words; 3] = [[0; 6], constants::ONE, MINUS_ONE];

    fn import(f: A, memory: &[Words; LANES]) -> Self {
        Self(f, f.import(memory))
    }

    fn export(&self, f: A) -> [Words; LANES] {
        let mut words = [[0; 6]; LANES];
        f.export(&self.1, &mut words);
        words
    }

    fn read(f: A, raw: &[A::Element]) -> Self {
        Self(f, raw[0])
    }

    fn write(&self, raw: &mut [A::Element]) {
        raw[0] = self.1;
    }

    #[inline(always)]
    fn products(f: A, left: [&Self; 2], right: [&Self; 2], orders: &[Order]) -> Self {
        let [left, right] = [left, right].map(|of| of.map(|of| &of.1));
        Self(f, f.reduced_lane_products(left, right, orders))
    }

    #[inline(always)]
    fn factors<C: Combination<N>, const N: usize>(f: A, of: [&Self; N]) -> Self {
        Self(f, f.factors::<C, N>(of.map(|of| &of.1)))
    }

    #[inline(always)]
    fn combine<C: Combination<N>, const N: usize>(f: A, of: [&Self; N]) -> Self {
        Self(f, f.combine::<C, N>(of.map(|of| &of.1)))
    }

    #[inline(always)]
    fn times_3b(&self, f: A) -> Self {
        Self(f, f.combine::<Twelve, 1>([&self.1]))
    }

    fn select(f: A, mask: A::Mask, a: &Self, b: &Self) -> Self {
        Self(f, f.select(mask, &a.1, &b.1))
    }

    fn endomorphism_of_second(&self, f: A) -> Self {
        let [_, one, minus] = Self::SMALL;
        let by = diagonal::<Self>(f, [one, one], [BETA, minus]);
        Self::products(f, [self; 2], [&by; 2], &EACH)
    }

    fn endomorphism_twice(&self, _f: A) -> Self {
        unreachable!("a scalar has two parts")
    }
}

impl<A: Spread> OfFp2<A> {
    #[inline(always)]
    fn new(f: A, real: A::Element, imaginary: A::Element) -> Self {
        let sums = f.factors::<Sum, 2>([&real, &imaginary]);
        Self { pairs: Pairs { real, imaginary }, sums }
    }
}

impl<A: Spread> Coordinates for OfFp2<A> {
    type Arithmetic = A;
    type Memory = [Words; 2];
    const VECTORS: usize = 2;
    const PARTS: usize = 4;
    const BITS: usize = 64;
    const SMALL: [[Words; 2]; 3] = [[[0; 6]; 2], [constants::ONE, [0; 6]], [MINUS_ONE, [0; 6]]];

    fn import(f: A, memory: &[[Words; 2]; LANES]) -> Self {
        let part = |i: usize| f.import(&memory.map(|pair| pair[i]));
        Self::new(f, part(0), part(1))
    }

    fn export(&self, f: A) -> [[Words; 2]; LANES] {
        let (mut real, mut imaginary) = ([[0; 6]; LANES], [[0; 6]; LANES]);
        f.export(&self.pairs.real, &mut real);
        f.export(&self.pairs.imaginary, &mut imaginary);
        core::array::from_fn(|lane| [real[lane], imaginary[lane]])
    }

    fn read(f: A, raw: &[A::Element]) -> Self {
        Self::new(f, raw[0], raw[1])
    }

    fn write(&self, raw: &mut [A::Element]) {
        (raw[0], raw[1]) = (self.pairs.real, self.pairs.imaginary);
    }

    #[inline(always)]
    fn products(f: A, left: [&Self; 2], right: [&Self; 2], orders: &[Order]) -> Self {
        let [left, right] =
            [left, right].map(|[a, b]| factor_of_two([&a.pairs, &b.pairs], [&a.sums, &b.sums]));
        let Pairs { real, imaginary } = Pairs::sum_of_products(f, &left, &right, orders);
        Self::new(f, real, imaginary)
    }

    #[inline(always)]
    fn factors<C: Combination<N>, const N: usize>(f: A, of: [&Self; N]) -> Self {
        let real = f.factors::<C, N>(of.map(|of| &of.pairs.real));
        let imaginary = f.factors::<C, N>(of.map(|of| &of.pairs.imaginary));
        Self::new(f, real, imaginary)
    }

    #[inline(always)]
    fn combine<C: Combination<N>, const N: usize>(f: A, of: [&Self; N]) -> Self {
        let real = f.combine::<C, N>(of.map(|of| &of.pairs.real));
        let imaginary = f.combine::<C, N>(of.map(|of| &of.pairs.imaginary));
        Self::new(f, real, imaginary)
    }

    /// 3b is 12·(1 + u).
    #[inline(always)]
    fn times_3b(&self, f: A) -> Self {
        let parts = [&self.pairs.real, &self.pairs.imaginary];
        let real = f.combine::<TwelveDifference, 2>(parts);
        Self::new(f, real, f.combine::<TwelveSum, 2>(parts))
    }

    fn select(f: A, mask: A::Mask, a: &Self, b: &Self) -> Self {
        let real = f.select(mask, &a.pairs.real, &b.pairs.real);
        Self::new(f, real, f.select(mask, &a.pairs.imaginary, &b.pairs.imaginary))
    }

    fn endomorphism_of_second(&self, f: A) -> Self {
        let imaginary = f.combine::<ConjugateSecond, 1>([&self.pairs.imaginary]);
        let conjugate = Self::new(f, self.pairs.real, imaginary);
        let [_, one, minus] = Self::SMALL;
        let by = diagonal::<Self>(f, [one, one], [PSI_X, PSI_Y]);
        let minus = diagonal::<Self>(f, [one, one], [one, minus]);
        let by = Self::products(f, [&by; 2], [&minus; 2], &EACH);
        Self::products(f, [&conjugate; 2], [&by; 2], &EACH)
    }

    fn endomorphism_twice(&self, f: A) -> Self {
        let x = [PSI2_X, [0; 6]];
        let [.., minus] = Self::SMALL;
        let by = diagonal::<Self>(f, [x, minus], [x, minus]);
        Self::products(f, [self; 2], [&by; 2], &EACH)
    }
}

/// Doubles both points; returns factors.
#[inline(never)]
fn double<F: Coordinates>(f: F::Arithmetic, points: &F) -> F {
    f.run(
        #[inline(always)]
        || {
            let first = F::products(f, [points; 2], [points; 2], &DOUBLE);
            let by_3b = first.times_3b(f);
            let left = F::factors::<DoubleLeft, 2>(f, [&first, &by_3b]);
            let right = F::factors::<DoubleRight, 2>(f, [&first, &by_3b]);
            let second = F::products(f, [&left; 2], [&right; 2], &EACH);
            F::factors::<Doubled, 1>(f, [&second])
        },
    )
}

/// Adds both points of one vector to those of another; returns coefficients.
#[inline(never)]
fn add<F: Coordinates>(f: F::Arithmetic, a: &F, b: &F) -> F {
    f.run(
        #[inline(always)]
        || {
            let products = F::products(f, [a; 2], [b; 2], &EACH);
            let a = F::factors::<Sums, 1>(f, [a]);
            let b = F::factors::<Sums, 1>(f, [b]);
            let of_sums = F::products(f, [&a; 2], [&b; 2], &EACH);
            let cross = F::combine::<Cross, 2>(f, [&products, &of_sums]);
            let by_3b = cross.times_3b(f);
            let left = F::factors::<AddLeft, 3>(f, [&products, &of_sums, &by_3b]);
            let right = F::factors::<AddRight, 2>(f, [&products, &by_3b]);
            F::products(f, [&left, &right], [&left, &right], &ADD)
        },
    )
}

/// Bits of a window.
const WINDOW: usize = 4;

/// Entries of a table: multiples from 0 to 8.
const ENTRIES: usize = (1 << (WINDOW - 1)) + 1;

/// Returns k·P for a member of the group, from the parts of k.
pub(crate) fn multiply<F: Coordinates>(
    f: F::Arithmetic,
    point: &[F::Memory; 3],
    parts: &[u128; 4],
) -> [F::Memory; 3] {
    let [x, y, z] = *point;
    let [zero, one, _] = F::SMALL;
    let base = F::import(f, &[x, y, z, zero, x, y, z, zero]).endomorphism_of_second(f);
    let mut table = [<F::Arithmetic as Arithmetic<Bls12Base>>::ZERO; ENTRIES * 2];
    let table = &mut table[..ENTRIES * F::VECTORS];
    let infinity = F::import(f, &[zero, one, zero, zero, zero, one, zero, zero]);
    let at = |i: usize| i * F::VECTORS..(i + 1) * F::VECTORS;
    infinity.write(&mut table[at(0)]);
    base.write(&mut table[at(1)]);
    for i in 2..ENTRIES {
        let half = F::read(f, &table[at(i / 2)]);
        let multiple = match i % 2 {
            0 => F::combine::<Same, 1>(f, [&double(f, &half)]),
            _ => add(f, &F::read(f, &table[at(i - 1)]), &base),
        };
        multiple.write(&mut table[at(i)]);
    }
    let mut sum = infinity;
    for window in (0..(F::BITS + 1).div_ceil(WINDOW)).rev() {
        for _ in 0..WINDOW {
            sum = double(f, &sum);
        }
        for (i, parts) in parts[..F::PARTS].chunks(2).enumerate() {
            let digit = |lane: usize| digit::<WINDOW>(parts[lane / 4], window * WINDOW);
            let mut entry = [<F::Arithmetic as Arithmetic<Bls12Base>>::ZERO; 2];
            let entry = &mut entry[..F::VECTORS];
            f.lookup(entry, table, f.word(|lane| digit(lane).0));
            let multiple = F::read(f, entry);
            // The lane of y.
            let negative = f.mask(|lane| match lane % 4 {
                1 => digit(lane).1,
                _ => Mask::from_bit(0),
            });
            let negated = F::factors::<Negative, 1>(f, [&multiple]);
            let multiple = F::select(f, negative, &negated, &multiple);
            let multiple = if i > 0 { multiple.endomorphism_twice(f) } else { multiple };
            sum = add(f, &sum, &multiple);
        }
    }
    let second = F::factors::<Second, 1>(f, [&sum]);
    let [x, y, z, ..] = add(f, &sum, &second).export(f);
    [x, y, z]
}

/// Returns |x|·P for any point of the curve. The second point of the vectors is infinity.
pub(crate) fn times_x<F: Coordinates>(f: F::Arithmetic, point: &[F::Memory; 3]) -> [F::Memory; 3] {
    let [x, y, z] = *point;
    let [zero, one, _] = F::SMALL;
    let point = F::import(f, &[x, y, z, zero, zero, one, zero, zero]);
    let mut multiple = point;
    for bit in x_bits() {
        multiple = double(f, &multiple);
        if bit {
            multiple = add(f, &multiple, &point);
        }
    }
    let [x, y, z, ..] = F::combine::<Same, 1>(f, [&multiple]).export(f);
    [x, y, z]
}
