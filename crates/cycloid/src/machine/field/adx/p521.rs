//! 2⁵²¹ − 1, the prime of P-521: residues are less than the prime, nine limbs with 9 bits in the
//! top one.

use super::Limb;
use core::arch::naked_asm;

/// The first row: nine limbs at `[rsi]` times `$by`, with both flags initially zero. The lowest
/// limb goes to `$to`, and its register becomes the window's top one.
macro_rules! first_retiring_row {
    ($by:literal $to:literal; $low:literal $next:literal $($rest:literal)+) => {
        concat!(
            "mov rdx, ", $by, "\n",
            "mulx ", $next, ", ", $low, ", [rsi]\n",
            "mov ", $to, ", ", $low, "\n",
            first_row!(@"rsi" "rdi" [1 2 3 4 5 6 7 8] $next $($rest)+ $low),
        )
    };
}

/// A row for each factor limb `$by`: adds `[rsi] · $by` to the window, whose lowest limb then goes
/// to `$to`; its register becomes the top one.
macro_rules! retiring_rows {
    ([] $($window:literal)+) => { "" };
    ([$by:literal $to:literal $($more:literal)*] $low:literal $next:literal $($rest:literal)+) => {
        concat!(
            "mov rdx, ", $by, "\n",
            "xor eax, eax\n",
            "mulx rbx, rax, [rsi]\n",
            "adcx ", $low, ", rax\n",
            "adox ", $next, ", rbx\n",
            "mov ", $to, ", ", $low, "\n",
            row!(@fresh "rsi" "rdi" [1 2 3 4 5 6 7 8] $next $($rest)+ $low),
            retiring_rows!([$($more)*] $next $($rest)+ $low),
        )
    };
}

/// `$to` = the limbs above limb 1 of twice the number at `[rcx]`.
macro_rules! double_limbs {
    ($($from:literal $to:literal)+) => {
        concat!(
            "mov rax, [rcx + 8]\n",
            "add rax, rax\n",
            $("mov rax, ", $from, "\nadc rax, rax\nmov ", $to, ", rax\n",)+
        )
    };
}

/// `$w` = the residue of a product with limbs 0 to 7 at `[rsp]` and 8 to 16 in `$w`.
///
/// The factors are at most p − 1, so the product is less than 2¹⁰⁴². With L its lower 521 bits and
/// H the others, the residue is H + L. H + L + 1 is less than 2⁵²²: if it reaches 2⁵²¹, its lower
/// 521 bits are H + L − p; otherwise H + L is less than p.
macro_rules! fold {
    ($low:literal $($w:literal)+) => {
        concat!(
            "mov rax, ", $low, "\n",
            "and eax, 0x1ff\n",
            fold!(@shift $low $($w)+),
            "stc\n",
            fold!(@add [0 1 2 3 4 5 6 7] $low $($w)+),
            "sbb ", $low, ", 0\n",
            $("sbb ", $w, ", 0\n",)+
            fold!(@last "and" $($w)+),
        )
    };
    (@shift $top:literal) => { concat!("shr ", $top, ", 9\n") };
    (@shift $low:literal $next:literal $($rest:literal)*) => {
        concat!("shrd ", $low, ", ", $next, ", 9\n", fold!(@shift $next $($rest)*))
    };
    (@add [] $top:literal) => { concat!("adc ", $top, ", rax\ncmp ", $top, ", 0x200\n") };
    (@add [$j:literal $($js:literal)*] $low:literal $($rest:literal)+) => {
        concat!("adc ", $low, ", [rsp + 8*", $j, "]\n", fold!(@add [$($js)*] $($rest)+))
    };
    (@last $and:literal $top:literal) => { concat!($and, " ", $top, ", 0x1ff\n") };
    (@last $and:literal $low:literal $($rest:literal)+) => { fold!(@last $and $($rest)+) };
}

