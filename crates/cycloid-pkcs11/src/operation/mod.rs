//! The operations of a session: at most one of each kind, from its Init to its end.
//!
//! An operation ends with its result and with every error except [`Code::BUFFER_TOO_SMALL`] and
//! errors in the arguments of the call itself. A query of the length does not end it (PKCS #11 3.0,
//! section 5.2).

mod cipher;
mod digest;
mod find;
mod object;
mod sign;
mod verify;

use std::sync::Arc;

use cycloid_hsm_protocol::mechanism::Hash;
use cycloid_hsm_protocol::rpc::{Mechanism, Request, Secret, Usage, frame};
use cycloid_hsm_protocol::{Code, Error, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::application::Application;
use crate::key::Key;
use crate::session::Session;
pub(crate) use cipher::Direction;
use digest::Hasher;

#[derive(Default)]
pub(crate) struct Operations {
    find: Option<find::Find>,
    digest: Option<digest::Digest>,
    sign: Option<sign::Sign>,
    verify: Option<verify::Verify>,
    encrypt: Option<cipher::Cipher>,
    decrypt: Option<cipher::Cipher>,
}

impl Operations {
    /// Implements C_SessionCancel: ends the operations whose flags (`CKF_…`) are given.
    pub(crate) fn cancel(&mut self, flags: u64) {
        use cryptoki_sys::{
            CKF_DECRYPT, CKF_DIGEST, CKF_ENCRYPT, CKF_FIND_OBJECTS, CKF_SIGN, CKF_VERIFY,
        };
        let ends = |flag| flags & flag != 0;
        self.find.take_if(|_| ends(CKF_FIND_OBJECTS));
        self.digest.take_if(|_| ends(CKF_DIGEST));
        self.sign.take_if(|_| ends(CKF_SIGN));
        self.verify.take_if(|_| ends(CKF_VERIFY));
        self.encrypt.take_if(|_| ends(CKF_ENCRYPT));
        self.decrypt.take_if(|_| ends(CKF_DECRYPT));
    }

    /// Returns the key use that still waits for its PIN, if the key requires one before each use.
    fn awaiting_pin(&mut self) -> Option<&mut Use> {
        let sign = self.sign.as_mut().map(sign::Sign::key);
        let decrypt = self.decrypt.as_mut().map(cipher::Cipher::key);
        [sign, decrypt].into_iter().flatten().find(|key| key.awaits_pin())
    }

    /// Ends the operation of a kind, as an Init without a mechanism does (PKCS #11 3.0, section
    /// 5.11.1).
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if there is none.
    pub(crate) fn cancel_one(&mut self, flag: u64) -> Result<()> {
        use cryptoki_sys::{CKF_DECRYPT, CKF_DIGEST, CKF_ENCRYPT, CKF_SIGN, CKF_VERIFY};
        let active = match flag {
            CKF_DIGEST => self.digest.is_some(),
            CKF_SIGN => self.sign.is_some(),
            CKF_VERIFY => self.verify.is_some(),
            CKF_ENCRYPT => self.encrypt.is_some(),
            CKF_DECRYPT => self.decrypt.is_some(),
            _ => false,
        };
        if !active {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        self.cancel(flag);
        Ok(())
    }
}

/// A key and its use.
struct Use {
    handle: u64,
    key: Arc<Key>,
    mechanism: Mechanism,
    /// Whether the PIN was entered for this use.
    authenticated: bool,
}

impl Session {
    /// Implements C_Login for the active operation whose key requires the PIN before each use (PKCS
    /// #11 3.0, section 4.9).
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`] if there is none; the daemon's errors. After
    /// [`Code::PIN_LOCKED`] nobody is logged in any more.
    pub(crate) fn authenticate(&self, pin: &[u8]) -> Result<()> {
        let mut operations = self.operations();
        let key = operations.awaiting_pin().ok_or(Code::OPERATION_NOT_INITIALIZED)?;
        let request = Request::Authenticate { key: key.handle, pin: Secret::new(pin) };
        let outcome = self.application.order(&request);
        key.authenticated = outcome.is_ok();
        drop(operations);
        if outcome.as_ref().is_err_and(|error| error.code == Code::PIN_LOCKED) {
            self.application.was_logged_out();
        }
        outcome
    }
}

impl Use {
    /// # Errors
    /// [`Code::KEY_HANDLE_INVALID`] and those of [`Key::check`].
    fn new(
        application: &Application,
        handle: u64,
        mechanism: Mechanism,
        usage: Usage,
    ) -> Result<Self> {
        let key = application.key(handle).map_err(key_handle)?;
        key.check(mechanism.number, usage)?;
        Ok(Self { handle, key, mechanism, authenticated: false })
    }

    fn awaits_pin(&self) -> bool {
        self.key.always_authenticate && !self.authenticated
    }

    /// # Errors
    /// [`Code::USER_NOT_LOGGED_IN`] if the key requires the PIN before each use, and it was not
    /// entered for this one.
    fn needs_no_pin(&self) -> Result<()> {
        if self.awaits_pin() { Err(Code::USER_NOT_LOGGED_IN.into()) } else { Ok(()) }
    }

    /// Passes on the daemon's verdict on the use of the key. A refusal clears the key's cache
    /// entry, which may be outdated.
    fn judged<T>(&self, application: &Application, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| {
            application.forget(self.handle);
            key_handle(error)
        })
    }
}

/// Maps the error for a missing object to the one for a missing key.
fn key_handle(error: Error) -> Error {
    match error {
        Error { code: Code::OBJECT_HANDLE_INVALID, detail } => {
            Code::KEY_HANDLE_INVALID.because(detail)
        }
        other => other,
    }
}

/// # Errors
/// [`Code::OPERATION_ACTIVE`] if there is an operation already.
fn must_be_free<T>(operation: &Option<T>) -> Result<()> {
    if operation.is_some() { Err(Code::OPERATION_ACTIVE.into()) } else { Ok(()) }
}

/// # Errors
/// [`Code::OPERATION_NOT_INITIALIZED`] if there is no such operation.
fn active<T>(operation: &mut Option<T>) -> Result<&mut T> {
    operation.as_mut().ok_or_else(|| Code::OPERATION_NOT_INITIALIZED.into())
}

/// Ends an operation, and returns it.
fn end<T>(operation: &mut Option<T>) -> Result<T> {
    operation.take().ok_or_else(|| Code::OPERATION_NOT_INITIALIZED.into())
}

/// The collected parts of a message: their digest if the mechanism hashes first, so that the
/// message need not be sent, otherwise the whole.
enum Message {
    Hashed(Hasher),
    Whole(Parts),
}

impl Message {
    fn new(mechanism: u32) -> Self {
        match Hash::before(mechanism) {
            Some(hash) => Self::Hashed(Hasher::new(hash)),
            None => Self::Whole(Parts::default()),
        }
    }

    /// # Errors
    /// [`Code::DATA_LEN_RANGE`] if it becomes longer than the daemon accepts.
    fn update(&mut self, part: &[u8]) -> Result<()> {
        match self {
            Self::Hashed(hasher) => {
                hasher.update(part);
                Ok(())
            }
            Self::Whole(parts) => parts.push(part),
        }
    }

    /// Returns the message or its digest, and whether it is the digest.
    fn finish(self) -> (Zeroizing<Vec<u8>>, bool) {
        match self {
            Self::Hashed(hasher) => (Zeroizing::new(hasher.finish()), true),
            Self::Whole(parts) => (parts.0, false),
        }
    }
}

/// Collected parts, wiped when dropped.
#[derive(Clone, Default)]
struct Parts(Zeroizing<Vec<u8>>);

impl Parts {
    /// # Errors
    /// [`Code::DATA_LEN_RANGE`] if they become longer than a request can be.
    fn push(&mut self, part: &[u8]) -> Result<()> {
        let length = self.0.len() + part.len();
        if length > frame::MAX_LENGTH {
            return Err(Code::DATA_LEN_RANGE.into());
        }
        if length > self.0.capacity() {
            // Reallocated explicitly, so that the old memory is wiped.
            let mut grown = Zeroizing::new(Vec::with_capacity(length.max(2 * self.0.capacity())));
            grown.extend_from_slice(&self.0);
            self.0 = grown;
        }
        self.0.extend_from_slice(part);
        Ok(())
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes and returns the first `length` bytes.
    fn take(&mut self, length: usize) -> Secret {
        let taken = Secret::new(&self.0[..length]);
        self.0.copy_within(length.., 0);
        let left = self.0.len() - length;
        self.0[left..].zeroize();
        self.0.truncate(left);
        taken
    }

    fn into_secret(self) -> Secret {
        Secret(self.0)
    }
}
