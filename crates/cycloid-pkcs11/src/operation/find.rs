//! The search for objects: one request, whose answer is returned in pieces.

use cycloid_hsm_protocol::Result;
use cycloid_hsm_protocol::attribute::Template;
use cycloid_hsm_protocol::rpc::{Request, Response};

use super::state::{Find, active, end, must_be_free};
use crate::application::unexpected;
use crate::session::Session;

impl Session {
    /// Implements C_FindObjectsInit.
    ///
    /// # Errors
    /// [`Code::OPERATION_ACTIVE`](cycloid_hsm_protocol::Code::OPERATION_ACTIVE); the daemon's
    /// errors.
    pub(crate) fn find_init(&self, template: Template) -> Result<()> {
        let mut operations = self.operations();
        must_be_free(&operations.find)?;
        match self.application.call(&Request::Find { template })? {
            Response::Objects { objects } => {
                operations.find = Some(Find { objects, given: 0 });
                Ok(())
            }
            _ => Err(unexpected()),
        }
    }

    /// Implements C_FindObjects: passes at most `most` objects to `give`.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`](cycloid_hsm_protocol::Code::OPERATION_NOT_INITIALIZED);
    /// those of `give`.
    pub(crate) fn find(&self, most: u64, give: impl FnOnce(&[u64]) -> Result<()>) -> Result<()> {
        let operations = &mut *self.operations();
        let find = active(&mut operations.find)?;
        let left = &find.objects[find.given..];
        let count = usize::try_from(most).unwrap_or(usize::MAX).min(left.len());
        give(&left[..count])?;
        find.given += count;
        Ok(())
    }

    /// Implements C_FindObjectsFinal.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`](cycloid_hsm_protocol::Code::OPERATION_NOT_INITIALIZED).
    pub(crate) fn find_final(&self) -> Result<()> {
        end(&mut self.operations().find).map(drop)
    }
}
