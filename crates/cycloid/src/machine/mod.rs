//! Floor 1: processor-specific code. All `unsafe` of the library is below this module.
//!
//! Public for tests, measurements and code that works on limbs directly. Its interface is not
//! stable.

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
