//! Four lanes in AVX-512 vectors of 256 bits, with IFMA.
//!
//! The operations of a kernel are executed in source order. The compiler would move them to where
//! registers suffice; then products wait for each other, because the processor looks ahead about a
//! hundred instructions.

use core::arch::asm;
use core::arch::x86_64::{
    __m256i, _mm256_load_si256, _mm256_set1_epi64x, _mm256_srai_epi64, _mm256_store_si256,
    _mm256_ternarylogic_epi64,
};

use super::super::super::cpu::Ifma;
use super::super::super::words::Limb;
use super::super::four::{FourVectors, Quad};

/// Declares functions of one instruction on words, whose first operand is the result.
macro_rules! instructions {
    ($($name:ident($($operand:ident),+) $text:literal;)+) => {$(
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        fn $name($($operand: __m256i),+) -> __m256i {
            let result: __m256i;
            // SAFETY: arithmetic on registers.
            unsafe {
                asm!(
                    concat!($text, " {result:y}" $(, ", {", stringify!($operand), ":y}")+),
                    result = lateout(zmm_reg) result, $($operand = in(zmm_reg) $operand,)+
                    options(nomem, nostack, preserves_flags),
                );
            }
            result
        }
    )+};
}

instructions! {
    add(a, b) "vpaddq";
    sub(a, b) "vpsubq";
    and(a, b) "vpandq";
    shift_left_each(a, b) "vpsllvq";
    permute(index, a) "vpermq";
}

/// Declares functions of one instruction with a constant.
macro_rules! with_constant {
    ($($name:ident $text:literal;)+) => {$(
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        fn $name<const CONSTANT: u32>(a: __m256i) -> __m256i {
            let result: __m256i;
            // SAFETY: arithmetic on registers.
            unsafe {
                asm!(
                    concat!($text, " {result:y}, {a:y}, {constant}"),
                    result = lateout(zmm_reg) result, a = in(zmm_reg) a, constant = const CONSTANT,
                    options(nomem, nostack, preserves_flags),
                );
            }
            result
        }
    )+};
}

with_constant! {
    shift_left "vpsllq";
    shift_right "vpsrlq";
    shuffle "vpshufd";
}

/// Declares functions of one instruction that changes its first operand.
macro_rules! changes {
    ($($name:ident $text:literal;)+) => {$(
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        fn $name(mut result: __m256i, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: arithmetic on registers.
            unsafe {
                asm!(
                    concat!($text, " {result:y}, {a:y}, {b:y}"),
                    result = inlateout(zmm_reg) result, a = in(zmm_reg) a, b = in(zmm_reg) b,
                    options(nomem, nostack, preserves_flags),
                );
            }
            result
        }
    )+};
}

changes! {
    mul_add_low "vpmadd52luq";
    mul_add_high "vpmadd52huq";
}

/// Declares functions of one instruction that changes some lanes of its first operand.
macro_rules! changes_some {
    ($($name:ident $text:literal;)+) => {$(
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        fn $name<const LANES: u8>(mut result: __m256i, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: arithmetic on registers.
            unsafe {
                asm!(
                    concat!($text, " {result:y}{{{lanes}}}, {a:y}, {b:y}"),
                    result = inlateout(zmm_reg) result, a = in(zmm_reg) a, b = in(zmm_reg) b,
                    lanes = in(kreg) u32::from(LANES),
                    options(nomem, nostack, preserves_flags),
                );
            }
            result
        }
    )+};
}

changes_some! {
    add_some "vpaddq";
    sub_some "vpsubq";
    even_some "vpunpcklqdq";
    odd_some "vpunpckhqdq";
}

instructions! {
    even_all(a, b) "vpunpcklqdq";
    odd_all(a, b) "vpunpckhqdq";
}

// SAFETY of every call below: the token proves AVX-512 F, DQ, VL and IFMA.
impl FourVectors for Ifma {
    type Word = __m256i;

    const IN_REGISTERS: bool = true;

    #[inline(always)]
    fn load(self, from: &Quad) -> __m256i {
        // SAFETY: see above; `Quad` has the size and alignment of a vector.
        unsafe { _mm256_load_si256(core::ptr::from_ref(from).cast()) }
    }

    #[inline(always)]
    fn store(self, to: &mut Quad, word: __m256i) {
        // SAFETY: as for `load`.
        unsafe { _mm256_store_si256(core::ptr::from_mut(to).cast(), word) }
    }

    #[inline(always)]
    fn splat(self, limb: Limb) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_set1_epi64x(limb.cast_signed()) }
    }

    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { add(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { sub(a, b) }
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { and(a, b) }
    }

    #[inline(always)]
    fn shift_left<const BITS: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { shift_left::<BITS>(a) }
    }

    #[inline(always)]
    fn shift_right<const BITS: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { shift_right::<BITS>(a) }
    }

    #[inline(always)]
    fn shift_left_each(self, a: __m256i, count: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { shift_left_each(a, count) }
    }

    #[inline(always)]
    fn top_bits(self, a: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_srai_epi64::<63>(a) }
    }

    #[inline(always)]
    fn choose(self, mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above. 0xca is the truth table of mask ? a : b.
        unsafe { _mm256_ternarylogic_epi64::<0xca>(mask, a, b) }
    }

    #[inline(always)]
    fn mul_add_low(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { mul_add_low(sum, a, b) }
    }

    #[inline(always)]
    fn mul_add_high(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { mul_add_high(sum, a, b) }
    }

    #[inline(always)]
    fn permute(self, a: __m256i, index: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { permute(index, a) }
    }

    #[inline(always)]
    fn swap_pairs(self, a: __m256i) -> __m256i {
        // SAFETY: see above. 0x4e exchanges the halves of 128 bits.
        unsafe { shuffle::<0x4e>(a) }
    }

    #[inline(always)]
    fn even<const LANES: u8>(self, other: __m256i, a: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { if LANES == 0b1111 { even_all(a, a) } else { even_some::<LANES>(other, a, a) } }
    }

    #[inline(always)]
    fn odd<const LANES: u8>(self, other: __m256i, a: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { if LANES == 0b1111 { odd_all(a, a) } else { odd_some::<LANES>(other, a, a) } }
    }

    #[inline(always)]
    fn add_some<const LANES: u8>(self, other: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { add_some::<LANES>(other, a, b) }
    }

    #[inline(always)]
    fn sub_some<const LANES: u8>(self, other: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { sub_some::<LANES>(other, a, b) }
    }
}
