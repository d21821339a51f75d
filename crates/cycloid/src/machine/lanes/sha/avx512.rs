//! AVX-512: eight words of 64 bits in a register of 512 bits, or eight of 32 in one of 256.
//!
//! A rotation is one instruction, and so is every function of three words, by its truth table. The
//! state and the last sixteen words of the schedule are in registers.

use core::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi32, _mm256_loadu_si256, _mm256_mask_mov_epi32,
    _mm256_permute2x128_si256, _mm256_ror_epi32, _mm256_set_epi64x, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi32, _mm256_storeu_si256,
    _mm256_ternarylogic_epi32, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm512_add_epi64, _mm512_loadu_si512, _mm512_mask_mov_epi64,
    _mm512_ror_epi64, _mm512_set_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_shuffle_epi8, _mm512_shuffle_i64x2, _mm512_srli_epi64, _mm512_storeu_si512,
    _mm512_ternarylogic_epi64, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

use super::super::super::cpu::{Avx512, Ifma};
use super::{Compress, LANES};

impl Compress for Avx512 {
    fn compress_256(self, states: &mut [[u32; LANES]; 8], blocks: &[[u8; 64]; LANES], lanes: u8) {
        compress_256(self, states, blocks, lanes);
    }

    fn compress_512(self, states: &mut [[u64; LANES]; 8], blocks: &[[u8; 128]; LANES], lanes: u8) {
        compress_512(self, states, blocks, lanes);
    }

    fn compress_256_words(self, states: &mut [[u32; LANES]; 8], words: &[[u32; LANES]; 16]) {
        compress_256_words(self, states, words);
    }

    fn compress_512_words(self, states: &mut [[u64; LANES]; 8], words: &[[u64; LANES]; 16]) {
        compress_512_words(self, states, words);
    }
}

impl Compress for Ifma {
    fn compress_256(self, states: &mut [[u32; LANES]; 8], blocks: &[[u8; 64]; LANES], lanes: u8) {
        compress_256(self.into(), states, blocks, lanes);
    }

    fn compress_512(self, states: &mut [[u64; LANES]; 8], blocks: &[[u8; 128]; LANES], lanes: u8) {
        compress_512(self.into(), states, blocks, lanes);
    }

    fn compress_256_words(self, states: &mut [[u32; LANES]; 8], words: &[[u32; LANES]; 16]) {
        compress_256_words(self.into(), states, words);
    }

    fn compress_512_words(self, states: &mut [[u64; LANES]; 8], words: &[[u64; LANES]; 16]) {
        compress_512_words(self.into(), states, words);
    }
}

/// Truth tables: a ^ b ^ c, Ch and Maj (FIPS 180-4, section 4.1).
const XOR: i32 = 0x96;
const CHOOSE: i32 = 0xca;
const MAJORITY: i32 = 0xe8;

