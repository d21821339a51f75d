//! What moves a packet allocates nothing, seen by an allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cycloid_vpn::bench::{CIPHERS, Round, Shape};

/// The system's allocator, with a count for each thread.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends has no counter any more; none such is looked at.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes on to the system's allocator as it came; counting neither allocates nor
// unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: what the caller promises is what the system's allocator wants.
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

/// Allocations of a piece of work on this thread.
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
            // What is allocated once is kept from then on.
            round.check().expect("what is opened is what was sealed");
            let mut done = Ok(());
            let count = allocations(&mut || done = round.seal().and_then(|()| round.open()));
            done.expect("the engine works");
            assert_eq!(count, 0, "{} {shape}", cipher.name());
        }
    }
}
