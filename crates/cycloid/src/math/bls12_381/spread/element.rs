//! Elements of Fp12 side by side.

use super::super::constants::{self, FROBENIUS};
use super::super::multiply::digit;
use super::super::pairing::Exponentiation;
use super::super::tower::POWERS;
use super::super::{Fp, Words, reveal, x_bits};
use super::{
    Difference, Double, DoubleSum, Factor, Negative, Pairs, Sum, combinations, factor,
    factor_of_two,
};
use crate::machine::field::{Combination, NONE, Order, Spread, Term};
use crate::machine::lanes::LANES;

/// An element of Fp12 side by side.
#[derive(Clone, Copy)]
pub(crate) struct Spread12<A: Spread>(pub(super) Pairs<A>);

/// An element in memory: the form of [`Fp12::import`](super::super::Fp12::import).
type Memory = [[Words; 2]; 6];

/// Returns the lane with the coefficient of a power of w.
const fn lane_of(power: usize) -> u8 {
    let mut lane = 0;
    while POWERS[lane] != power {
        lane += 1;
    }
    lane as u8
}

/// Returns the lanes of the left factor, which belong to coefficient `power` of the right one: from
/// 8 on, where the product has to be multiplied by ξ.
const fn left_lanes(power: usize) -> [u8; LANES] {
    let mut lanes = [6; LANES];
    let mut t = 0;
    while t < 6 {
        lanes[t] = if POWERS[t] >= power {
            lane_of(POWERS[t] - power)
        } else {
            LANES as u8 + lane_of(POWERS[t] + 6 - power)
        };
        t += 1;
    }
    lanes
}

/// Returns the orders of a product with a factor whose coefficients of these powers of w are in
/// these lanes.
const fn product<const N: usize>(powers: [usize; N], lanes: [u8; N]) -> [Order; N] {
    let mut orders = [Order::new([0; LANES], [0; LANES]); N];
    let mut i = 0;
    while i < N {
        let mut right = [lanes[i]; LANES];
        (right[6], right[7]) = (7, 7);
        orders[i] = Order::new(left_lanes(powers[i]), right);
        i += 1;
    }
    orders
}

/// A product of two elements.
const PRODUCT: [Order; 6] = product(POWERS, [0, 1, 2, 3, 4, 5]);

/// A product with a line, whose coefficients of 1, v and v·w are in the lanes 4 to 6.
const LINE_PRODUCT: [Order; 3] = product([0, 2, 3], [4, 5, 6]);

/// A square: in each lane the products of the pairs of coefficients that belong there, those of
/// different coefficients twice.
///
/// The lanes from 8 on of the left factor are multiples of ξ, those of the right one are doubled.
const SQUARE: [Order; 4] = {
    let mut left = [[6; LANES]; 4];
    let mut right = [[6; LANES]; 4];
    let mut t = 0;
    while t < 6 {
        let (mut step, mut i) = (0, 0);
        while i < 6 {
            let mut j = i;
            while j < 6 {
                if (i + j) % 6 == POWERS[t] {
                    left[step][t] = lane_of(i) + if i + j >= 6 { 8 } else { 0 };
                    right[step][t] = lane_of(j) + if i != j { 8 } else { 0 };
                    step += 1;
                }
                j += 1;
            }
            i += 1;
        }
        t += 1;
    }
    let mut orders = [Order::new([0; LANES], [0; LANES]); 4];
    let mut step = 0;
    while step < 4 {
        orders[step] = Order::new(left[step], right[step]);
        step += 1;
    }
    orders
};

/// A product with an element of Fp6.
const PRODUCT_WITH_FP6: [Order; 3] = product([0, 2, 4], [0, 1, 2]);

