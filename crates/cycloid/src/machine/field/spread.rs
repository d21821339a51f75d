//! One element of an extension field of BLS12-381's base field, its coefficients side by side.
//!
//! A coefficient is in a lane of a vector, so one product of vectors computes eight products of a
//! formula. A formula needs three kinds of steps, all with the lanes of their operands in any
//! order: sums of products, their reduction, and sums of few coefficients with small factors.
//!
//! An element of Fp2 is a lane of two vectors, of its real and its imaginary part. A product of
//! Fp2 is three products of vectors (Karatsuba and Ofman, 1962): of the real parts, of the
//! imaginary parts, and of the sums of both.

use super::super::lanes::{LANES, Lanes};
use super::super::words::Limb;

/// A lane that takes part in nothing.
pub const NONE: u8 = 16;

/// The order of the lanes of both factors of a product of vectors: each lane takes one of the 16
/// lanes of two vectors.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub(super) left: Lanes,
    pub(super) right: Lanes,
}

impl Order {
    /// Returns an order: lanes from 0 to 7 are of the first vector, from 8 to 15 of the second.
    pub const fn new(left: [u8; LANES], right: [u8; LANES]) -> Self {
        Self { left: indices(left), right: indices(right) }
    }
}

/// A term of a [`Combination`]: a multiple of a permutation of the lanes of two of its vectors.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    pub(super) times: i8,
    pub(super) vectors: [usize; 2],
    pub(super) lanes: Lanes,
    /// The lanes that are not [`NONE`].
    pub(super) some: u8,
    /// Whether every lane stays where it is.
    pub(super) in_place: bool,
}

impl Term {
    /// No term.
    pub(super) const EMPTY: Self = Self::new(1, 0, [NONE; LANES]);

    /// Returns `times` the lanes of one vector; the factor is ±1, 2, 3, 4, 8 or 12.
    pub const fn new(times: i8, vector: usize, lanes: [u8; LANES]) -> Self {
        Self::of_two(times, [vector, vector], lanes)
    }

    /// The same of two vectors: lanes from 0 to 7 are of the first, from 8 to 15 of the second.
    pub const fn of_two(times: i8, vectors: [usize; 2], lanes: [u8; LANES]) -> Self {
        assert!(matches!(times.unsigned_abs(), 1 | 2 | 3 | 4 | 8 | 12));
        let (mut some, mut in_place) = (0, true);
        let mut lane = 0;
        while lane < LANES {
            if lanes[lane] != NONE {
                some |= 1 << lane;
                in_place &= lanes[lane] as usize == lane;
            }
            lane += 1;
        }
        Self { times, vectors, lanes: indices(lanes), some, in_place }
    }
}

const fn indices(lanes: [u8; LANES]) -> Lanes {
    let mut indices = Lanes::ZERO;
    let mut lane = 0;
    while lane < LANES {
        if lanes[lane] != NONE {
            assert!(lanes[lane] < 16);
            indices.0[lane] = lanes[lane] as Limb;
        }
        lane += 1;
    }
    indices
}

/// The maximum number of terms of a combination.
pub(super) const MAX_TERMS: usize = 6;

/// A linear combination of lanes of `N` vectors.
pub trait Combination<const N: usize> {
    /// The terms; the magnitudes of the factors of a lane add up to at most 40, and of the negative
    /// ones to at most 20.
    const TERMS: &'static [Term];
}
