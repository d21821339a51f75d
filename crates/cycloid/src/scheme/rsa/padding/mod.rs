//! The encodings of digests and messages as numbers below the modulus.

pub(super) mod mgf1;
pub(super) mod oaep;
pub(super) mod pkcs1v15;
pub(super) mod pkcs1v15_encryption;
pub(super) mod pss;
