//! Cycloid's own arithmetic as a backend.
//!
//! Everything lies in memory as words in Montgomery's form, which is what the backends for one number
//! compute with: an element of Fp is six words, a point its homogeneous coordinates, an affine one its
//! two coordinates, and infinity (0, 0), which is on neither curve. What comes in lists goes eight side
//! by side where the processor has vectors for it ([`each`]).

mod curve;
mod each;
mod group;
mod lists;
mod msm;
mod pairing;
mod scalars;
#[cfg(test)]
mod tests;
mod threads;

use super::backend::Backend;

/// Cycloid's own arithmetic: portable, ADX, and AVX-512 for eight side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycloid;

impl Backend for Cycloid {
    const NAME: &'static str = "cycloid";
}
