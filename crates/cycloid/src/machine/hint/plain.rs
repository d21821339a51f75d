//! Without instructions of an architecture: marks and prefetching do nothing.

use super::super::limb::Limb;

/// Returns `x`, hiding its value from the compiler.
#[inline(always)]
pub(in super::super) fn barrier(x: Limb) -> Limb {
    core::hint::black_box(x)
}

/// Returns the same reference.
#[inline(always)]
pub(in super::super) fn hidden<T>(reference: &T) -> &T {
    reference
}

/// Returns the same reference.
#[inline(always)]
pub(in super::super) fn hidden_each_time<T>(reference: &T) -> &T {
    reference
}

/// Does nothing.
#[inline(always)]
pub(in super::super) fn mark<const MEANING: i32, T>(_memory: &[T]) {}

/// Returns `x`.
#[inline(always)]
pub(in super::super) fn public_value(x: Limb) -> Limb {
    x
}

/// Does nothing.
#[inline(always)]
pub(in super::super) fn prefetch(_line: &[Limb]) {}
