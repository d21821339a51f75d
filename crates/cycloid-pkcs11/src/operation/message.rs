//! The message of an operation, collected from its parts.

use cycloid_hsm_protocol::mechanism::Hash;
use cycloid_hsm_protocol::rpc::{Secret, frame};
use cycloid_hsm_protocol::{Code, Result};
use zeroize::Zeroizing;

use super::hasher::Hasher;

/// The collected parts of a message: their digest if the mechanism hashes first, so that the
/// message need not be sent, otherwise the whole.
pub(super) enum Message {
    Hashed(Hasher),
    Whole(Parts),
}

impl Message {
    pub(super) fn new(mechanism: u32) -> Self {
        match Hash::before(mechanism) {
            Some(hash) => Self::Hashed(Hasher::new(hash)),
            None => Self::Whole(Parts::default()),
        }
    }

    /// # Errors
    /// [`Code::DATA_LEN_RANGE`] if it becomes longer than the daemon accepts.
    pub(super) fn update(&mut self, part: &[u8]) -> Result<()> {
        match self {
            Self::Hashed(hasher) => {
                hasher.update(part);
                Ok(())
            }
            Self::Whole(parts) => parts.push(part),
        }
    }

    /// Returns the message or its digest, and whether it is the digest.
    pub(super) fn finish(self) -> (Zeroizing<Vec<u8>>, bool) {
        match self {
            Self::Hashed(hasher) => (Zeroizing::new(hasher.finish()), true),
            Self::Whole(parts) => (parts.0, false),
        }
    }
}

/// Collected parts, wiped when dropped.
#[derive(Clone, Default)]
pub(super) struct Parts(Zeroizing<Vec<u8>>);

impl Parts {
    /// # Errors
    /// [`Code::DATA_LEN_RANGE`] if they become longer than a request can be.
    pub(super) fn push(&mut self, part: &[u8]) -> Result<()> {
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

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn into_secret(self) -> Secret {
        Secret(self.0)
    }
}
