//! Table lookup that reads the whole table, two limbs at a time.

use super::Limb;

/// Number of vectors that stay in registers while the entries are read.
#[cfg(target_feature = "neon")]
const WIDEST: usize = 16;

/// Copies `out = table[index]`; see [`ct::lookup`](crate::machine::ct::lookup).
#[cfg(target_feature = "neon")]
#[inline]
pub(super) fn lookup(out: &mut [Limb], table: &[Limb], index: usize) {
    let n = out.len();
    assert!(n != 0 && table.len().is_multiple_of(n));
    // Entries that are affine points on curves over 256 bits.
    let (to, from, entries) = (out.as_mut_ptr(), table.as_ptr(), table.len() / n);
    if n == 8 {
        // SAFETY: the table is entries of as many limbs, and `out` is uniquely borrowed.
        unsafe { entry_of_8(to, from, entries, index) };
        return;
    }
    if n == 12 {
        // SAFETY: as above.
        unsafe { entry_of_12(to, from, entries, index) };
        return;
    }
    let mut place = 0;
    while n - place >= 2 * WIDEST {
        columns::<WIDEST>(out, table, index, place);
        place += 2 * WIDEST;
    }
    if n - place >= 16 {
        columns::<8>(out, table, index, place);
        place += 16;
    }
    if n - place >= 12 {
        columns::<6>(out, table, index, place);
        place += 12;
    }
    if n - place >= 8 {
        columns::<4>(out, table, index, place);
        place += 8;
    }
    if n - place >= 4 {
        columns::<2>(out, table, index, place);
        place += 4;
    }
    if n - place >= 2 {
        columns::<1>(out, table, index, place);
        place += 2;
    }
    match n - place {
        0 => (),
        1 if n == 1 => crate::machine::ct::lookup(out, table, index),
        // The limb before the last is copied again.
        _ => columns::<1>(out, table, index, n - 2),
    }
}

/// Defines a function that copies `out = table[index]` for entries of two limbs in each of the
/// vectors `$sum`; `v0` is the index minus the place of the next entry.
#[cfg(target_feature = "neon")]
macro_rules! whole_entries {
    ($name:ident $([$sum0:literal $sum1:literal])+; $([$store:literal $q0:literal $q1:literal])+) => {
        /// Copies `out = table[index]`, or 0 for an index outside the table.
        ///
        /// # Safety
        /// `table` is `entries` entries, and `out` has room for one; it need not be initialised.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(
            out: *mut Limb,
            table: *const Limb,
            entries: usize,
            index: usize,
        ) {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "dup v0.2d, x3",
                "mov x4, #1",
                "dup v1.2d, x4",
                $(
                    concat!("movi ", $sum0, ".2d, #0"),
                    concat!("movi ", $sum1, ".2d, #0"),
                )+
                "subs x2, x2, #4",
                "b.lo 3f",
                "2:",
                whole_entries!(@$([$sum0 $sum1])+),
                whole_entries!(@$([$sum0 $sum1])+),
                whole_entries!(@$([$sum0 $sum1])+),
                whole_entries!(@$([$sum0 $sum1])+),
                "subs x2, x2, #4",
                "b.hs 2b",
                "3:",
                "ands x2, x2, #3",
                "b.eq 5f",
                "4:",
                whole_entries!(@$([$sum0 $sum1])+),
                "subs x2, x2, #1",
                "b.ne 4b",
                "5:",
                $(concat!("stp ", $q0, ", ", $q1, ", [x0, #", $store, "]"),)+
                "ret",
                ".cfi_endproc",
            )
        }
    };
    (@$([$sum0:literal $sum1:literal])+) => {
        concat!(
            "cmeq v16.2d, v0.2d, #0\n",
            $(
                "ldp q17, q18, [x1], #32\n",
                "bit ", $sum0, ".16b, v17.16b, v16.16b\n",
                "bit ", $sum1, ".16b, v18.16b, v16.16b\n",
            )+
            "sub v0.2d, v0.2d, v1.2d\n",
        )
    };
}

#[cfg(target_feature = "neon")]
whole_entries!(entry_of_8 ["v2" "v3"] ["v4" "v5"]; [0 "q2" "q3"] [32 "q4" "q5"]);
#[cfg(target_feature = "neon")]
whole_entries!(entry_of_12 ["v2" "v3"] ["v4" "v5"] ["v6" "v7"];
    [0 "q2" "q3"] [32 "q4" "q5"] [64 "q6" "q7"]);

/// Copies the 2·`V` limbs from `place` on of entry `index`.
#[cfg(target_feature = "neon")]
#[inline(always)]
fn columns<const V: usize>(out: &mut [Limb], table: &[Limb], index: usize, place: usize) {
    use core::arch::aarch64::*;

    // SAFETY: the target has NEON.
    let subtract = |a, b| unsafe { vsubq_u64(a, b) };
    let n = out.len();
    // SAFETY: as above.
    let (mut sum, mut distance, one, two) =
        unsafe { ([vdupq_n_u64(0); V], vdupq_n_u64(index as u64), vdupq_n_u64(1), vdupq_n_u64(2)) };
    let mut next = subtract(distance, one);
    let select = |sum: &mut [uint64x2_t; V], distance, entry: &[Limb]| {
        // SAFETY: as above; each load is of two limbs of the array.
        unsafe {
            let mask = vceqzq_u64(distance);
            let (vectors, _) = entry[place..place + 2 * V].as_chunks::<2>();
            for (sum, vector) in sum.iter_mut().zip(vectors) {
                *sum = vbslq_u64(mask, vld1q_u64(vector.as_ptr()), *sum);
            }
        }
    };
    let mut pairs = table.chunks_exact(2 * n);
    for pair in &mut pairs {
        let (first, second) = pair.split_at(n);
        select(&mut sum, distance, first);
        select(&mut sum, next, second);
        (distance, next) = (subtract(distance, two), subtract(next, two));
    }
    if !pairs.remainder().is_empty() {
        select(&mut sum, distance, pairs.remainder());
    }
    let (vectors, _) = out[place..place + 2 * V].as_chunks_mut::<2>();
    for (vector, sum) in vectors.iter_mut().zip(sum) {
        // SAFETY: as above; two limbs are written.
        unsafe { vst1q_u64(vector.as_mut_ptr(), sum) };
    }
}

/// Copies `out = table[index]`; see [`ct::lookup`](crate::machine::ct::lookup).
#[cfg(not(target_feature = "neon"))]
#[inline]
pub(super) fn lookup(out: &mut [Limb], table: &[Limb], index: usize) {
    crate::machine::ct::lookup(out, table, index);
}
