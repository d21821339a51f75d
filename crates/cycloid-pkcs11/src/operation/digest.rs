//! Digests, which the module computes itself, because they need no key.

use cycloid_hsm_protocol::mechanism::Hash;
use cycloid_hsm_protocol::{Code, Result};
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

use super::{active, end, must_be_free};
use crate::memory::Output;
use crate::session::Session;

/// A hash function's state.
#[derive(Clone)]
pub(super) enum Hasher {
    Sha1(Sha1),
    Sha224(Sha224),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

macro_rules! each {
    ($self:expr, $state:ident => $action:expr) => {
        match $self {
            Hasher::Sha1($state) => $action,
            Hasher::Sha224($state) => $action,
            Hasher::Sha256($state) => $action,
            Hasher::Sha384($state) => $action,
            Hasher::Sha512($state) => $action,
        }
    };
}

impl Hasher {
    pub(super) fn new(hash: Hash) -> Self {
        match hash {
            Hash::Sha1 => Self::Sha1(Sha1::new()),
            Hash::Sha224 => Self::Sha224(Sha224::new()),
            Hash::Sha256 => Self::Sha256(Sha256::new()),
            Hash::Sha384 => Self::Sha384(Sha384::new()),
            Hash::Sha512 => Self::Sha512(Sha512::new()),
        }
    }

    pub(super) fn update(&mut self, part: &[u8]) {
        each!(self, state => state.update(part));
    }

    pub(super) fn finish(self) -> Vec<u8> {
        each!(self, state => state.finalize().to_vec())
    }
}

pub(super) struct Digest {
    hasher: Hasher,
    length: usize,
    /// Whether there was an Update, after which only Final can end the operation.
    in_parts: bool,
}

impl Session {
    /// Implements C_DigestInit.
    ///
    /// # Errors
    /// [`Code::MECHANISM_INVALID`], [`Code::OPERATION_ACTIVE`].
    pub(crate) fn digest_init(&self, mechanism: u32) -> Result<()> {
        let mut operations = self.operations();
        must_be_free(&operations.digest)?;
        let hash = Hash::of(mechanism).ok_or(Code::MECHANISM_INVALID)?;
        let digest = Digest { hasher: Hasher::new(hash), length: hash.length(), in_parts: false };
        operations.digest = Some(digest);
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
        if output.has_room(digest.length)? {
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

    /// Implements C_DigestFinal.
    ///
    /// # Errors
    /// [`Code::OPERATION_NOT_INITIALIZED`], [`Code::BUFFER_TOO_SMALL`].
    pub(crate) fn digest_final(&self, output: &mut Output<u8>) -> Result<()> {
        let operations = &mut *self.operations();
        if output.has_room(active(&mut operations.digest)?.length)? {
            output.put(&end(&mut operations.digest)?.hasher.finish())?;
        }
        Ok(())
    }
}
