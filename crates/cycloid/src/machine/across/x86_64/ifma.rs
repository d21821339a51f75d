//! AVX-512 IFMA.

use core::arch::x86_64::{
    __m512i, _mm512_alignr_epi64, _mm512_and_si512, _mm512_loadu_si512, _mm512_permutex2var_epi64,
    _mm512_set_epi64, _mm512_set1_epi64, _mm512_srli_epi64,
};

use super::super::super::cpu::Ifma;
use super::super::super::lanes::LANES;
use super::super::super::words::Limb;
use super::super::vector::{DigitVectors, across_lanes};
use super::super::{DIGIT_BITS, DIGIT_MASK};

across_lanes!(Ifma, [#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]]; 0: 1 2 3 4, 21: 3, 31: 4, 41: 6, 61: 4, 81: 5 6);

impl DigitVectors for Ifma {
    #[inline(always)]
    fn digit(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_and_si512(a, _mm512_set1_epi64(DIGIT_MASK.cast_signed())) }
    }

    #[inline(always)]
    fn carry(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_srli_epi64::<{ DIGIT_BITS as u32 }>(a) }
    }

    #[inline(always)]
    fn broadcast(self, from: &Limb) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_set1_epi64(from.cast_signed()) }
    }

    #[inline(always)]
    fn load_digits(self, from: &[Limb; LANES]) -> __m512i {
        // SAFETY: the token proves AVX-512; this load takes any alignment.
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }

    #[inline(always)]
    fn join<const FROM: i32>(self, low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_alignr_epi64::<FROM>(high, low) }
    }

    #[inline(always)]
    fn interleave(self, first: __m512i, second: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the token proves AVX-512. An index of 8 or more is a lane of the second operand.
        unsafe {
            let lower = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
            let upper = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
            (
                _mm512_permutex2var_epi64(first, lower, second),
                _mm512_permutex2var_epi64(first, upper, second),
            )
        }
    }
}