/// Computes `out = a · b mod p`, less than p, for factors less than p.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are nine limbs each, and `out` has room for nine; it
/// may be where `a` or `b` are, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdi"),
        reserve!(72),
        "mov rcx, rdx",
        "xor edi, edi",
        first_retiring_row!("[rcx]" "[rsp]";
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbp"),
        retiring_rows!([
            "[rcx + 8]" "[rsp + 8]" "[rcx + 16]" "[rsp + 16]" "[rcx + 24]" "[rsp + 24]"
            "[rcx + 32]" "[rsp + 32]" "[rcx + 40]" "[rsp + 40]" "[rcx + 48]" "[rsp + 48]"
            "[rcx + 56]" "[rsp + 56]" "[rcx + 64]" "[rsp + 64]"
        ] "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbp" "r8"),
        // The window is limbs 9 to 17; limb 17 is zero.
        "mov rbp, [rsp + 64]",
        fold!("rbp" "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        release!(72),
        restore!("rdi"),
        store!("rdi" [0 1 2 3 4 5 6 7 8] "rbp" "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes `out = a² mod p`, less than p; see [`square_times`].
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
/// Each row multiplies a limb by itself and by twice the limbs above it. For that, 2a is computed
/// first, which also has nine limbs. Stack: limbs 0 to 7 of the square, limbs 2 to 8 of 2a, zero,
/// the remaining iterations, `out`.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdi" "rdx"),
        reserve!(128),
        "mov qword ptr [rsp + 120], 0",
        "mov rcx, rsi",
        // The position of limb 0 of 2a.
        "lea rsi, [rsp + 48]",
        ".p2align 4",
        "2:",
        double_limbs!(
            "[rcx + 16]" "[rsp + 64]" "[rcx + 24]" "[rsp + 72]" "[rcx + 32]" "[rsp + 80]"
            "[rcx + 40]" "[rsp + 88]" "[rcx + 48]" "[rsp + 96]" "[rcx + 56]" "[rsp + 104]"
            "[rcx + 64]" "[rsp + 112]"),
        "mov rdx, [rcx]",
        "mov rdi, [rcx + 8]",
        "add rdi, rdi",
        "xor eax, eax",
        "mulx r9, r8, rdx",
        "mov [rsp], r8",
        "mulx r10, rax, rdi",
        "adcx r9, rax",
        first_row!(@"rsi" "qword ptr [rsp + 120]" [2 3 4 5 6 7 8]
            "r10" "r11" "r12" "r13" "r14" "r15" "rbp" "r8"),
        store!("rsp" [1] "r9"),
        square_row!("rsi" "qword ptr [rsp + 120]"; 1 "[rcx + 16]"; [3 4 5 6 7 8]
            "r10" "r11" "r12" "r13" "r14" "r15" "rbp" "r8" "r9"),
        store!("rsp" [2 3] "r10" "r11"),
        square_row!("rsi" "qword ptr [rsp + 120]"; 2 "[rcx + 24]"; [4 5 6 7 8]
            "r12" "r13" "r14" "r15" "rbp" "r8" "r9" "r10"),
        store!("rsp" [4 5] "r12" "r13"),
        square_row!("rsi" "qword ptr [rsp + 120]"; 3 "[rcx + 32]"; [5 6 7 8]
            "r14" "r15" "rbp" "r8" "r9" "r10" "r11"),
        store!("rsp" [6 7] "r14" "r15"),
        square_row!("rsi" "qword ptr [rsp + 120]"; 4 "[rcx + 40]"; [6 7 8]
            "rbp" "r8" "r9" "r10" "r11" "r12"),
        square_row!("rsi" "qword ptr [rsp + 120]"; 5 "[rcx + 48]"; [7 8]
            "r9" "r10" "r11" "r12" "r13"),
        square_row!("rsi" "qword ptr [rsp + 120]"; 6 "[rcx + 56]"; [8] "r11" "r12" "r13" "r14"),
        square_row!("rsi" "qword ptr [rsp + 120]"; 7 "[rcx + 64]"; [] "r13" "r14" "r15"),
        // The top limb's square is less than 2¹⁸.
        "mov rdx, [rcx + 64]",
        "imul rdx, rdx",
        "add r15, rdx",
        fold!("rbp" "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        "mov rcx, [rsp + 136]",
        store!("rcx" [0 1 2 3 4 5 6 7 8] "rbp" "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        "dec qword ptr [rsp + 128]",
        "jnz 2b",
        release!(128),
        restore!("rdx"),
        restore!("rdi"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}
