//! The assembly text shared by the kernels, as macros that expand to string literals.
//!
//! All of it works on a *window*: w consecutive limbs of a sum, held in registers that are named in
//! order of significance. A *row* adds w limbs at `[rsi]` times one limb, retires the window's
//! lowest limb to memory and adds one at the top. The retired limb's register becomes the top one,
//! so the names rotate by one in each row and return to the initial order after w rows.
//!
//! Registers in a row: `rdx` is the multiplier, `rax` and `rbx` hold one product, `rbp` is zero,
//! `rsi` points to the w limbs, `rcx` to the multipliers, `rdi` to the place for retired limbs; the
//! rest is the window. The low halves of the products are added with the carry flag and the high
//! halves with the overflow flag, two independent chains.

/// Saves the callee-saved registers, reserves `$frame` bytes of stack, clears `rbp`.
macro_rules! enter {
    ($frame:literal) => {
        concat!(
            ".cfi_startproc\n",
            enter!(@push "rbx"), enter!(@push "rbp"), enter!(@push "r12"),
            enter!(@push "r13"), enter!(@push "r14"), enter!(@push "r15"),
            "sub rsp, ", $frame, "\n.cfi_adjust_cfa_offset ", $frame, "\n",
            "xor ebp, ebp\n",
        )
    };
    (@push $register:literal) => {
        concat!(
            "push ", $register, "\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset ", $register, ", 0\n",
        )
    };
}

/// Undoes [`enter`] and returns.
macro_rules! leave {
    ($frame:literal) => {
        concat!(
            "add rsp, ", $frame, "\n.cfi_adjust_cfa_offset -", $frame, "\n",
            leave!(@pop "r15"), leave!(@pop "r14"), leave!(@pop "r13"),
            leave!(@pop "r12"), leave!(@pop "rbp"), leave!(@pop "rbx"),
            "ret\n.cfi_endproc\n",
        )
    };
    (@pop $register:literal) => {
        concat!("pop ", $register, "\n.cfi_adjust_cfa_offset -8\n.cfi_restore ", $register, "\n")
    };
}

/// `window += [rsi] · rdx` from limb `$j` on; both flags carry in, and `$top` becomes the limb
/// above the window.
///
/// A window W < B^w, a limb of memory at its lowest place and w limbs times one sum to at most (B^w
/// − 1) + (B − 1) + (B^w − 1)(B − 1) < B^(w+1), so `$top` does not overflow.
macro_rules! accumulate {
    ($zero:literal $top:literal; [$j:literal] $last:literal) => {
        concat!(
            "mulx ", $top, ", rax, [rsi + 8*", $j, "]\n",
            "adcx ", $last, ", rax\n",
            "adcx ", $top, ", ", $zero, "\n",
            "adox ", $top, ", ", $zero, "\n",
        )
    };
    (
        $zero:literal $top:literal;
        [$j:literal $($js:literal)+] $limb:literal $next:literal $($rest:literal)*
    ) => {
        concat!(
            "mulx rbx, rax, [rsi + 8*", $j, "]\n",
            "adcx ", $limb, ", rax\n",
            "adox ", $next, ", rbx\n",
            accumulate!($zero $top; [$($js)+] $next $($rest)*),
        )
    };
}

/// The body of a row after `rdx` is loaded with the multiplier; the overflow flag carries in:
/// `window += [rsi] · rdx`, and the lowest limb retires by `$retire`. `$zero` is an operand that is
/// zero.
macro_rules! row_body {
    ($zero:literal $retire:expr; [$j:literal] $only:literal) => {
        concat!(
            "mulx rbx, rax, [rsi]\n",
            "adcx ", $only, ", rax\n",
            $retire,
            "mov ", $only, ", rbx\n",
            "adcx ", $only, ", ", $zero, "\n",
            "adox ", $only, ", ", $zero, "\n",
        )
    };
    (
        $zero:literal $retire:expr;
        [$j:literal $($js:literal)+] $first:literal $next:literal $($rest:literal)*
    ) => {
        concat!(
            "mulx rbx, rax, [rsi]\n",
            "adcx ", $first, ", rax\n",
            "adox ", $next, ", rbx\n",
            $retire,
            accumulate!($zero $first; [$($js)+] $next $($rest)*),
        )
    };
}

/// Row `$i`: multiplier `[rcx + 8·$i]`; the retired limb is added to `[rdi + 8·$i]`.
macro_rules! row {
    ($i:literal; $js:tt $first:literal $($rest:literal)*) => {
        concat!(
            "4", $i, ":\n",
            "mov rdx, [rcx + 8*", $i, "]\n",
            "xor eax, eax\n",
            "adox ", $first, ", [rdi + 8*", $i, "]\n",
            row_body!(
                "rbp" concat!("mov [rdi + 8*", $i, "], ", $first, "\n"); $js $first $($rest)*
            ),
        )
    };
}

/// One row for each `$i`, with the window rotating.
macro_rules! rows {
    ([] $js:tt $($window:literal)*) => { "" };
    ([$i:literal $($is:literal)*] $js:tt $first:literal $($rest:literal)*) => {
        concat!(row!($i; $js $first $($rest)*), rows!([$($is)*] $js $($rest)* $first))
    };
}

