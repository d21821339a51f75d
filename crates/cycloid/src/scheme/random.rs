//! What schemes draw from random generators, and what they make of broken ones.

pub(super) use crate::math::random::{DRAWS, cause, fill, fill_limbs};

#[cfg(test)]
pub(super) mod tests;
