//! Floor 1: processor-specific code. All `unsafe` of the library is below this module.
//!
//! With the feature `internals`, its interfaces are public.

#![allow(unsafe_code)]

pub mod across;
mod backends;
pub mod cpu;
pub mod ct;
pub mod field;
mod hint;
pub mod lanes;
mod limb;
#[cfg(feature = "alloc")]
pub(crate) mod pool;
pub mod prefetch;
pub mod stack;
pub mod words;
