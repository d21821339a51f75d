//! Working memory that waits for its next use.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// Up to `N` values that are not in use, shared by any number of threads without locks.
pub(crate) struct Pool<T, const N: usize> {
    slots: [AtomicPtr<T>; N],
    /// The pool owns values, so it crosses threads only if they do.
    values: PhantomData<T>,
}

impl<T, const N: usize> Default for Pool<T, N> {
    fn default() -> Self {
        Self { slots: [const { AtomicPtr::new(ptr::null_mut()) }; N], values: PhantomData }
    }
}

impl<T, const N: usize> Pool<T, N> {
    /// Takes a value, if there is one.
    pub(crate) fn take(&self) -> Option<Box<T>> {
        let mut taken = self.slots.iter().map(|slot| slot.swap(ptr::null_mut(), Ordering::Acquire));
        let value = taken.find(|value| !value.is_null())?;
        // SAFETY: `put` stored a box, and the exchange made this its only owner.
        Some(unsafe { Box::from_raw(value) })
    }

    /// Keeps a value for later; drops it if the pool is full.
    pub(crate) fn put(&self, value: Box<T>) {
        let value = Box::into_raw(value);
        let free = |slot: &AtomicPtr<T>| {
            let (none, order) = (ptr::null_mut(), Ordering::Release);
            slot.compare_exchange(none, value, order, Ordering::Relaxed).is_ok()
        };
        if !self.slots.iter().any(free) {
            // SAFETY: the box from above, which no slot has taken.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

impl<T, const N: usize> Drop for Pool<T, N> {
    fn drop(&mut self) {
        while self.take().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread;
    use std::vec::Vec;

    use super::*;

    /// A value that counts how many exist.
    struct Counted<'a>(&'a AtomicUsize, usize);

    impl<'a> Counted<'a> {
        fn new(count: &'a AtomicUsize, number: usize) -> Box<Self> {
            count.fetch_add(1, Ordering::Relaxed);
            Box::new(Self(count, number))
        }
    }

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_full_pool_drops_and_a_dropped_pool_empties() {
        let count = AtomicUsize::new(0);
        let pool = Pool::<_, 3>::default();
        assert!(pool.take().is_none());
        (0..5).for_each(|number| pool.put(Counted::new(&count, number)));
        assert_eq!(count.load(Ordering::Relaxed), 3);
        let mut numbers: Vec<_> = (0..2).map(|_| pool.take().unwrap().1).collect();
        numbers.sort_unstable();
        assert!(numbers[0] < numbers[1] && numbers[1] < 3, "{numbers:?}");
        assert_eq!(count.load(Ordering::Relaxed), 1);
        drop(pool);
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn no_value_has_two_owners() {
        let count = AtomicUsize::new(0);
        let uses: Vec<AtomicUsize> = (0..8).map(|_| AtomicUsize::new(0)).collect();
        let pool = Pool::<_, 4>::default();
        (0..4).for_each(|number| pool.put(Counted::new(&count, number)));
        thread::scope(|scope| {
            for own in 4..8 {
                let (pool, uses, count) = (&pool, &uses, &count);
                scope.spawn(move || {
                    for _ in 0..10_000 {
                        let value = pool.take().unwrap_or_else(|| Counted::new(count, own));
                        assert_eq!(uses[value.1].fetch_add(1, Ordering::AcqRel), 0);
                        uses[value.1].fetch_sub(1, Ordering::AcqRel);
                        let is_own = value.1 == own;
                        if is_own { drop(value) } else { pool.put(value) }
                    }
                });
            }
        });
        drop(pool);
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }
}
