//! Floor 2: arithmetic on numbers. No bytes, no formats, no `unsafe`.

#[cfg(feature = "bls12-381")]
pub(crate) mod bls12_381;
pub(crate) mod curve;
pub(crate) mod field;
pub(crate) mod jacobi;
pub mod modular;
pub mod prime;
pub(crate) mod random;
