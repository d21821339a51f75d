//! libcycloid: the C interface of the library, in memory of the caller's.
//!
//! The header `include/cycloid.h` is generated from this crate. Each function checks its pointers,
//! lengths and keys, calls the library, and translates the outcome to an error code. There is no
//! cryptography here, no allocation and no global state.
//!
//! A panic is a defect of the library. `error::run` catches it at the boundary and returns
//! `CYCLOID_ERROR_INTERNAL`; a panic during a panic aborts the process. Without an operating
//! system, a panic ends in an endless loop, which the device's watchdog ends.

#![cfg_attr(target_os = "none", no_std)]

#[cfg(feature = "bls12-381")]
pub mod bls;
pub mod curve_batch;
pub mod dh;
pub mod ec;
pub mod ecdh;
pub mod ecdsa;
pub mod ed25519;
pub mod error;
pub mod hash;
mod memory;
mod object;
pub mod point;
pub mod random;
pub mod rsa;
mod sized;
pub mod x25519;

/// Ends in an endless loop: there is nothing that the library could return to.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
