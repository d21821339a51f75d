//! Field elements: residues modulo a prime, one or eight side by side, with operators for writing
//! formulas.

mod invert;
mod power;
mod root;
#[cfg(test)]
mod tests;

use core::ops::{Add, Mul, Neg, Sub};

use crate::machine::field::{Arithmetic, Limbs, Prime};
use crate::machine::lanes::LANES;

/// [`WIDTH`](Arithmetic::WIDTH) residues modulo `P`, computed with the backend `A`.
///
/// The backend is a token, so an element proves that its instructions may be executed.
pub(crate) struct Element<P: Prime, A: Arithmetic<P>> {
    value: A::Element,
    arithmetic: A,
}

impl<P: Prime, A: Arithmetic<P>> Clone for Element<P, A> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Prime, A: Arithmetic<P>> Copy for Element<P, A> {}

impl<P: Prime, A: Arithmetic<P>> Element<P, A> {
    #[inline(always)]
    pub(crate) fn from_raw(arithmetic: A, value: A::Element) -> Self {
        Self { value, arithmetic }
    }

    #[inline(always)]
    pub(crate) fn raw(&self) -> &A::Element {
        &self.value
    }

    #[inline(always)]
    pub(crate) fn arithmetic(&self) -> A {
        self.arithmetic
    }

    /// Returns 0 in each of the numbers.
    #[inline(always)]
    pub(crate) fn zero(arithmetic: A) -> Self {
        Self { value: A::ZERO, arithmetic }
    }

    /// Returns 1 in each of the numbers.
    pub(crate) fn one(arithmetic: A) -> Self {
        let mut one = P::Words::ZERO;
        one.as_mut()[0] = 1;
        Self::constant(arithmetic, &one)
    }

    /// Returns the same integer below 2^[`BITS`](Prime::BITS) in each of the numbers.
    pub(crate) fn constant(arithmetic: A, integer: &P::Words) -> Self {
        Self::load(arithmetic, &[*integer; MAX_WIDTH][..A::WIDTH])
    }

    /// Calls [`Arithmetic::load`].
    pub(crate) fn load(arithmetic: A, numbers: &[P::Words]) -> Self {
        Self { value: arithmetic.load(numbers), arithmetic }
    }

    /// Calls [`Arithmetic::store`].
    pub(crate) fn store(&self, numbers: &mut [P::Words]) {
        self.arithmetic.store(&self.value, numbers);
    }

    /// Returns this element squared.
    #[inline(always)]
    pub(crate) fn square(&self) -> Self {
        self.with(self.arithmetic.square(&self.value))
    }

    /// Returns this element squared `times` times; `times` is public.
    #[inline(always)]
    pub(crate) fn square_times(&self, times: usize) -> Self {
        self.with(self.arithmetic.square_times(&self.value, times))
    }

    /// Returns twice this element.
    #[inline(always)]
    pub(crate) fn double(&self) -> Self {
        self.with(self.arithmetic.double(&self.value))
    }

    /// Returns where this is the same residue as `other`.
    #[inline(always)]
    pub(crate) fn equal(&self, other: &Self) -> A::Mask {
        self.arithmetic.equal(&self.value, &other.value)
    }

    /// Returns where this is 0.
    #[inline(always)]
    pub(crate) fn is_zero(&self) -> A::Mask {
        self.arithmetic.equal(&self.value, &A::ZERO)
    }

    /// Returns `a` where `mask` is true, `b` where it is false.
    #[inline(always)]
    pub(crate) fn select(mask: A::Mask, a: &Self, b: &Self) -> Self {
        a.with(a.arithmetic.select(mask, &a.value, &b.value))
    }

    /// Returns this element, negated where `mask` is true.
    #[inline(always)]
    pub(crate) fn negate_if(&self, mask: A::Mask) -> Self {
        Self::select(mask, &-self, self)
    }

    #[inline(always)]
    fn with(&self, value: A::Element) -> Self {
        Self { value, arithmetic: self.arithmetic }
    }
}

/// The most numbers that an element holds. Armv7E-M has no vectors, and room on the stack for eight
/// would be most of what an operation on a curve uses; the lists of BLS12-381 have it in any case.
pub(crate) const MAX_WIDTH: usize =
    if cfg!(all(cycloid_armv7em, not(feature = "bls12-381"))) { 1 } else { LANES };

impl<P: Prime, A: Arithmetic<P>> Add for &Element<P, A> {
    type Output = Element<P, A>;

    #[inline(always)]
    fn add(self, other: Self) -> Element<P, A> {
        self.with(self.arithmetic.add(&self.value, &other.value))
    }
}

impl<P: Prime, A: Arithmetic<P>> Sub for &Element<P, A> {
    type Output = Element<P, A>;

    #[inline(always)]
    fn sub(self, other: Self) -> Element<P, A> {
        self.with(self.arithmetic.sub(&self.value, &other.value))
    }
}

impl<P: Prime, A: Arithmetic<P>> Mul for &Element<P, A> {
    type Output = Element<P, A>;

    #[inline(always)]
    fn mul(self, other: Self) -> Element<P, A> {
        self.with(self.arithmetic.mul(&self.value, &other.value))
    }
}

impl<P: Prime, A: Arithmetic<P>> Neg for &Element<P, A> {
    type Output = Element<P, A>;

    #[inline(always)]
    fn neg(self) -> Element<P, A> {
        self.with(self.arithmetic.negate(&self.value))
    }
}
