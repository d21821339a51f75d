//! Prefetching memory that is read in an order the processor cannot predict.

use super::words::Limb;

/// Prefetches the cache lines of `limbs` limbs from `at` on; skips positions outside `memory`.
///
/// If the positions depend on a value, time does too.
#[inline(always)]
pub fn prefetch_vartime(memory: &[Limb], at: usize, limbs: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in memory.get(at..at + limbs).unwrap_or(&[]).chunks(64 / size_of::<Limb>()) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of the architecture has the instruction, and it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, at, limbs);
}
