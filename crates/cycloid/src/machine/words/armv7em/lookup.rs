//! Table lookup that reads the whole table, two limbs at a time.

use core::arch::naked_asm;

use super::{Armv7em, Limb};
use crate::machine::ct::{self, Mask};

/// The most entries: a byte with a sign counts them.
const ENTRIES: usize = 126;

/// Copies four words of an entry: the entries are `stride` bytes apart from `table` to `last`, and
/// the one at an index is copied to `out`; zero if there is none. Each byte of `after` is the index
/// plus one, at most [`ENTRIES`] + 1, and there are at most [`ENTRIES`] entries.
///
/// SSUB8 counts `after` down and sets the flags of SEL while it is not negative, which is up to the
/// entry at the index: the last one taken. If it is still positive then, the index is outside.
///
/// # Safety
/// `out` has four words, and so have all of those addresses.
#[unsafe(naked)]
unsafe extern "C" fn select_4(
    out: *mut Limb,
    table: *const Limb,
    stride: usize,
    after: u32,
    last: *const Limb,
) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldr lr, [sp, #36]",
        "mov r12, #0x01010101",
        "22:",
        ".rept 3",
        "ldm r1, {{r8-r11}}",
        "ssub8 r3, r3, r12",
        "add r1, r1, r2",
        "sel r4, r8, r4",
        "sel r5, r9, r5",
        "sel r6, r10, r6",
        "sel r7, r11, r7",
        "cmp r1, lr",
        "bhi 23f",
        ".endr",
        "ldm r1, {{r8-r11}}",
        "ssub8 r3, r3, r12",
        "add r1, r1, r2",
        "sel r4, r8, r4",
        "sel r5, r9, r5",
        "sel r6, r10, r6",
        "sel r7, r11, r7",
        "cmp r1, lr",
        "bls 22b",
        "23:",
        "ssub8 r3, r3, r12",
        "mov r8, #0",
        "sel r4, r8, r4",
        "sel r5, r8, r5",
        "sel r6, r8, r6",
        "sel r7, r8, r7",
        "stm r0, {{r4-r7}}",
        "pop {{r4-r11, pc}}",
    )
}

/// Copies `out = table[index]`; see [`ct::lookup`](crate::machine::ct::lookup).
#[inline(never)]
pub(super) fn lookup(_: Armv7em, out: &mut [Limb], table: &[Limb], index: usize) {
    let n = out.len();
    assert!(n != 0 && table.len() >= n);
    if n == 1 || table.len() > ENTRIES * n {
        return ct::lookup(out, table, index);
    }
    // An index above is outside, like the bound.
    let above = Mask::less(ENTRIES as Limb, index as Limb);
    let after = above.select(ENTRIES as Limb, index as Limb) as u32 + 1;
    let after = after * 0x0101_0101;
    // If n is odd, the last two limbs are copied together, one of them again.
    for place in (0..n - 1).step_by(2).chain((n % 2 != 0).then_some(n - 2)) {
        let (out, first) = (out[place..].as_mut_ptr(), table[place..].as_ptr());
        // The last address where n limbs would be an entry. (A count would need a division.)
        let last = table[table.len() - n + place..].as_ptr();
        // SAFETY: the token proves SSUB8 and SEL. Two limbs from `place` on are within `out`, and
        // within n limbs from an address up to the last.
        unsafe { select_4(out, first, n * size_of::<Limb>(), after, last) };
    }
}
