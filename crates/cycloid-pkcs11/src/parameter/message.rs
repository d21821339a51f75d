//! Parameters of one message of an authenticated cipher (PKCS #11 3.0, CK_GCM_MESSAGE_PARAMS and
//! CK_CCM_MESSAGE_PARAMS), which are also where its initialisation vector and its tag are written.

use std::ffi::c_void;
use std::ptr;

use cryptoki_sys::{
    CK_CCM_MESSAGE_PARAMS, CK_GCM_MESSAGE_PARAMS, CK_GENERATOR_FUNCTION, CK_MECHANISM, CK_ULONG,
    CKG_GENERATE, CKG_GENERATE_COUNTER, CKG_GENERATE_RANDOM, CKG_NO_GENERATE,
};
use cycloid_hsm_protocol::mechanism::{Parameter, ckm};
use cycloid_hsm_protocol::rpc::Mechanism;
use cycloid_hsm_protocol::{Code, Result};

use super::{MAX_PART, Plain, invalid, structure};
use crate::memory;

// SAFETY: numbers and pointers, which are checked before they are followed.
unsafe impl Plain for CK_GCM_MESSAGE_PARAMS {}
// SAFETY: as above.
unsafe impl Plain for CK_CCM_MESSAGE_PARAMS {}

/// The source of initialisation vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generator {
    /// The program.
    Given,
    /// The module, by counting.
    Counter,
    /// The module, at random.
    Random,
}

impl Generator {
    fn of(number: CK_GENERATOR_FUNCTION) -> Result<Self> {
        match number {
            CKG_NO_GENERATE => Ok(Self::Given),
            CKG_GENERATE | CKG_GENERATE_COUNTER => Ok(Self::Counter),
            CKG_GENERATE_RANDOM => Ok(Self::Random),
            _ => Err(invalid()),
        }
    }
}

/// The initialisation vector of a message, as its parameter describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Vector {
    pub(crate) generator: Generator,
    /// The number of bits at the start that a generated vector keeps.
    pub(crate) fixed_bits: usize,
    pub(crate) bytes: Vec<u8>,
}

/// The parameter of a message.
pub(crate) struct MessageParameter {
    pub(crate) vector: Vector,
    /// The length of the tag in bytes.
    pub(crate) tag_length: usize,
    /// The length of the data in bytes, if the parameter states it.
    pub(crate) data_length: Option<u64>,
    vector_place: *mut u8,
    tag_place: *mut u8,
}

/// Reads the mechanism of C_MessageEncryptInit or C_MessageDecryptInit. A parameter is ignored,
/// because every message has its own.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for a null pointer; [`Code::MECHANISM_INVALID`];
/// [`Code::MECHANISM_PARAM_INVALID`].
///
/// # Safety
/// A non-null pointer must point to a mechanism.
pub(crate) unsafe fn cipher(pointer: *const CK_MECHANISM) -> Result<Mechanism> {
    // SAFETY: guaranteed by the caller.
    let mechanism = unsafe { memory::read(pointer)? };
    let (number, length) = match u32::try_from(mechanism.mechanism) {
        Ok(ckm::AES_GCM) => (ckm::AES_GCM, size_of::<CK_GCM_MESSAGE_PARAMS>()),
        Ok(ckm::AES_CCM) => (ckm::AES_CCM, size_of::<CK_CCM_MESSAGE_PARAMS>()),
        _ => return Err(Code::MECHANISM_INVALID.into()),
    };
    match mechanism.ulParameterLen {
        0 => Ok(Mechanism { number, parameter: Parameter::None }),
        given if given == length as CK_ULONG => {
            Ok(Mechanism { number, parameter: Parameter::None })
        }
        _ => Err(invalid()),
    }
}

