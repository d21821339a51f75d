//! Integers in AVX-512 vectors, shared by backends that differ in their products.

/// The functions of `Vectors` that need only AVX-512 F and DQ.
macro_rules! integers {
    () => {
        #[inline(always)]
        fn load(self, from: &Lanes) -> __m512i {
            // SAFETY: the token proves AVX-512; `Lanes` has the size and alignment of a vector.
            unsafe { _mm512_load_si512(core::ptr::from_ref(from).cast()) }
        }

        #[inline(always)]
        fn load_limbs(self, from: &[Limb; super::super::LANES]) -> __m512i {
            // SAFETY: the token proves AVX-512; the array has the size of a vector.
            unsafe { _mm512_loadu_si512(core::ptr::from_ref(from).cast()) }
        }

        #[inline(always)]
        fn load_halves(self, [low, high]: [&[Limb; super::super::LANES / 2]; 2]) -> __m512i {
            // SAFETY: the token proves AVX-512; each array has half the size of a vector.
            unsafe {
                let low = _mm256_loadu_si256(core::ptr::from_ref(low).cast());
                let high = _mm256_loadu_si256(core::ptr::from_ref(high).cast());
                _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
            }
        }

        #[inline(always)]
        fn store(self, to: &mut Lanes, word: __m512i) {
            // SAFETY: as for `load`.
            unsafe { _mm512_store_si512(core::ptr::from_mut(to).cast(), word) }
        }

        #[inline(always)]
        fn splat(self, limb: Limb) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_set1_epi64(limb.cast_signed()) }
        }

        #[inline(always)]
        fn add(self, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_add_epi64(a, b) }
        }

        #[inline(always)]
        fn sub(self, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_sub_epi64(a, b) }
        }

        #[inline(always)]
        fn high(self, a: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_srli_epi64::<52>(a) }
        }

        #[inline(always)]
        fn low(self, a: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_and_si512(a, self.splat(LIMB_MASK)) }
        }

        #[inline(always)]
        fn equal(self, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512 F and DQ.
            unsafe { _mm512_movm_epi64(_mm512_cmpeq_epi64_mask(a, b)) }
        }

        #[inline(always)]
        fn or_masked(self, a: __m512i, b: __m512i, mask: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512. 0xf8 is the truth table of a | (b & mask).
            unsafe { _mm512_ternarylogic_epi64::<0xf8>(a, b, mask) }
        }

        #[inline(always)]
        fn shift_left<const BITS: u32>(self, a: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_slli_epi64::<BITS>(a) }
        }

        #[inline(always)]
        fn shift_right<const BITS: u32>(self, a: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_srli_epi64::<BITS>(a) }
        }

        #[inline(always)]
        fn shift_right_signed<const BITS: u32>(self, a: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_srai_epi64::<BITS>(a) }
        }

        #[inline(always)]
        fn and(self, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_and_si512(a, b) }
        }

        #[inline(always)]
        fn not(self, a: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512. 0x55 is the truth table of !c.
            unsafe { _mm512_ternarylogic_epi64::<0x55>(a, a, a) }
        }

        #[inline(always)]
        fn mul_small(self, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_mul_epi32(a, b) }
        }

        #[inline(always)]
        fn multiple(self, limb: Limb, less: Limb, t: __m512i) -> __m512i {
            let mut multiples = Lanes::ZERO;
            let mut i = 0;
            while i < super::super::LANES {
                multiples.0[i] = (i as Limb).wrapping_sub(less).wrapping_mul(limb);
                i += 1;
            }
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_permutexvar_epi64(t, self.load(&multiples)) }
        }

        #[inline(always)]
        fn select(self, bits: u8, a: __m512i, b: __m512i) -> __m512i {
            // Selects by a vector of masks instead of a masked move: a load of `a` would be merged
            // into the move, and memory access would then depend on the bits.
            // SAFETY: the token proves AVX-512 F and DQ. 0xca is the truth table of mask ? a : b.
            unsafe { _mm512_ternarylogic_epi64::<0xca>(_mm512_movm_epi64(bits), a, b) }
        }

        #[inline(always)]
        fn equal_bits(self, a: __m512i, b: __m512i) -> u8 {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_cmpeq_epi64_mask(a, b) }
        }

        #[inline(always)]
        fn or_difference(self, any: __m512i, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512. 0xf6 is the truth table of any | (a ^ b).
            unsafe { _mm512_ternarylogic_epi64::<0xf6>(any, a, b) }
        }

        #[inline(always)]
        fn transpose(self, rows: [__m512i; super::super::LANES]) -> [__m512i; super::super::LANES] {
            let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
            // SAFETY: the token proves AVX-512.
            unsafe {
                // First blocks of two by two, then halves of the rows of blocks, then quarters.
                let even = [
                    _mm512_unpacklo_epi64(r0, r1),
                    _mm512_unpacklo_epi64(r2, r3),
                    _mm512_unpacklo_epi64(r4, r5),
                    _mm512_unpacklo_epi64(r6, r7),
                ];
                let odd = [
                    _mm512_unpackhi_epi64(r0, r1),
                    _mm512_unpackhi_epi64(r2, r3),
                    _mm512_unpackhi_epi64(r4, r5),
                    _mm512_unpackhi_epi64(r6, r7),
                ];
                let [c0, c2, c4, c6] = zmm::transpose_blocks!(even);
                let [c1, c3, c5, c7] = zmm::transpose_blocks!(odd);
                [c0, c1, c2, c3, c4, c5, c6, c7]
            }
        }

        #[inline(always)]
        fn permute(self, a: __m512i, index: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_permutexvar_epi64(index, a) }
        }

        #[inline(always)]
        fn permute_two(self, order: __m512i, first: __m512i, second: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_permutex2var_epi64(first, order, second) }
        }

        #[inline(always)]
        fn permute_two_some(
            self,
            bits: u8,
            order: __m512i,
            first: __m512i,
            second: __m512i,
        ) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_maskz_permutex2var_epi64(bits, first, order, second) }
        }

        #[inline(always)]
        fn only(self, bits: u8, a: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_maskz_mov_epi64(bits, a) }
        }

        #[inline(always)]
        fn add_some(self, bits: u8, other: __m512i, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_mask_add_epi64(other, bits, a, b) }
        }

        #[inline(always)]
        fn sub_some(self, bits: u8, other: __m512i, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512.
            unsafe { _mm512_mask_sub_epi64(other, bits, a, b) }
        }

        #[inline(always)]
        fn choose(self, mask: __m512i, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: the token proves AVX-512. 0xca is the truth table of mask ? a : b.
            unsafe { _mm512_ternarylogic_epi64::<0xca>(mask, a, b) }
        }
    };
}
pub(super) use integers;

/// Block j of vector i as block i of vector j, of four blocks of two words in four vectors.
macro_rules! transpose_blocks {
    ($vectors:expr) => {{
        let [a, b, c, d] = $vectors;
        // 0x88 takes the blocks 0 and 2 of both, 0xdd 1 and 3.
        let low = _mm512_shuffle_i64x2::<0x88>(a, b);
        let low_rest = _mm512_shuffle_i64x2::<0xdd>(a, b);
        let high = _mm512_shuffle_i64x2::<0x88>(c, d);
        let high_rest = _mm512_shuffle_i64x2::<0xdd>(c, d);
        [
            _mm512_shuffle_i64x2::<0x88>(low, high),
            _mm512_shuffle_i64x2::<0x88>(low_rest, high_rest),
            _mm512_shuffle_i64x2::<0xdd>(low, high),
            _mm512_shuffle_i64x2::<0xdd>(low_rest, high_rest),
        ]
    }};
}
pub(super) use transpose_blocks;
