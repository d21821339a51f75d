//! Tests several equations R = u₁·G + u₂·Q of public values at once, by a random linear combination
//! (Bellare, Garay and Rabin, Fast batch verification for modular exponentiation and digital
//! signatures, 1998, section 3: the small exponents test).
//!
//! With factors z, Σ z·R = (Σ z·u₁)·G + Σ z·u₂·Q is tested. If every equation holds, so does this
//! one. If one does not, its difference D = R − u₁·G − u₂·Q is not infinity, and as the order of the
//! group is prime, at most one of the 2^64 values of its factor makes the sum of all z·D infinity.
//! So the combination holds with a probability of 2^−64 at most. One factor may be 1.
//!
//! A [factor](Factor) has few digits, so that z·R takes few additions and no table. The multiples of
//! all R share their doublings, and those of G and of equal Q are one multiple each. So an equation
//! costs less than half of what it costs alone.

use super::affine::right_side;
use super::jacobian::{Affine, Jacobian};
use super::multiply::{TOGETHER, base_multiple, point_multiple};
use super::multiply_vartime::Running;
use super::prepared::prepared_multiple;
use super::{AffinePoint, Curve, Scalar, Words};
use crate::machine::field::{CurveArithmetic, CurveTask, Limbs, Masks};
use crate::machine::words::{LIMB_BITS, Limb};

/// A factor Σ ±2^place of 16 digits in non-adjacent form, at places below [`PLACES`].
///
/// A digit takes 4 bits: its sign, and whether it is 2 to 9 places above the digit before. Integers
/// have one non-adjacent form at most (Reitwiesner, Binary arithmetic, 1960), so the 2^64 factors
/// are distinct integers. Their differences are less than 2^[`PLACES`] and therefore less than every
/// order, so they are distinct scalars, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    bits: u64,
    digits: usize,
}

/// The first digit is at place 7 at most, and each of 15 others at most 9 places above.
const PLACES: usize = 7 + 15 * 9 + 1;

impl Factor {
    /// 1.
    pub(crate) const ONE: Self = Self { bits: 0, digits: 1 };

    /// Returns one of 2^64 factors.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self { bits, digits: 16 }
    }

    /// Returns the places of the digits in ascending order, and whether each is negative.
    fn digits(self) -> impl Iterator<Item = (usize, bool)> {
        let codes = (0..self.digits).map(move |i| (self.bits >> (4 * i)) as usize & 15);
        codes.scan(0, |next, code| {
            let place = *next + code / 2;
            *next = place + 2;
            Some((place, code % 2 == 1))
        })
    }

    fn scalar<C: Curve>(self) -> Scalar<C> {
        let mut signs = [Words::<C>::ZERO; 2];
        for (place, negative) in self.digits() {
            signs[usize::from(negative)].as_mut()[place / LIMB_BITS] |= 1 << (place % LIMB_BITS);
        }
        let [plus, minus] = signs.each_ref().map(Scalar::from_integer_below_2n);
        plus.add(&minus.negate())
    }
}

/// An equation R = u₁·G + u₂·Q of public values.
pub(crate) struct Equation<'a, C: Curve> {
    /// R.
    pub(crate) sum: AffinePoint<C>,
    pub(crate) u1: Scalar<C>,
    pub(crate) u2: Scalar<C>,
    /// Q.
    pub(crate) point: &'a AffinePoint<C>,
    /// The precomputed multiples of Q, if there are any.
    pub(crate) multiples: Option<&'a [Limb]>,
}

/// Up to [`TOGETHER`] equations.
pub(crate) type Equations<'a, C> = [Option<Equation<'a, C>>; TOGETHER];

/// Returns whether all equations hold. There is at least one. The factors are fixed after the
/// equations. The result is `false` for a point off the curve, and if a sum is infinity.
pub(crate) fn all_hold_vartime<C: Curve>(
    equations: &Equations<'_, C>,
    factors: &[Factor; TOGETHER],
) -> bool {
    C::all_hold_vartime(AllHold { equations, factors })
}

/// Tests a combination of equations.
pub struct AllHold<'a, C: Curve> {
    equations: &'a Equations<'a, C>,
    factors: &'a [Factor; TOGETHER],
}

impl<C: Curve> CurveTask<C::Field> for AllHold<'_, C> {
    type Output = bool;

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) -> bool {
        let sums = self.equations.each_ref().map(|equation| {
            equation.as_ref().map(|it| Affine::<C, A>::of_points(arithmetic, &[it.sum]))
        });
        // Off the curve, the formulas prove nothing. The points are public.
        let on_curve =
            |sum: &Affine<C, A>| sum.y.square().equal(&right_side::<C, A>(&sum.x)).reveal_any();
        if !sums.iter().flatten().all(on_curve) {
            return false;
        }
        self.left(&sums).is_some_and(|left| {
            let right = self.right(arithmetic);
            let finite = !left.is_infinity() & !right.is_infinity();
            // Whether the signatures are valid is the task's result.
            (left.equal_if_finite(&right) & finite).reveal_any()
        })
    }
}

