//! Message authentication codes that run: their data comes in several requests.
//!
//! The state stays here, because an unfinished code in a program's hands would say more about the
//! key than a finished one. It belongs to an application, and ends with it, with a logout, and
//! when the keystore is locked.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::handle::next_in_memory;
use crate::crypto::RunningMac;
use crate::rpc::Usage;
use crate::{Code, Result};

/// The maximum number of codes that an application may have running; each takes about a kilobyte.
const MOST: usize = 256;

/// A code that runs.
pub(super) struct Operation {
    pub(super) key: u64,
    /// The number of the application's logouts at the request that began it, which may have waited.
    pub(super) logouts: u64,
    pub(super) mechanism: u32,
    pub(super) usage: Usage,
    /// The length of the code in bytes.
    pub(super) length: usize,
    pub(super) mac: Box<dyn RunningMac>,
}

/// Shows nothing of the state.
impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operation({} with object {})", self.mechanism, self.key)
    }
}

/// The codes of an application, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Running(Mutex<HashMap<u64, Arc<Mutex<Operation>>>>);

impl Running {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, Arc<Mutex<Operation>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a code, and returns its number.
    ///
    /// # Errors
    /// [`Code::DEVICE_MEMORY`] if the application has too many.
    pub(super) fn insert(&self, operation: Operation) -> Result<u64> {
        let mut all = self.all();
        if all.len() >= MOST {
            return Err(Code::DEVICE_MEMORY.because("too many codes over long data at once"));
        }
        let number = next_in_memory();
        all.insert(number, Arc::new(Mutex::new(operation)));
        Ok(number)
    }

    /// Returns a code that continues.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`].
    pub(super) fn get(&self, number: u64) -> Result<Arc<Mutex<Operation>>> {
        self.all().get(&number).cloned().ok_or_else(|| Code::OPERATION_NOT_INITIALIZED.into())
    }

    /// Removes a code.
    pub(super) fn take(&self, number: u64) -> Option<Arc<Mutex<Operation>>> {
        self.all().remove(&number)
    }

    /// Ends all codes.
    pub(super) fn clear(&self) {
        self.all().clear();
    }
}
