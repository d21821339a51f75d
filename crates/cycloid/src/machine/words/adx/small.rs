//! Montgomery multiplication and squaring of short numbers in one piece, without a loop.
//!
//! The steps are those of `product`, `square` and `reduce` for one block that is the whole number.

use super::Limb;
use core::arch::naked_asm;

/// The first row, into an empty window: `window = [rsi] · [rcx]`, its lowest limb retired.
macro_rules! first_row {
    ($zero:literal; [$j:literal $($js:literal)+] $first:literal $next:literal $($rest:literal)*) => {
        concat!(
            "mov rdx, [rcx]\n",
            "mulx ", $next, ", ", $first, ", [rsi]\n",
            "xor eax, eax\n",
            "mov [rdi], ", $first, "\n",
            first_products!(@$zero [$($js)+] $next $($rest)* $first),
        )
    };
}

/// The other rows: row `$i` has the multiplier `[rcx + 8·$i]` and retires to `[rdi + 8·$i]`.
macro_rules! more_rows {
    ($zero:literal; [] $js:tt $($window:literal)*) => { "" };
    ($zero:literal; [$i:literal $($is:literal)*] $js:tt $first:literal $($rest:literal)*) => {
        concat!(
            "mov rdx, [rcx + 8*", $i, "]\n",
            "xor eax, eax\n",
            row_body!(
                $zero concat!("mov [rdi + 8*", $i, "], ", $first, "\n"); $js $first $($rest)*
            ),
            more_rows!($zero; [$($is)*] $js $($rest)* $first),
        )
    };
}

/// All rows except the first, which leaves the window rotated by one.
macro_rules! after_first_row {
    ($zero:literal; [$i:literal $($is:literal)+] $js:tt $first:literal $($rest:literal)+) => {
        more_rows!($zero; [$($is)+] $js $($rest)+ $first)
    };
}

/// The accumulator `[rsp]` = window + `[rdi]`, minus the modulus `[rsi]` unless that is negative;
/// the sum is less than twice the modulus.
macro_rules! add_and_subtract {
    ([$j:literal $($js:literal)+] $limb:literal $($limbs:literal)+) => {
        concat!(
            "add ", $limb, ", [rdi + 8*", $j, "]\n",
            $("adc ", $limbs, ", [rdi + 8*", $js, "]\n",)+
            "mov rdi, [rsp]\n",
            "setc al\n",
            "movzx eax, al\n",
            store_window!([$j $($js)+] $limb $($limbs)+),
            "sub ", $limb, ", [rsi + 8*", $j, "]\n",
            $("sbb ", $limbs, ", [rsi + 8*", $js, "]\n",)+
            // The carry cancels the borrow; the remainder goes to the carry flag.
            "sbb rax, 0\n",
            "add rax, rax\n",
            "cmovc ", $limb, ", [rdi + 8*", $j, "]\n",
            $("cmovc ", $limbs, ", [rdi + 8*", $js, "]\n",)+
            store_window!([$j $($js)+] $limb $($limbs)+),
        )
    };
}

/// Defines Montgomery multiplication of w limbs. Stack: the accumulator, the modulus, n0, zero.
macro_rules! multiplication {
    ($name:ident $zero:literal [$($j:literal)+] $w:literal $($window:literal)+) => {
        /// Computes `accumulator = accumulator · by / R mod modulus`.
        ///
        /// # Safety
        /// As for [`Multiply`](super::Multiply), `n` being w.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $name(
            accumulator: *mut Limb,
            by: *const Limb,
            wide: *mut Limb,
            modulus: *const Limb,
            n0: Limb,
            n: usize,
        ) {
            naked_asm!(
                enter!(32),
                "mov [rsp], rdi",
                "mov [rsp + 8], rcx",
                "mov [rsp + 16], r8",
                "mov [rsp + 24], rbp",
                "mov rcx, rdi",
                "mov rdi, rdx",
                first_row!($zero; [$($j)+] $($window)+),
                after_first_row!($zero; [$($j)+] [$($j)+] $($window)+),
                concat!("add rdi, 8*", $w),
                store_window!([$($j)+] $($window)+),
                "mov rsi, [rsp + 8]",
                "mov rcx, [rsp + 16]",
                concat!("sub rdi, 8*", $w),
                load_window!([$($j)+] $($window)+),
                quotient_rows!($zero forget; [$($j)+] [$($j)+] $($window)+),
                concat!("add rdi, 8*", $w),
                add_and_subtract!([$($j)+] $($window)+),
                leave!(32),
            )
        }
    };
}

