//! Memory for keys and results that stay alive during the search.

use std::sync::atomic::{AtomicUsize, Ordering};

const ARENA: usize = 1 << 20;

static ARENA_START: AtomicUsize = AtomicUsize::new(0);
static ARENA_USED: AtomicUsize = AtomicUsize::new(0);

/// Reserves the memory, which the search excludes.
pub(crate) fn reserve() -> &'static mut [u8] {
    let arena: &'static mut [u8] = vec![0; ARENA].leak();
    ARENA_START.store(arena.as_mut_ptr() as usize, Ordering::Relaxed);
    arena
}

/// Forgets the values of the previous case.
pub(crate) fn clear() {
    ARENA_USED.store(0, Ordering::Relaxed);
}

/// Places a value where it may be during the search.
///
/// It is made in frames that are painted over later.
#[inline(never)]
pub(crate) fn live<T>(make: impl FnOnce() -> T) -> &'static mut T {
    let room = room(size_of::<T>(), align_of::<T>());
    let place = room.as_mut_ptr().cast::<T>();
    // SAFETY: the space belongs to this value alone, with its size and alignment.
    unsafe {
        place.write(make());
        &mut *place
    }
}

/// Returns zeros that may become secrets that stay alive.
pub(crate) fn limbs<T: Copy>(count: usize, zero: T) -> &'static mut [T] {
    let room = room(count * size_of::<T>(), align_of::<T>());
    // SAFETY: the space belongs to these values alone, with their size and alignment.
    let limbs = unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), count) };
    limbs.fill(zero);
    limbs
}

fn room(bytes: usize, align: usize) -> &'static mut [u8] {
    let start = ARENA_START.load(Ordering::Relaxed);
    let at = (start + ARENA_USED.load(Ordering::Relaxed)).next_multiple_of(align.max(64));
    ARENA_USED.store(at + bytes - start, Ordering::Relaxed);
    assert!(at + bytes <= start + ARENA, "the arena is full");
    // SAFETY: this part of the arena has no other user.
    unsafe { std::slice::from_raw_parts_mut(at as *mut u8, bytes) }
}
