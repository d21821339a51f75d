//! Products by strips: w limbs of one factor stay fixed, and the other factor's limbs are the rows.

use super::Limb;
use core::arch::naked_asm;

/// Defines a strip kernel: for each of the blocks of w limbs of `a`, from the lowest on,
/// `out[w·block ..] += a[w·block ..][..w] · b`.
///
/// Per block it adds to as many limbs of `out` as `b` has and overwrites the w limbs above them.
///
/// Stack: `b_end`, entry, `a_end`, the addresses of `b` and `out` for the first row.
macro_rules! strips {
    ($name:ident [$($j:literal)+] $w:literal $($window:literal)+) => {
        /// A strip kernel; see [`strips`].
        ///
        /// # Safety
        /// The processor has BMI2 and ADX. `a` to `a_end` are whole blocks, at least one; `b` to
        /// `b_end` is at least one limb; `out` has as many limbs as both together and overlaps
        /// neither. `skip < w` makes the number of limbs of `b` a multiple of w.
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(
            out: *mut Limb,
            a: *const Limb,
            a_end: *const Limb,
            b: *const Limb,
            b_end: *const Limb,
            skip: usize,
        ) {
            naked_asm!(
                enter!(40),
                "mov [rsp], r8",
                "mov [rsp + 16], rdx",
                "lea rax, [8*r9]",
                "sub rcx, rax",
                "mov [rsp + 24], rcx",
                "sub rdi, rax",
                "mov [rsp + 32], rdi",
                entry!("r9"),
                "22:",
                clear_window!($($window)+),
                row_loop!([$($j)+] $w $($window)+),
                store_window!([$($j)+] $($window)+),
                concat!("add rsi, 8*", $w),
                concat!("add qword ptr [rsp + 32], 8*", $w),
                "mov rcx, [rsp + 24]",
                "mov rdi, [rsp + 32]",
                "cmp rsi, [rsp + 16]",
                "jne 22b",
                leave!(40),
                row_table!([$($j)+]),
            )
        }
    };
}

strips!(strips_1 [0] 1 "r8");
strips!(strips_2 [0 1] 2 "r8" "r9");
strips!(strips_3 [0 1 2] 3 "r8" "r9" "r10");
strips!(strips_4 [0 1 2 3] 4 "r8" "r9" "r10" "r11");
strips!(strips_5 [0 1 2 3 4] 5 "r8" "r9" "r10" "r11" "r12");
strips!(strips_6 [0 1 2 3 4 5] 6 "r8" "r9" "r10" "r11" "r12" "r13");
strips!(strips_7 [0 1 2 3 4 5 6] 7 "r8" "r9" "r10" "r11" "r12" "r13" "r14");
strips!(strips_8 [0 1 2 3 4 5 6 7] 8 "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15");

/// Computes `product = a · b`; `product.len() == a.len() + b.len()`.
///
/// # Safety
/// The processor has BMI2 and ADX.
pub(super) unsafe fn mul(product: &mut [Limb], a: &[Limb], b: &[Limb]) {
    assert_eq!(product.len(), a.len() + b.len());
    // The factor whose strips leave the narrower remainder stays fixed.
    let (a, b) = if b.len() % 8 < a.len() % 8 { (b, a) } else { (a, b) };
    if a.is_empty() || b.is_empty() {
        return product.fill(0);
    }
    product[..b.len()].fill(0);
    let (blocks, rest) = a.split_at(a.len() / 8 * 8);
    let run =
        |kernel: unsafe extern "sysv64" fn(_, _, _, _, _, _), w, out: *mut Limb, a: &[Limb]| {
            let skip = (w - b.len() % w) % w;
            let (a, b) = (a.as_ptr_range(), b.as_ptr_range());
            // SAFETY: the caller guarantees the processor. `a` is one or more blocks of w limbs,
            // `b` is not empty, and `out`, uniquely borrowed, is as long as both together.
            unsafe { kernel(out, a.start, a.end, b.start, b.end, skip) };
        };
    let out = product.as_mut_ptr();
    if !blocks.is_empty() {
        run(strips_8, 8, out, blocks);
    }
    let out = out.wrapping_add(blocks.len());
    match rest.len() {
        0 => {}
        1 => run(strips_1, 1, out, rest),
        2 => run(strips_2, 2, out, rest),
        3 => run(strips_3, 3, out, rest),
        4 => run(strips_4, 4, out, rest),
        5 => run(strips_5, 5, out, rest),
        6 => run(strips_6, 6, out, rest),
        _ => run(strips_7, 7, out, rest),
    }
}
