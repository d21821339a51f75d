//! The operators of members of GT and of Miller loops, which the traits write additively.

use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::pairing::MillerLoopResult;
use crate::scheme::bls12_381::backend::Pairing;
use crate::scheme::bls12_381::operators::{assigning, by_reference, folds};
use crate::scheme::bls12_381::{Fr, Gt};

by_reference! {
    [B: Pairing] Gt<B>, Gt<B> => Gt<B>, Add, add;
    [B: Pairing] Gt<B>, Gt<B> => Gt<B>, Sub, sub;
    [B: Pairing] Gt<B>, Fr<B> => Gt<B>, Mul, mul;
    [B: Pairing] MillerLoopResult<B>, MillerLoopResult<B> => MillerLoopResult<B>, Add, add;
}

assigning! {
    [B: Pairing] Gt<B>, Gt<B>, AddAssign, add_assign, Add::add;
    [B: Pairing] Gt<B>, Gt<B>, SubAssign, sub_assign, Sub::sub;
    [B: Pairing] Gt<B>, &Gt<B>, AddAssign, add_assign, Add::add;
    [B: Pairing] Gt<B>, &Gt<B>, SubAssign, sub_assign, Sub::sub;
    [B: Pairing] Gt<B>, Fr<B>, MulAssign, mul_assign, Mul::mul;
    [B: Pairing] Gt<B>, &Fr<B>, MulAssign, mul_assign, Mul::mul;
    [B: Pairing] MillerLoopResult<B>, MillerLoopResult<B>, AddAssign, add_assign, Add::add;
    [B: Pairing] MillerLoopResult<B>, &MillerLoopResult<B>, AddAssign, add_assign, Add::add;
}

folds! {
    [B: Pairing] Gt<B>, Sum, sum;
}

impl<B: Pairing> Add for Gt<B> {
    type Output = Self;

    /// Returns the product of two members, in the notation of the trait `Group`.
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the trait writes groups additively")]
    fn add(self, other: Self) -> Self {
        self * other
    }
}

impl<B: Pairing> Sub for Gt<B> {
    type Output = Self;

    /// Returns the quotient of two members, in the notation of the trait `Group`.
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the trait writes groups additively")]
    fn sub(self, other: Self) -> Self {
        self / other
    }
}

impl<B: Pairing> Neg for Gt<B> {
    type Output = Self;

    /// Returns the inverse, in the notation of the trait `Group`.
    fn neg(self) -> Self {
        self.invert()
    }
}

impl<B: Pairing> Mul<Fr<B>> for Gt<B> {
    type Output = Self;

    /// Returns the power of a member, in the notation of the trait `Group`. Constant-time.
    fn mul(self, scalar: Fr<B>) -> Self {
        self.pow(&scalar)
    }
}

impl<B: Pairing> Sum for Gt<B> {
    fn sum<I: Iterator<Item = Self>>(members: I) -> Self {
        members.product()
    }
}
