//! The Miller loop of many pairs on vectors: their points one a lane, the coefficients of the product
//! side by side.
//!
//! Doubling eight points takes as long as three or four with their coordinates side by side.

use super::super::point::{Affine, Point};
use super::super::{Field, Fp, Fp2, Runner, Words, x_bits};
use super::element::{Lines, Spread12};
use super::miller::{COMPLETION, LineMemory};
use super::{ALL, Difference, Double, TwelveDifference, TwelveSum, combinations};
use crate::machine::field::{Combination, Spread, Term};
use crate::machine::lanes::LANES;

combinations! {
    /// b − 3e.
    Less<2>: [Term::new(1, 0, ALL), Term::new(-3, 1, ALL)];

    /// b + 3e.
    More<2>: [Term::new(1, 0, ALL), Term::new(3, 1, ALL)];

    /// g² − 12e².
    DoubledY<2>: [Term::new(1, 0, ALL), Term::new(-12, 1, ALL)];

    /// Four times a vector.
    Quadruple<1>: [Term::new(4, 0, ALL)];

    /// Three times a vector.
    Triple<1>: [Term::new(3, 0, ALL)];

    /// −2 times a vector.
    MinusDouble<1>: [Term::new(-2, 0, ALL)];
}

/// Up to eight pairs, one a lane.
pub(crate) struct Eight<A: Spread> {
    runner: Runner<A>,
    p: Affine<Fp<A>>,
    /// 3x_P and −2y_P, the factors of a tangent.
    of_tangent: [A::Element; 2],
    pairs: usize,
}

impl<A: Spread> Eight<A> {
    /// Returns the pairs of finite points, from 1 to 8.
    pub(crate) fn new<'a>(
        f: A,
        pairs: usize,
        p: impl Fn(usize) -> &'a [Words; 2],
        q: impl Fn(usize) -> &'a [[Words; 2]; 2],
    ) -> Self {
        // The last pair fills the missing lanes.
        let fp = |i: usize| {
            let words: [_; LANES] = core::array::from_fn(|lane| p(lane.min(pairs - 1))[i]);
            Fp::import(f, &words)
        };
        let fp2 = |i: usize| {
            let words: [_; LANES] = core::array::from_fn(|lane| q(lane.min(pairs - 1))[i]);
            Fp2::import(f, &words)
        };
        let p = Affine { x: fp(0), y: fp(1) };
        let of_tangent =
            [f.combine::<Triple, 1>([p.x.raw()]), f.combine::<MinusDouble, 1>([p.y.raw()])];
        Self { runner: Runner::new(&Affine { x: fp2(0), y: fp2(1) }), p, of_tangent, pairs }
    }

    /// Returns the next lines.
    #[inline(never)]
    fn next(&mut self, f: A, add: bool) -> Lines<A> {
        let lines = if add {
            let [l0, of_x, of_y] = self.runner.next(true);
            [l0, of_x.scale(&self.p.x), of_y.scale(&self.p.y)].map(|line| *line.raw())
        } else {
            double(f, &mut self.runner.t, &self.of_tangent)
        };
        Lines::new(f, lines)
    }
}

/// Doubles T and returns the tangent, as the function for any backend, but with sums that are not
/// reduced before products.
///
/// Products are coefficients; the factors of [`mul_complex`](crate::machine::field::Wide::mul_complex)
/// may be as large as 9p, and those here are below 6.1p. Those of a square are coefficients.
#[inline(never)]
fn double<A: Spread>(
    f: A,
    t: &mut Point<Fp2<A>>,
    [three_x, minus_two_y]: &[A::Element; 2],
) -> [[A::Element; 2]; 3] {
    f.run(
        #[inline(always)]
        || {
            let [x, y, z] = [t.x.raw(), t.y.raw(), t.z.raw()];
            let xy = f.mul_complex(x, y);
            let yz = f.mul_complex(y, z);
            let xx = f.square_complex(x);
            let b = f.square_complex(y);
            let [c0, c1] = f.square_complex(z);
            let e = [
                f.combine::<TwelveDifference, 2>([&c0, &c1]),
                f.combine::<TwelveSum, 2>([&c0, &c1]),
            ];
            let of_one = |i: usize| {
                let both = [&b[i], &e[i]];
                let sums = [
                    f.factors::<Double, 1>([&xy[i]]),
                    f.factors::<Less, 2>(both),
                    f.factors::<Quadruple, 1>([&b[i]]),
                    f.factors::<Double, 1>([&yz[i]]),
                    f.factors::<Difference, 2>([&e[i], &b[i]]),
                ];
                (f.combine::<More, 2>(both), sums)
            };
            let (g0, [xy2_0, less_0, b4_0, yz2_0, l0_0]) = of_one(0);
            let (g1, [xy2_1, less_1, b4_1, yz2_1, l0_1]) = of_one(1);
            let ([gg0, gg1], [ee0, ee1]) = (f.square_complex(&[g0, g1]), f.square_complex(&e));
            t.x = Fp2::from_raw(f, f.mul_complex(&[xy2_0, xy2_1], &[less_0, less_1]));
            t.y = Fp2::from_raw(
                f,
                [f.combine::<DoubledY, 2>([&gg0, &ee0]), f.combine::<DoubledY, 2>([&gg1, &ee1])],
            );
            t.z = Fp2::from_raw(f, f.mul_complex(&[b4_0, b4_1], &[yz2_0, yz2_1]));
            let scale = |[a, b]: &[A::Element; 2], by: &A::Element| [f.mul(a, by), f.mul(b, by)];
            [[l0_0, l0_1], scale(&xx, three_x), scale(&yz, minus_two_y)]
        },
    )
}

