//! Sums of numbers a₀ + a₁·i with i² = −1 modulo the base prime of BLS12-381, from memory to
//! memory: a formula adds more of them than fit in registers.

use super::Returned;
use super::bls12_base::MODULUS;
use super::bls12_complex::Complex;
use core::arch::naked_asm;

/// `r8 … r13 = [a] ± [b]`, by `$first` for the lowest limbs and `$next` for the others.
macro_rules! combine_6 {
    ($first:literal $next:literal $a:literal $b:literal) => {
        concat!(
            load!($a [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
            $first, " r8, [", $b, "]\n",
            $next, " r9, [", $b, " + 8]\n",
            $next, " r10, [", $b, " + 16]\n",
            $next, " r11, [", $b, " + 24]\n",
            $next, " r12, [", $b, " + 32]\n",
            $next, " r13, [", $b, " + 40]\n",
        )
    };
}

/// `rax rbx rcx rbp r14 r15 = r8 … r13 mod p`, for less than 2p.
macro_rules! reduce_once {
    () => {
        subtract_modulus!("rip + {modulus}" [1 2 3 4 5 6] "r8" "r9" "r10" "r11" "r12" "r13";
            "rax" "rbx" "rcx" "rbp" "r14" "r15")
    };
}

/// `r8 … r13 += p` if the carry flag is set.
macro_rules! add_modulus_if_borrowed {
    () => {
        concat!(
            "sbb r15, r15\n",
            load!("rip + {modulus}" [1 2 3 4 5] "rax" "rbx" "rcx" "rbp" "r14"),
            "and rax, r15\n",
            "and rbx, r15\n",
            "and rcx, r15\n",
            "and rbp, r15\n",
            "and r14, r15\n",
            "and r15, [rip + {modulus} + 48]\n",
            "add r8, rax\n",
            "adc r9, rbx\n",
            "adc r10, rcx\n",
            "adc r11, rbp\n",
            "adc r12, r14\n",
            "adc r13, r15\n",
        )
    };
}

/// `[out] = [a] + [b] mod p`.
macro_rules! add_parts {
    ($out:literal $a:literal $b:literal) => {
        concat!(
            combine_6!("add" "adc" $a $b),
            reduce_once!(),
            store!($out [0 1 2 3 4 5] "rax" "rbx" "rcx" "rbp" "r14" "r15"),
        )
    };
}

/// `[out] = [a] − [b] mod p`.
macro_rules! subtract_parts {
    ($out:literal $a:literal $b:literal) => {
        concat!(
            combine_6!("sub" "sbb" $a $b),
            add_modulus_if_borrowed!(),
            store!($out [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        )
    };
}

/// `[out] = 2·(r8 … r13) + [a] mod p`, for less than p.
macro_rules! double_and_add {
    ($out:literal $a:literal) => {
        concat!(
            "add r8, r8\n",
            "adc r9, r9\n",
            "adc r10, r10\n",
            "adc r11, r11\n",
            "adc r12, r12\n",
            "adc r13, r13\n",
            reduce_once!(),
            "add rax, [", $a, "]\n",
            "adc rbx, [", $a, " + 8]\n",
            "adc rcx, [", $a, " + 16]\n",
            "adc rbp, [", $a, " + 24]\n",
            "adc r14, [", $a, " + 32]\n",
            "adc r15, [", $a, " + 40]\n",
            subtract_modulus!("rip + {modulus}" [1 2 3 4 5 6]
                "rax" "rbx" "rcx" "rbp" "r14" "r15"; "r8" "r9" "r10" "r11" "r12" "r13"),
            store!($out [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        )
    };
}

/// `[out] = 3·[a] + 2·[z] mod p`.
macro_rules! thrice_more_parts {
    ($out:literal $a:literal $z:literal) => {
        concat!(
            combine_6!("add" "adc" $a $z),
            reduce_once!(),
            "mov r8, rax\n",
            "mov r9, rbx\n",
            "mov r10, rcx\n",
            "mov r11, rbp\n",
            "mov r12, r14\n",
            "mov r13, r15\n",
            double_and_add!($out $a),
        )
    };
}

/// `[out] = 3·[a] − 2·[z] mod p`.
macro_rules! thrice_less_parts {
    ($out:literal $a:literal $z:literal) => {
        concat!(
            combine_6!("sub" "sbb" $a $z),
            add_modulus_if_borrowed!(),
            double_and_add!($out $a),
        )
    };
}

/// Defines kernels of two numbers, whose parts are less than p like those of the result.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: $($text:expr),+;)+) => {$(
        $(#[$doc])*
        #[unsafe(naked)]
        pub(super) extern "sysv64" fn $name(a: &Complex, b: &Complex) -> Returned<Complex> {
            naked_asm!(
                enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
                $($text,)+
                "mov rax, rdi",
                leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
                modulus = sym MODULUS,
            )
        }
    )+};
}

kernels! {
    /// Returns a + b.
    add: add_parts!("rdi" "rsi" "rdx"), add_parts!("rdi + 48" "rsi + 48" "rdx + 48");

    /// Returns a − b.
    sub: subtract_parts!("rdi" "rsi" "rdx"), subtract_parts!("rdi + 48" "rsi + 48" "rdx + 48");

    /// Returns (1 + i)·a + b.
    add_turned: subtract_parts!("rdi" "rsi" "rsi + 48"), add_parts!("rdi" "rdi" "rdx"),
        add_parts!("rdi + 48" "rsi" "rsi + 48"), add_parts!("rdi + 48" "rdi + 48" "rdx + 48");

    /// Returns 3a + 2b.
    thrice_more: thrice_more_parts!("rdi" "rsi" "rdx"),
        thrice_more_parts!("rdi + 48" "rsi + 48" "rdx + 48");

    /// Returns 3a − 2b.
    thrice_less: thrice_less_parts!("rdi" "rsi" "rdx"),
        thrice_less_parts!("rdi + 48" "rsi + 48" "rdx + 48");
}

/// Returns (1 + i)·a.
#[unsafe(naked)]
pub(super) extern "sysv64" fn turn(a: &Complex) -> Returned<Complex> {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        subtract_parts!("rdi" "rsi" "rsi + 48"),
        add_parts!("rdi + 48" "rsi" "rsi + 48"),
        "mov rax, rdi",
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        modulus = sym MODULUS,
    )
}
