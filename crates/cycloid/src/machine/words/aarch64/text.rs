//! Parts of the kernels' text.
//!
//! A *row* is a limb of one factor times a block of limbs of the other, which stays in registers.
//! Between rows, the registers of the *window* hold the sum from the next row's place on. MUL and
//! UMULH keep the flags, so a row has two carry chains, one after the other: the low halves of its
//! products, which move the window down by one register, and the high halves.

/// Saves pairs of callee-saved registers at their places in `$bytes` of stack.
macro_rules! enter {
    ($bytes:literal $($first:literal $second:literal $place:literal)*) => {
        concat!(
            ".cfi_startproc\n",
            "sub sp, sp, #", $bytes, "\n.cfi_adjust_cfa_offset ", $bytes, "\n",
            $(
                "stp ", $first, ", ", $second, ", [sp, #", $place, "]\n",
                ".cfi_rel_offset ", $first, ", ", $place, "\n",
                ".cfi_rel_offset ", $second, ", ", $place, " + 8\n",
            )*
        )
    };
}

/// Restores the registers that [`enter`] has saved, and returns.
macro_rules! leave {
    ($bytes:literal $($first:literal $second:literal $place:literal)*) => {
        concat!(
            $(
                "ldp ", $first, ", ", $second, ", [sp, #", $place, "]\n",
                ".cfi_restore ", $first, "\n.cfi_restore ", $second, "\n",
            )*
            "add sp, sp, #", $bytes, "\n.cfi_adjust_cfa_offset -", $bytes, "\n",
            "ret\n.cfi_endproc\n",
        )
    };
}

/// `registers = [memory]`, from the byte `16 · $pair` on.
macro_rules! load {
    ($memory:literal [$($rest:literal)*]) => { "" };
    ($memory:literal [$pair:literal $($pairs:literal)*] $r0:literal $r1:literal $($r:literal)*) => {
        concat!(
            "ldp ", $r0, ", ", $r1, ", [", $memory, ", #16*", $pair, "]\n",
            load!($memory [$($pairs)*] $($r)*),
        )
    };
    ($memory:literal [$pair:literal $($pairs:literal)*] $r0:literal) => {
        concat!("ldr ", $r0, ", [", $memory, ", #16*", $pair, "]\n")
    };
}

/// `[memory] = registers`, from the byte `16 · $pair` on.
macro_rules! store {
    ($memory:literal [$($rest:literal)*]) => { "" };
    ($memory:literal [$pair:literal $($pairs:literal)*] $r0:literal $r1:literal $($r:literal)*) => {
        concat!(
            "stp ", $r0, ", ", $r1, ", [", $memory, ", #16*", $pair, "]\n",
            store!($memory [$($pairs)*] $($r)*),
        )
    };
    ($memory:literal [$pair:literal $($pairs:literal)*] $r0:literal) => {
        concat!("str ", $r0, ", [", $memory, ", #16*", $pair, "]\n")
    };
}

/// A row: `$by` times the block `$a`, added to the window `$w` and to `$sum`, which gets the
/// finished limb; the window moves down by one place. At most (B^n − 1)·(B − 1) + (B^n − 1) +
/// (B − 1) = B^(n + 1) − 1, so it does not overflow. Needs `$t` and `$u`.
macro_rules! row {
    ($by:literal $sum:literal; $t:literal $u:literal; [$a0:literal $($a:literal)*]
        [$w0:literal $($w:literal)*]) => {
        concat!(
            "mul ", $t, ", ", $a0, ", ", $by, "\n",
            "adds ", $u, ", ", $w0, ", ", $t, "\n",
            low_halves!($by $t; [$($a)*] [$w0 $($w)*] [$($w)*]),
            "umulh ", $t, ", ", $a0, ", ", $by, "\n",
            "adds ", $sum, ", ", $sum, ", ", $u, "\n",
            high_halves!($by $t; [$a0 $($a)*] [$w0 $($w)*]),
        )
    };
}

