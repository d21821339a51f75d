//! Signatures and HMACs.

use cycloid_hsm_protocol::rpc::{Bytes, Mechanism, Request, Secret, Usage};
use cycloid_hsm_protocol::{Code, Result};

use super::key_use::Use;
use super::message::{Complete, Message};
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
        let message = Message::new(with.mechanism.number, Usage::Sign);
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
            sign.message.update(&self.application, &sign.with, data)?;
            sign.finish(&self.application, output)?;
        }
        Ok(())
    }

    /// Implements C_SignUpdate.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::DATA_LEN_RANGE`]; the daemon's errors.
    pub(crate) fn sign_update(&self, part: &[u8]) -> Result<()> {
        let operations = &mut *self.operations();
        let sign = active(&mut operations.sign)?;
        sign.in_parts = true;
        let updated = sign.message.update(&self.application, &sign.with, part);
        updated.inspect_err(|_| operations.sign = None)
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
        output.put(&signature(application, &self.with, self.message, self.length)?)
    }
}

/// Signs a message.
///
/// # Errors
/// The daemon's errors.
pub(super) fn signature(
    application: &Application,
    with: &Use,
    message: Message,
    length: usize,
) -> Result<Secret> {
    with.needs_no_pin()?;
    let outcome = match message.finish() {
        Complete::Here(mut data, digested) => application.data(&Request::Sign {
            key: with.handle,
            mechanism: with.mechanism.clone(),
            data: Bytes(std::mem::take(&mut *data)),
            digested,
        }),
        Complete::There(running, rest) => running.sign(rest),
    };
    let signature = with.judged(application, outcome)?;
    if signature.len() != length {
        return Err(unexpected());
    }
    Ok(signature)
}
