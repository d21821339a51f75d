//! The assembly text that the kernels share, as macros that give string literals.
//!
//! All of it works on a *window*: w consecutive limbs of a sum, held in registers that are named
//! in order of significance. A *row* adds w limbs at `[rsi]` times one limb, retires the lowest
//! limb of the window to memory and takes one in at the top; the retired limb's register becomes
//! the top one, so that the names rotate by one each row and stand as at first after w rows.
//!
//! Registers in a row: `rdx` the multiplier, `rax` and `rbx` one product, `rbp` zero, `rsi` the w
//! limbs, `rcx` the multipliers, `rdi` where limbs retire; the rest is the window. The low halves
//! of the products go in on the carry flag and the high halves on the overflow flag, two chains
//! that run side by side.

/// Saves the callee's registers and takes `$frame` bytes of stack.
macro_rules! enter {
    ($frame:literal) => {
        concat!(
            ".cfi_startproc\n",
            enter!(@push "rbx"), enter!(@push "rbp"), enter!(@push "r12"),
            enter!(@push "r13"), enter!(@push "r14"), enter!(@push "r15"),
            "sub rsp, ", $frame, "\n.cfi_adjust_cfa_offset ", $frame, "\n",
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

/// `window += [rsi] · rdx` from limb `$j` on, where both flags carry in, and `$top` becomes the
/// limb above the window.
///
/// The sum of a window W < B^w, a limb of memory at its lowest place and w limbs times one is at
/// most (B^w − 1) + (B − 1) + (B^w − 1)(B − 1) < B^(w+1), so nothing is carried out of `$top`.
macro_rules! accumulate {
    ($top:literal; [$j:literal] $last:literal) => {
        concat!(
            "mulx ", $top, ", rax, [rsi + 8*", $j, "]\n",
            "adcx ", $last, ", rax\n",
            "adcx ", $top, ", rbp\n",
            "adox ", $top, ", rbp\n",
        )
    };
    ($top:literal; [$j:literal $($js:literal)+] $limb:literal $next:literal $($rest:literal)*) => {
        concat!(
            "mulx rbx, rax, [rsi + 8*", $j, "]\n",
            "adcx ", $limb, ", rax\n",
            "adox ", $next, ", rbx\n",
            accumulate!($top; [$($js)+] $next $($rest)*),
        )
    };
}

/// What a row does once `rdx` has the multiplier and `rbp` is zero: `window += [rsi] · rdx`, where
/// the overflow flag carries in, and the lowest limb retires by `$retire`.
macro_rules! row_body {
    ($retire:expr; [$zero:literal] $only:literal) => {
        concat!(
            "mulx rbx, rax, [rsi]\n",
            "adcx ", $only, ", rax\n",
            $retire,
            "mov ", $only, ", rbx\n",
            "adcx ", $only, ", rbp\n",
            "adox ", $only, ", rbp\n",
        )
    };
    ($retire:expr; [$zero:literal $($js:literal)+] $first:literal $next:literal $($rest:literal)*) => {
        concat!(
            "mulx rbx, rax, [rsi]\n",
            "adcx ", $first, ", rax\n",
            "adox ", $next, ", rbx\n",
            $retire,
            accumulate!($first; [$($js)+] $next $($rest)*),
        )
    };
}

/// Row `$i`: multiplier `[rcx + 8·$i]`; the retired limb is added to `[rdi + 8·$i]`.
macro_rules! row {
    ($i:literal; $js:tt $first:literal $($rest:literal)*) => {
        concat!(
            "4", $i, ":\n",
            "mov rdx, [rcx + 8*", $i, "]\n",
            "xor ebp, ebp\n",
            "adox ", $first, ", [rdi + 8*", $i, "]\n",
            row_body!(concat!("mov [rdi + 8*", $i, "], ", $first, "\n"); $js $first $($rest)*),
        )
    };
}

/// One row for each `$i`, the window rotating.
macro_rules! rows {
    ([] $js:tt $($window:literal)*) => { "" };
    ([$i:literal $($is:literal)*] $js:tt $first:literal $($rest:literal)*) => {
        concat!(row!($i; $js $first $($rest)*), rows!([$($is)*] $js $($rest)* $first))
    };
}

/// Rows until `rcx` reaches `[rsp]`, w to a turn. Begins with the row in `[rsp + 8]`, which
/// [`entry`] gives, with the names of the window rotated for it; `rcx` and `rdi` are before their
/// first limb by as many limbs as rows are left out of the first turn. Leaves `rdi` behind the
/// last retired limb.
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

/// `[rsp + 8]` = the address of the row to begin with, where `$skip` (destroyed, as `rax`) has the
/// number of rows to leave out of the first turn. Needs [`row_table`].
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

/// Moves the limbs of the window up by as many registers as `$turns` (destroyed, as `rax`) says,
/// the top one to the bottom.
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
