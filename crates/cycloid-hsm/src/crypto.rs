//! Computations with secret keys: AES, key wrap, message authentication and key derivation.

/// Evaluates `$body` with `$Cipher` as the AES for the key's length.
macro_rules! with_aes {
    ($key:expr, $Cipher:ident => $body:expr) => {
        match $key.len() {
            16 => {
                type $Cipher = Aes128;
                $body
            }
            24 => {
                type $Cipher = Aes192;
                $body
            }
            32 => {
                type $Cipher = Aes256;
                $body
            }
            _ => Err(Code::KEY_SIZE_RANGE.into()),
        }
    };
}

mod derivation;
mod gcm;
mod mac;
mod modes;
mod running;
#[cfg(test)]
mod tests;

use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::{BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use aes_kw::{KwAes128, KwAes192, KwAes256, KwpAes128, KwpAes192, KwpAes256};
use zeroize::Zeroizing;

pub(crate) use derivation::{Function, HkdfSteps, hkdf, kdf, pbkdf2};
pub(crate) use gcm::{gcm_decrypt, gcm_encrypt};
pub(crate) use mac::{Mac, digest, hmac};
pub(crate) use modes::{ccm_decrypt, ccm_encrypt, ctr, ecb_decrypt, ecb_encrypt};
pub(crate) use running::RunningMac;

use crate::{Code, Result};

/// Identifies the value of a key, whatever object it is in.
#[derive(Clone)]
pub struct Fingerprint {
    /// The name under which a keystore records the value, made with a key of the keystore.
    pub(crate) name: String,
    /// The SHA-256 digest of the value.
    pub(crate) digest: Zeroizing<[u8; 32]>,
}

/// Shows nothing of the value.
impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fingerprint(..)")
    }
}

/// Encrypts one block with AES.
///
/// # Panics
/// If `key` is not 16, 24 or 32 bytes long; key lengths are checked when keys are made.
pub(crate) fn aes_block(key: &[u8], block: [u8; 16]) -> [u8; 16] {
    let mut block = block.into();
    let done: Result<()> = with_aes!(key, Cipher => {
        Cipher::new_from_slice(key).expect("the length is right").encrypt_block(&mut block);
        Ok(())
    });
    done.expect("AES keys have 16, 24 or 32 bytes");
    block.into()
}

fn iv(iv: &[u8]) -> Result<[u8; 16]> {
    iv.try_into().map_err(|_| Code::MECHANISM_PARAM_INVALID.because("the IV must have 16 bytes"))
}

/// Encrypts with AES-CBC (SP 800-38A, section 6.2), with PKCS #7 padding or none.
///
/// # Errors
/// [`Code::DATA_LEN_RANGE`] without padding, for a partial block;
/// [`Code::MECHANISM_PARAM_INVALID`].
pub(crate) fn cbc_encrypt(key: &[u8], vector: &[u8], padded: bool, data: &[u8]) -> Result<Vec<u8>> {
    let vector = iv(vector)?;
    if !padded && !data.len().is_multiple_of(16) {
        return Err(Code::DATA_LEN_RANGE.into());
    }
    with_aes!(key, Cipher => {
        let cipher = cbc::Encryptor::<Cipher>::new_from_slices(key, &vector)
            .map_err(|_| Code::KEY_SIZE_RANGE)?;
        Ok(if padded {
            cipher.encrypt_padded_vec::<Pkcs7>(data)
        } else {
            cipher.encrypt_padded_vec::<NoPadding>(data)
        })
    })
}

/// Decrypts the output of [`cbc_encrypt`].
///
/// # Errors
/// [`Code::ENCRYPTED_DATA_LEN_RANGE`]; [`Code::ENCRYPTED_DATA_INVALID`] for invalid padding. An
/// attacker who can tell valid from invalid padding learns the plaintext (Vaudenay, 2002), so
/// unauthenticated CBC is unsuitable for ciphertexts from untrusted sources.
pub(crate) fn cbc_decrypt(
    key: &[u8],
    vector: &[u8],
    padded: bool,
    data: &[u8],
) -> Result<Zeroizing<Vec<u8>>> {
    let vector = iv(vector)?;
    if !data.len().is_multiple_of(16) || padded && data.is_empty() {
        return Err(Code::ENCRYPTED_DATA_LEN_RANGE.into());
    }
    with_aes!(key, Cipher => {
        let cipher = cbc::Decryptor::<Cipher>::new_from_slices(key, &vector)
            .map_err(|_| Code::KEY_SIZE_RANGE)?;
        let plain = if padded {
            cipher.decrypt_padded_vec::<Pkcs7>(data)
        } else {
            cipher.decrypt_padded_vec::<NoPadding>(data)
        };
        plain.map(Zeroizing::new).map_err(|_| Code::ENCRYPTED_DATA_INVALID.into())
    })
}

/// Wraps a key by RFC 3394, or with padding by RFC 5649.
///
/// # Errors
/// [`Code::KEY_SIZE_RANGE`] for a length that cannot be wrapped without padding.
pub(crate) fn wrap(key: &[u8], padded: bool, data: &[u8]) -> Result<Vec<u8>> {
    let mut wrapped = vec![0; data.len().next_multiple_of(8) + 8];
    macro_rules! wrap_with {
        ($Kw:ty) => {
            <$Kw>::new_from_slice(key)
                .map_err(|_| Code::KEY_SIZE_RANGE)?
                .wrap_key(data, &mut wrapped)
                .map(<[u8]>::len)
        };
    }
    let length = match (key.len(), padded) {
        (16, false) => wrap_with!(KwAes128),
        (24, false) => wrap_with!(KwAes192),
        (32, false) => wrap_with!(KwAes256),
        (16, true) => wrap_with!(KwpAes128),
        (24, true) => wrap_with!(KwpAes192),
        (32, true) => wrap_with!(KwpAes256),
        _ => return Err(Code::KEY_SIZE_RANGE.into()),
    };
    wrapped.truncate(length.map_err(|_| Code::KEY_SIZE_RANGE)?);
    Ok(wrapped)
}

/// Unwraps the output of [`wrap`].
///
/// # Errors
/// [`Code::WRAPPED_KEY_INVALID`]; [`Code::WRAPPED_KEY_LEN_RANGE`].
pub(crate) fn unwrap(key: &[u8], padded: bool, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    if wrapped.len() < 16 || !wrapped.len().is_multiple_of(8) {
        return Err(Code::WRAPPED_KEY_LEN_RANGE.into());
    }
    let mut plain = Zeroizing::new(vec![0; wrapped.len()]);
    macro_rules! unwrap_with {
        ($Kw:ty) => {
            <$Kw>::new_from_slice(key)
                .map_err(|_| Code::KEY_SIZE_RANGE)?
                .unwrap_key(wrapped, &mut plain)
                .map(<[u8]>::len)
        };
    }
    let length = match (key.len(), padded) {
        (16, false) => unwrap_with!(KwAes128),
        (24, false) => unwrap_with!(KwAes192),
        (32, false) => unwrap_with!(KwAes256),
        (16, true) => unwrap_with!(KwpAes128),
        (24, true) => unwrap_with!(KwpAes192),
        (32, true) => unwrap_with!(KwpAes256),
        _ => return Err(Code::KEY_SIZE_RANGE.into()),
    };
    plain.truncate(length.map_err(|_| Code::WRAPPED_KEY_INVALID)?);
    Ok(plain)
}
