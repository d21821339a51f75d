//! P-256 in Montgomery form, R = 2²⁵⁶.
//!
//! −1/p is 1 modulo 2⁶⁴, so a quotient limb is the lowest limb itself, and p + 1 = 2⁹⁶ + 2¹⁹² ·
//! (2⁶⁴ − 2³² + 1): adding the quotient times p clears the lowest limb and adds that limb times 2⁹⁶
//! and, three limbs up, times 2⁶⁴ − 2³² + 1.

use super::Limb;
use core::arch::naked_asm;

/// Two reduction steps: `$w0` and `$w1` are the quotient, and the rest of the sum is in `$w2` …
/// `$w6`. The last of these takes the carry; it is `fresh`, or `used` and carries into `$w7`.
macro_rules! reduce_two {
    (
        $kind:ident $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal
        $w6:literal $($w7:literal)?
    ) => {
        concat!(
            "mov edx, 32\n",
            reduce_two!(@$kind $w6),
            "shlx rax, ", $w0, ", rdx\n",
            "shrx rbx, ", $w0, ", rdx\n",
            "adcx ", $w1, ", rax\n",
            "adox ", $w2, ", rbx\n",
            "shlx rax, ", $w1, ", rdx\n",
            "shrx rbx, ", $w1, ", rdx\n",
            "adcx ", $w2, ", rax\n",
            "adox ", $w3, ", rbx\n",
            "mov rdx, 0xffffffff00000001\n",
            "mulx rbx, rax, ", $w0, "\n",
            "adcx ", $w3, ", rax\n",
            "adox ", $w4, ", rbx\n",
            "mulx rbx, rax, ", $w1, "\n",
            "adcx ", $w4, ", rax\n",
            "adox ", $w5, ", rbx\n",
            "adcx ", $w5, ", rbp\n",
            "adox ", $w6, ", rbp\n",
            "adcx ", $w6, ", rbp\n",
            $("adox ", $w7, ", rbp\nadcx ", $w7, ", rbp\n",)?
        )
    };
    (@fresh $w6:literal) => { concat!("xor ", $w6, "d, ", $w6, "d\n") };
    (@used $w6:literal) => { "xor eax, eax\n" };
}

/// `$t` = the number below 2p in `$w` and the fifth limb `$w4`, minus p unless that is negative.
#[rustfmt::skip]
macro_rules! subtract_p {
    ($($w:literal)+, $w4:literal; $($t:literal)+) => {
        concat!(
            "mov eax, 0xffffffff\n",
            $("mov ", $t, ", ", $w, "\n",)+
            subtract_p!(@subtract $w4 $($t)+),
            $("cmovc ", $t, ", ", $w, "\n",)+
        )
    };
    (@subtract $w4:literal $t0:literal $t1:literal $t2:literal $t3:literal) => {
        concat!(
            "sub ", $t0, ", -1\n",
            "sbb ", $t1, ", rax\n",
            "mov rax, 0xffffffff00000001\n",
            "sbb ", $t2, ", 0\n",
            "sbb ", $t3, ", rax\n",
            "sbb ", $w4, ", 0\n",
        )
    };
}

/// `r12`, `r13`, `r14`, `r8` and the fifth limb `r9` = the product below 2p of the numbers at `rsi`
/// and `rcx`; `rbp` is zero.
macro_rules! product {
    () => {
        concat!(
            first_row!("[rcx]"; [0 1 2 3] "r8" "r9" "r10" "r11" "r12"),
            row!(fresh "[rcx + 8]"; [0 1 2 3] "r9" "r10" "r11" "r12" "r13"),
            reduce_two!(fresh "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
            row!(used "[rcx + 16]"; [0 1 2 3] "r10" "r11" "r12" "r13" "r14"),
            row!(fresh "[rcx + 24]"; [0 1 2 3] "r11" "r12" "r13" "r14" "r8"),
            reduce_two!(fresh "r10" "r11" "r12" "r13" "r14" "r8" "r9"),
        )
    };
}

#[macro_use]
mod calls;
mod add;
mod double;
pub(super) use add::{add_affine, add_affine_then_look_up};
pub(super) use double::double;

/// Computes `out = a · b / R mod p`, less than p.
///
/// One of the factors is any number below R, and the other is less than p. Two rows and two steps
/// leave a sum W < (2¹²⁸·p + 2¹²⁸·p) / 2¹²⁸ = 2p. W plus two more rows is less than 2p + (2¹²⁸ −
/// 1)·p < 2³⁸⁴; likewise, W plus one row is less than 2³²⁰. The final value is again less than 2p.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are four limbs each, and `out` has room for four;
/// it may be where `a` or `b` are, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14"),
        "mov rcx, rdx",
        product!(),
        subtract_p!("r12" "r13" "r14" "r8", "r9"; "rbx" "rcx" "rdx" "rsi"),
        store!("rdi" [0 1 2 3] "rbx" "rcx" "rdx" "rsi"),
        leave!("r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes `out = a² / R mod p`, less than p, for `a` less than p; see [`mul`].
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square(out: *mut Limb, a: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14"),
        square_4!("[rsi]" "[rsi + 8]" "[rsi + 16]" "[rsi + 24]";
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"),
        reduce_two!(used "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"),
        reduce_two!(fresh "r10" "r11" "r12" "r13" "r14" "rcx" "r9"),
        subtract_p!("r12" "r13" "r14" "rcx", "r9"; "rbx" "r8" "rdx" "rsi"),
        store!("rdi" [0 1 2 3] "rbx" "r8" "rdx" "rsi"),
        leave!("r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes `out = a` squared `times` times; `times` is not 0.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdi"),
        load!("rsi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        "mov rsi, rdx",
        ".p2align 4",
        "2:",
        square_4!("r8" "r9" "r10" "r11"; "r8" "r12" "r13" "r14" "r15" "rcx" "rdi" "r11"),
        reduce_two!(used "r8" "r12" "r13" "r14" "r15" "rcx" "rdi" "r11"),
        reduce_two!(fresh "r13" "r14" "r15" "rcx" "rdi" "r11" "r12"),
        subtract_p!("r15" "rcx" "rdi" "r11", "r12"; "r8" "r9" "r10" "rdx"),
        "mov r11, rdx",
        "dec rsi",
        "jnz 2b",
        restore!("rdi"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}