macro_rules! compression {
    (
        $name:ident $of_words:ident $all_rounds:ident, $word:ty, $signed:ty, $vector:ty, $block:literal, $rounds:literal, $constant:expr,
        $load:ident $store:ident $set1:ident $zero:ident $add:ident $ror:ident $srl:ident
        $ternary:ident $mask_mov:ident $swap:ident $transpose:ident,
        $big_0:tt $big_1:tt $small_0:tt $small_1:tt
    ) => {
        fn $name(
            _token: Avx512,
            states: &mut [[$word; LANES]; 8],
            blocks: &[[u8; $block]; LANES],
            lanes: u8,
        ) {
            #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
            fn compress(
                states: &mut [[$word; LANES]; 8],
                blocks: &[[u8; $block]; LANES],
                lanes: u8,
            ) {
                let mut w = [$zero(); 16];
                for half in 0..2 {
                    let mut words = [$zero(); LANES];
                    for (word, block) in words.iter_mut().zip(blocks) {
                        let half = &block[half * ($block / 2)..][..$block / 2];
                        // SAFETY: half a block is as long as a vector.
                        *word = $swap(unsafe { $load(half.as_ptr().cast()) });
                    }
                    w[8 * half..][..8].copy_from_slice(&$transpose(&words));
                }
                $all_rounds(states, &w, lanes);
            }
            // SAFETY: the token proves the instructions.
            unsafe { compress(states, blocks, lanes) }
        }

        fn $of_words(
            _token: Avx512,
            states: &mut [[$word; LANES]; 8],
            words: &[[$word; LANES]; 16],
        ) {
            #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
            fn compress(states: &mut [[$word; LANES]; 8], words: &[[$word; LANES]; 16]) {
                let mut w = [$zero(); 16];
                for (w, word) in w.iter_mut().zip(words) {
                    // SAFETY: each word of a block is as long as a vector.
                    *w = unsafe { $load(word.as_ptr().cast()) };
                }
                $all_rounds(states, &w, u8::MAX);
            }
            // SAFETY: the token proves the instructions.
            unsafe { compress(states, words) }
        }

        /// Computes all rounds on words.
        #[inline(never)]
        #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
        fn $all_rounds(states: &mut [[$word; LANES]; 8], words: &[$vector; 16], lanes: u8) {
            macro_rules! big {
                ($x:expr, ($r0:literal $r1:literal $r2:literal)) => {
                    $ternary::<XOR>($ror::<$r0>($x), $ror::<$r1>($x), $ror::<$r2>($x))
                };
            }
            macro_rules! small {
                ($x:expr, ($r0:literal $r1:literal $r2:literal)) => {
                    $ternary::<XOR>($ror::<$r0>($x), $ror::<$r1>($x), $srl::<$r2>($x))
                };
            }
            // SAFETY: each word of a state is as long as a vector.
            let start = states.each_ref().map(|word| unsafe { $load(word.as_ptr().cast()) });
            let mut w = *words;
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = start;
            macro_rules! round {
                ($t:expr, $i:literal, $a:ident $b:ident $c:ident $d:ident
                    $e:ident $f:ident $g:ident $h:ident) => {
                    let constant: fn(u64) -> $word = $constant;
                    let k = $set1(constant(K[$t + $i]) as $signed);
                    let sum = $add($add($h, $add(k, w[$i])), $ternary::<CHOOSE>($e, $f, $g));
                    let sum = $add(sum, big!($e, $big_1));
                    $d = $add($d, sum);
                    $h = $add($add(sum, $ternary::<MAJORITY>($a, $b, $c)), big!($a, $big_0));
                    if $t + 16 < $rounds {
                        let next = $add(w[$i], w[($i + 9) % 16]);
                        let next = $add(next, small!(w[($i + 1) % 16], $small_0));
                        w[$i] = $add(next, small!(w[($i + 14) % 16], $small_1));
                    }
                };
            }
            let mut t = 0;
            while t < $rounds {
                round!(t, 0, a b c d e f g h);
                round!(t, 1, h a b c d e f g);
                round!(t, 2, g h a b c d e f);
                round!(t, 3, f g h a b c d e);
                round!(t, 4, e f g h a b c d);
                round!(t, 5, d e f g h a b c);
                round!(t, 6, c d e f g h a b);
                round!(t, 7, b c d e f g h a);
                round!(t, 8, a b c d e f g h);
                round!(t, 9, h a b c d e f g);
                round!(t, 10, g h a b c d e f);
                round!(t, 11, f g h a b c d e);
                round!(t, 12, e f g h a b c d);
                round!(t, 13, d e f g h a b c);
                round!(t, 14, c d e f g h a b);
                round!(t, 15, b c d e f g h a);
                t += 16;
            }
            let end = [a, b, c, d, e, f, g, h];
            for ((state, start), end) in states.iter_mut().zip(start).zip(end) {
                let sum = $mask_mov(start, lanes, $add(start, end));
                // SAFETY: each word of a state is as long as a vector.
                unsafe { $store(state.as_mut_ptr().cast(), sum) };
            }
        }
    };
}

compression!(
    compress_256 compress_256_words rounds_256, u32, i32, __m256i, 64, 64, |k| (k >> 32) as u32,
    _mm256_loadu_si256 _mm256_storeu_si256 _mm256_set1_epi32 _mm256_setzero_si256
    _mm256_add_epi32 _mm256_ror_epi32 _mm256_srli_epi32 _mm256_ternarylogic_epi32
    _mm256_mask_mov_epi32 swap_32 transpose_32,
    (2 13 22) (6 11 25) (7 18 3) (17 19 10)
);

compression!(
    compress_512 compress_512_words rounds_512, u64, i64, __m512i, 128, 80, |k| k,
    _mm512_loadu_si512 _mm512_storeu_si512 _mm512_set1_epi64 _mm512_setzero_si512
    _mm512_add_epi64 _mm512_ror_epi64 _mm512_srli_epi64 _mm512_ternarylogic_epi64
    _mm512_mask_mov_epi64 swap_64 transpose_64,
    (28 34 39) (14 18 41) (1 8 7) (19 61 6)
);

/// Swaps words to big-endian.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn swap_32(words: __m256i) -> __m256i {
    const HIGH: i64 = 0x0c0d_0e0f_0809_0a0b;
    const LOW: i64 = 0x0405_0607_0001_0203;
    _mm256_shuffle_epi8(words, _mm256_set_epi64x(HIGH, LOW, HIGH, LOW))
}

/// Swaps words to big-endian.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn swap_64(words: __m512i) -> __m512i {
    const HIGH: i64 = 0x0809_0a0b_0c0d_0e0f;
    const LOW: i64 = 0x0001_0203_0405_0607;
    _mm512_shuffle_epi8(words, _mm512_set_epi64(HIGH, LOW, HIGH, LOW, HIGH, LOW, HIGH, LOW))
}

