//! HMAC whose keys are padded blocks, for the feature `small`: each code hashes both pads again,
//! with no other functions than the hash's own.

use crate::machine::ct;
use crate::scheme::hash::{DigestBytes, Hash};

/// The longest block, in bytes: that of SHA3-224.
const MAX_BLOCK: usize = 144;

/// The most parts of a message.
const MAX_PARTS: usize = 4;

/// HMAC with one hash function.
#[derive(Clone, Copy)]
pub(crate) struct Algorithm(Hash);

impl Algorithm {
    /// Returns HMAC with a hash function.
    pub(crate) const fn of(hash: Hash) -> Self {
        Self(hash.fixed_length())
    }

    /// Returns the length of a code, in bytes.
    #[cfg_attr(not(feature = "small"), expect(dead_code, reason = "the tests compare codes only"))]
    pub(crate) const fn digest_length(self) -> usize {
        self.0.digest_length()
    }

    /// Absorbs a key.
    pub(crate) fn keyed(self, key: &[u8]) -> Keyed {
        let Self(hash) = self;
        let mut keyed = Keyed { hash, block: [0; MAX_BLOCK] };
        if key.len() <= hash.block_length() {
            keyed.block[..key.len()].copy_from_slice(key);
        } else {
            keyed.block[..hash.digest_length()].copy_from_slice(&hash.digest(&[key]));
        }
        keyed
    }
}

/// A key, ready for any number of messages; wiped when dropped.
pub(crate) struct Keyed {
    hash: Hash,
    /// The key with zeros after it.
    block: [u8; MAX_BLOCK],
}

impl Drop for Keyed {
    fn drop(&mut self) {
        ct::wipe_bytes(&mut self.block);
    }
}

impl Keyed {
    /// Returns the code of the concatenated parts, at most [`MAX_PARTS`].
    pub(crate) fn authenticate(&self, parts: &[&[u8]]) -> DigestBytes {
        let mut pad = self.block;
        let block = self.hash.block_length();
        pad.iter_mut().for_each(|byte| *byte ^= 0x36);
        let mut message: [&[u8]; 1 + MAX_PARTS] = [&pad[..block], &[], &[], &[], &[]];
        message[1..][..parts.len()].copy_from_slice(parts);
        let inner = self.hash.digest(&message);
        pad.iter_mut().for_each(|byte| *byte ^= 0x36 ^ 0x5c);
        let code = self.hash.digest(&[&pad[..block], &inner]);
        ct::wipe_bytes(&mut pad);
        code
    }
}

#[cfg(all(test, not(feature = "small")))]
mod tests {
    use super::super::states;
    use super::*;

    const HASHES: [Hash; 13] = [
        Hash::Sha1,
        Hash::Sha224,
        Hash::Sha256,
        Hash::Sha384,
        Hash::Sha512,
        Hash::Sha512_224,
        Hash::Sha512_256,
        Hash::Sha3_224,
        Hash::Sha3_256,
        Hash::Sha3_384,
        Hash::Sha3_512,
        Hash::Shake128,
        Hash::Shake256,
    ];

    #[test]
    fn agrees_with_the_form_on_states() {
        let bytes: [u8; 300] = core::array::from_fn(|i| (i * i + 7 * i) as u8);
        for hash in HASHES {
            for length in (0..200).step_by(3).chain([63, 64, 65, 127, 128, 129, 143, 144, 145]) {
                let key = &bytes[..length];
                let parts = [&bytes[..length / 2], &bytes[length..], &[7], &bytes[..90]];
                let ours = Algorithm::of(hash).keyed(key);
                let expected = states::Algorithm::of(hash).keyed(key);
                for parts in [&parts[..], &parts[..1], &[]] {
                    let code = ours.authenticate(parts);
                    assert_eq!(*code, *expected.authenticate(parts), "{hash:?} {length}");
                }
            }
        }
    }
}
