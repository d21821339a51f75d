//! Cycloid's own arithmetic as a backend.
//!
//! Memory holds words in Montgomery form, the form of the backends for one number: an element of Fp
//! is six words, a point its homogeneous coordinates, an affine point its two coordinates. Affine
//! infinity is (0, 0), which is on neither curve. Lists run eight side by side if the processor has
//! vectors ([`each`]).

pub(super) mod curve;
mod each;
pub(super) mod field;
pub(super) mod formula;
mod group;
mod msm;
mod pairing;
#[cfg(feature = "internals")]
pub mod raw;
mod scalars;
mod shared_inversion;
mod side_by_side;
#[cfg(test)]
mod tests;
mod threads;

use super::backend::Backend;
use super::cycloid::Cycloid;

impl Backend for Cycloid {
    const NAME: &'static str = "cycloid";
}
