//! HMAC with eight keys side by side.

use zeroize::Zeroize;

use super::{Algorithm, Keyed, MAX_BLOCK};
use crate::machine::lanes::{Backend, LANES};
use crate::scheme::hash::eight::States;
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
        padded.zeroize();
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
