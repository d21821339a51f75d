//! The Miller loop on vectors.
//!
//! A vector of a moving point T holds in its lanes x, y, z, 12ξ·z, and the last line: l₀, l₁·x_P,
//! l₄·y_P (see [`miller_loop`](super::super::miller_loop), whose formulas these are).

use super::super::{Words, constants, montgomery, x_bits};
use super::element::Spread12;
use super::{ALL, Pairs, combinations, factor, factor_of_two};
use crate::machine::field::{Combination, NONE, Order, Spread, Term};
use crate::machine::lanes::LANES;

/// No lane.
const __: u8 = NONE;

combinations! {
    /// (x·y, y², 12ξ·z², y·z, x²) to the left factors (a, b + f, e, b, 3x², −h) of the second
    /// products; vector 0 is a part of the first ones.
    DoubleLeft<1>: [
        Term::new(2, 0, [0, __, __, __, __, __, __, __]),
        Term::new(1, 0, [__, 1, 2, 1, __, __, __, __]),
        Term::new(3, 0, [__, 2, __, __, 4, __, __, __]),
        Term::new(-2, 0, [__, __, __, __, __, 3, __, __]),
    ];

    /// The right factors (b − f, b + f, e, 4h, x_P, y_P); vector 1 is a part of [`Pair::points`].
    DoubleRight<2>: [
        Term::of_two(1, [0, 1], [1, 1, 2, __, 10, 11, __, __]),
        Term::new(-3, 0, [2, __, __, __, __, __, __, __]),
        Term::new(3, 0, [__, 2, __, __, __, __, __, __]),
        Term::new(8, 0, [__, __, __, 3, __, __, __, __]),
    ];

    /// The real part of the new point from the second products (x', g², e², z', the line), whose
    /// parts are the vectors 0 and 1; vector 2 is the same part of the first ones.
    DoubledReal<3>: [
        Term::of_two(1, [0, 2], [0, 1, 3, __, 10, 4, 5, __]),
        Term::new(-1, 2, [__, __, __, __, 1, __, __, __]),
        Term::of_two(-12, [0, 1], [__, 2, __, 11, __, __, __, __]),
        Term::new(12, 0, [__, __, __, 3, __, __, __, __]),
    ];

    /// The imaginary part: vectors 0 and 1 are the imaginary and the real part.
    DoubledImaginary<3>: [
        Term::of_two(1, [0, 2], [0, 1, 3, __, 10, 4, 5, __]),
        Term::new(-1, 2, [__, __, __, __, 1, __, __, __]),
        Term::new(-12, 0, [__, 2, __, __, __, __, __, __]),
        Term::new(12, 0, [__, __, __, 3, __, __, __, __]),
        Term::new(12, 1, [__, __, __, 3, __, __, __, __]),
    ];

    /// θ, λ, −θ, −λ from T (vector 0) and y_Q·z, x_Q·z (vector 1).
    Slopes<2>: [
        Term::of_two(1, [0, 1], [1, 0, 8, 9, __, __, __, __]),
        Term::of_two(-1, [1, 0], [0, 1, 9, 8, __, __, __, __]),
    ];

    /// h, g − h, e, −e from e, f, g.
    AddRight<1>: [
        Term::new(1, 0, [0, __, 0, __, __, __, __, __]),
        Term::new(1, 0, [1, __, __, __, __, __, __, __]),
        Term::new(-2, 0, [2, __, __, __, __, __, __, __]),
        Term::new(3, 0, [__, 2, __, __, __, __, __, __]),
        Term::new(-1, 0, [__, 0, __, 0, __, __, __, __]),
        Term::new(-1, 0, [__, 1, __, __, __, __, __, __]),
    ];

    /// The real part of the new point from its coordinates, whose parts are the vectors 0 and 1,
    /// and the products that end with the line (vector 2).
    AddedReal<3>: [
        Term::of_two(1, [0, 2], [0, 1, 2, __, 10, 11, 12, __]),
        Term::new(12, 0, [__, __, __, 2, __, __, __, __]),
        Term::new(-12, 1, [__, __, __, 2, __, __, __, __]),
    ];

    /// The imaginary part: vectors 0 and 1 are the imaginary and the real part.
    AddedImaginary<3>: [
        Term::of_two(1, [0, 2], [0, 1, 2, __, 10, 11, 12, __]),
        Term::new(12, 0, [__, __, __, 2, __, __, __, __]),
        Term::new(12, 1, [__, __, __, 2, __, __, __, __]),
    ];

    /// The first point: 12ξ·z of z = 1, to both parts (vector 0) from the real one (vector 1).
    Start<2>: [Term::new(1, 0, ALL), Term::new(12, 1, [__, __, __, 2, __, __, __, __])];
}

