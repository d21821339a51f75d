//! Saved states of operations (C_GetOperationState, C_SetOperationState).
//!
//! Only digests are saved. The state of an operation with a key is in the daemon or says something
//! about the key, and a digest of a key's value contains it, so these cannot be saved, as PKCS #11
//! 3.0, section 5.6, allows.
//!
//! A state is [`MAGIC`], the mechanism (four bytes, little-endian), a byte that says whether there
//! was an Update, the hash function's state, and a SHA-256 digest of all that. The digest detects
//! damage, not intent: whoever has the state may change it, and gets another digest of their own
//! data.

use cycloid_hsm_protocol::mechanism::Hash;
use cycloid_hsm_protocol::{Code, Result};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::hasher::Hasher;
use super::state::{Digest, Operations};
use crate::code;
use crate::memory::Output;
use crate::session::Session;

/// The start of every state: the name and the version of the format.
const MAGIC: &[u8; 8] = b"cycloid1";

/// The length of the digest at the end in bytes.
const CHECK: usize = 32;

/// The maximum length of a state in bytes; that of SHA-3 is the longest.
pub(crate) const MOST: usize = 512;

impl Session {
    /// Implements C_GetOperationState.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`] if no operation is active; [`code::STATE_UNSAVEABLE`] if
    /// one uses a key; [`Code::BUFFER_TOO_SMALL`].
    pub(crate) fn save(&self, output: &mut Output<u8>) -> Result<()> {
        let operations = &*self.operations();
        let unsaveable = || code::STATE_UNSAVEABLE.into();
        match &operations.digest {
            _ if operations.uses_key() => Err(unsaveable()),
            Some(digest) if digest.has_key => Err(unsaveable()),
            Some(digest) => output.put(&digest.save()),
            None => Err(Code::OPERATION_NOT_INITIALIZED.into()),
        }
    }

    /// Implements C_SetOperationState: the saved operation takes the place of all active ones.
    ///
    /// # Errors
    /// [`code::SAVED_STATE_INVALID`], [`code::KEY_NOT_NEEDED`].
    pub(crate) fn restore(&self, saved: &[u8], keys: [u64; 2]) -> Result<()> {
        let digest = Digest::restore(saved).ok_or(code::SAVED_STATE_INVALID)?;
        if keys != [0; 2] {
            return Err(code::KEY_NOT_NEEDED.into());
        }
        let mut operations = self.operations();
        let find = operations.find.take();
        *operations = Operations { find, digest: Some(digest), ..Operations::default() };
        Ok(())
    }
}

impl Digest {
    fn save(&self) -> Zeroizing<Vec<u8>> {
        let mut saved = Zeroizing::new(Vec::with_capacity(MOST));
        saved.extend_from_slice(MAGIC);
        saved.extend_from_slice(&self.mechanism.to_le_bytes());
        saved.push(self.in_parts.into());
        saved.extend_from_slice(&self.hasher.save());
        let check = Sha256::digest(&*saved);
        saved.extend_from_slice(&check);
        saved
    }

    fn restore(saved: &[u8]) -> Option<Self> {
        let (state, check) = saved.split_at_checked(saved.len().checked_sub(CHECK)?)?;
        if Sha256::digest(state)[..] != *check {
            return None;
        }
        let (mechanism, state) = state.strip_prefix(MAGIC)?.split_first_chunk()?;
        let mechanism = u32::from_le_bytes(*mechanism);
        let hash = Hash::of(mechanism)?;
        let (in_parts, state) = state.split_first()?;
        let in_parts = match in_parts {
            0 => false,
            1 => true,
            _ => return None,
        };
        let hasher = Hasher::restore(hash, state)?;
        Some(Self { hasher, mechanism, hash, in_parts, has_key: false })
    }
}
