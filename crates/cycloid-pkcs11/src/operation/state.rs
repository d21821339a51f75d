//! The state of a session's operations: at most one of each kind.

use cycloid_hsm_protocol::attribute::Template;
use cycloid_hsm_protocol::mechanism::{Hash, Parameter};
use cycloid_hsm_protocol::rpc::Usage;
use cycloid_hsm_protocol::{Code, Result};

use super::hasher::Hasher;
use super::key_use::Use;
use super::message::{Message, Parts};
use super::vectors::Vectors;

#[derive(Default)]
pub(crate) struct Operations {
    pub(super) find: Option<Find>,
    pub(super) digest: Option<Digest>,
    pub(super) sign: Option<Sign>,
    pub(super) verify: Option<Verify>,
    pub(super) encrypt: Option<Cipher>,
    pub(super) decrypt: Option<Cipher>,
    pub(super) message_sign: Option<MessageSignature>,
    pub(super) message_verify: Option<MessageSignature>,
    pub(super) message_encrypt: Option<MessageCipher>,
    pub(super) message_decrypt: Option<MessageCipher>,
}

impl Operations {
    /// Implements C_SessionCancel: ends the operations whose flags (`CKF_…`) are given.
    pub(crate) fn cancel(&mut self, flags: u64) {
        use cryptoki_sys::{
            CKF_DECRYPT, CKF_DIGEST, CKF_ENCRYPT, CKF_FIND_OBJECTS, CKF_MESSAGE_DECRYPT,
            CKF_MESSAGE_ENCRYPT, CKF_MESSAGE_SIGN, CKF_MESSAGE_VERIFY, CKF_SIGN, CKF_VERIFY,
        };
        let ends = |flag| flags & flag != 0;
        self.find.take_if(|_| ends(CKF_FIND_OBJECTS));
        self.digest.take_if(|_| ends(CKF_DIGEST));
        self.sign.take_if(|_| ends(CKF_SIGN));
        self.verify.take_if(|_| ends(CKF_VERIFY));
        self.encrypt.take_if(|_| ends(CKF_ENCRYPT));
        self.decrypt.take_if(|_| ends(CKF_DECRYPT));
        self.message_sign.take_if(|_| ends(CKF_MESSAGE_SIGN));
        self.message_verify.take_if(|_| ends(CKF_MESSAGE_VERIFY));
        self.message_encrypt.take_if(|_| ends(CKF_MESSAGE_ENCRYPT));
        self.message_decrypt.take_if(|_| ends(CKF_MESSAGE_DECRYPT));
    }

    /// Returns the key use that still waits for its PIN, if the key requires one before each use.
    pub(super) fn awaiting_pin(&mut self) -> Option<&mut Use> {
        let sign = self.sign.as_mut().map(|sign| &mut sign.with);
        let decrypt = self.decrypt.as_mut().map(|cipher| &mut cipher.with);
        let messages = self.message_sign.as_mut().map(|sign| &mut sign.with);
        [sign, decrypt, messages].into_iter().flatten().find(|key| key.awaits_pin())
    }