/// Rows until `rcx` reaches `[rsp]`, w per iteration. Starts with the row in `[rsp + 8]`, computed
/// by [`entry`], with the window's names rotated for it. `rcx` and `rdi` start before their first
/// limb by the number of rows left out of the first iteration. Leaves `rdi` behind the last retired
/// limb.
macro_rules! row_loop {
    ([$($j:literal)+] $w:literal $($window:literal)+) => {
        concat!(
            "jmp qword ptr [rsp + 8]\n",
            ".p2align 5\n",
            rows!([$($j)+] [$($j)+] $($window)+),
            "lea rcx, [rcx + 8*", $w, "]\n",
            "lea rdi, [rdi + 8*", $w, "]\n",
            "cmp rcx, [rsp]\n",
            "jne 40b\n",
        )
    };
}

/// `[rsp + 8]` = the address of the first row; `$skip` (destroyed, like `rax`) contains the number
/// of rows to leave out of the first iteration. Needs [`row_table`].
macro_rules! entry {
    ($skip:literal) => {
        concat!(
            "lea rax, [rip + 30f]\n",
            "movsxd ",
            $skip,
            ", dword ptr [rax + 4*",
            $skip,
            "]\n",
            "add rax, ",
            $skip,
            "\n",
            "mov [rsp + 8], rax\n",
        )
    };
}

/// The offsets of the rows, for [`entry`].
macro_rules! row_table {
    ([$($j:literal)+]) => {
        concat!(".p2align 2\n30:\n", $(".long 4", $j, "b - 30b\n",)+)
    };
}

/// Moves the limbs of the window up by `$turns` registers (destroyed, like `rax`), the top one to
/// the bottom.
macro_rules! rotate_window {
    ($turns:literal; $first:literal $($rest:literal)*) => {
        concat!(
            "test ", $turns, ", ", $turns, "\n",
            "jz 26f\n",
            "25:\n",
            "mov rax, ", rotate_window!(@last $first $($rest)*), "\n",
            rotate_window!(@up $first $($rest)*),
            "mov ", $first, ", rax\n",
            "dec ", $turns, "\n",
            "jnz 25b\n",
            "26:\n",
        )
    };
    (@last $last:literal) => { $last };
    (@last $first:literal $($rest:literal)+) => { rotate_window!(@last $($rest)+) };
    (@up $last:literal) => { "" };
    (@up $first:literal $next:literal $($rest:literal)*) => {
        concat!(rotate_window!(@up $next $($rest)*), "mov ", $next, ", ", $first, "\n")
    };
}

/// `window = 0`.
macro_rules! clear_window {
    ($($limb:literal)+) => {
        concat!($("xor ", $limb, "d, ", $limb, "d\n",)+)
    };
}

/// `window = [rdi]`.
macro_rules! load_window {
    ([$($j:literal)+] $($limb:literal)+) => {
        concat!($("mov ", $limb, ", [rdi + 8*", $j, "]\n",)+)
    };
}

/// `[rdi] = window`.
macro_rules! store_window {
    ([$($j:literal)+] $($limb:literal)+) => {
        concat!($("mov [rdi + 8*", $j, "], ", $limb, "\n",)+)
    };
}

/// One quotient limb: `rdx` = the window's lowest limb times n0 in `rcx`; then its row, which makes
/// that limb zero. The quotient limb is stored at `[rdi + 8·$i]`.
macro_rules! quotient_row {
    ($zero:literal $store:ident $i:literal; $js:tt $first:literal $($rest:literal)*) => {
        concat!(
            "mov rdx, rcx\n",
            "imul rdx, ", $first, "\n",
            "xor eax, eax\n",
            quotient_row!(@$store $i),
            row_body!($zero ""; $js $first $($rest)*),
        )
    };
    (@store $i:literal) => { concat!("mov [rdi + 8*", $i, "], rdx\n") };
    (@forget $i:literal) => { "" };
}

/// One [`quotient_row`] for each `$i`, with the window rotating; with `forget`, the quotient is not
/// stored.
macro_rules! quotient_rows {
    ($zero:literal $store:ident; [] $js:tt $($window:literal)*) => { "" };
    (
        $zero:literal $store:ident;
        [$i:literal $($is:literal)*] $js:tt $first:literal $($rest:literal)*
    ) => {
        concat!(
            quotient_row!($zero $store $i; $js $first $($rest)*),
            quotient_rows!($zero $store; [$($is)*] $js $($rest)* $first),
        )
    };
}

/// `window += [rdi]` with the carry flag in and out, stored to `[rdi]`.
macro_rules! add_window {
    ([$($j:literal)+] $($limb:literal)+) => {
        concat!($(
            "adc ", $limb, ", [rdi + 8*", $j, "]\n",
            "mov [rdi + 8*", $j, "], ", $limb, "\n",
        )+)
    };
}

