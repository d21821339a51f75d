//! Creates, changes and destroys objects, and wraps, unwraps and derives keys.

use cycloid_hsm_protocol::attribute::{Template, cka};
use cycloid_hsm_protocol::mechanism::{ckf, offered};
use cycloid_hsm_protocol::rpc::{Mechanism, Request, Response};
use cycloid_hsm_protocol::{Code, Error, Result};

use super::key_use::key_handle;
use crate::application::unexpected;
use crate::memory::Output;
use crate::session::Session;

impl Session {
    /// Creates an object by a request that contains its template.
    fn make(&self, template: Template, request: impl FnOnce(Template) -> Request) -> Result<u64> {
        self.may_make(&template)?;
        let passing = !template.is(cka::TOKEN);
        let object = self.application.object(&request(template))?;
        if passing {
            self.own(object);
        }
        Ok(object)
    }

    /// Implements C_CreateObject.
    ///
    /// # Errors
    /// [`Code::SESSION_READ_ONLY`]; the daemon's errors.
    pub(crate) fn create(&self, template: Template) -> Result<u64> {
        self.make(template, |template| Request::Create { template })
    }

    /// Implements C_CopyObject. A copy is stored like its original, unless the template says
    /// otherwise.
    ///
    /// # Errors
    /// [`Code::SESSION_READ_ONLY`]; the daemon's errors.
    pub(crate) fn copy(&self, object: u64, mut template: Template) -> Result<u64> {
        let token = self.application.key(object)?.token;
        template.set_default(cka::TOKEN, [u8::from(token)]);
        self.make(template, |template| Request::Copy { object, template })
    }

    /// Implements C_DestroyObject. The daemon destroys objects in memory in any case, because they
    /// end with their session.
    ///
    /// # Errors
    /// [`Code::SESSION_READ_ONLY`], [`Code::ACTION_PROHIBITED`]; the daemon's errors.
    pub(crate) fn destroy_object(&self, object: u64) -> Result<()> {
        self.may_change(object)?;
        if !self.application.key(object)?.destroyable {
            return Err(Code::ACTION_PROHIBITED.into());
        }
        self.application.order(&Request::Destroy { object })?;
        self.application.forget(object);
        self.disown(object);
        Ok(())
    }

    /// Implements C_GetObjectSize; the size is in bytes.
    ///
    /// # Errors
    /// The daemon's errors.
    pub(crate) fn object_size(&self, object: u64) -> Result<u64> {
        match self.application.call(&Request::Size { object })? {
            Response::Number { value } => Ok(value),
            _ => Err(unexpected()),
        }
    }

    /// Implements C_SetAttributeValue.
    ///
    /// # Errors
    /// [`Code::SESSION_READ_ONLY`]; the daemon's errors.
    pub(crate) fn set_attributes(&self, object: u64, template: Template) -> Result<()> {
        self.may_change(object)?;
        let outcome = self.application.order(&Request::SetAttributes { object, template });
        self.application.forget(object);
        outcome
    }

    /// Implements C_GenerateKey.
    ///
    /// # Errors
    /// [`Code::SESSION_READ_ONLY`]; the daemon's errors.
    pub(crate) fn generate(&self, mechanism: Mechanism, template: Template) -> Result<u64> {
        must_be_for(&mechanism, ckf::GENERATE)?;
        self.make(template, |template| Request::Generate { mechanism, template })
    }

    /// Implements C_GenerateKeyPair; returns the public and the private key.
    ///
    /// # Errors
    /// [`Code::SESSION_READ_ONLY`]; the daemon's errors.
    pub(crate) fn generate_pair(
        &self,
        mechanism: Mechanism,
        public: Template,
        private: Template,
    ) -> Result<(u64, u64)> {
        must_be_for(&mechanism, ckf::GENERATE_KEY_PAIR)?;
        self.may_make(&public)?;
        self.may_make(&private)?;
        let passing = [!public.is(cka::TOKEN), !private.is(cka::TOKEN)];
        match self.application.call(&Request::GeneratePair { mechanism, public, private })? {
            Response::Pair { public, private } => {
                for (object, passing) in [public, private].into_iter().zip(passing) {
                    if passing {
                        self.own(object);
                    }
                }
                Ok((public, private))
            }
            _ => Err(unexpected()),
        }
    }

    /// Implements C_WrapKey. A program that wants the length alone, or has too little room, changes
    /// nothing by it.
    ///
    /// # Errors
    /// [`Code::WRAPPING_KEY_HANDLE_INVALID`], [`Code::KEY_HANDLE_INVALID`],
    /// [`Code::BUFFER_TOO_SMALL`]; the daemon's errors.
    pub(crate) fn wrap(
        &self,
        mechanism: Mechanism,
        wrapping: u64,
        key: u64,
        output: &mut Output<u8>,
    ) -> Result<()> {
        must_be_for(&mechanism, ckf::WRAP)?;
        let of = |error| handle(error, Code::WRAPPING_KEY_HANDLE_INVALID);
        self.application.key(wrapping).map_err(of)?;
        let room = output.room() as u64;
        let request = Request::Wrap { wrapping, mechanism, key, room: Some(room) };
        match self.application.call(&request).map_err(key_handle)? {
            Response::Number { value } if value > room => {
                let length = usize::try_from(value).map_err(|_| unexpected())?;
                output.has_room(length).map(drop)
            }
            // A daemon of an earlier release wraps in any case.
            Response::Data { data } => output.put(&data),
            _ => Err(unexpected()),
        }
    }

    /// Implements C_UnwrapKey.
    ///
    /// # Errors
    /// [`Code::UNWRAPPING_KEY_HANDLE_INVALID`], [`Code::SESSION_READ_ONLY`]; the daemon's errors.
    pub(crate) fn unwrap(
        &self,
        mechanism: Mechanism,
        unwrapping: u64,
        wrapped: &[u8],
        template: Template,
    ) -> Result<u64> {
        must_be_for(&mechanism, ckf::UNWRAP)?;
        let wrapped = wrapped.into();
        self.make(template, |template| Request::Unwrap { unwrapping, mechanism, wrapped, template })
            .map_err(|error| handle(error, Code::UNWRAPPING_KEY_HANDLE_INVALID))
    }

    /// Implements C_DeriveKey.
    ///
    /// # Errors
    /// [`Code::KEY_HANDLE_INVALID`], [`Code::SESSION_READ_ONLY`]; the daemon's errors.
    pub(crate) fn derive(
        &self,
        mechanism: Mechanism,
        base: u64,
        template: Template,
    ) -> Result<u64> {
        must_be_for(&mechanism, ckf::DERIVE)?;
        self.make(template, |template| Request::Derive { base, mechanism, template })
            .map_err(key_handle)
    }
}

/// # Errors
/// [`Code::MECHANISM_INVALID`] if the mechanism does not support the use `flag` (`CKF_…`).
fn must_be_for(mechanism: &Mechanism, flag: u32) -> Result<()> {
    match offered(mechanism.number) {
        Some(offered) if offered.flags & flag != 0 => Ok(()),
        _ => Err(Code::MECHANISM_INVALID.into()),
    }
}

/// Maps the error for a missing object to the function's own code.
fn handle(error: Error, code: Code) -> Error {
    match error.code {
        Code::OBJECT_HANDLE_INVALID | Code::KEY_HANDLE_INVALID => code.because(error.detail),
        _ => error,
    }
}
