//! Encryption and decryption of messages with one key, each with its own parameter (PKCS #11 3.0,
//! sections 5.9 and 5.11).
//!
//! The parts of a message are collected and sent whole at its end, and the parts before return
//! nothing: no plaintext is released before its tag is verified. An error ends the message, not the
//! operation.

use std::mem;

use cryptoki_sys::{CK_FLAGS, CKF_END_OF_MESSAGE};
use cycloid_hsm_protocol::mechanism::Parameter;
use cycloid_hsm_protocol::rpc::{Bytes, Mechanism, Request, Secret, Usage, frame};
use cycloid_hsm_protocol::{Code, Result};

use super::key_use::Use;
use super::message::Parts;
use super::state::{BegunMessage, Direction, MessageCipher, active, end, must_be_free};
use super::vectors::Vectors;
use crate::application::{Application, unexpected};
use crate::code;
use crate::memory::Output;
use crate::parameter::MessageParameter;
use crate::session::Session;

impl Session {
    /// Implements C_MessageEncryptInit and C_MessageDecryptInit.
    ///
    /// # Errors
    /// [`Code::OPERATION_ACTIVE`], [`Code::KEY_HANDLE_INVALID`], and those of
    /// [`Key::check`](crate::key::Key::check).
    pub(crate) fn message_cipher_init(
        &self,
        direction: Direction,
        mechanism: Mechanism,
        key: u64,
    ) -> Result<()> {
        let operations = &mut *self.operations();
        let slot = operations.message_cipher(direction);
        must_be_free(slot)?;
        let usage = match direction {
            Direction::Encrypt => Usage::Encrypt,
            Direction::Decrypt => Usage::Decrypt,
        };
        let with = Use::new(&self.application, key, mechanism, usage)?;
        *slot = Some(MessageCipher { direction, with, vectors: Vectors::default(), begun: None });
        Ok(())
    }

    /// Returns the number of the mechanism of the operation, which decides how its messages'
    /// parameters are read.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`].
    pub(crate) fn message_mechanism(&self, direction: Direction) -> Result<u32> {
        let operations = &mut *self.operations();
        Ok(active(operations.message_cipher(direction))?.with.mechanism.number)
    }

    /// Implements C_EncryptMessage and C_DecryptMessage.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`],
    /// [`code::AEAD_DECRYPT_FAILED`]; [`Code::OPERATION_ACTIVE`] while a message in parts has
    /// begun; those of [`Vectors::next`]; the daemon's errors.
    pub(crate) fn message_cipher(
        &self,
        direction: Direction,
        parameter: &MessageParameter,
        associated: &[u8],
        data: &[u8],
        output: &mut Output<u8>,
    ) -> Result<()> {
        let operations = &mut *self.operations();
        let cipher = active(operations.message_cipher(direction))?;
        if cipher.begun.is_some() {
            return Err(Code::OPERATION_ACTIVE.into());
        }
        if !output.has_room(data.len())? {
            return Ok(());
        }
        let begun = cipher.begin(&self.application, parameter, associated)?;
        let BegunMessage { parameter: of_request, mut parts, .. } = begun;
        parts.push(data)?;
        cipher.finish(&self.application, of_request, parts, parameter, output)
    }

    /// Implements C_EncryptMessageBegin and C_DecryptMessageBegin.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`]; [`Code::OPERATION_ACTIVE`] if one has begun; those of
    /// [`Vectors::next`].
    pub(crate) fn message_begin(
        &self,
        direction: Direction,
        parameter: &MessageParameter,
        associated: &[u8],
    ) -> Result<()> {
        let operations = &mut *self.operations();
        let cipher = active(operations.message_cipher(direction))?;
        if cipher.begun.is_some() {
            return Err(Code::OPERATION_ACTIVE.into());
        }
        cipher.begun = Some(cipher.begin(&self.application, parameter, associated)?);
        Ok(())
    }

