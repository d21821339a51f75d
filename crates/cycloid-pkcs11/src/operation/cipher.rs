//! Encryption and decryption.
//!
//! Parts are put together and sent whole at the end, so that an Update gives nothing yet. With an
//! authenticated cipher that is as it must be: nothing of a message that may be forged comes out.

use cycloid_hsm::rpc::{Bytes, Mechanism, Request, Usage};
use cycloid_hsm::{Code, Result};

use super::{Operations, Parts, Use, active, must_be_free};
use crate::application::{Application, unexpected};
use crate::memory::Output;
use crate::session::Session;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

pub(super) struct Cipher {
    with: Use,
    parts: Parts,
    /// There was an Update, so that only Final can end it.
    in_parts: bool,
}

impl Operations {
    fn cipher(&mut self, direction: Direction) -> &mut Option<Cipher> {
        match direction {
            Direction::Encrypt => &mut self.encrypt,
            Direction::Decrypt => &mut self.decrypt,
        }
    }
}

impl Session {
    /// C_EncryptInit, C_DecryptInit.
    ///
    /// # Errors
    /// [`Code::OPERATION_ACTIVE`], [`Code::KEY_HANDLE_INVALID`], and those of
    /// [`Key::check`](crate::key::Key::check).
    pub(crate) fn cipher_init(
        &self,
        direction: Direction,
        mechanism: Mechanism,
        key: u64,
    ) -> Result<()> {
        let operations = &mut *self.operations();
        let slot = operations.cipher(direction);
        must_be_free(slot)?;
        let usage = match direction {
            Direction::Encrypt => Usage::Encrypt,
            Direction::Decrypt => Usage::Decrypt,
        };
        let with = Use::new(&self.application, key, mechanism, usage)?;
        *slot = Some(Cipher { with, parts: Parts::default(), in_parts: false });
        Ok(())
    }

    /// C_Encrypt, C_Decrypt.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`]; [`Code::OPERATION_ACTIVE`] after an
    /// Update; those of the daemon.
    pub(crate) fn cipher(
        &self,
        direction: Direction,
        data: &[u8],
        output: &mut Output<u8>,
    ) -> Result<()> {
        let operations = &mut *self.operations();
        let slot = operations.cipher(direction);
        let cipher = active(slot)?;
        if cipher.in_parts {
            *slot = None;
            return Err(Code::OPERATION_ACTIVE.into());
        }
        if !cipher.has_room(direction, data.len(), output)? {
            return Ok(());
        }
        let mut parts = Parts::default();
        let outcome = parts
            .push(data)
            .and_then(|()| cipher.finish(&self.application, direction, parts, output));
        settle(slot, outcome)
    }

    /// C_EncryptUpdate, C_DecryptUpdate.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::DATA_LEN_RANGE`].
    pub(crate) fn cipher_update(
        &self,
        direction: Direction,
        part: &[u8],
        output: &mut Output<u8>,
    ) -> Result<()> {
        let operations = &mut *self.operations();
        let slot = operations.cipher(direction);
        let cipher = active(slot)?;
        if output.is_wanted() {
            cipher.in_parts = true;
            cipher.parts.push(part).inspect_err(|_| *slot = None)?;
        }
        output.put(&[])
    }

    /// C_EncryptFinal, C_DecryptFinal.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`]; those of the daemon.
    pub(crate) fn cipher_final(&self, direction: Direction, output: &mut Output<u8>) -> Result<()> {
        let operations = &mut *self.operations();
        let slot = operations.cipher(direction);
        let cipher = active(slot)?;
        if !cipher.has_room(direction, cipher.parts.len(), output)? {
            return Ok(());
        }
        let parts = cipher.parts.clone();
        let outcome = cipher.finish(&self.application, direction, parts, output);
        settle(slot, outcome)
    }
}

/// Ends the operation, unless the output had too little room.
fn settle(slot: &mut Option<Cipher>, outcome: Result<()>) -> Result<()> {
    slot.take_if(|_| !matches!(&outcome, Err(error) if error.code == Code::BUFFER_TOO_SMALL));
    outcome
}

impl Cipher {
    /// Whether output is wanted. An encryption that has no room is not made. How long a decryption is
    /// shows only when it is made; a length that is asked for is the longest that it can have.
    fn has_room(
        &self,
        direction: Direction,
        length: usize,
        output: &mut Output<u8>,
    ) -> Result<bool> {
        let (key, mechanism) = (&self.with.key, &self.with.mechanism);
        match direction {
            Direction::Encrypt => output.has_room(key.encrypted_length(mechanism, length)?),
            Direction::Decrypt if output.is_wanted() => Ok(true),
            Direction::Decrypt => output.has_room(key.decrypted_length(mechanism, length)?),
        }
    }

    fn finish(
        &self,
        application: &Application,
        direction: Direction,
        parts: Parts,
        output: &mut Output<u8>,
    ) -> Result<()> {
        let (key, mechanism) = (self.with.handle, self.with.mechanism.clone());
        let length = parts.len();
        let mut data = parts.into_secret();
        let request = match direction {
            Direction::Encrypt => Request::Encrypt { key, mechanism, data },
            Direction::Decrypt => {
                Request::Decrypt { key, mechanism, data: Bytes(std::mem::take(&mut *data.0)) }
            }
        };
        let made = self.with.judged(application, application.data(&request))?;
        let (key, mechanism) = (&self.with.key, &self.with.mechanism);
        let fits = match direction {
            Direction::Encrypt => made.len() == key.encrypted_length(mechanism, length)?,
            Direction::Decrypt => made.len() <= key.decrypted_length(mechanism, length)?,
        };
        if fits { output.put(&made) } else { Err(unexpected()) }
    }
}
