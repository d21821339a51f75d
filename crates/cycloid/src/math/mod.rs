//! Floor 2: numbers. No bytes, no formats, no `unsafe`.

pub(crate) mod curve;
pub(crate) mod field;
pub(crate) mod jacobi;
pub mod modular;
pub mod prime;