/// The points of G1 of up to eight pairs with prepared lines, one a lane.
#[derive(Clone, Copy)]
struct EightPrepared<A: Spread> {
    /// 1, x_P and y_P, times what completes the import of lines.
    by: [A::Element; 3],
    first: usize,
    pairs: usize,
}

impl<A: Spread> EightPrepared<A> {
    /// Returns those of up to eight pairs from one of many on.
    fn new(f: A, p: &[&[Words; 2]], first: usize) -> Self {
        let pairs = LANES.min(p.len() - first);
        let completion = f.import_shared(&COMPLETION);
        let by = |i: usize| {
            let words: [_; LANES] = core::array::from_fn(|lane| p[first + lane.min(pairs - 1)][i]);
            f.mul(&f.import(&words), &completion)
        };
        Self { by: [completion, by(0), by(1)], first, pairs }
    }

    /// Returns the lines from those of each pair.
    #[inline(never)]
    fn lines<'a>(&self, f: A, line: impl Fn(usize) -> &'a LineMemory) -> Lines<A> {
        let lines: [_; LANES] =
            core::array::from_fn(|lane| line(self.first + lane.min(self.pairs - 1)));
        let part = |coefficient: usize, i: usize| {
            f.mul(&f.import_factors(&lines.map(|line| line[coefficient][i])), &self.by[coefficient])
        };
        Lines::new(f, core::array::from_fn(|coefficient| [0, 1].map(|i| part(coefficient, i))))
    }
}

/// Like [`miller_loop_of_many`], with lines as
/// [`miller_loop_prepared`](super::miller_loop_prepared); `N` is the maximum number of pairs,
/// divided by eight.
pub(crate) fn miller_loop_prepared_of_many<'a, A: Spread, const N: usize>(
    f: A,
    p: &[&[Words; 2]],
    line: impl Fn(usize, usize) -> &'a LineMemory,
) -> Spread12<A> {
    let last = p.len().div_ceil(LANES) - 1;
    let eights: [_; N] = core::array::from_fn(|i| EightPrepared::new(f, p, LANES * i.min(last)));
    let mut place = 0;
    loop_with(f, |product, _| {
        for eight in &eights[..=last] {
            let lines = eight.lines(f, |pair| line(pair, place));
            for lane in 0..eight.pairs {
                *product = product.mul_by_line_of(f, &lines, lane);
            }
        }
        place += 1;
    })
}

/// Returns the product of the loops of many pairs.
pub(crate) fn miller_loop_of_many<A: Spread>(f: A, eights: &mut [Eight<A>]) -> Spread12<A> {
    loop_with(f, |product, add| {
        for eight in &mut *eights {
            let lines = eight.next(f, add);
            for lane in 0..eight.pairs {
                *product = product.mul_by_line_of(f, &lines, lane);
            }
        }
    })
}

/// Returns a product that `multiply` multiplies by the lines of each step: of tangents, and of those
/// that add Q if its argument is true.
fn loop_with<A: Spread>(f: A, mut multiply: impl FnMut(&mut Spread12<A>, bool)) -> Spread12<A> {
    let mut product = Spread12::one(f);
    for (step, bit) in x_bits().enumerate() {
        if step > 0 {
            product = product.square(f);
        }
        multiply(&mut product, false);
        if bit {
            multiply(&mut product, true);
        }
    }
    product.conjugate(f)
}
