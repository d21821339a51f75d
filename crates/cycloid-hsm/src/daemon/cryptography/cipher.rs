//! Encryption and decryption with AES keys.

use zeroize::Zeroizing;

use super::bad_parameter;
use crate::crypto;
use crate::mechanism::{Parameter, ckm};
use crate::rpc::message::Mechanism;
use crate::{Code, Result};

/// Checks the plaintext's length that the parameters of AES-CCM state.
fn agrees(stated: u64, length: usize) -> Result<()> {
    match stated == length as u64 {
        true => Ok(()),
        false => Err(Code::DATA_LEN_RANGE
            .because("the parameters of AES-CCM state another length of the plaintext")),
    }
}

/// Encrypts by a mechanism.
///
/// # Errors
/// [`Code::MECHANISM_PARAM_INVALID`], [`Code::DATA_LEN_RANGE`].
pub(super) fn encrypt(
    key: &[u8],
    mechanism: &Mechanism,
    plain: &[u8],
) -> Result<Zeroizing<Vec<u8>>> {
    match (mechanism.number, &mechanism.parameter) {
        (ckm::AES_ECB, Parameter::None) => crypto::ecb_encrypt(key, plain),
        (ckm::AES_CBC, Parameter::Iv(iv)) | (ckm::AES_CBC_PAD, Parameter::Piece(iv)) => {
            crypto::cbc_encrypt(key, &iv.0, false, plain).map(Zeroizing::new)
        }
        (ckm::AES_CBC_PAD, Parameter::Iv(iv)) => {
            crypto::cbc_encrypt(key, &iv.0, true, plain).map(Zeroizing::new)
        }
        (ckm::AES_CTR, Parameter::Counter { bits, block }) => {
            crypto::ctr(key, *bits, &block.0, plain)
        }
        (ckm::AES_GCM, Parameter::Gcm { iv, associated, tag_bits }) => {
            crypto::gcm_encrypt(key, &iv.0, &associated.0, *tag_bits, plain).map(Zeroizing::new)
        }
        (ckm::AES_CCM, Parameter::Ccm { data_length, nonce, associated, tag_length }) => {
            agrees(*data_length, plain.len())?;
            crypto::ccm_encrypt(key, &nonce.0, &associated.0, *tag_length, plain)
                .map(Zeroizing::new)
        }
        _ => Err(bad_parameter()),
    }
}

/// Decrypts by a mechanism.
///
/// # Errors
/// [`Code::MECHANISM_PARAM_INVALID`], [`Code::ENCRYPTED_DATA_LEN_RANGE`],
/// [`Code::ENCRYPTED_DATA_INVALID`].
pub(super) fn decrypt(
    key: &[u8],
    mechanism: &Mechanism,
    ciphertext: &[u8],
) -> Result<Zeroizing<Vec<u8>>> {
    match (mechanism.number, &mechanism.parameter) {
        (ckm::AES_ECB, Parameter::None) => crypto::ecb_decrypt(key, ciphertext),
        (ckm::AES_CBC, Parameter::Iv(iv)) | (ckm::AES_CBC_PAD, Parameter::Piece(iv)) => {
            crypto::cbc_decrypt(key, &iv.0, false, ciphertext)
        }
        (ckm::AES_CBC_PAD, Parameter::Iv(iv)) => crypto::cbc_decrypt(key, &iv.0, true, ciphertext),
        (ckm::AES_CTR, Parameter::Counter { bits, block }) => {
            crypto::ctr(key, *bits, &block.0, ciphertext)
        }
        (ckm::AES_GCM, Parameter::Gcm { iv, associated, tag_bits }) => {
            crypto::gcm_decrypt(key, &iv.0, &associated.0, *tag_bits, ciphertext)
        }
        (ckm::AES_CCM, Parameter::Ccm { data_length, nonce, associated, tag_length }) => {
            let length = ciphertext.len().checked_sub(*tag_length as usize);
            agrees(*data_length, length.ok_or(Code::ENCRYPTED_DATA_LEN_RANGE)?)?;
            crypto::ccm_decrypt(key, &nonce.0, &associated.0, *tag_length, ciphertext)
        }
        _ => Err(bad_parameter()),
    }
}
