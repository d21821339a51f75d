//! The memory of one worker's RSA batches, which lives as long as the worker.

use std::collections::HashMap;

use cycloid::machine::lanes::Lanes;
use cycloid::scheme::rsa;
use getrandom::SysRng;
use rand_core::UnwrapErr;

/// The memory of batches.
pub(crate) type Arena = typed_arena::Arena<Lanes>;

/// The number of blindings that a batch caches.
const BLINDINGS: usize = 64;

/// One worker's batches.
pub(crate) struct Workspace<'a> {
    arena: &'a Arena,
    rsa: HashMap<usize, rsa::Batch<'a, UnwrapErr<SysRng>>>,
}

impl<'a> Workspace<'a> {
    /// Creates batches in `arena` on first use.
    pub(crate) fn new(arena: &'a Arena) -> Self {
        Self { arena, rsa: HashMap::new() }
    }

    /// Returns the batch for RSA keys of `bits` bits.
    pub(super) fn rsa(&mut self, bits: usize) -> &mut rsa::Batch<'a, UnwrapErr<SysRng>> {
        self.rsa.entry(bits).or_insert_with(|| {
            let lanes = rsa::batch_lanes(bits, BLINDINGS);
            let memory = self.arena.alloc_extend(std::iter::repeat_n(Lanes::ZERO, lanes));
            rsa::Batch::new(bits, UnwrapErr(SysRng), memory).expect("the memory is as it asks for")
        })
    }

    /// Discards batches that a panic may have left half done.
    pub(super) fn clear(&mut self) {
        self.rsa.clear();
    }
}
