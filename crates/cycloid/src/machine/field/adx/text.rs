//! The assembly text shared by the kernels, as macros that expand to string literals.
//!
//! A number in registers is a list of their names in order of significance. `rdi` is the address of
//! the result, `rsi` of the first factor, `rcx` of the second; `rdx` is the multiplier of MULX,
//! `rax` and `rbx` hold one product, `rbp` is zero. The low halves of a row's products are added
//! with the carry flag and the high halves with the overflow flag, two independent chains.

/// Saves the named registers.
macro_rules! enter {
    ($($register:literal)+) => {
        concat!(".cfi_startproc\n", $(
            "push ", $register, "\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset ", $register, ", 0\n",
        )+)
    };
}

/// Restores the register that was saved last.
macro_rules! restore {
    ($register:literal) => {
        concat!("pop ", $register, "\n.cfi_adjust_cfa_offset -8\n.cfi_restore ", $register, "\n")
    };
}

/// Reserves `$bytes` of stack.
macro_rules! reserve {
    ($bytes:literal) => {
        concat!("sub rsp, ", $bytes, "\n.cfi_adjust_cfa_offset ", $bytes, "\n")
    };
}

/// Releases `$bytes` of stack.
macro_rules! release {
    ($bytes:literal) => {
        concat!("add rsp, ", $bytes, "\n.cfi_adjust_cfa_offset -", $bytes, "\n")
    };
}

/// Restores the named callee-saved registers, the last saved one first, and returns.
macro_rules! leave {
    ($($register:literal)+) => { concat!($(restore!($register),)+ "ret\n.cfi_endproc\n") };
}

/// `limbs = [memory]` for the positions `$j`.
macro_rules! load {
    ($memory:literal [$($j:literal)+] $($limb:literal)+) => {
        concat!($("mov ", $limb, ", [", $memory, " + 8*", $j, "]\n",)+)
    };
}

/// `[memory] = limbs` for the positions `$j`.
macro_rules! store {
    ($memory:literal [$($j:literal)+] $($limb:literal)+) => {
        concat!($("mov [", $memory, " + 8*", $j, "], ", $limb, "\n",)+)
    };
}

/// `$to = $from`, all of them registers.
macro_rules! load_registers {
    ($($to:literal)+ = $($from:literal)+) => { concat!($("mov ", $to, ", ", $from, "\n",)+) };
}

/// `limbs = [rsi] · $by` for the positions `$j` of `[rsi]`: one limb more than positions, all of
/// them fresh. Zeroes `rbp`.
///
/// It has one carry chain, but uses ADCX like the following rows, which are slower after a chain of
/// ADC.
macro_rules! first_row {
    ($by:literal; [$j:literal $($js:literal)+] $low:literal $high:literal $($rest:literal)+) => {
        concat!(
            "mov rdx, ", $by, "\n",
            "xor ebp, ebp\n",
            "mulx ", $high, ", ", $low, ", [rsi + 8*", $j, "]\n",
            first_row!(@"rsi" "rbp" [$($js)+] $high $($rest)+),
        )
    };
    (@$base:literal $zero:literal [] $top:literal) => {
        concat!("adcx ", $top, ", ", $zero, "\n")
    };
    (
        @$base:literal $zero:literal [$j:literal $($js:literal)*]
        $low:literal $high:literal $($rest:literal)*
    ) => {
        concat!(
            "mulx ", $high, ", rax, [", $base, " + 8*", $j, "]\n",
            "adcx ", $low, ", rax\n",
            first_row!(@$base $zero [$($js)*] $high $($rest)*),
        )
    };
}

/// `limbs += [rsi] · $by` for the positions `$j` of `[rsi]`, or of another register named first:
/// one limb more than positions. The top limb is `fresh`, or `used` and small enough that it does
/// not overflow.
macro_rules! row {
    ($kind:ident $by:literal; $js:tt $($limb:literal)+) => {
        row!($kind "rsi" $by; $js $($limb)+)
    };
    ($kind:ident $base:literal $by:expr; $js:tt $($limb:literal)+) => {
        concat!(
            "mov rdx, ", $by, "\n",
            "xor eax, eax\n",
            row!(@$kind $base "rbp" $js $($limb)+),
        )
    };
    (@fresh $base:literal $zero:literal [$j:literal] $last:literal $top:literal) => {
        concat!(
            "mulx ", $top, ", rax, [", $base, " + 8*", $j, "]\n",
            "adcx ", $last, ", rax\n",
            "adcx ", $top, ", ", $zero, "\n",
            "adox ", $top, ", ", $zero, "\n",
        )
    };
    (@used $base:literal $zero:literal [$j:literal] $last:literal $top:literal) => {
        concat!(
            "mulx rbx, rax, [", $base, " + 8*", $j, "]\n",
            "adcx ", $last, ", rax\n",
            "adox ", $top, ", rbx\n",
            "adcx ", $top, ", ", $zero, "\n",
        )
    };
    (
        @$kind:ident $base:literal $zero:literal [$j:literal $($js:literal)+]
        $limb:literal $next:literal $($rest:literal)+
    ) => {
        concat!(
            "mulx rbx, rax, [", $base, " + 8*", $j, "]\n",
            "adcx ", $limb, ", rax\n",
            "adox ", $next, ", rbx\n",
            row!(@$kind $base $zero [$($js)+] $next $($rest)+),
        )
    };
}