/// The pair of a loop: the moving point, and x_Q, y_Q, x_P, y_P in lanes.
#[derive(Clone, Copy)]
pub(crate) struct Pair<A: Spread> {
    t: Pairs<A>,
    t_sums: A::Element,
    points: Pairs<A>,
    points_sums: A::Element,
}

impl<A: Spread> Pair<A> {
    /// Returns the pair of finite points.
    pub(crate) fn new(f: A, p: &[Words; 2], q: &[[Words; 2]; 2]) -> Self {
        let part = |lanes: [Words; 4]| {
            let mut words = [[0; 6]; LANES];
            words[..4].copy_from_slice(&lanes);
            f.import(&words)
        };
        let real = part([q[0][0], q[1][0], p[0], p[1]]);
        let imaginary = part([q[0][1], q[1][1], [0; 6], [0; 6]]);
        let points = Pairs { real, imaginary };
        let first_real = part([q[0][0], q[1][0], constants::ONE, [0; 6]]);
        let first_imaginary = part([q[0][1], q[1][1], [0; 6], [0; 6]]);
        let t = Pairs {
            real: f.combine::<Start, 2>([&first_real, &first_real]),
            imaginary: f.combine::<Start, 2>([&first_imaginary, &first_real]),
        };
        Self { t, t_sums: t.sums(f), points, points_sums: points.sums(f) }
    }

    /// Doubles T.
    #[inline(never)]
    fn double(&mut self, f: A) {
        const FIRST: [Order; 1] = [Order::new([0, 1, 3, 1, 0, 7, 7, 7], [1, 1, 2, 2, 0, 7, 7, 7])];
        const SECOND: [Order; 1] = [Order::new(ALL, ALL)];
        f.run(
            #[inline(always)]
            || {
                let Self { t, t_sums, points, .. } = self;
                let t_factor = factor(t, t_sums);
                let first = Pairs::sum_of_products(f, &t_factor, &t_factor, &FIRST);
                let left = Pairs {
                    real: f.factors::<DoubleLeft, 1>([&first.real]),
                    imaginary: f.factors::<DoubleLeft, 1>([&first.imaginary]),
                };
                let right = Pairs {
                    real: f.factors::<DoubleRight, 2>([&first.real, &points.real]),
                    imaginary: f.factors::<DoubleRight, 2>([&first.imaginary, &points.imaginary]),
                };
                let (left_sums, right_sums) = (left.sums(f), right.sums(f));
                let (left, right) = (factor(&left, &left_sums), factor(&right, &right_sums));
                let second = Pairs::sum_of_products(f, &left, &right, &SECOND);
                self.t = Pairs {
                    real: f.combine::<DoubledReal, 3>([
                        &second.real,
                        &second.imaginary,
                        &first.real,
                    ]),
                    imaginary: f.combine::<DoubledImaginary, 3>([
                        &second.imaginary,
                        &second.real,
                        &first.imaginary,
                    ]),
                };
                self.t_sums = self.t.sums(f);
            },
        );
    }