multiplication!(montgomery_mul_4 "rbp" [0 1 2 3] 4 "r8" "r9" "r10" "r11");
multiplication!(montgomery_mul_6 "rbp" [0 1 2 3 4 5] 6 "r8" "r9" "r10" "r11" "r12" "r13");
multiplication!(montgomery_mul_8 "rbp" [0 1 2 3 4 5 6 7] 8
    "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15");
multiplication!(montgomery_mul_9 "qword ptr [rsp + 24]" [0 1 2 3 4 5 6 7 8] 9
    "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbp");

/// Limbs 2`$i` and 2`$i` + 1 of the square, in registers: twice their value at `[rdi]`, plus `[rsi
/// + 8·$i]²`, like `double_and_square`.
macro_rules! double_to_registers {
    ($($i:literal $low:literal $high:literal)+) => {
        concat!($(
            "mov rdx, [rsi + 8*", $i, "]\n",
            "mov ", $low, ", [rdi + 16*", $i, "]\n",
            "mov ", $high, ", [rdi + 16*", $i, " + 8]\n",
            "mulx rbx, rax, rdx\n",
            "adcx ", $low, ", ", $low, "\n",
            "adox ", $low, ", rax\n",
            "adcx ", $high, ", ", $high, "\n",
            "adox ", $high, ", rbx\n",
        )+)
    };
}

/// Limbs 2`$i` and 2`$i` + 1 of the square, in memory.
macro_rules! double_in_memory {
    ($($i:literal)+) => {
        concat!($(
            double_to_registers!($i "rcx" "rbp"),
            "mov [rdi + 16*", $i, "], rcx\n",
            "mov [rdi + 16*", $i, " + 8], rbp\n",
        )+)
    };
}

/// Computes `accumulator = accumulator² / R mod modulus`, `times` times. Stack: the accumulator,
/// the modulus, n0, the remaining squarings.
///
/// # Safety
/// As for [`Square`](super::Square), `n` being 8.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn montgomery_square_8(
    accumulator: *mut Limb,
    times: usize,
    wide: *mut Limb,
    modulus: *const Limb,
    n0: Limb,
    n: usize,
) {
    naked_asm!(
        enter!(32),
        "mov [rsp], rdi",
        "mov [rsp + 8], rcx",
        "mov [rsp + 16], r8",
        "mov [rsp + 24], rsi",
        "mov rsi, rdi",
        "mov rdi, rdx",
        ".p2align 4",
        "22:",
        // Place 0 has no products of different limbs.
        "mov [rdi], rbp",
        triangle!(),
        "add rdi, 64",
        store_window!([0 1 2 3 4 5 6 7] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        "sub rdi, 64",
        "xor eax, eax",
        double_to_registers!(0 "r8" "r9" 1 "r10" "r11" 2 "r12" "r13" 3 "r14" "r15"),
        double_in_memory!(4 5 6 7),
        "mov rsi, [rsp + 8]",
        "mov rcx, [rsp + 16]",
        "xor ebp, ebp",
        quotient_rows!("rbp" forget; [0 1 2 3 4 5 6 7] [0 1 2 3 4 5 6 7]
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        "mov rcx, rdi",
        "add rdi, 64",
        add_and_subtract!([0 1 2 3 4 5 6 7] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        "mov rsi, rdi",
        "mov rdi, rcx",
        "dec qword ptr [rsp + 24]",
        "jnz 22b",
        leave!(32),
    )
}
