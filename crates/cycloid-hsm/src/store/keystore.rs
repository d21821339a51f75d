//! The state of a keystore in this process: its database, its keys, and the last view of its rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use super::database::{Database, Watch};
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

/// Waits for changes by other daemons.
pub struct StoreWatch(Option<Box<dyn Watch>>);

impl std::fmt::Debug for StoreWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StoreWatch")
    }
}

impl StoreWatch {
    /// Waits until a daemon writes, if the database announces it, for `timeout` at most. Returns
    /// whether one did.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`](crate::Code::DEVICE_ERROR) if the database is lost.
    pub fn wait(&mut self, timeout: Duration) -> crate::Result<bool> {
        match &mut self.0 {
            Some(watch) => watch.wait(timeout),
            None => {
                std::thread::sleep(timeout);
                Ok(false)
            }
        }
    }
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

    /// Returns whether the database is on a server, which may become unreachable, and which other
    /// daemons may use.
    pub const fn is_remote(&self) -> bool {
        self.database.is_remote()
    }

    /// Returns a watch for changes by other daemons.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`](crate::Code::DEVICE_ERROR).
    pub fn watch(&self) -> crate::Result<StoreWatch> {
        self.database.watch().map(StoreWatch)
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
