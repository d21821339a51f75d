//! P-384 in Montgomery form, R = 2³⁸⁴.
//!
//! p = 2³⁸⁴ − c for c = 2¹²⁸ + 2⁹⁶ − 2³² + 1, and the inverse of c modulo 2¹²⁸ is 1 + 2³² + 2⁶⁴. So
//! the quotient of two limbs W is Q = W · (1 + 2³² + 2⁶⁴) mod 2¹²⁸, by shifts, and W + Q·p = Q·2³⁸⁴
//! − (Q·c − W): W modulo 2¹²⁸ vanishes, and ⌊Q·c / 2¹²⁸⌋ is subtracted two limbs above W.

use super::Limb;
use core::arch::naked_asm;

/// Two reduction steps on `$w0` … `$w5`, without the limbs above: the sum becomes `$w2` … `$w5`
/// `$w0` `$w1`. Needs `rax`, `rbx`, `rdx` and `rbp`.
///
/// ⌊Q·c / 2¹²⁸⌋ = Q + ⌊(S·2⁶⁴ − S + Q) / 2¹²⁸⌋ for S = Q·2³², three limbs. It is at most 2·Q, so
/// subtracting it from Q·2²⁵⁶ gives a nonnegative number.
#[rustfmt::skip]
macro_rules! reduce_two {
    ($w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal) => {
        concat!(
            // Q, in the place of W.
            "mov rax, ", $w0, "\n",
            "mov rbx, ", $w1, "\n",
            "shl rax, 32\n",
            "shld rbx, ", $w0, ", 32\n",
            "add ", $w1, ", ", $w0, "\n",
            "add ", $w0, ", rax\n",
            "adc ", $w1, ", rbx\n",
            // S.
            "mov rax, ", $w0, "\n",
            "mov rbx, ", $w1, "\n",
            "mov rdx, ", $w1, "\n",
            "shl rax, 32\n",
            "shld rbx, ", $w0, ", 32\n",
            "shr rdx, 32\n",
            // Limbs 0 and 1 of Q − S + S·2⁶⁴ for their carry, limbs 2 and 3 to rbx and rdx.
            "cmp ", $w0, ", rax\n",
            "mov rbp, ", $w1, "\n",
            "sbb rbp, rbx\n",
            "sbb rbx, rdx\n",
            "sbb rdx, 0\n",
            "add rbp, rax\n",
            "mov ebp, 0\n",
            "adc rbx, 0\n",
            "adc rdx, 0\n",
            "add rbx, ", $w0, "\n",
            "adc rdx, ", $w1, "\n",
            "adc ebp, 0\n",
            "sub ", $w2, ", rbx\n",
            "sbb ", $w3, ", rdx\n",
            "sbb ", $w4, ", rbp\n",
            "sbb ", $w5, ", 0\n",
            "sbb ", $w0, ", 0\n",
            "sbb ", $w1, ", 0\n",
        )
    };
}

/// `$t` = the number below 2p in `$w` and the carry `$carry`, minus p unless that is negative.
/// `$constant` is another register.
#[rustfmt::skip]
macro_rules! subtract_p {
    ($constant:literal $($w:literal)+, $carry:literal; $($t:literal)+) => {
        concat!(
            $("mov ", $t, ", ", $w, "\n",)+
            subtract_p!(@subtract $constant $carry $($t)+),
            $("cmovc ", $t, ", ", $w, "\n",)+
        )
    };
    (
        @subtract $constant:literal $carry:literal
        $t0:literal $t1:literal $t2:literal $($rest:literal)+
    ) => {
        concat!(
            "mov ", $constant, ", 0xffffffff\n",
            "sub ", $t0, ", ", $constant, "\n",
            "mov ", $constant, ", 0xffffffff00000000\n",
            "sbb ", $t1, ", ", $constant, "\n",
            "sbb ", $t2, ", -2\n",
            $("sbb ", $rest, ", -1\n",)+
            "sbb ", $carry, ", 0\n",
        )
    };
}

/// Two rows, for the factor limbs `$by`, into `$w0` … `$w5` and the fresh `$w6` and `$w7`, and two
/// reduction steps; the sum becomes `$w2` … `$w7` and a carry in `rdi`.
macro_rules! two_rows {
    (
        $first:literal $second:literal;
        $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal
        $w6:literal $w7:literal
    ) => {
        concat!(
            "xor ebp, ebp\n",
            row!(fresh $first; [0 1 2 3 4 5] $w0 $w1 $w2 $w3 $w4 $w5 $w6),
            row!(fresh $second; [0 1 2 3 4 5] $w1 $w2 $w3 $w4 $w5 $w6 $w7),
            reduce_two!($w0 $w1 $w2 $w3 $w4 $w5),
            // The carry of the preceding rows belongs to the position of w6.
            "add rdi, -1\n",
            "adc ", $w6, ", ", $w0, "\n",
            "adc ", $w7, ", ", $w1, "\n",
            "mov edi, 0\n",
            "adc edi, edi\n",
        )
    };
}

