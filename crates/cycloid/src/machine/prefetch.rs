//! Prefetching memory that is read in an order the processor cannot predict.

use super::hint::prefetch;
use super::words::Limb;

/// Prefetches the cache lines of `limbs` limbs from `at` on; skips positions outside `memory`.
///
/// If the positions depend on a value, time does too.
#[inline(always)]
pub fn prefetch_vartime(memory: &[Limb], at: usize, limbs: usize) {
    for line in memory.get(at..at + limbs).unwrap_or(&[]).chunks(64 / size_of::<Limb>()) {
        prefetch(line);
    }
}
