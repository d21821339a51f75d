//! The lanes one by one, with the crate `sha2`.

use sha2::block_api::{compress256, compress512};
use zeroize::Zeroize;

use super::super::Portable;
use super::{Compress, LANES, Sha2Word};

macro_rules! compress {
    ($name:ident $word:ty, $block:literal, $compress:ident) => {
        fn $name(
            self,
            states: &mut [[$word; LANES]; 8],
            blocks: &[[u8; $block]; LANES],
            lanes: u8,
        ) {
            for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
                let mut state = states.map(|word| word[lane]);
                $compress(&mut state, &blocks[lane..=lane]);
                for (to, word) in states.iter_mut().zip(&state) {
                    to[lane] = *word;
                }
                state.zeroize();
            }
        }
    };
}

impl Compress for Portable {
    compress!(compress_256 u32, 64, compress256);
    compress!(compress_512 u64, 128, compress512);

    fn compress_256_words(self, states: &mut [[u32; LANES]; 8], words: &[[u32; LANES]; 16]) {
        let mut blocks = blocks(words);
        self.compress_256(states, &blocks, u8::MAX);
        blocks.as_flattened_mut().zeroize();
    }

    fn compress_512_words(self, states: &mut [[u64; LANES]; 8], words: &[[u64; LANES]; 16]) {
        let mut blocks = blocks(words);
        self.compress_512(states, &blocks, u8::MAX);
        blocks.as_flattened_mut().zeroize();
    }
}

/// Returns the bytes of each lane's words.
fn blocks<W: Sha2Word, const BYTES: usize>(words: &[[W; LANES]; 16]) -> [[u8; BYTES]; LANES] {
    let mut blocks = [[0; BYTES]; LANES];
    for (lane, block) in blocks.iter_mut().enumerate() {
        let parts = block.chunks_exact_mut(size_of::<W>());
        parts.zip(words).for_each(|(bytes, word)| word[lane].write(bytes));
    }
    blocks
}
