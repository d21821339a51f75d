//! A number times one limb, added or subtracted.

use core::arch::naked_asm;

use super::Limb;

/// Limbs `$sum` of a row: the limb carried in `x5`, the products' low halves with `x2`, and the
/// accumulator's limbs, which they replace; carries the last high half in `x5`, to which the two
/// carries at the end are added.
macro_rules! step {
    (add $($a:literal $sum:literal)+) => {
        concat!(
            $(
                "mul x16, ", $a, ", x2\n",
                "umulh x17, ", $a, ", x2\n",
                "adds x16, x16, x5\n",
                "cinc x17, x17, cs\n",
                "adds ", $sum, ", ", $sum, ", x16\n",
                "cinc x5, x17, cs\n",
            )+
        )
    };
    (sub $($a:literal $sum:literal)+) => {
        concat!(
            $(
                "mul x16, ", $a, ", x2\n",
                "umulh x17, ", $a, ", x2\n",
                "adds x16, x16, x5\n",
                "cinc x17, x17, cs\n",
                "subs ", $sum, ", ", $sum, ", x16\n",
                "cinc x5, x17, cc\n",
            )+
        )
    };
}

/// Defines a row of `n` limbs that returns the carry limb. A step is at most (B − 1)² + 2·(B − 1) =
/// B² − 1, so the carry limb does not overflow.
macro_rules! row_kernel {
    ($name:ident $step:ident) => {
        /// A row; see [`row_kernel`].
        ///
        /// # Safety
        /// `accumulator` and `a` have `n` limbs.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(
            accumulator: *mut Limb,
            a: *const Limb,
            x: Limb,
            n: usize,
        ) -> Limb {
            naked_asm!(
                ".cfi_startproc",
                "mov x5, xzr",
                "tbz x3, #0, 2f",
                "ldr x6, [x1], #8",
                "ldr x8, [x0]",
                step!($step "x6" "x8"),
                "str x8, [x0], #8",
                "2:",
                "tbz x3, #1, 3f",
                "ldp x6, x7, [x1], #16",
                "ldp x8, x9, [x0]",
                step!($step "x6" "x8" "x7" "x9"),
                "stp x8, x9, [x0], #16",
                "3:",
                "lsr x3, x3, #2",
                "cbz x3, 5f",
                "4:",
                "ldp x6, x7, [x1], #16",
                "ldp x12, x13, [x1], #16",
                "ldp x8, x9, [x0]",
                "ldp x10, x11, [x0, #16]",
                step!($step "x6" "x8" "x7" "x9" "x12" "x10" "x13" "x11"),
                "stp x8, x9, [x0], #16",
                "stp x10, x11, [x0], #16",
                "sub x3, x3, #1",
                "cbnz x3, 4b",
                "5:",
                "mov x0, x5",
                "ret",
                ".cfi_endproc",
            )
        }
    };
}

row_kernel!(add_row add);
row_kernel!(sub_row sub);

/// Computes `accumulator += a · x`; equal lengths; returns the carry limb.
#[inline]
pub(super) fn add_mul_limb(accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
    assert_eq!(accumulator.len(), a.len());
    // SAFETY: both have the same number of limbs, and `accumulator` is uniquely borrowed.
    unsafe { add_row(accumulator.as_mut_ptr(), a.as_ptr(), x, a.len()) }
}

/// Computes `accumulator −= a · x`; equal lengths; returns the borrow limb.
#[inline]
pub(super) fn sub_mul_limb(accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
    assert_eq!(accumulator.len(), a.len());
    // SAFETY: as above.
    unsafe { sub_row(accumulator.as_mut_ptr(), a.as_ptr(), x, a.len()) }
}
