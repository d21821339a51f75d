//! The parameters of key derivations, which are structures of pointers to structures.

use cryptoki_sys::{
    CK_HKDF_PARAMS, CK_PKCS5_PBKD2_PARAMS2, CK_PRF_DATA_PARAM, CK_SP800_108_BYTE_ARRAY,
    CK_SP800_108_COUNTER, CK_SP800_108_COUNTER_FORMAT, CK_SP800_108_DKM_LENGTH,
    CK_SP800_108_DKM_LENGTH_FORMAT, CK_SP800_108_DKM_LENGTH_SUM_OF_SEGMENTS,
    CK_SP800_108_FEEDBACK_KDF_PARAMS, CK_SP800_108_ITERATION_VARIABLE, CK_SP800_108_KDF_PARAMS,
    CKF_HKDF_SALT_DATA, CKF_HKDF_SALT_NULL, CKZ_SALT_SPECIFIED,
};
use cycloid_hsm_protocol::Result;
use cycloid_hsm_protocol::mechanism::{KeyDerivationField, Parameter};
use cycloid_hsm_protocol::rpc::{Bytes, Secret};

use super::{Plain, invalid, part, small, structure};
use crate::memory;

/// The maximum number of fields in the input of a key derivation.
const MAX_FIELDS: u64 = 16;

// SAFETY: numbers and pointers, which are checked before they are followed.
unsafe impl Plain for CK_HKDF_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_PKCS5_PBKD2_PARAMS2 {}
// SAFETY: as above.
unsafe impl Plain for CK_SP800_108_KDF_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_SP800_108_FEEDBACK_KDF_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_SP800_108_COUNTER_FORMAT {}
// SAFETY: as above.
unsafe impl Plain for CK_SP800_108_DKM_LENGTH_FORMAT {}

/// # Safety
/// The structure's pointers must match their lengths.
pub(super) unsafe fn hkdf(bytes: &[u8]) -> Result<Parameter> {
    let given: CK_HKDF_PARAMS = structure(bytes)?;
    let salt = match given.ulSaltType {
        // Programs that only expand often leave the type unset.
        0 | CKF_HKDF_SALT_NULL => Bytes::default(),
        // SAFETY: guaranteed by the caller.
        CKF_HKDF_SALT_DATA => unsafe { part(given.pSalt, given.ulSaltLen)? },
        _ => return Err(invalid()),
    };
    Ok(Parameter::Hkdf {
        hash: small(given.prfHashMechanism)?,
        extract: given.bExtract != 0,
        expand: given.bExpand != 0,
        salt,
        // SAFETY: guaranteed by the caller.
        information: unsafe { part(given.pInfo, given.ulInfoLen)? },
    })
}

/// Reads `CK_PKCS5_PBKD2_PARAMS2`, which 3.0 prescribes: the length of the password is a number.
///
/// # Safety
/// The structure's pointers must match their lengths.
pub(super) unsafe fn pbkdf2(bytes: &[u8]) -> Result<Parameter> {
    let given: CK_PKCS5_PBKD2_PARAMS2 = structure(bytes)?;
    if given.saltSource != CKZ_SALT_SPECIFIED || given.ulPrfDataLen != 0 {
        return Err(invalid());
    }
    // SAFETY: guaranteed by the caller.
    let salt = unsafe { part(given.pSaltSourceData.cast(), given.ulSaltSourceDataLen)? };
    if given.ulPasswordLen > super::MAX_PART {
        return Err(invalid());
    }
    // SAFETY: guaranteed by the caller.
    let password = unsafe { memory::slice(given.pPassword, given.ulPasswordLen) };
    Ok(Parameter::Pbkdf2 {
        function: small(given.prf)?,
        salt,
        iterations: given.iterations,
        password: Secret::new(password.map_err(|_| invalid())?),
    })
}

/// # Safety
/// The structure's pointers must match their lengths.
pub(super) unsafe fn counter_kdf(bytes: &[u8]) -> Result<Parameter> {
    let given: CK_SP800_108_KDF_PARAMS = structure(bytes)?;
    if given.ulAdditionalDerivedKeys != 0 || given.ulNumberOfDataParams > MAX_FIELDS {
        return Err(invalid());
    }
    // SAFETY: guaranteed by the caller.
    let fields = unsafe { fields(given.pDataParams, given.ulNumberOfDataParams, false)? };
    Ok(Parameter::CounterKdf { function: small(given.prfType)?, fields })
}

/// # Safety
/// The structure's pointers must match their lengths.
pub(super) unsafe fn feedback_kdf(bytes: &[u8]) -> Result<Parameter> {
    let given: CK_SP800_108_FEEDBACK_KDF_PARAMS = structure(bytes)?;
    if given.ulAdditionalDerivedKeys != 0 || given.ulNumberOfDataParams > MAX_FIELDS {
        return Err(invalid());
    }
    // SAFETY: guaranteed by the caller.
    let fields = unsafe { fields(given.pDataParams, given.ulNumberOfDataParams, true)? };
    // SAFETY: guaranteed by the caller.
    let iv = unsafe { part(given.pIV, given.ulIVLen)? };
    Ok(Parameter::FeedbackKdf { function: small(given.prfType)?, fields, iv })
}

/// Reads the fields of the input of a key derivation.
///
/// # Safety
/// The pointer must match the count, and each field's pointer its length.
unsafe fn fields(
    pointer: *const CK_PRF_DATA_PARAM,
    count: u64,
    feedback: bool,
) -> Result<Vec<KeyDerivationField>> {
    // SAFETY: guaranteed by the caller.
    let fields = unsafe { memory::slice(pointer, count).map_err(|_| invalid())? };
    // SAFETY: guaranteed by the caller.
    fields.iter().map(|given| unsafe { field(*given, feedback) }).collect()
}

/// Reads a field. In feedback mode the iteration variable is the output before, and the counter is
/// another field (PKCS #11 3.0, section 2.42.2).
///
/// # Safety
/// The field's pointer must match its length.
unsafe fn field(given: CK_PRF_DATA_PARAM, feedback: bool) -> Result<KeyDerivationField> {
    // SAFETY: guaranteed by the caller.
    let value = unsafe { part(given.pValue.cast(), given.ulValueLen)? };
    Ok(match given.type_ {
        CK_SP800_108_ITERATION_VARIABLE if feedback && value.0.is_empty() => {
            KeyDerivationField::Previous
        }
        CK_SP800_108_ITERATION_VARIABLE if feedback => return Err(invalid()),
        CK_SP800_108_COUNTER if !feedback => return Err(invalid()),
        CK_SP800_108_ITERATION_VARIABLE | CK_SP800_108_COUNTER => {
            let format: CK_SP800_108_COUNTER_FORMAT = structure(&value.0)?;
            KeyDerivationField::Counter {
                bits: small(format.ulWidthInBits)?,
                little_endian: format.bLittleEndian != 0,
            }
        }
        CK_SP800_108_DKM_LENGTH => {
            let format: CK_SP800_108_DKM_LENGTH_FORMAT = structure(&value.0)?;
            KeyDerivationField::Length {
                bits: small(format.ulWidthInBits)?,
                little_endian: format.bLittleEndian != 0,
                of_segments: format.dkmLengthMethod == CK_SP800_108_DKM_LENGTH_SUM_OF_SEGMENTS,
            }
        }
        CK_SP800_108_BYTE_ARRAY => KeyDerivationField::Bytes(value),
        _ => return Err(invalid()),
    })
}
