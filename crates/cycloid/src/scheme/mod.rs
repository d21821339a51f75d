//! Floor 3: what a standard specifies. Bytes in and bytes out.

pub mod dh;
mod hash;
pub mod rsa;

pub use hash::Hash;
