//! 2⁵²¹ − 1, of P-521: residues are less than the prime, nine limbs of which the top one has 9 bits.

use super::Limb;
use core::arch::naked_asm;

/// The first row: nine limbs at `[rsi]` by `$by`. The lowest limb goes to `$to`, and its register
/// becomes the top one of the window.
macro_rules! first_retiring_row {
    ($by:literal $to:literal; $low:literal $next:literal $($rest:literal)+) => {
        concat!(
            "mov rdx, ", $by, "\n",
            "mulx ", $next, ", ", $low, ", [rsi]\n",
            "mov ", $to, ", ", $low, "\n",
            first_row!(@"add" [1 2 3 4 5 6 7 8] $next $($rest)+ $low),
        )
    };
}

/// A row for each factor limb `$by`: `[rsi] · $by` is added to the window, of which the lowest limb
/// then goes to `$to`, and its register becomes the top one.
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
            row!(@fresh "rdi" [1 2 3 4 5 6 7 8] $next $($rest)+ $low),
            retiring_rows!([$($more)*] $next $($rest)+ $low),
        )
    };
}

/// A row of the products of different limbs.
macro_rules! square_row {
    ($by:literal; $js:tt $($limb:literal)+) => {
        concat!(
            "mov rdx, ", $by, "\n",
            "xor eax, eax\n",
            row!(@fresh "rdi" $js $($limb)+),
        )
    };
}

/// As `double_and_square`, for limbs in memory at `[rsp]`.
macro_rules! double_and_square_in_memory {
    (first $a:literal $even:literal $odd:literal) => {
        concat!(
            "mov rdx, ", $a, "\n",
            "mulx rbx, rax, rdx\n",
            "mov ", $even, ", rax\n",
            double_and_square_in_memory!(@$odd "rbx"),
        )
    };
    ($($a:literal $even:literal $odd:literal)+) => {
        concat!($(
            "mov rdx, ", $a, "\n",
            "mulx rbx, rax, rdx\n",
            double_and_square_in_memory!(@$even "rax"),
            double_and_square_in_memory!(@$odd "rbx"),
        )+)
    };
    (@$limb:literal $half:literal) => {
        concat!(
            "mov rcx, ", $limb, "\n",
            "adcx rcx, rcx\nadox rcx, ", $half, "\n",
            "mov ", $limb, ", rcx\n",
        )
    };
}

/// `$w` = the residue of a product whose limbs 0 to 7 are at `[rsp]` and 8 to 16 in `$w`.
///
/// The factors are at most p − 1, so that the product is less than 2¹⁰⁴². With L its lower 521 bits
/// and H the others, the residue is H + L. H + L + 1 is less than 2⁵²²: where it reaches 2⁵²¹, its
/// lower 521 bits are H + L − p, and else H + L is less than p.
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

/// `out = a · b mod p`, less than p, for factors less than p.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are nine limbs each, and `out` has place for nine; it
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
        // The window is limbs 9 to 17, of which 17 is zero.
        "mov rbp, [rsp + 64]",
        fold!("rbp" "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        release!(72),
        restore!("rdi"),
        store!("rdi" [0 1 2 3 4 5 6 7 8] "rbp" "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// `out = a² mod p`, less than p; as [`square_times`].
///
/// # Safety
/// As for [`mul`].
#[inline(always)]
pub(super) unsafe fn square(out: *mut Limb, a: *const Limb) {
    // SAFETY: as for `mul`.
    unsafe { square_times(out, a, 1) };
}

/// `out = a` squared `times` times, less than p, for `a` less than p; `times` is not 0.
///
/// The products of different limbs first, each once; then twice their sum and the squares.
/// Stack: limbs 0 to 7, the times that are left, `out`.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdi" "rdx"),
        reserve!(64),
        "xor edi, edi",
        ".p2align 4",
        "2:",
        first_row!("[rsi]"; [1 2 3 4 5 6 7 8]
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbp"),
        store!("rsp" [1 2] "r8" "r9"),
        square_row!("[rsi + 8]"; [2 3 4 5 6 7 8]
            "r10" "r11" "r12" "r13" "r14" "r15" "rbp" "r8"),
        store!("rsp" [3 4] "r10" "r11"),
        square_row!("[rsi + 16]"; [3 4 5 6 7 8] "r12" "r13" "r14" "r15" "rbp" "r8" "r9"),
        store!("rsp" [5 6] "r12" "r13"),
        square_row!("[rsi + 24]"; [4 5 6 7 8] "r14" "r15" "rbp" "r8" "r9" "r10"),
        store!("rsp" [7] "r14"),
        square_row!("[rsi + 32]"; [5 6 7 8] "rbp" "r8" "r9" "r10" "r11"),
        square_row!("[rsi + 40]"; [6 7 8] "r9" "r10" "r11" "r12"),
        square_row!("[rsi + 48]"; [7 8] "r11" "r12" "r13"),
        square_row!("[rsi + 56]"; [8] "r13" "r14"),
        "xor eax, eax",
        double_and_square_in_memory!(first "[rsi]" "[rsp]" "[rsp + 8]"),
        double_and_square_in_memory!(
            "[rsi + 8]" "[rsp + 16]" "[rsp + 24]"
            "[rsi + 16]" "[rsp + 32]" "[rsp + 40]"
            "[rsi + 24]" "[rsp + 48]" "[rsp + 56]"),
        double_and_square!("[rsi + 32]"; "r15" "rbp"),
        double_and_square!("[rsi + 40]"; "r8" "r9"),
        double_and_square!("[rsi + 48]"; "r10" "r11"),
        double_and_square!("[rsi + 56]"; "r12" "r13"),
        // Limb 17 is zero.
        "mov rdx, [rsi + 64]",
        "mulx rbx, rax, rdx",
        "adcx r14, r14",
        "adox r14, rax",
        fold!("r15" "rbp" "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        "mov rsi, [rsp + 72]",
        store!("rsi" [0 1 2 3 4 5 6 7 8] "r15" "rbp" "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        "dec qword ptr [rsp + 64]",
        "jnz 2b",
        release!(64),
        restore!("rdx"),
        restore!("rdi"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}
