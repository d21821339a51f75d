//! Tests on the highest level of this processor.
//!
//! One program, because each further one would compile the library's generic code again.

#[path = "../support/mod.rs"]
mod support;

mod ec_arithmetic;
mod ec_checklist;
mod ecdsa_rfc6979;
#[cfg(feature = "signature")]
mod ecdsa_traits;
#[cfg(feature = "signature")]
mod ed25519_traits;
#[cfg(feature = "encoding")]
mod keys_25519;
#[cfg(feature = "encoding")]
mod nist_run_time;
#[cfg(feature = "encoding")]
mod openssl_25519;
#[cfg(feature = "encoding")]
mod openssl_ciphertexts;
mod openssl_dh;
#[cfg(feature = "encoding")]
mod openssl_ec;
#[cfg(feature = "encoding")]
mod openssl_keys;
mod openssl_signatures;
#[cfg(all(feature = "alloc", feature = "encoding"))]
mod rsa_forms;
#[cfg(all(feature = "alloc", feature = "encoding"))]
mod rsa_owned;
mod rsa_properties;
#[cfg(all(feature = "encoding", feature = "signature"))]
mod signature_traits;
mod wycheproof_primality;
mod wycheproof_rsa_decryption;
mod wycheproof_rsa_signatures;
mod wycheproof_rsa_signing;
