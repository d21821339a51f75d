//! Floor 3: algorithms as standards specify them. Bytes in and bytes out.

#[cfg(feature = "bls12-381")]
pub mod bls12_381;
pub mod curve25519;
pub mod dh;
pub mod ec;
pub mod ecdh;
pub mod ecdsa;
pub mod ed25519;
#[cfg(feature = "encoding")]
mod encoding;
mod hash;
mod hmac;
#[cfg(all(feature = "alloc", feature = "encoding"))]
pub mod key_file;
mod little_endian;
mod random;
#[cfg(feature = "encoding")]
mod rfc8410;
pub mod rsa;
pub mod stack_use;
mod verify_after_sign;
pub mod x25519;

pub use hash::Hash;
pub use verify_after_sign::VerifyAfterSign;