    /// Adds Q to T.
    #[inline(never)]
    fn add(&mut self, f: A) {
        // y_Q·z, x_Q·z
        const FIRST: [Order; 1] = [Order::new([2, 2, 7, 7, 7, 7, 7, 7], [1, 0, 7, 7, 7, 7, 7, 7])];
        // θ², λ², θ·x_Q − λ·y_Q, −θ·x_P, λ·y_P
        const SECOND: [Order; 2] = [
            Order::new([0, 1, 0, 2, 1, 7, 7, 7], [0, 1, 8, 10, 11, 15, 15, 15]),
            Order::new([7, 7, 3, 7, 7, 7, 7, 7], [15, 15, 9, 15, 15, 15, 15, 15]),
        ];
        // λ·λ², z·θ², x·λ²
        const THIRD: [Order; 1] = [Order::new([9, 2, 0, 7, 7, 7, 7, 7], [1, 0, 1, 7, 7, 7, 7, 7])];
        // λ·h, θ·(g − h) − y·e, z·e
        const FOURTH: [Order; 2] = [
            Order::new([9, 8, 2, 7, 7, 7, 7, 7], [0, 1, 2, 7, 7, 7, 7, 7]),
            Order::new([7, 1, 7, 7, 7, 7, 7, 7], [7, 3, 7, 7, 7, 7, 7, 7]),
        ];
        f.run(
            #[inline(always)]
            || {
                let Self { t, t_sums, points, points_sums } = self;
                let (t_factor, q) = (factor(t, t_sums), factor(points, points_sums));
                let first = Pairs::sum_of_products(f, &t_factor, &q, &FIRST);
                let slopes = Pairs {
                    real: f.factors::<Slopes, 2>([&t.real, &first.real]),
                    imaginary: f.factors::<Slopes, 2>([&t.imaginary, &first.imaginary]),
                };
                let sums = slopes.sums(f);
                let right = factor_of_two([&slopes, points], [&sums, points_sums]);
                let second = Pairs::sum_of_products(f, &factor(&slopes, &sums), &right, &SECOND);
                let second_sums = second.sums(f);
                let left = factor_of_two([t, &slopes], [t_sums, &sums]);
                let third =
                    Pairs::sum_of_products(f, &left, &factor(&second, &second_sums), &THIRD);
                let right = Pairs {
                    real: f.factors::<AddRight, 1>([&third.real]),
                    imaginary: f.factors::<AddRight, 1>([&third.imaginary]),
                };
                let right_sums = right.sums(f);
                let fourth =
                    Pairs::sum_of_products(f, &left, &factor(&right, &right_sums), &FOURTH);
                self.t = Pairs {
                    real: f.combine::<AddedReal, 3>([
                        &fourth.real,
                        &fourth.imaginary,
                        &second.real,
                    ]),
                    imaginary: f.combine::<AddedImaginary, 3>([
                        &fourth.imaginary,
                        &fourth.real,
                        &second.imaginary,
                    ]),
                };
                self.t_sums = self.t.sums(f);
            },
        );
    }
}

/// Returns the product of the loops of several pairs.
pub(crate) fn miller_loop<A: Spread>(f: A, pairs: &mut [Pair<A>]) -> Spread12<A> {
    let mut product = Spread12::one(f);
    for (step, bit) in x_bits().enumerate() {
        if step > 0 {
            product = product.square(f);
        }
        for pair in &mut *pairs {
            pair.double(f);
            product = product.mul_by_line(f, &pair.t, &pair.t_sums);
            if bit {
                pair.add(f);
                product = product.mul_by_line(f, &pair.t, &pair.t_sums);
            }
        }
    }
    product.conjugate(f)
}

/// A line in memory: the coefficients of [`prepare`](super::super::prepare).
pub(super) type LineMemory = [[Words; 2]; 3];

/// 2³², which completes the import of factors.
pub(super) const COMPLETION: Words = montgomery("100000000");

/// Like [`miller_loop`], with the lines of [`prepare`](super::super::prepare), by pair and
/// position; `N` is the maximum number of pairs.
pub(crate) fn miller_loop_prepared<'a, A: Spread, const N: usize>(
    f: A,
    p: &[&[Words; 2]],
    line: impl Fn(usize, usize) -> &'a LineMemory,
) -> Spread12<A> {
    // 1, x_P, y_P, which multiply a line.
    let lanes = |[a, b, c]: [Words; 3]| {
        let zero = [0; 6];
        [zero, zero, zero, zero, a, b, c, zero]
    };
    let completion = f.import_shared(&COMPLETION);
    let scale =
        |p: &[Words; 2]| f.mul(&f.import(&lanes([constants::ONE, p[0], p[1]])), &completion);
    let mut scales = [A::ZERO; N];
    scales.iter_mut().zip(p).for_each(|(to, p)| *to = scale(p));
    let mut product = Spread12::one(f);
    let mut place = 0;
    for (step, bit) in x_bits().enumerate() {
        if step > 0 {
            product = product.square(f);
        }
        for _ in 0..=usize::from(bit) {
            for (pair, scale) in scales[..p.len()].iter().enumerate() {
                let line = line(pair, place);
                let part =
                    |i: usize| f.mul(&f.import_factors(&lanes(line.map(|pair| pair[i]))), scale);
                let line = Pairs { real: part(0), imaginary: part(1) };
                product = product.mul_by_line(f, &line, &line.sums(f));
            }
            place += 1;
        }
    }
    product.conjugate(f)
}
