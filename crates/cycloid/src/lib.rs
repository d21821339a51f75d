//! Constant-time cryptography: one operation, or eight side by side, through one set of formulas.
//!
//! No heap, no `std`: an operation tells with a `const fn` how much scratch memory it needs, the
//! caller passes it, and it is wiped before the operation returns. The fastest backend that the
//! processor has is chosen once per operation, at run time.
//!
//! What stands today: RSA, [`scheme::rsa`], finite-field Diffie-Hellman, [`scheme::dh`], elliptic
//! curves, [`scheme::ecdsa`], [`scheme::ecdh`], [`scheme::ed25519`] and [`scheme::x25519`], and
//! BLS12-381, `bls12_381`, on modular exponentiation and inversion, [`modular`], and prime numbers,
//! [`prime`]. The crate has three floors, and an import goes down or stays, never up: `machine` (what depends on the
//! processor, and the only `unsafe`), `math` (numbers), and `scheme` (what a standard specifies).

#![no_std]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod machine;
mod math;
pub mod scheme;

pub use machine::{cpu, stack};
pub use math::{modular, prime};
#[cfg(feature = "bls12-381")]
pub use scheme::bls12_381;
