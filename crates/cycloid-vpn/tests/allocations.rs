//! The packet path allocates nothing: a test with a counting allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cycloid_vpn::bench::{CIPHERS, Round, Shape};

/// The system's allocator, with a counter for each thread.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no counter any more; no test reads such a counter.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is forwarded to the system's allocator unchanged; counting neither allocates
// nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's guarantees are those that the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations of `work` on this thread.
fn allocations(work: &mut dyn FnMut()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

#[test]
fn no_packet_allocates() {
    assert_eq!(allocations(&mut || drop(Box::new(7))), 1, "the allocator counts");
    for cipher in CIPHERS {
        for shape in [Shape::Packets(64), Shape::Packets(1400), Shape::SuperPacket] {
            let mut round = Round::new(cipher, shape).expect("the engine works");
            // Allocations of the first round are reused afterwards.
            round.check().expect("opened packets equal the sealed ones");
            let mut done = Ok(());
            let count = allocations(&mut || done = round.seal().and_then(|()| round.open()));
            done.expect("the engine works");
            assert_eq!(count, 0, "{} {shape}", cipher.name());
        }
    }
}
