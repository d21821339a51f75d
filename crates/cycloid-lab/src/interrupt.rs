//! Handles Ctrl-C: measurements check a flag between batches and abandon the current table.
//!
//! This module catches no signal; the program's signal handler sets the flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use crate::Failure;

/// The message of a batch that was not run.
pub(crate) const MESSAGE: &str = "interrupted";

static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Returns the process-wide flag that ends a run when set.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&FLAG)
}

/// Returns whether the run should end.
pub fn requested() -> bool {
    FLAG.load(Ordering::Relaxed)
}

/// Ends the current table on an interrupt; [`crate::suite::run`] does not pass this error on.
///
/// # Errors
/// If the run should end.
pub fn check() -> Result<(), Failure> {
    match requested() {
        true => Err(Failure::new(MESSAGE, "finished tables are kept")),
        false => Ok(()),
    }
}
