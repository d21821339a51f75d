//! What an operation leaves on the stack and in registers, and its end.
//!
//! A public operation that computes with secrets runs in frames of its own ([`clean`]): once it has
//! returned, those frames and every register that a function may change are overwritten. It is done
//! once, at the boundary; what is below calls the inner functions and does not wipe again.
//!
//! A value that is returned and moved leaves copies in its owner's frames, out of this module's
//! reach. [`keep`] and [`try_keep`] put a secret where it stays: no copy is left on the way.
//!
//! ```
//! use cycloid::scheme::ec::{P256, PrivateKey};
//! use cycloid::stack;
//!
//! let mut place = None;
//! let key = stack::try_keep(&mut place, || PrivateKey::<P256>::from_bytes(&[7; 32]))?;
//! assert_eq!(key.public_key(), PrivateKey::<P256>::from_bytes(&[7; 32])?.public_key());
//! # Ok::<(), cycloid::scheme::ec::Error>(())
//! ```
//!
//! What a signal handler leaves there is not overwritten where its frame lies below the operation's.

#[cfg(any(not(target_arch = "x86_64"), miri))]
mod volatile;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86_64;

#[cfg(any(not(target_arch = "x86_64"), miri))]
pub use volatile::wipe;
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub use x86_64::wipe;

/// Does `operation`, and then overwrites `bytes` of the stack below this call and all registers
/// that a function may change. `bytes` is public, and at least what the operation uses.
///
/// It is also for whatever a program computes with secrets by itself, such as arithmetic on scalars
/// and points, whose values are moved.
#[inline(always)]
pub fn clean<T>(bytes: usize, operation: impl FnOnce() -> T) -> T {
    // The outcome goes straight to where it is wanted; by way of a variable here it would be copied
    // after the wiping.
    let _wiping = Wiping(bytes);
    apart(operation)
}

/// Wipes the stack when it is dropped, also by a panic.
struct Wiping(usize);

impl Drop for Wiping {
    #[inline(always)]
    fn drop(&mut self) {
        wipe(self.0);
    }
}

/// Does `operation` in frames below the caller's, however the compiler would place it otherwise.
#[inline(never)]
fn apart<T>(operation: impl FnOnce() -> T) -> T {
    operation()
}

/// Puts what `make` gives into `place`, and leaves no copy of it anywhere else. What was there
/// before is dropped.
#[inline(always)]
pub fn keep<T>(place: &mut Option<T>, make: impl FnOnce() -> T) -> &mut T {
    clean(frame::<T>(), || *place = Some(make()));
    place.as_mut().expect("it has just been put there")
}

/// Puts what `make` gives into `place`, as [`keep`], unless that is an error; then there is nothing.
///
/// # Errors
/// Those of `make`.
#[inline(always)]
pub fn try_keep<T, E>(
    place: &mut Option<T>,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<&mut T, E> {
    *place = None;
    clean(frame::<T>(), || make().map(|made| *place = Some(made)))?;
    Ok(place.as_mut().expect("it has just been put there"))
}

/// More than the frames in which a `T` is made: it, its moves, and what a closure may keep.
const fn frame<T>() -> usize {
    1024 + 8 * size_of::<T>()
}

#[cfg(test)]
mod tests;
