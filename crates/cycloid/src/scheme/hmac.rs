//! HMAC (FIPS 198-1) by the hash functions of the schemes, chosen at run time.

pub(crate) mod eight;

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::hash::{DigestBytes, Hash};

/// A key that has been taken in, ready for any number of messages; wiped when dropped.
pub(crate) enum Keyed {
    Sha1(Hmac<Sha1>),
    Sha224(Hmac<Sha224>),
    Sha256(Hmac<Sha256>),
    Sha384(Hmac<Sha384>),
    Sha512(Hmac<Sha512>),
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
        match hash {
            Hash::Sha1 => Self::Sha1(keyed(key)),
            Hash::Sha224 => Self::Sha224(keyed(key)),
            Hash::Sha256 => Self::Sha256(keyed(key)),
            Hash::Sha384 => Self::Sha384(keyed(key)),
            Hash::Sha512 => Self::Sha512(keyed(key)),
        }
    }

    /// The code of the parts one after the other.
    pub(crate) fn authenticate(&self, parts: &[&[u8]]) -> DigestBytes {
        match self {
            Self::Sha1(keyed) => authenticate(keyed, parts),
            Self::Sha224(keyed) => authenticate(keyed, parts),
            Self::Sha256(keyed) => authenticate(keyed, parts),
            Self::Sha384(keyed) => authenticate(keyed, parts),
            Self::Sha512(keyed) => authenticate(keyed, parts),
        }
    }
}
