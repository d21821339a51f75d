//! The optimal ate pairing e: G1 × G2 → GT, in its two halves and whole.
//!
//! Time depends on the number of pairs and on which points are infinity.

use super::backend::Pairing;
use super::error::equal_counts;
use super::projective::CHUNK;
use super::{Cycloid, Error, Fq12, G1Affine, G2Affine, Gt};
use crate::machine::stack;
use crate::scheme::stack_use;

impl<B: Pairing> Gt<B> {
    /// Returns the pairing of the generators of G1 and G2.
    pub fn generator() -> Self {
        pairing(&G1Affine::<B>::generator(), &G2Affine::generator())
    }
}

/// The precomputed lines of a Miller loop for a point of G2, which make the loop faster.
pub struct G2Prepared<B: Pairing = Cycloid>(Option<B::Prepared>);

impl<B: Pairing> Clone for G2Prepared<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Pairing> From<G2Affine<B>> for G2Prepared<B> {
    fn from(point: G2Affine<B>) -> Self {
        Self((!point.is_identity()).then(|| B::prepare(point.raw())))
    }
}

impl<B: Pairing> G2Prepared<B> {
    /// Returns whether the point is infinity.
    pub const fn is_identity(&self) -> bool {
        self.0.is_none()
    }
}

/// Returns the product of the Miller loops of any number of pairs (pᵢ, qᵢ). A pair with infinity
/// counts as 1.
///
/// The result is meant for [`Fq12::final_exponentiation`]; before it, backends may differ.
///
/// # Errors
/// [`Error::Counts`].
pub fn miller_loop<B: Pairing>(p: &[G1Affine<B>], q: &[G2Affine<B>]) -> Result<Fq12<B>, Error> {
    stack::clean(stack_use::bls_pairings(p.len()), || miller_loop_in_frames(p, q))
}

/// Like [`miller_loop`], but does not clean the points from the stack.
pub(super) fn miller_loop_in_frames<B: Pairing>(
    p: &[G1Affine<B>],
    q: &[G2Affine<B>],
) -> Result<Fq12<B>, Error> {
    equal_counts(p.len(), q.len())?;
    if !p.iter().zip(q).any(|(p, q)| p.is_identity() || q.is_identity()) {
        return Ok(Fq12::from_raw(B::miller_loop(p, q)));
    }
    Ok(miller_loop_of_finite(p, q))
}

/// Infinity is rare; if present, the remaining pairs are copied.
#[inline(never)]
fn miller_loop_of_finite<B: Pairing>(p: &[G1Affine<B>], q: &[G2Affine<B>]) -> Fq12<B> {
    let mut product = Fq12::one();
    for (p, q) in p.chunks(CHUNK).zip(q.chunks(CHUNK)) {
        let mut finite = ([G1Affine::identity(); CHUNK], [G2Affine::identity(); CHUNK]);
        let mut count = 0;
        let finite_pairs = p.iter().zip(q).filter(|(p, q)| !p.is_identity() && !q.is_identity());
        for (p, q) in finite_pairs {
            (finite.0[count], finite.1[count]) = (*p, *q);
            count += 1;
        }
        product *= Fq12::from_raw(B::miller_loop(&finite.0[..count], &finite.1[..count]));
    }
    product
}

/// Like [`miller_loop`], with prepared lines.
///
/// # Errors
/// [`Error::Counts`].
pub fn miller_loop_prepared<B: Pairing>(
    p: &[G1Affine<B>],
    q: &[&G2Prepared<B>],
) -> Result<Fq12<B>, Error> {
    stack::clean(stack_use::BLS_PAIRING, || {
        equal_counts(p.len(), q.len())?;
        let mut product = None;
        for (p, q) in p.chunks(CHUNK).zip(q.chunks(CHUNK)) {
            let mut points = [G1Affine::identity(); CHUNK];
            let mut lines = [None; CHUNK];
            let finite = p.iter().zip(q).filter(|(p, _)| !p.is_identity());
            let mut count = 0;
            for (p, line) in finite.filter_map(|(p, q)| Some((p, q.0.as_ref()?))) {
                (points[count], lines[count]) = (*p, Some(line));
                count += 1;
            }
            let Some(first) = lines[0] else { continue };
            let lines = lines.map(|line| line.unwrap_or(first));
            let factor = Fq12::from_raw(B::miller_loop_prepared(&points[..count], &lines[..count]));
            product = Some(product.map_or(factor, |product: Fq12<B>| product * factor));
        }
        Ok(product.unwrap_or_else(Fq12::one))
    })
}

/// A product of pairings that is computed piece by piece, for pairs that arrive one after the other
/// or on several threads: products are merged, and one final exponentiation serves all pairs.
pub struct PairingProduct<B: Pairing = Cycloid> {
    p: [G1Affine<B>; CHUNK],
    q: [G2Affine<B>; CHUNK],
    /// Number of pairs whose Miller loops are not in `value` yet.
    collected: usize,
    value: Fq12<B>,
}

impl<B: Pairing> PairingProduct<B> {
    /// Returns the product of no pairings.
    pub fn new() -> Self {
        Self {
            p: [G1Affine::identity(); CHUNK],
            q: [G2Affine::identity(); CHUNK],
            collected: 0,
            value: Fq12::one(),
        }
    }

