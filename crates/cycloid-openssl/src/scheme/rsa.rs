//! RSA signatures: RSASSA-PKCS1-v1_5, RSASSA-PSS, and PKCS #1 padding of data without a digest's
//! identifier.

use std::ffi::CStr;
use std::sync::Arc;

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{Pss, SignatureScheme, encrypt_scratch_limbs};

use super::{Purpose, Scheme};
use crate::digest;
use crate::failure::Error;
use crate::ffi::large_stack::on_large_stack;
use crate::ffi::params::{Params, Value};
use crate::key::rsa::RsaKey;
use crate::queue::{self, RsaOperation};

/// RSA signatures with a key.
#[derive(Clone)]
pub(crate) struct Rsa {
    key: Arc<RsaKey>,
    /// The key is for RSASSA-PSS only.
    only_pss: bool,
    padding: Padding,
    hash: Option<Hash>,
    mask_hash: Option<Hash>,
    salt: Salt,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Padding {
    Pkcs1,
    Pss,
}

/// The length of a salt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Salt {
    /// The default, which differs between versions of OpenSSL.
    Unset,
    /// As found when verifying, and the longest when signing.
    Auto,
    /// As long as the digest.
    Digest,
    /// The longest that fits.
    Longest,
    Exactly(usize),
}

impl Rsa {
    fn padding_of(value: &Value<'_>) -> Option<Padding> {
        match (value.text(), value.number()) {
            (Some("pkcs1"), _) | (_, Some(1)) => Some(Padding::Pkcs1),
            (Some("pss"), _) | (_, Some(6)) => Some(Padding::Pss),
            _ => None,
        }
    }

    fn salt_of(value: &Value<'_>) -> Option<Salt> {
        match value.text() {
            Some("digest") => Some(Salt::Digest),
            Some("max") => Some(Salt::Longest),
            Some("auto") => Some(Salt::Auto),
            Some(number) => number.parse().ok().map(Salt::Exactly),
            None => match value.number()? {
                -1 => Some(Salt::Digest),
                -2 => Some(Salt::Auto),
                -3 => Some(Salt::Longest),
                length => usize::try_from(length).ok().map(Salt::Exactly),
            },
        }
    }

    /// Returns the longest salt, if the digest fits at all (RFC 8017, section 9.1.1).
    fn longest_salt(&self, hash: Hash) -> Option<usize> {
        let encoded = (self.key.public().bits() - 1).div_ceil(8);
        encoded.checked_sub(hash.digest_length() + 2)
    }

    /// Returns the parameters of RSASSA-PSS if the length of the salt is known.
    fn pss(&self, hash: Hash) -> Option<Pss> {
        let salt_length = match self.salt {
            Salt::Unset | Salt::Auto => return None,
            Salt::Digest => hash.digest_length(),
            Salt::Longest => self.longest_salt(hash)?,
            Salt::Exactly(length) => length,
        };
        Some(Pss { hash, mask_hash: self.mask_hash.unwrap_or(hash), salt_length })
    }

    /// Returns `data` with the padding of RSASSA-PKCS1-v1_5 (RFC 8017, section 9.2, steps 3 to 5).
    fn padded(&self, data: &[u8]) -> Option<Vec<u8>> {
        let length = self.key.public().length();
        let zeros = length.checked_sub(data.len() + 3).filter(|ones| *ones >= 8)?;
        let mut encoded = vec![0xff; length];
        encoded[0] = 0;
        encoded[1] = 1;
        encoded[2 + zeros] = 0;
        encoded[3 + zeros..].copy_from_slice(data);
        Some(encoded)
    }
}

impl Scheme for Rsa {
    type Key = RsaKey;

    const NAME: &'static CStr = c"RSA";
    const ONE_SHOT: bool = false;

    fn begin(key: Arc<RsaKey>, kind: &CStr, purpose: Purpose, hash: Option<Hash>) -> Option<Self> {
        if purpose == Purpose::Sign {
            key.private_key()?;
        }
        let only_pss = kind == c"RSA-PSS";
        let padding = if only_pss { Padding::Pss } else { Padding::Pkcs1 };
        Some(Self { key, only_pss, padding, hash, mask_hash: None, salt: Salt::Unset })
    }

