//! Converts mechanisms and their parameters from C's structures.

mod derivation;
mod message;

use std::ffi::c_void;

use cryptoki_sys::{
    CK_AES_CBC_ENCRYPT_DATA_PARAMS, CK_AES_CTR_PARAMS, CK_CCM_PARAMS, CK_ECDH1_DERIVE_PARAMS,
    CK_EDDSA_PARAMS, CK_GCM_PARAMS, CK_KEY_DERIVATION_STRING_DATA, CK_MECHANISM,
    CK_RSA_AES_KEY_WRAP_PARAMS, CK_RSA_PKCS_OAEP_PARAMS, CK_RSA_PKCS_PSS_PARAMS, CK_ULONG,
    CKZ_DATA_SPECIFIED,
};
use cycloid_hsm_protocol::legacy::Allowed;
use cycloid_hsm_protocol::mechanism::{Hash, Parameter, ckm, is_pss, offered_under};
use cycloid_hsm_protocol::rpc::{Bytes, Mechanism};
use cycloid_hsm_protocol::{Code, Result};

pub(crate) use message::{Generator, MessageParameter, Vector, cipher as message_cipher};

use crate::memory;

/// The maximum length of a label, shared information, associated data or context, in bytes.
const MAX_PART: CK_ULONG = 1 << 16;

/// Reads the mechanism at `pointer`.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for a null pointer; [`Code::MECHANISM_INVALID`] if it is not supported;
/// [`Code::MECHANISM_PARAM_INVALID`].
///
/// # Safety
/// A non-null pointer must point to a mechanism whose pointers match their lengths.
pub(crate) unsafe fn mechanism(pointer: *const CK_MECHANISM) -> Result<Mechanism> {
    // SAFETY: guaranteed by the caller.
    let mechanism = unsafe { memory::read(pointer)? };
    let number = u32::try_from(mechanism.mechanism)
        .ok()
        .filter(|number| offered_under(Allowed::EVERY, *number).is_some());
    let number = number.ok_or(Code::MECHANISM_INVALID)?;
    // SAFETY: guaranteed by the caller.
    let parameter = unsafe { parameter(number, mechanism.pParameter, mechanism.ulParameterLen) };
    Ok(Mechanism { number, parameter: parameter? })
}

/// Reads a mechanism's number alone, whether it is supported or not.
///
/// # Safety
/// As for [`mechanism`].
pub(crate) unsafe fn number(pointer: *const CK_MECHANISM) -> Result<u32> {
    // SAFETY: guaranteed by the caller.
    let number = unsafe { memory::read(pointer)?.mechanism };
    u32::try_from(number).map_err(|_| Code::MECHANISM_INVALID.into())
}

/// Structures for which every byte pattern is valid.
///
/// # Safety
/// Every byte pattern must be a valid value.
unsafe trait Plain: Copy {}

// SAFETY: numbers and pointers, which are checked before they are followed.
unsafe impl Plain for CK_RSA_PKCS_PSS_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_RSA_PKCS_OAEP_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_GCM_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_ECDH1_DERIVE_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_EDDSA_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for OldGcm {}
// SAFETY: as above.
unsafe impl Plain for CK_AES_CBC_ENCRYPT_DATA_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_AES_CTR_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_CCM_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_KEY_DERIVATION_STRING_DATA {}
// SAFETY: as above.
unsafe impl Plain for CK_RSA_AES_KEY_WRAP_PARAMS {}
// SAFETY: a number.
unsafe impl Plain for CK_ULONG {}

/// `CK_GCM_PARAMS` as in the headers up to 2.40, which programs still use: without the
/// initialisation vector's length in bits.
#[repr(C)]
#[derive(Clone, Copy)]
struct OldGcm {
    iv: *const u8,
    iv_length: CK_ULONG,
    associated: *const u8,
    associated_length: CK_ULONG,
    tag_bits: CK_ULONG,
}

fn invalid() -> cycloid_hsm_protocol::Error {
    Code::MECHANISM_PARAM_INVALID.into()
}

