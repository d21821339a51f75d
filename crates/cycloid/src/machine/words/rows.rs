//! Sums of multiples of numbers in limbs of 27 bits, divided by 2²⁷: the updates between groups of
//! division steps, for processors with words of 32 bits.
//!
//! The limbs of the numbers take turns in memory. Each is from 0 to 2²⁷ − 1, except that the
//! highest has a sign.

/// Bits of a limb.
pub const ROW_BITS: u32 = 27;

/// Computes (f, g) ← (u·f + v·g, q·f + r·g) / 2²⁷, both of which divide exactly, for pairs of limbs
/// of f and g. `matrix` is u, v, q and r, at most 2²⁸ in magnitude; there are two pairs or more.
#[inline]
pub fn transform_rows(matrix: &[i32; 4], pairs: &mut [[i32; 2]]) {
    assert!(pairs.len() > 1);
    #[cfg(cycloid_armv7em)]
    armv7em::transform(matrix, pairs);
    #[cfg(not(cycloid_armv7em))]
    portable::transform(matrix, pairs);
}

/// Computes (d, e) ← (u·d + v·e + k·m, q·d + r·e + l·m) / 2²⁷, both of which divide exactly, for
/// triples of limbs of d, e and m. `matrix` is u, v, k, q, r and l, at most 2²⁸ in magnitude; there
/// are two triples or more.
#[inline]
pub fn transform_rows_modulo(matrix: &[i32; 6], triples: &mut [[i32; 3]]) {
    assert!(triples.len() > 1);
    #[cfg(cycloid_armv7em)]
    armv7em::transform_modulo(matrix, triples);
    #[cfg(not(cycloid_armv7em))]
    portable::transform_modulo(matrix, triples);
}

#[cfg(cycloid_armv7em)]
mod armv7em {
    use core::arch::naked_asm;

    pub(super) fn transform(matrix: &[i32; 4], pairs: &mut [[i32; 2]]) {
        let (first, end) = (pairs.as_mut_ptr(), pairs.as_ptr_range().end);
        // SAFETY: every processor of the target has SMLAL; there are two pairs or more.
        unsafe { transform_pairs(matrix, first.cast(), end.cast()) };
    }

    pub(super) fn transform_modulo(matrix: &[i32; 6], triples: &mut [[i32; 3]]) {
        let (first, end) = (triples.as_mut_ptr(), triples.as_ptr_range().end);
        // SAFETY: as above.
        unsafe { transform_triples(matrix, first.cast(), end.cast()) };
    }

    /// The lowest limb of a sum goes to `[r1, #$place]`; the sum is shifted. Changes `$limb`.
    macro_rules! next_limb {
        ($low:literal $high:literal $limb:literal $place:literal) => {
            concat!(
                "ubfx ", $limb, ", ", $low, ", #0, #27\n",
                "str ", $limb, ", [r1, #", $place, "]\n",
                shift!($low $high),
            )
        };
    }

    macro_rules! shift {
        ($low:literal $high:literal) => {
            concat!(
                "lsr ",
                $low,
                ", #27\n",
                "orr ",
                $low,
                ", ",
                $low,
                ", ",
                $high,
                ", lsl #5\n",
                "asr ",
                $high,
                ", #27\n",
            )
        };
    }

    /// # Safety
    /// There are two pairs of limbs or more from `pair` to `end`.
    #[unsafe(naked)]
    unsafe extern "C" fn transform_pairs(matrix: *const [i32; 4], pair: *mut i32, end: *const i32) {
        naked_asm!(
            "push {{r4-r11, lr}}",
            "ldm r0, {{r4-r7}}",
            "ldm r1!, {{r3, r12}}",
            "smull r8, r9, r4, r3",
            "smull r10, r11, r6, r3",
            "smlal r8, r9, r5, r12",
            "smlal r10, r11, r7, r12",
            shift!("r8" "r9"),
            shift!("r10" "r11"),
            "22:",
            "ldr r3, [r1]",
            "ldr r12, [r1, #4]",
            "smlal r8, r9, r4, r3",
            "smlal r10, r11, r6, r3",
            "smlal r8, r9, r5, r12",
            "smlal r10, r11, r7, r12",
            next_limb!("r8" "r9" "r0" "-8"),
            next_limb!("r10" "r11" "r0" "-4"),
            "add r1, #8",
            "cmp r1, r2",
            "bne 22b",
            "str r8, [r1, #-8]",
            "str r10, [r1, #-4]",
            "pop {{r4-r11, pc}}",
        )
    }

