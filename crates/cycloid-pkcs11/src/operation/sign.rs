//! Signatures and HMACs.

use cycloid_hsm_protocol::rpc::{Bytes, Mechanism, Request, Usage};
use cycloid_hsm_protocol::{Code, Result};

use super::key_use::Use;
use super::message::Message;
use super::state::{Sign, active, end, must_be_free};
use crate::application::{Application, unexpected};
use crate::memory::Output;
use crate::session::Session;

impl Session {
    /// Implements C_SignInit. A request is sent only if the key is not cached, or if the use may
    /// need the security officer's permission.
    ///
    /// # Errors
    /// [`Code::OPERATION_ACTIVE`], [`Code::KEY_HANDLE_INVALID`], and those of
    /// [`Key::check`](crate::key::Key::check).
    pub(crate) fn sign_init(&self, mechanism: Mechanism, key: u64) -> Result<()> {
        let mut operations = self.operations();
        must_be_free(&operations.sign)?;
        let with = Use::new(&self.application, key, mechanism, Usage::Sign)?;
        let length = with.key.signature_length(&with.mechanism)?;
        let message = Message::new(with.mechanism.number);
        operations.sign = Some(Sign { with, length, message, in_parts: false });
        Ok(())
    }

    /// Implements C_Sign.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`]; [`Code::OPERATION_ACTIVE`]
    /// after an Update; the daemon's errors.
    pub(crate) fn sign(&self, data: &[u8], output: &mut Output<u8>) -> Result<()> {
        let operations = &mut *self.operations();
        let sign = active(&mut operations.sign)?;
        if sign.in_parts {
            operations.sign = None;
            return Err(Code::OPERATION_ACTIVE.into());
        }
        if output.has_room(sign.length)? {
            let mut sign = end(&mut operations.sign)?;
            sign.message.update(data)?;
            sign.finish(&self.application, output)?;
        }
        Ok(())
    }

    /// Implements C_SignUpdate.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::DATA_LEN_RANGE`].
    pub(crate) fn sign_update(&self, part: &[u8]) -> Result<()> {
        let operations = &mut *self.operations();
        let sign = active(&mut operations.sign)?;
        sign.in_parts = true;
        sign.message.update(part).inspect_err(|_| operations.sign = None)
    }

    /// Implements C_SignFinal.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`]; the daemon's errors.
    pub(crate) fn sign_final(&self, output: &mut Output<u8>) -> Result<()> {
        let operations = &mut *self.operations();
        if output.has_room(active(&mut operations.sign)?.length)? {
            end(&mut operations.sign)?.finish(&self.application, output)?;
        }
        Ok(())
    }
}

impl Sign {
    fn finish(self, application: &Application, output: &mut Output<u8>) -> Result<()> {
        self.with.needs_no_pin()?;
        let (mut data, digested) = self.message.finish();
        let request = Request::Sign {
            key: self.with.handle,
            mechanism: self.with.mechanism.clone(),
            data: Bytes(std::mem::take(&mut *data)),
            digested,
        };
        let signature = self.with.judged(application, application.data(&request))?;
        if signature.len() != self.length {
            return Err(unexpected());
        }
        output.put(&signature)
    }
}
