//! Checks that stack contents are wiped, and that kept values are present and drop what they
//! replace.

use core::cell::Cell;
use core::hint::black_box;
use core::ptr;
use std::vec::Vec;

use super::{clean, keep, try_keep};

const MARK: u64 = 0x5ec2_e7a1_b3d4_f697;

/// Fills a frame of `N` words with the mark and returns its address.
#[inline(never)]
fn fill<const N: usize>() -> usize {
    let mut frame = [0; N];
    black_box(&mut frame).fill(MARK);
    black_box(&frame).as_ptr() as usize
}

/// Counts the marks among `words` words from an address in the dead stack on.
#[inline(never)]
fn marks(address: usize, words: usize) -> usize {
    (0..words)
        // SAFETY: the words are stack of this thread, which is mapped, as it was written before.
        .filter(|i| unsafe { ptr::read_volatile((address as *const u64).add(*i)) } == MARK)
        .count()
}

#[test]
fn stack_contents_of_an_operation_are_wiped() {
    const WORDS: usize = 2000;
    // Without wiping the marks remain, so the test can fail. Reading them overwrites some at the
    // top.
    assert!(marks(fill::<WORDS>(), WORDS) > WORDS / 2);
    assert_eq!(marks(clean(WORDS * 8 + 256, fill::<WORDS>), WORDS), 0);
}

#[test]
fn only_the_requested_bytes_are_overwritten() {
    const WORDS: usize = 2000;
    let address = clean(WORDS * 4, fill::<WORDS>);
    let left = marks(address, WORDS);
    assert!((WORDS / 4..WORDS * 3 / 4).contains(&left), "{left}");
}

#[test]
fn a_kept_value_exists_once() {
    struct Counted<'a>(u64, &'a Cell<Vec<u64>>);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            let mut dropped = self.1.take();
            dropped.push(self.0);
            self.1.set(dropped);
        }
    }
    let dropped = Cell::new(Vec::new());
    let mut place = None;
    assert_eq!(keep(&mut place, || Counted(1, &dropped)).0, 1);
    assert_eq!(try_keep(&mut place, || Ok::<_, ()>(Counted(2, &dropped))).map(|it| it.0), Ok(2));
    assert!(try_keep(&mut place, || Err(3)).is_err_and(|error| error == 3));
    assert!(place.is_none());
    assert_eq!(dropped.take(), [1, 2]);
}