/// The coefficients t₀ = n₀² − ξ·n₁·n₂, t₁ = ξ·n₂² − n₀·n₁ and t₂ = n₁² − n₀·n₂. Lanes from 8 on of
/// the left factor are multiples of ξ, those of the right one negatives.
const ADJOINT: [Order; 2] = [
    Order::new([0, 10, 1, 6, 6, 6, 6, 6], [0, 2, 1, 6, 6, 6, 6, 6]),
    Order::new([9, 0, 0, 6, 6, 6, 6, 6], [10, 9, 10, 6, 6, 6, 6, 6]),
];

/// n₀·t₀ + ξ·(n₂·t₁ + n₁·t₂), in each lane.
const NORM: [Order; 3] = [
    Order::new([0; LANES], [0; LANES]),
    Order::new([10; LANES], [1; LANES]),
    Order::new([9; LANES], [2; LANES]),
];

/// A product lane by lane.
const EACH: [Order; 1] = [Order::new(super::ALL, super::ALL)];

combinations! {
    /// The conjugate over Fp6.
    Conjugate<1>: [
        Term::new(1, 0, [0, 1, 2, NONE, NONE, NONE, NONE, NONE]),
        Term::new(-1, 0, [NONE, NONE, NONE, 3, 4, 5, NONE, NONE]),
    ];
}

/// The lines of up to eight pairs, one a lane: the parts of l₀, l₁·x_P and l₄·y_P, and their sums.
pub(super) struct Lines<A: Spread> {
    real: [A::Element; 3],
    imaginary: [A::Element; 3],
    sums: [A::Element; 3],
}

impl<A: Spread> Lines<A> {
    /// Returns the lines from their coefficients' parts.
    pub(super) fn new(f: A, coefficients: [[A::Element; 2]; 3]) -> Self {
        Self {
            real: coefficients.map(|[real, _]| real),
            imaginary: coefficients.map(|[_, imaginary]| imaginary),
            sums: coefficients.map(|[real, imaginary]| f.factors::<Sum, 2>([&real, &imaginary])),
        }
    }
}

/// The factors of the Frobenius map.
pub(super) struct Frobenius<A: Spread> {
    f: A,
    factors: Pairs<A>,
    sums: A::Element,
}

impl<A: Spread> Frobenius<A> {
    pub(super) fn new(f: A) -> Self {
        let mut memory = [[[0; 6]; 2]; 6];
        for (factor, power) in memory.iter_mut().zip(POWERS) {
            *factor = match power.checked_sub(1) {
                None => [constants::ONE, [0; 6]],
                Some(power) => FROBENIUS[power],
            };
        }
        let factors = Spread12::import(f, &memory).0;
        Self { f, factors, sums: factors.sums(f) }
    }
}

impl<A: Spread> Frobenius<A> {
    /// Returns the factors of a power of p from those of the one before, and of p.
    fn after(&self, before: &Self) -> Self {
        let factors = Spread12(before.factors).frobenius(self.f, self).0;
        Self { f: self.f, factors, sums: factors.sums(self.f) }
    }
}

impl<A: Spread> Spread12<A> {
    pub(crate) fn one(f: A) -> Self {
        let mut memory = [[[0; 6]; 2]; 6];
        memory[0][0] = constants::ONE;
        Self::import(f, &memory)
    }

    pub(crate) fn import(f: A, memory: &Memory) -> Self {
        let part = |i: usize| {
            let mut words = [[0; 6]; LANES];
            words.iter_mut().zip(memory).for_each(|(words, pair)| *words = pair[i]);
            f.import(&words)
        };
        Self(Pairs { real: part(0), imaginary: part(1) })
    }

    pub(crate) fn export(&self, f: A) -> Memory {
        let mut memory = [[[0; 6]; 2]; 6];
        for (i, part) in [&self.0.real, &self.0.imaginary].into_iter().enumerate() {
            let mut words = [[0; 6]; LANES];
            f.export(part, &mut words);
            memory.iter_mut().zip(words).for_each(|(pair, words)| pair[i] = words);
        }
        memory
    }