/// Row `$i` of a square: the limb `$i` of the number at `[rcx]` times itself, times twice `$next`,
/// the limb above, and times the limbs `$j`, at `[$base]`, of twice the number. Adds that to the
/// limbs; the top one is fresh. `$zero` is zero; needs `rdi`.
///
/// The top limb does not overflow, because rows 0 to i are less than twice the number times its
/// lowest i + 1 limbs.
macro_rules! square_row {
    (
        $base:literal $zero:literal; $i:literal $next:literal; $js:tt
        $even:literal $odd:literal $($limb:literal)+
    ) => {
        concat!(
            "mov rdx, [rcx + 8*", $i, "]\n",
            "mov rdi, ", $next, "\n",
            "add rdi, rdi\n",
            "xor eax, eax\n",
            "mulx rbx, rax, rdx\n",
            "adcx ", $even, ", rax\n",
            "adox ", $odd, ", rbx\n",
            square_row!(@$base $zero $js $odd $($limb)+),
        )
    };
    (@$base:literal $zero:literal [] $odd:literal $top:literal) => {
        concat!(
            "mulx ", $top, ", rax, rdi\n",
            "adcx ", $odd, ", rax\n",
            "adcx ", $top, ", ", $zero, "\n",
            "adox ", $top, ", ", $zero, "\n",
        )
    };
    (@$base:literal $zero:literal $js:tt $odd:literal $even:literal $($limb:literal)+) => {
        concat!(
            "mulx rbx, rax, rdi\n",
            "adcx ", $odd, ", rax\n",
            "adox ", $even, ", rbx\n",
            row!(@fresh $base $zero $js $even $($limb)+),
        )
    };
}

/// Two limbs of a square: `$even` and `$odd` = twice themselves plus `$a`², the doubling with the
/// carry flag and the sum with the overflow flag. With `first`, `$even` is fresh and has no
/// products of different limbs.
macro_rules! double_and_square {
    ($a:literal; first $even:literal $odd:literal) => {
        concat!(
            "mov rdx, ", $a, "\n",
            "mulx rbx, ", $even, ", rdx\n",
            double_and_square!(@$odd "rbx"),
        )
    };
    ($a:literal; $even:literal $odd:literal) => {
        concat!(
            "mov rdx, ", $a, "\n",
            "mulx rbx, rax, rdx\n",
            double_and_square!(@$even "rax"),
            double_and_square!(@$odd "rbx"),
        )
    };
    (@$limb:literal $half:literal) => {
        concat!("adcx ", $limb, ", ", $limb, "\nadox ", $limb, ", ", $half, "\n")
    };
}

/// The eight limbs of a square from the four at `$a`: `$low` `$w1` … `$w6` `$high`, all of them
/// fresh; `$a` may be registers other than `$w1` … `$w6`.
///
/// First the products of different limbs, each once. They sum to less than 2⁵¹¹, so twice their sum
/// plus the squares needs no ninth limb. Zeroes `rbp`.
macro_rules! square_4 {
    (
        $a0:literal $a1:literal $a2:literal $a3:literal;
        $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal $w6:literal $w7:literal
    ) => {
        concat!(
            "xor ebp, ebp\n",
            "mov rdx, ", $a0, "\n",
            "mulx ", $w2, ", ", $w1, ", ", $a1, "\n",
            "mulx ", $w3, ", rax, ", $a2, "\n",
            "adcx ", $w2, ", rax\n",
            "mulx ", $w4, ", rax, ", $a3, "\n",
            "adcx ", $w3, ", rax\n",
            "mov rdx, ", $a3, "\n",
            "mulx ", $w5, ", rax, ", $a1, "\n",
            "adcx ", $w4, ", rax\n",
            "mulx ", $w6, ", rax, ", $a2, "\n",
            "adcx ", $w5, ", rax\n",
            "adcx ", $w6, ", rbp\n",
            "mov rdx, ", $a1, "\n",
            "mulx rbx, rax, ", $a2, "\n",
            "adcx ", $w3, ", rax\n",
            "adcx ", $w4, ", rbx\n",
            "adcx ", $w5, ", rbp\n",
            "adcx ", $w6, ", rbp\n",
            "xor eax, eax\n",
            double_and_square!($a0; first $w0 $w1),
            double_and_square!($a1; $w2 $w3),
            double_and_square!($a2; $w4 $w5),
            "mov rdx, ", $a3, "\n",
            "mulx ", $w7, ", rax, rdx\n",
            "adcx ", $w6, ", ", $w6, "\n",
            "adox ", $w6, ", rax\n",
            "adcx ", $w7, ", rbp\n",
            "adox ", $w7, ", rbp\n",
        )
    };
}

/// `[$out]` = the result of `$operation`, a subroutine, on the number at `$a` or on those at `$a`
/// and `$b`.
macro_rules! call {
    ($operation:literal $out:literal = $a:literal $(, $b:literal)?) => {
        concat!(
            "lea rdi, [", $out, "]\nlea rsi, [", $a, "]\n", $("lea rdx, [", $b, "]\n",)?
            "call {", $operation, "}\n",
        )
    };
}
