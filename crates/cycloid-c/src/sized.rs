//! Keys and contexts of any length in memory of the caller's: a header, and the limbs after it.
//!
//! The value in the header points to the limbs, so the memory must stay where it is. The header
//! holds its own address: a copy elsewhere is not a key.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;

use cycloid::Limb;
use zeroize::Zeroize as _;

use crate::error::{
    CYCLOID_ERROR_ALIGNMENT, CYCLOID_ERROR_MEMORY_TOO_SMALL, CYCLOID_ERROR_NULL, Failure, Outcome,
};
use crate::memory::{self, Extent};
use crate::object::no_key;

/// The start of the memory of a key or context.
#[repr(C, align(8))]
struct Header<T> {
    tag: u64,
    address: usize,
    limbs: usize,
    value: MaybeUninit<T>,
}

/// A value that is stored in front of its limbs.
pub(crate) trait Kind: Sized {
    /// The first word of the value's memory, which names the kind.
    const TAG: u64;
}

/// Returns the bytes of memory for a value with this number of limbs.
pub(crate) const fn size<T>(limbs: usize) -> usize {
    size_of::<Header<T>>() + limbs * size_of::<Limb>()
}

/// Makes a value in the caller's memory of `size` bytes, with all the limbs behind the header. On an
/// error the memory holds nothing.
///
/// # Safety
/// Unless it is null or misaligned, `memory` is to `size` bytes that nothing else uses until
/// [`wipe`], other than through this module. They need not be initialised.
pub(crate) unsafe fn make<T: Kind, E: Into<Failure>>(
    memory: *mut c_void,
    size: usize,
    make: impl FnOnce(&'static mut [Limb]) -> Result<T, E>,
) -> Outcome {
    const { assert!(align_of::<Header<T>>() == 8) };
    let header = memory.cast::<Header<T>>();
    memory::checked(header)?;
    memory::check_extent(memory.cast::<u8>(), size)?;
    let Some(limbs) = size.checked_sub(size_of::<Header<T>>()).map(|bytes| bytes / 8) else {
        return Err(Failure(CYCLOID_ERROR_MEMORY_TOO_SMALL));
    };
    // SAFETY: the memory is aligned and large enough, and the caller promises that it is free.
    let (tag, place, words) = unsafe {
        let first = header.add(1).cast::<Limb>();
        // The limbs of an earlier value, and memory that was never written.
        ptr::write_bytes(header, 0, 1);
        ptr::write_bytes(first, 0, limbs);
        (
            &raw mut (*header).tag,
            &raw mut (*header).value,
            core::slice::from_raw_parts_mut(first, limbs),
        )
    };
    let value = make(words).map_err(Into::into)?;
    // SAFETY: as above; the value has the limbs, and the header is in front of them.
    unsafe {
        (*place).write(value);
        (*header).address = header.addr();
        (*header).limbs = limbs;
        tag.write(T::TAG);
    }
    Ok(())
}

/// Returns an error unless the memory holds a value of this kind.
///
/// # Safety
/// Unless it is null or misaligned, the pointer is to initialised memory of at least a header.
unsafe fn check<T: Kind>(header: *const Header<T>) -> Outcome {
    memory::checked(header)?;
    // SAFETY: the caller promises it.
    let (tag, address) = unsafe { ((*header).tag, (*header).address) };
    if tag == T::TAG && address == header.addr() { Ok(()) } else { no_key() }
}

/// Returns the value in the caller's memory.
///
/// # Safety
/// Unless it is null or misaligned, the pointer is to initialised memory of at least a header, which
/// nothing changes meanwhile.
pub(crate) unsafe fn value<'a, T: Kind>(memory: *const c_void) -> Outcome<&'a T> {
    let header = memory.cast::<Header<T>>();
    // SAFETY: the caller promises it, and by its tag and address it is a value that `make` stored.
    unsafe {
        check(header)?;
        Ok((*header).value.assume_init_ref())
    }
}

/// Returns the value in the caller's memory, to change it.
///
/// # Safety
/// As for [`value`], and nothing else uses the memory meanwhile.
pub(crate) unsafe fn value_mut<'a, T: Kind>(memory: *mut c_void) -> Outcome<&'a mut T> {
    let header = memory.cast::<Header<T>>();
    // SAFETY: the caller promises it, and by its tag and address it is a value that `make` stored.
    unsafe {
        check(header)?;
        Ok((*header).value.assume_init_mut())
    }
}

/// Wipes the memory of a value, header and limbs.
///
/// # Safety
/// As for [`value_mut`].
pub(crate) unsafe fn wipe<T: Kind>(memory: *mut c_void) -> Outcome {
    let header = memory.cast::<Header<T>>();
    // SAFETY: the caller promises it. The value owns nothing but the limbs, which are wiped here.
    unsafe {
        check(header)?;
        let bytes = size_of::<Header<T>>() + (*header).limbs * size_of::<Limb>();
        core::slice::from_raw_parts_mut(memory.cast::<u8>(), bytes).zeroize();
    }
    Ok(())
}

/// Returns the caller's scratch memory of `size` bytes as limbs; an error if it overlaps `others`,
/// the other arguments of the call.
///
/// # Safety
/// Unless it is null or misaligned, `memory` is to `size` bytes that nothing but these arguments
/// uses meanwhile.
pub(crate) unsafe fn scratch_limbs<'a>(
    memory: *mut c_void,
    size: usize,
    others: &[Extent],
) -> Outcome<&'a mut [Limb]> {
    let first = memory.cast::<Limb>();
    if memory.is_null() {
        return Err(Failure(CYCLOID_ERROR_NULL));
    }
    if !first.is_aligned() {
        return Err(Failure(CYCLOID_ERROR_ALIGNMENT));
    }
    memory::disjoint(&[Extent::of(memory.cast::<u8>(), size)], others)?;
    // SAFETY: it is neither null nor misaligned, and the caller promises the rest. Limbs have no
    // invalid values, and the library writes scratch before it reads it.
    unsafe { memory::slice_mut(first, size / 8) }
}
