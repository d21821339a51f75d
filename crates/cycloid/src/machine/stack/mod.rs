//! Wiping what an operation leaves on the stack and in registers.
//!
//! A public operation that computes with secrets runs in stack frames of its own ([`clean`]): after
//! it returns, those frames and every register that a function may change are overwritten. This
//! happens once, at the public boundary; code below it calls the inner functions and does not wipe
//! again.
//!
//! A value that is returned and moved leaves copies in its owner's frames, out of this module's
//! reach. [`keep`] and [`try_keep`] store a secret in its final place without leaving copies.
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
//! Data left by a signal handler is not overwritten if its frame lies below the operation's.

#[cfg(cycloid_armv7em)]
mod armv7em;
#[cfg(any(not(any(target_arch = "x86_64", cycloid_armv7em)), miri))]
mod volatile;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86_64;

#[cfg(cycloid_armv7em)]
pub use armv7em::wipe;
#[cfg(any(not(any(target_arch = "x86_64", cycloid_armv7em)), miri))]
pub use volatile::wipe;
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub use x86_64::wipe;

/// Runs `operation`, then overwrites `bytes` of the stack below this call and all registers that a
/// function may change. `bytes` is public, and at least the operation's stack use.
///
/// Programs can use it for their own computations with secrets, such as arithmetic on scalars and
/// points, whose values are moved.
#[inline(always)]
pub fn clean<T>(bytes: usize, operation: impl FnOnce() -> T) -> T {
    // The result is returned in place; a variable here would be copied after the wiping.
    let _wiping = Wiping(bytes);
    apart(operation)
}

/// Wipes the stack when dropped, also during a panic.
struct Wiping(usize);

impl Drop for Wiping {
    #[inline(always)]
    fn drop(&mut self) {
        wipe(self.0);
    }
}

/// Runs `operation` in frames below the caller's, even if the compiler would inline it.
#[inline(never)]
fn apart<T>(operation: impl FnOnce() -> T) -> T {
    operation()
}

/// Stores the result of `make` in `place` and leaves no other copy of it. Drops the previous value.
#[inline(always)]
pub fn keep<T>(place: &mut Option<T>, make: impl FnOnce() -> T) -> &mut T {
    clean(frame::<T>(), || *place = Some(make()));
    place.as_mut().expect("it has just been put there")
}

/// Like [`keep`], for a fallible `make`; on an error, `place` is empty.
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

/// Returns more than the stack in which a `T` is made: the value, its moves, and a closure's
/// captures.
const fn frame<T>() -> usize {
    1024 + 8 * size_of::<T>()
}

#[cfg(test)]
mod tests;