    /// Implements C_EncryptMessageNext and C_DecryptMessageNext. `parameter` is that of the last
    /// part.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], also if no message has begun;
    /// [`Code::BUFFER_TOO_SMALL`], [`Code::DATA_LEN_RANGE`], [`code::AEAD_DECRYPT_FAILED`];
    /// [`Code::MECHANISM_PARAM_INVALID`] if the tag has another length than at the beginning; the
    /// daemon's errors.
    pub(crate) fn message_next(
        &self,
        direction: Direction,
        parameter: Option<&MessageParameter>,
        part: &[u8],
        output: &mut Output<u8>,
    ) -> Result<()> {
        let operations = &mut *self.operations();
        let cipher = active(operations.message_cipher(direction))?;
        let begun = active(&mut cipher.begun)?;
        let Some(parameter) = parameter else {
            if !output.has_room(0)? {
                return Ok(());
            }
            return match begun.parts.push(part) {
                Ok(()) => output.put(&[]),
                Err(error) => {
                    cipher.begun = None;
                    Err(error)
                }
            };
        };
        if parameter.tag_length != begun.tag_length {
            return Err(Code::MECHANISM_PARAM_INVALID.into());
        }
        if !output.has_room(begun.parts.len() + part.len())? {
            return Ok(());
        }
        let BegunMessage { parameter: of_request, mut parts, .. } = end(&mut cipher.begun)?;
        parts.push(part)?;
        cipher.finish(&self.application, of_request, parts, parameter, output)
    }

    /// Implements C_MessageEncryptFinal and C_MessageDecryptFinal. A message that has begun ends,
    /// too.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`].
    pub(crate) fn message_cipher_final(&self, direction: Direction) -> Result<()> {
        end(self.operations().message_cipher(direction)).map(drop)
    }
}

/// Returns whether these flags mark the last part of a message.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for other flags.
pub(crate) fn is_last(flags: CK_FLAGS) -> Result<bool> {
    match flags {
        0 => Ok(false),
        CKF_END_OF_MESSAGE => Ok(true),
        _ => Err(Code::ARGUMENTS_BAD.into()),
    }
}

impl MessageCipher {
    fn begin(
        &mut self,
        application: &Application,
        parameter: &MessageParameter,
        associated: &[u8],
    ) -> Result<BegunMessage> {
        if associated.len() > frame::MAX_LENGTH {
            return Err(Code::DATA_LEN_RANGE.into());
        }
        let random = |length| {
            let random = application.data(&Request::Random { length: length as u32 })?;
            if random.len() == length { Ok(random) } else { Err(unexpected()) }
        };
        let vector = match self.direction {
            Direction::Encrypt => self.vectors.next(&parameter.vector, random)?,
            // The encryption has made it.
            Direction::Decrypt => parameter.vector.bytes.clone(),
        };
        if self.direction == Direction::Encrypt {
            parameter.put_vector(&vector);
        }
        Ok(BegunMessage {
            parameter: parameter.of_request(&vector, associated),
            tag_length: parameter.tag_length,
            parts: Parts::default(),
        })
    }

    /// Sends a whole message; writes the output and, after an encryption, the tag.
    fn finish(
        &self,
        application: &Application,
        of_request: Parameter,
        mut parts: Parts,
        parameter: &MessageParameter,
        output: &mut Output<u8>,
    ) -> Result<()> {
        self.with.needs_no_pin()?;
        let (key, length) = (self.with.handle, parts.len());
        let mechanism = Mechanism { number: self.with.mechanism.number, parameter: of_request };
        match self.direction {
            Direction::Encrypt => {
                let request = Request::Encrypt { key, mechanism, data: parts.into_secret() };
                let made = self.judged(application, application.data(&request))?;
                if made.len() != length + parameter.tag_length {
                    return Err(unexpected());
                }
                let (ciphertext, tag) = made.split_at(length);
                output.put(ciphertext)?;
                parameter.put_tag(tag);
                Ok(())
            }
            Direction::Decrypt => {
                parts.push(&parameter.tag())?;
                let mut sealed = parts.into_secret();
                let data = Bytes(mem::take(&mut *sealed.0));
                let request = Request::Decrypt { key, mechanism, data };
                let made = self.judged(application, application.data(&request))?;
                if made.len() != length {
                    return Err(unexpected());
                }
                output.put(&made)
            }
        }
    }

    fn judged(&self, application: &Application, outcome: Result<Secret>) -> Result<Secret> {
        match outcome {
            // A forged message says nothing about the key.
            Err(error) if error.code == Code::ENCRYPTED_DATA_INVALID => {
                Err(code::AEAD_DECRYPT_FAILED.into())
            }
            outcome => self.with.judged(application, outcome),
        }
    }
}
