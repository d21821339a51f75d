//! The lanes one by one, with the crate `sha2`.

use sha2::block_api::{compress256, compress512};
use zeroize::Zeroize;

use super::super::Portable;
use super::{Compress, LANES};

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
}