    /// Multiplies by the pairing of p and q.
    pub fn multiply(&mut self, p: &G1Affine<B>, q: &G2Affine<B>) {
        if self.collected == CHUNK {
            stack::clean(stack_use::bls_pairings(CHUNK), || self.compute());
        }
        (self.p[self.collected], self.q[self.collected]) = (*p, *q);
        self.collected += 1;
    }

    /// Like [`multiply`](Self::multiply), but does not clean the points from the stack.
    pub(super) fn multiply_in_frames(&mut self, p: &G1Affine<B>, q: &G2Affine<B>) {
        if self.collected == CHUNK {
            self.compute();
        }
        (self.p[self.collected], self.q[self.collected]) = (*p, *q);
        self.collected += 1;
    }

    /// Multiplies by another product.
    pub fn merge(&mut self, other: &Self) {
        self.value *= other.value;
        for (p, q) in other.p.iter().zip(&other.q).take(other.collected) {
            self.multiply(p, q);
        }
    }

    /// Returns the product.
    pub fn finish(self) -> Gt<B> {
        stack::clean(stack_use::bls_pairings(CHUNK), || self.finish_in_frames())
    }

    fn finish_in_frames(mut self) -> Gt<B> {
        self.compute();
        // The value of a Miller loop is never 0.
        self.value.final_exponentiation_in_frames().unwrap_or_else(Gt::one)
    }

    /// Returns whether the product is 1. Does not clean the points from the stack.
    pub(super) fn becomes_one_in_frames(mut self) -> bool {
        self.compute();
        becomes_one(&self.value)
    }

    fn compute(&mut self) {
        let pairs = (&self.p[..self.collected], &self.q[..self.collected]);
        if self.collected > 0 {
            match miller_loop_in_frames(pairs.0, pairs.1) {
                Ok(factor) => self.value *= factor,
                Err(_) => unreachable!("as many points of G1 as of G2"),
            }
        }
        self.collected = 0;
    }
}

impl<B: Pairing> Clone for PairingProduct<B> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<B: Pairing> Default for PairingProduct<B> {
    /// Returns the product of no pairings.
    fn default() -> Self {
        Self::new()
    }
}

/// Returns e(p, q): the final exponentiation of the Miller loop.
pub fn pairing<B: Pairing>(p: &G1Affine<B>, q: &G2Affine<B>) -> Gt<B> {
    stack::clean(stack_use::BLS_PAIRING, || {
        if p.is_identity() || q.is_identity() {
            return Gt::one();
        }
        let value = Fq12::<B>::from_raw(B::miller_loop_few(&[*p], &[*q]));
        // The value of a Miller loop is never 0.
        value.final_exponentiation_in_frames().unwrap_or_else(Gt::one)
    })
}

/// Returns whether e(p₀, q₀) · e(p₁, q₁) = 1. Does not clean the points from the stack.
pub(super) fn two_pairings_cancel<B: Pairing>(p: &[G1Affine<B>; 2], q: &[G2Affine<B>; 2]) -> bool {
    let is_finite = |i: usize| !p[i].is_identity() && !q[i].is_identity();
    match (is_finite(0), is_finite(1)) {
        (true, true) => becomes_one(&Fq12::<B>::from_raw(B::miller_loop_few(p, q))),
        // The pairing of two finite members is not 1, since the groups have a prime order.
        (true, false) | (false, true) => false,
        (false, false) => true,
    }
}

/// Returns whether the final exponentiation of a value is 1. The value of a Miller loop is never 0;
/// if it were, this would refuse.
fn becomes_one<B: Pairing>(value: &Fq12<B>) -> bool {
    value.final_exponentiation_in_frames().is_some_and(|value| value.is_one())
}

/// Returns e(p₀, q₀) · e(p₁, q₁) · …, with one final exponentiation.
///
/// # Errors
/// [`Error::Counts`].
pub fn multi_pairing<B: Pairing>(p: &[G1Affine<B>], q: &[G2Affine<B>]) -> Result<Gt<B>, Error> {
    stack::clean(stack_use::bls_pairings(p.len()), || multi_pairing_in_frames(p, q))
}

fn multi_pairing_in_frames<B: Pairing>(
    p: &[G1Affine<B>],
    q: &[G2Affine<B>],
) -> Result<Gt<B>, Error> {
    // The value of a Miller loop is never 0.
    let value = miller_loop_in_frames(p, q)?;
    Ok(value.final_exponentiation_in_frames().unwrap_or_else(Gt::one))
}

/// Returns whether e(p₀, q₀) · e(p₁, q₁) · … = 1; true for no pairs.
///
/// # Errors
/// [`Error::Counts`].
pub fn pairing_check<B: Pairing>(p: &[G1Affine<B>], q: &[G2Affine<B>]) -> Result<bool, Error> {
    stack::clean(stack_use::bls_pairings(p.len()), || {
        Ok(becomes_one(&miller_loop_in_frames(p, q)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_of_zero_refuses() {
        assert!(becomes_one(&Fq12::<Cycloid>::one()));
        assert!(!becomes_one(&Fq12::<Cycloid>::zero()));
        let zero = || PairingProduct::<Cycloid> { value: Fq12::zero(), ..PairingProduct::new() };
        assert_eq!(zero().finish(), Gt::one(), "its type has no 0");
        assert!(!zero().becomes_one_in_frames());
        assert!(PairingProduct::<Cycloid>::new().becomes_one_in_frames());
    }
}