    /// Ends the operation of a kind, as an Init without a mechanism does (PKCS #11 3.0, section
    /// 5.11.1).
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if there is none.
    pub(crate) fn cancel_one(&mut self, flag: u64) -> Result<()> {
        use cryptoki_sys::{
            CKF_DECRYPT, CKF_DIGEST, CKF_ENCRYPT, CKF_MESSAGE_DECRYPT, CKF_MESSAGE_ENCRYPT,
            CKF_MESSAGE_SIGN, CKF_MESSAGE_VERIFY, CKF_SIGN, CKF_VERIFY,
        };
        let active = match flag {
            CKF_DIGEST => self.digest.is_some(),
            CKF_SIGN => self.sign.is_some(),
            CKF_VERIFY => self.verify.is_some(),
            CKF_ENCRYPT => self.encrypt.is_some(),
            CKF_DECRYPT => self.decrypt.is_some(),
            CKF_MESSAGE_SIGN => self.message_sign.is_some(),
            CKF_MESSAGE_VERIFY => self.message_verify.is_some(),
            CKF_MESSAGE_ENCRYPT => self.message_encrypt.is_some(),
            CKF_MESSAGE_DECRYPT => self.message_decrypt.is_some(),
            _ => false,
        };
        if !active {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        self.cancel(flag);
        Ok(())
    }

    /// Returns whether an operation with a key is active.
    pub(super) fn uses_key(&self) -> bool {
        self.sign.is_some()
            || self.verify.is_some()
            || self.encrypt.is_some()
            || self.decrypt.is_some()
            || self.message_sign.is_some()
            || self.message_verify.is_some()
            || self.message_encrypt.is_some()
            || self.message_decrypt.is_some()
    }

    /// Returns the operation on messages that encrypts or decrypts.
    pub(super) fn message_cipher(&mut self, direction: Direction) -> &mut Option<MessageCipher> {
        match direction {
            Direction::Encrypt => &mut self.message_encrypt,
            Direction::Decrypt => &mut self.message_decrypt,
        }
    }

    /// Returns the operation on messages that signs or, for any other usage, verifies.
    pub(super) fn message_signature(&mut self, usage: Usage) -> &mut Option<MessageSignature> {
        match usage {
            Usage::Sign => &mut self.message_sign,
            _ => &mut self.message_verify,
        }
    }

    /// Returns the encryption or the decryption.
    pub(super) fn cipher(&mut self, direction: Direction) -> &mut Option<Cipher> {
        match direction {
            Direction::Encrypt => &mut self.encrypt,
            Direction::Decrypt => &mut self.decrypt,
        }
    }
}

/// A search for objects.
pub(super) struct Find {
    pub(super) template: Template,
    /// One page of the objects, in ascending order.
    pub(super) objects: Vec<u64>,
    /// The number of them that the program has.
    pub(super) given: usize,
    /// Whether objects follow the page.
    pub(super) more: bool,
}

/// A digest.
pub(super) struct Digest {
    pub(super) hasher: Hasher,
    pub(super) mechanism: u32,
    pub(super) hash: Hash,
    /// Whether there was an Update, after which only Final can end the operation.
    pub(super) in_parts: bool,
    /// Whether the data contains the value of a key.
    pub(super) has_key: bool,
}

/// A signature or an HMAC.
pub(super) struct Sign {
    pub(super) with: Use,
    pub(super) length: usize,
    pub(super) message: Message,
    /// Whether there was an Update, after which only Final can end the operation.
    pub(super) in_parts: bool,
}

/// A verification of a signature or an HMAC.
pub(super) struct Verify {
    pub(super) with: Use,
    pub(super) length: usize,
    pub(super) message: Message,
    /// The signature, if it comes before the message.
    pub(super) signature: Option<Vec<u8>>,
    /// Whether there was an Update, after which only Final can end the operation.
    pub(super) in_parts: bool,
}

/// Whether a [`Cipher`] encrypts or decrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// An encryption or a decryption.
pub(super) struct Cipher {
    pub(super) direction: Direction,
    pub(super) with: Use,
    /// The input that is not sent yet.
    pub(super) parts: Parts,
    /// Whether complete blocks are sent at once.
    pub(super) streams: bool,
    /// The number of blocks before a counter block repeats.
    pub(super) blocks_left: u128,
    /// Whether there was an Update, after which only Final can end the operation.
    pub(super) in_parts: bool,
}

/// An encryption or a decryption of messages.
pub(super) struct MessageCipher {
    pub(super) direction: Direction,
    pub(super) with: Use,
    pub(super) vectors: Vectors,
    /// The message that has begun.
    pub(super) begun: Option<BegunMessage>,
}

/// A message in parts that is encrypted or decrypted.
pub(super) struct BegunMessage {
    pub(super) parameter: Parameter,
    /// The length of the tag in bytes.
    pub(super) tag_length: usize,
    pub(super) parts: Parts,
}

/// Signatures of messages, or their verification.
pub(super) struct MessageSignature {
    pub(super) with: Use,
    /// Sign or Verify.
    pub(super) usage: Usage,
    pub(super) length: usize,
    /// The message that has begun.
    pub(super) begun: Option<Message>,
}

/// # Errors
/// [`Code::OPERATION_ACTIVE`] if there is an operation already.
pub(super) fn must_be_free<T>(operation: &Option<T>) -> Result<()> {
    if operation.is_some() { Err(Code::OPERATION_ACTIVE.into()) } else { Ok(()) }
}

/// # Errors
/// [`Code::OPERATION_NOT_INITIALIZED`] if there is no such operation.
pub(super) fn active<T>(operation: &mut Option<T>) -> Result<&mut T> {
    operation.as_mut().ok_or_else(|| Code::OPERATION_NOT_INITIALIZED.into())
}

/// Ends an operation, and returns it.
pub(super) fn end<T>(operation: &mut Option<T>) -> Result<T> {
    operation.take().ok_or_else(|| Code::OPERATION_NOT_INITIALIZED.into())
}
