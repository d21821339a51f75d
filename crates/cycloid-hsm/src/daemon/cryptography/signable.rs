//! The input of a signature by mechanism: a digest, an encoded digest, or data for a message
//! authentication code.

use cycloid::scheme::ed448;

use super::{bad_parameter, mask_hash};
use crate::attribute::{cka, ckk};
use crate::crypto::{self, Mac};
use crate::engine::{EdwardsInput, RsaInput, Work};
use crate::key::Curve;
use crate::mechanism::{Hash, Parameter, ckm, is_pss};
use crate::object::Object;
use crate::rpc::message::Mechanism;
use crate::{Code, Error, Result};

/// Encodes a DigestInfo (RFC 8017, section 9.2, note 1).
fn digest_info(hash: Hash, digest: &[u8]) -> Vec<u8> {
    let header: &[u8] = match hash {
        Hash::Sha1 => &[0x30, 0x21, 0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0, 4, 0x14],
        Hash::Sha224 => &nist_info(4, 28),
        Hash::Sha256 => &nist_info(1, 32),
        Hash::Sha384 => &nist_info(2, 48),
        Hash::Sha512 => &nist_info(3, 64),
        Hash::Sha3_224 => &nist_info(7, 28),
        Hash::Sha3_256 => &nist_info(8, 32),
        Hash::Sha3_384 => &nist_info(9, 48),
        Hash::Sha3_512 => &nist_info(10, 64),
    };
    [header, digest].concat()
}

/// Returns the hash function of a DigestInfo.
pub(super) fn hash_of_digest_info(data: &[u8]) -> Option<Hash> {
    Hash::ALL.into_iter().find(|hash| {
        let start = data.len().checked_sub(hash.length());
        start.is_some_and(|start| digest_info(*hash, &data[start..]) == data)
    })
}

/// Returns the DigestInfo header for a SHA-2 or SHA-3 function; identifiers and lengths differ in
/// three bytes.
const fn nist_info(identifier: u8, length: u8) -> [u8; 19] {
    let total = 17 + length;
    [0x30, total, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, identifier, 5, 0, 4, length]
}

/// Returns the digest that a mechanism signs: `data` itself if already hashed, otherwise its hash.
fn digested_data(hash: Hash, data: Vec<u8>, digested: bool) -> Result<Vec<u8>> {
    match digested {
        false => Ok(crypto::digest(hash, &data)),
        true if data.len() == hash.length() => Ok(data),
        true => Err(Code::DATA_LEN_RANGE.into()),
    }
}

/// The operation of a signature mechanism.
pub(super) enum Signable {
    Work(Work),
    /// A message authentication code of `length` bytes.
    Mac {
        mac: Mac,
        length: usize,
        data: Vec<u8>,
    },
}

/// Returns the digest's hash function, the mask's, the length of the salt in bytes, and the digest.
fn pss(
    mechanism: &Mechanism,
    data: Vec<u8>,
    digested: bool,
) -> Result<(Hash, Hash, usize, Vec<u8>)> {
    let Parameter::Pss { hash, mask, salt_length } = mechanism.parameter else {
        return Err(bad_parameter());
    };
    let stated = Hash::of(hash).ok_or_else(bad_parameter)?;
    let mask = mask_hash(mask)?;
    let digest = match Hash::before(mechanism.number) {
        Some(hash) if hash != stated => return Err(bad_parameter()),
        Some(hash) => digested_data(hash, data, digested)?,
        None if data.len() == stated.length() => data,
        None => return Err(Code::DATA_LEN_RANGE.into()),
    };
    let salt_length = usize::try_from(salt_length).map_err(|_| bad_parameter())?;
    Ok((stated, mask, salt_length, digest))
}

/// Returns the digest that Ed448ph signs in place of data, and that it is one; everything else as
/// it is. Both curves of EdDSA have prehashes of 64 bytes, but by other functions.
pub(super) fn prehashed(
    object: &Object,
    mechanism: &Mechanism,
    data: Vec<u8>,
    digested: bool,
) -> (Vec<u8>, bool) {
    let asked = matches!(mechanism.parameter, Parameter::EdDsa { prehashed: true, .. });
    let curve = object.attributes.get(cka::EC_PARAMS).map(Curve::from_parameters);
    if asked && !digested && curve == Some(Ok(Curve::Ed448)) {
        return (ed448::prehash(&data).to_vec(), true);
    }
    (data, digested)
}

