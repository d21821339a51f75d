//! The assembly text shared by the kernels, as macros that expand to string literals.
//!
//! A number in registers is a list of their names in order of significance. MUL and UMULH keep the
//! flags, so a row has two carry chains, one after the other: the low halves of its products, and
//! the high halves.

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

/// `registers = [memory]`, from the byte `$place` on: two or four or six limbs.
macro_rules! load {
    ($memory:literal $place:literal;) => { "" };
    ($memory:literal $place:literal; $r0:literal $r1:literal $($r:literal)*) => {
        concat!(
            "ldp ", $r0, ", ", $r1, ", [", $memory, ", #", $place, "]\n",
            load!(@ $memory $place " + 16"; $($r)*),
        )
    };
    (@ $memory:literal $place:literal $more:literal;) => { "" };
    (@ $memory:literal $place:literal $more:literal; $r0:literal $r1:literal $($r:literal)*) => {
        concat!(
            "ldp ", $r0, ", ", $r1, ", [", $memory, ", #", $place, $more, "]\n",
            load!(@@ $memory $place " + 32"; $($r)*),
        )
    };
    (@@ $memory:literal $place:literal $more:literal;) => { "" };
    (@@ $memory:literal $place:literal $more:literal; $r0:literal $r1:literal) => {
        concat!("ldp ", $r0, ", ", $r1, ", [", $memory, ", #", $place, $more, "]\n")
    };
}

/// `[memory] = registers`, from the byte `$place` on: two or four or six limbs.
macro_rules! store {
    ($memory:literal $place:literal;) => { "" };
    ($memory:literal $place:literal; $r0:literal $r1:literal $($r:literal)*) => {
        concat!(
            "stp ", $r0, ", ", $r1, ", [", $memory, ", #", $place, "]\n",
            store!(@ $memory $place " + 16"; $($r)*),
        )
    };
    (@ $memory:literal $place:literal $more:literal;) => { "" };
    (@ $memory:literal $place:literal $more:literal; $r0:literal $r1:literal $($r:literal)*) => {
        concat!(
            "stp ", $r0, ", ", $r1, ", [", $memory, ", #", $place, $more, "]\n",
            store!(@@ $memory $place " + 32"; $($r)*),
        )
    };
    (@@ $memory:literal $place:literal $more:literal;) => { "" };
    (@@ $memory:literal $place:literal $more:literal; $r0:literal $r1:literal) => {
        concat!("stp ", $r0, ", ", $r1, ", [", $memory, ", #", $place, $more, "]\n")
    };
}

/// `$w = $a · $by`: one limb more than `$a` has, all of them fresh. Needs `$t`.
macro_rules! first_row {
    ($by:literal $t:literal; [$a0:literal $($a:literal)+] $w0:literal $w1:literal $($w:literal)+) => {
        concat!(
            "mul ", $w0, ", ", $a0, ", ", $by, "\numulh ", $w1, ", ", $a0, ", ", $by, "\n",
            first_row!(@"adds" $by $t; [$($a)+] $w1 $($w)+),
        )
    };
    (@$adds:literal $by:literal $t:literal; [] $top:literal) => {
        concat!("adc ", $top, ", ", $top, ", xzr\n")
    };
    (
        @$adds:literal $by:literal $t:literal; [$a0:literal $($a:literal)*]
        $w0:literal $w1:literal $($w:literal)*
    ) => {
        concat!(
            "mul ", $t, ", ", $a0, ", ", $by, "\numulh ", $w1, ", ", $a0, ", ", $by, "\n",
            $adds, " ", $w0, ", ", $w0, ", ", $t, "\n",
            first_row!(@"adcs" $by $t; [$($a)*] $w1 $($w)*),
        )
    };
}

