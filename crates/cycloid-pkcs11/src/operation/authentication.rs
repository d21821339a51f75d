//! The PIN that a key requires before each use.

use cycloid_hsm_protocol::rpc::{Request, Secret};
use cycloid_hsm_protocol::{Code, Result};

use crate::session::Session;

impl Session {
    /// Implements C_Login for the active operation whose key requires the PIN before each use (PKCS
    /// #11 3.0, section 4.9).
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`] if there is none; the daemon's errors. After
    /// [`Code::PIN_LOCKED`] nobody is logged in any more.
    pub(crate) fn authenticate(&self, pin: &[u8]) -> Result<()> {
        let mut operations = self.operations();
        let key = operations.awaiting_pin().ok_or(Code::OPERATION_NOT_INITIALIZED)?;
        let request = Request::Authenticate { key: key.handle, pin: Secret::new(pin) };
        let outcome = self.application.order(&request);
        key.authenticated = outcome.is_ok();
        drop(operations);
        if outcome.as_ref().is_err_and(|error| error.code == Code::PIN_LOCKED) {
            self.application.was_logged_out();
        }
        outcome
    }
}
