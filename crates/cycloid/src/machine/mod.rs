//! Floor 1: what depends on the processor. The only `unsafe` of the library is below this module.
//!
//! Public for those who test, measure or build on the limbs themselves; no promise of stability
//! is made for it.

#![allow(unsafe_code)]

pub mod across;
pub mod cpu;
pub mod ct;
pub mod field;
pub mod lanes;
pub mod prefetch;
pub mod stack;
pub mod words;
