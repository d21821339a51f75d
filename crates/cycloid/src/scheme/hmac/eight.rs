//! HMAC with eight keys side by side.

use super::{Algorithm, Keyed, MAX_BLOCK};
use crate::machine::ct;
use crate::machine::lanes::sha::Sha2Word;
use crate::machine::lanes::{Backend, LANES};
use crate::scheme::hash::eight::{Block, States, StatesOf};
use crate::scheme::hash::{DigestBytes, Hash};

/// A key for each lane, ready for any number of messages; wiped when dropped.
pub(crate) struct KeyedEight {
    backend: Option<Backend>,
    keys: Keys,
    length: usize,
}

#[allow(clippy::large_enum_variant, reason = "it lives on the stack, and not for long")]
enum Keys {
    Eight { inner: States, outer: States },
    OneAfterTheOther([Keyed; LANES]),
}

impl KeyedEight {
    pub(crate) fn new(backend: Option<Backend>, hash: Hash, keys: [&[u8]; LANES]) -> Self {
        let length = hash.digest_length();
        let (Some(mut inner), Some(mut outer)) = (States::new(hash), States::new(hash)) else {
            let algorithm = Algorithm::of(hash);
            let keys = Keys::OneAfterTheOther(keys.map(|key| algorithm.keyed(key)));
            return Self { backend, keys, length };
        };
        let block = inner.block_length();
        let mut padded = [[0; MAX_BLOCK]; LANES];
        for (padded, key) in padded.iter_mut().zip(keys) {
            if key.len() <= block {
                padded[..key.len()].copy_from_slice(key);
            } else {
                padded[..length].copy_from_slice(&hash.digest(&[key]));
            }
        }
        for (states, pad) in [(&mut inner, 0x36), (&mut outer, 0x36 ^ 0x5c)] {
            padded.as_flattened_mut().iter_mut().for_each(|byte| *byte ^= pad);
            states.absorb(backend, padded.each_ref().map(|padded| &padded[..block]));
        }
        ct::wipe_bytes(padded.as_flattened_mut());
        Self { backend, keys: Keys::Eight { inner, outer }, length }
    }

    /// Returns the code of one message per lane.
    pub(crate) fn authenticate(&self, messages: [&[&[u8]]; LANES]) -> [DigestBytes; LANES] {
        match &self.keys {
            Keys::Eight { inner, outer } => {
                let messages = messages.map(|parts| Some(parts.iter().copied()));
                let digests = inner.finish(self.backend, messages, self.length);
                let digests = digests.each_ref().map(|digest| Some(core::iter::once(&**digest)));
                outer.finish(self.backend, digests, self.length)
            }
            Keys::OneAfterTheOther(keys) => {
                core::array::from_fn(|lane| keys[lane].authenticate(messages[lane]))
            }
        }
    }
}

/// Eight keys like [`KeyedEight`], with messages and codes as words, which are not converted to
/// bytes in between.
pub(crate) struct KeyedWords<W: Sha2Word> {
    backend: Backend,
    inner: StatesOf<W>,
    outer: StatesOf<W>,
    /// Words of a code, and of a key.
    length: usize,
}

impl<W: Sha2Word> KeyedWords<W> {
    /// Takes the first `length` words of `keys`. `start` are the states of the hash function before
    /// the first block.
    pub(crate) fn new(
        backend: Backend,
        start: &StatesOf<W>,
        length: usize,
        keys: &[[W; LANES]; 8],
    ) -> Self {
        let padded = |byte| {
            let pad = W::from_leading(u64::from_ne_bytes([byte; 8]));
            let mut block = [[pad; LANES]; 16];
            for (words, keys) in block.iter_mut().zip(&keys[..length]) {
                words.iter_mut().zip(keys).for_each(|(word, key)| *word = pad ^ *key);
            }
            let states = start.after(backend, &block);
            W::wipe(&mut block);
            states
        };
        Self { backend, inner: padded(0x36), outer: padded(0x5c), length }
    }

    /// Returns the codes of messages that end with their padding: the first words of the states.
    pub(crate) fn authenticate(&self, blocks: &[Block<W>]) -> [[W; LANES]; 8] {
        let (first, rest) = blocks.split_first().expect("the padding is in a block");
        let mut inner = self.inner.after(self.backend, first);
        for block in rest {
            inner = inner.after(self.backend, block);
        }
        *self.outer.after(self.backend, &self.block_of(inner.words())).words()
    }

    /// Returns the codes of messages that are codes themselves.
    pub(crate) fn authenticate_codes(&self, codes: &[[W; LANES]; 8]) -> [[W; LANES]; 8] {
        self.authenticate(&[self.block_of(codes)])
    }

    /// Returns codes with the padding of a hash function that has absorbed one block before.
    fn block_of(&self, codes: &[[W; LANES]; 8]) -> Block<W> {
        let mut block = [[W::from_number(0); LANES]; 16];
        block[..self.length].copy_from_slice(&codes[..self.length]);
        block[self.length] = [W::from_leading(1 << 63); LANES];
        let bits = 8 * (W::BLOCK + self.length * size_of::<W>());
        block[15] = [W::from_number(bits as u32); LANES];
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::lanes::tests::backends;

    #[test]
    fn eight_agree_with_one() {
        let bytes: [u8; 300] = core::array::from_fn(|i| (i * i + 7 * i) as u8);
        for hash in [Hash::Sha1, Hash::Sha224, Hash::Sha256, Hash::Sha384, Hash::Sha512] {
            for backend in backends().into_iter().map(Some).chain([None]) {
                for start in 0..40 {
                    let keys: [&[u8]; LANES] = core::array::from_fn(|lane| {
                        &bytes[lane..][..(start * 5 + lane * 29) % 200]
                    });
                    let parts: [[&[u8]; 2]; LANES] = core::array::from_fn(|lane| {
                        [&bytes[..(start * 7 + lane * 31) % 150], &bytes[lane..start + lane]]
                    });
                    let keyed = KeyedEight::new(backend, hash, keys);
                    for _ in 0..2 {
                        let codes = keyed.authenticate(parts.each_ref().map(|parts| &parts[..]));
                        for lane in 0..LANES {
                            let expected = Algorithm::of(hash).keyed(keys[lane]);
                            let expected = expected.authenticate(&parts[lane]);
                            assert_eq!(*codes[lane], *expected, "{hash:?} {start} {lane}");
                        }
                    }
                }
            }
        }
    }
}
