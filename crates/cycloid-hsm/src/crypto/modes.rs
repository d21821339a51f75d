//! AES in counter mode, as a codebook, and with CCM.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, KeyIvInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256};
use ccm::Ccm;
use ccm::aead::consts::{U7, U8, U9, U10, U11, U12, U13, U14, U16};
use ccm::aead::{Aead, Payload};
use zeroize::Zeroizing;

use crate::{Code, Result};

/// Encrypts whole blocks with AES-ECB (SP 800-38A, section 6.1).
///
/// # Errors
/// [`Code::DATA_LEN_RANGE`] for a partial block.
pub(crate) fn ecb_encrypt(key: &[u8], data: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let mut blocks = Zeroizing::new(data.to_vec());
    let (all, rest) = blocks.as_chunks_mut::<16>();
    if !rest.is_empty() {
        return Err(Code::DATA_LEN_RANGE.into());
    }
    with_aes!(key, Cipher => {
        let cipher = Cipher::new_from_slice(key).map_err(|_| Code::KEY_SIZE_RANGE)?;
        all.iter_mut().for_each(|block| cipher.encrypt_block(block.into()));
        Ok(blocks)
    })
}

/// Decrypts the output of [`ecb_encrypt`].
///
/// # Errors
/// [`Code::ENCRYPTED_DATA_LEN_RANGE`] for a partial block.
pub(crate) fn ecb_decrypt(key: &[u8], data: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let mut blocks = Zeroizing::new(data.to_vec());
    let (all, rest) = blocks.as_chunks_mut::<16>();
    if !rest.is_empty() {
        return Err(Code::ENCRYPTED_DATA_LEN_RANGE.into());
    }
    with_aes!(key, Cipher => {
        let cipher = Cipher::new_from_slice(key).map_err(|_| Code::KEY_SIZE_RANGE)?;
        all.iter_mut().for_each(|block| cipher.decrypt_block(block.into()));
        Ok(blocks)
    })
}

/// Encrypts or decrypts with AES-CTR (SP 800-38A, section 6.5). The counter is the last `bits` bits
/// of the block and wraps within them.
///
/// # Errors
/// [`Code::MECHANISM_PARAM_INVALID`]; [`Code::DATA_LEN_RANGE`] if a counter block would repeat.
pub(crate) fn ctr(key: &[u8], bits: u32, block: &[u8], data: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let first = block.try_into().map(u128::from_be_bytes);
    let first = first.map_err(|_| Code::MECHANISM_PARAM_INVALID)?;
    let mask = match bits {
        1..=128 => u128::MAX >> (128 - bits),
        _ => return Err(Code::MECHANISM_PARAM_INVALID.into()),
    };
    if !data.is_empty() && (data.len() as u128 - 1) / 16 > mask {
        return Err(Code::DATA_LEN_RANGE.into());
    }
    let mut output = Zeroizing::new(data.to_vec());
    // The bytes before the counter wraps: at most `usize::MAX`, which no data exceeds.
    let before = (mask - (first & mask)).saturating_add(1).saturating_mul(16);
    let before = usize::try_from(before).unwrap_or(usize::MAX).min(data.len());
    let (head, tail) = output.split_at_mut(before);
    with_aes!(key, Cipher => {
        for (part, counter) in [(head, first), (tail, first & !mask)] {
            ctr::Ctr128BE::<Cipher>::new_from_slices(key, &counter.to_be_bytes())
                .map_err(|_| Code::KEY_SIZE_RANGE)?
                .apply_keystream(part);
        }
        Ok(output)
    })
}

/// Evaluates `$body` with `$Cipher` as AES-CCM for the lengths of key, tag and nonce.
macro_rules! with_ccm {
    ($key:expr, $tag:expr, $nonce:expr, $Cipher:ident => $body:expr) => {
        with_aes!($key, Block => match $tag {
            8 => with_ccm!(@ Block, U8, $nonce, $Cipher => $body),
            10 => with_ccm!(@ Block, U10, $nonce, $Cipher => $body),
            12 => with_ccm!(@ Block, U12, $nonce, $Cipher => $body),
            14 => with_ccm!(@ Block, U14, $nonce, $Cipher => $body),
            16 => with_ccm!(@ Block, U16, $nonce, $Cipher => $body),
            _ => Err(Code::MECHANISM_PARAM_INVALID
                .because("the tag of AES-CCM must have 8 to 16 bytes, an even number")),
        })
    };
    (@ $Block:ident, $Tag:ident, $nonce:expr, $Cipher:ident => $body:expr) => {
        match $nonce {
            7 => { type $Cipher = Ccm<$Block, $Tag, U7>; $body }
            8 => { type $Cipher = Ccm<$Block, $Tag, U8>; $body }
            9 => { type $Cipher = Ccm<$Block, $Tag, U9>; $body }
            10 => { type $Cipher = Ccm<$Block, $Tag, U10>; $body }
            11 => { type $Cipher = Ccm<$Block, $Tag, U11>; $body }
            12 => { type $Cipher = Ccm<$Block, $Tag, U12>; $body }
            13 => { type $Cipher = Ccm<$Block, $Tag, U13>; $body }
            _ => Err(Code::MECHANISM_PARAM_INVALID
                .because("the nonce of AES-CCM must have 7 to 13 bytes")),
        }
    };
}

/// Encrypts with AES-CCM (SP 800-38C). Returns the ciphertext followed by the tag.
///
/// # Errors
/// [`Code::MECHANISM_PARAM_INVALID`], also for tags of less than 64 bits.
pub(crate) fn ccm_encrypt(
    key: &[u8],
    nonce: &[u8],
    associated: &[u8],
    tag_length: u32,
    data: &[u8],
) -> Result<Vec<u8>> {
    with_ccm!(key, tag_length, nonce.len(), Cipher => {
        let cipher = Cipher::new_from_slice(key).map_err(|_| Code::KEY_SIZE_RANGE)?;
        let nonce = nonce.try_into().map_err(|_| Code::MECHANISM_PARAM_INVALID)?;
        let payload = Payload { msg: data, aad: associated };
        cipher.encrypt(nonce, payload).map_err(|_| Code::DATA_LEN_RANGE.into())
    })
}

/// Decrypts the output of [`ccm_encrypt`].
///
/// # Errors
/// [`Code::ENCRYPTED_DATA_INVALID`]; [`Code::MECHANISM_PARAM_INVALID`].
pub(crate) fn ccm_decrypt(
    key: &[u8],
    nonce: &[u8],
    associated: &[u8],
    tag_length: u32,
    data: &[u8],
) -> Result<Zeroizing<Vec<u8>>> {
    with_ccm!(key, tag_length, nonce.len(), Cipher => {
        let cipher = Cipher::new_from_slice(key).map_err(|_| Code::KEY_SIZE_RANGE)?;
        let nonce = nonce.try_into().map_err(|_| Code::MECHANISM_PARAM_INVALID)?;
        let payload = Payload { msg: data, aad: associated };
        let plain = cipher.decrypt(nonce, payload);
        plain.map(Zeroizing::new).map_err(|_| Code::ENCRYPTED_DATA_INVALID.into())
    })
}
