//! HMAC (FIPS 198-1) with the schemes' hash functions, chosen at run time. In place of SHAKE it
//! uses the function of SHA-3 with an output of the same length, since HMAC with SHAKE is not
//! approved.

pub(crate) mod eight;

#[cfg(feature = "sha3")]
use hmac::SimpleHmac;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
#[cfg(feature = "sha3")]
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use zeroize::Zeroize;

use super::hash::eight::States;
use super::hash::{DigestBytes, Hash};
use crate::machine::cpu;
use crate::machine::lanes::Backend;

/// An absorbed key, ready for any number of messages; wiped when dropped.
#[allow(clippy::large_enum_variant, reason = "it lives on the stack, and not for long")]
pub(crate) enum Keyed {
    Sha1(Hmac<Sha1>),
    Sha224(Hmac<Sha224>),
    Sha256(Hmac<Sha256>),
    Sha384(Hmac<Sha384>),
    Sha512(Hmac<Sha512>),
    Sha512_224(Hmac<Sha512_224>),
    Sha512_256(Hmac<Sha512_256>),
    #[cfg(feature = "sha3")]
    Sha3_224(SimpleHmac<Sha3_224>),
    #[cfg(feature = "sha3")]
    Sha3_256(SimpleHmac<Sha3_256>),
    #[cfg(feature = "sha3")]
    Sha3_384(SimpleHmac<Sha3_384>),
    #[cfg(feature = "sha3")]
    Sha3_512(SimpleHmac<Sha3_512>),
    /// SHA-224 or SHA-256 on vectors.
    OnVectors(OnVectors),
}

/// The states after the inner pad and after the outer pad, in two of the eight lanes.
pub(crate) struct OnVectors {
    backend: Backend,
    states: States,
    length: usize,
}

const INNER: usize = 0;
const OUTER: usize = 1;

fn keyed<M: KeyInit>(key: &[u8]) -> M {
    match M::new_from_slice(key) {
        Ok(keyed) => keyed,
        Err(_) => unreachable!("HMAC takes keys of any length"),
    }
}

fn authenticate<M: Mac + Clone>(keyed: &M, parts: &[&[u8]]) -> DigestBytes {
    let mut mac = keyed.clone();
    parts.iter().for_each(|part| mac.update(part));
    DigestBytes::of_output(mac.finalize().into_bytes())
}

impl Keyed {
    pub(crate) fn new(hash: Hash, key: &[u8]) -> Self {
        // Without SHA instructions, eight blocks on vectors take less time than one without
        // vectors.
        let faster = matches!(hash, Hash::Sha224 | Hash::Sha256) && !cpu::has_sha();
        Self::new_with(Backend::best().filter(|_| faster), hash, key)
    }

    /// Uses the vectors of `backend`, if there is one and `hash` is in the SHA-2 family.
    fn new_with(backend: Option<Backend>, hash: Hash, key: &[u8]) -> Self {
        if let Some(backend) = backend
            && let Some(keyed) = OnVectors::new(backend, hash, key)
        {
            return Self::OnVectors(keyed);
        }
        match hash {
            Hash::Sha1 => Self::Sha1(keyed(key)),
            Hash::Sha224 => Self::Sha224(keyed(key)),
            Hash::Sha256 => Self::Sha256(keyed(key)),
            Hash::Sha384 => Self::Sha384(keyed(key)),
            Hash::Sha512 => Self::Sha512(keyed(key)),
            Hash::Sha512_224 => Self::Sha512_224(keyed(key)),
            Hash::Sha512_256 => Self::Sha512_256(keyed(key)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_224 => Self::Sha3_224(keyed(key)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_256 | Hash::Shake128 => Self::Sha3_256(keyed(key)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_384 => Self::Sha3_384(keyed(key)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_512 | Hash::Shake256 => Self::Sha3_512(keyed(key)),
        }
    }

    /// Returns the code of the concatenated parts.
    pub(crate) fn authenticate(&self, parts: &[&[u8]]) -> DigestBytes {
        match self {
            Self::Sha1(keyed) => authenticate(keyed, parts),
            Self::Sha224(keyed) => authenticate(keyed, parts),
            Self::Sha256(keyed) => authenticate(keyed, parts),
            Self::Sha384(keyed) => authenticate(keyed, parts),
            Self::Sha512(keyed) => authenticate(keyed, parts),
            Self::Sha512_224(keyed) => authenticate(keyed, parts),
            Self::Sha512_256(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha3")]
            Self::Sha3_224(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha3")]
            Self::Sha3_256(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha3")]
            Self::Sha3_384(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha3")]
            Self::Sha3_512(keyed) => authenticate(keyed, parts),
            Self::OnVectors(keyed) => keyed.authenticate(parts),
        }
    }
}

impl OnVectors {
    /// Returns `None` for a function without a form for eight and for a key longer than a block.
    fn new(backend: Backend, hash: Hash, key: &[u8]) -> Option<Self> {
        let mut states = States::new(hash)?;
        let block = states.block_length();
        if key.len() > block {
            return None;
        }
        let mut pads = [[0x36; MAX_BLOCK], [0x5c; MAX_BLOCK]];
        for pad in &mut pads {
            pad.iter_mut().zip(key).for_each(|(pad, key)| *pad ^= key);
        }
        // Lanes 2 to 7 repeat the first two and are never read.
        states.absorb(Some(backend), core::array::from_fn(|lane| &pads[lane % 2][..block]));
        pads.zeroize();
        Some(Self { backend, states, length: hash.digest_length() })
    }

    fn authenticate(&self, parts: &[&[u8]]) -> DigestBytes {
        let Self { backend, states, length } = self;
        let inner = states.finish_one(*backend, INNER, parts.iter().copied(), *length);
        states.finish_one(*backend, OUTER, core::iter::once(&*inner), *length)
    }
}

/// The longest block, in bytes.
const MAX_BLOCK: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::lanes::tests::backends;

    #[test]
    fn vectors_agree_with_the_crate() {
        let bytes: [u8; 300] = core::array::from_fn(|i| (i * i + 7 * i) as u8);
        for backend in backends() {
            for hash in [Hash::Sha1, Hash::Sha224, Hash::Sha256, Hash::Sha384, Hash::Sha512] {
                for length in 0..200 {
                    let (key, parts) = (&bytes[..length], [&bytes[..length / 2], &bytes[length..]]);
                    let on_vectors = Keyed::new_with(Some(backend), hash, key);
                    let expected = Keyed::new_with(None, hash, key);
                    for parts in [&parts[..], &parts[..1], &[]] {
                        assert_eq!(*on_vectors.authenticate(parts), *expected.authenticate(parts));
                    }
                }
            }
        }
    }
}
