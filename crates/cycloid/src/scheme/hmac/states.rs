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

#[cfg(any(test, all(target_arch = "x86_64", feature = "avx512")))]
use super::on_vectors::OnVectors;
use crate::scheme::hash::{DigestBytes, Hash};

/// HMAC with one hash function.
#[derive(Clone, Copy)]
pub(crate) struct Algorithm {
    keyed: fn(&[u8]) -> Keyed,
    digest_length: usize,
}

impl Algorithm {
    /// Returns HMAC with a hash function. Inlined up to a program's call, so that a program that
    /// names one hash function does not contain the others.
    #[inline(always)]
    pub(crate) const fn of(hash: Hash) -> Self {
        let keyed = match hash {
            #[cfg(feature = "sha1")]
            Hash::Sha1 => sha1,
            Hash::Sha224 => sha224,
            Hash::Sha256 => sha256,
            #[cfg(feature = "sha512")]
            Hash::Sha384 => sha384,
            #[cfg(feature = "sha512")]
            Hash::Sha512 => sha512,
            #[cfg(feature = "sha512")]
            Hash::Sha512_224 => sha512_224,
            #[cfg(feature = "sha512")]
            Hash::Sha512_256 => sha512_256,
            #[cfg(feature = "sha3")]
            Hash::Sha3_224 => sha3_224,
            #[cfg(feature = "sha3")]
            Hash::Sha3_256 | Hash::Shake128 => sha3_256,
            #[cfg(feature = "sha3")]
            Hash::Sha3_384 => sha3_384,
            #[cfg(feature = "sha3")]
            Hash::Sha3_512 | Hash::Shake256 => sha3_512,
        };
        Self { keyed, digest_length: hash.digest_length() }
    }

    /// Returns the length of a code, in bytes.
    pub(crate) const fn digest_length(self) -> usize {
        self.digest_length
    }

    /// Absorbs a key.
    pub(crate) fn keyed(self, key: &[u8]) -> Keyed {
        (self.keyed)(key)
    }
}

/// An absorbed key, ready for any number of messages; wiped when dropped.
pub(crate) struct Keyed {
    state: State,
    /// The function for the state's hash function.
    authenticate: fn(&State, &[&[u8]]) -> DigestBytes,
}

impl Keyed {
    /// Returns the code of the concatenated parts.
    pub(crate) fn authenticate(&self, parts: &[&[u8]]) -> DigestBytes {
        (self.authenticate)(&self.state, parts)
    }
}

/// Declares the states, and functions for each hash function: one that absorbs a key, and one that
/// authenticates.
macro_rules! states {
    ($($(#[$attribute:meta])* $state:ident $mac:ty, $keyed:ident $authenticate:ident;)+) => {
        #[allow(clippy::large_enum_variant, reason = "it lives on the stack, and not for long")]
        enum State {
            $($(#[$attribute])* $state($mac),)+
            /// SHA-224 or SHA-256 on vectors.
            #[cfg(any(test, all(target_arch = "x86_64", feature = "avx512")))]
            OnVectors(OnVectors),
        }

        $(
            $(#[$attribute])*
            fn $keyed(key: &[u8]) -> Keyed {
                let Ok(mac) = <$mac>::new_from_slice(key) else {
                    unreachable!("HMAC takes keys of any length")
                };
                Keyed { state: State::$state(mac), authenticate: $authenticate }
            }

            $(#[$attribute])*
            fn $authenticate(state: &State, parts: &[&[u8]]) -> DigestBytes {
                let State::$state(mac) = state else { unreachable!("the function is the state's") };
                let mut mac = mac.clone();
                parts.iter().for_each(|part| mac.update(part));
                DigestBytes::of_output(mac.finalize().into_bytes())
            }
        )+
    };
}

states! {
    #[cfg(feature = "sha1")]
    Sha1 Hmac<Sha1>, sha1 by_sha1;
    Sha224 Hmac<Sha224>, sha224_without_vectors by_sha224;
    Sha256 Hmac<Sha256>, sha256_without_vectors by_sha256;
    #[cfg(feature = "sha512")]
    Sha384 Hmac<Sha384>, sha384 by_sha384;
    #[cfg(feature = "sha512")]
    Sha512 Hmac<Sha512>, sha512 by_sha512;
    #[cfg(feature = "sha512")]
    Sha512_224 Hmac<Sha512_224>, sha512_224 by_sha512_224;
    #[cfg(feature = "sha512")]
    Sha512_256 Hmac<Sha512_256>, sha512_256 by_sha512_256;
    #[cfg(feature = "sha3")]
    Sha3_224 SimpleHmac<Sha3_224>, sha3_224 by_sha3_224;
    #[cfg(feature = "sha3")]
    Sha3_256 SimpleHmac<Sha3_256>, sha3_256 by_sha3_256;
    #[cfg(feature = "sha3")]
    Sha3_384 SimpleHmac<Sha3_384>, sha3_384 by_sha3_384;
    #[cfg(feature = "sha3")]
    Sha3_512 SimpleHmac<Sha3_512>, sha3_512 by_sha3_512;
}

fn sha224(key: &[u8]) -> Keyed {
    #[cfg(any(test, all(target_arch = "x86_64", feature = "avx512")))]
    if let Some(keyed) = OnVectors::if_faster(Hash::Sha224, key) {
        return on_vectors(keyed);
    }
    sha224_without_vectors(key)
}

fn sha256(key: &[u8]) -> Keyed {
    #[cfg(any(test, all(target_arch = "x86_64", feature = "avx512")))]
    if let Some(keyed) = OnVectors::if_faster(Hash::Sha256, key) {
        return on_vectors(keyed);
    }
    sha256_without_vectors(key)
}

#[cfg(any(test, all(target_arch = "x86_64", feature = "avx512")))]
const fn on_vectors(keyed: OnVectors) -> Keyed {
    fn authenticate(state: &State, parts: &[&[u8]]) -> DigestBytes {
        let State::OnVectors(keyed) = state else { unreachable!("the function is the state's") };
        keyed.authenticate(parts)
    }
    Keyed { state: State::OnVectors(keyed), authenticate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::lanes::tests::backends;

    #[test]
    fn vectors_agree_with_the_crate() {
        let bytes: [u8; 300] = core::array::from_fn(|i| (i * i + 7 * i) as u8);
        for backend in backends() {
            for (hash, keyed) in [
                (Hash::Sha224, sha224_without_vectors as fn(&[u8]) -> Keyed),
                (Hash::Sha256, sha256_without_vectors),
            ] {
                for length in 0..200 {
                    let (key, parts) = (&bytes[..length], [&bytes[..length / 2], &bytes[length..]]);
                    let Some(vectors) = OnVectors::new(backend, hash, key) else {
                        assert!(length > 64, "{hash:?} {length}");
                        continue;
                    };
                    let (vectors, expected) = (on_vectors(vectors), keyed(key));
                    for parts in [&parts[..], &parts[..1], &[]] {
                        assert_eq!(*vectors.authenticate(parts), *expected.authenticate(parts));
                    }
                }
            }
            for hash in [Hash::Sha1, Hash::Sha384, Hash::Sha512, Hash::Sha3_256] {
                assert!(OnVectors::new(backend, hash, &bytes[..8]).is_none());
            }
        }
    }
}