    fn set(&mut self, params: &Params<'_>) -> bool {
        let mut changed = self.clone();
        let handled = params.iter().all(|value| match value.name() {
            b"pad-mode" => {
                let padding = Self::padding_of(&value);
                changed.padding = padding.unwrap_or(changed.padding);
                padding.is_some()
            }
            b"saltlen" => {
                let salt = Self::salt_of(&value);
                changed.salt = salt.unwrap_or(changed.salt);
                salt.is_some()
            }
            b"digest" => {
                changed.hash = value.text().and_then(digest::named);
                changed.hash.is_some()
            }
            b"mgf1-digest" => {
                changed.mask_hash = value.text().and_then(digest::named);
                changed.mask_hash.is_some()
            }
            b"properties" | b"mgf1-properties" => value.text() == Some(""),
            _ => false,
        });
        // Combinations that make no sense are the default provider's to refuse. A salt and a mask
        // that were set before the padding changed are kept, and count again with PSS.
        let for_pss = ["saltlen", "mgf1-digest", "mgf1-properties"];
        let sensible = match changed.padding {
            Padding::Pkcs1 => {
                !changed.only_pss && for_pss.iter().all(|name| params.find(name).is_none())
            }
            Padding::Pss => true,
        };
        if handled && sensible {
            *self = changed;
        }
        handled && sensible
    }

    fn longest(&self) -> usize {
        self.key.public().length()
    }

    fn sign(&self, digest: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        if self.hash.is_some_and(|hash| hash.digest_length() != digest.len()) {
            return Ok(None);
        }
        let operation = match (self.padding, self.hash) {
            (Padding::Pkcs1, Some(Hash::Sha1)) | (Padding::Pss, None | Some(Hash::Sha1)) => None,
            (Padding::Pkcs1, Some(hash)) => Some(RsaOperation::Pkcs1(hash)),
            (Padding::Pkcs1, None) => match self.padded(digest) {
                Some(encoded) => {
                    return queue::sign(&self.key, RsaOperation::Raw, encoded).map(Some);
                }
                None => None,
            },
            (Padding::Pss, Some(hash)) => {
                let auto = (self.salt == Salt::Auto).then(|| self.longest_salt(hash)).flatten();
                let longest = |salt_length| Pss {
                    hash,
                    mask_hash: self.mask_hash.unwrap_or(hash),
                    salt_length,
                };
                let pss = self.pss(hash).or_else(|| auto.map(longest));
                let fits = |pss: &Pss| {
                    pss.mask_hash != Hash::Sha1
                        && self.longest_salt(hash).is_some_and(|most| pss.salt_length <= most)
                };
                pss.filter(fits).map(RsaOperation::Pss)
            }
        };
        let Some(operation) = operation else { return Ok(None) };
        queue::sign(&self.key, operation, digest.to_vec()).map(Some)
    }

    fn verify(&self, digest: &[u8], signature: &[u8]) -> Option<bool> {
        on_large_stack(|| self.verified(digest, signature))
    }
}

impl Rsa {
    fn verified(&self, digest: &[u8], signature: &[u8]) -> Option<bool> {
        let key = self.key.public();
        if self.hash.is_some_and(|hash| hash.digest_length() != digest.len()) {
            return None;
        }
        let outcome = match (self.padding, self.hash) {
            (Padding::Pkcs1, Some(hash)) => {
                key.verify_prehashed(SignatureScheme::Pkcs1v15(hash), digest, signature)
            }
            (Padding::Pkcs1, None) => {
                let expected = self.padded(digest)?;
                let mut opened = vec![0; key.length()];
                let mut scratch = vec![0; encrypt_scratch_limbs(key.bits())];
                let outcome =
                    key.as_key().raw_public_operation(signature, &mut opened, &mut scratch);
                return Some(outcome.is_ok() && opened == expected);
            }
            (Padding::Pss, None) => return None,
            (Padding::Pss, Some(hash)) => match self.pss(hash) {
                Some(pss) => key.verify_prehashed(SignatureScheme::Pss(pss), digest, signature),
                // A salt of any length is known with one hash function only.
                None if self.mask_hash.is_none_or(|mask_hash| mask_hash == hash) => {
                    let scratch = cycloid::scheme::rsa::verify_scratch_limbs(key.bits());
                    let mut scratch = vec![0; scratch];
                    key.as_key().verify_pss_prehashed(hash, digest, None, signature, &mut scratch)
                }
                None => return None,
            },
        };
        Some(outcome.is_ok())
    }
}