    /// Returns a sum of products with the element as left factor.
    #[inline(always)]
    fn multiply(&self, f: A, right: &Factor<A>, orders: &[Order]) -> Self {
        let Pairs { real, imaginary } = &self.0;
        // The parts of ξ·a are a₀ − a₁ and a₀ + a₁, and their sum is 2a₀.
        let difference = f.factors::<Difference, 2>([real, imaginary]);
        let sum = self.0.sums(f);
        let double = f.factors::<Double, 1>([real]);
        let left = Factor {
            real: [real, &difference],
            imaginary: [imaginary, &sum],
            sum: [&sum, &double],
        };
        Self(Pairs::sum_of_products(f, &left, right, orders))
    }

    #[inline(never)]
    pub(crate) fn mul(&self, f: A, other: &Self) -> Self {
        f.run(
            #[inline(always)]
            || self.multiply(f, &factor(&other.0, &other.0.sums(f)), &PRODUCT),
        )
    }

    /// Multiplies by a line in the lanes 4 to 6 of a vector, whose `sums` are given.
    #[inline(never)]
    pub(super) fn mul_by_line(&self, f: A, line: &Pairs<A>, sums: &A::Element) -> Self {
        f.run(
            #[inline(always)]
            || self.multiply(f, &factor(line, sums), &LINE_PRODUCT),
        )
    }

    /// Multiplies by the line in one lane.
    #[inline(never)]
    pub(super) fn mul_by_line_of(&self, f: A, lines: &Lines<A>, lane: usize) -> Self {
        f.run(
            #[inline(always)]
            || {
                let Pairs { real, imaginary } = &self.0;
                let difference = f.factors::<Difference, 2>([real, imaginary]);
                let sum = self.0.sums(f);
                let double = f.factors::<Double, 1>([real]);
                let of = |left: [&A::Element; 2], right: &[A::Element; 3]| {
                    f.products_by_lane(left, right.each_ref(), lane, &LINE_PRODUCT)
                };
                let reals = of([real, &difference], &lines.real);
                let imaginaries = of([imaginary, &sum], &lines.imaginary);
                let sums = of([&sum, &double], &lines.sums);
                let [real, imaginary] = f.reduce_complex([&reals, &imaginaries, &sums]);
                Self(Pairs { real, imaginary })
            },
        )
    }

    #[inline(never)]
    pub(crate) fn square(&self, f: A) -> Self {
        f.run(
            #[inline(always)]
            || {
                let Pairs { real, imaginary } = &self.0;
                let sum = self.0.sums(f);
                let double_real = f.factors::<Double, 1>([real]);
                let double_imaginary = f.factors::<Double, 1>([imaginary]);
                let double_sum = f.factors::<DoubleSum, 2>([real, imaginary]);
                let right = Factor {
                    real: [real, &double_real],
                    imaginary: [imaginary, &double_imaginary],
                    sum: [&sum, &double_sum],
                };
                self.multiply(f, &right, &SQUARE)
            },
        )
    }

    /// Returns the square of an element of the cyclotomic subgroup.
    pub(crate) fn square_cyclotomic(&self, f: A) -> Self {
        self.square_cyclotomic_times(f, 1)
    }

    /// Squares an element of the cyclotomic subgroup `times` times.
    fn square_cyclotomic_times(&self, f: A, times: usize) -> Self {
        let mut parts = [self.0.real, self.0.imaginary];
        f.square_cyclotomic(&mut parts, times);
        let [real, imaginary] = parts;
        Self(Pairs { real, imaginary })
    }

    /// Returns the p⁶-th power.
    #[inline(never)]
    pub(crate) fn conjugate(&self, f: A) -> Self {
        f.run(
            #[inline(always)]
            || {
                let part = |part| f.combine::<Conjugate, 1>([part]);
                Self(Pairs { real: part(&self.0.real), imaginary: part(&self.0.imaginary) })
            },
        )
    }

