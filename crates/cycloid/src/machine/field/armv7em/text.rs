//! Parts of the kernels' text: products of two numbers of eight words.
//!
//! As in `words`, a row is a word of one factor times a block of four words of the other, which
//! stays in registers, and the window holds the sum from the next row's place on.
//!
//! A store of one word takes one cycle, and a load after a load, too: as many as the same word of a
//! store or load of several, which take one more.

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

/// A row to which nothing else is added. Its finished word stays in `$sum`, or goes to
/// `[sp, #$place]`.
macro_rules! new_row {
    ($word:literal $sum:literal; $a:tt $w:tt) => {
        concat!("mov ", $sum, ", #0\n", row!($word $sum; $a $w))
    };
    ($word:literal $sum:literal $place:literal; $a:tt $w:tt) => {
        concat!(new_row!($word $sum; $a $w), "str ", $sum, ", [sp, #", $place, "]\n")
    };
}

/// A row to which the word at `[sp, #$from]` is added. Its finished word stays in `$sum`.
macro_rules! next_row {
    ($word:literal $sum:literal $from:literal; $a:tt $w:tt) => {
        concat!("ldr ", $sum, ", [sp, #", $from, "]\n", row!($word $sum; $a $w))
    };
}

/// The lower four words of the number at r1 times the number at r2: the lowest six words of the
/// product go to the stack, the next to r12 and lr, the next to r8 to r11. Adds 16 to r1 and 24 to
/// r2. Changes r0 and r3 to r7.
macro_rules! lower_rows {
    () => {
        concat!(
            "ldm r1!, {{r4-r7}}\n",
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
            new_row!("r0" "r12"; ["r4" "r5" "r6" "r7"] ["r10" "r11" "r8" "r9"]),
            new_row!("r3" "lr"; ["r4" "r5" "r6" "r7"] ["r11" "r8" "r9" "r10"]),
        )
    };
}

/// The four words in r8 to r11 times the number at r2, plus the window `$w` and the four words from
/// `[sp, #$p0]` on. The lowest three words go to the places `$q0` to `$q2` of the stack, the next
/// stays in `$sum`, the next four are in r2 and the first three registers of `$b`, and the highest
/// four in the window. `$b` is in ascending order.
macro_rules! upper_rows {
    ([$b0:literal $b1:literal $b2:literal $b3:literal]
        [$w0:literal $w1:literal $w2:literal $w3:literal] $sum:literal;
        [$p0:literal $p1:literal $p2:literal $p3:literal]
        [$q0:literal $q1:literal $q2:literal]) => {
        concat!(
            "ldm r2!, {{", $b0, ", ", $b1, ", ", $b2, ", ", $b3, "}}\n",
            new_row!($b0 $sum $q0; ["r8" "r9" "r10" "r11"] [$w0 $w1 $w2 $w3]),
            new_row!($b1 $sum $q1; ["r8" "r9" "r10" "r11"] [$w1 $w2 $w3 $w0]),
            new_row!($b2 $sum $q2; ["r8" "r9" "r10" "r11"] [$w2 $w3 $w0 $w1]),
            new_row!($b3 $sum; ["r8" "r9" "r10" "r11"] [$w3 $w0 $w1 $w2]),
            "ldm r2, {{", $b0, ", ", $b1, ", ", $b2, ", ", $b3, "}}\n",
            next_row!($b0 "r2" $p0; ["r8" "r9" "r10" "r11"] [$w0 $w1 $w2 $w3]),
            next_row!($b1 $b0 $p1; ["r8" "r9" "r10" "r11"] [$w1 $w2 $w3 $w0]),
            next_row!($b2 $b1 $p2; ["r8" "r9" "r10" "r11"] [$w2 $w3 $w0 $w1]),
            next_row!($b3 $b2 $p3; ["r8" "r9" "r10" "r11"] [$w3 $w0 $w1 $w2]),
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

/// The square of a number, column by column: its lower eight words on the stack from
/// `[sp]` on, the upper ones in r11, r12, r10, r2, r9, r3, r8 and lr. Changes all registers but sp.
///
/// The products in a column have a register each for the carry, which is a word of the next column's
/// products. Where a column has fewer than the one before, the carry that is left is its start.
///
/// The number is in r0, r2 to r7, and, from its first use on, r1: until then r1 is the address of
/// its last word. Zero is in r11, then in r0.
macro_rules! square {
    () => {
        concat!(
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

/// r4 to r7 and r8 to r11 = the number at r1 plus or minus that at r2, with the carry or borrow in
/// the flag. Changes r1 to r3 and r12.
macro_rules! sum {
    ($first:literal $next:literal) => {
        concat!(
            load!("r1" "0"; "r4" "r5" "r6" "r7"),
            load!("r2" "0"; "r8" "r9" "r10" "r11"),
            $first, " r4, r8\n", $next, " r5, r9\n", $next, " r6, r10\n", $next, " r7, r11\n",
            load!("r1" "16"; "r8" "r9" "r10" "r11"),
            load!("r2" "16"; "r1" "r3" "r12" "r2"),
            $next, " r8, r1\n", $next, " r9, r3\n", $next, " r10, r12\n", $next, " r11, r2\n",
        )
    };
}

/// Registers = the words from `[$from, #$place]` on, each by an instruction of its own.
macro_rules! load {
    ($from:literal $place:literal; $($w:literal)+) => {
        each_word!("ldr " $from $place []; $($w)+)
    };
}

/// The words from `[$to, #$place]` on = registers, each by an instruction of its own.
macro_rules! store {
    ($to:literal $place:literal; $($w:literal)+) => {
        each_word!("str " $to $place []; $($w)+)
    };
}

/// An instruction for each register, with the addresses of words one after the other.
macro_rules! each_word {
    ($instruction:literal $base:literal $place:literal [$($more:literal)*];) => { "" };
    ($instruction:literal $base:literal $place:literal [$($more:literal)*];
        $w0:literal $($w:literal)*) => {
        concat!(
            $instruction, $w0, ", [", $base, ", #", $place, $($more,)* "]\n",
            each_word!($instruction $base $place [$($more)* "+4"]; $($w)*),
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
macro_rules! call_one {
    ($function:literal $out:tt = $a:tt) => {
        concat!(operand!("r0" $out), operand!("r1" $a), "bl {", $function, "}\n")
    };
}

/// Calls the square with the addresses of its result and of an operand.
macro_rules! call_square {
    ($out:tt = $a:tt) => {
        call_one!("square" $out = $a)
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