/// Computes `out = a · b / R mod p`, less than p.
///
/// One of the factors is any number below R, and the other is less than p. From W < 2p, two rows
/// and two steps leave (W + 2¹²⁸·p + 2¹²⁸·p) / 2¹²⁸ < 2p: six limbs and a carry.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are six limbs each, and `out` has room for six; it
/// may be where `a` or `b` are, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdi"),
        "mov rcx, rdx",
        first_row!("[rcx]"; [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        row!(fresh "[rcx + 8]"; [0 1 2 3 4 5] "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        reduce_two!("r8" "r9" "r10" "r11" "r12" "r13"),
        "mov edi, 0",
        "add r14, r8",
        "adc r15, r9",
        "adc edi, edi",
        two_rows!("[rcx + 16]" "[rcx + 24]"; "r10" "r11" "r12" "r13" "r14" "r15" "r8" "r9"),
        two_rows!("[rcx + 32]" "[rcx + 40]"; "r12" "r13" "r14" "r15" "r8" "r9" "r10" "r11"),
        subtract_p!("r12" "r14" "r15" "r8" "r9" "r10" "r11", "rdi";
            "rax" "rbx" "rcx" "rdx" "rsi" "rbp"),
        restore!("rdi"),
        store!("rdi" [0 1 2 3 4 5] "rax" "rbx" "rcx" "rdx" "rsi" "rbp"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes `out = a² / R mod p`, less than p; see [`square_times`].
///
/// # Safety
/// As for [`mul`].
#[inline(always)]
pub(super) unsafe fn square(out: *mut Limb, a: *const Limb) {
    // SAFETY: as for `mul`.
    unsafe { square_times(out, a, 1) };
}

/// Computes `out = a` squared `times` times, less than p, for `a` less than p; `times` is not 0.
///
/// First the products of different limbs, each once; then twice their sum plus the squares. The
/// lower half is reduced by itself, to at most p, and the upper half, less than p, is added. Stack:
/// the top limb, the remaining iterations, `out`.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdi" "rdx" "rax"),
        ".p2align 4",
        "2:",
        first_row!("[rsi]"; [1 2 3 4 5] "r9" "r10" "r11" "r12" "r13" "r14"),
        row!(fresh "[rsi + 8]"; [2 3 4 5] "r11" "r12" "r13" "r14" "r15"),
        row!(fresh "[rsi + 16]"; [3 4 5] "r13" "r14" "r15" "rcx"),
        row!(fresh "[rsi + 24]"; [4 5] "r15" "rcx" "rdi"),
        // The last product goes to limbs 9 and 10; limb 10 is in r8 until limb 0 is needed.
        row!(fresh "[rsi + 32]"; [5] "rdi" "r8"),
        "xor eax, eax",
        "mov [rsp], r8",
        double_and_square!("[rsi]"; first "r8" "r9"),
        double_and_square!("[rsi + 8]"; "r10" "r11"),
        double_and_square!("[rsi + 16]"; "r12" "r13"),
        double_and_square!("[rsi + 24]"; "r14" "r15"),
        double_and_square!("[rsi + 32]"; "rcx" "rdi"),
        "mov rdx, [rsi + 40]",
        "mov rsi, [rsp]",
        "mulx rbx, rax, rdx",
        "adcx rsi, rsi",
        "adox rsi, rax",
        "adcx rbx, rbp",
        "adox rbx, rbp",
        "mov [rsp], rbx",
        reduce_two!("r8" "r9" "r10" "r11" "r12" "r13"),
        reduce_two!("r10" "r11" "r12" "r13" "r8" "r9"),
        reduce_two!("r12" "r13" "r8" "r9" "r10" "r11"),
        "xor ebp, ebp",
        "add r8, r14",
        "adc r9, r15",
        "adc r10, rcx",
        "adc r11, rdi",
        "adc r12, rsi",
        "adc r13, [rsp]",
        "adc ebp, ebp",
        subtract_p!("rdx" "r8" "r9" "r10" "r11" "r12" "r13", "rbp";
            "rax" "rbx" "rcx" "r14" "r15" "rdi"),
        "mov rsi, [rsp + 16]",
        store!("rsi" [0 1 2 3 4 5] "rax" "rbx" "rcx" "r14" "r15" "rdi"),
        "dec qword ptr [rsp + 8]",
        "jnz 2b",
        restore!("rax"),
        restore!("rdx"),
        restore!("rdi"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}