    /// # Safety
    /// There are two triples of limbs or more from `triple` to `end`.
    #[unsafe(naked)]
    unsafe extern "C" fn transform_triples(
        matrix: *const [i32; 6],
        triple: *mut i32,
        end: *const i32,
    ) {
        naked_asm!(
            "push {{r2, r4-r11, lr}}",
            "ldm r0, {{r4-r9}}",
            "ldm r1!, {{r0, r2, r3}}",
            "smull r10, r11, r4, r0",
            "smull r12, lr, r7, r0",
            "smlal r10, r11, r5, r2",
            "smlal r12, lr, r8, r2",
            "smlal r10, r11, r6, r3",
            "smlal r12, lr, r9, r3",
            shift!("r10" "r11"),
            shift!("r12" "lr"),
            "22:",
            "ldr r0, [r1]",
            "ldr r2, [r1, #4]",
            "ldr r3, [r1, #8]",
            "smlal r10, r11, r4, r0",
            "smlal r12, lr, r7, r0",
            "smlal r10, r11, r5, r2",
            "smlal r12, lr, r8, r2",
            "smlal r10, r11, r6, r3",
            "smlal r12, lr, r9, r3",
            next_limb!("r10" "r11" "r0" "-12"),
            next_limb!("r12" "lr" "r0" "-8"),
            "ldr r0, [sp]",
            "add r1, #12",
            "cmp r1, r0",
            "bne 22b",
            "str r10, [r1, #-12]",
            "str r12, [r1, #-8]",
            "pop {{r2, r4-r11, pc}}",
        )
    }
}

/// The same in plain Rust.
#[cfg(not(cycloid_armv7em))]
mod portable {
    use super::ROW_BITS;

    /// The lower bits of a sum as a limb.
    fn limb(sum: i64) -> i32 {
        (sum & ((1 << ROW_BITS) - 1)) as i32
    }

    pub(super) fn transform(&[u, v, q, r]: &[i32; 4], pairs: &mut [[i32; 2]]) {
        let mut sums = [0; 2];
        for i in 0..pairs.len() {
            let [f, g] = pairs[i];
            for (sum, [a, b]) in sums.iter_mut().zip([[u, v], [q, r]]) {
                *sum += i64::from(a) * i64::from(f) + i64::from(b) * i64::from(g);
            }
            if i > 0 {
                pairs[i - 1] = sums.map(limb);
            }
            sums = sums.map(|sum| sum >> ROW_BITS);
        }
        pairs[pairs.len() - 1] = sums.map(|sum| sum as i32);
    }

    pub(super) fn transform_modulo(&[u, v, k, q, r, l]: &[i32; 6], triples: &mut [[i32; 3]]) {
        let mut sums = [0; 2];
        for i in 0..triples.len() {
            let [d, e, m] = triples[i].map(i64::from);
            for (sum, [a, b, c]) in sums.iter_mut().zip([[u, v, k], [q, r, l]]) {
                *sum += i64::from(a) * d + i64::from(b) * e + i64::from(c) * m;
            }
            if i > 0 {
                triples[i - 1][..2].copy_from_slice(&sums.map(limb));
            }
            sums = sums.map(|sum| sum >> ROW_BITS);
        }
        let last = triples.len() - 1;
        triples[last][..2].copy_from_slice(&sums.map(|sum| sum as i32));
    }
}
