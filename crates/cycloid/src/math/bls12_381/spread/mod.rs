//! One operation on vectors: the coefficients of one element of Fp12, or the coordinates of two
//! points, side by side (see [`Spread`]).
//!
//! Two vectors hold an element of Fp12: lane t has the real and the imaginary part of coefficient
//! t, in the order of [`Fp12`](super::Fp12): of 1, v, v², w, v·w, v²·w. The lanes 6 and 7 are 0
//! modulo p. A product is a sum of six products lane by lane, one for each coefficient of the right
//! factor. Each lane multiplies it by the coefficient of the left factor that contributes to this
//! lane, times ξ if the power of w is 6 or more.

mod eight;
mod element;
mod miller;
mod point;
#[cfg(test)]
mod tests;

pub(crate) use eight::{Eight, miller_loop_of_many, miller_loop_prepared_of_many};
pub(crate) use element::{Spread12, final_exponentiation, pow_in_group};
pub(crate) use miller::{Pair, miller_loop, miller_loop_prepared};
pub(crate) use point::{Coordinates, OfFp, OfFp2, multiply, times_x};

use crate::machine::field::{Combination, Order, Spread, Term};

/// Elements of Fp2, one a lane: real and imaginary parts.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<A: Spread> {
    real: A::Element,
    imaginary: A::Element,
}

/// A factor of products: its parts and their sum, each of two vectors among whose lanes an
/// [`Order`] chooses.
#[derive(Clone, Copy)]
struct Factor<'a, A: Spread> {
    real: [&'a A::Element; 2],
    imaginary: [&'a A::Element; 2],
    sum: [&'a A::Element; 2],
}

impl<A: Spread> Pairs<A> {
    /// Returns a sum of products.
    #[inline(always)]
    fn sum_of_products(f: A, left: &Factor<A>, right: &Factor<A>, orders: &[Order]) -> Self {
        let real = f.lane_products(left.real, right.real, orders);
        let imaginary = f.lane_products(left.imaginary, right.imaginary, orders);
        let both = f.lane_products(left.sum, right.sum, orders);
        let [real, imaginary] = f.reduce_complex([&real, &imaginary, &both]);
        Self { real, imaginary }
    }

    /// Returns the sums of both parts, as factors.
    #[inline(always)]
    fn sums(&self, f: A) -> A::Element {
        f.factors::<Sum, 2>([&self.real, &self.imaginary])
    }
}

/// Returns the factor of one element, whose `sums` are given.
#[inline(always)]
fn factor<'a, A: Spread>(a: &'a Pairs<A>, sums: &'a A::Element) -> Factor<'a, A> {
    Factor { real: [&a.real; 2], imaginary: [&a.imaginary; 2], sum: [sums; 2] }
}

/// Returns the factor with the lanes of two elements.
#[inline(always)]
fn factor_of_two<'a, A: Spread>(
    [a, b]: [&'a Pairs<A>; 2],
    sum: [&'a A::Element; 2],
) -> Factor<'a, A> {
    Factor { real: [&a.real, &b.real], imaginary: [&a.imaginary, &b.imaginary], sum }
}

/// All lanes in place.
const ALL: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Declares combinations of the parts of `N` elements: vectors 2i and 2i + 1 are the real and the
/// imaginary part of element i, or what the comment says.
macro_rules! combinations {
    ($($(#[$doc:meta])* $name:ident<$n:literal>: [$($term:expr),+ $(,)?];)+) => {$(
        $(#[$doc])*
        struct $name;

        impl Combination<$n> for $name {
            const TERMS: &'static [Term] = &[$($term),+];
        }
    )+};
}
use combinations;

combinations! {
    /// The sum of two vectors.
    Sum<2>: [Term::new(1, 0, ALL), Term::new(1, 1, ALL)];

    /// The difference of two vectors.
    Difference<2>: [Term::new(1, 0, ALL), Term::new(-1, 1, ALL)];

    /// Twice a vector.
    Double<1>: [Term::new(2, 0, ALL)];

    /// Twelve times a difference.
    TwelveDifference<2>: [Term::new(12, 0, ALL), Term::new(-12, 1, ALL)];

    /// Twelve times a sum.
    TwelveSum<2>: [Term::new(12, 0, ALL), Term::new(12, 1, ALL)];

    /// Twice the sum of two vectors.
    DoubleSum<2>: [Term::new(2, 0, ALL), Term::new(2, 1, ALL)];

    /// The negative of a vector.
    Negative<1>: [Term::new(-1, 0, ALL)];
}
