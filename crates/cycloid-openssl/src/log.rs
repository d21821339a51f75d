//! A log of operations, for finding out what Cycloid computes: one line for each, with the
//! operation, and `cycloid` or `default` for who computes it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;

static LOG: OnceLock<Option<File>> = OnceLock::new();

/// Opens the log, a file that lines are appended to, and returns whether there is one. Only the first
/// call counts.
pub(crate) fn open(path: &str) -> bool {
    LOG.get_or_init(|| OpenOptions::new().append(true).create(true).open(path).ok()).is_some()
}

/// Who computes an operation.
#[derive(Clone, Copy)]
pub(crate) enum By {
    /// This module.
    Cycloid,
    /// OpenSSL's default provider.
    Default,
}

/// Writes a line, if there is a log.
pub(crate) fn write(by: By, operation: &str, what: &str) {
    let Some(Some(file)) = LOG.get() else { return };
    let by = match by {
        By::Cycloid => "cycloid",
        By::Default => "default",
    };
    // Written at once, so lines of several processes do not mix.
    let line = format!("{by} {operation} {what}\n");
    let _ = (&*file).write_all(line.as_bytes());
}
