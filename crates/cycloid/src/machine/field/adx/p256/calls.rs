//! Subroutines and text shared by the kernels of point formulas on P-256: a product and a square
//! that save no registers and return their results in registers, and differences of such results.

use core::arch::naked_asm;

/// Computes `r10`, `r11`, `rsi`, `rbx` = the product in Montgomery form of the numbers at `rsi` and
/// `rcx`; see [`mul`](super::mul). `rbp` is zero; `rdi`, `r15` and `rbp` are preserved.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn product() {
    naked_asm!(
        product!(),
        subtract_p!("r12" "r13" "r14" "r8", "r9"; "r10" "r11" "rsi" "rbx"),
        "ret",
    )
}

/// The same for the square of the number at `rsi`, less than p.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square() {
    naked_asm!(
        square_4!("[rsi]" "[rsi + 8]" "[rsi + 16]" "[rsi + 24]";
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"),
        reduce_two!(used "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"),
        reduce_two!(fresh "r10" "r11" "r12" "r13" "r14" "rcx" "r9"),
        subtract_p!("r12" "r13" "r14" "rcx", "r9"; "r10" "r11" "rsi" "rbx"),
        "ret",
    )
}

/// Adds p to `$w`, or subtracts it, if `$mask` is all ones.
macro_rules! masked_p {
    (
        $add:literal $adc:literal;
        $w0:literal $w1:literal $w2:literal $w3:literal; $mask:literal $maskd:literal
    ) => {
        concat!(
            "mov rdx, ",
            $mask,
            "\n",
            "shl rdx, 32\n",
            "mov eax, ",
            $maskd,
            "\n",
            "sub rdx, ",
            $mask,
            "\n",
            $add,
            " ",
            $w0,
            ", ",
            $mask,
            "\n",
            $adc,
            " ",
            $w1,
            ", rax\n",
            $adc,
            " ",
            $w2,
            ", 0\n",
            $adc,
            " ",
            $w3,
            ", rdx\n",
        )
    };
}

/// `$w` = `$w` minus the number at `$b`, less than p.
macro_rules! minus {
    ($b:literal; $w0:literal $w1:literal $w2:literal $w3:literal; $mask:literal $maskd:literal) => {
        concat!(
            "sub ", $w0, ", [", $b, "]\n",
            "sbb ", $w1, ", [", $b, " + 8]\n",
            "sbb ", $w2, ", [", $b, " + 16]\n",
            "sbb ", $w3, ", [", $b, " + 24]\n",
            "sbb ", $mask, ", ", $mask, "\n",
            masked_p!("add" "adc"; $w0 $w1 $w2 $w3; $mask $maskd),
        )
    };
}

/// The product of the numbers at `$a` and `$b`.
macro_rules! times {
    ($a:literal, $b:literal) => {
        concat!("lea rsi, [", $a, "]\nlea rcx, [", $b, "]\ncall {product}\n")
    };
}

/// The square of the number at `$a`.
macro_rules! squared {
    ($a:literal) => {
        concat!("lea rsi, [", $a, "]\ncall {square}\n")
    };
}

/// `[$out]` = the result of a product.
macro_rules! keep {
    ($out:literal) => {
        store!($out [0 1 2 3] "r10" "r11" "rsi" "rbx")
    };
}
