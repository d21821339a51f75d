//! Numbers of what lives in the daemon's memory.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use getrandom::SysRng;
use rand_core::{Rng, UnwrapErr};

/// The bit that marks handles of objects in memory; those of stored objects are less.
pub(super) const FIRST_IN_MEMORY: u64 = 1 << 62;

/// Returns a number for an object in memory, or for a code that runs. It starts at random, so that
/// a program that changes to another daemon never takes one for another.
pub(super) fn next_in_memory() -> u64 {
    static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| {
        let mut random = [0; 8];
        UnwrapErr(SysRng).fill_bytes(&mut random);
        // 2^24 numbers follow before the next possible start.
        AtomicU64::new(u64::from_le_bytes(random) >> 26 << 24 | 1)
    });
    NEXT.fetch_add(1, Ordering::Relaxed) & (FIRST_IN_MEMORY - 1)
}
