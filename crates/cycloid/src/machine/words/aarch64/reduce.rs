//! Montgomery reduction by blocks of up to eight quotient limbs.
//!
//! A block of w quotient limbs makes w limbs of the number divisible by B^w: w rows of the modulus'
//! lowest limbs, each of which yields the next quotient limb. The limbs that they retire are zero,
//! and the quotient is stored in their place; then it is the block for the modulus' other limbs.

use core::arch::naked_asm;

use super::Limb;

/// Adds the multiple of the modulus, which has w limbs and `rest` more, that makes the lowest w
/// limbs of `wide` zero, and `carry` at the place of the modulus' length. Returns the carry out of
/// the w limbs there. `n0` is −1 / modulus mod B.
type Block = unsafe extern "C" fn(
    wide: *mut Limb,
    modulus: *const Limb,
    n0: Limb,
    rest: usize,
    carry: Limb,
) -> Limb;

/// Defines a [`Block`] for w quotient limbs.
macro_rules! block {
    ($name:ident $w:literal $pairs:tt [$($m:literal)+] [$($window:literal)+]
        [$($reversed:literal)+]) => {
        /// A [`Block`].
        ///
        /// # Safety
        /// The modulus has w + `rest` limbs, and `wide` has w more, apart from it; `carry` is 0
        /// or 1.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(
            wide: *mut Limb,
            modulus: *const Limb,
            n0: Limb,
            rest: usize,
            carry: Limb,
        ) -> Limb {
            naked_asm!(
                enter!(80 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48 "x27" "x28" 64),
                "mov x26, x4",
                "mov x27, x0",
                load!("x0" $pairs $($window)+),
                load!("x1" $pairs $($m)+),
                concat!("add x1, x1, #8*", $w),
                block!(@quotients [$($reversed)+] [$($m)+] [$($window)+]),
                "cbz x3, 34f",
                load!("x27" $pairs $($m)+),
                rows!("x3"; "x1" "x0"; "x17" "x23" "x24" "x25"; "x16" "x2"; [$($m)+] [$($window)+]),
                "subs xzr, x26, #1",
                block!(@add [$($window)+]),
                "adc x0, xzr, xzr",
                leave!(80 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48
                    "x27" "x28" 64),
            )
        }
    };
    (@quotients [] $m:tt $window:tt) => { "" };
    (@quotients [$one:literal $($more:literal)*] $m:tt $window:tt) => {
        concat!(
            quotient_row!("x17" "x2" "x0"; "x16"; $m $window),
            block!(@quotients [$($more)*] $m $window),
        )
    };
    (@add []) => { "" };
    (@add [$w0:literal]) => {
        concat!("ldr x16, [x0]\nadcs x16, x16, ", $w0, "\nstr x16, [x0]\n")
    };
    (@add [$w0:literal $w1:literal $($w:literal)*]) => {
        concat!(
            "ldp x16, x17, [x0]\n",
            "adcs x16, x16, ", $w0, "\n",
            "adcs x17, x17, ", $w1, "\n",
            "stp x16, x17, [x0], #16\n",
            block!(@add [$($w)*]),
        )
    };
}

block!(block_1 1 [0] ["x12"] ["x5"] [0]);
block!(block_2 2 [0] ["x12" "x13"] ["x5" "x6"] [0 1]);
block!(block_3 3 [0 1] ["x12" "x13" "x14"] ["x5" "x6" "x7"] [0 1 2]);
block!(block_4 4 [0 1] ["x12" "x13" "x14" "x15"] ["x5" "x6" "x7" "x8"] [0 1 2 3]);
block!(block_5 5 [0 1 2] ["x12" "x13" "x14" "x15" "x19"] ["x5" "x6" "x7" "x8" "x9"] [0 1 2 3 4]);
block!(block_6 6 [0 1 2] ["x12" "x13" "x14" "x15" "x19" "x20"]
    ["x5" "x6" "x7" "x8" "x9" "x10"] [0 1 2 3 4 5]);