    /// Returns the p-th power.
    #[inline(never)]
    pub(super) fn frobenius(&self, f: A, Frobenius { factors, sums, .. }: &Frobenius<A>) -> Self {
        f.run(
            #[inline(always)]
            || {
                let Pairs { real, imaginary } = &self.0;
                let negative = f.factors::<Negative, 1>([imaginary]);
                let sum = f.factors::<Difference, 2>([real, imaginary]);
                let conjugate =
                    Factor { real: [real; 2], imaginary: [&negative; 2], sum: [&sum; 2] };
                Self(Pairs::sum_of_products(f, &conjugate, &factor(factors, sums), &EACH))
            },
        )
    }

    /// Returns the p²-th power.
    #[inline(never)]
    fn frobenius_twice(&self, f: A, Frobenius { factors, sums, .. }: &Frobenius<A>) -> Self {
        f.run(
            #[inline(always)]
            || {
                let left = self.0.sums(f);
                let left = factor(&self.0, &left);
                Self(Pairs::sum_of_products(f, &left, &factor(factors, sums), &EACH))
            },
        )
    }

    /// Returns the inverse of an element that is not 0.
    ///
    /// The norm over Fp6, which is a·ā, is inverted as in [`Fp6`](super::super::tower::Fp6).
    pub(crate) fn invert(&self, f: A) -> Self {
        let conjugate = self.conjugate(f);
        let norm = self.mul(f, &conjugate);
        let negative = Pairs {
            real: f.factors::<Negative, 1>([&norm.0.real]),
            imaginary: f.factors::<Negative, 1>([&norm.0.imaginary]),
        };
        let (sums, negative_sums) = (norm.0.sums(f), negative.sums(f));
        let right = factor_of_two([&norm.0, &negative], [&sums, &negative_sums]);
        let adjoint = norm.multiply(f, &right, &ADJOINT).0;
        let adjoint_sums = adjoint.sums(f);
        let norm = norm.multiply(f, &factor(&adjoint, &adjoint_sums), &NORM).0;
        let squares = f.add(&f.square(&norm.real), &f.square(&norm.imaginary));
        // The same in each lane.
        let inverse = *Fp::from_raw(f, squares).invert_shared().raw();
        let inverse = Pairs {
            real: f.mul(&norm.real, &inverse),
            imaginary: f.mul(&f.negate(&norm.imaginary), &inverse),
        };
        let sums = inverse.sums(f);
        let adjoint = factor(&adjoint, &adjoint_sums);
        let inverse = Pairs::sum_of_products(f, &adjoint, &factor(&inverse, &sums), &EACH);
        conjugate.multiply(f, &factor(&inverse, &inverse.sums(f)), &PRODUCT_WITH_FP6)
    }

    /// Returns whether the elements are equal, which becomes public.
    fn equal(&self, f: A, other: &Self) -> bool {
        let real = f.equal(&self.0.real, &other.0.real);
        let imaginary = f.equal(&self.0.imaginary, &other.0.imaginary);
        reveal::<A>(real & imaginary).iter().all(|equal| *equal)
    }

    /// Returns whether the element has order r or is 1, as
    /// [`Fp12::is_in_group`](super::super::Fp12::is_in_group).
    pub(crate) fn is_in_group(&self, f: A) -> bool {
        let frobenius = Frobenius::new(f);
        let p = self.frobenius(f, &frobenius);
        let p2 = p.frobenius(f, &frobenius);
        let p4 = p2.frobenius(f, &frobenius).frobenius(f, &frobenius);
        let cyclotomic = p4.mul(f, self).equal(f, &p2);
        let zero = self.equal(f, &Self(Pairs { real: A::ZERO, imaginary: A::ZERO }));
        // Squarings of a noncyclotomic element give meaningless values, which do no harm.
        let x = self.pow_x(f).conjugate(f);
        cyclotomic & x.equal(f, &p) & !zero
    }