impl<C: Curve> AllHold<'_, C> {
    /// Returns Σ z·R; `None` for infinity.
    fn left<A: CurveArithmetic<C::Field>>(
        &self,
        sums: &[Option<Affine<C, A>>; TOGETHER],
    ) -> Option<Jacobian<C, A>> {
        // Bit i of the masks of a place stands for a digit of equation i, 1 or −1.
        let mut masks = [[0_u16; 2]; PLACES];
        for (i, factor) in self.factors.iter().enumerate().filter(|(i, _)| sums[*i].is_some()) {
            for (place, negative) in factor.digits() {
                masks[place][usize::from(negative)] |= 1 << i;
            }
        }
        let mut sum = Running::new();
        for [mut plus, mut minus] in masks.into_iter().rev() {
            sum.double();
            while let Some(point) = next(sums, &mut plus) {
                sum.add_affine(point);
            }
            while let Some(Affine { x, y }) = next(sums, &mut minus) {
                sum.add_affine(&Affine { x: *x, y: -y });
            }
        }
        sum.finish()
    }

    /// Returns (Σ z·u₁)·G + Σ z·u₂·Q.
    fn right<A: CurveArithmetic<C::Field>>(&self, arithmetic: A) -> Jacobian<C, A> {
        use core::slice::from_ref;
        let factors = self.factors.map(Factor::scalar);
        let terms = || {
            let terms = self.equations.iter().zip(&factors);
            terms.filter_map(|(equation, factor)| Some((equation.as_ref()?, factor)))
        };
        let of_g =
            Scalar::sum_of_products(terms().map(|(equation, factor)| (&equation.u1, factor)));
        let mut sum = base_multiple::<C, A>(arithmetic, from_ref(&of_g));
        for (i, (first, _)) in terms().enumerate() {
            let same = |equation: &Equation<'_, C>| core::ptr::eq(equation.point, first.point);
            if terms().take(i).any(|(equation, _)| same(equation)) {
                continue;
            }
            let equal = terms().filter(|(equation, _)| same(equation));
            let scalar =
                Scalar::sum_of_products(equal.map(|(equation, factor)| (&equation.u2, factor)));
            let scalar = from_ref(&scalar);
            sum = sum.add_any(&match first.multiples {
                Some(multiples) => prepared_multiple(arithmetic, scalar, &[multiples]),
                None => point_multiple(scalar, &Affine::of_points(arithmetic, &[*first.point])),
            });
        }
        sum
    }
}

/// Takes the lowest bit off a mask, and returns the point that it stands for.
fn next<'a, T>(points: &'a [Option<T>; TOGETHER], mask: &mut u16) -> Option<&'a T> {
    let lowest = points.get(mask.trailing_zeros() as usize)?;
    *mask &= *mask - 1;
    lowest.as_ref()
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use num_bigint::BigInt;
    use proptest::prelude::*;

    use super::super::{P192, P521};
    use super::*;

    /// Returns Σ ±2^place.
    fn value(factor: Factor) -> BigInt {
        let digit = |(place, negative)| {
            let power: BigInt = BigInt::from(1) << place;
            if negative { -power } else { power }
        };
        factor.digits().map(digit).sum()
    }

    /// Returns the places and signs of an integer's non-adjacent form, from the definition: while
    /// it is odd, the digit is the one that makes the rest a multiple of 4.
    fn non_adjacent(mut integer: BigInt) -> Vec<(usize, bool)> {
        let (mut digits, mut place) = (Vec::new(), 0);
        while integer != BigInt::ZERO {
            if integer.bit(0) {
                let negative = integer.bit(1);
                integer += if negative { 1 } else { -1 };
                digits.push((place, negative));
            }
            integer >>= 1;
            place += 1;
        }
        digits
    }

    fn check<C: Curve>(factor: Factor) {
        let mut slow = Scalar::<C>::zero();
        let digits: Vec<_> = factor.digits().collect();
        for place in (0..PLACES).rev() {
            slow = slow.add(&slow);
            for (_, negative) in digits.iter().filter(|(at, _)| *at == place) {
                let one = Scalar::one();
                slow = slow.add(&if *negative { one.negate() } else { one });
            }
        }
        assert!(factor.scalar::<C>().equal(&slow).reveal());
    }

    fn is_sound(factor: Factor) {
        let digits: Vec<_> = factor.digits().collect();
        // The non-adjacent form of an integer is unique, and tells the bits of the factor.
        assert_eq!(digits, non_adjacent(value(factor)));
        assert!(digits.iter().all(|(place, _)| *place < PLACES));
        let mut next = 0;
        let bits = digits.iter().enumerate().fold(0, |bits, (i, (place, negative))| {
            let code = 2 * (place - next) + usize::from(*negative);
            next = place + 2;
            bits | (code as u64) << (4 * i)
        });
        assert_eq!((bits, digits.len()), (factor.bits, factor.digits));
        check::<P192>(factor);
        check::<P521>(factor);
    }

    #[test]
    fn one_and_the_factors_at_both_ends_are_sound() {
        assert_eq!(value(Factor::ONE), BigInt::from(1));
        is_sound(Factor::ONE);
        for bits in [0, 1, u64::MAX, u64::MAX - 1, u64::MAX / 0xf, 0xeeee_eeee_eeee_eeee] {
            is_sound(Factor::from_bits(bits));
        }
        let most = Factor::from_bits(u64::MAX).digits().map(|(place, _)| place).max();
        assert_eq!(most, Some(PLACES - 1));
    }

    proptest! {
        #[test]
        fn different_bits_are_different_factors(bits: u64) {
            is_sound(Factor::from_bits(bits));
        }
    }
}
