//! A hash function on eight messages of any lengths, side by side.
//!
//! The lanes absorb blocks in lockstep; a lane whose message has ended keeps its state. Time
//! depends on the lengths of the messages only.

#[cfg(test)]
mod tests;

use super::{DigestBytes, Hash, MAX_DIGEST};
use crate::machine::ct;
use crate::machine::lanes::sha::Sha2Word;
use crate::machine::lanes::{Backend, LANES, Portable};

/// Eight states, each after the same number of blocks; wiped when dropped, since their inputs may
/// be secret.
#[allow(clippy::large_enum_variant, reason = "it lives on the stack, and not for long")]
pub(crate) enum States {
    Narrow(StatesOf<u32>),
    Wide(StatesOf<u64>),
}

/// A block of each lane, word by word.
pub(crate) type Block<W> = [[W; LANES]; 16];

/// Eight states for one word size, stored word by word, lane by lane.
pub(crate) struct StatesOf<W: Sha2Word> {
    words: [[W; LANES]; 8],
    blocks: usize,
}

impl States {
    /// Returns the states before the first block; `None` for functions without a form for eight.
    pub(crate) fn new(hash: Hash) -> Option<Self> {
        match hash {
            #[cfg(feature = "sha512")]
            Hash::Sha384 => Some(Self::Wide(StatesOf::new(INITIAL[1]))),
            #[cfg(feature = "sha512")]
            Hash::Sha512 => Some(Self::sha512()),
            _ => StatesOf::narrow(hash).map(Self::Narrow),
        }
    }

    /// Returns the states of SHA-512 before the first block.
    pub(crate) fn sha512() -> Self {
        Self::Wide(StatesOf::new(INITIAL[0]))
    }

    /// Returns the bytes in a block.
    pub(crate) const fn block_length(&self) -> usize {
        match self {
            Self::Narrow(_) => u32::BLOCK,
            Self::Wide(_) => u64::BLOCK,
        }
    }

    /// Absorbs one block in each lane, of [`block_length`](Self::block_length) bytes.
    pub(crate) fn absorb(&mut self, backend: Option<Backend>, blocks: [&[u8]; LANES]) {
        match self {
            Self::Narrow(states) => states.absorb(backend, blocks),
            Self::Wide(states) => states.absorb(backend, blocks),
        }
    }

    /// Returns digests of `length` bytes of the blocks absorbed so far followed by one message per
    /// lane, given in parts. Computes them one by one if that is faster. The result of a lane
    /// without a message is meaningless.
    pub(crate) fn finish<'a>(
        &self,
        backend: Option<Backend>,
        messages: [Option<impl Iterator<Item = &'a [u8]> + Clone>; LANES],
        length: usize,
    ) -> [DigestBytes; LANES] {
        match self {
            Self::Narrow(states) => states.finish(backend, messages, length),
            Self::Wide(states) => states.finish(backend, messages, length),
        }
    }
}

impl StatesOf<u32> {
    /// Returns the states of SHA-224 or SHA-256 before the first block; `None` for other functions.
    pub(crate) fn narrow(hash: Hash) -> Option<Self> {
        let [first, second] = INITIAL;
        match hash {
            Hash::Sha224 => Some(Self::new(second.map(|word| word << 32))),
            Hash::Sha256 => Some(Self::new(first)),
            #[cfg(any(feature = "sha1", feature = "sha3", feature = "sha512"))]
            _ => None,
        }
    }
}

impl<W: Sha2Word> StatesOf<W> {
    fn new(initial: [u64; 8]) -> Self {
        Self { words: initial.map(|word| [W::from_leading(word); LANES]), blocks: 0 }
    }

    /// Absorbs one block in each lane.
    pub(crate) fn absorb(&mut self, backend: Option<Backend>, from: [&[u8]; LANES]) {
        let mut blocks = [W::ZERO_BLOCK; LANES];
        for (block, from) in blocks.iter_mut().zip(from) {
            block.as_mut().copy_from_slice(from);
        }
        W::compress(faster::<W>(backend, LANES, 1), &mut self.words, &blocks, u8::MAX);
        self.blocks += 1;
        wipe::<W>(&mut blocks);
    }

    /// Returns the words of the states.
    pub(crate) const fn words(&self) -> &[[W; LANES]; 8] {
        &self.words
    }

    /// Returns the states after one more block in each lane, given as words.
    pub(crate) fn after(&self, backend: Backend, block: &Block<W>) -> Self {
        let mut states = Self { words: self.words, blocks: self.blocks + 1 };
        W::compress_words(faster::<W>(Some(backend), LANES, 1), &mut states.words, block);
        states
    }

    fn finish<'a>(
        &self,
        backend: Option<Backend>,
        messages: [Option<impl Iterator<Item = &'a [u8]> + Clone>; LANES],
        length: usize,
    ) -> [DigestBytes; LANES] {
        let mut states = Self { words: self.words, blocks: self.blocks };
        let mut padded = messages.map(|parts| Some(Padded::new::<W>(parts?, self.blocks)));
        let lengths = padded.iter().flatten().map(|padded| padded.blocks);
        let (all, longest) = (lengths.clone().sum(), lengths.max().unwrap_or(0));
        let backend = faster::<W>(backend, all, longest);
        let mut blocks = [W::ZERO_BLOCK; LANES];
        for _ in 0..longest {
            let mut lanes = 0;
            for (lane, (padded, block)) in padded.iter_mut().zip(&mut blocks).enumerate() {
                let next = padded.as_mut().is_some_and(|padded| padded.next(block.as_mut()));
                lanes |= u8::from(next) << lane;
            }
            W::compress(backend, &mut states.words, &blocks, lanes);
        }
        wipe::<W>(&mut blocks);
        core::array::from_fn(|lane| states.digest(lane, length))
    }