/// Transposes lane by lane to word by word.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn transpose_32(r: &[__m256i; LANES]) -> [__m256i; 8] {
    // Four lanes each, in the two halves of a register: words 0 and 4, 1 and 5, 2 and 6, 3 and 7.
    let quarter = |r: &[__m256i]| {
        let low = [_mm256_unpacklo_epi32(r[0], r[1]), _mm256_unpacklo_epi32(r[2], r[3])];
        let high = [_mm256_unpackhi_epi32(r[0], r[1]), _mm256_unpackhi_epi32(r[2], r[3])];
        [
            _mm256_unpacklo_epi64(low[0], low[1]),
            _mm256_unpackhi_epi64(low[0], low[1]),
            _mm256_unpacklo_epi64(high[0], high[1]),
            _mm256_unpackhi_epi64(high[0], high[1]),
        ]
    };
    let (first, second) = (quarter(&r[..4]), quarter(&r[4..]));
    let mut words = [_mm256_setzero_si256(); 8];
    for i in 0..4 {
        words[i] = _mm256_permute2x128_si256::<0x20>(first[i], second[i]);
        words[i + 4] = _mm256_permute2x128_si256::<0x31>(first[i], second[i]);
    }
    words
}

/// Transposes lane by lane to word by word.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn transpose_64(r: &[__m512i; LANES]) -> [__m512i; 8] {
    let mut words = [_mm512_setzero_si512(); 8];
    for odd in 0..2 {
        // Two lanes each, in the four quarters of a register: four words, even or odd ones.
        let pair = |i: usize| {
            if odd == 0 {
                _mm512_unpacklo_epi64(r[i], r[i + 1])
            } else {
                _mm512_unpackhi_epi64(r[i], r[i + 1])
            }
        };
        let [p, q, s, t] = [pair(0), pair(2), pair(4), pair(6)];
        // Four lanes each: quarters 0 and 2, 1 and 3.
        let first = [_mm512_shuffle_i64x2::<0x88>(p, q), _mm512_shuffle_i64x2::<0xdd>(p, q)];
        let second = [_mm512_shuffle_i64x2::<0x88>(s, t), _mm512_shuffle_i64x2::<0xdd>(s, t)];
        for i in 0..2 {
            words[odd + 2 * i] = _mm512_shuffle_i64x2::<0x88>(first[i], second[i]);
            words[odd + 2 * i + 4] = _mm512_shuffle_i64x2::<0xdd>(first[i], second[i]);
        }
    }
    words
}

/// The constants of SHA-384 and SHA-512 (section 4.2.3). The high halves of the first 64 are those
/// of SHA-224 and SHA-256 (section 4.2.2).
const K: [u64; 80] = [
    0x428a2f98d728ae22,
    0x7137449123ef65cd,
    0xb5c0fbcfec4d3b2f,
    0xe9b5dba58189dbbc,
    0x3956c25bf348b538,
    0x59f111f1b605d019,
    0x923f82a4af194f9b,
    0xab1c5ed5da6d8118,
    0xd807aa98a3030242,
    0x12835b0145706fbe,
    0x243185be4ee4b28c,
    0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f,
    0x80deb1fe3b1696b1,
    0x9bdc06a725c71235,
    0xc19bf174cf692694,
    0xe49b69c19ef14ad2,
    0xefbe4786384f25e3,
    0x0fc19dc68b8cd5b5,
    0x240ca1cc77ac9c65,
    0x2de92c6f592b0275,
    0x4a7484aa6ea6e483,
    0x5cb0a9dcbd41fbd4,
    0x76f988da831153b5,
    0x983e5152ee66dfab,
    0xa831c66d2db43210,
    0xb00327c898fb213f,
    0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2,
    0xd5a79147930aa725,
    0x06ca6351e003826f,
    0x142929670a0e6e70,
    0x27b70a8546d22ffc,
    0x2e1b21385c26c926,
    0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df,
    0x650a73548baf63de,
    0x766a0abb3c77b2a8,
    0x81c2c92e47edaee6,
    0x92722c851482353b,
    0xa2bfe8a14cf10364,
    0xa81a664bbc423001,
    0xc24b8b70d0f89791,
    0xc76c51a30654be30,
    0xd192e819d6ef5218,
    0xd69906245565a910,
    0xf40e35855771202a,
    0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8,
    0x1e376c085141ab53,
    0x2748774cdf8eeb99,
    0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63,
    0x4ed8aa4ae3418acb,
    0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc,
    0x78a5636f43172f60,
    0x84c87814a1f0ab72,
    0x8cc702081a6439ec,
    0x90befffa23631e28,
    0xa4506cebde82bde9,
    0xbef9a3f7b2c67915,
    0xc67178f2e372532b,
    0xca273eceea26619c,
    0xd186b8c721c0c207,
    0xeada7dd6cde0eb1e,
    0xf57d4f7fee6ed178,
    0x06f067aa72176fba,
    0x0a637dc5a2c898a6,
    0x113f9804bef90dae,
    0x1b710b35131c471b,
    0x28db77f523047d84,
    0x32caab7b40c72493,
    0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6,
    0x597f299cfc657e2a,
    0x5fcb6fab3ad6faec,
    0x6c44198c4a475817,
];
