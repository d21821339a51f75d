//! Derivation of keys from keys and passwords.

use hkdf::GenericHkdf;
use hmac::{Hmac, SimpleHmac};
use zeroize::Zeroizing;

use super::mac::{cmac, hmac, with_hash};
use crate::mechanism::{Hash, KeyDerivationField};
use crate::{Code, Result};

/// The steps of HKDF (RFC 5869).
pub(crate) struct HkdfSteps<'a> {
    /// The salt, if the key is extracted first.
    pub(crate) salt: Option<&'a [u8]>,
    /// The information, if the output is expanded.
    pub(crate) information: Option<&'a [u8]>,
}

/// Derives `length` bytes by HKDF (RFC 5869). Extraction alone yields one digest.
///
/// # Errors
/// [`Code::KEY_SIZE_RANGE`] for an output longer than 255 digests, or of another length than a
/// digest without expansion, and for an input shorter than a digest without extraction;
/// [`Code::MECHANISM_PARAM_INVALID`] without any step.
pub(crate) fn hkdf(
    hash: Hash,
    steps: &HkdfSteps<'_>,
    key: &[u8],
    length: usize,
) -> Result<Zeroizing<Vec<u8>>> {
    if steps.salt.is_none() && steps.information.is_none() {
        return Err(Code::MECHANISM_PARAM_INVALID.into());
    }
    with_hash!(hash, Function, Keyed => {
        let (extracted, expansion) = match steps.salt {
            Some(salt) => {
                let (extracted, expansion) = GenericHkdf::<Keyed>::extract(Some(salt), key);
                (Some(Zeroizing::new(extracted.to_vec())), expansion)
            }
            None => {
                let expansion = GenericHkdf::<Keyed>::from_prk(key);
                (None, expansion.map_err(|_| Code::KEY_SIZE_RANGE)?)
            }
        };
        match (steps.information, extracted) {
            (Some(information), _) => {
                let mut output = Zeroizing::new(vec![0; length]);
                expansion.expand(information, &mut output).map_err(|_| Code::KEY_SIZE_RANGE)?;
                Ok(output)
            }
            (None, Some(extracted)) if extracted.len() == length => Ok(extracted),
            (None, Some(_)) => Err(Code::KEY_SIZE_RANGE.into()),
            (None, None) => Err(Code::MECHANISM_PARAM_INVALID.into()),
        }
    })
}

/// Derives `length` bytes from a password by PBKDF2 (RFC 8018, section 5.2).
///
/// # Errors
/// [`Code::MECHANISM_PARAM_INVALID`] for no iteration, and for a function other than SHA-1 and
/// SHA-2.
pub(crate) fn pbkdf2(
    hash: Hash,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    length: usize,
) -> Result<Zeroizing<Vec<u8>>> {
    let mut output = Zeroizing::new(vec![0; length]);
    let room = &mut output[..];
    let done = match hash {
        _ if iterations == 0 => None,
        Hash::Sha1 => Some(pbkdf2::pbkdf2::<Hmac<sha1::Sha1>>(password, salt, iterations, room)),
        Hash::Sha224 => {
            Some(pbkdf2::pbkdf2::<Hmac<sha2::Sha224>>(password, salt, iterations, room))
        }
        Hash::Sha256 => {
            Some(pbkdf2::pbkdf2::<Hmac<sha2::Sha256>>(password, salt, iterations, room))
        }
        Hash::Sha384 => {
            Some(pbkdf2::pbkdf2::<Hmac<sha2::Sha384>>(password, salt, iterations, room))
        }
        Hash::Sha512 => {
            Some(pbkdf2::pbkdf2::<Hmac<sha2::Sha512>>(password, salt, iterations, room))
        }
        _ => None,
    };
    match done {
        Some(Ok(())) => Ok(output),
        _ => Err(Code::MECHANISM_PARAM_INVALID.into()),
    }
}

/// A pseudorandom function of SP 800-108.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    Hmac(Hash),
    Cmac,
}

/// Derives `length` bytes in counter mode or, with an initial value, in feedback mode (SP 800-108,
/// sections 4.1 and 4.2).
///
/// # Errors
/// [`Code::MECHANISM_PARAM_INVALID`] unless the fields have exactly one counter, in feedback mode
/// at most one and exactly one place of the output before, and fields of whole bytes;
/// [`Code::KEY_SIZE_RANGE`] if the counter or the length does not fit its field.
pub(crate) fn kdf(
    function: Function,
    key: &[u8],
    iv: Option<&[u8]>,
    fields: &[KeyDerivationField],
    length: usize,
) -> Result<Zeroizing<Vec<u8>>> {
    let counters = fields.iter().filter(|of| matches!(of, KeyDerivationField::Counter { .. }));
    let places = fields.iter().filter(|of| matches!(of, KeyDerivationField::Previous));
    match (iv, counters.count(), places.count()) {
        (None, 1, 0) | (Some(_), 0 | 1, 1) => {}
        (None, ..) => {
            return Err(Code::MECHANISM_PARAM_INVALID.because("the fields must have one counter"));
        }
        (Some(_), ..) => {
            return Err(Code::MECHANISM_PARAM_INVALID.because(
                "the fields must have one place of the output before, and at most one counter",
            ));
        }
    }
    let segment = match function {
        Function::Hmac(hash) => hash.length(),
        Function::Cmac => 16,
    };
    let mut output = Zeroizing::new(Vec::with_capacity(length + segment));
    let given: usize = fields.iter().map(KeyDerivationField::most_bytes).sum();
    let most = given + segment.max(iv.map_or(0, <[u8]>::len));
    for counter in 1.. {
        if output.len() >= length {
            break;
        }
        // Not reallocated, because in feedback mode it contains output.
        let mut input = Zeroizing::new(Vec::with_capacity(most));
        for field in fields {
            match field {
                KeyDerivationField::Counter { bits: bits @ (8 | 16 | 24 | 32), little_endian } => {
                    input.extend(number(counter, *bits, *little_endian)?);
                }
                KeyDerivationField::Length { bits, little_endian, of_segments }
                    if (8..=64).contains(bits) && bits.is_multiple_of(8) =>
                {
                    let bytes =
                        if *of_segments { length.next_multiple_of(segment) } else { length };
                    input.extend(number(8 * bytes as u64, *bits, *little_endian)?);
                }
                KeyDerivationField::Bytes(bytes) => input.extend_from_slice(&bytes.0),
                KeyDerivationField::Previous => match output.len().checked_sub(segment) {
                    Some(start) => input.extend_from_slice(&output[start..]),
                    None => input.extend_from_slice(iv.unwrap_or_default()),
                },
                _ => return Err(Code::MECHANISM_PARAM_INVALID.into()),
            }
        }
        let part = match function {
            Function::Hmac(hash) => Zeroizing::new(hmac(hash, key, &[&input])),
            Function::Cmac => cmac(key, &[&input])?,
        };
        output.extend_from_slice(&part);
    }
    output.truncate(length);
    Ok(output)
}

/// Encodes a number in a field of `bits`, a multiple of 8 up to 64.
fn number(value: u64, bits: u32, little_endian: bool) -> Result<Vec<u8>> {
    if bits < 64 && value >> bits != 0 {
        return Err(Code::KEY_SIZE_RANGE.because("a number does not fit its field"));
    }
    let mut bytes = value.to_le_bytes()[..bits as usize / 8].to_vec();
    if !little_endian {
        bytes.reverse();
    }
    Ok(bytes)
}
