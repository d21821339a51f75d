//! Table lookup that reads the whole table, two limbs at a time, or four.

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

/// Copies eight words of an entry: the entries are `SKIP` + 32 bytes apart from `table` to `end`,
/// at most sixteen, four at a time. The one is copied for which UADD16 shifts a bit out of `hot`:
/// bits 15 and 31 stand for the first, the next lower ones for the next. Zero if there is none.
///
/// # Safety
/// `out` has eight words, and so have all of those addresses.
#[unsafe(naked)]
unsafe extern "C" fn select_8<const SKIP: usize>(
    out: *mut Limb,
    table: *const Limb,
    hot: u32,
    end: *const Limb,
) {
    naked_asm!(
        "push {{r0, r3-r11, lr}}",
        "mov r12, r2",
        "mov r4, #0\nmov r5, #0\nmov r6, #0\nmov r7, #0",
        "mov r8, #0\nmov r9, #0\nmov r10, #0\nmov r11, #0",
        "22:",
        ".rept 4",
        "uadd16 r12, r12, r12",
        "ldm r1!, {{r0, r2, r3, lr}}",
        "sel r4, r0, r4",
        "sel r5, r2, r5",
        "sel r6, r3, r6",
        "sel r7, lr, r7",
        "ldm r1!, {{r0, r2, r3, lr}}",
        "add r1, r1, #{skip}",
        "sel r8, r0, r8",
        "sel r9, r2, r9",
        "sel r10, r3, r10",
        "sel r11, lr, r11",
        ".endr",
        "ldr r0, [sp, #4]",
        "cmp r1, r0",
        "bne 22b",
        "pop {{r0, r1}}",
        "stm r0, {{r4-r11}}",
        "pop {{r4-r11, pc}}",
        skip = const SKIP,
    )
}

/// Like [`lookup`], in fewer cycles for the tables of curves of 256 bits: entries of eight or
/// twelve limbs, whose number is divisible by four.
#[inline(never)]
pub(in crate::machine) fn lookup_of_curve(
    token: Armv7em,
    out: &mut [Limb],
    table: &[Limb],
    index: usize,
) {
    match out.len() {
        8 if table.len().is_multiple_of(4 * 8) => in_fours::<8, 32>(out, table, index),
        12 if table.len().is_multiple_of(4 * 12) => in_fours::<12, 64>(out, table, index),
        _ => lookup(token, out, table, index),
    }
}

/// Copies an entry of N limbs, four at a time, from a table whose entries are `SKIP` bytes longer
/// than that. The number of entries is divisible by four.
#[inline(always)]
fn in_fours<const N: usize, const SKIP: usize>(out: &mut [Limb], table: &[Limb], index: usize) {
    let (first, rest) = table.split_at(table.len().min(16 * N));
    part_in_fours::<SKIP>(out, first, index, 0);
    for (i, part) in rest.chunks(16 * N).enumerate() {
        let mut entry = [0; N];
        part_in_fours::<SKIP>(&mut entry, part, index, i + 1);
        out.iter_mut().zip(&entry).for_each(|(out, limb)| *out |= limb);
    }
}

/// The same for one part of the table, of at most sixteen entries; zero if the entry is in another.
#[inline(always)]
fn part_in_fours<const SKIP: usize>(out: &mut [Limb], part: &[Limb], index: usize, number: usize) {
    let here = Mask::equal((index / 16) as Limb, number as Limb).value() as u32;
    let hot = here & (0x8000_8000 >> (index % 16));
    for (place, out) in out.chunks_exact_mut(4).enumerate() {
        let first = part[4 * place..].as_ptr();
        let end = first.wrapping_add(part.len());
        // SAFETY: the token of the caller proves UADD16 and SEL. Four limbs from each of the
        // addresses are within N limbs, and `end` is as far from the last entry as that from the
        // entry before.
        unsafe { select_8::<SKIP>(out.as_mut_ptr(), first, hot, end) };
    }
}

/// Copies `out = table[index]`; see [`ct::lookup`](crate::machine::ct::lookup).
#[inline(never)]
pub(super) fn lookup(_: Armv7em, out: &mut [Limb], table: &[Limb], index: usize) {
    let n = out.len();
    assert!(n != 0 && table.len() >= n);
    if cfg!(feature = "small") || n == 1 || table.len() > ENTRIES * n {
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