impl MessageParameter {
    /// Reads the parameter of a message.
    ///
    /// # Errors
    /// [`Code::MECHANISM_PARAM_INVALID`].
    ///
    /// # Safety
    /// A non-null pointer must point to as many bytes as the length says, and the pointers there
    /// must be null or point to what their lengths say, as long as this value.
    pub(crate) unsafe fn read(
        mechanism: u32,
        pointer: *const c_void,
        length: CK_ULONG,
    ) -> Result<Self> {
        let needed = match mechanism {
            ckm::AES_GCM => size_of::<CK_GCM_MESSAGE_PARAMS>(),
            _ => size_of::<CK_CCM_MESSAGE_PARAMS>(),
        };
        if length != needed as CK_ULONG {
            return Err(invalid());
        }
        // SAFETY: guaranteed by the caller.
        let bytes = unsafe { memory::slice(pointer.cast::<u8>(), length) };
        let bytes = bytes.map_err(|_| invalid())?;
        let (vector_place, vector_length, fixed_bits, generator, tag_place, tag_length, data) =
            if mechanism == ckm::AES_GCM {
                let given: CK_GCM_MESSAGE_PARAMS = structure(bytes)?;
                let (length, bits) = (given.ulIvLen, given.ulTagBits);
                let lengths = 1..=MAX_PART;
                if !lengths.contains(&length) || !(96..=128).contains(&bits) || bits % 8 != 0 {
                    return Err(invalid());
                }
                let (fixed, generator) = (given.ulIvFixedBits, given.ivGenerator);
                (given.pIv, length, fixed, generator, given.pTag, bits / 8, None)
            } else {
                let given: CK_CCM_MESSAGE_PARAMS = structure(bytes)?;
                let (length, tag) = (given.ulNonceLen, given.ulMACLen);
                if !(7..=13).contains(&length) || !(8..=16).contains(&tag) || tag % 2 != 0 {
                    return Err(invalid());
                }
                let (fixed, generator) = (given.ulNonceFixedBits, given.nonceGenerator);
                (given.pNonce, length, fixed, generator, given.pMAC, tag, Some(given.ulDataLen))
            };
        if vector_place.is_null() || tag_place.is_null() || fixed_bits > 8 * vector_length {
            return Err(invalid());
        }
        // SAFETY: guaranteed by the caller.
        let bytes = unsafe { memory::slice(vector_place, vector_length).map_err(|_| invalid())? };
        let vector = Vector {
            generator: Generator::of(generator)?,
            fixed_bits: fixed_bits as usize,
            bytes: bytes.to_vec(),
        };
        Ok(Self {
            vector,
            tag_length: tag_length as usize,
            data_length: data,
            vector_place,
            tag_place,
        })
    }

    /// Returns the tag of a message that is to be decrypted.
    pub(crate) fn tag(&self) -> Vec<u8> {
        let mut tag = vec![0; self.tag_length];
        // SAFETY: not null, and `read`'s caller guarantees the length.
        unsafe { ptr::copy_nonoverlapping(self.tag_place, tag.as_mut_ptr(), tag.len()) };
        tag
    }

    /// Writes the initialisation vector, unless the program made it.
    pub(crate) fn put_vector(&self, vector: &[u8]) {
        if self.vector.generator != Generator::Given {
            assert_eq!(vector.len(), self.vector.bytes.len());
            // SAFETY: not null, and `read`'s caller guarantees the room.
            unsafe { ptr::copy(vector.as_ptr(), self.vector_place, vector.len()) };
        }
    }

    /// Writes the tag.
    pub(crate) fn put_tag(&self, tag: &[u8]) {
        assert_eq!(tag.len(), self.tag_length);
        // SAFETY: not null, and `read`'s caller guarantees the room.
        unsafe { ptr::copy(tag.as_ptr(), self.tag_place, tag.len()) };
    }

    /// Returns the parameter of the request.
    pub(crate) fn of_request(&self, vector: &[u8], associated: &[u8]) -> Parameter {
        let (vector, associated, length) =
            (vector.into(), associated.into(), self.tag_length as u32);
        match self.data_length {
            None => Parameter::Gcm { iv: vector, associated, tag_bits: 8 * length },
            Some(data_length) => {
                Parameter::Ccm { data_length, nonce: vector, associated, tag_length: length }
            }
        }
    }
}
