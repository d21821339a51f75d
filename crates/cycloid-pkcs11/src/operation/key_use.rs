//! The use of a key by an operation.

use std::sync::Arc;

use cycloid_hsm_protocol::rpc::{Mechanism, Request, Usage};
use cycloid_hsm_protocol::{Code, Error, Result};

use crate::application::Application;
use crate::key::Key;

/// A key and its use.
pub(super) struct Use {
    pub(super) handle: u64,
    pub(super) key: Arc<Key>,
    pub(super) mechanism: Mechanism,
    /// Whether the PIN was entered for this use.
    pub(super) authenticated: bool,
}

impl Use {
    /// Checks the use. The daemon is asked if it may need the security officer's permission.
    ///
    /// # Errors
    /// [`Code::KEY_HANDLE_INVALID`] and those of [`Key::check`]; the daemon's errors.
    pub(super) fn new(
        application: &Application,
        handle: u64,
        mechanism: Mechanism,
        usage: Usage,
    ) -> Result<Self> {
        let key = application.key(handle).map_err(key_handle)?;
        key.check(mechanism.number, usage)?;
        if key.needs_permission(&mechanism, usage) {
            let check = Request::Check { key: handle, mechanism: mechanism.clone(), usage };
            application.order(&check).map_err(key_handle)?;
        }
        Ok(Self { handle, key, mechanism, authenticated: false })
    }

    pub(super) fn awaits_pin(&self) -> bool {
        self.key.always_authenticate && !self.authenticated
    }

    /// # Errors
    /// [`Code::USER_NOT_LOGGED_IN`] if the key requires the PIN before each use, and it was not
    /// entered for this one.
    pub(super) fn needs_no_pin(&self) -> Result<()> {
        if self.awaits_pin() { Err(Code::USER_NOT_LOGGED_IN.into()) } else { Ok(()) }
    }

    /// Passes on the daemon's verdict on the use of the key. A refusal clears the key's cache
    /// entry, which may be outdated.
    pub(super) fn judged<T>(&self, application: &Application, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| {
            application.forget(self.handle);
            key_handle(error)
        })
    }
}

/// Maps the error for a missing object to the one for a missing key.
pub(super) fn key_handle(error: Error) -> Error {
    match error {
        Error { code: Code::OBJECT_HANDLE_INVALID, detail } => {
            Code::KEY_HANDLE_INVALID.because(detail)
        }
        other => other,
    }
}
