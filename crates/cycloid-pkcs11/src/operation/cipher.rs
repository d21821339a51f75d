//! Encryption and decryption, in one call or in parts.
//!
//! With AES-CBC, an Update sends the complete blocks and returns their output: the last block is
//! all that chaining needs. For other mechanisms the parts are collected and sent whole at the end,
//! and an Update returns nothing. An authenticated cipher requires this: no part of a possibly
//! forged message may be released.

use std::mem;

use cycloid_hsm_protocol::mechanism::{Parameter, ckm};
use cycloid_hsm_protocol::rpc::{Bytes, Mechanism, Request, Secret, Usage};
use cycloid_hsm_protocol::{Code, Result};

use super::key_use::Use;
use super::message::Parts;
use super::state::{Cipher, Direction, active, must_be_free};
use crate::application::{Application, unexpected};
use crate::key::BLOCK;
use crate::memory::Output;
use crate::session::Session;

impl Session {
    /// Implements C_EncryptInit and C_DecryptInit.
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
        // A key that permits only padded messages gets the whole message at once.
        let streams = matches!(with.mechanism.number, ckm::AES_CBC | ckm::AES_CBC_PAD)
            && with.key.check(ckm::AES_CBC, usage).is_ok();
        *slot = Some(Cipher { direction, with, parts: Parts::default(), streams, in_parts: false });
        Ok(())
    }

    /// Implements C_Encrypt and C_Decrypt.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`]; [`Code::OPERATION_ACTIVE`]
    /// after an Update; the daemon's errors.
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
        if !cipher.has_room(data.len(), output)? {
            return Ok(());
        }
        let mut parts = Parts::default();
        let outcome =
            parts.push(data).and_then(|()| cipher.finish(&self.application, parts, output));
        settle(slot, outcome)
    }

    /// Implements C_EncryptUpdate and C_DecryptUpdate.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`], [`Code::DATA_LEN_RANGE`];
    /// the daemon\'s.
    pub(crate) fn cipher_update(
        &self,
        direction: Direction,
        part: &[u8],
        output: &mut Output<u8>,
    ) -> Result<()> {
        let operations = &mut *self.operations();
        let slot = operations.cipher(direction);
        let cipher = active(slot)?;
        let ready = cipher.ready(part.len());
        if !output.has_room(ready)? {
            return Ok(());
        }
        cipher.in_parts = true;
        let outcome =
            cipher.parts.push(part).and_then(|()| cipher.blocks(&self.application, ready, output));
        outcome.inspect_err(|_| *slot = None)
    }

    /// Implements C_EncryptFinal and C_DecryptFinal.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`]; the daemon's errors.
    pub(crate) fn cipher_final(&self, direction: Direction, output: &mut Output<u8>) -> Result<()> {
        let operations = &mut *self.operations();
        let slot = operations.cipher(direction);
        let cipher = active(slot)?;
        if !cipher.has_room(cipher.parts.len(), output)? {
            return Ok(());
        }
        let outcome = if cipher.in_parts && cipher.sends_nothing_at_the_end() {
            output.put(&[])
        } else {
            cipher.finish(&self.application, cipher.parts.clone(), output)
        };
        settle(slot, outcome)
    }
}

/// Ends the operation, unless the output did not fit.
fn settle(slot: &mut Option<Cipher>, outcome: Result<()>) -> Result<()> {
    slot.take_if(|_| !matches!(&outcome, Err(error) if error.code == Code::BUFFER_TOO_SMALL));
    outcome
}

impl Cipher {
    /// Returns whether output is wanted. An encryption whose output does not fit is not sent. The
    /// length of a decryption is known only afterwards; a query returns its maximum, and that much
    /// room is required if each use of the key needs a PIN.
    fn has_room(&self, length: usize, output: &mut Output<u8>) -> Result<bool> {
        match self.direction {
            Direction::Decrypt if output.is_wanted() && !self.with.key.always_authenticate => {
                Ok(true)
            }
            _ => output.has_room(self.length(length)?),
        }
    }

    /// Returns the maximum output length for `length` bytes of input.
    fn length(&self, length: usize) -> Result<usize> {
        let (key, mechanism) = (&self.with.key, &self.with.mechanism);
        match self.direction {
            Direction::Encrypt => key.encrypted_length(mechanism, length),
            Direction::Decrypt => key.decrypted_length(mechanism, length),
        }
    }

    /// Returns the number of bytes that can be sent once `more` have been added. The last block of
    /// a padded message is kept back, because only the end of the message shows whether it contains
    /// the padding.
    fn ready(&self, more: usize) -> usize {
        let length = self.parts.len() + more;
        let last =
            self.direction == Direction::Decrypt && self.with.mechanism.number == ckm::AES_CBC_PAD;
        match self.streams {
            true if last => length.saturating_sub(1) / BLOCK * BLOCK,
            true => length / BLOCK * BLOCK,
            false => 0,
        }
    }

    /// Sends the first `ready` bytes, which are complete blocks, and returns their output.
    fn blocks(
        &mut self,
        application: &Application,
        ready: usize,
        output: &mut Output<u8>,
    ) -> Result<()> {
        if ready == 0 {
            return output.put(&[]);
        }
        let blocks = self.parts.take(ready);
        let next = |blocks: &[u8]| Parameter::Iv(blocks[ready - BLOCK..].into());
        let read = next(&blocks);
        let parameter = self.with.mechanism.parameter.clone();
        let mechanism = Mechanism { number: ckm::AES_CBC, parameter };
        let made = self.ask(application, mechanism, blocks)?;
        if made.len() != ready {
            return Err(unexpected());
        }
        self.with.mechanism.parameter = match self.direction {
            Direction::Encrypt => next(&made),
            Direction::Decrypt => read,
        };
        output.put(&made)
    }

    /// Returns whether all blocks are sent and no padding is needed.
    fn sends_nothing_at_the_end(&self) -> bool {
        self.streams && self.with.mechanism.number == ckm::AES_CBC && self.parts.len() == 0
    }

    fn finish(
        &self,
        application: &Application,
        parts: Parts,
        output: &mut Output<u8>,
    ) -> Result<()> {
        let longest = self.length(parts.len())?;
        let made = self.ask(application, self.with.mechanism.clone(), parts.into_secret())?;
        let fits = match self.direction {
            Direction::Encrypt => made.len() == longest,
            Direction::Decrypt => made.len() <= longest,
        };
        if fits { output.put(&made) } else { Err(unexpected()) }
    }

    fn ask(
        &self,
        application: &Application,
        mechanism: Mechanism,
        mut data: Secret,
    ) -> Result<Secret> {
        self.with.needs_no_pin()?;
        let key = self.with.handle;
        let request = match self.direction {
            Direction::Encrypt => Request::Encrypt { key, mechanism, data },
            Direction::Decrypt => {
                Request::Decrypt { key, mechanism, data: Bytes(mem::take(&mut *data.0)) }
            }
        };
        self.with.judged(application, application.data(&request))
    }
}