/// Returns the operation that signs, or verifies, by a mechanism.
pub(super) fn signable(
    mechanism: &Mechanism,
    key_type: u32,
    data: Vec<u8>,
    digested: bool,
) -> Result<Signable> {
    let number = mechanism.number;
    if digested && Hash::before(number).is_none() && number != ckm::EDDSA {
        return Err(Code::ARGUMENTS_BAD
            .because("the mechanism does not hash, so the data cannot be a digest"));
    }
    let family = |expected: u32| match key_type == expected {
        true => Ok(()),
        false => Err(Error::from(Code::KEY_TYPE_INCONSISTENT)),
    };
    Ok(Signable::Work(match number {
        ckm::RSA_X_509 => {
            family(ckk::RSA)?;
            if mechanism.parameter != Parameter::None {
                return Err(bad_parameter());
            }
            Work::Rsa(RsaInput::Raw(data))
        }
        ckm::RSA_PKCS => {
            family(ckk::RSA)?;
            Work::Rsa(RsaInput::SignPkcs1v15(data))
        }
        _ if is_pss(number) => {
            family(ckk::RSA)?;
            let (hash, mask, salt_length, digest) = pss(mechanism, data, digested)?;
            Work::Rsa(RsaInput::SignPss { hash, mask, salt_length, digest })
        }
        ckm::ECDSA => {
            family(ckk::EC)?;
            if data.is_empty() || data.len() > 128 {
                return Err(Code::DATA_LEN_RANGE.into());
            }
            Work::Ecdsa(data)
        }
        ckm::EDDSA => {
            family(ckk::EC_EDWARDS)?;
            let (prehashed, context) = match &mechanism.parameter {
                Parameter::None => (false, Vec::new()),
                Parameter::EdDsa { prehashed, context } => (*prehashed, context.0.clone()),
                _ => return Err(bad_parameter()),
            };
            if context.len() > 255 {
                return Err(bad_parameter());
            }
            let message = match (prehashed, digested) {
                (true, _) => digested_data(Hash::Sha512, data, digested)?,
                (false, false) => data,
                (false, true) => return Err(Code::ARGUMENTS_BAD.into()),
            };
            Work::EdDsa(EdwardsInput { message, prehashed, context })
        }
        ckm::BLS12_381_SIGN => {
            family(ckk::BLS12_381)?;
            Work::Bls(data)
        }
        _ => match (Hash::before(number), mac(mechanism)?) {
            (Some(hash), _) if key_type == ckk::RSA && is_rsa_signature(number) => {
                let digest = digested_data(hash, data, digested)?;
                Work::Rsa(RsaInput::SignPkcs1v15(digest_info(hash, &digest)))
            }
            (Some(hash), _) if key_type == ckk::EC && !is_rsa_signature(number) => {
                Work::Ecdsa(digested_data(hash, data, digested)?)
            }
            (_, Some((mac, length)))
                if crate::object::is_symmetric(key_type)
                    && mac.is_aes() == (key_type == ckk::AES) =>
            {
                return Ok(Signable::Mac { mac, length, data });
            }
            (Some(_), _) | (_, Some(_)) => return Err(Code::KEY_TYPE_INCONSISTENT.into()),
            _ => return Err(Code::MECHANISM_INVALID.into()),
        },
    }))
}

pub(super) const fn is_rsa_signature(number: u32) -> bool {
    matches!(
        number,
        ckm::SHA1_RSA_PKCS
            | ckm::SHA224_RSA_PKCS
            | ckm::SHA256_RSA_PKCS
            | ckm::SHA384_RSA_PKCS
            | ckm::SHA512_RSA_PKCS
            | ckm::SHA3_224_RSA_PKCS
            | ckm::SHA3_256_RSA_PKCS
            | ckm::SHA3_384_RSA_PKCS
            | ckm::SHA3_512_RSA_PKCS
    )
}

/// Returns the message authentication code of a mechanism, and its length in bytes.
fn mac(mechanism: &Mechanism) -> Result<Option<(Mac, usize)>> {
    let number = mechanism.number;
    let (mac, longest, general) = match (number, &mechanism.parameter) {
        (ckm::AES_CMAC | ckm::AES_CMAC_GENERAL, _) => {
            (Mac::Cmac, 16, number == ckm::AES_CMAC_GENERAL)
        }
        (ckm::AES_GMAC, Parameter::Iv(iv)) => {
            return Ok(Some((Mac::Gmac { iv: iv.0.clone(), associated: Vec::new() }, 16)));
        }
        (
            ckm::AES_GMAC,
            Parameter::Gcm { iv, associated, tag_bits: tag_bits @ (96 | 104 | 112 | 120 | 128) },
        ) => {
            let mac = Mac::Gmac { iv: iv.0.clone(), associated: associated.0.clone() };
            return Ok(Some((mac, *tag_bits as usize / 8)));
        }
        (ckm::AES_GMAC, _) => return Err(bad_parameter()),
        _ => match (Hash::of_hmac(number), Hash::of_general_hmac(number)) {
            (Some(hash), _) => (Mac::Hmac(hash), hash.length(), false),
            (None, Some(hash)) => (Mac::Hmac(hash), hash.length(), true),
            (None, None) => return Ok(None),
        },
    };
    match (general, &mechanism.parameter) {
        (false, Parameter::None) => Ok(Some((mac, longest))),
        // A tag shorter than half the full length is too easy to guess (RFC 2104, section 5; SP
        // 800-38B, appendix A.2).
        (true, Parameter::Length(length)) => match *length as usize {
            length if (longest / 2..=longest).contains(&length) => Ok(Some((mac, length))),
            _ => Err(bad_parameter()),
        },
        _ => Err(bad_parameter()),
    }
}
