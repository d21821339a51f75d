//! Floor 3: what a standard specifies. Bytes in and bytes out.

pub mod dh;
pub mod ec;
pub mod ecdh;
pub mod ecdsa;
mod hash;
mod hmac;
pub mod rsa;

pub use hash::Hash;
