//! The compression functions of SHA-2 (FIPS 180-4, section 6) on eight states with eight blocks.
//!
//! A state is eight words for each lane, stored word by word, lane by lane: words of 32 bits for
//! SHA-224 and SHA-256, of 64 bits for SHA-384 and SHA-512. Time depends only on which lanes are in
//! use, and with vectors not even on that.
//!
//! **When it pays.** Eight lanes cost the same regardless of how many are in use. On Cascade Lake,
//! which has no SHA instructions, eight blocks take 0.6 of the time of one block by the crate
//! `sha2` for SHA-256, and 0.7 to 1.1 for SHA-512, so two lanes in use suffice. With SHA
//! instructions, one block of SHA-256 takes about a fifth of that, estimated from published
//! latencies; six lanes are required then. [`Sha2Word::pays`] implements the rule.

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod avx512;
mod portable;
#[cfg(test)]
mod tests;

use core::ops::BitXor;

use super::super::backends::with_eight;
use super::super::cpu;
use super::super::ct::{self, Plain};
use super::{Backend, LANES};

/// The compression functions: the interface of a backend.
trait Compress {
    /// Compresses a block into each state whose bit in `lanes` is 1; the others stay unchanged.
    fn compress_256(self, states: &mut [[u32; LANES]; 8], blocks: &[[u8; 64]; LANES], lanes: u8);

    /// The same for words of 64 bits.
    fn compress_512(self, states: &mut [[u64; LANES]; 8], blocks: &[[u8; 128]; LANES], lanes: u8);

    /// Compresses a block into each state, given as words.
    fn compress_256_words(self, states: &mut [[u32; LANES]; 8], words: &[[u32; LANES]; 16]);

    /// The same for words of 64 bits.
    fn compress_512_words(self, states: &mut [[u64; LANES]; 8], words: &[[u64; LANES]; 16]);
}

/// A word of SHA-2, which selects one of the two compression functions.
pub trait Sha2Word: Plain + BitXor<Output = Self> + 'static {
    /// A block of 64 or 128 bytes.
    type Block: Copy + AsRef<[u8]> + AsMut<[u8]>;

    /// Bytes in a block.
    const BLOCK: usize;

    /// A block of zeros.
    const ZERO_BLOCK: Self::Block;

    /// Returns the high half of a 64-bit word, as wide as this type.
    fn from_leading(word: u64) -> Self;

    /// Returns a word that is a small number.
    fn from_number(number: u32) -> Self;

    /// Reads a word from its big-endian bytes.
    fn read(bytes: &[u8]) -> Self;

    /// Writes the big-endian bytes of the word, as many as fit.
    fn write(self, bytes: &mut [u8]);

    /// Compresses a block into each state whose bit in `lanes` is 1; the others stay unchanged.
    fn compress(
        backend: Backend,
        states: &mut [[Self; LANES]; 8],
        blocks: &[Self::Block; LANES],
        lanes: u8,
    );

    /// Compresses a block into each state, given word by word, lane by lane.
    fn compress_words(
        backend: Backend,
        states: &mut [[Self; LANES]; 8],
        words: &[[Self; LANES]; 16],
    );

    /// Overwrites words with zeros in a way that the compiler does not remove.
    fn wipe(words: &mut [[Self; LANES]]) {
        ct::wipe_plain(words.as_flattened_mut());
    }

    /// Returns whether eight lanes are faster than one by one for `blocks` in total, with `longest`
    /// of them in the longest lane.
    fn pays(blocks: usize, longest: usize) -> bool;
}

impl Sha2Word for u32 {
    type Block = [u8; Self::BLOCK];
    const BLOCK: usize = 64;
    const ZERO_BLOCK: Self::Block = [0; Self::BLOCK];

    fn from_leading(word: u64) -> Self {
        (word >> 32) as Self
    }

    fn from_number(number: u32) -> Self {
        number
    }

    fn read(bytes: &[u8]) -> Self {
        Self::from_be_bytes(bytes.try_into().expect("as long as a word"))
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
        with_eight!(backend, token => token.compress_256(states, blocks, lanes));
    }

    fn compress_words(
        backend: Backend,
        states: &mut [[Self; LANES]; 8],
        words: &[[Self; LANES]; 16],
    ) {
        with_eight!(backend, token => token.compress_256_words(states, words));
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

    fn from_number(number: u32) -> Self {
        number.into()
    }

    fn read(bytes: &[u8]) -> Self {
        Self::from_be_bytes(bytes.try_into().expect("as long as a word"))
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
        with_eight!(backend, token => token.compress_512(states, blocks, lanes));
    }

    fn compress_words(
        backend: Backend,
        states: &mut [[Self; LANES]; 8],
        words: &[[Self; LANES]; 16],
    ) {
        with_eight!(backend, token => token.compress_512_words(states, words));
    }

    fn pays(blocks: usize, longest: usize) -> bool {
        blocks >= 2 * longest
    }
}