/// `[rdi] = [rsi] − [rdx]` for the limbs `$j`, the carry flag borrowing in and out.
macro_rules! subtract_limbs {
    ($($j:literal)+) => {
        concat!($(
            "mov rax, [rsi + 8*", $j, "]\n",
            "sbb rax, [rdx + 8*", $j, "]\n",
            "mov [rdi + 8*", $j, "], rax\n",
        )+)
    };
}

/// `[rdi] = [rsi]` for the limbs `$j` if the carry flag is set.
macro_rules! restore_limbs {
    ($($j:literal)+) => {
        concat!($(
            "mov rax, [rdi + 8*", $j, "]\n",
            "cmovc rax, [rsi + 8*", $j, "]\n",
            "mov [rdi + 8*", $j, "], rax\n",
        )+)
    };
}

/// `[rsi + 8·$j] · [[rsi]]` for all `$j`, to fresh registers, one more than limbs.
///
/// This is a row whose multiplier is the lowest limb at `[rsi]`.
macro_rules! first_products {
    ([$j:literal $($js:literal)+] $low:literal $high:literal $($rest:literal)*) => {
        concat!(
            "mov rdx, [rsi]\n",
            "mulx ", $high, ", ", $low, ", [rsi + 8*", $j, "]\n",
            "xor eax, eax\n",
            first_products!(@"rbp" [$($js)+] $high $($rest)*),
        )
    };
    (@$zero:literal [] $top:literal) => { concat!("adcx ", $top, ", ", $zero, "\n") };
    (@$zero:literal [$j:literal $($js:literal)*] $low:literal $high:literal $($rest:literal)*) => {
        concat!(
            "mulx ", $high, ", rax, [rsi + 8*", $j, "]\n",
            "adcx ", $low, ", rax\n",
            first_products!(@$zero [$($js)*] $high $($rest)*),
        )
    };
}

/// One row of the triangle of a block: `rdx = a_i`, then the window from place 2i + 1 on.
///
/// `rdx` times the limbs `$j` goes to the registers `$limb`; the top one is fresh.
macro_rules! triangle_row {
    ($i:literal; $js:tt $($window:literal)+) => {
        concat!(
            "mov rdx, [rsi + 8*", $i, "]\n",
            "xor eax, eax\n",
            triangle_row!(@$js $($window)+),
        )
    };
    (@[$j:literal] $last:literal $top:literal) => {
        accumulate!("rbp" $top; [$j] $last)
    };
    (@[$j:literal $($js:literal)+] $limb:literal $next:literal $($rest:literal)+) => {
        concat!(
            "mulx rbx, rax, [rsi + 8*", $j, "]\n",
            "adcx ", $limb, ", rax\n",
            "adox ", $next, ", rbx\n",
            triangle_row!(@[$($js)+] $next $($rest)+),
        )
    };
}

/// Adds the products of different limbs of the block at `[rsi]`, each once, to places 1 to 7 of
/// `[rdi]`; places 8 to 15 of the sum become the window. Without `add`, starts from zero.
///
/// Limb p of the sum is in register r(8 + p mod 8) until it retires. The products alone are less
/// than B^15 − B^13, so place 15 is zero.
macro_rules! triangle {
    () => {
        concat!(
            first_products!([1 2 3 4 5 6 7] "r9" "r10" "r11" "r12" "r13" "r14" "r15" "r8"),
            triangle!(@rest),
        )
    };
    (add) => {
        concat!(
            load_window!([1 2 3 4 5 6 7] "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
            triangle_row!(0; [1 2 3 4 5 6 7] "r9" "r10" "r11" "r12" "r13" "r14" "r15" "r8"),
            triangle!(@rest),
        )
    };
    (@rest) => {
        concat!(
            store_window!([1 2] "r9" "r10"),
            triangle_row!(1; [2 3 4 5 6 7] "r11" "r12" "r13" "r14" "r15" "r8" "r9"),
            store_window!([3 4] "r11" "r12"),
            triangle_row!(2; [3 4 5 6 7] "r13" "r14" "r15" "r8" "r9" "r10"),
            store_window!([5 6] "r13" "r14"),
            triangle_row!(3; [4 5 6 7] "r15" "r8" "r9" "r10" "r11"),
            store_window!([7] "r15"),
            triangle_row!(4; [5 6 7] "r9" "r10" "r11" "r12"),
            triangle_row!(5; [6 7] "r11" "r12" "r13"),
            triangle_row!(6; [7] "r13" "r14"),
            "xor r15d, r15d\n",
        )
    };
}

/// `[rdi + 16·$i] = 2·[rdi + 16·$i] + [rsi + 8·$i]²`, the doubling with the carry flag and the sum
/// with the overflow flag.
macro_rules! double_and_square {
    ($($i:literal)+) => {
        concat!($(
            "mov rdx, [rsi + 8*", $i, "]\n",
            "mov r8, [rdi + 16*", $i, "]\n",
            "mov r9, [rdi + 16*", $i, " + 8]\n",
            "mulx r11, r10, rdx\n",
            "adcx r8, r8\n",
            "adox r8, r10\n",
            "mov [rdi + 16*", $i, "], r8\n",
            "adcx r9, r9\n",
            "adox r9, r11\n",
            "mov [rdi + 16*", $i, " + 8], r9\n",
        )+)
    };
}
