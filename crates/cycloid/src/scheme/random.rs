//! Drawing from random generators, and detecting broken ones.

pub(super) use crate::math::random::{DRAWS, cause, fill, fill_limbs};

#[cfg(test)]
pub(super) mod tests;
