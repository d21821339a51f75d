//! Memory for keys: dedicated pages that are never swapped out or dumped, and are wiped before they
//! are unmapped.

#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap_anonymous, munmap};
use zeroize::Zeroize;

use crate::{Code, Error, Result};

/// A value in locked pages (`mlock`) that no core dump contains (`MADV_DONTDUMP`).
pub(super) struct Locked<T: Zeroize>(NonNull<T>);

// SAFETY: a `Locked` owns its value and nothing else does, as with a `Box`.
unsafe impl<T: Zeroize + Send> Send for Locked<T> {}
// SAFETY: as for `Send`; a shared `Locked` yields only shared references to its value.
unsafe impl<T: Zeroize + Sync> Sync for Locked<T> {}

impl<T: Zeroize + Default> Locked<T> {
    /// Returns the default value, in its own pages.
    ///
    /// # Errors
    /// [`Code::HOST_MEMORY`] if the system cannot allocate or lock the memory.
    pub(super) fn new() -> Result<Self> {
        const { assert!(align_of::<T>() <= 4096 && size_of::<T>() > 0) };
        let refused = |what| move |error| refusal(what, error);
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping, at an address of the kernel's choice, replaces nothing.
        let pages = unsafe { mmap_anonymous(null_mut(), size_of::<T>(), protection, flags) }
            .map_err(refused("cannot allocate memory for keys"))?;
        let value = NonNull::new(pages.cast::<T>()).expect("the kernel maps nothing at zero");
        // SAFETY: the pages are writable, as long as `T` and aligned for it, by the assertion; from
        // here on `locked` owns and unmaps them.
        let locked = unsafe {
            value.write(T::default());
            Self(value)
        };
        // SAFETY: the pages were mapped above, and neither call changes what they contain.
        unsafe {
            mlock(pages, size_of::<T>())
                .map_err(refused("cannot lock memory for keys; raise RLIMIT_MEMLOCK"))?;
            madvise(pages, size_of::<T>(), Advice::LinuxDontDump)
                .map_err(refused("cannot exclude memory for keys from core dumps"))?;
        }
        Ok(locked)
    }
}

fn refusal(what: &str, error: rustix::io::Errno) -> Error {
    Code::HOST_MEMORY.because(format!("{what} ({error})"))
}

impl<T: Zeroize> Deref for Locked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `new` wrote a value there, which lives as long as `self`.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Zeroize> DerefMut for Locked<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and nobody else borrows `self`.
        unsafe { self.0.as_mut() }
    }
}

impl<T: Zeroize> Drop for Locked<T> {
    fn drop(&mut self) {
        self.zeroize();
        // SAFETY: `new` mapped these pages, and no reference to the value or the pages remains. If
        // the kernel refuses to unmap them, they stay mapped and hold nothing.
        unsafe {
            self.0.drop_in_place();
            let _ = munmap(self.0.as_ptr().cast(), size_of::<T>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the kernel's flags of the mapping that contains `address`.
    fn flags_of(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        for line in maps.lines() {
            let range = line.split_whitespace().next().unwrap().split_once('-');
            if let Some((start, end)) = range {
                let bound = |text| usize::from_str_radix(text, 16).unwrap();
                inside = (bound(start)..bound(end)).contains(&address);
            } else if inside && line.starts_with("VmFlags:") {
                return line.to_owned();
            }
        }
        panic!("no mapping contains the address");
    }

    #[test]
    fn key_memory_is_locked_and_not_dumped() {
        let mut locked = Locked::<[u8; 32]>::new().unwrap();
        assert_eq!(*locked, [0; 32]);
        *locked = [7; 32];
        assert_eq!(*locked, [7; 32]);
        let flags = flags_of(locked.as_ptr().addr());
        assert!(flags.contains(" lo") && flags.contains(" dd"), "{flags}");
    }
}
