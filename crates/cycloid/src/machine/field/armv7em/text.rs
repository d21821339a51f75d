//! Parts of the kernels' text: products of two numbers of eight words.
//!
//! As in `words`, a row is a word of one factor times a block of four words of the other, which
//! stays in registers, and the window holds the sum from the next row's place on.

/// A row without loads: `$word` times the block, added to the window and to `$sum`, which gets the
/// finished word. Afterwards the window starts at its second register and ends with its first.
macro_rules! row {
    ($word:literal $sum:literal; [$a0:literal $($a:literal)+] [$w0:literal $($w:literal)+]) => {
        concat!(
            "umaal ", $sum, ", ", $w0, ", ", $a0, ", ", $word, "\n",
            $("umaal ", $w, ", ", $w0, ", ", $a, ", ", $word, "\n",)+
        )
    };
}

/// A row whose finished word goes to `[sp, #$place]`, and to which nothing else is added.
macro_rules! new_row {
    ($word:literal $sum:literal $place:literal; $a:tt $w:tt) => {
        concat!(
            "mov ", $sum, ", #0\n",
            row!($word $sum; $a $w),
            "str ", $sum, ", [sp, #", $place, "]\n",
        )
    };
}

/// A row to which the word at `[sp, #$from]` is added.
macro_rules! next_row {
    ($word:literal $sum:literal $from:literal $place:literal; $a:tt $w:tt) => {
        concat!(
            "ldr ", $sum, ", [sp, #", $from, "]\n",
            row!($word $sum; $a $w),
            "str ", $sum, ", [sp, #", $place, "]\n",
        )
    };
}

/// The lower four words of the number at r1 times the number at r2: the lowest eight words of the
/// product go to the stack, the next to r8 to r11. Changes r0, r2 to r7, r12 and lr.
macro_rules! lower_rows {
    () => {
        concat!(
            "ldm r1, {{r4-r7}}\n",
            "ldm r2!, {{r0, r3, lr}}\n",
            "umull r12, r8, r4, r0\n",
            "mov r9, #0\n",
            "umaal r9, r8, r5, r0\n",
            "mov r10, #0\n",
            "umaal r10, r8, r6, r0\n",
            "mov r11, #0\n",
            "umaal r11, r8, r7, r0\n",
            "str r12, [sp]\n",
            new_row!("r3" "r12" "4"; ["r4" "r5" "r6" "r7"] ["r9" "r10" "r11" "r8"]),
            new_row!("lr" "r12" "8"; ["r4" "r5" "r6" "r7"] ["r10" "r11" "r8" "r9"]),
            "ldm r2!, {{r0, r3, lr}}\n",
            new_row!("r0" "r12" "12"; ["r4" "r5" "r6" "r7"] ["r11" "r8" "r9" "r10"]),
            new_row!("r3" "r12" "16"; ["r4" "r5" "r6" "r7"] ["r8" "r9" "r10" "r11"]),
            new_row!("lr" "r12" "20"; ["r4" "r5" "r6" "r7"] ["r9" "r10" "r11" "r8"]),
            "ldm r2, {{r0, r3}}\n",
            new_row!("r0" "r12" "24"; ["r4" "r5" "r6" "r7"] ["r10" "r11" "r8" "r9"]),
            new_row!("r3" "r12" "28"; ["r4" "r5" "r6" "r7"] ["r11" "r8" "r9" "r10"]),
        )
    };
}

