//! Sums and differences of six and of nine limbs.

use super::Limb;
use core::arch::{asm, naked_asm};

/// Adds the prime of P-384 to `{r0}` … `{r5}` if the register `{mask}` is all ones, and nothing if
/// it is zero; `{p0}` and `{p1}` are the prime's lowest limbs.
macro_rules! add_p384_if {
    () => {
        concat!(
            "and {p0}, {mask}\n",
            "and {p1}, {mask}\n",
            "lea {p2}, [{mask} + {mask}]\n",
            "add {r0}, {p0}\n",
            "adc {r1}, {p1}\n",
            "adc {r2}, {p2}\n",
            "adc {r3}, {mask}\n",
            "adc {r4}, {mask}\n",
            "adc {r5}, {mask}\n",
        )
    };
}

const P384_0: Limb = 0x0000_0000_ffff_ffff;
const P384_1: Limb = 0xffff_ffff_0000_0000;

/// Returns a + b; both are less than the prime of P-384, and so is the result: their sum minus the
/// prime, plus the prime again if that is negative.
#[inline(always)]
pub(super) fn add_p384(a: &[Limb; 6], b: &[Limb; 6]) -> [Limb; 6] {
    let mut r = *a;
    let [r0, r1, r2, r3, r4, r5] = &mut r;
    // SAFETY: six limbs are read at `b`.
    unsafe {
        asm!(
            "add {r0}, [{mask}]",
            "adc {r1}, [{mask} + 8]",
            "adc {r2}, [{mask} + 16]",
            "adc {r3}, [{mask} + 24]",
            "adc {r4}, [{mask} + 32]",
            "adc {r5}, [{mask} + 40]",
            // The carry; if it is set, the prime must be subtracted, and that borrows.
            "mov {mask:e}, 0",
            "adc {mask}, 0",
            "sub {r0}, {p0}",
            "sbb {r1}, {p1}",
            "sbb {r2}, -2",
            "sbb {r3}, -1",
            "sbb {r4}, -1",
            "sbb {r5}, -1",
            "sbb {mask}, 0",
            add_p384_if!(),
            r0 = inout(reg) *r0,
            r1 = inout(reg) *r1,
            r2 = inout(reg) *r2,
            r3 = inout(reg) *r3,
            r4 = inout(reg) *r4,
            r5 = inout(reg) *r5,
            mask = inout(reg) b.as_ptr() => _,
            p0 = inout(reg) P384_0 => _,
            p1 = inout(reg) P384_1 => _,
            p2 = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    r
}

/// Returns a − b; both are less than the prime of P-384, and so is the result: their difference,
/// plus the prime if it is negative.
#[inline(always)]
pub(super) fn sub_p384(a: &[Limb; 6], b: &[Limb; 6]) -> [Limb; 6] {
    let mut r = *a;
    let [r0, r1, r2, r3, r4, r5] = &mut r;
    // SAFETY: six limbs are read at `b`.
    unsafe {
        asm!(
            "sub {r0}, [{mask}]",
            "sbb {r1}, [{mask} + 8]",
            "sbb {r2}, [{mask} + 16]",
            "sbb {r3}, [{mask} + 24]",
            "sbb {r4}, [{mask} + 32]",
            "sbb {r5}, [{mask} + 40]",
            "sbb {mask}, {mask}",
            add_p384_if!(),
            r0 = inout(reg) *r0,
            r1 = inout(reg) *r1,
            r2 = inout(reg) *r2,
            r3 = inout(reg) *r3,
            r4 = inout(reg) *r4,
            r5 = inout(reg) *r5,
            mask = inout(reg) b.as_ptr() => _,
            p0 = inout(reg) P384_0 => _,
            p1 = inout(reg) P384_1 => _,
            p2 = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    r
}

/// Returns a + b; both are less than 2⁵²¹ − 1, and so is the result.
///
/// a + b + 1 is less than 2⁵²². If it reaches 2⁵²¹, its lower 521 bits are the sum minus the prime;
/// otherwise the sum is less than the prime.
#[inline(always)]
pub(super) fn add_p521(a: &[Limb; 9], b: &[Limb; 9]) -> [Limb; 9] {
    let mut r = *a;
    let [r0, r1, r2, r3, r4, r5, r6, r7, r8] = &mut r;
    // SAFETY: nine limbs are read at `b`.
    unsafe {
        asm!(
            "stc",
            "adc {r0}, [{b}]",
            "adc {r1}, [{b} + 8]",
            "adc {r2}, [{b} + 16]",
            "adc {r3}, [{b} + 24]",
            "adc {r4}, [{b} + 32]",
            "adc {r5}, [{b} + 40]",
            "adc {r6}, [{b} + 48]",
            "adc {r7}, [{b} + 56]",
            "adc {r8}, [{b} + 64]",
            "cmp {r8}, 0x200",
            "sbb {r0}, 0",
            "sbb {r1}, 0",
            "sbb {r2}, 0",
            "sbb {r3}, 0",
            "sbb {r4}, 0",
            "sbb {r5}, 0",
            "sbb {r6}, 0",
            "sbb {r7}, 0",
            "sbb {r8}, 0",
            "and {r8:e}, 0x1ff",
            r0 = inout(reg) *r0,
            r1 = inout(reg) *r1,
            r2 = inout(reg) *r2,
            r3 = inout(reg) *r3,
            r4 = inout(reg) *r4,
            r5 = inout(reg) *r5,
            r6 = inout(reg) *r6,
            r7 = inout(reg) *r7,
            r8 = inout(reg) *r8,
            b = in(reg) b.as_ptr(),
            options(pure, readonly, nostack),
        );
    }
    r
}

/// Returns a − b; both are less than 2⁵²¹ − 1, and so is the result: the lower 521 bits of the
/// difference, minus 1 if it is negative.
#[inline(always)]
pub(super) fn sub_p521(a: &[Limb; 9], b: &[Limb; 9]) -> [Limb; 9] {
    let mut r = *a;
    let [r0, r1, r2, r3, r4, r5, r6, r7, r8] = &mut r;
    // SAFETY: nine limbs are read at `b`.
    unsafe {
        asm!(
            "sub {r0}, [{b}]",
            "sbb {r1}, [{b} + 8]",
            "sbb {r2}, [{b} + 16]",
            "sbb {r3}, [{b} + 24]",
            "sbb {r4}, [{b} + 32]",
            "sbb {r5}, [{b} + 40]",
            "sbb {r6}, [{b} + 48]",
            "sbb {r7}, [{b} + 56]",
            "sbb {r8}, [{b} + 64]",
            "sbb {r0}, 0",
            "sbb {r1}, 0",
            "sbb {r2}, 0",
            "sbb {r3}, 0",
            "sbb {r4}, 0",
            "sbb {r5}, 0",
            "sbb {r6}, 0",
            "sbb {r7}, 0",
            "sbb {r8}, 0",
            "and {r8:e}, 0x1ff",
            r0 = inout(reg) *r0,
            r1 = inout(reg) *r1,
            r2 = inout(reg) *r2,
            r3 = inout(reg) *r3,
            r4 = inout(reg) *r4,
            r5 = inout(reg) *r5,
            r6 = inout(reg) *r6,
            r7 = inout(reg) *r7,
            r8 = inout(reg) *r8,
            b = in(reg) b.as_ptr(),
            options(pure, readonly, nostack),
        );
    }
    r
}

/// `$limbs` = the numbers at `[rsi]` and `[rdx]` combined limb by limb, by `$first` for the lowest
/// one and `$next` for the others.
macro_rules! combine {
    ($first:literal $next:literal; [$($j:literal)+] $low:literal $($limb:literal)+) => {
        concat!(
            load!("rsi" [0 $($j)+] $low $($limb)+),
            $first, " ", $low, ", [rdx]\n",
            $($next, " ", $limb, ", [rdx + 8*", $j, "]\n",)+
        )
    };
}

/// Subtracts the borrow from the nine limbs of a number and clears the bits above 2⁵²¹.
macro_rules! subtract_borrow_p521 {
    () => {
        concat!(
            "sbb r8, 0\n",
            "sbb r9, 0\n",
            "sbb r10, 0\n",
            "sbb r11, 0\n",
            "sbb r12, 0\n",
            "sbb r13, 0\n",
            "sbb r14, 0\n",
            "sbb rax, 0\n",
            "sbb rcx, 0\n",
            "and ecx, 0x1ff\n",
        )
    };
}

/// Subtracts the prime of P-384 from `r8` … `r13` and the carry `rax`, which becomes the borrow:
/// all ones or zero.
macro_rules! subtract_p384 {
    () => {
        concat!(
            "mov ecx, 0xffffffff\n",
            "mov rdx, 0xffffffff00000000\n",
            "sub r8, rcx\n",
            "sbb r9, rdx\n",
            "sbb r10, -2\n",
            "sbb r11, -1\n",
            "sbb r12, -1\n",
            "sbb r13, -1\n",
            "sbb rax, 0\n",
        )
    };
}

/// Adds the prime of P-384 to `r8` … `r13` if `rax` is all ones, and nothing if it is zero.
macro_rules! add_p384_if_rax {
    () => {
        concat!(
            "mov ecx, eax\n",
            "mov rdx, rax\n",
            "shl rdx, 32\n",
            "lea rsi, [rax + rax]\n",
            "add r8, rcx\n",
            "adc r9, rdx\n",
            "adc r10, rsi\n",
            "adc r11, rax\n",
            "adc r12, rax\n",
            "adc r13, rax\n",
        )
    };
}

/// Defines subroutines of kernels for point formulas, which preserve `rbx`, `rbp` and `r15` only:
/// the numbers at `a` and `b` are less than the prime, and so is the result.
macro_rules! at {
    ($($(#[$doc:meta])* $name:ident($($argument:ident)*): $($text:expr),+;)+) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Only for kernels in assembly that have saved the other registers.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $name(out: *mut Limb $(, $argument: *const Limb)*) {
            naked_asm!($($text,)+ "ret")
        }
    )+};
}

at! {
    /// Computes `out = a + b`, as [`add_p384`].
    add_p384_at(a b):
        combine!("add" "adc"; [1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        "mov eax, 0",
        "adc rax, 0",
        subtract_p384!(),
        add_p384_if_rax!(),
        store!("rdi" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13");

    /// Computes `out = a − b`, as [`sub_p384`].
    sub_p384_at(a b):
        combine!("sub" "sbb"; [1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        "sbb rax, rax",
        add_p384_if_rax!(),
        store!("rdi" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13");

    /// Computes `out = a + b`, as [`add_p521`].
    add_p521_at(a b):
        "stc",
        combine!("adc" "adc"; [1 2 3 4 5 6 7 8]
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rax" "rcx"),
        "cmp rcx, 0x200",
        subtract_borrow_p521!(),
        store!("rdi" [0 1 2 3 4 5 6 7 8] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rax" "rcx");

    /// Computes `out = a − b`, as [`sub_p521`].
    sub_p521_at(a b):
        combine!("sub" "sbb"; [1 2 3 4 5 6 7 8]
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rax" "rcx"),
        subtract_borrow_p521!(),
        store!("rdi" [0 1 2 3 4 5 6 7 8] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rax" "rcx");

    /// Computes `out` = `out` times 3/2: three times the number, plus the prime if that is odd, is
    /// less than 4p, and half of it less than 2p.
    three_halves_p384_at():
        load!("rdi" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        "xor r14d, r14d",
        "add r8, r8",
        "adc r9, r9",
        "adc r10, r10",
        "adc r11, r11",
        "adc r12, r12",
        "adc r13, r13",
        "adc r14, r14",
        "add r8, [rdi]",
        "adc r9, [rdi + 8]",
        "adc r10, [rdi + 16]",
        "adc r11, [rdi + 24]",
        "adc r12, [rdi + 32]",
        "adc r13, [rdi + 40]",
        "adc r14, 0",
        "mov eax, r8d",
        "and eax, 1",
        "neg rax",
        add_p384_if_rax!(),
        "adc r14, 0",
        // The bit above the six limbs of half, which is less than 2p.
        "mov eax, r14d",
        "shr eax, 1",
        "rcr r13, 1",
        "rcr r12, 1",
        "rcr r11, 1",
        "rcr r10, 1",
        "rcr r9, 1",
        "rcr r8, 1",
        subtract_p384!(),
        add_p384_if_rax!(),
        store!("rdi" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13");

    /// Computes `out` = `out` times 3/2: half of a number is its rotation by a bit, because 2⁵²¹ is
    /// 1.
    three_halves_p521_at():
        load!("rdi" [0 1 2 3 4 5 6 7 8] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rax" "rcx"),
        "shr rcx, 1",
        "rcr rax, 1",
        "rcr r14, 1",
        "rcr r13, 1",
        "rcr r12, 1",
        "rcr r11, 1",
        "rcr r10, 1",
        "rcr r9, 1",
        "rcr r8, 1",
        "sbb edx, edx",
        "and edx, 0x100",
        "or ecx, edx",
        "stc",
        "adc r8, [rdi]",
        "adc r9, [rdi + 8]",
        "adc r10, [rdi + 16]",
        "adc r11, [rdi + 24]",
        "adc r12, [rdi + 32]",
        "adc r13, [rdi + 40]",
        "adc r14, [rdi + 48]",
        "adc rax, [rdi + 56]",
        "adc rcx, [rdi + 64]",
        "cmp rcx, 0x200",
        subtract_borrow_p521!(),
        store!("rdi" [0 1 2 3 4 5 6 7 8] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rax" "rcx");
}
