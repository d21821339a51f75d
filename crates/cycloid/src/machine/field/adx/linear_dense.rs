//! Sums and differences modulo primes without a special form, and of products: modulo p·R for the
//! scalar prime of BLS12-381, and modulo 2⁷⁶⁸ for the base prime, which leaves enough bits.

use super::{Limb, bls12_base, bls12_scalar};
use core::arch::{asm, naked_asm};

/// Defines a + b and a − b modulo a prime that leaves its top bit unused, for residues less than
/// the prime, with instructions that every x86-64 processor has; and the same for products less
/// than p·R, whose upper halves are corrected.
///
/// `$s` and `$t` are the limbs in registers, `$j` and `$p` their positions in memory, in a number
/// and in the `Modulus`, and `$w` those in the upper half of a product.
macro_rules! modulo {
    (
        $n:literal $modulus:path; $add:ident $sub:ident;
        $s0:ident $t0:ident $p0:literal, $($s:ident $t:ident $p:literal $j:literal),+
    ) => {
        /// Returns a + b; both are less than the prime, and so is the result: their sum, minus the
        /// prime unless that is negative.
        #[inline(always)]
        pub(in super::super) fn $add(a: &[Limb; $n], b: &[Limb; $n]) -> [Limb; $n] {
            let [mut $s0, $(mut $s),+] = *a;
            // SAFETY: as many limbs are read at `b` as it has, and the prime's.
            unsafe {
                asm!(
                    concat!("add {", stringify!($s0), "}, [{b}]"),
                    $(concat!("adc {", stringify!($s), "}, [{b} + 8*", $j, "]"),)+
                    concat!("mov {", stringify!($t0), "}, {", stringify!($s0), "}"),
                    $(concat!("mov {", stringify!($t), "}, {", stringify!($s), "}"),)+
                    concat!("sub {", stringify!($t0), "}, [rip + {modulus} + 8*", $p0, "]"),
                    $(concat!("sbb {", stringify!($t), "}, [rip + {modulus} + 8*", $p, "]"),)+
                    concat!("cmovnc {", stringify!($s0), "}, {", stringify!($t0), "}"),
                    $(concat!("cmovnc {", stringify!($s), "}, {", stringify!($t), "}"),)+
                    $s0 = inout(reg) $s0,
                    $($s = inout(reg) $s,)+
                    $t0 = out(reg) _,
                    $($t = out(reg) _,)+
                    b = in(reg) b.as_ptr(),
                    modulus = sym $modulus,
                    options(pure, readonly, nostack),
                );
            }
            [$s0, $($s),+]
        }

        /// Returns a − b; both are less than the prime, and so is the result: their difference,
        /// plus the prime if it is negative.
        #[inline(always)]
        pub(in super::super) fn $sub(a: &[Limb; $n], b: &[Limb; $n]) -> [Limb; $n] {
            let [mut $s0, $(mut $s),+] = *a;
            // SAFETY: as many limbs are read at `b` as it has, and the prime's.
            unsafe {
                asm!(
                    concat!("sub {", stringify!($s0), "}, [{b}]"),
                    $(concat!("sbb {", stringify!($s), "}, [{b} + 8*", $j, "]"),)+
                    "sbb {b}, {b}",
                    concat!("mov {", stringify!($t0), "}, [rip + {modulus} + 8*", $p0, "]"),
                    $(concat!("mov {", stringify!($t), "}, [rip + {modulus} + 8*", $p, "]"),)+
                    concat!("and {", stringify!($t0), "}, {b}"),
                    $(concat!("and {", stringify!($t), "}, {b}"),)+
                    concat!("add {", stringify!($s0), "}, {", stringify!($t0), "}"),
                    $(concat!("adc {", stringify!($s), "}, {", stringify!($t), "}"),)+
                    $s0 = inout(reg) $s0,
                    $($s = inout(reg) $s,)+
                    $t0 = out(reg) _,
                    $($t = out(reg) _,)+
                    b = inout(reg) b.as_ptr() => _,
                    modulus = sym $modulus,
                    options(pure, readonly, nostack),
                );
            }
            [$s0, $($s),+]
        }
    };
}