/// The upper four words of the number whose address is at `[sp, #$a]` times the number whose
/// address is in the word above, plus r4 to r7 and the four words from `[sp, #$p0]` on: the lowest
/// eight words go to the stack from `[sp, #$q0]` on, the next to r4 to r7. Changes r0 to r3, r8 to
/// r12 and lr.
macro_rules! upper_rows {
    ($a:literal $b:literal; [$p0:literal $p1:literal $p2:literal $p3:literal]
        [$q0:literal $q1:literal $q2:literal $q3:literal
         $q4:literal $q5:literal $q6:literal $q7:literal]) => {
        concat!(
            "ldr r12, [sp, #", $a, "]\n",
            "ldr r0, [sp, #", $b, "]\n",
            "ldr r8, [r12, #16]\n",
            "ldr r9, [r12, #20]\n",
            "ldr r10, [r12, #24]\n",
            "ldr r11, [r12, #28]\n",
            "ldm r0!, {{r1, r2, r3, lr}}\n",
            new_row!("r1" "r12" $q0; ["r8" "r9" "r10" "r11"] ["r4" "r5" "r6" "r7"]),
            new_row!("r2" "r12" $q1; ["r8" "r9" "r10" "r11"] ["r5" "r6" "r7" "r4"]),
            new_row!("r3" "r12" $q2; ["r8" "r9" "r10" "r11"] ["r6" "r7" "r4" "r5"]),
            new_row!("lr" "r12" $q3; ["r8" "r9" "r10" "r11"] ["r7" "r4" "r5" "r6"]),
            "ldm r0, {{r1, r2, r3, lr}}\n",
            next_row!("r1" "r12" $p0 $q4; ["r8" "r9" "r10" "r11"] ["r4" "r5" "r6" "r7"]),
            next_row!("r2" "r12" $p1 $q5; ["r8" "r9" "r10" "r11"] ["r5" "r6" "r7" "r4"]),
            next_row!("r3" "r12" $p2 $q6; ["r8" "r9" "r10" "r11"] ["r6" "r7" "r4" "r5"]),
            next_row!("lr" "r12" $p3 $q7; ["r8" "r9" "r10" "r11"] ["r7" "r4" "r5" "r6"]),
        )
    };
}

/// A column of a square, in the register `$sum`: products `a · b`, each added with a carry in its
/// register, which becomes the product's upper word. All of that twice, with the carry flag from
/// column to column, which UMAAL keeps.
macro_rules! column {
    ($double:literal $sum:literal; $($carry:literal $a:literal $b:literal,)*) => {
        concat!(
            $("umaal ", $sum, ", ", $carry, ", ", $a, ", ", $b, "\n",)*
            $double, " ", $sum, ", ", $sum, ", ", $sum, "\n",
        )
    };
}

/// The product of a register with itself, and the carry in lr, added to a column; with the register
/// of zero, only the carry.
macro_rules! diagonal {
    ($sum:literal $a:literal) => {
        concat!("umaal ", $sum, ", lr, ", $a, ", ", $a, "\n")
    };
}

