//! Hash functions by OpenSSL's names.

use cycloid::scheme::Hash;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// Returns the hash function of any of OpenSSL's names for it, in any case.
pub(crate) fn named(name: &str) -> Option<Hash> {
    Some(match name.to_ascii_uppercase().as_str() {
        "SHA1" | "SHA-1" | "SSL3-SHA1" | "1.3.14.3.2.26" => Hash::Sha1,
        "SHA224" | "SHA2-224" | "SHA-224" | "2.16.840.1.101.3.4.2.4" => Hash::Sha224,
        "SHA256" | "SHA2-256" | "SHA-256" | "2.16.840.1.101.3.4.2.1" => Hash::Sha256,
        "SHA384" | "SHA2-384" | "SHA-384" | "2.16.840.1.101.3.4.2.2" => Hash::Sha384,
        "SHA512" | "SHA2-512" | "SHA-512" | "2.16.840.1.101.3.4.2.3" => Hash::Sha512,
        "SHA512-224" | "SHA2-512/224" | "SHA-512/224" | "2.16.840.1.101.3.4.2.5" => {
            Hash::Sha512_224
        }
        "SHA512-256" | "SHA2-512/256" | "SHA-512/256" | "2.16.840.1.101.3.4.2.6" => {
            Hash::Sha512_256
        }
        "SHA3-224" | "2.16.840.1.101.3.4.2.7" => Hash::Sha3_224,
        "SHA3-256" | "2.16.840.1.101.3.4.2.8" => Hash::Sha3_256,
        "SHA3-384" | "2.16.840.1.101.3.4.2.9" => Hash::Sha3_384,
        "SHA3-512" | "2.16.840.1.101.3.4.2.10" => Hash::Sha3_512,
        _ => return None,
    })
}

/// Declares a running digest by any of the hash functions.
macro_rules! hasher {
    ($($name:ident: $type:ty,)*) => {
        /// A running digest.
        #[derive(Clone)]
        pub(crate) enum Hasher {
            $(#[doc = concat!("By ", stringify!($name), ".")] $name($type),)*
        }

        impl Hasher {
            /// Begins a digest, or returns `None` for a function with output of any length.
            pub(crate) fn new(hash: Hash) -> Option<Self> {
                match hash {
                    $(Hash::$name => Some(Self::$name(<$type>::new())),)*
                    _ => None,
                }
            }

            /// Adds a part of the message.
            pub(crate) fn update(&mut self, part: &[u8]) {
                match self {
                    $(Self::$name(state) => state.update(part),)*
                }
            }

            /// Returns the digest so far.
            pub(crate) fn digest(&self) -> Vec<u8> {
                match self {
                    $(Self::$name(state) => state.clone().finalize().to_vec(),)*
                }
            }
        }
    };
}

hasher! {
    Sha1: Sha1,
    Sha224: Sha224,
    Sha256: Sha256,
    Sha384: Sha384,
    Sha512: Sha512,
    Sha512_224: Sha512_224,
    Sha512_256: Sha512_256,
    Sha3_224: Sha3_224,
    Sha3_256: Sha3_256,
    Sha3_384: Sha3_384,
    Sha3_512: Sha3_512,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_functions() {
        assert_eq!(named("sha2-256"), Some(Hash::Sha256));
        assert_eq!(named("SHA512-256"), Some(Hash::Sha512_256));
        assert_eq!(named("MD5"), None);
        assert_eq!(named(""), None);
        let mut hasher = Hasher::new(Hash::Sha256).unwrap();
        hasher.update(b"ab");
        hasher.update(b"c");
        assert_eq!(hasher.digest()[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