fn structure<T: Plain>(bytes: &[u8]) -> Result<T> {
    if bytes.len() != size_of::<T>() {
        return Err(invalid());
    }
    // SAFETY: the slice has the length of `T`, and every byte pattern is a valid value.
    Ok(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

fn small(number: CK_ULONG) -> Result<u32> {
    u32::try_from(number).map_err(|_| invalid())
}

/// # Safety
/// A non-null pointer must point to as many bytes as the length says.
unsafe fn part(pointer: *const u8, length: CK_ULONG) -> Result<Bytes> {
    if length > MAX_PART {
        return Err(invalid());
    }
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { memory::slice(pointer, length).map_err(|_| invalid())? };
    Ok(bytes.into())
}

/// # Safety
/// As for [`mechanism`].
unsafe fn parameter(number: u32, pointer: *const c_void, length: CK_ULONG) -> Result<Parameter> {
    if length > MAX_PART {
        return Err(invalid());
    }
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { memory::slice(pointer.cast::<u8>(), length).map_err(|_| invalid())? };
    match number {
        _ if is_pss(number) => {
            let given: CK_RSA_PKCS_PSS_PARAMS = structure(bytes)?;
            Ok(Parameter::Pss {
                hash: small(given.hashAlg)?,
                mask: small(given.mgf)?,
                salt_length: small(given.sLen)?,
            })
        }
        // SAFETY: guaranteed by the caller.
        ckm::RSA_PKCS_OAEP => unsafe { oaep_parameter(structure(bytes)?) },
        // SAFETY: guaranteed by the caller.
        ckm::AES_GCM => unsafe { gcm(bytes) },
        // Up to 3.0 the parameter is the initialisation vector alone.
        ckm::AES_GMAC if bytes.len() == 12 => Ok(Parameter::Iv(bytes.into())),
        // SAFETY: guaranteed by the caller.
        ckm::AES_GMAC => unsafe { gcm(bytes) },
        ckm::AES_CCM => {
            let given: CK_CCM_PARAMS = structure(bytes)?;
            // At most 16; the daemon decides which lengths it accepts.
            let tag_length = small(given.ulMACLen)?;
            if tag_length > 16 {
                return Err(invalid());
            }
            // SAFETY: guaranteed by the caller.
            let (nonce, associated) = unsafe {
                (part(given.pNonce, given.ulNonceLen)?, part(given.pAAD, given.ulAADLen)?)
            };
            Ok(Parameter::Ccm { data_length: given.ulDataLen, nonce, associated, tag_length })
        }
        ckm::AES_CTR => {
            let given: CK_AES_CTR_PARAMS = structure(bytes)?;
            match small(given.ulCounterBits)? {
                bits @ 1..=128 => Ok(Parameter::Counter { bits, block: given.cb[..].into() }),
                _ => Err(invalid()),
            }
        }
        ckm::AES_ECB_ENCRYPT_DATA => {
            let given: CK_KEY_DERIVATION_STRING_DATA = structure(bytes)?;
            // SAFETY: guaranteed by the caller.
            Ok(Parameter::Data(unsafe { part(given.pData, given.ulLen)? }))
        }
        ckm::AES_CBC_ENCRYPT_DATA => {
            let given: CK_AES_CBC_ENCRYPT_DATA_PARAMS = structure(bytes)?;
            // SAFETY: guaranteed by the caller.
            let data = unsafe { part(given.pData, given.length)? };
            Ok(Parameter::CbcData { iv: given.iv[..].into(), data })
        }
        ckm::AES_CBC | ckm::AES_CBC_PAD => match bytes.len() {
            16 => Ok(Parameter::Iv(bytes.into())),
            _ => Err(invalid()),
        },
        ckm::AES_KEY_WRAP | ckm::AES_KEY_WRAP_PAD | ckm::AES_KEY_WRAP_KWP => match bytes.len() {
            0 => Ok(Parameter::None),
            4 | 8 => Ok(Parameter::Iv(bytes.into())),
            _ => Err(invalid()),
        },
        ckm::ECDH1_DERIVE | ckm::ECDH1_COFACTOR_DERIVE => {
            let given: CK_ECDH1_DERIVE_PARAMS = structure(bytes)?;
            // SAFETY: guaranteed by the caller.
            let (shared, public) = unsafe {
                (
                    part(given.pSharedData, given.ulSharedDataLen)?,
                    part(given.pPublicData, given.ulPublicDataLen)?,
                )
            };
            Ok(Parameter::Ecdh { derivation: small(given.kdf)?, shared, public })
        }
        ckm::DH_PKCS_DERIVE => Ok(Parameter::Data(bytes.into())),
        ckm::EDDSA if !bytes.is_empty() => {
            let given: CK_EDDSA_PARAMS = structure(bytes)?;
            Ok(Parameter::EdDsa {
                prehashed: given.phFlag != 0,
                // SAFETY: guaranteed by the caller.
                context: unsafe { part(given.pContextData, given.ulContextDataLen)? },
            })
        }
        // SAFETY: guaranteed by the caller.
        ckm::HKDF_DERIVE | ckm::HKDF_DATA => unsafe { derivation::hkdf(bytes) },
        // SAFETY: guaranteed by the caller.
        ckm::PKCS5_PBKD2 => unsafe { derivation::pbkdf2(bytes) },
        // SAFETY: guaranteed by the caller.
        ckm::SP800_108_COUNTER_KDF => unsafe { derivation::counter_kdf(bytes) },
        // SAFETY: guaranteed by the caller.
        ckm::SP800_108_FEEDBACK_KDF => unsafe { derivation::feedback_kdf(bytes) },
        ckm::RSA_AES_KEY_WRAP => {
            let given: CK_RSA_AES_KEY_WRAP_PARAMS = structure(bytes)?;
            // SAFETY: guaranteed by the caller.
            let oaep = unsafe { memory::read(given.pOAEPParams).map_err(|_| invalid())? };
            // SAFETY: guaranteed by the caller.
            let Parameter::Oaep { hash, mask, label } = (unsafe { oaep_parameter(oaep)? }) else {
                return Err(invalid());
            };
            Ok(Parameter::OaepAes { bits: small(given.ulAESKeyBits)?, hash, mask, label })
        }
        _ if number == ckm::AES_CMAC_GENERAL || Hash::of_general_hmac(number).is_some() => {
            match small(structure(bytes)?)? {
                length if length as usize <= Hash::Sha512.length() => Ok(Parameter::Length(length)),
                _ => Err(invalid()),
            }
        }
        _ if bytes.is_empty() => Ok(Parameter::None),
        _ => Err(invalid()),
    }
}

/// # Safety
/// As for [`mechanism`].
unsafe fn oaep_parameter(given: CK_RSA_PKCS_OAEP_PARAMS) -> Result<Parameter> {
    // Programs without a label often leave the source unset.
    if given.source != CKZ_DATA_SPECIFIED && (given.source != 0 || given.ulSourceDataLen != 0) {
        return Err(invalid());
    }
    Ok(Parameter::Oaep {
        hash: small(given.hashAlg)?,
        mask: small(given.mgf)?,
        // SAFETY: guaranteed by the caller.
        label: unsafe { part(given.pSourceData.cast(), given.ulSourceDataLen)? },
    })
}

/// # Safety
/// As for [`mechanism`].
unsafe fn gcm(bytes: &[u8]) -> Result<Parameter> {
    let given = if bytes.len() == size_of::<OldGcm>() {
        structure(bytes)?
    } else {
        let given: CK_GCM_PARAMS = structure(bytes)?;
        OldGcm {
            iv: given.pIv,
            iv_length: given.ulIvLen,
            associated: given.pAAD,
            associated_length: given.ulAADLen,
            tag_bits: given.ulTagBits,
        }
    };
    // Whole bytes, at most 16; the daemon decides which lengths it accepts.
    let tag_bits = small(given.tag_bits)?;
    if tag_bits > 128 || tag_bits % 8 != 0 {
        return Err(invalid());
    }
    // SAFETY: guaranteed by the caller.
    let (iv, associated) = unsafe {
        (part(given.iv, given.iv_length)?, part(given.associated, given.associated_length)?)
    };
    Ok(Parameter::Gcm { iv, associated, tag_bits })
}
