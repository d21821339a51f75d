//! The boundary to C: a panic ends a call with an error instead of crossing it.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a call from C and returns its result, or that of a failure if it panics. A panic is a
/// defect of this module; objects that it touched stay valid, because Rust's own locks and
/// references guard them.
pub(crate) fn guarded<T>(failed: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(failed)
}

/// Runs a call whose result is 1 for success and 0 for failure.
pub(crate) fn succeeds(call: impl FnOnce() -> bool) -> c_int {
    guarded(0, || c_int::from(call()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure() {
        assert_eq!(succeeds(|| true), 1);
        assert_eq!(succeeds(|| false), 0);
        assert_eq!(succeeds(|| panic!("a defect")), 0);
    }
}
