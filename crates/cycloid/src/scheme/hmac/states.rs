//! HMAC whose keys are states of the hash function after the pads.

#[cfg(feature = "sha3")]
use hmac::SimpleHmac;
use hmac::{Hmac, KeyInit, Mac};
#[cfg(feature = "sha1")]
use sha1::Sha1;
use sha2::{Sha224, Sha256};
#[cfg(feature = "sha512")]
use sha2::{Sha384, Sha512, Sha512_224, Sha512_256};
#[cfg(feature = "sha3")]
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

#[cfg(any(test, target_arch = "x86_64"))]
use super::on_vectors::OnVectors;
use crate::scheme::hash::{DigestBytes, Hash};

/// An absorbed key, ready for any number of messages; wiped when dropped.
#[allow(clippy::large_enum_variant, reason = "it lives on the stack, and not for long")]
pub(crate) enum Keyed {
    #[cfg(feature = "sha1")]
    Sha1(Hmac<Sha1>),
    Sha224(Hmac<Sha224>),
    Sha256(Hmac<Sha256>),
    #[cfg(feature = "sha512")]
    Sha384(Hmac<Sha384>),
    #[cfg(feature = "sha512")]
    Sha512(Hmac<Sha512>),
    #[cfg(feature = "sha512")]
    Sha512_224(Hmac<Sha512_224>),
    #[cfg(feature = "sha512")]
    Sha512_256(Hmac<Sha512_256>),
    #[cfg(feature = "sha3")]
    Sha3_224(SimpleHmac<Sha3_224>),
    #[cfg(feature = "sha3")]
    Sha3_256(SimpleHmac<Sha3_256>),
    #[cfg(feature = "sha3")]
    Sha3_384(SimpleHmac<Sha3_384>),
    #[cfg(feature = "sha3")]
    Sha3_512(SimpleHmac<Sha3_512>),
    /// SHA-224 or SHA-256 on vectors.
    #[cfg(any(test, target_arch = "x86_64"))]
    OnVectors(OnVectors),
}

fn keyed<M: KeyInit>(key: &[u8]) -> M {
    match M::new_from_slice(key) {
        Ok(keyed) => keyed,
        Err(_) => unreachable!("HMAC takes keys of any length"),
    }
}

fn authenticate<M: Mac + Clone>(keyed: &M, parts: &[&[u8]]) -> DigestBytes {
    let mut mac = keyed.clone();
    parts.iter().for_each(|part| mac.update(part));
    DigestBytes::of_output(mac.finalize().into_bytes())
}

impl Keyed {
    pub(crate) fn new(hash: Hash, key: &[u8]) -> Self {
        #[cfg(any(test, target_arch = "x86_64"))]
        if let Some(keyed) = OnVectors::if_faster(hash, key) {
            return Self::OnVectors(keyed);
        }
        Self::without_vectors(hash, key)
    }

    fn without_vectors(hash: Hash, key: &[u8]) -> Self {
        match hash {
            #[cfg(feature = "sha1")]
            Hash::Sha1 => Self::Sha1(keyed(key)),
            Hash::Sha224 => Self::Sha224(keyed(key)),
            Hash::Sha256 => Self::Sha256(keyed(key)),
            #[cfg(feature = "sha512")]
            Hash::Sha384 => Self::Sha384(keyed(key)),
            #[cfg(feature = "sha512")]
            Hash::Sha512 => Self::Sha512(keyed(key)),
            #[cfg(feature = "sha512")]
            Hash::Sha512_224 => Self::Sha512_224(keyed(key)),
            #[cfg(feature = "sha512")]
            Hash::Sha512_256 => Self::Sha512_256(keyed(key)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_224 => Self::Sha3_224(keyed(key)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_256 | Hash::Shake128 => Self::Sha3_256(keyed(key)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_384 => Self::Sha3_384(keyed(key)),
            #[cfg(feature = "sha3")]
            Hash::Sha3_512 | Hash::Shake256 => Self::Sha3_512(keyed(key)),
        }
    }

    /// Returns the code of the concatenated parts.
    pub(crate) fn authenticate(&self, parts: &[&[u8]]) -> DigestBytes {
        match self {
            #[cfg(feature = "sha1")]
            Self::Sha1(keyed) => authenticate(keyed, parts),
            Self::Sha224(keyed) => authenticate(keyed, parts),
            Self::Sha256(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha512")]
            Self::Sha384(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha512")]
            Self::Sha512(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha512")]
            Self::Sha512_224(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha512")]
            Self::Sha512_256(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha3")]
            Self::Sha3_224(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha3")]
            Self::Sha3_256(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha3")]
            Self::Sha3_384(keyed) => authenticate(keyed, parts),
            #[cfg(feature = "sha3")]
            Self::Sha3_512(keyed) => authenticate(keyed, parts),
            #[cfg(any(test, target_arch = "x86_64"))]
            Self::OnVectors(keyed) => keyed.authenticate(parts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::lanes::tests::backends;

    #[test]
    fn vectors_agree_with_the_crate() {
        let bytes: [u8; 300] = core::array::from_fn(|i| (i * i + 7 * i) as u8);
        for backend in backends() {
            for hash in [Hash::Sha1, Hash::Sha224, Hash::Sha256, Hash::Sha384, Hash::Sha512] {
                for length in 0..200 {
                    let (key, parts) = (&bytes[..length], [&bytes[..length / 2], &bytes[length..]]);
                    let Some(on_vectors) = OnVectors::new(backend, hash, key) else {
                        assert!(hash == Hash::Sha1 || length > 64, "{hash:?} {length}");
                        continue;
                    };
                    let expected = Keyed::without_vectors(hash, key);
                    for parts in [&parts[..], &parts[..1], &[]] {
                        assert_eq!(*on_vectors.authenticate(parts), *expected.authenticate(parts));
                    }
                }
            }
        }
    }
}
