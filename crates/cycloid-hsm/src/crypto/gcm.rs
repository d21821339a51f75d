//! AES-GCM (SP 800-38D), with initialisation vectors of any length.
//!
//! Nearly all programs have vectors of 12 bytes, which the crate `aes-gcm` does. Its types fix the
//! length of the vector, so other lengths are composed here of GHASH and the counter mode.

use aes::cipher::{KeyInit, KeyIvInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::consts::{U12, U13, U14, U15, U16};
use aes_gcm::aead::{Aead, Payload};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::aes_block;
use crate::{Code, Result};

/// Evaluates `$body` with `$Cipher` as AES-GCM for the lengths of key and tag.
macro_rules! with_gcm {
    ($key:expr, $tag_bits:expr, $Cipher:ident => $body:expr) => {
        with_aes!($key, Block => match $tag_bits {
            128 => { type $Cipher = AesGcm<Block, U12, U16>; $body }
            120 => { type $Cipher = AesGcm<Block, U12, U15>; $body }
            112 => { type $Cipher = AesGcm<Block, U12, U14>; $body }
            104 => { type $Cipher = AesGcm<Block, U12, U13>; $body }
            96 => { type $Cipher = AesGcm<Block, U12, U12>; $body }
            _ => Err(Code::MECHANISM_PARAM_INVALID.because("the tag must have 96 to 128 bits")),
        })
    };
}

/// Encrypts with AES-GCM. Returns the ciphertext followed by the tag.
///
/// # Errors
/// [`Code::MECHANISM_PARAM_INVALID`] for an empty vector, and for tags of less than 96 bits.
pub(crate) fn gcm_encrypt(
    key: &[u8],
    vector: &[u8],
    associated: &[u8],
    tag_bits: u32,
    data: &[u8],
) -> Result<Vec<u8>> {
    let Ok(vector) = <[u8; 12]>::try_from(vector) else {
        let length = tag_length(tag_bits)?;
        let mut output = data.to_vec();
        let state = State::new(key, vector)?;
        state.apply_keystream(key, &mut output)?;
        let tag = state.tag(associated, &output);
        output.extend_from_slice(&tag[..length]);
        return Ok(output);
    };
    with_gcm!(key, tag_bits, Cipher => {
        let cipher = Cipher::new_from_slice(key).map_err(|_| Code::KEY_SIZE_RANGE)?;
        let payload = Payload { msg: data, aad: associated };
        cipher.encrypt(&vector.into(), payload).map_err(|_| Code::DATA_LEN_RANGE.into())
    })
}

/// Decrypts the output of [`gcm_encrypt`].
///
/// # Errors
/// [`Code::ENCRYPTED_DATA_INVALID`]; [`Code::MECHANISM_PARAM_INVALID`].
pub(crate) fn gcm_decrypt(
    key: &[u8],
    vector: &[u8],
    associated: &[u8],
    tag_bits: u32,
    data: &[u8],
) -> Result<Zeroizing<Vec<u8>>> {
    let Ok(vector) = <[u8; 12]>::try_from(vector) else {
        let length = tag_length(tag_bits)?;
        let state = State::new(key, vector)?;
        let (data, given) = data
            .len()
            .checked_sub(length)
            .map(|split| data.split_at(split))
            .ok_or(Code::ENCRYPTED_DATA_INVALID)?;
        let tag = state.tag(associated, data);
        if !bool::from(tag[..length].ct_eq(given)) {
            return Err(Code::ENCRYPTED_DATA_INVALID.into());
        }
        let mut plain = Zeroizing::new(data.to_vec());
        state.apply_keystream(key, &mut plain)?;
        return Ok(plain);
    };
    with_gcm!(key, tag_bits, Cipher => {
        let cipher = Cipher::new_from_slice(key).map_err(|_| Code::KEY_SIZE_RANGE)?;
        let payload = Payload { msg: data, aad: associated };
        let plain = cipher.decrypt(&vector.into(), payload);
        plain.map(Zeroizing::new).map_err(|_| Code::ENCRYPTED_DATA_INVALID.into())
    })
}

/// Returns the length of a tag in bytes.
fn tag_length(bits: u32) -> Result<usize> {
    match bits {
        96 | 104 | 112 | 120 | 128 => Ok(bits as usize / 8),
        _ => Err(Code::MECHANISM_PARAM_INVALID.because("the tag must have 96 to 128 bits")),
    }
}

/// What a key and an initialisation vector determine (SP 800-38D, section 7.1, steps 1 and 2).
pub(super) struct State {
    /// The hash function under its key.
    pub(super) hash: GHash,
    /// The counter block of the tag.
    first: [u8; 16],
    /// The encrypted counter block, which masks the hash.
    pub(super) mask: Zeroizing<[u8; 16]>,
}

impl State {
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`]; [`Code::MECHANISM_PARAM_INVALID`] for an empty vector.
    pub(super) fn new(key: &[u8], vector: &[u8]) -> Result<Self> {
        if !matches!(key.len(), 16 | 24 | 32) {
            return Err(Code::KEY_SIZE_RANGE.into());
        }
        if vector.is_empty() {
            return Err(Code::MECHANISM_PARAM_INVALID.because("the IV of AES-GCM is empty"));
        }
        let subkey = Zeroizing::new(aes_block(key, [0; 16]));
        let hash = GHash::new((&*subkey).into());
        let first = match <[u8; 12]>::try_from(vector) {
            Ok(vector) => {
                let mut first = [0; 16];
                first[..12].copy_from_slice(&vector);
                first[15] = 1;
                first
            }
            Err(_) => finish(hash.clone(), &[vector], 0, vector.len()),
        };
        let mask = Zeroizing::new(aes_block(key, first));
        Ok(Self { hash, first, mask })
    }

    /// Encrypts or decrypts (section 7.1, step 3): the counter is the last 32 bits of the block.
    fn apply_keystream(&self, key: &[u8], data: &mut [u8]) -> Result<()> {
        let mut second = self.first;
        let counter = u32::from_be_bytes(self.first[12..].try_into().expect("it has four bytes"));
        second[12..].copy_from_slice(&counter.wrapping_add(1).to_be_bytes());
        with_aes!(key, Cipher => {
            ctr::Ctr32BE::<Cipher>::new_from_slices(key, &second)
                .map_err(|_| Code::KEY_SIZE_RANGE)?
                .apply_keystream(data);
            Ok(())
        })
    }

    /// Returns the full tag (section 7.1, steps 4 to 6).
    pub(super) fn tag(&self, associated: &[u8], ciphertext: &[u8]) -> [u8; 16] {
        let parts = [associated, ciphertext];
        let mut tag = finish(self.hash.clone(), &parts, associated.len(), ciphertext.len());
        tag.iter_mut().zip(&*self.mask).for_each(|(one, other)| *one ^= other);
        tag
    }
}

/// Hashes parts, each padded to whole blocks, and two lengths in bytes.
fn finish(mut hash: GHash, parts: &[&[u8]], first: usize, second: usize) -> [u8; 16] {
    parts.iter().for_each(|part| hash.update_padded(part));
    let mut lengths = [0; 16];
    lengths[..8].copy_from_slice(&(8 * first as u64).to_be_bytes());
    lengths[8..].copy_from_slice(&(8 * second as u64).to_be_bytes());
    hash.update_padded(&lengths);
    hash.finalize().into()
}
