//! Digests, which the module computes itself: they need no key, or one whose value it may read.

use std::mem;

use cycloid_hsm_protocol::attribute::{cka, cko};
use cycloid_hsm_protocol::mechanism::Hash;
use cycloid_hsm_protocol::{Code, Result};
use zeroize::Zeroizing;

use super::hasher::Hasher;
use super::key_use::key_handle;
use super::state::{Digest, active, end, must_be_free};
use crate::code::KEY_INDIGESTIBLE;
use crate::memory::Output;
use crate::session::Session;

impl Session {
    /// Implements C_DigestInit.
    ///
    /// # Errors
    /// [`Code::MECHANISM_INVALID`], [`Code::OPERATION_ACTIVE`].
    pub(crate) fn digest_init(&self, mechanism: u32) -> Result<()> {
        let mut operations = self.operations();
        must_be_free(&operations.digest)?;
        let hash = Hash::of(mechanism).ok_or(Code::MECHANISM_INVALID)?;
        let hasher = Hasher::new(hash);
        operations.digest =
            Some(Digest { hasher, mechanism, hash, in_parts: false, has_key: false });
        Ok(())
    }

    /// Implements C_Digest.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`]; [`Code::OPERATION_ACTIVE`]
    /// after an Update.
    pub(crate) fn digest(&self, data: &[u8], output: &mut Output<u8>) -> Result<()> {
        let operations = &mut *self.operations();
        let digest = active(&mut operations.digest)?;
        if digest.in_parts {
            operations.digest = None;
            return Err(Code::OPERATION_ACTIVE.into());
        }
        if output.has_room(digest.hash.length())? {
            let mut hasher = end(&mut operations.digest)?.hasher;
            hasher.update(data);
            output.put(&hasher.finish())?;
        }
        Ok(())
    }

    /// Implements C_DigestUpdate.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`].
    pub(crate) fn digest_update(&self, part: &[u8]) -> Result<()> {
        let operations = &mut *self.operations();
        let digest = active(&mut operations.digest)?;
        digest.hasher.update(part);
        digest.in_parts = true;
        Ok(())
    }

    /// Implements C_DigestKey: continues the digest with the value of a secret key that may be
    /// read.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::KEY_HANDLE_INVALID`];
    /// [`KEY_INDIGESTIBLE`] for every other key.
    pub(crate) fn digest_key(&self, key: u64) -> Result<()> {
        let operations = &mut *self.operations();
        let digest = active(&mut operations.digest)?;
        let numbers = vec![cka::CLASS, cka::VALUE];
        let mut values = self.application.attributes(key, numbers).map_err(key_handle)?;
        let is_secret_key = values[0].value.0 == u64::from(cko::SECRET_KEY).to_le_bytes();
        let value = Zeroizing::new(mem::take(&mut values[1].value.0));
        if !is_secret_key || values[1].code != 0 {
            return Err(KEY_INDIGESTIBLE.into());
        }
        digest.hasher.update(&value);
        (digest.in_parts, digest.has_key) = (true, true);
        Ok(())
    }

    /// Implements C_DigestFinal.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`].
    pub(crate) fn digest_final(&self, output: &mut Output<u8>) -> Result<()> {
        let operations = &mut *self.operations();
        if output.has_room(active(&mut operations.digest)?.hash.length())? {
            output.put(&end(&mut operations.digest)?.hasher.finish())?;
        }
        Ok(())
    }
}
