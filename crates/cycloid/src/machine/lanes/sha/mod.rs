//! The compression functions of SHA-2 (FIPS 180-4, section 6), of eight states with eight blocks.
//!
//! A state is eight words of each of the lanes, word by word, lane by lane: words of 32 bits for
//! SHA-224 and SHA-256, of 64 bits for SHA-384 and SHA-512. Time depends on which lanes are in use
//! only, and the vectors' does not even on that.
//!
//! **When it pays.** Eight lanes cost the same however many are in use. On Cascade Lake, which has
//! no instructions for SHA, eight blocks take 0.6 of the time of a single one by the crate `sha2`
//! for SHA-256, and 0.7 to 1.1 for SHA-512, so that two lanes in use are enough. With instructions
//! for SHA a single block of SHA-256 takes about a fifth of that by their published latencies,
//! which is an estimate: six lanes are asked for then. [`Sha2Word::pays`] has the rule.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(test)]
mod tests;

use zeroize::Zeroize;

use super::super::cpu;
use super::{Backend, LANES};

/// A word of SHA-2, which says which of the two compression functions is meant.
pub trait Sha2Word: Copy + Zeroize + 'static {
    /// 64 or 128 bytes.
    type Block: Copy + AsRef<[u8]> + AsMut<[u8]>;

    /// Bytes in a block.
    const BLOCK: usize;

    /// A block of zeros.
    const ZERO_BLOCK: Self::Block;

    /// From the first half of a word of 64 bits.
    fn from_leading(word: u64) -> Self;

    /// Writes the big-endian bytes of the word, as many as there is room for.
    fn write(self, bytes: &mut [u8]);

    /// Adds a block to each of the states whose bit in `lanes` is 1; the others stay.
    fn compress(
        backend: Backend,
        states: &mut [[Self; LANES]; 8],
        blocks: &[Self::Block; LANES],
        lanes: u8,
    );

    /// Whether eight lanes are faster than one after the other for `blocks` in all, when the
    /// longest lane has `longest` of them.
    fn pays(blocks: usize, longest: usize) -> bool;
}

impl Sha2Word for u32 {
    type Block = [u8; Self::BLOCK];
    const BLOCK: usize = 64;
    const ZERO_BLOCK: Self::Block = [0; Self::BLOCK];

    fn from_leading(word: u64) -> Self {
        (word >> 32) as Self
    }

    fn write(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.to_be_bytes()[..bytes.len()]);
    }

    fn compress(
        backend: Backend,
        states: &mut [[Self; LANES]; 8],
        blocks: &[Self::Block; LANES],
        lanes: u8,
    ) {
        match backend {
            Backend::Portable(_) => portable::compress_256(states, blocks, lanes),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512(token) => avx512::compress_256(token, states, blocks, lanes),
            #[cfg(target_arch = "x86_64")]
            Backend::Ifma(token) => avx512::compress_256(token.into(), states, blocks, lanes),
        }
    }

    fn pays(blocks: usize, longest: usize) -> bool {
        blocks >= if cpu::has_sha() { 6 * longest } else { 2 * longest }
    }
}

impl Sha2Word for u64 {
    type Block = [u8; Self::BLOCK];
    const BLOCK: usize = 128;
    const ZERO_BLOCK: Self::Block = [0; Self::BLOCK];

    fn from_leading(word: u64) -> Self {
        word
    }

    fn write(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.to_be_bytes()[..bytes.len()]);
    }

    fn compress(
        backend: Backend,
        states: &mut [[Self; LANES]; 8],
        blocks: &[Self::Block; LANES],
        lanes: u8,
    ) {
        match backend {
            Backend::Portable(_) => portable::compress_512(states, blocks, lanes),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512(token) => avx512::compress_512(token, states, blocks, lanes),
            #[cfg(target_arch = "x86_64")]
            Backend::Ifma(token) => avx512::compress_512(token.into(), states, blocks, lanes),
        }
    }

    fn pays(blocks: usize, longest: usize) -> bool {
        blocks >= 2 * longest
    }
}
