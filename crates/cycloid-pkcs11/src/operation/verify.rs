//! Verification of signatures and HMACs.

use cycloid_hsm_protocol::rpc::{Bytes, Mechanism, Request, Usage};
use cycloid_hsm_protocol::{Code, Result};

use super::key_use::Use;
use super::message::{Complete, Message};
use super::state::{Verify, active, end, must_be_free};
use crate::application::Application;
use crate::session::Session;

impl Session {
    /// Implements C_VerifyInit and, with the signature, C_VerifySignatureInit.
    ///
    /// # Errors
    /// [`Code::OPERATION_ACTIVE`], [`Code::KEY_HANDLE_INVALID`], and those of
    /// [`Key::check`](crate::key::Key::check).
    pub(crate) fn verify_init(
        &self,
        mechanism: Mechanism,
        key: u64,
        signature: Option<&[u8]>,
    ) -> Result<()> {
        let mut operations = self.operations();
        must_be_free(&operations.verify)?;
        let with = Use::new(&self.application, key, mechanism, Usage::Verify)?;
        let length = with.key.signature_length(&with.mechanism)?;
        let message = Message::new(with.mechanism.number, Usage::Verify);
        let signature = signature.map(<[u8]>::to_vec);
        operations.verify = Some(Verify { with, length, message, signature, in_parts: false });
        Ok(())
    }

    /// Implements C_Verify.
    ///
    /// # Errors
    /// [`Code::SIGNATURE_INVALID`], [`Code::SIGNATURE_LEN_RANGE`],
    /// [`Code::OPERATION_NOT_INITIALIZED`]; [`Code::OPERATION_ACTIVE`] after an Update; the
    /// daemon's errors.
    pub(crate) fn verify(&self, data: &[u8], signature: &[u8]) -> Result<()> {
        let verify = end(of_kind(&mut self.operations().verify, Given::Last)?)?;
        self.verify_all(verify, data, signature)
    }

    /// Implements C_VerifyUpdate.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::DATA_LEN_RANGE`]; the daemon's errors.
    pub(crate) fn verify_update(&self, part: &[u8]) -> Result<()> {
        self.update_verify(part, Given::Last)
    }

    /// Implements C_VerifyFinal.
    ///
    /// # Errors
    /// [`Code::SIGNATURE_INVALID`], [`Code::SIGNATURE_LEN_RANGE`],
    /// [`Code::OPERATION_NOT_INITIALIZED`]; the daemon's errors.
    pub(crate) fn verify_final(&self, signature: &[u8]) -> Result<()> {
        let verify = end(of_kind(&mut self.operations().verify, Given::Last)?)?;
        verify.finish(&self.application, signature)
    }

    /// Implements C_VerifySignature.
    ///
    /// # Errors
    /// Those of [`verify`](Self::verify).
    pub(crate) fn verify_signature(&self, data: &[u8]) -> Result<()> {
        let mut verify = end(of_kind(&mut self.operations().verify, Given::First)?)?;
        let signature = verify.signature.take().unwrap_or_default();
        self.verify_all(verify, data, &signature)
    }

    /// Implements C_VerifySignatureUpdate.
    ///
    /// # Errors
    /// Those of [`verify_update`](Self::verify_update).
    pub(crate) fn verify_signature_update(&self, part: &[u8]) -> Result<()> {
        self.update_verify(part, Given::First)
    }

    /// Implements C_VerifySignatureFinal.
    ///
    /// # Errors
    /// Those of [`verify_final`](Self::verify_final).
    pub(crate) fn verify_signature_final(&self) -> Result<()> {
        let mut verify = end(of_kind(&mut self.operations().verify, Given::First)?)?;
        let signature = verify.signature.take().unwrap_or_default();
        verify.finish(&self.application, &signature)
    }

    fn verify_all(&self, mut verify: Verify, data: &[u8], signature: &[u8]) -> Result<()> {
        if verify.in_parts {
            return Err(Code::OPERATION_ACTIVE.into());
        }
        verify.message.update(&self.application, &verify.with, data)?;
        verify.finish(&self.application, signature)
    }

    fn update_verify(&self, part: &[u8], given: Given) -> Result<()> {
        let operations = &mut *self.operations();
        let verify = active(of_kind(&mut operations.verify, given)?)?;
        verify.in_parts = true;
        let updated = verify.message.update(&self.application, &verify.with, part);
        updated.inspect_err(|_| operations.verify = None)
    }
}

/// When the signature is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// By C_VerifySignatureInit.
    First,
    /// By C_Verify or C_VerifyFinal.
    Last,
}

/// Returns the verification, if its signature is given then.
///
/// # Errors
/// [`Code::OPERATION_NOT_INITIALIZED`] if there is another one, which is left as it is.
fn of_kind(verify: &mut Option<Verify>, given: Given) -> Result<&mut Option<Verify>> {
    match verify {
        Some(other) if other.signature.is_some() != (given == Given::First) => {
            Err(Code::OPERATION_NOT_INITIALIZED.into())
        }
        verify => Ok(verify),
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
        Complete::There(running, rest) => running.verify(rest, signature),
    };
    match outcome {
        // An invalid signature says nothing about the key.
        Err(error) if error.code == Code::SIGNATURE_INVALID => Err(error),
        outcome => with.judged(application, outcome),
    }
}