/// The low halves of a row from its second product on, with a carry: `$d` gets `$s`, the register
/// above, and the product; the last one the carry.
macro_rules! low_halves {
    ($by:literal $t:literal; [] [$last:literal] []) => {
        concat!("adc ", $last, ", xzr, xzr\n")
    };
    ($by:literal $t:literal; [$a:literal $($as:literal)*] [$d:literal $($ds:literal)*]
        [$s:literal $($ss:literal)*]) => {
        concat!(
            "mul ", $t, ", ", $a, ", ", $by, "\n",
            "adcs ", $d, ", ", $s, ", ", $t, "\n",
            low_halves!($by $t; [$($as)*] [$($ds)*] [$($ss)*]),
        )
    };
}

/// The high halves of a row, with a carry; the first one is in `$t` already.
macro_rules! high_halves {
    ($by:literal $t:literal; [$a0:literal] [$w0:literal]) => {
        concat!("adc ", $w0, ", ", $w0, ", ", $t, "\n")
    };
    ($by:literal $t:literal; [$a0:literal $a1:literal $($a:literal)*]
        [$w0:literal $($w:literal)+]) => {
        concat!(
            "adcs ", $w0, ", ", $w0, ", ", $t, "\n",
            "umulh ", $t, ", ", $a1, ", ", $by, "\n",
            high_halves!($by $t; [$a1 $($a)*] [$($w)+]),
        )
    };
}

/// A row of a reduction: `$q`, the limb that makes the window's lowest limb zero, times the
/// modulus' lowest limbs `$m`. Writes `$q` to `[$to]`, which it advances.
macro_rules! quotient_row {
    ($q:literal $n0:literal $to:literal; $t:literal; [$m0:literal $($m:literal)*]
        [$w0:literal $($w:literal)*]) => {
        concat!(
            "mul ", $q, ", ", $w0, ", ", $n0, "\n",
            // The low halves add up to zero, with a carry unless both are zero.
            "subs xzr, ", $w0, ", #1\n",
            "str ", $q, ", [", $to, "], #8\n",
            low_halves!($q $t; [$($m)*] [$w0 $($w)*] [$($w)*]),
            "umulh ", $t, ", ", $m0, ", ", $q, "\n",
            "adds ", $w0, ", ", $w0, ", ", $t, "\n",
            quotient_row!(@high $q $t; [$($m)*] [$($w)*]),
        )
    };
    // The carry of a single limb is 0: q·m + w ≤ (B − 1)² + B − 1.
    (@high $q:literal $t:literal; [] []) => { "" };
    (@high $q:literal $t:literal; [$m0:literal $($m:literal)*] $w:tt) => {
        concat!(
            "umulh ", $t, ", ", $m0, ", ", $q, "\n",
            high_halves!($q $t; [$m0 $($m)*] $w),
        )
    };
}

/// As many rows as `$count` says, at least one: limbs at `[$from]` times the block, added to the
/// window and to the limbs at `[$to]`. Both addresses advance.
macro_rules! rows {
    ($count:literal; $from:literal $to:literal; $b0:literal $b1:literal $s0:literal $s1:literal;
        $t:literal $u:literal; $a:tt $w:tt) => {
        concat!(
            "tbz ", $count, ", #0, 32f\n",
            "ldr ", $b0, ", [", $from, "], #8\n",
            "ldr ", $s0, ", [", $to, "]\n",
            row!($b0 $s0; $t $u; $a $w),
            "str ", $s0, ", [", $to, "], #8\n",
            "32:\n",
            "lsr ", $count, ", ", $count, ", #1\n",
            "cbz ", $count, ", 34f\n",
            "33:\n",
            "ldp ", $b0, ", ", $b1, ", [", $from, "], #16\n",
            "ldp ", $s0, ", ", $s1, ", [", $to, "]\n",
            row!($b0 $s0; $t $u; $a $w),
            row!($b1 $s1; $t $u; $a $w),
            "sub ", $count, ", ", $count, ", #1\n",
            "stp ", $s0, ", ", $s1, ", [", $to, "], #16\n",
            "cbnz ", $count, ", 33b\n",
            "34:\n",
        )
    };
}