/// The square of the number at r1, column by column: its lower eight words on the stack from
/// `[sp]` on, the upper ones in r11, r12, r10, r2, r9, r3, r8 and lr. Changes all registers but sp.
///
/// The products in a column have a register each for the carry, which is a word of the next column's
/// products. Where a column has fewer than the one before, the carry that is left is its start.
///
/// The number is in r0, r2 to r7, and, from its first use on, r1. Zero is in r11, then in r0.
macro_rules! square {
    () => {
        concat!(
            "ldm r1!, {{r0, r2-r7}}\n",
            "mov r11, #0\n",
            "umull r12, lr, r0, r0\n",
            "str r12, [sp]\n",
            "umull r12, r8, r0, r2\n",
            column!("adds" "r12";),
            diagonal!("r12" "r11"),
            "str r12, [sp, #4]\n",
            "mov r12, #0\n",
            column!("adcs" "r12"; "r8" "r0" "r3",),
            diagonal!("r12" "r2"),
            "str r12, [sp, #8]\n",
            "mov r12, #0\nmov r9, #0\n",
            column!("adcs" "r12"; "r8" "r0" "r4", "r9" "r2" "r3",),
            diagonal!("r12" "r11"),
            "str r12, [sp, #12]\n",
            "mov r12, #0\n",
            column!("adcs" "r12"; "r8" "r0" "r5", "r9" "r2" "r4",),
            diagonal!("r12" "r3"),
            "str r12, [sp, #16]\n",
            "mov r12, #0\nmov r10, #0\n",
            column!("adcs" "r12"; "r8" "r0" "r6", "r9" "r2" "r5", "r10" "r3" "r4",),
            diagonal!("r12" "r11"),
            "str r12, [sp, #20]\n",
            "mov r12, #0\n",
            column!("adcs" "r12"; "r8" "r0" "r7", "r9" "r2" "r6", "r10" "r3" "r5",),
            diagonal!("r12" "r4"),
            "str r12, [sp, #24]\n",
            "ldr r1, [r1]\nmov r12, #0\n",
            column!("adcs" "r12"; "r8" "r0" "r1", "r9" "r2" "r7", "r10" "r3" "r6", "r11" "r4" "r5",),
            "mov r0, #0\n",
            diagonal!("r12" "r0"),
            "str r12, [sp, #28]\n",
            column!("adcs" "r11"; "r8" "r2" "r1", "r9" "r3" "r7", "r10" "r4" "r6",),
            diagonal!("r11" "r5"),
            "mov r12, #0\n",
            column!("adcs" "r12"; "r8" "r3" "r1", "r9" "r4" "r7", "r10" "r5" "r6",),
            diagonal!("r12" "r0"),
            column!("adcs" "r10"; "r8" "r4" "r1", "r9" "r5" "r7",),
            diagonal!("r10" "r6"),
            "mov r2, #0\n",
            column!("adcs" "r2"; "r8" "r5" "r1", "r9" "r6" "r7",),
            diagonal!("r2" "r0"),
            column!("adcs" "r9"; "r8" "r6" "r1",),
            diagonal!("r9" "r7"),
            "mov r3, #0\n",
            column!("adcs" "r3"; "r8" "r7" "r1",),
            diagonal!("r3" "r0"),
            column!("adcs" "r8";),
            diagonal!("r8" "r1"),
            "adc lr, #0\n",
        )
    };
}

/// r8 to r11 and r4 to r7 = the number at r1 plus or minus that at r2, with the carry or borrow in
/// the flag. Changes r1 to r3 and r12.
macro_rules! sum {
    ($first:literal $next:literal) => {
        concat!(
            "ldm r1!, {{r8-r11}}\n",
            "ldm r2!, {{r3-r6}}\n",
            $first,
            " r8, r3\n",
            $next,
            " r9, r4\n",
            $next,
            " r10, r5\n",
            $next,
            " r11, r6\n",
            "ldm r1, {{r4-r7}}\n",
            "ldm r2, {{r1, r2, r3, r12}}\n",
            $next,
            " r4, r1\n",
            $next,
            " r5, r2\n",
            $next,
            " r6, r3\n",
            $next,
            " r7, r12\n",
        )
    };
}

/// A function of the usual interface around one that changes all registers but sp.
macro_rules! around {
    ($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),+) = $inner:ident) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name($($argument: $type),+) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "bl {inner}",
                "pop {{r4-r11, pc}}",
                inner = sym $inner,
            )
        }
    };
}

/// `$register` = the address of an operand: bytes from sp (`[t 32]`), or from the address that is
/// at a place on the stack (`[at 160 + 32]`).
macro_rules! operand {
    ($register:literal [t $place:literal]) => {
        concat!("add ", $register, ", sp, #", $place, "\n")
    };
    ($register:literal [at $pointer:literal]) => {
        concat!("ldr ", $register, ", [sp, #", $pointer, "]\n")
    };
    ($register:literal [at $pointer:literal + $place:literal]) => {
        concat!(operand!($register [at $pointer]), "add ", $register, ", #", $place, "\n")
    };
}

/// Calls a function with the addresses of its result and of an operand.
macro_rules! call_square {
    ($out:tt = $a:tt) => {
        concat!(operand!("r0" $out), operand!("r1" $a), "bl {square}\n")
    };
}

/// Calls a function with the addresses of its result and of two operands.
macro_rules! call {
    ($function:literal $out:tt = $a:tt, $b:tt) => {
        concat!(
            operand!("r0" $out), operand!("r1" $a), operand!("r2" $b),
            "bl {", $function, "}\n",
        )
    };
}
