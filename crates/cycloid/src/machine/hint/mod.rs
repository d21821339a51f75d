//! Optimisation barriers, marks for the tracer, prefetching: what plain Rust cannot express.

#[cfg(any(not(target_arch = "x86_64"), miri))]
mod plain;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86_64;

#[cfg(any(not(target_arch = "x86_64"), miri))]
pub(super) use plain::{barrier, hidden, hidden_each_time, mark, prefetch, public_value};
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) use x86_64::{barrier, hidden, hidden_each_time, mark, prefetch, public_value};
