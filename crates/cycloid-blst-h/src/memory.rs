//! Memory of the caller: bytes with a length, and lists of pointers.

/// Returns the bytes, none for a null pointer.
///
/// # Safety
/// `bytes` is null or refers to `length` bytes that stay as they are during `'a`.
pub(crate) unsafe fn slice<'a>(bytes: *const u8, length: usize) -> &'a [u8] {
    if bytes.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: as the caller says.
    unsafe { core::slice::from_raw_parts(bytes, length) }
}

/// A list of items in blst's form: a pointer to each of the first, and a null pointer if the others
/// follow the last of these in memory.
#[derive(Clone, Copy)]
pub(crate) struct List<T> {
    pointers: *const *const T,
    /// Number of items with a pointer of their own.
    scattered: usize,
    /// Distance of consecutive items, in units of `T`.
    stride: usize,
}

impl<T> List<T> {
    /// Wraps a list of `n` items.
    ///
    /// # Safety
    /// The pointers and items are valid for as long as the list is in use.
    pub(crate) unsafe fn new(pointers: *const *const T, n: usize, stride: usize) -> Self {
        let mut scattered = 0;
        // SAFETY: there are `n` pointers, or a null pointer before.
        while scattered < n && unsafe { !(*pointers.add(scattered)).is_null() } {
            scattered += 1;
        }
        Self { pointers, scattered, stride }
    }

    /// Returns the address of item `i`, below n.
    pub(crate) fn at(&self, i: usize) -> *const T {
        // SAFETY: `new` has found these pointers. The others continue after the last one.
        unsafe {
            match i.checked_sub(self.scattered) {
                None => *self.pointers.add(i),
                Some(after) => {
                    (*self.pointers.add(self.scattered - 1)).add((after + 1) * self.stride)
                }
            }
        }
    }
}

/// Writes words that a kernel has just computed, one by one.
///
/// The kernel stored single words. A load of two at once waits until both are in the cache, which
/// takes half as long as a product; hence no vectors here. `T` consists of 64-bit words.
///
/// # Safety
/// `out` is valid for writes, also if its words are uninitialised.
#[inline(always)]
pub(crate) unsafe fn store<T: Copy>(out: *mut T, value: T) {
    const { assert!(size_of::<T>().is_multiple_of(8) && align_of::<T>() == 8) };
    let (from, out) = ((&raw const value).cast::<u64>(), out.cast::<u64>());
    for i in 0..size_of::<T>() / 8 {
        // SAFETY: both have this number of words.
        unsafe { out.add(i).write_volatile(from.add(i).read_volatile()) };
    }
}

/// Returns the low `bits` bits of a little-endian integer as limbs; of more, the caller takes
/// several pieces.
///
/// # Safety
/// `scalar` refers to ⌈bits / 8⌉ bytes.
pub(crate) unsafe fn integer(scalar: *const u8, bits: usize) -> [u64; 4] {
    let count = bits.div_ceil(8).min(32);
    let mut bytes = [0; 32];
    // SAFETY: as the caller says; a copy of bytes has no alignment.
    unsafe { core::ptr::copy_nonoverlapping(scalar, bytes.as_mut_ptr(), count) };
    if bits < 256 && !bits.is_multiple_of(8) {
        bytes[count - 1] &= (1 << (bits % 8)) - 1;
    }
    let limbs = limbs(&bytes);
    zeroize::Zeroize::zeroize(&mut bytes);
    limbs
}

/// Returns little-endian bytes as limbs.
pub(crate) fn limbs(bytes: &[u8; 32]) -> [u64; 4] {
    core::array::from_fn(|i| {
        u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("eight bytes"))
    })
}

/// Returns limbs as little-endian bytes.
pub(crate) fn bytes(limbs: &[u64; 4]) -> [u8; 32] {
    core::array::from_fn(|i| (limbs[i / 8] >> (8 * (i % 8))) as u8)
}
