//! AVX-512 without IFMA: both halves of a 52-bit product by double-precision arithmetic.
//!
//! With a, b < 2⁵² as doubles and rounding toward zero, h = fma(a, b, 2¹⁰⁴) is exactly 2¹⁰⁴ +
//! 2⁵²·⌊a·b / 2⁵²⌋, because doubles from 2¹⁰⁴ to 2¹⁰⁵ are 2⁵² apart and h is below 2¹⁰⁵. So the
//! bits of h, read as an integer, are those of 2¹⁰⁴ plus the high half. Then (2¹⁰⁴ + 2⁵²) − h is
//! 2⁵² − 2⁵²·⌊a·b / 2⁵²⌋, a multiple of 2⁵² that fits in a double. Adding a·b to it gives exactly
//! 2⁵² plus the low half; its bits are those of 2⁵² plus the low half. Adding these bits to the
//! columns also adds the bits of the two constants each time: the excess of this backend.

use core::arch::asm;
use core::arch::x86_64::{
    __m512d, __m512i, _MM_FROUND_NO_EXC, _MM_FROUND_TO_ZERO, _mm256_loadu_si256, _mm512_add_epi64,
    _mm512_and_si512, _mm512_castpd_si512, _mm512_castsi256_si512, _mm512_cmpeq_epi64_mask,
    _mm512_cvtepu64_pd, _mm512_fmadd_round_pd, _mm512_inserti64x4, _mm512_load_pd,
    _mm512_load_si512, _mm512_loadu_si512, _mm512_mask_add_epi64, _mm512_mask_sub_epi64,
    _mm512_maskz_mov_epi64, _mm512_maskz_permutex2var_epi64, _mm512_movm_epi64, _mm512_mul_epi32,
    _mm512_permutex2var_epi64, _mm512_permutexvar_epi64, _mm512_set1_epi64, _mm512_set1_pd,
    _mm512_shuffle_i64x2, _mm512_slli_epi64, _mm512_srai_epi64, _mm512_srli_epi64, _mm512_store_pd,
    _mm512_store_si512, _mm512_sub_epi64, _mm512_sub_pd, _mm512_ternarylogic_epi64,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

use super::super::super::cpu::Avx512;
use super::super::super::words::Limb;
use super::super::vector::Vectors;
use super::super::{LIMB_MASK, LaneWords, Lanes, Multiplication, kernel};
use super::zmm;

kernel::lane_words!(Avx512, FloatingPoint, by_block, "avx512f,avx512dq");

/// 2⁵².
const LOW_BASE: f64 = (1u64 << 52) as f64;
/// 2¹⁰⁴.
const HIGH_BASE: f64 = LOW_BASE * LOW_BASE;

impl Avx512 {
    /// Returns the high half of a product, on top of 2¹⁰⁴.
    #[inline(always)]
    fn high_half(a: __m512d, b: __m512d) -> __m512d {
        const TO_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
        // SAFETY: only functions that hold the token call this.
        unsafe { _mm512_fmadd_round_pd::<TO_ZERO>(a, b, _mm512_set1_pd(HIGH_BASE)) }
    }

    /// Returns the low half, on top of 2⁵².
    #[inline(always)]
    fn low_half(a: __m512d, b: __m512d, high_half: __m512d) -> __m512d {
        const TO_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
        // SAFETY: only functions that hold the token call this.
        unsafe {
            let minus_high = _mm512_sub_pd(_mm512_set1_pd(HIGH_BASE + LOW_BASE), high_half);
            _mm512_fmadd_round_pd::<TO_ZERO>(a, b, minus_high)
        }
    }
}

impl Vectors for Avx512 {
    type Word = __m512i;
    type Factor = __m512d;

    const IN_REGISTERS: bool = true;
    const CONVERTS: bool = true;
    const EXCESS: (Limb, Limb) = (LOW_BASE.to_bits(), HIGH_BASE.to_bits());

    zmm::integers!();

    #[inline(always)]
    fn load_factor(self, from: &Lanes) -> __m512d {
        // SAFETY: as for `load`.
        unsafe { _mm512_load_pd(core::ptr::from_ref(from).cast()) }
    }

    #[inline(always)]
    fn store_factor(self, to: &mut Lanes, factor: __m512d) {
        // SAFETY: as for `load`.
        unsafe { _mm512_store_pd(core::ptr::from_mut(to).cast(), factor) }
    }

    #[inline(always)]
    fn factor(self, a: __m512i) -> __m512d {
        // SAFETY: the token proves AVX-512 DQ.
        unsafe { _mm512_cvtepu64_pd(self.low(a)) }
    }

    #[inline(always)]
    fn limb_factor(self, a: __m512i) -> __m512d {
        // SAFETY: the token proves AVX-512 DQ.
        unsafe { _mm512_cvtepu64_pd(a) }
    }

    #[inline(always)]
    fn mul_low(self, a: __m512d, b: __m512d) -> __m512d {
        let low = Self::low_half(a, b, Self::high_half(a, b));
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_sub_pd(low, _mm512_set1_pd(LOW_BASE)) }
    }

    #[inline(always)]
    fn mul_add(self, low: __m512i, high: __m512i, a: __m512d, b: __m512d) -> (__m512i, __m512i) {
        // SAFETY: the token proves AVX-512.
        unsafe { mul_add(low, high, a, b) }
    }

    #[inline(always)]
    fn mul_add_high(self, high: __m512i, a: __m512d, b: __m512d) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_add_epi64(high, _mm512_castpd_si512(Self::high_half(a, b))) }
    }

    #[inline(always)]
    fn mul_add_low(self, low: __m512i, a: __m512d, b: __m512d) -> __m512i {
        let half = Self::low_half(a, b, Self::high_half(a, b));
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_add_epi64(low, _mm512_castpd_si512(half)) }
    }
}

/// Computes both halves in source order: the compiler would interleave the products of a row, and
/// there are no registers for their temporaries.
#[inline]
#[target_feature(enable = "avx512f")]
fn mul_add(mut low: __m512i, mut high: __m512i, a: __m512d, b: __m512d) -> (__m512i, __m512i) {
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "vmovapd {h}, {high_base}",
            "vfmadd231pd {h}, {a}, {b}, {{rz-sae}}",
            "vsubpd {l}, {both_bases}, {h}",
            "vfmadd231pd {l}, {a}, {b}, {{rz-sae}}",
            "vpaddq {high}, {high}, {h}",
            "vpaddq {low}, {low}, {l}",
            low = inout(zmm_reg) low, high = inout(zmm_reg) high,
            a = in(zmm_reg) a, b = in(zmm_reg) b,
            h = out(zmm_reg) _, l = out(zmm_reg) _,
            high_base = in(zmm_reg) _mm512_set1_pd(HIGH_BASE),
            both_bases = in(zmm_reg) _mm512_set1_pd(HIGH_BASE + LOW_BASE),
            options(nostack, preserves_flags),
        );
    }
    (low, high)
}
