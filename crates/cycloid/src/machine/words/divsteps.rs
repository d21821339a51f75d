//! Division steps on one word each of two rows, the inner loop of modular inversion.

/// Runs `STEPS` division steps (Bernstein and Yang, Fast constant-time gcd computation and modular
/// inversion, 2019, section 8) and returns `(zeta, f, g)`. f is odd, and no step overflows.
///
/// With `zeta` = −(δ + 1/2), a step is: if zeta < 0 and g is odd, (f, g) ← (g, (g − f)/2) and zeta
/// ← −zeta − 2; otherwise g ← (g + (g mod 2)·f)/2 and zeta ← zeta − 1. Time depends on `STEPS`
/// only.
#[cfg(any(not(target_pointer_width = "32"), test))]
#[inline(always)]
pub fn divsteps<const STEPS: usize>(zeta: i64, f: i64, g: i64) -> (i64, i64, i64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return x86_64::divsteps::<STEPS>(zeta, f, g);
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    return aarch64::divsteps::<STEPS>(zeta, f, g);
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
    return portable::divsteps::<STEPS>(zeta, f, g);
}

/// The same on words of 32 bits.
#[cfg(any(target_pointer_width = "32", test))]
#[inline]
pub fn divsteps_narrow<const STEPS: usize>(zeta: i32, f: i32, g: i32) -> (i32, i32, i32) {
    #[cfg(cycloid_armv7em)]
    return armv7em::divsteps::<STEPS>(zeta, f, g);
    #[cfg(not(cycloid_armv7em))]
    return {
        let (zeta, f, g) = portable::divsteps::<STEPS>(zeta.into(), f.into(), g.into());
        (zeta as i32, f as i32, g as i32)
    };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86_64 {
    use core::arch::asm;

    /// Uses conditional moves for f, g and zeta, so that no dependency chain is longer than four
    /// cycles a step. Before a step, `chosen` is −f, and the flags are those of zeta. On Golden Cove
    /// a conditional move waits for TEST one cycle longer than for BT.
    #[inline(always)]
    pub(super) fn divsteps<const STEPS: usize>(
        mut zeta: i64,
        mut f: i64,
        mut g: i64,
    ) -> (i64, i64, i64) {
        // SAFETY: no memory is accessed, and every x86-64 processor has these instructions.
        unsafe {
            asm!(
                "mov {chosen}, {f}",
                "neg {chosen}",
                "test {zeta}, {zeta}",
                ".rept {steps}",
                // The addend of g if g is odd; and g if the two are swapped.
                "cmovns {chosen}, {f}",
                "mov {exchanged}, {g}",
                "cmovns {exchanged}, {zero}",
                "bt {g}, 0",
                "cmovnc {chosen}, {zero}",
                "mov {not_zeta}, {zeta}",
                "not {not_zeta}",
                "bt {exchanged}, 0",
                "cmovc {f}, {g}",
                "cmovc {zeta}, {not_zeta}",
                "add {g}, {chosen}",
                "mov {chosen}, {f}",
                "sar {g}, 1",
                "neg {chosen}",
                "dec {zeta}",
                ".endr",
                f = inout(reg) f,
                g = inout(reg) g,
                zeta = inout(reg) zeta,
                chosen = out(reg) _,
                exchanged = out(reg) _,
                not_zeta = out(reg) _,
                zero = inout(reg) 0u64 => _,
                steps = const STEPS,
                options(pure, nomem, nostack),
            );
        }
        (zeta, f, g)
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod aarch64 {
    use core::arch::asm;

    /// Selects by the flags. CCMP compares zeta if g is odd; otherwise its result is "not less".
    #[inline(always)]
    pub(super) fn divsteps<const STEPS: usize>(
        mut zeta: i64,
        mut f: i64,
        mut g: i64,
    ) -> (i64, i64, i64) {
        // SAFETY: no memory is accessed, and every AArch64 processor has these instructions.
        unsafe {
            asm!(
                ".rept {steps}",
                "tst {g}, #1",
                "csel {chosen}, {f}, xzr, ne",
                "ccmp {zeta}, #0, #0, ne",
                "cneg {chosen}, {chosen}, lt",
                "csel {f}, {g}, {f}, lt",
                "csinv {zeta}, {zeta}, {zeta}, ge",
                "add {g}, {g}, {chosen}",
                "sub {zeta}, {zeta}, #1",
                "asr {g}, {g}, #1",
                ".endr",
                f = inout(reg) f,
                g = inout(reg) g,
                zeta = inout(reg) zeta,
                chosen = out(reg) _,
                steps = const STEPS,
                options(pure, nomem, nostack),
            );
        }
        (zeta, f, g)
    }
}

#[cfg(cycloid_armv7em)]
mod armv7em {
    use core::arch::asm;

    /// `negative` and `odd` are masks, then whether f and g are swapped; `addend` is ±f or 0, then g
    /// or 0, since f + (g − f) = g.
    #[inline(never)]
    pub(super) fn divsteps<const STEPS: usize>(
        mut zeta: i32,
        mut f: i32,
        mut g: i32,
    ) -> (i32, i32, i32) {
        // SAFETY: no memory is accessed, and every processor with Thumb-2 has these instructions.
        unsafe {
            asm!(
                ".rept {steps}",
                "asr {negative}, {zeta}, #31",
                "sbfx {odd}, {g}, #0, #1",
                "eor {addend}, {f}, {negative}",
                "sub {addend}, {addend}, {negative}",
                "and {addend}, {addend}, {odd}",
                "and {odd}, {odd}, {negative}",
                "add {g}, {g}, {addend}",
                "eor {zeta}, {zeta}, {odd}",
                "and {addend}, {g}, {odd}",
                "sub {zeta}, {zeta}, #1",
                "add {f}, {f}, {addend}",
                "asr {g}, {g}, #1",
                ".endr",
                f = inout(reg) f,
                g = inout(reg) g,
                zeta = inout(reg) zeta,
                negative = out(reg) _,
                odd = out(reg) _,
                addend = out(reg) _,
                steps = const STEPS,
                options(pure, nomem, nostack),
            );
        }
        (zeta, f, g)
    }
}

/// The same in plain Rust.
#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64", cycloid_armv7em)), miri, test))]
mod portable {
    use crate::machine::ct::Mask;

    pub(super) fn divsteps<const STEPS: usize>(
        mut zeta: i64,
        mut f: i64,
        mut g: i64,
    ) -> (i64, i64, i64) {
        for _ in 0..STEPS {
            let negative = zeta >> 63;
            let odd = Mask::from_bit((g & 1).cast_unsigned()).value().cast_signed();
            let swap = negative & odd;
            let signed = (f ^ negative) - negative;
            // If they are swapped, f + (g − f) = g.
            f += (g + signed) & swap;
            g += signed & odd;
            g >>= 1;
            zeta = (zeta ^ swap) - 1;
        }
        (zeta, f, g)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_portable_form() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // Small enough that twenty steps do not overflow.
            state.cast_signed() >> 24
        };
        let mut exchanged = 0;
        for round in 0..20_000 {
            let (zeta, f, g) = (round % 45 - 22, random() | 1, random());
            let expected = portable::divsteps::<20>(zeta, f, g);
            assert_eq!(divsteps::<20>(zeta, f, g), expected, "{zeta} {f:x} {g:x}");
            exchanged += u32::from(expected.1 != f);
        }
        assert!(exchanged > 1000);
        assert_eq!(divsteps::<1>(-1, 3, 5), (-1, 5, 1));
        assert_eq!(divsteps::<1>(0, 3, 5), (-1, 3, 4));
        assert_eq!(divsteps::<1>(-1, 3, 4), (-2, 3, 2));
    }
}