/// Defines a + b and a − b of products modulo p·R, with names as in `modulo!`.
macro_rules! modulo_wide {
    (
        $modulus:path; $add_wide:ident $sub_wide:ident;
        $p0:literal $w0:literal $r0:literal $q0:literal,
        $($p:literal $j:literal $w:literal $r:literal $q:literal),+
    ) => {
        /// Computes `out = a + b mod p·R` for both less than that.
        ///
        /// # Safety
        /// `a`, `b` and `out` are products; `out` may be where `a` or `b` are, and need not be
        /// initialised.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $add_wide(
            out: *mut Limb,
            a: *const Limb,
            b: *const Limb,
        ) {
            naked_asm!(
                enter!("rbx" "rbp" "r12" "r13" "r14"),
                "mov rax, [rsi]",
                "add rax, [rdx]",
                "mov [rdi], rax",
                $(
                    concat!("mov rax, [rsi + 8*", $j, "]"),
                    concat!("adc rax, [rdx + 8*", $j, "]"),
                    concat!("mov [rdi + 8*", $j, "], rax"),
                )+
                concat!("mov ", $r0, ", [rsi + 8*", $w0, "]"),
                concat!("adc ", $r0, ", [rdx + 8*", $w0, "]"),
                $(
                    concat!("mov ", $r, ", [rsi + 8*", $w, "]"),
                    concat!("adc ", $r, ", [rdx + 8*", $w, "]"),
                )+
                subtract_modulus!("rip + {modulus}" [$p0 $($p)+] $r0 $($r)+; $q0 $($q)+),
                store!("rdi" [$w0 $($w)+] $q0 $($q)+),
                leave!("r14" "r13" "r12" "rbp" "rbx"),
                modulus = sym $modulus,
            )
        }

        /// Computes `out = a − b mod p·R` for both less than that.
        ///
        /// # Safety
        /// As for the sum.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $sub_wide(
            out: *mut Limb,
            a: *const Limb,
            b: *const Limb,
        ) {
            naked_asm!(
                enter!("rbx" "rbp" "r12" "r13" "r14"),
                "mov rax, [rsi]",
                "sub rax, [rdx]",
                "mov [rdi], rax",
                $(
                    concat!("mov rax, [rsi + 8*", $j, "]"),
                    concat!("sbb rax, [rdx + 8*", $j, "]"),
                    concat!("mov [rdi + 8*", $j, "], rax"),
                )+
                concat!("mov ", $r0, ", [rsi + 8*", $w0, "]"),
                concat!("sbb ", $r0, ", [rdx + 8*", $w0, "]"),
                $(
                    concat!("mov ", $r, ", [rsi + 8*", $w, "]"),
                    concat!("sbb ", $r, ", [rdx + 8*", $w, "]"),
                )+
                "sbb rsi, rsi",
                load!("rip + {modulus}" [$p0 $($p)+] $q0 $($q)+),
                concat!("and ", $q0, ", rsi"),
                $(concat!("and ", $q, ", rsi"),)+
                concat!("add ", $r0, ", ", $q0),
                $(concat!("adc ", $r, ", ", $q),)+
                store!("rdi" [$w0 $($w)+] $r0 $($r)+),
                leave!("r14" "r13" "r12" "rbp" "rbx"),
                modulus = sym $modulus,
            )
        }
    };
}

modulo!(6 bls12_base::MODULUS; add_6 sub_6;
    s0 t0 1, s1 t1 2 1, s2 t2 3 2, s3 t3 4 3, s4 t4 5 4, s5 t5 6 5);
modulo!(4 bls12_scalar::MODULUS; add_4 sub_4; s0 t0 1, s1 t1 2 1, s2 t2 3 2, s3 t3 4 3);
modulo_wide!(bls12_scalar::MODULUS; add_wide_4 sub_wide_4;
    1 4 "r8" "rax", 2 1 5 "r9" "rbx", 3 2 6 "r10" "rcx", 4 3 7 "r11" "rdx");

/// Defines `out = a + b` and `out = a − b` modulo 2^(64·n).
macro_rules! plain {
    ($add:ident "add" $adc:literal, $sub:ident "sub" $sbb:literal; $($j:literal)+) => {
        plain!(@$add "add" $adc; $($j)+);
        plain!(@$sub "sub" $sbb; $($j)+);
    };
    (@$name:ident $first:literal $next:literal; $($j:literal)+) => {
        /// # Safety
        /// `a`, `b` and `out` are as long as a product; `out` may be where `a` or `b` are, and need
        /// not be initialised.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $name(
            out: *mut Limb,
            a: *const Limb,
            b: *const Limb,
        ) {
            naked_asm!(
                ".cfi_startproc",
                "mov rax, [rsi]",
                concat!($first, " rax, [rdx]"),
                "mov [rdi], rax",
                $(
                    concat!("mov rax, [rsi + 8*", $j, "]"),
                    concat!($next, " rax, [rdx + 8*", $j, "]"),
                    concat!("mov [rdi + 8*", $j, "], rax"),
                )+
                "ret",
                ".cfi_endproc",
            )
        }
    };
}

plain!(add_wide_6 "add" "adc", sub_wide_6 "sub" "sbb"; 1 2 3 4 5 6 7 8 9 10 11);

/// Returns a + b, which is less than 2³⁸⁴.
#[inline(always)]
pub(super) fn add_plain_6(a: &[Limb; 6], b: &[Limb; 6]) -> [Limb; 6] {
    let [mut s0, mut s1, mut s2, mut s3, mut s4, mut s5] = *a;
    // SAFETY: six limbs are read at `b`.
    unsafe {
        asm!(
            "add {s0}, [{b}]",
            "adc {s1}, [{b} + 8]",
            "adc {s2}, [{b} + 16]",
            "adc {s3}, [{b} + 24]",
            "adc {s4}, [{b} + 32]",
            "adc {s5}, [{b} + 40]",
            s0 = inout(reg) s0,
            s1 = inout(reg) s1,
            s2 = inout(reg) s2,
            s3 = inout(reg) s3,
            s4 = inout(reg) s4,
            s5 = inout(reg) s5,
            b = in(reg) b.as_ptr(),
            options(pure, readonly, nostack),
        );
    }
    [s0, s1, s2, s3, s4, s5]
}
