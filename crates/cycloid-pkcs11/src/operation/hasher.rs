//! The state of a hash function.

use cycloid_hsm_protocol::mechanism::Hash;
use sha1::Sha1;
use sha2::digest::common::hazmat::SerializableState;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use zeroize::Zeroizing;

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

    /// Returns the state, which contains up to a block of the data as it is.
    pub(super) fn save(&self) -> Zeroizing<Vec<u8>> {
        each!(self, state => Zeroizing::new(state.serialize().to_vec()))
    }

    /// Returns the hasher with a saved state, unless it is invalid, or claims so many blocks that
    /// their number would overflow.
    pub(super) fn restore(hash: Hash, saved: &[u8]) -> Option<Self> {
        // The last bytes of the number of blocks, which is little-endian and follows the words.
        let high = match hash {
            Hash::Sha1 => 26..28,
            Hash::Sha224 | Hash::Sha256 => 38..40,
            Hash::Sha384 | Hash::Sha512 => 70..80,
            _ => 0..0,
        };
        if saved.get(high)?.iter().any(|byte| *byte != 0) {
            return None;
        }
        let mut hasher = Self::new(hash);
        each!(&mut hasher, state => {
            *state = SerializableState::deserialize(saved.try_into().ok()?).ok()?;
        });
        Some(hasher)
    }

    pub(super) fn update(&mut self, part: &[u8]) {
        each!(self, state => state.update(part));
    }

    pub(super) fn finish(self) -> Vec<u8> {
        each!(self, state => state.finalize().to_vec())
    }
}
