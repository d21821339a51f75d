//! The allocator of a program that uses the tracer.
//!
//! The tracer may interrupt `malloc` itself, so while it runs its memory comes from a separate
//! arena. Newly allocated memory is clean, whatever the shadow recorded of its previous use. So is
//! freed memory: glibc compares one of its words with a random key, which reveals nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::Ordering;

use crate::arena::{self, IN_TRACER, in_arena};
use crate::trace;

/// Serves the tracer from its own arena, and everything else from the system.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: blocks of the arena are aligned to their size, do not overlap, and are reused only after
// being freed; all other blocks are the system's.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !IN_TRACER.load(Ordering::Relaxed) {
            // SAFETY: the caller's promise.
            let pointer = unsafe { System.alloc(layout) };
            if !pointer.is_null() {
                trace::public_bytes(pointer as usize, layout.size());
            }
            return pointer;
        }
        // SAFETY: the tracer is running.
        unsafe { arena::allocate(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if !in_arena(pointer) {
            if !IN_TRACER.load(Ordering::Relaxed) {
                trace::public_bytes(pointer as usize, layout.size());
            }
            // SAFETY: the caller's promise, for a block of the system's allocator.
            unsafe { System.dealloc(pointer, layout) };
            return;
        }
        if !IN_TRACER.load(Ordering::Relaxed) {
            // Only the tracer may use the lists; blocks freed by other code are not reused.
            return;
        }
        // SAFETY: the caller's promise, for a block of the arena; the tracer is running.
        unsafe { arena::release(pointer, layout) };
    }
}
