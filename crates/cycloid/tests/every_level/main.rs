//! Tests that set the processor level for the whole process, one at a time.
//!
//! One program, because each further one would compile the library's generic code again.

#[path = "../support/mod.rs"]
mod support;

mod dh;
mod ed25519;
mod ed25519_edge_cases;
mod wycheproof_25519;
#[cfg(feature = "encoding")]
mod wycheproof_ecdh;
#[cfg(feature = "encoding")]
mod wycheproof_ecdsa;
mod x25519;
