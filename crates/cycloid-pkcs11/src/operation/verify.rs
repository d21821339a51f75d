//! Verification of signatures and HMACs.

use cycloid_hsm_protocol::rpc::{Bytes, Mechanism, Request, Usage};
use cycloid_hsm_protocol::{Code, Result};

use super::key_use::Use;
use super::message::{Complete, Message};
use super::state::{Verify, active, end, must_be_free};
use crate::application::Application;
use crate::session::Session;

impl Session {
    /// Implements C_VerifyInit.
    ///
    /// # Errors
    /// [`Code::OPERATION_ACTIVE`], [`Code::KEY_HANDLE_INVALID`], and those of
    /// [`Key::check`](crate::key::Key::check).
    pub(crate) fn verify_init(&self, mechanism: Mechanism, key: u64) -> Result<()> {
        let mut operations = self.operations();
        must_be_free(&operations.verify)?;
        let with = Use::new(&self.application, key, mechanism, Usage::Verify)?;
        let length = with.key.signature_length(&with.mechanism)?;
        let message = Message::new(with.mechanism.number, Usage::Verify);
        operations.verify = Some(Verify { with, length, message, in_parts: false });
        Ok(())
    }

    /// Implements C_Verify.
    ///
    /// # Errors
    /// [`Code::SIGNATURE_INVALID`], [`Code::SIGNATURE_LEN_RANGE`],
    /// [`Code::OPERATION_NOT_INITIALIZED`]; [`Code::OPERATION_ACTIVE`] after an Update; the
    /// daemon's errors.
    pub(crate) fn verify(&self, data: &[u8], signature: &[u8]) -> Result<()> {
        let mut verify = end(&mut self.operations().verify)?;
        if verify.in_parts {
            return Err(Code::OPERATION_ACTIVE.into());
        }
        verify.message.update(&self.application, &verify.with, data)?;
        verify.finish(&self.application, signature)
    }

    /// Implements C_VerifyUpdate.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::DATA_LEN_RANGE`]; the daemon's errors.
    pub(crate) fn verify_update(&self, part: &[u8]) -> Result<()> {
        let operations = &mut *self.operations();
        let verify = active(&mut operations.verify)?;
        verify.in_parts = true;
        let updated = verify.message.update(&self.application, &verify.with, part);
        updated.inspect_err(|_| operations.verify = None)
    }

    /// Implements C_VerifyFinal.
    ///
    /// # Errors
    /// [`Code::SIGNATURE_INVALID`], [`Code::SIGNATURE_LEN_RANGE`],
    /// [`Code::OPERATION_NOT_INITIALIZED`]; the daemon's errors.
    pub(crate) fn verify_final(&self, signature: &[u8]) -> Result<()> {
        let verify = end(&mut self.operations().verify)?;
        verify.finish(&self.application, signature)
    }
}

impl Verify {
    fn finish(self, application: &Application, signature: &[u8]) -> Result<()> {
        verdict(application, &self.with, self.message, self.length, signature)
    }
}

/// Verifies the signature of a message, of the given length in bytes.
///
/// # Errors
/// [`Code::SIGNATURE_INVALID`], [`Code::SIGNATURE_LEN_RANGE`]; the daemon's errors.
pub(super) fn verdict(
    application: &Application,
    with: &Use,
    message: Message,
    length: usize,
    signature: &[u8],
) -> Result<()> {
    if signature.len() != length {
        return Err(Code::SIGNATURE_LEN_RANGE.into());
    }
    let outcome = match message.finish() {
        Complete::Here(mut data, digested) => application.order(&Request::Verify {
            key: with.handle,
            mechanism: with.mechanism.clone(),
            data: Bytes(std::mem::take(&mut *data)),
            digested,
            signature: signature.into(),
        }),
        Complete::There(mut running, mut rest) => {
            application.order(&running.finish(&mut rest, Some(signature)))
        }
    };
    match outcome {
        // An invalid signature says nothing about the key.
        Err(error) if error.code == Code::SIGNATURE_INVALID => Err(error),
        outcome => with.judged(application, outcome),
    }
}
