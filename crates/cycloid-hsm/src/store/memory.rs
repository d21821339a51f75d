//! Memory for keys: pages of their own that are never swapped out nor dumped, and wiped before they go.

#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap_anonymous, munmap};
use zeroize::Zeroize;

use crate::error::{Code, Error, Result};

/// A value in locked pages (`mlock`) that no core dump contains (`MADV_DONTDUMP`).
pub(super) struct Locked<T: Zeroize>(NonNull<T>);

// SAFETY: a `Locked` owns its value and nothing else does, as with a `Box`.
unsafe impl<T: Zeroize + Send> Send for Locked<T> {}
// SAFETY: likewise; a shared `Locked` gives shared references to its value alone.
unsafe impl<T: Zeroize + Sync> Sync for Locked<T> {}

impl<T: Zeroize + Default> Locked<T> {
    /// The value that is wiped, in pages of its own.
    ///
    /// # Errors
    /// [`Code::HOST_MEMORY`] where the system gives none, or locks none.
    pub(super) fn new() -> Result<Self> {
        const { assert!(align_of::<T>() <= 4096 && size_of::<T>() > 0) };
        let refused = |what| move |error| refusal(what, error);
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping, at an address of the kernel's choice, replaces nothing.
        let pages = unsafe { mmap_anonymous(null_mut(), size_of::<T>(), protection, flags) }
            .map_err(refused("there is no memory for keys"))?;
        let value = NonNull::new(pages.cast::<T>()).expect("the kernel maps nothing at zero");
        // SAFETY: the pages are writable, as long as `T` and aligned for it, by the assertion; from
        // here on they belong to `locked`, which unmaps them.
        let locked = unsafe {
            value.write(T::default());
            Self(value)
        };
        // SAFETY: the pages were mapped above, and neither call changes what they contain.
        unsafe {
            mlock(pages, size_of::<T>())
                .map_err(refused("memory for keys cannot be locked; is RLIMIT_MEMLOCK too low?"))?;
            madvise(pages, size_of::<T>(), Advice::LinuxDontDump)
                .map_err(refused("memory for keys cannot be kept out of core dumps"))?;
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
        // SAFETY: `new` wrote a value there, and it lives as long as `self`.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Zeroize> DerefMut for Locked<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and `self` is borrowed by no one else.
        unsafe { self.0.as_mut() }
    }
}

impl<T: Zeroize> Drop for Locked<T> {
    fn drop(&mut self) {
        self.zeroize();
        // SAFETY: the value and then its pages, which `new` mapped, end here, and no reference to
        // them is left. Should the kernel refuse, they stay mapped and hold nothing.
        unsafe {
            self.0.drop_in_place();
            let _ = munmap(self.0.as_ptr().cast(), size_of::<T>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel says about the mapping that contains `address`.
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
    fn is_locked_and_not_dumped() {
        let mut locked = Locked::<[u8; 32]>::new().unwrap();
        assert_eq!(*locked, [0; 32]);
        *locked = [7; 32];
        assert_eq!(*locked, [7; 32]);
        let flags = flags_of(locked.as_ptr().addr());
        assert!(flags.contains(" lo") && flags.contains(" dd"), "{flags}");
    }
}
