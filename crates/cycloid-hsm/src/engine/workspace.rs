//! The memory of one worker's RSA batches, which lives as long as the worker.

use std::collections::HashMap;

use cycloid::scheme::rsa;
use getrandom::SysRng;
use rand_core::UnwrapErr;

/// The number of blindings that a batch caches.
const BLINDINGS: usize = 64;

/// One worker's batches.
#[derive(Default)]
pub(crate) struct Workspace {
    rsa: HashMap<usize, RsaBatch>,
}

/// A batch of operations with RSA keys of one length, and its memory.
pub(super) type RsaBatch = rsa::Batch<Box<[u64]>, UnwrapErr<SysRng>>;

impl Workspace {
    /// Returns the batch for RSA keys of `bits` bits, created on first use.
    pub(super) fn rsa(&mut self, bits: usize) -> &mut RsaBatch {
        self.rsa.entry(bits).or_insert_with(|| {
            let memory = vec![0; rsa::batch_limbs(bits, BLINDINGS)].into_boxed_slice();
            rsa::Batch::new(bits, UnwrapErr(SysRng), memory).expect("the memory is as it asks for")
        })
    }

    /// Discards batches that a panic may have left half done.
    pub(super) fn clear(&mut self) {
        self.rsa.clear();
    }
}
