//! Encryption and decryption, in one call or in parts.
//!
//! With AES in the modes ECB, CBC and CTR, an Update sends the complete blocks and returns their
//! output: the last block, or the counter, is all that the next ones need. So long data is sent in
//! several requests. For other mechanisms the parts are collected and sent whole at the end, and an
//! Update returns nothing. An authenticated cipher requires this: no part of a possibly forged
//! message may be released.

use std::mem;

use cycloid_hsm_protocol::mechanism::{Parameter, ckm};
use cycloid_hsm_protocol::rpc::{Bytes, Mechanism, Request, Secret, Usage, frame};
use cycloid_hsm_protocol::{Code, Result};
use zeroize::Zeroizing;

use super::key_use::Use;
use super::message::Parts;
use super::state::{Cipher, Direction, active, must_be_free};
use crate::application::{Application, unexpected};
use crate::key::BLOCK;
use crate::memory::Output;
use crate::session::Session;

/// The length of the longest piece of data in one request, in bytes: half of the longest message.
const PIECE: usize = frame::MAX_LENGTH / 2 / BLOCK * BLOCK;

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
        let streams = matches!(
            with.mechanism.number,
            ckm::AES_ECB | ckm::AES_CBC | ckm::AES_CBC_PAD | ckm::AES_CTR
        );
        let blocks_left = match with.mechanism.parameter {
            Parameter::Counter { bits, .. } => 1u128.checked_shl(bits).unwrap_or(u128::MAX),
            _ => u128::MAX,
        };
        let parts = Parts::default();
        *slot = Some(Cipher { direction, with, parts, streams, blocks_left, in_parts: false });
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
        let outcome = cipher.finish(&self.application, data, output);
        settle(slot, outcome)
    }

    /// Implements C_EncryptUpdate and C_DecryptUpdate.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`], [`Code::DATA_LEN_RANGE`];
    /// the daemon's.
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
        let outcome = cipher.update(&self.application, part, ready, output);
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
            let rest = cipher.parts.clone();
            cipher.finish(&self.application, &rest.into_secret(), output)
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

    /// Adds a part, sends the first `ready` bytes, which are complete blocks, and returns their
    /// output.
    fn update(
        &mut self,
        application: &Application,
        part: &[u8],
        ready: usize,
        output: &mut Output<u8>,
    ) -> Result<()> {
        if ready == 0 {
            self.parts.push(part)?;
            return output.put(&[]);
        }
        let mut data = Zeroizing::new(Vec::with_capacity(self.parts.len() + part.len()));
        data.extend_from_slice(&mem::take(&mut self.parts).into_secret());
        data.extend_from_slice(part);
        let mut parameter = self.with.mechanism.parameter.clone();
        let blocks_left = self.blocks_left_after(ready)?;
        let made = self.pieces(application, &mut parameter, &data[..ready])?;
        self.with.mechanism.parameter = parameter;
        self.blocks_left = blocks_left;
        self.parts.push(&data[ready..])?;
        output.put(&made)
    }

    /// Returns the number of counter blocks that are left after data of this length.
    ///
    /// # Errors
    /// [`Code::DATA_LEN_RANGE`] if a counter block would repeat.
    fn blocks_left_after(&self, length: usize) -> Result<u128> {
        let used = length.div_ceil(BLOCK) as u128;
        self.blocks_left.checked_sub(used).ok_or_else(|| Code::DATA_LEN_RANGE.into())
    }

    /// Returns whether all blocks are sent and no padding is needed.
    fn sends_nothing_at_the_end(&self) -> bool {
        self.streams && self.with.mechanism.number != ckm::AES_CBC_PAD && self.parts.len() == 0
    }

    /// Sends complete blocks, and returns their output. More blocks may follow. `parameter` belongs
    /// to the first block; afterwards it belongs to the block after the last.
    fn pieces(
        &self,
        application: &Application,
        parameter: &mut Parameter,
        blocks: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        let number = self.with.mechanism.number;
        let mut all = Zeroizing::new(Vec::with_capacity(blocks.len()));
        for piece in blocks.chunks(PIECE) {
            let sent = match (number, &*parameter) {
                (ckm::AES_CBC_PAD, Parameter::Iv(iv)) => Parameter::Piece(iv.clone()),
                _ => parameter.clone(),
            };
            let mechanism = Mechanism { number, parameter: sent };
            let made = self.ask(application, mechanism, Secret::new(piece))?;
            if made.len() != piece.len() {
                return Err(unexpected());
            }
            let ciphertext = match self.direction {
                Direction::Encrypt => &made,
                Direction::Decrypt => piece,
            };
            advance(parameter, ciphertext);
            all.extend_from_slice(&made);
        }
        Ok(all)
    }

    /// Sends the rest of the data, and returns its output.
    fn finish(
        &self,
        application: &Application,
        data: &[u8],
        output: &mut Output<u8>,
    ) -> Result<()> {
        let longest = self.length(data.len())?;
        self.blocks_left_after(data.len())?;
        // The last request has the end of the data, because padding belongs there.
        let before = match self.streams {
            true => data.len().saturating_sub(1) / PIECE * PIECE,
            false if data.len() > frame::MAX_LENGTH => return Err(Code::DATA_LEN_RANGE.into()),
            false => 0,
        };
        let mut parameter = self.with.mechanism.parameter.clone();
        let mut all = self.pieces(application, &mut parameter, &data[..before])?;
        let mechanism = Mechanism { number: self.with.mechanism.number, parameter };
        let made = self.ask(application, mechanism, Secret::new(&data[before..]))?;
        let length = before + made.len();
        let fits = match self.direction {
            Direction::Encrypt => length == longest,
            Direction::Decrypt => length <= longest,
        };
        if !fits {
            return Err(unexpected());
        }
        if before == 0 {
            return output.put(&made);
        }
        // Within the capacity, or the memory that it leaves would not be wiped.
        let mut whole = Zeroizing::new(Vec::with_capacity(length));
        whole.append(&mut all);
        whole.extend_from_slice(&made);
        output.put(&whole)
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

/// Changes a parameter to that of the block after these blocks of ciphertext.
fn advance(parameter: &mut Parameter, ciphertext: &[u8]) {
    match parameter {
        Parameter::Iv(iv) => *iv = ciphertext[ciphertext.len() - BLOCK..].into(),
        Parameter::Counter { bits, block } => {
            let Ok(counter) = <[u8; BLOCK]>::try_from(&*block.0) else { return };
            let counter = u128::from_be_bytes(counter);
            let mask = u128::MAX >> (128 - *bits);
            let next = counter.wrapping_add((ciphertext.len() / BLOCK) as u128);
            *block = (counter & !mask | next & mask).to_be_bytes()[..].into();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_wraps_within_its_bits() {
        let mut first = [0xff; BLOCK];
        first[15] = 0xfe;
        for (bits, expected) in [(128, 1u128), (32, u128::MAX << 32 | 1), (1, u128::MAX)] {
            let mut parameter = Parameter::Counter { bits, block: first[..].into() };
            advance(&mut parameter, &[0; 3 * BLOCK]);
            let block = expected.to_be_bytes()[..].into();
            assert_eq!(parameter, Parameter::Counter { bits, block });
        }
    }
}
