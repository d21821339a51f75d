//! The vectors compared with the crate `sha2`.

use super::super::tests::backends;
use super::*;

fn check<W: Sha2Word + PartialEq + core::fmt::Debug>(word: impl Fn(u64) -> W) {
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (seed ^ seed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    for lanes in [0xff, 0, 1, 0x80, 0x5a, 0x7f].into_iter().cycle().take(60) {
        let states: [[W; LANES]; 8] =
            core::array::from_fn(|_| [(); LANES].map(|()| word(random())));
        let blocks = [(); LANES].map(|()| {
            let mut block = W::ZERO_BLOCK;
            block.as_mut().iter_mut().for_each(|byte| *byte = random() as u8);
            block
        });
        let mut expected = states;
        W::compress(Backend::Portable(super::super::Portable), &mut expected, &blocks, lanes);
        for backend in backends() {
            let mut result = states;
            W::compress(backend, &mut result, &blocks, lanes);
            assert_eq!(result, expected, "{} {lanes:x}", backend.name());
            for lane in 0..LANES {
                let stays = states.iter().zip(&result).all(|(a, b)| a[lane] == b[lane]);
                assert_eq!(stays, lanes >> lane & 1 == 0);
            }
            if lanes == 0xff {
                let words = core::array::from_fn(|i| {
                    blocks.map(|block| {
                        W::read(&block.as_ref()[i * size_of::<W>()..][..size_of::<W>()])
                    })
                });
                let mut result = states;
                W::compress_words(backend, &mut result, &words);
                assert_eq!(result, expected, "{} words", backend.name());
            }
        }
    }
}

#[test]
fn vectors_agree_with_one_after_the_other() {
    check::<u32>(|word| word as u32);
    check::<u64>(|word| word);
}
