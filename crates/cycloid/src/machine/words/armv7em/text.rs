//! Parts of the kernels' text.
//!
//! A *row* is a word of one factor times a block of words of the other, which stays in registers.
//! Between rows, the registers of the *window* hold the sum from the next row's place on.

/// A row: the word at `[$from]` times the block, added to the window and to the word at `[$to]`,
/// which gets the finished word. At most (B − 1)² + 2·(B − 1) = B² − 1 in each step, so none
/// overflows. Afterwards the window starts at its second register and ends with its first.
macro_rules! row {
    ($from:literal $to:literal $place:literal; $word:literal $sum:literal;
        [$a0:literal $($a:literal)+] [$w0:literal $($w:literal)+]) => {
        concat!(
            "ldr ", $word, ", [", $from, ", #", $place, "]\n",
            "ldr ", $sum, ", [", $to, ", #", $place, "]\n",
            "umaal ", $sum, ", ", $w0, ", ", $a0, ", ", $word, "\n",
            $("umaal ", $w, ", ", $w0, ", ", $a, ", ", $word, "\n",)+
            "str ", $sum, ", [", $to, ", #", $place, "]\n",
        )
    };
}

/// Two rows of a block of four, and the window back in the order of its registers.
macro_rules! two_rows {
    ($from:literal $to:literal; $word:literal $sum:literal; $a:tt
        [$w0:literal $w1:literal $w2:literal $w3:literal]) => {
        concat!(
            row!($from $to "0"; $word $sum; $a [$w0 $w1 $w2 $w3]),
            row!($from $to "4"; $word $sum; $a [$w1 $w2 $w3 $w0]),
            "adds ", $from, ", #8\n",
            "adds ", $to, ", #8\n",
            "mov ", $word, ", ", $w0, "\n", "mov ", $w0, ", ", $w2, "\n",
            "mov ", $w2, ", ", $word, "\n",
            "mov ", $word, ", ", $w1, "\n", "mov ", $w1, ", ", $w3, "\n",
            "mov ", $w3, ", ", $word, "\n",
        )
    };
}

/// Four rows of a block of four at an offset, after which the window is where it was.
macro_rules! four_rows_at {
    ([$p0:literal $p1:literal $p2:literal $p3:literal] $from:literal $to:literal;
        $word:literal $sum:literal; $a:tt [$w0:literal $w1:literal $w2:literal $w3:literal]) => {
        concat!(
            row!($from $to $p0; $word $sum; $a [$w0 $w1 $w2 $w3]),
            row!($from $to $p1; $word $sum; $a [$w1 $w2 $w3 $w0]),
            row!($from $to $p2; $word $sum; $a [$w2 $w3 $w0 $w1]),
            row!($from $to $p3; $word $sum; $a [$w3 $w0 $w1 $w2]),
        )
    };
}

/// As many rows as `$count` says, a multiple of four, possibly none.
#[cfg(not(feature = "small"))]
macro_rules! rows {
    ($count:literal; $from:literal $to:literal; $word:literal $sum:literal; $a:tt $w:tt) => {
        concat!(
            "tst ", $count, ", #4\n",
            "beq 40f\n",
            four_rows_at!(["0" "4" "8" "12"] $from $to; $word $sum; $a $w),
            "adds ", $from, ", #16\n",
            "adds ", $to, ", #16\n",
            "40:\n",
            "lsrs ", $count, ", ", $count, ", #3\n",
            "beq 42f\n",
            "41:\n",
            four_rows_at!(["0" "4" "8" "12"] $from $to; $word $sum; $a $w),
            four_rows_at!(["16" "20" "24" "28"] $from $to; $word $sum; $a $w),
            "adds ", $from, ", #32\n",
            "adds ", $to, ", #32\n",
            "subs ", $count, ", #1\n",
            "bne 41b\n",
            "42:\n",
        )
    };
}

/// The same, with the shortest code.
#[cfg(feature = "small")]
macro_rules! rows {
    ($count:literal; $from:literal $to:literal; $word:literal $sum:literal; $a:tt $w:tt) => {
        concat!(
            "lsrs ", $count, ", ", $count, ", #2\n",
            "beq 42f\n",
            "41:\n",
            four_rows_at!(["0" "4" "8" "12"] $from $to; $word $sum; $a $w),
            "adds ", $from, ", #16\n",
            "adds ", $to, ", #16\n",
            "subs ", $count, ", #1\n",
            "bne 41b\n",
            "42:\n",
        )
    };
}

/// Four words `$w` twice, with the carry flag, plus the squares of two words, with the carry in
/// r12; lr is zero. UMAAL keeps the flags.
macro_rules! square_two {
    ($a0:literal $a1:literal; $w0:literal $w1:literal $w2:literal $w3:literal) => {
        concat!(
            "adcs ",
            $w0,
            ", ",
            $w0,
            ", ",
            $w0,
            "\n",
            "adcs ",
            $w1,
            ", ",
            $w1,
            ", ",
            $w1,
            "\n",
            "adcs ",
            $w2,
            ", ",
            $w2,
            ", ",
            $w2,
            "\n",
            "adcs ",
            $w3,
            ", ",
            $w3,
            ", ",
            $w3,
            "\n",
            "umaal ",
            $w0,
            ", r12, ",
            $a0,
            ", ",
            $a0,
            "\n",
            "umaal ",
            $w1,
            ", r12, lr, lr\n",
            "umaal ",
            $w2,
            ", r12, ",
            $a1,
            ", ",
            $a1,
            "\n",
            "umaal ",
            $w3,
            ", r12, lr, lr\n",
        )
    };
}

/// A quotient word `$q` = `$t`·n0 for n0 in lr, and `$t` and the three words above it plus `$q`
/// times the modulus in r8 to r11: `$t` becomes zero, and `$carry`, which is zero, the next word.
macro_rules! quotient {
    ($q:literal $t:literal $carry:literal; $t1:literal $t2:literal $t3:literal) => {
        concat!(
            "mul ", $q, ", ", $t, ", lr\n", "umaal ", $t, ", ", $carry, ", ", $q, ", r8\n",
            "umaal ", $t1, ", ", $carry, ", ", $q, ", r9\n", "umaal ", $t2, ", ", $carry, ", ", $q,
            ", r10\n", "umaal ", $t3, ", ", $carry, ", ", $q, ", r11\n",
        )
    };
}