block!(block_7 7 [0 1 2 3] ["x12" "x13" "x14" "x15" "x19" "x20" "x21"]
    ["x5" "x6" "x7" "x8" "x9" "x10" "x11"] [0 1 2 3 4 5 6]);
block!(block_8 8 [0 1 2 3] ["x12" "x13" "x14" "x15" "x19" "x20" "x21" "x22"]
    ["x5" "x6" "x7" "x8" "x9" "x10" "x11" "x4"] [0 1 2 3 4 5 6 7]);

/// Computes `result = a − modulus`, or `a` if that is negative and `carry` is 0.
///
/// # Safety
/// `result`, `a` and `modulus` have `n` limbs, at least one; `result` overlaps no other; `carry` is
/// 0 or 1.
#[unsafe(naked)]
unsafe extern "C" fn subtract_once(
    result: *mut Limb,
    a: *const Limb,
    modulus: *const Limb,
    n: usize,
    carry: Limb,
) {
    naked_asm!(
        ".cfi_startproc",
        "mov x5, x0",
        "mov x6, x1",
        "lsr x7, x3, #1",
        // No borrow. Branches on a register keep the flags, and so does SUB.
        "subs xzr, xzr, xzr",
        "tbz x3, #0, 2f",
        "ldr x8, [x1], #8",
        "ldr x10, [x2], #8",
        "sbcs x8, x8, x10",
        "str x8, [x0], #8",
        "2:",
        "cbz x7, 4f",
        "3:",
        "ldp x8, x9, [x1], #16",
        "ldp x10, x11, [x2], #16",
        "sbcs x8, x8, x10",
        "sbcs x9, x9, x11",
        "sub x7, x7, #1",
        "stp x8, x9, [x0], #16",
        "cbnz x7, 3b",
        "4:",
        // Carry = the carry, or no borrow.
        "sbcs x4, x4, xzr",
        "lsr x7, x3, #1",
        "tbz x3, #0, 5f",
        "ldr x8, [x5]",
        "ldr x10, [x6], #8",
        "csel x8, x8, x10, cs",
        "str x8, [x5], #8",
        "5:",
        "cbz x7, 7f",
        "6:",
        "ldp x8, x9, [x5]",
        "ldp x10, x11, [x6], #16",
        "csel x8, x8, x10, cs",
        "csel x9, x9, x11, cs",
        "sub x7, x7, #1",
        "stp x8, x9, [x5], #16",
        "cbnz x7, 6b",
        "7:",
        "ret",
        ".cfi_endproc",
    )
}

/// Returns the block of `limbs` quotient limbs, 1 to 8.
#[inline(always)]
fn block(limbs: usize) -> Block {
    match limbs {
        1 => block_1,
        2 => block_2,
        3 => block_3,
        4 => block_4,
        5 => block_5,
        6 => block_6,
        7 => block_7,
        _ => block_8,
    }
}

/// Computes `result = wide / R mod modulus`; see
/// [`Words::montgomery_reduce`](super::Words::montgomery_reduce).
#[inline]
pub(super) fn montgomery_reduce(
    result: &mut [Limb],
    wide: &mut [Limb],
    modulus: &[Limb],
    n0: Limb,
) {
    let n = modulus.len();
    assert!(result.len() == n && wide.len() == 2 * n);
    if n == 0 {
        return;
    }
    let (mut carry, mut place) = (0, 0);
    while place < n {
        let limbs = (n - place).min(8);
        let wide = wide[place..][..n + limbs].as_mut_ptr();
        // SAFETY: the block is for that number of limbs, at most n, and `wide`, uniquely borrowed,
        // has as many more than the modulus.
        carry = unsafe { block(limbs)(wide, modulus.as_ptr(), n0, n - limbs, carry) };
        place += limbs;
    }
    // SAFETY: `result`, the upper half of `wide` and `modulus` have n ≥ 1 limbs each, and `result`
    // is uniquely borrowed.
    unsafe { subtract_once(result.as_mut_ptr(), wide[n..].as_ptr(), modulus.as_ptr(), n, carry) };
}
