//! Counts the heap use of a section of code, in any language.
//!
//! On Linux with glibc this file defines `malloc` and its relatives for the whole program, and
//! forwards every call to glibc. Rust's allocator, linked-in C code and shared libraries loaded
//! later all call these functions, because the dynamic linker searches the executable first.
//! Counting is per thread, and costs one test of a flag while it is off. On other systems nothing
//! is counted, and [`measure`] returns `None`.
//!
//! Bytes are those that the allocator reserves (`malloc_usable_size`), slightly more than
//! requested.

/// The heap use of a section of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapUse {
    /// Calls that allocate or resize.
    pub allocations: u64,
    /// Bytes of all allocations together.
    pub total_bytes: u64,
    /// The peak of the bytes in use, relative to the start.
    pub peak_bytes: u64,
    /// Bytes in use at the end, relative to the start; negative if more was freed.
    pub held_bytes: i64,
}

/// Runs `f` and returns its heap use on this thread, or `None` if this system cannot count it.
///
/// Sections do not nest: an inner one ends the counting of the outer.
pub fn measure<R>(f: impl FnOnce() -> R) -> (R, Option<HeapUse>) {
    counting::measure(f)
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod counting {
    pub(super) fn measure<R>(f: impl FnOnce() -> R) -> (R, Option<super::HeapUse>) {
        (f(), None)
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod counting {
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    use std::hint::black_box;
    use std::ptr;

    use super::HeapUse;

    // Constant initialisers and no destructors, so that accessing these never allocates.
    thread_local! {
        static ACTIVE: Cell<bool> = const { Cell::new(false) };
        static USE: Cell<HeapUse> = const {
            Cell::new(HeapUse { allocations: 0, total_bytes: 0, peak_bytes: 0, held_bytes: 0 })
        };
    }

    pub(super) fn measure<R>(f: impl FnOnce() -> R) -> (R, Option<HeapUse>) {
        // Referring to `malloc` makes the linker take this file's definition into the program.
        black_box(malloc as *const ());
        USE.set(HeapUse::default());
        ACTIVE.set(true);
        let result = f();
        ACTIVE.set(false);
        (result, Some(USE.get()))
    }

    fn obtained(pointer: *mut c_void) {
        if ACTIVE.get() && !pointer.is_null() {
            count(size(pointer), 0);
        }
    }

    fn count(obtained: usize, released: usize) {
        let mut heap = USE.get();
        heap.allocations += 1;
        heap.total_bytes += obtained as u64;
        heap.held_bytes += obtained as i64 - released as i64;
        heap.peak_bytes = heap.peak_bytes.max(heap.held_bytes.max(0) as u64);
        USE.set(heap);
    }

    fn size(pointer: *mut c_void) -> usize {
        // SAFETY: called only with pointers from the allocator below, or null, for which it returns
        // 0.
        unsafe { malloc_usable_size(pointer) }
    }

    unsafe extern "C" {
        fn __libc_malloc(size: usize) -> *mut c_void;
        fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
        fn __libc_realloc(pointer: *mut c_void, size: usize) -> *mut c_void;
        fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
        fn __libc_valloc(size: usize) -> *mut c_void;
        fn __libc_pvalloc(size: usize) -> *mut c_void;
        fn __libc_free(pointer: *mut c_void);
        fn malloc_usable_size(pointer: *mut c_void) -> usize;
    }

    /// Defines functions that forward to glibc's allocation functions with the same arguments, and
    /// count.
    macro_rules! forward {
        ($($name:ident = $glibc:ident($($argument:ident),*);)*) => {$(
            /// The C function of that name.
            ///
            /// # Safety
            /// As the C standard or POSIX specifies.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: usize),*) -> *mut c_void {
                // SAFETY: glibc's own function, with the caller's arguments.
                let pointer = unsafe { $glibc($($argument),*) };
                obtained(pointer);
                pointer
            }
        )*};
    }

    forward! {
        malloc = __libc_malloc(size);
        calloc = __libc_calloc(count, size);
        memalign = __libc_memalign(alignment, size);
        aligned_alloc = __libc_memalign(alignment, size);
        valloc = __libc_valloc(size);
        pvalloc = __libc_pvalloc(size);
    }

    /// The C function of that name.
    ///
    /// # Safety
    /// As the C standard specifies.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn realloc(pointer: *mut c_void, size: usize) -> *mut c_void {
        let released = if ACTIVE.get() { self::size(pointer) } else { 0 };
        // SAFETY: glibc's own function, with the caller's arguments.
        let moved = unsafe { __libc_realloc(pointer, size) };
        if ACTIVE.get() && !moved.is_null() {
            count(self::size(moved), released);
        }
        moved
    }

    /// The POSIX function of that name.
    ///
    /// # Safety
    /// As POSIX specifies.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn posix_memalign(
        out: *mut *mut c_void,
        alignment: usize,
        size: usize,
    ) -> c_int {
        const EINVAL: c_int = 22;
        const ENOMEM: c_int = 12;
        if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<*mut c_void>()) {
            return EINVAL;
        }
        // SAFETY: glibc's own function; the alignment is valid for it.
        let pointer = unsafe { __libc_memalign(alignment, size) };
        if pointer.is_null() {
            return ENOMEM;
        }
        obtained(pointer);
        // SAFETY: the caller guarantees that `out` is valid.
        unsafe { ptr::write(out, pointer) };
        0
    }

    /// The C function of that name.
    ///
    /// # Safety
    /// As the C standard specifies.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn free(pointer: *mut c_void) {
        if ACTIVE.get() {
            let mut heap = USE.get();
            heap.held_bytes -= size(pointer) as i64;
            USE.set(heap);
        }
        // SAFETY: glibc's own function, with the caller's argument.
        unsafe { __libc_free(pointer) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn counts_allocations_of_rust() {
        let (kept, heap) = measure(|| {
            drop(black_box(vec![0u8; 10_000]));
            black_box(vec![1u8; 1000])
        });
        let heap = heap.unwrap();
        assert_eq!(heap.allocations, 2);
        assert!((11_000..11_200).contains(&heap.total_bytes), "{heap:?}");
        assert!((10_000..10_100).contains(&heap.peak_bytes), "{heap:?}");
        assert!((1000..1100).contains(&heap.held_bytes), "{heap:?}");
        drop(kept);
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn counts_allocations_of_a_shared_library() {
        unsafe extern "C" {
            fn strdup(text: *const std::ffi::c_char) -> *mut std::ffi::c_char;
            fn free(pointer: *mut std::ffi::c_void);
        }
        let (copy, heap) = measure(|| {
            // The compiler replaces a copy of a text that it knows.
            let text = black_box(c"a text that libc copies with its own call of malloc");
            // SAFETY: the text ends in a zero byte.
            unsafe { strdup(text.as_ptr()) }
        });
        assert_eq!(heap.unwrap().allocations, 1);
        let ((), heap) = measure(|| {
            // SAFETY: `strdup` allocated it.
            unsafe { free(copy.cast()) }
        });
        assert!(heap.unwrap().held_bytes <= -50);
    }

    #[test]
    fn counts_nothing_where_nothing_is_allocated() {
        let (sum, heap) = measure(|| black_box([1u64, 2, 3]).iter().sum::<u64>());
        assert_eq!(sum, 6);
        assert_eq!(heap.unwrap_or_default(), HeapUse::default());
    }
}
