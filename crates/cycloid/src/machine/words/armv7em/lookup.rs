//! Table lookup that reads the whole table, two limbs at a time.

use core::arch::naked_asm;

use super::{Armv7em, Limb};
use crate::machine::ct;

/// Copies four words of an entry: the entries are `stride` bytes apart from `table` to `last`, and
/// the one at `index` is copied to `out`; zero if there is none.
///
/// SEL takes bytes from the entry where a flag is set. UADD8 sets all four flags for the entry at
/// `index`, whose distance to it is zero: 255 + 255 carries in each byte.
///
/// # Safety
/// `out` has four words, and so have all of those addresses.
#[unsafe(naked)]
unsafe extern "C" fn select_4(
    out: *mut Limb,
    table: *const Limb,
    stride: usize,
    index: usize,
    last: *const Limb,
) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldr lr, [sp, #36]",
        "mov r4, #0",
        "mov r5, #0",
        "mov r6, #0",
        "mov r7, #0",
        "22:",
        "clz r12, r3",
        "ldm r1, {{r8-r11}}",
        "lsr r12, r12, #5",
        "add r1, r1, r2",
        "rsb r12, r12, #0",
        "uadd8 r12, r12, r12",
        "sub r3, r3, #1",
        "sel r4, r8, r4",
        "sel r5, r9, r5",
        "sel r6, r10, r6",
        "sel r7, r11, r7",
        "cmp r1, lr",
        "bls 22b",
        "stm r0, {{r4-r7}}",
        "pop {{r4-r11, pc}}",
    )
}

/// Copies `out = table[index]`; see [`ct::lookup`](crate::machine::ct::lookup).
#[inline(never)]
pub(super) fn lookup(_: Armv7em, out: &mut [Limb], table: &[Limb], index: usize) {
    let n = out.len();
    assert!(n != 0 && table.len() >= n);
    if n == 1 {
        return ct::lookup(out, table, index);
    }
    // If n is odd, the last two limbs are copied together, one of them again.
    for place in (0..n - 1).step_by(2).chain((n % 2 != 0).then_some(n - 2)) {
        let (out, first) = (out[place..].as_mut_ptr(), table[place..].as_ptr());
        // The last address where n limbs would be an entry. (A count would need a division.)
        let last = table[table.len() - n + place..].as_ptr();
        // SAFETY: the token proves UADD8 and SEL. Two limbs from `place` on are within `out`, and
        // within n limbs from an address up to the last.
        unsafe { select_4(out, first, n * size_of::<Limb>(), index, last) };
    }
}
