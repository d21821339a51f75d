//! HMAC on vectors, for processors with vectors that are faster at it than their own instructions.

use zeroize::Zeroize;

use super::MAX_BLOCK;
use crate::machine::cpu;
use crate::machine::lanes::Backend;
use crate::machine::lanes::sha::Sha2Word;
use crate::scheme::hash::eight::StatesOf;
use crate::scheme::hash::{DigestBytes, Hash};

/// The states after the inner pad and after the outer pad, in two of the eight lanes.
pub(crate) struct OnVectors {
    backend: Backend,
    states: StatesOf<u32>,
    length: usize,
}

const INNER: usize = 0;
const OUTER: usize = 1;

impl OnVectors {
    /// Absorbs a key, if vectors are faster for the function and have a form for it.
    pub(super) fn if_faster(hash: Hash, key: &[u8]) -> Option<Self> {
        // Without SHA instructions, eight blocks on vectors take less time than one without
        // vectors.
        let faster = matches!(hash, Hash::Sha224 | Hash::Sha256) && !cpu::has_sha();
        Self::new(Backend::best().filter(|_| faster)?, hash, key)
    }

    /// Returns `None` for a function other than SHA-224 and SHA-256, and for a key longer than a
    /// block.
    pub(super) fn new(backend: Backend, hash: Hash, key: &[u8]) -> Option<Self> {
        let mut states = StatesOf::narrow(hash)?;
        let block = u32::BLOCK;
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

    pub(super) fn authenticate(&self, parts: &[&[u8]]) -> DigestBytes {
        let Self { backend, states, length } = self;
        let inner = states.finish_one(*backend, INNER, parts.iter().copied(), *length);
        states.finish_one(*backend, OUTER, core::iter::once(&*inner), *length)
    }
}
