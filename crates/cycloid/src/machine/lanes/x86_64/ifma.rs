//! AVX-512 IFMA: two instructions add a 52-bit product to its two columns.

use core::arch::asm;
use core::arch::x86_64::{
    __m512i, _mm256_loadu_si256, _mm512_add_epi64, _mm512_and_si512, _mm512_castsi256_si512,
    _mm512_cmpeq_epi64_mask, _mm512_inserti64x4, _mm512_load_si512, _mm512_loadu_si512,
    _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_add_epi64, _mm512_mask_sub_epi64,
    _mm512_maskz_mov_epi64, _mm512_maskz_permutex2var_epi64, _mm512_movm_epi64, _mm512_mul_epi32,
    _mm512_permutex2var_epi64, _mm512_permutexvar_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_shuffle_i64x2, _mm512_slli_epi64, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_store_si512, _mm512_sub_epi64, _mm512_ternarylogic_epi64, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi64,
};

use super::super::super::cpu::Ifma;
use super::super::super::words::Limb;
use super::super::vector::Vectors;
use super::super::{LIMB_MASK, LaneWords, Lanes, Multiplication, kernel};
use super::zmm;

kernel::lane_words!(Ifma, Integer, by_block, "avx512f,avx512dq,avx512ifma");

// The instructions use the low 52 bits of their operands, so any word is a factor.
impl Vectors for Ifma {
    type Word = __m512i;
    type Factor = __m512i;

    const IN_REGISTERS: bool = true;
    const CONVERTS: bool = false;
    const EXCESS: (Limb, Limb) = (0, 0);

    zmm::integers!();

    #[inline(always)]
    fn load_factor(self, from: &Lanes) -> __m512i {
        self.load(from)
    }

    #[inline(always)]
    fn store_factor(self, to: &mut Lanes, factor: __m512i) {
        self.store(to, factor);
    }

    #[inline(always)]
    fn factor(self, a: __m512i) -> __m512i {
        a
    }

    #[inline(always)]
    fn limb_factor(self, a: __m512i) -> __m512i {
        a
    }

    #[inline(always)]
    fn mul_low(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 IFMA.
        unsafe { _mm512_madd52lo_epu64(_mm512_setzero_si512(), a, b) }
    }

    #[inline(always)]
    fn mul_next_low(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 IFMA.
        unsafe { mul_next_low(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, low: __m512i, high: __m512i, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the token proves AVX-512 IFMA.
        unsafe { mul_add(low, high, a, b) }
    }

    #[inline(always)]
    fn mul_add_high(self, high: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 IFMA.
        unsafe { _mm512_madd52hi_epu64(high, a, b) }
    }

    #[inline(always)]
    fn mul_add_low(self, low: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 IFMA.
        unsafe { _mm512_madd52lo_epu64(low, a, b) }
    }
}

/// Computes both halves in source order: the compiler would interleave the products of a row, and
/// there are no registers for their temporaries.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn mul_add(mut low: __m512i, mut high: __m512i, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    // SAFETY: two additions to registers.
    unsafe {
        asm!(
            "vpmadd52luq {low}, {a}, {b}",
            "vpmadd52huq {high}, {a}, {b}",
            low = inout(zmm_reg) low, high = inout(zmm_reg) high,
            a = in(zmm_reg) a, b = in(zmm_reg) b,
            options(nostack, preserves_flags),
        );
    }
    (low, high)
}

/// Computes `b + a · b` in source order: the compiler would move it down to its first use, and the
/// next row of a reduction would wait for it.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn mul_next_low(a: __m512i, b: __m512i) -> __m512i {
    let mut low = b;
    // SAFETY: an addition to a register.
    unsafe {
        asm!(
            "vpmadd52luq {low}, {a}, {b}",
            low = inout(zmm_reg) low, a = in(zmm_reg) a, b = in(zmm_reg) b,
            options(nostack, preserves_flags),
        );
    }
    low
}
