//! Floor 3: algorithms as standards specify them. Bytes in and bytes out.

#[cfg(feature = "bls12-381")]
pub mod bls12_381;
pub mod curve25519;
pub mod dh;
#[cfg(all(feature = "alloc", feature = "pkcs8"))]
mod documents;
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
pub mod nist;
mod random;
#[cfg(feature = "encoding")]
mod rfc8410;
pub mod rsa;
#[cfg(feature = "serde")]
mod serialized;
#[cfg(feature = "signature-2")]
mod signature_2;
pub mod stack_use;
mod verify_after_sign;
pub mod x25519;

pub use hash::Hash;
pub use verify_after_sign::VerifyAfterSign;
