//! Constant-time cryptography: one operation, or eight side by side, through one set of formulas.
//!
//! The crate needs no `std`, and without the feature `alloc` no heap. For each operation a `const
//! fn` returns the size of its scratch memory; the caller passes the memory, and the operation
//! wipes it before it returns. With `alloc`, which is on by default, [`scheme::rsa::KeyPair`] owns
//! its memory. Each operation detects the processor's features at run time and picks the fastest
//! backend.
//!
//! Schemes: RSA ([`scheme::rsa`]), finite-field Diffie-Hellman ([`scheme::dh`]), elliptic curves
//! ([`scheme::ecdsa`], [`scheme::ecdh`], [`scheme::ed25519`], [`scheme::x25519`]) and BLS12-381
//! (`bls12_381`). They are built on modular exponentiation and inversion ([`modular`]) and prime
//! numbers ([`prime`]).
//!
//! The crate has three floors: `machine` (processor-specific code, and the only `unsafe`), `math`
//! (numbers) and `scheme` (algorithms as standards specify them). A module imports only from its
//! own floor or a lower one.

#![no_std]
#![deny(unsafe_code)]
// Without the feature, much of `machine` is for the crate alone.
#![cfg_attr(not(feature = "internals"), allow(unreachable_pub))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

// Features that are off leave parts of it without a user.
#[cfg_attr(
    not(all(feature = "alloc", feature = "avx512", feature = "bls12-381", feature = "encoding")),
    allow(dead_code, unused_imports)
)]
#[cfg_attr(not(feature = "avx512"), allow(unused_macros, unused_variables))]
mod machine;
mod math;
pub mod scheme;

/// The interfaces of the backends, for tests, measurements and code that works on limbs directly.
/// They are not stable: no version number announces their changes.
#[cfg(feature = "internals")]
pub mod internals {
    pub use crate::machine::{across, ct, field, lanes, prefetch, words};
}

pub use machine::lanes::LANES;
pub use machine::words::Limb;
pub use machine::{cpu, stack};
pub use math::{modular, prime};
#[cfg(feature = "bls12-381")]
pub use scheme::bls12_381;
#[cfg(all(feature = "alloc", feature = "encoding"))]
pub use scheme::key_file;
