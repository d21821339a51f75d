//! The pairing as an engine, and GT as a group.
//!
//! Time depends on the number of pairs and on which points are infinity.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Add;

use ff::Field;
use pairing::{Engine, MultiMillerLoop, PairingCurveAffine};
use rand_core_0_6::RngCore;
use subtle::Choice;

use super::points::choice;
use crate::scheme::bls12_381::backend::{Backend, FieldConstants, Pairing};
use crate::scheme::bls12_381::projective::CHUNK;
use crate::scheme::bls12_381::{
    self, Cycloid, Fq12, Fr, G1, G1Affine, G2, G2Affine, G2Prepared, Gt, miller_loop_prepared,
};

/// BLS12-381 with the backend `B` as an engine, for code that is generic over the traits of the
/// crates `ff`, `group` and `pairing`. It has no values to compute with.
///
/// The traits write GT additively: `+` is the product of two members, and `*` with a scalar a power
/// of one. Scalars and encodings have the bytes of the crate `bls12_381`.
///
/// Multiples, powers and the operations on scalars take the same time for all values, except those
/// ending in `_vartime` and the wNAF of the crate `group`. Whether a point is infinity is public,
/// and so is whether an encoding is valid. `random` has no error in these traits: a generator that
/// cannot fail must be given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bls12<B = Cycloid>(PhantomData<B>);

impl<B: Backend + FieldConstants + fmt::Debug> Engine for Bls12<B> {
    type Fr = Fr<B>;
    type G1 = G1<B>;
    type G1Affine = G1Affine<B>;
    type G2 = G2<B>;
    type G2Affine = G2Affine<B>;
    type Gt = Gt<B>;

    fn pairing(p: &G1Affine<B>, q: &G2Affine<B>) -> Gt<B> {
        bls12_381::pairing(p, q)
    }
}

impl<B: Backend + FieldConstants + fmt::Debug> MultiMillerLoop for Bls12<B> {
    type G2Prepared = G2Prepared<B>;
    type Result = MillerLoopResult<B>;

    fn multi_miller_loop(terms: &[(&G1Affine<B>, &G2Prepared<B>)]) -> MillerLoopResult<B> {
        let mut result = MillerLoopResult::default();
        for terms in terms.chunks(CHUNK) {
            let Some((_, first)) = terms.first() else { continue };
            let (mut points, mut lines) = ([G1Affine::identity(); CHUNK], [*first; CHUNK]);
            for (((p, q), point), line) in terms.iter().zip(&mut points).zip(&mut lines) {
                (*point, *line) = (**p, *q);
            }
            match miller_loop_prepared(&points[..terms.len()], &lines[..terms.len()]) {
                Ok(product) => result += MillerLoopResult(product),
                Err(_) => unreachable!("as many points as lines"),
            }
        }
        result
    }
}

impl<B: Backend + FieldConstants> PairingCurveAffine for G1Affine<B> {
    type Pair = G2Affine<B>;
    type PairingResult = Gt<B>;

    fn pairing_with(&self, other: &G2Affine<B>) -> Gt<B> {
        bls12_381::pairing(self, other)
    }
}

impl<B: Backend + FieldConstants> PairingCurveAffine for G2Affine<B> {
    type Pair = G1Affine<B>;
    type PairingResult = Gt<B>;

    fn pairing_with(&self, other: &G1Affine<B>) -> Gt<B> {
        bls12_381::pairing(other, self)
    }
}

/// The product of Miller loops, before the final exponentiation; written additively, as
/// [`Gt`] is by these traits.
pub struct MillerLoopResult<B: Pairing = Cycloid>(Fq12<B>);

impl<B: Pairing + FieldConstants> pairing::MillerLoopResult for MillerLoopResult<B> {
    type Gt = Gt<B>;

    fn final_exponentiation(&self) -> Gt<B> {
        // The value of a Miller loop is never 0.
        self.0.final_exponentiation().unwrap_or_else(Gt::one)
    }
}

impl<B: Pairing> Default for MillerLoopResult<B> {
    /// Returns the product of no Miller loops.
    fn default() -> Self {
        Self(Fq12::one())
    }
}

impl<B: Pairing> Clone for MillerLoopResult<B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Pairing> Copy for MillerLoopResult<B> {}

impl<B: Pairing> fmt::Debug for MillerLoopResult<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MillerLoopResult").field(&self.0).finish()
    }
}

impl<B: Pairing> Add for MillerLoopResult<B> {
    type Output = Self;

    #[expect(clippy::suspicious_arithmetic_impl, reason = "the group is written additively")]
    fn add(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
}

impl<B: Pairing + FieldConstants> group::Group for Gt<B> {
    type Scalar = Fr<B>;

    /// Returns a uniform power of the generator that is not 1.
    fn random(mut rng: impl RngCore) -> Self {
        loop {
            let member = Self::generator().pow(&<Fr<B> as Field>::random(&mut rng));
            if !member.is_one() {
                return member;
            }
        }
    }

    fn identity() -> Self {
        Self::one()
    }

    fn generator() -> Self {
        Self::generator()
    }

    fn is_identity(&self) -> Choice {
        choice(self.is_one())
    }

    fn double(&self) -> Self {
        self.square()
    }
}