    /// Returns the digest, of `length` bytes, of one lane's absorbed blocks followed by a message
    /// in parts.
    #[cfg(all(any(test, all(target_arch = "x86_64", feature = "avx512")), not(feature = "small")))]
    pub(crate) fn finish_one<'a>(
        &self,
        backend: Backend,
        lane: usize,
        message: impl Iterator<Item = &'a [u8]> + Clone,
        length: usize,
    ) -> DigestBytes {
        let mut states = Self { words: self.words, blocks: self.blocks };
        let mut padded = Padded::new::<W>(message, self.blocks);
        let mut blocks = [W::ZERO_BLOCK; LANES];
        while padded.next(blocks[lane].as_mut()) {
            W::compress(backend, &mut states.words, &blocks, 1 << lane);
        }
        wipe::<W>(&mut blocks[lane..=lane]);
        states.digest(lane, length)
    }

    fn digest(&self, lane: usize, length: usize) -> DigestBytes {
        let mut digest = [0; MAX_DIGEST];
        let words = digest[..length].chunks_exact_mut(size_of::<W>());
        words.zip(&self.words).for_each(|(bytes, word)| word[lane].write(bytes));
        DigestBytes::of_output(&mut digest[..length])
    }
}

impl<W: Sha2Word> Drop for StatesOf<W> {
    fn drop(&mut self) {
        W::wipe(&mut self.words);
    }
}

/// Returns `backend`, or the portable one if hashing one by one is faster.
fn faster<W: Sha2Word>(backend: Option<Backend>, blocks: usize, longest: usize) -> Backend {
    let one_after_the_other = Backend::Portable(Portable);
    backend.filter(|_| W::pays(blocks, longest)).unwrap_or(one_after_the_other)
}

fn wipe<W: Sha2Word>(blocks: &mut [W::Block]) {
    blocks.iter_mut().for_each(|block| ct::wipe_bytes(block.as_mut()));
}

/// A padded message (FIPS 180-4, section 5.1), block by block.
struct Padded<'a, I> {
    parts: I,
    /// The rest of the last part taken.
    rest: &'a [u8],
    /// Whether the bit that ends the message has not been written yet.
    open: bool,
    /// Blocks left.
    blocks: usize,
    /// Length of the message in bits, including the blocks absorbed before.
    bits: u64,
}

impl<'a, I: Iterator<Item = &'a [u8]> + Clone> Padded<'a, I> {
    fn new<W: Sha2Word>(parts: I, before: usize) -> Self {
        let length: usize = parts.clone().map(<[u8]>::len).sum();
        // A byte with the end bit is followed by the length in two words.
        let blocks = (length + 1 + 2 * size_of::<W>()).div_ceil(W::BLOCK);
        let bits = 8 * (before * W::BLOCK + length) as u64;
        Self { parts, rest: &[], open: true, blocks, bits }
    }

    /// Fills the next block; returns whether there is one.
    fn next(&mut self, block: &mut [u8]) -> bool {
        if self.blocks == 0 {
            return false;
        }
        self.blocks -= 1;
        let mut room = &mut block[..];
        while !room.is_empty() {
            if self.rest.is_empty() {
                let Some(part) = self.parts.next() else { break };
                self.rest = part;
            }
            let length = room.len().min(self.rest.len());
            let (now, later) = self.rest.split_at(length);
            let (filled, left) = room.split_at_mut(length);
            filled.copy_from_slice(now);
            (self.rest, room) = (later, left);
        }
        room.fill(0);
        if let Some(first) = room.first_mut().filter(|_| self.open) {
            *first = 0x80;
            self.open = false;
        }
        if self.blocks == 0 {
            let (_, length) = block.split_last_chunk_mut().expect("a block is longer than a word");
            *length = self.bits.to_be_bytes();
        }
        true
    }
}

/// The initial values of SHA-512 and of SHA-384 (FIPS 180-4, section 5.3). SHA-256's are the high
/// halves of the first array's words, SHA-224's the low halves of the second's.
const INITIAL: [[u64; 8]; 2] = [
    [
        0x6a09e667f3bcc908,
        0xbb67ae8584caa73b,
        0x3c6ef372fe94f82b,
        0xa54ff53a5f1d36f1,
        0x510e527fade682d1,
        0x9b05688c2b3e6c1f,
        0x1f83d9abfb41bd6b,
        0x5be0cd19137e2179,
    ],
    [
        0xcbbb9d5dc1059ed8,
        0x629a292a367cd507,
        0x9159015a3070dd17,
        0x152fecd8f70e5939,
        0x67332667ffc00b31,
        0x8eb44a8768581511,
        0xdb0c2e0d64f98fa7,
        0x47b5481dbefa4fa4,
    ],
];