/// `$w += $a · $by`: one limb more than `$a` has. The top limb is `fresh`, or `used` and small
/// enough that it does not overflow. Needs `$t`.
macro_rules! row {
    ($kind:ident $by:literal $t:literal; [$a0:literal $($a:literal)+] $w0:literal $($w:literal)+) => {
        concat!(
            "mul ", $t, ", ", $a0, ", ", $by, "\n",
            "adds ", $w0, ", ", $w0, ", ", $t, "\n",
            row!(@low $kind $by $t; [$($a)+] $($w)+),
            "umulh ", $t, ", ", $a0, ", ", $by, "\n",
            row!(@high "adds" $by $t; [$($a)+] $($w)+),
        )
    };
    (@low fresh $by:literal $t:literal; [] $top:literal) => {
        concat!("adc ", $top, ", xzr, xzr\n")
    };
    (@low used $by:literal $t:literal; [] $top:literal) => {
        concat!("adc ", $top, ", ", $top, ", xzr\n")
    };
    (
        @low $kind:ident $by:literal $t:literal; [$a0:literal $($a:literal)*]
        $w0:literal $($w:literal)+
    ) => {
        concat!(
            "mul ", $t, ", ", $a0, ", ", $by, "\n",
            "adcs ", $w0, ", ", $w0, ", ", $t, "\n",
            row!(@low $kind $by $t; [$($a)*] $($w)+),
        )
    };
    (@high $adds:literal $by:literal $t:literal; [] $top:literal) => {
        concat!("adc ", $top, ", ", $top, ", ", $t, "\n")
    };
    (
        @high $adds:literal $by:literal $t:literal; [$a0:literal $($a:literal)*]
        $w0:literal $($w:literal)+
    ) => {
        concat!(
            $adds, " ", $w0, ", ", $w0, ", ", $t, "\n",
            "umulh ", $t, ", ", $a0, ", ", $by, "\n",
            row!(@high "adcs" $by $t; [$($a)*] $($w)+),
        )
    };
}

/// The eight limbs of a square from the four in `$a`, all of them fresh and none of them `$a`.
///
/// First the products of different limbs, each once. They sum to less than 2⁵¹¹, so twice their sum
/// plus the squares needs no ninth limb. Needs `$t`.
#[rustfmt::skip]
macro_rules! square_4 {
    (
        $a0:literal $a1:literal $a2:literal $a3:literal; $t:literal;
        $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal $w6:literal $w7:literal
    ) => {
        concat!(
            "mul ", $w1, ", ", $a0, ", ", $a1, "\numulh ", $w2, ", ", $a0, ", ", $a1, "\n",
            "mul ", $t, ", ", $a0, ", ", $a2, "\numulh ", $w3, ", ", $a0, ", ", $a2, "\n",
            "adds ", $w2, ", ", $w2, ", ", $t, "\n",
            "mul ", $t, ", ", $a0, ", ", $a3, "\numulh ", $w4, ", ", $a0, ", ", $a3, "\n",
            "adcs ", $w3, ", ", $w3, ", ", $t, "\n",
            "mul ", $w5, ", ", $a2, ", ", $a3, "\numulh ", $w6, ", ", $a2, ", ", $a3, "\n",
            "adc ", $w4, ", ", $w4, ", xzr\n",
            "mul ", $t, ", ", $a1, ", ", $a2, "\n",
            "adds ", $w3, ", ", $w3, ", ", $t, "\n",
            "mul ", $t, ", ", $a1, ", ", $a3, "\n",
            "adcs ", $w4, ", ", $w4, ", ", $t, "\n",
            "umulh ", $t, ", ", $a1, ", ", $a3, "\n",
            "adcs ", $w5, ", ", $w5, ", ", $t, "\n",
            "adc ", $w6, ", ", $w6, ", xzr\n",
            "umulh ", $t, ", ", $a1, ", ", $a2, "\n",
            "adds ", $w4, ", ", $w4, ", ", $t, "\n",
            "adcs ", $w5, ", ", $w5, ", xzr\n",
            "adc ", $w6, ", ", $w6, ", xzr\n",
            "adds ", $w1, ", ", $w1, ", ", $w1, "\n",
            "adcs ", $w2, ", ", $w2, ", ", $w2, "\n",
            "adcs ", $w3, ", ", $w3, ", ", $w3, "\n",
            "adcs ", $w4, ", ", $w4, ", ", $w4, "\n",
            "adcs ", $w5, ", ", $w5, ", ", $w5, "\n",
            "adcs ", $w6, ", ", $w6, ", ", $w6, "\n",
            "adc ", $w7, ", xzr, xzr\n",
            "mul ", $w0, ", ", $a0, ", ", $a0, "\n",
            "umulh ", $t, ", ", $a0, ", ", $a0, "\nadds ", $w1, ", ", $w1, ", ", $t, "\n",
            "mul ", $t, ", ", $a1, ", ", $a1, "\nadcs ", $w2, ", ", $w2, ", ", $t, "\n",
            "umulh ", $t, ", ", $a1, ", ", $a1, "\nadcs ", $w3, ", ", $w3, ", ", $t, "\n",
            "mul ", $t, ", ", $a2, ", ", $a2, "\nadcs ", $w4, ", ", $w4, ", ", $t, "\n",
            "umulh ", $t, ", ", $a2, ", ", $a2, "\nadcs ", $w5, ", ", $w5, ", ", $t, "\n",
            "mul ", $t, ", ", $a3, ", ", $a3, "\nadcs ", $w6, ", ", $w6, ", ", $t, "\n",
            "umulh ", $t, ", ", $a3, ", ", $a3, "\nadc ", $w7, ", ", $w7, ", ", $t, "\n",
        )
    };
}

