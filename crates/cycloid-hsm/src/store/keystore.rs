//! The state of a keystore in this process: its database, its keys, and the last view of its rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::database::Database;
use super::keyring::Keyring;
use super::manifest::{Generation, Term, View};
use super::seal::Identity;
use super::violation::{Name, Violation};

/// A keystore, locked or unlocked, for use by any number of threads.
pub struct Store {
    pub(super) database: Database,
    pub(super) identity: Identity,
    pub(super) keys: RwLock<Option<Arc<Keyring>>>,
    /// Held while the database is written or the view changes.
    pub(super) writer: Mutex<()>,
    pub(super) view: RwLock<Option<View>>,
}

/// Shows the location and whether it is locked.
impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = if self.is_locked() { "locked" } else { "unlocked" };
        write!(f, "Store({}, {state})", self.database)
    }
}

impl Store {
    /// Returns the keystore's serial number: 16 hexadecimal digits.
    pub fn serial(&self) -> String {
        self.identity[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn check_seen(
        &self,
        name: &Name,
        generation: Generation,
        term: &Term,
    ) -> Result<(), Violation> {
        match &*self.view() {
            Some(view) => view.check(name, generation, term),
            None => Ok(()),
        }
    }

    pub(super) fn writer(&self) -> MutexGuard<'_, ()> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn view(&self) -> RwLockReadGuard<'_, Option<View>> {
        self.view.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn view_mut(&self) -> RwLockWriteGuard<'_, Option<View>> {
        self.view.write().unwrap_or_else(PoisonError::into_inner)
    }
}
