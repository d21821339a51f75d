//! Floor 2: numbers. No bytes, no formats, no `unsafe`.

pub mod modular;
pub mod prime;
