//! DigestInfo: a digest and the identifier of its hash function, which RSASSA-PKCS1-v1_5 signs (RFC
//! 8017, section 9.2). Any hash function with an identifier will do.

use sha2::digest::Digest;
use sha2::digest::const_oid::AssociatedOid;

use super::hash_function::FEWEST;
use super::padding::pkcs1v15::prefix;
use super::{Error, Hash};

/// The longest encoding whose lengths take one byte each.
const MOST: usize = 127 + 2;

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;
const OCTET_STRING: u8 = 0x04;
const NULL: [u8; 2] = [0x05, 0x00];

/// A digest and the identifier of its hash function, for hash functions that [`enum@Hash`] lacks.
///
/// ```
/// # use cycloid::scheme::rsa::{DigestInfo, Error, KeyPair};
/// # fn example(key: &KeyPair, rng: &mut impl rand_core::CryptoRng) -> Result<(), Error> {
/// use sha2::{Digest, Sha256};
///
/// let info = DigestInfo::of(Sha256::new().chain_update(b"any message"))?;
/// let signature = key.sign_digest_info(&info, rng)?;
/// key.public_key().verify_digest_info(&info, &signature)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DigestInfo {
    bytes: [u8; MOST],
    length: usize,
    digest_length: usize,
}

impl DigestInfo {
    /// Finishes a digest. The parameters of the identifier are NULL, as for SHA-2.
    ///
    /// # Errors
    /// [`Error::DigestLength`] if identifier and digest have more than 119 bytes together.
    pub fn of<D: Digest + AssociatedOid>(digest: D) -> Result<Self, Error> {
        let (oid, digest) = (D::OID.as_bytes(), digest.finalize());
        let algorithm = 2 + oid.len() + NULL.len();
        let contents = 2 + algorithm + 2 + digest.len();
        if contents + 2 > MOST {
            return Err(Error::DigestLength);
        }
        Ok(Self::joined(
            &[
                &[SEQUENCE, contents as u8, SEQUENCE, algorithm as u8],
                &[OBJECT_IDENTIFIER, oid.len() as u8],
                oid,
                &NULL,
                &[OCTET_STRING, digest.len() as u8],
            ],
            &digest,
        ))
    }

    /// Returns the encoding of a digest by a known function. The digest has the function's length.
    pub(super) fn known(hash: Hash, digest: &[u8]) -> Self {
        debug_assert!(digest.len() == hash.digest_length());
        Self::joined(&[prefix(hash)], digest)
    }

    fn joined(parts: &[&[u8]], digest: &[u8]) -> Self {
        let mut info = Self { bytes: [0; MOST], length: 0, digest_length: digest.len() };
        for part in parts.iter().chain([&digest]) {
            info.bytes[info.length..][..part.len()].copy_from_slice(part);
            info.length += part.len();
        }
        info
    }

    /// Returns an error if the digest is too short to sign.
    pub(super) const fn check_signable(&self) -> Result<(), Error> {
        if self.digest_length < FEWEST { Err(Error::HashRetired) } else { Ok(()) }
    }
}

impl AsRef<[u8]> for DigestInfo {
    /// Returns the encoding in DER.
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}
