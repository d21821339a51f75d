//! Secret keys derived from key material: KeyGen of the draft, and the key tree of EIP-2333.

use sha2::{Digest, Sha256};

use super::super::backend::Scalars;
use super::super::{Error, Fr};
use crate::machine::ct;
use crate::scheme::hash::{DigestBytes, Hash};
use crate::scheme::hmac::{Algorithm, Keyed};

/// The minimum length of key material, in bytes.
const MIN_KEY_MATERIAL: usize = 32;

/// Bytes in a SHA-256 digest.
const DIGEST: usize = 32;

/// L, the number of pseudorandom bytes that are reduced modulo r: ceil(3 · 255 / 16).
const LENGTH: usize = 48;

/// The output of HKDF-Expand (RFC 5869, section 2.3), a digest at a time.
struct Expand<'a> {
    keyed: Keyed,
    info: &'a [&'a [u8]],
    last: Option<DigestBytes>,
    count: u8,
}

impl<'a> Expand<'a> {
    /// Runs HKDF-Extract on a salt and key material in parts, ready for expansion.
    fn extract(salt: &[u8], material: &[&[u8]], info: &'a [&'a [u8]]) -> Self {
        let algorithm = Algorithm::of(Hash::Sha256);
        let key = algorithm.keyed(salt).authenticate(material);
        Self { keyed: algorithm.keyed(&key), info, last: None, count: 0 }
    }

    /// Returns the next 32 bytes, up to 255 times.
    fn next(&mut self) -> &[u8] {
        self.count += 1;
        let count = [self.count];
        let mut parts: [&[u8]; 4] = [&[]; 4];
        if let Some(last) = &self.last {
            parts[0] = last;
        }
        parts[1..][..self.info.len()].copy_from_slice(self.info);
        parts[3] = &count;
        let next = self.keyed.authenticate(&parts);
        self.last.insert(next)
    }
}

/// Runs KeyGen of the draft (section 2.3), which EIP-2333 calls hkdf_mod_r.
///
/// # Errors
/// [`Error::KeyMaterialTooShort`].
pub(super) fn key_gen<B: Scalars>(
    material: &[u8],
    key_info: &[u8],
    salt: &[u8],
) -> Result<Fr<B>, Error> {
    if material.len() < MIN_KEY_MATERIAL {
        return Err(Error::KeyMaterialTooShort);
    }
    let info: [&[u8]; 2] = [key_info, &(LENGTH as u16).to_be_bytes()];
    let mut expand = Expand::extract(salt, &[material, &[0]], &info);
    let mut bytes = [0; LENGTH];
    bytes[..DIGEST].copy_from_slice(expand.next());
    bytes[DIGEST..].copy_from_slice(&expand.next()[..LENGTH - DIGEST]);
    bytes.reverse();
    let key = Fr::from_bytes_wide(&bytes);
    ct::wipe_bytes(&mut bytes);
    // The probability of 0 is 2⁻²⁵⁵, and it reveals nothing about the next key.
    if key.is_zero() { key_gen(material, key_info, &Sha256::digest(salt)) } else { Ok(key) }
}

/// Returns the initial salt of both derivations, unless one is given.
pub(super) fn first_salt() -> [u8; DIGEST] {
    Sha256::digest(b"BLS-SIG-KEYGEN-SALT-").into()
}

/// Runs derive_child_SK of EIP-2333.
pub(super) fn derive_child<B: Scalars>(parent: &Fr<B>, index: u32) -> Result<Fr<B>, Error> {
    let salt = index.to_be_bytes();
    let mut material = parent.to_be_bytes();
    // parent_SK_to_lamport_PK: the digests of 255 chunks for the key, and as many for its
    // complement, hashed as they are produced.
    let mut compressed = Sha256::new();
    for _ in 0..2 {
        let mut expand = Expand::extract(&salt, &[&material], &[]);
        for _ in 0..255 {
            compressed.update(Sha256::digest(expand.next()));
        }
        material.iter_mut().for_each(|byte| *byte = !*byte);
    }
    ct::wipe_bytes(&mut material);
    let compressed = DigestBytes::of_output(compressed.finalize());
    key_gen(&compressed, &[], &first_salt())
}