    /// Raises an element of the cyclotomic subgroup to the power of |x|.
    pub(super) fn pow_x(&self, f: A) -> Self {
        let mut power = *self;
        let mut squares = 0;
        for bit in x_bits() {
            squares += 1;
            if bit {
                power = power.square_cyclotomic_times(f, squares).mul(f, self);
                squares = 0;
            }
        }
        power.square_cyclotomic_times(f, squares)
    }
}

/// Bits of a window.
const WINDOW: usize = 4;

/// Entries of a table: powers from 0 to 8.
const ENTRIES: usize = (1 << (WINDOW - 1)) + 1;

/// Returns a^k for a member of GT, from the parts of k, as
/// [`pow_in_group`](super::super::pow_in_group).
pub(crate) fn pow_in_group<A: Spread>(f: A, a: &Spread12<A>, parts: &[u128; 4]) -> Spread12<A> {
    let mut table = [A::ZERO; ENTRIES * 2];
    let known = |table: &[A::Element], i: usize| {
        Spread12(Pairs { real: table[2 * i], imaginary: table[2 * i + 1] })
    };
    for i in 0..ENTRIES {
        let power = match i {
            0 => Spread12::one(f),
            1 => *a,
            _ if i % 2 == 0 => known(&table, i / 2).square_cyclotomic(f),
            _ => known(&table, i - 1).mul(f, a),
        };
        (table[2 * i], table[2 * i + 1]) = (power.0.real, power.0.imaginary);
    }
    let frobenius = Frobenius::new(f);
    let frobenius_twice = frobenius.after(&frobenius);
    let mut product = Spread12::one(f);
    for window in (0..(64 + 1usize).div_ceil(WINDOW)).rev() {
        product = product.square_cyclotomic_times(f, WINDOW);
        for (i, part) in parts.iter().enumerate() {
            let (magnitude, negative) = digit::<WINDOW>(*part, window * WINDOW);
            let mut entry = [A::ZERO; 2];
            f.lookup(&mut entry, &table, f.word(|_| magnitude));
            let mut power = known(&entry, 0);
            if i % 2 == 1 {
                power = power.frobenius(f, &frobenius);
            }
            if i > 1 {
                power = power.frobenius_twice(f, &frobenius_twice);
            }
            // The p-th power is the x-th power, and x is negative.
            let negative = if i % 2 == 1 { !negative } else { negative };
            let (negative, inverse) = (f.mask(|_| negative), power.conjugate(f));
            let select = |a, b| f.select(negative, a, b);
            let power = Pairs {
                real: select(&inverse.0.real, &power.0.real),
                imaginary: select(&inverse.0.imaginary, &power.0.imaginary),
            };
            product = product.mul(f, &Spread12(power));
        }
    }
    product
}

impl<A: Spread> Exponentiation for Frobenius<A> {
    type Element = Spread12<A>;

    fn mul(&self, a: &Spread12<A>, b: &Spread12<A>) -> Spread12<A> {
        a.mul(self.f, b)
    }

    fn invert(&self, a: &Spread12<A>) -> Spread12<A> {
        a.invert(self.f)
    }

    fn conjugate(&self, a: &Spread12<A>) -> Spread12<A> {
        a.conjugate(self.f)
    }

    fn frobenius(&self, a: &Spread12<A>) -> Spread12<A> {
        a.frobenius(self.f, self)
    }

    fn square_cyclotomic(&self, a: &Spread12<A>) -> Spread12<A> {
        a.square_cyclotomic(self.f)
    }

    fn pow_x(&self, a: &Spread12<A>) -> Spread12<A> {
        a.pow_x(self.f)
    }
}

/// See [`Exponentiation::final_exponentiation`].
pub(crate) fn final_exponentiation<A: Spread>(f: A, a: &Spread12<A>) -> Spread12<A> {
    Frobenius::new(f).final_exponentiation(a)
}
