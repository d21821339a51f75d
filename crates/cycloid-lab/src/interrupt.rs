//! Ctrl-C: whoever measures looks here between two batches, and gives up the table that it is at.
//!
//! Nothing here catches a signal; a program that does sets the flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use crate::Failure;

/// What a batch says that was not run.
pub(crate) const MESSAGE: &str = "interrupted";

static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// What to set to have a run end; for the whole process.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&FLAG)
}

/// Whether the run is to end.
pub fn requested() -> bool {
    FLAG.load(Ordering::Relaxed)
}

/// A table ends with this; [`crate::suite::run`] does not pass it on.
///
/// # Errors
/// If the run is to end.
pub(crate) fn check() -> Result<(), Failure> {
    match requested() {
        true => Err(Failure::new(MESSAGE, "what was finished is kept")),
        false => Ok(()),
    }
}
