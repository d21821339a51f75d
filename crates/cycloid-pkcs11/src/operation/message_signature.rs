//! Signatures and their verification for several messages with one key (PKCS #11 3.0, sections 5.14
//! and 5.16). An error ends the message, not the operation.

use cycloid_hsm_protocol::mechanism::ckm;
use cycloid_hsm_protocol::rpc::{Mechanism, Usage};
use cycloid_hsm_protocol::{Code, Result};

use super::key_use::Use;
use super::message::Message;
use super::sign::signature;
use super::state::{MessageSignature, active, end, must_be_free};
use super::verify::verdict;
use crate::memory::Output;
use crate::session::Session;

impl Session {
    /// Implements C_MessageSignInit and C_MessageVerifyInit; `usage` is Sign or Verify.
    ///
    /// # Errors
    /// [`Code::OPERATION_ACTIVE`], [`Code::KEY_HANDLE_INVALID`], and those of
    /// [`Key::check`](crate::key::Key::check); [`Code::MECHANISM_INVALID`] for AES-GMAC, whose
    /// initialisation vector would serve all messages, and two codes with the same one reveal the
    /// key of its hash function.
    pub(crate) fn message_signature_init(
        &self,
        usage: Usage,
        mechanism: Mechanism,
        key: u64,
    ) -> Result<()> {
        let operations = &mut *self.operations();
        let slot = operations.message_signature(usage);
        must_be_free(slot)?;
        if mechanism.number == ckm::AES_GMAC {
            return Err(Code::MECHANISM_INVALID.into());
        }
        let with = Use::new(&self.application, key, mechanism, usage)?;
        let length = with.key.signature_length(&with.mechanism)?;
        *slot = Some(MessageSignature { with, usage, length, begun: None });
        Ok(())
    }

    /// Implements C_SignMessage.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`]; [`Code::OPERATION_ACTIVE`]
    /// while a message in parts has begun; the daemon's errors.
    pub(crate) fn sign_message(&self, data: &[u8], output: &mut Output<u8>) -> Result<()> {
        let operations = &mut *self.operations();
        let sign = active(&mut operations.message_sign)?;
        if sign.begun.is_some() {
            return Err(Code::OPERATION_ACTIVE.into());
        }
        if !output.has_room(sign.length)? {
            return Ok(());
        }
        sign.begun = Some(sign.message());
        sign.last(self, data, |session, sign, message| {
            let made = signature(&session.application, &sign.with, message, sign.length);
            output.put(&made?)
        })
    }

    /// Implements C_SignMessageNext. There is an output with the last part.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], also if no message has begun;
    /// [`Code::BUFFER_TOO_SMALL`], [`Code::DATA_LEN_RANGE`]; the daemon's errors.
    pub(crate) fn sign_message_next(
        &self,
        part: &[u8],
        output: Option<&mut Output<u8>>,
    ) -> Result<()> {
        let operations = &mut *self.operations();
        let sign = active(&mut operations.message_sign)?;
        active(&mut sign.begun)?;
        let Some(output) = output else { return sign.next(self, part) };
        if !output.has_room(sign.length)? {
            return Ok(());
        }
        sign.last(self, part, |session, sign, message| {
            let made = signature(&session.application, &sign.with, message, sign.length);
            output.put(&made?)
        })
    }

    /// Implements C_VerifyMessage.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::SIGNATURE_INVALID`],
    /// [`Code::SIGNATURE_LEN_RANGE`]; [`Code::OPERATION_ACTIVE`] while a message in parts has
    /// begun; the daemon's errors.
    pub(crate) fn verify_message(&self, data: &[u8], given: &[u8]) -> Result<()> {
        let operations = &mut *self.operations();
        let verify = active(&mut operations.message_verify)?;
        if verify.begun.is_some() {
            return Err(Code::OPERATION_ACTIVE.into());
        }
        verify.begun = Some(verify.message());
        verify.last(self, data, |session, verify, message| {
            verdict(&session.application, &verify.with, message, verify.length, given)
        })
    }

    /// Implements C_VerifyMessageNext. The signature comes with the last part.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], also if no message has begun;
    /// [`Code::SIGNATURE_INVALID`], [`Code::SIGNATURE_LEN_RANGE`], [`Code::DATA_LEN_RANGE`]; the
    /// daemon's errors.
    pub(crate) fn verify_message_next(&self, part: &[u8], given: Option<&[u8]>) -> Result<()> {
        let operations = &mut *self.operations();
        let verify = active(&mut operations.message_verify)?;
        active(&mut verify.begun)?;
        let Some(given) = given else { return verify.next(self, part) };
        verify.last(self, part, |session, verify, message| {
            verdict(&session.application, &verify.with, message, verify.length, given)
        })
    }

    /// Implements C_SignMessageBegin and C_VerifyMessageBegin.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`]; [`Code::OPERATION_ACTIVE`] if one has begun.
    pub(crate) fn message_signature_begin(&self, usage: Usage) -> Result<()> {
        let operations = &mut *self.operations();
        let operation = active(operations.message_signature(usage))?;
        must_be_free(&operation.begun)?;
        operation.begun = Some(operation.message());
        Ok(())
    }

    /// Implements C_MessageSignFinal and C_MessageVerifyFinal. A message that has begun ends, too.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`].
    pub(crate) fn message_signature_final(&self, usage: Usage) -> Result<()> {
        end(self.operations().message_signature(usage)).map(drop)
    }
}

impl MessageSignature {
    fn message(&self) -> Message {
        Message::new(self.with.mechanism.number, self.usage)
    }

    /// Adds a part to the message that has begun.
    fn next(&mut self, session: &Session, part: &[u8]) -> Result<()> {
        let message = active(&mut self.begun)?;
        let updated = message.update(&session.application, &self.with, part);
        updated.inspect_err(|_| self.begun = None)
    }

    /// Adds the last part, and ends the message. The next one needs its own PIN, if the key
    /// requires one before each use.
    fn last<T>(
        &mut self,
        session: &Session,
        part: &[u8],
        finish: impl FnOnce(&Session, &Self, Message) -> Result<T>,
    ) -> Result<T> {
        self.next(session, part)?;
        let message = end(&mut self.begun)?;
        let outcome = finish(session, self, message);
        self.with.authenticated = false;
        outcome
    }
}