/// `$even` and `$odd` += `$a`², with a carry from the limbs below and to those above. Needs `$t`.
#[rustfmt::skip]
macro_rules! add_square {
    ($a:literal $t:literal; $even:literal $odd:literal) => {
        concat!(
            "mul ", $t, ", ", $a, ", ", $a, "\nadcs ", $even, ", ", $even, ", ", $t, "\n",
            "umulh ", $t, ", ", $a, ", ", $a, "\nadcs ", $odd, ", ", $odd, ", ", $t, "\n",
        )
    };
}

/// The twelve limbs of a square from the six in `$a`, all of them fresh and none of them `$a`.
///
/// First the products of different limbs, each once, from the second place on. They sum to less
/// than 2⁷⁶⁷, so twice their sum plus the squares needs no thirteenth limb. Needs `$t`.
#[rustfmt::skip]
macro_rules! square_6 {
    (
        $a0:literal $a1:literal $a2:literal $a3:literal $a4:literal $a5:literal; $t:literal;
        $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal
        $w6:literal $w7:literal $w8:literal $w9:literal $w10:literal $w11:literal
    ) => {
        concat!(
            first_row!($a0 $t; [$a1 $a2 $a3 $a4 $a5] $w1 $w2 $w3 $w4 $w5 $w6),
            row!(fresh $a1 $t; [$a2 $a3 $a4 $a5] $w3 $w4 $w5 $w6 $w7),
            row!(fresh $a2 $t; [$a3 $a4 $a5] $w5 $w6 $w7 $w8),
            row!(fresh $a3 $t; [$a4 $a5] $w7 $w8 $w9),
            "mul ", $t, ", ", $a4, ", ", $a5, "\numulh ", $w10, ", ", $a4, ", ", $a5, "\n",
            "adds ", $w9, ", ", $w9, ", ", $t, "\nadc ", $w10, ", ", $w10, ", xzr\n",
            chain!("adds" "adcs"; [$w1 $w2 $w3 $w4 $w5 $w6 $w7 $w8 $w9 $w10]
                [$w1 $w2 $w3 $w4 $w5 $w6 $w7 $w8 $w9 $w10]
                [$w1 $w2 $w3 $w4 $w5 $w6 $w7 $w8 $w9 $w10]),
            "adc ", $w11, ", xzr, xzr\n",
            "mul ", $w0, ", ", $a0, ", ", $a0, "\n",
            "umulh ", $t, ", ", $a0, ", ", $a0, "\nadds ", $w1, ", ", $w1, ", ", $t, "\n",
            add_square!($a1 $t; $w2 $w3),
            add_square!($a2 $t; $w4 $w5),
            add_square!($a3 $t; $w6 $w7),
            add_square!($a4 $t; $w8 $w9),
            add_square!($a5 $t; $w10 $w11),
        )
    };
}

/// `$d` = `$a`, combined with `$b` limb by limb, by `$first` for the lowest limb and by `$next` for
/// the others.
macro_rules! chain {
    (
        $first:literal $next:literal; [$d0:literal $($d:literal)+]
        [$a0:literal $($a:literal)+] [$b0:literal $($b:literal)+]
    ) => {
        concat!(
            $first, " ", $d0, ", ", $a0, ", ", $b0, "\n",
            $($next, " ", $d, ", ", $a, ", ", $b, "\n",)+
        )
    };
}

/// `$d` = `$a` if the condition `$if` holds, `$b` otherwise, limb by limb.
macro_rules! select_limbs {
    ($if:literal; [$($d:literal)+] [$($a:literal)+] [$($b:literal)+]) => {
        concat!($("csel ", $d, ", ", $a, ", ", $b, ", ", $if, "\n",)+)
    };
}

/// `$d` = `$a` if the condition `$if` holds, 0 otherwise, limb by limb.
macro_rules! keep_if {
    ($if:literal; [$($d:literal)+] [$($a:literal)+]) => {
        concat!($("csel ", $d, ", ", $a, ", xzr, ", $if, "\n",)+)
    };
}

/// `$d` = `$a`, limb by limb.
macro_rules! copy {
    ([$($d:literal)+] [$($a:literal)+]) => {
        concat!($("mov ", $d, ", ", $a, "\n",)+)
    };
}
