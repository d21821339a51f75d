//! Digests and message authentication codes.

use aes::{Aes128, Aes192, Aes256};
use cmac::Cmac;
use hmac::digest::Digest;
use hmac::{Hmac, KeyInit, Mac as _, SimpleHmac};
use zeroize::Zeroizing;

use super::gcm_encrypt;
use crate::mechanism::Hash;
use crate::{Code, Result};

/// Evaluates `$body` with `$Hash` as the type of a hash function, and `$Hmac` as its HMAC.
macro_rules! with_hash {
    ($hash:expr, $Hash:ident, $Hmac:ident => $body:expr) => {
        match $hash {
            Hash::Sha1 => with_hash!(@ sha1::Sha1, Hmac, $Hash, $Hmac => $body),
            Hash::Sha224 => with_hash!(@ sha2::Sha224, Hmac, $Hash, $Hmac => $body),
            Hash::Sha256 => with_hash!(@ sha2::Sha256, Hmac, $Hash, $Hmac => $body),
            Hash::Sha384 => with_hash!(@ sha2::Sha384, Hmac, $Hash, $Hmac => $body),
            Hash::Sha512 => with_hash!(@ sha2::Sha512, Hmac, $Hash, $Hmac => $body),
            Hash::Sha3_224 => with_hash!(@ sha3::Sha3_224, SimpleHmac, $Hash, $Hmac => $body),
            Hash::Sha3_256 => with_hash!(@ sha3::Sha3_256, SimpleHmac, $Hash, $Hmac => $body),
            Hash::Sha3_384 => with_hash!(@ sha3::Sha3_384, SimpleHmac, $Hash, $Hmac => $body),
            Hash::Sha3_512 => with_hash!(@ sha3::Sha3_512, SimpleHmac, $Hash, $Hmac => $body),
        }
    };
    (@ $Function:ty, $Mac:ident, $Hash:ident, $Hmac:ident => $body:expr) => {{
        #[allow(dead_code, reason = "digests need no HMAC")]
        type $Hash = $Function;
        #[allow(dead_code, reason = "digests need no HMAC")]
        type $Hmac = $Mac<$Function>;
        $body
    }};
}

pub(super) use with_hash;

/// A message authentication code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mac {
    /// HMAC (FIPS 198-1).
    Hmac(Hash),
    /// AES-CMAC (SP 800-38B).
    Cmac,
    /// AES-GMAC (SP 800-38D): initialisation vector, and data that comes first.
    Gmac { iv: Vec<u8>, associated: Vec<u8> },
}

impl Mac {
    /// Computes the code of full length.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`], [`Code::MECHANISM_PARAM_INVALID`].
    pub(crate) fn compute(&self, key: &[u8], data: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        match self {
            Self::Hmac(hash) => Ok(Zeroizing::new(hmac(*hash, key, &[data]))),
            Self::Cmac => cmac(key, &[data]),
            Self::Gmac { iv, associated } => {
                let all = [associated, data].concat();
                gcm_encrypt(key, iv, &all, 128, &[]).map(Zeroizing::new)
            }
        }
    }

    /// Returns whether the key is an AES key.
    pub(crate) const fn is_aes(&self) -> bool {
        !matches!(self, Self::Hmac(_))
    }
}

/// Computes an HMAC (FIPS 198-1) of the parts.
pub(crate) fn hmac(hash: Hash, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    with_hash!(hash, Function, Keyed => {
        let mut mac = Keyed::new_from_slice(key).expect("keys of any length");
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().to_vec()
    })
}

/// Computes an AES-CMAC (SP 800-38B) of the parts.
///
/// # Errors
/// [`Code::KEY_SIZE_RANGE`].
pub(super) fn cmac(key: &[u8], parts: &[&[u8]]) -> Result<Zeroizing<Vec<u8>>> {
    with_aes!(key, Cipher => {
        let mut mac = Cmac::<Cipher>::new_from_slice(key).map_err(|_| Code::KEY_SIZE_RANGE)?;
        parts.iter().for_each(|part| mac.update(part));
        Ok(Zeroizing::new(mac.finalize().into_bytes().to_vec()))
    })
}

/// Computes a digest (FIPS 180-4, FIPS 202).
pub(crate) fn digest(hash: Hash, data: &[u8]) -> Vec<u8> {
    with_hash!(hash, Function, Keyed => Function::digest(data).to_vec())
}
