//! Squares: each product of different limbs once, by strips and triangles; then twice their sum
//! plus the squares of the limbs.

use core::arch::naked_asm;

use super::Limb;
use super::product::strip;

/// Adds the products of different limbs of a block of w at `a` to 2w limbs at `out`, and `carry` at
/// the lowest of them; returns the carry.
type Triangle = unsafe extern "C" fn(out: *mut Limb, a: *const Limb, carry: Limb) -> Limb;

/// The products of the first limb with each other one of the block, added to the window from the
/// place of the first product on, and those of the other limbs. The first row is `fresh`.
macro_rules! triangle_rows {
    ($kind:ident [$one:literal] $window:tt) => { "" };
    ($kind:ident [$by:literal $($a:literal)+] [$w0:literal $w1:literal $($w:literal)*]) => {
        concat!(
            triangle_rows!(@$kind $by [$($a)+] [$w0 $w1 $($w)*]),
            triangle_rows!(used [$($a)+] [$($w)*]),
        )
    };
    (@fresh $by:literal [$a0:literal] [$w0:literal $w1:literal $($w:literal)*]) => {
        concat!("mul ", $w0, ", ", $a0, ", ", $by, "\numulh ", $w1, ", ", $a0, ", ", $by, "\n")
    };
    (@fresh $by:literal [$a0:literal $($a:literal)+] [$w0:literal $w1:literal $($w:literal)*]) => {
        concat!(
            "mul ", $w0, ", ", $a0, ", ", $by, "\numulh ", $w1, ", ", $a0, ", ", $by, "\n",
            triangle_rows!(@next "adds" $by [$($a)+] [$w1 $($w)*]),
        )
    };
    (@next $adds:literal $by:literal [] [$top:literal $($w:literal)*]) => {
        concat!("adc ", $top, ", ", $top, ", xzr\n")
    };
    (@next $adds:literal $by:literal [$a0:literal $($a:literal)*]
        [$w0:literal $w1:literal $($w:literal)*]) => {
        concat!(
            "mul x16, ", $a0, ", ", $by, "\numulh ", $w1, ", ", $a0, ", ", $by, "\n",
            $adds, " ", $w0, ", ", $w0, ", x16\n",
            triangle_rows!(@next "adcs" $by [$($a)*] [$w1 $($w)*]),
        )
    };
    (@used $by:literal $a:tt [$w0:literal $($w:literal)+]) => {
        concat!(
            triangle_rows!(@low "adds" $by $a [$w0 $($w)+]),
            triangle_rows!(@high "add" $by $a [$($w)+]),
        )
    };
    (@low $adds:literal $by:literal [] [$top:literal $($w:literal)*]) => {
        concat!("adc ", $top, ", xzr, xzr\n")
    };
    (@low $adds:literal $by:literal [$a0:literal $($a:literal)*] [$w0:literal $($w:literal)*]) => {
        concat!(
            "mul x16, ", $a0, ", ", $by, "\n",
            $adds, " ", $w0, ", ", $w0, ", x16\n",
            triangle_rows!(@low "adcs" $by [$($a)*] [$($w)*]),
        )
    };
    (@high $add:literal $by:literal [$a0:literal] [$top:literal $($w:literal)*]) => {
        concat!(
            "umulh x16, ", $a0, ", ", $by, "\n",
            $add, " ", $top, ", ", $top, ", x16\n",
        )
    };
    (@high $add:literal $by:literal [$a0:literal $($a:literal)+] [$w0:literal $($w:literal)*]) => {
        concat!(
            "umulh x16, ", $a0, ", ", $by, "\n",
            $add, "s ", $w0, ", ", $w0, ", x16\n",
            triangle_rows!(@high "adc" $by [$($a)+] [$($w)*]),
        )
    };
}

/// `[x0] += limbs`, with the carry flag.
macro_rules! add_to {
    () => { "" };
    ($w0:literal $w1:literal $($w:literal)*) => {
        concat!(
            "ldp x16, x17, [x0]\n",
            "adcs x16, x16, ", $w0, "\n",
            "adcs x17, x17, ", $w1, "\n",
            "stp x16, x17, [x0], #16\n",
            add_to!($($w)*),
        )
    };
}

/// Defines a [`Triangle`].
macro_rules! triangle {
    ($name:ident $pairs:tt [$($a:literal)+] [$($window:literal)*]) => {
        /// A [`Triangle`].
        ///
        /// # Safety
        /// `a` has w limbs, and `out` has 2w, apart from it; `carry` is 0 or 1.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(out: *mut Limb, a: *const Limb, carry: Limb) -> Limb {
            naked_asm!(
                enter!(80 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48 "x27" "x28" 64),
                load!("x1" $pairs $($a)+),
                triangle_rows!(fresh [$($a)+] [$($window)*]),
                "subs xzr, x2, #1",
                add_to!("xzr" $($window)* "xzr"),
                "adc x0, xzr, xzr",
                leave!(80 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48
                    "x27" "x28" 64),
            )
        }
    };
}

