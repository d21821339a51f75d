//! The search for objects: one request for a page of them at a time, so that a search takes the
//! same memory whatever it finds.

use cycloid_hsm_protocol::Result;
use cycloid_hsm_protocol::attribute::Template;
use cycloid_hsm_protocol::rpc::{Page, Request, Response};

use super::state::{Find, active, end, must_be_free};
use crate::application::{Application, unexpected};
use crate::session::Session;

/// The maximum number of objects in a page.
const PAGE: u32 = 4096;

impl Session {
    /// Implements C_FindObjectsInit.
    ///
    /// # Errors
    /// [`Code::OPERATION_ACTIVE`](cycloid_hsm_protocol::Code::OPERATION_ACTIVE); the daemon's
    /// errors.
    pub(crate) fn find_init(&self, template: Template) -> Result<()> {
        let mut operations = self.operations();
        must_be_free(&operations.find)?;
        let mut find = Find { template, objects: Vec::new(), given: 0, more: true };
        find.load(&self.application)?;
        operations.find = Some(find);
        Ok(())
    }

    /// Implements C_FindObjects: passes objects to `give`, in one or several pieces, which are
    /// `most` in all, or as many as there are.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`](cycloid_hsm_protocol::Code::OPERATION_NOT_INITIALIZED);
    /// those of `give`; the daemon's errors, if no object was given before.
    pub(crate) fn find(&self, most: u64, mut give: impl FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let operations = &mut *self.operations();
        let find = active(&mut operations.find)?;
        let mut wanted = usize::try_from(most).unwrap_or(usize::MAX);
        let mut given = 0;
        loop {
            let left = &find.objects[find.given..];
            let piece = &left[..wanted.min(left.len())];
            give(piece)?;
            find.given += piece.len();
            given += piece.len();
            wanted -= piece.len();
            if wanted == 0 || !find.more {
                return Ok(());
            }
            match find.load(&self.application) {
                // The next call meets the error again, and reports it.
                Err(_) if given > 0 => return Ok(()),
                loaded => loaded?,
            }
        }
    }

    /// Implements C_FindObjectsFinal.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`](cycloid_hsm_protocol::Code::OPERATION_NOT_INITIALIZED).
    pub(crate) fn find_final(&self) -> Result<()> {
        end(&mut self.operations().find).map(drop)
    }
}

impl Find {
    /// Loads the page after the present one.
    fn load(&mut self, application: &Application) -> Result<()> {
        let after = self.objects.last().copied().unwrap_or_default();
        let page = Some(Page { after, most: PAGE });
        let request = Request::Find { template: self.template.clone(), page };
        let Response::Objects { objects, more } = application.call(&request)? else {
            return Err(unexpected());
        };
        let more = more == Some(true);
        // Otherwise the search might never end.
        let advances = objects.first().is_none_or(|first| *first > after) && objects.is_sorted();
        if !advances || more && objects.is_empty() {
            return Err(unexpected());
        }
        (self.objects, self.given, self.more) = (objects, 0, more);
        Ok(())
    }
}
