//! The memory of the tracer, which may interrupt `malloc` itself.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Set while the tracer itself runs, not the traced code.
pub(crate) static IN_TRACER: AtomicBool = AtomicBool::new(false);

/// Bytes of address space reserved for the tracer; pages are allocated when they are touched.
const ARENA: usize = 4 << 30;

static START: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Free blocks of the arena by the power of two of their size, as lists linked through their first
/// word.
struct Free(UnsafeCell<[usize; 48]>);

// SAFETY: only the tracer accesses it, and only one thread traces at a time.
unsafe impl Sync for Free {}

static FREE: Free = Free(UnsafeCell::new([0; 48]));

/// Reserves the arena; called before the first trace.
pub(crate) fn reserve() {
    if START.load(Ordering::Relaxed) != 0 {
        return;
    }
    // SAFETY: a fresh private mapping that nothing else refers to.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            ARENA,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    assert!(start != libc::MAP_FAILED, "no address space for the tracer");
    START.store(start as usize, Ordering::Relaxed);
    NEXT.store(start as usize, Ordering::Relaxed);
}

/// Returns whether a block is the arena's.
pub(crate) fn in_arena(pointer: *mut u8) -> bool {
    let start = START.load(Ordering::Relaxed);
    start != 0 && (start..start + ARENA).contains(&(pointer as usize))
}

/// Returns the power of two of the block size for `layout`.
fn class(layout: Layout) -> usize {
    let size = layout.size().max(layout.align()).max(16);
    size.next_power_of_two().trailing_zeros() as usize
}

/// Allocates a block, aligned to its size; null if the arena is full.
///
/// # Safety
/// Only the tracer may call it.
pub(crate) unsafe fn allocate(layout: Layout) -> *mut u8 {
    let class = class(layout);
    // SAFETY: see `Free`.
    let free = unsafe { &mut (*FREE.0.get())[class] };
    if *free != 0 {
        let block = *free as *mut u8;
        // SAFETY: a free block holds the address of the next in its first word.
        *free = unsafe { block.cast::<usize>().read() };
        return block;
    }
    let size = 1 << class;
    let at = NEXT.load(Ordering::Relaxed).next_multiple_of(size);
    if at + size > START.load(Ordering::Relaxed) + ARENA {
        return std::ptr::null_mut();
    }
    NEXT.store(at + size, Ordering::Relaxed);
    at as *mut u8
}

/// Frees a block for reuse.
///
/// # Safety
/// The block is of this arena, allocated with this layout, and has no other user. Only the handler
/// may call it.
pub(crate) unsafe fn release(pointer: *mut u8, layout: Layout) {
    let class = class(layout);
    // SAFETY: see `Free`; the block is free from now on and has space for a word.
    unsafe {
        let free = &mut (*FREE.0.get())[class];
        pointer.cast::<usize>().write(*free);
        *free = pointer as usize;
    }
}
