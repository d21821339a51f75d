//! Keys of fixed size in memory of the caller's: words of which the first is a tag.
//!
//! The tag says what the memory holds, and is written last and wiped first. So memory that was
//! never made a key, a wiped key and a key of another kind are told apart from a key.

use core::ptr;

use cycloid::stack;
use zeroize::Zeroize as _;

use crate::error::{CYCLOID_ERROR_KEY, Failure, Outcome};
use crate::memory;

/// Marks memory of this version of the interface.
const MARK: u64 = 0xc7c1_01d1_0000_0000;

/// The tag of a kind of key.
pub(crate) const fn tag(kind: u8, variant: u8) -> u64 {
    MARK | (kind as u64) << 8 | variant as u64
}

/// A value that a key's memory holds. It is plain data: any words are a value, though perhaps not a
/// key, and nothing but its words is dropped.
pub(crate) trait Kind: Sized {
    /// The first word of the key's memory, which names the kind.
    const TAG: u64;
}

/// The words of a key in the memory of C: the tag and the value.
pub(crate) trait Words {
    fn words(&self) -> &[u64];
    fn words_mut(&mut self) -> &mut [u64];

    /// Returns the tag.
    fn tag(&self) -> u64 {
        self.words()[0]
    }
}

/// Implements [`Words`] for types that C sees.
macro_rules! words {
    ($($type:ty)*) => {$(
        impl $crate::object::Words for $type {
            fn words(&self) -> &[u64] {
                &self.opaque
            }

            fn words_mut(&mut self) -> &mut [u64] {
                &mut self.opaque
            }
        }
    )*};
}

pub(crate) use words;

/// Returns an error for memory that holds no value of any kind of this interface.
pub(crate) fn no_key<T>() -> Outcome<T> {
    Err(Failure(CYCLOID_ERROR_KEY))
}

/// Returns the value in a key's memory, if it is of this kind.
pub(crate) fn value<T: Kind>(memory: &impl Words) -> Outcome<&T> {
    let (tag, body) = (memory.tag(), &memory.words()[1..]);
    const { assert!(align_of::<T>() <= align_of::<u64>()) };
    if tag != T::TAG || size_of_val(body) < size_of::<T>() {
        return no_key();
    }
    // SAFETY: the body is large enough and aligned, and by its tag it is a value that `make` stored.
    Ok(unsafe { &*body.as_ptr().cast::<T>() })
}

/// Makes a value in a key's memory, and leaves no other copy of it. On an error the memory holds
/// no key.
///
/// # Safety
/// Unless it is null or misaligned, the pointer is to memory of its type that nothing else uses
/// meanwhile. It need not be initialised.
pub(crate) unsafe fn make<W: Words, T: Kind, E: Into<Failure>>(
    memory: *mut W,
    make: impl FnOnce() -> Result<T, E>,
) -> Outcome {
    // SAFETY: the caller promises it, and `place` is for a value.
    unsafe {
        fill(memory, |place| {
            stack::clean(1024 + 8 * size_of::<T>(), || make().map(|value| ptr::write(place, value)))
        })
    }
}

/// Writes a public value to a key's memory: as [`make`], but the stack is not wiped.
///
/// # Safety
/// As for [`make`].
pub(crate) unsafe fn put<W: Words, T: Kind>(memory: *mut W, value: T) -> Outcome {
    // SAFETY: as in `make`.
    unsafe {
        fill(memory, |place| {
            ptr::write(place, value);
            Ok::<_, Failure>(())
        })
    }
}

/// Wipes a key's memory and has a value written there, then the tag.
///
/// # Safety
/// As for [`make`]. Unless it fails, `write` writes a value to the place that it is given.
#[inline(always)]
unsafe fn fill<W: Words, T: Kind, E: Into<Failure>>(
    memory: *mut W,
    write: impl FnOnce(*mut T) -> Result<(), E>,
) -> Outcome {
    const { assert!(align_of::<T>() <= align_of::<u64>()) };
    // SAFETY: the caller promises it; any words are words.
    let words = unsafe { memory::unique(memory) }?.words_mut();
    let (tag, body) = words.split_first_mut().ok_or(Failure(CYCLOID_ERROR_KEY))?;
    *tag = 0;
    body.zeroize();
    if size_of_val(body) < size_of::<T>() {
        return no_key();
    }
    // The body is large enough and aligned.
    write(body.as_mut_ptr().cast::<T>()).map_err(Into::into)?;
    *tag = T::TAG;
    Ok(())
}

/// Wipes a key's memory, whatever it holds.
///
/// # Safety
/// As for [`make`].
pub(crate) unsafe fn wipe<W: Words>(memory: *mut W) -> Outcome {
    // SAFETY: the caller promises it.
    unsafe { memory::unique(memory) }?.words_mut().zeroize();
    Ok(())
}