triangle!(triangle_1 [0] ["x3"] []);
triangle!(triangle_2 [0] ["x3" "x4"] ["x11" "x12"]);
triangle!(triangle_3 [0 1] ["x3" "x4" "x5"] ["x11" "x12" "x13" "x14"]);
triangle!(triangle_4 [0 1] ["x3" "x4" "x5" "x6"] ["x11" "x12" "x13" "x14" "x15" "x19"]);
triangle!(triangle_5 [0 1 2] ["x3" "x4" "x5" "x6" "x7"]
    ["x11" "x12" "x13" "x14" "x15" "x19" "x20" "x21"]);
triangle!(triangle_6 [0 1 2] ["x3" "x4" "x5" "x6" "x7" "x8"]
    ["x11" "x12" "x13" "x14" "x15" "x19" "x20" "x21" "x22" "x23"]);
triangle!(triangle_7 [0 1 2 3] ["x3" "x4" "x5" "x6" "x7" "x8" "x9"]
    ["x11" "x12" "x13" "x14" "x15" "x19" "x20" "x21" "x22" "x23" "x24" "x25"]);
triangle!(triangle_8 [0 1 2 3] ["x3" "x4" "x5" "x6" "x7" "x8" "x9" "x10"]
    ["x11" "x12" "x13" "x14" "x15" "x19" "x20" "x21" "x22" "x23" "x24" "x25" "x26" "x27"]);

/// Returns the triangle of a block of `limbs` limbs, 1 to 8.
#[inline(always)]
fn triangle(limbs: usize) -> Triangle {
    match limbs {
        1 => triangle_1,
        2 => triangle_2,
        3 => triangle_3,
        4 => triangle_4,
        5 => triangle_5,
        6 => triangle_6,
        7 => triangle_7,
        _ => triangle_8,
    }
}

/// Doubles 2n limbs at `out` and adds the squares of the n limbs at `a`.
///
/// # Safety
/// `n` is at least 1, and the memory is as said; it does not overlap.
#[unsafe(naked)]
unsafe extern "C" fn double_and_add_squares(out: *mut Limb, a: *const Limb, n: usize) {
    naked_asm!(
        ".cfi_startproc",
        "mov x3, xzr",
        "adds xzr, xzr, xzr",
        "tbz x2, #0, 2f",
        "ldp x4, x5, [x0]",
        "ldr x8, [x1], #8",
        "mul x10, x8, x8",
        "umulh x11, x8, x8",
        "extr x12, x4, x3, #63",
        "extr x13, x5, x4, #63",
        "adds x12, x12, x10",
        "adcs x13, x13, x11",
        "mov x3, x5",
        "stp x12, x13, [x0], #16",
        "2:",
        "lsr x2, x2, #1",
        "cbz x2, 4f",
        "3:",
        "ldp x4, x5, [x0]",
        "ldp x6, x7, [x0, #16]",
        "ldp x8, x9, [x1], #16",
        "mul x10, x8, x8",
        "umulh x11, x8, x8",
        "extr x12, x4, x3, #63",
        "extr x13, x5, x4, #63",
        "adcs x12, x12, x10",
        "adcs x13, x13, x11",
        "mul x10, x9, x9",
        "umulh x11, x9, x9",
        "extr x14, x6, x5, #63",
        "extr x15, x7, x6, #63",
        "adcs x14, x14, x10",
        "adcs x15, x15, x11",
        "mov x3, x7",
        "sub x2, x2, #1",
        "stp x12, x13, [x0], #16",
        "stp x14, x15, [x0], #16",
        "cbnz x2, 3b",
        "4:",
        "ret",
        ".cfi_endproc",
    )
}

/// Computes `product = a²`; see [`Words::square`](super::Words::square).
#[inline]
pub(super) fn square(product: &mut [Limb], a: &[Limb]) {
    let n = a.len();
    assert_eq!(product.len(), 2 * n);
    if n == 0 {
        return;
    }
    product.fill(0);
    // A block times the limbs above it.
    for (i, block) in a.chunks_exact(8).enumerate() {
        let above = &a[8 * (i + 1)..];
        if !above.is_empty() {
            let out = &mut product[16 * i + 8..][..above.len() + 8];
            // SAFETY: the strip is for eight limbs, `above` is not empty, and `out`, uniquely
            // borrowed, is as long as both.
            unsafe { strip(8)(out.as_mut_ptr(), block.as_ptr(), above.as_ptr(), above.len()) };
        }
    }
    let mut carry = 0;
    for (out, block) in product.chunks_mut(16).zip(a.chunks(8)) {
        // SAFETY: the triangle is for the block's length, and `out`, uniquely borrowed, is twice as
        // long.
        carry = unsafe { triangle(block.len())(out.as_mut_ptr(), block.as_ptr(), carry) };
    }
    // SAFETY: `product`, uniquely borrowed, has twice the limbs of `a`, which is not empty.
    unsafe { double_and_add_squares(product.as_mut_ptr(), a.as_ptr(), n) };
}
