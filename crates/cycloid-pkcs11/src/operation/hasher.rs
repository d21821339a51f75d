//! The state of a hash function.

use cycloid_hsm_protocol::mechanism::Hash;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

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
