//! Memory that the caller passes.

use super::error::Error;

/// Returns the first `needed` limbs of `memory`.
pub(super) fn checked_memory(memory: &mut [u64], needed: usize) -> Result<&mut [u64], Error> {
    let given = memory.len();
    memory.get_mut(..needed).ok_or(Error::MemoryTooSmall { needed, given })
}
