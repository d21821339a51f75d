//! The journal of name servers.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::net::undo::{Journal, OpenError, Scope};

/// Timeout for the helper of an earlier run, which restores name servers after its client was
/// killed.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Opens an instance's journal of name servers, and undoes the changes of an earlier run. Returns
/// warnings too.
///
/// # Errors
/// See [`OpenError`].
pub(in crate::service) fn open(
    directory: &Path,
    instance: &str,
) -> Result<(Journal, Vec<String>), OpenError> {
    let end = Instant::now() + TIMEOUT;
    let mut journal = loop {
        match Journal::open(directory, instance, Scope::Names) {
            Err(OpenError::Running) if Instant::now() < end => {
                thread::sleep(Duration::from_millis(5));
            }
            outcome => break outcome?,
        }
    };
    let problems = undo(&mut journal);
    Ok((journal, problems))
}

/// Undoes all changes. Returns what went wrong.
pub(in crate::service) fn undo(journal: &mut Journal) -> Vec<String> {
    let failed = journal.undo().into_iter();
    failed.map(|(undo, error)| format!("cannot undo {undo}: {error}")).collect()
}
