//! The state of a hash function.

use cycloid_hsm_protocol::mechanism::Hash;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// A hash function's state.
#[derive(Clone)]
pub(super) enum Hasher {
    Sha1(Sha1),
    Sha224(Sha224),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
    Sha3_224(Sha3_224),
    Sha3_256(Sha3_256),
    Sha3_384(Sha3_384),
    Sha3_512(Sha3_512),
}

macro_rules! each {
    ($self:expr, $state:ident => $action:expr) => {
        match $self {
            Hasher::Sha1($state) => $action,
            Hasher::Sha224($state) => $action,
            Hasher::Sha256($state) => $action,
            Hasher::Sha384($state) => $action,
            Hasher::Sha512($state) => $action,
            Hasher::Sha3_224($state) => $action,
            Hasher::Sha3_256($state) => $action,
            Hasher::Sha3_384($state) => $action,
            Hasher::Sha3_512($state) => $action,
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
            Hash::Sha3_224 => Self::Sha3_224(Sha3_224::new()),
            Hash::Sha3_256 => Self::Sha3_256(Sha3_256::new()),
            Hash::Sha3_384 => Self::Sha3_384(Sha3_384::new()),
            Hash::Sha3_512 => Self::Sha3_512(Sha3_512::new()),
        }
    }

    pub(super) fn update(&mut self, part: &[u8]) {
        each!(self, state => state.update(part));
    }

    pub(super) fn finish(self) -> Vec<u8> {
        each!(self, state => state.finalize().to_vec())
    }
}
