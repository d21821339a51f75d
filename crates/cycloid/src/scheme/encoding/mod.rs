//! Key-file code that all schemes share: the DER structures around a key, PEM, and writing to the
//! caller's buffer.

mod info;
mod number;
pub(super) mod pem;
mod structure;

use ::der::asn1::AnyRef;
use ::der::{Decode, Encode, Header, SliceReader, Tag, Tagged};

pub(super) use info::{PrivateInfo, PublicInfo};
pub(super) use number::Number;

use super::FormatError;

/// The label of PKCS #8.
pub(super) const PKCS8_LABEL: &str = "PRIVATE KEY";
/// The label of PKCS #8 that is encrypted.
pub(super) const ENCRYPTED_LABEL: &str = "ENCRYPTED PRIVATE KEY";
/// The label of SubjectPublicKeyInfo.
pub(super) const SPKI_LABEL: &str = "PUBLIC KEY";

/// Returns the length of a DER element with `contents` bytes.
pub(super) const fn element(contents: usize) -> usize {
    // Tag and length; the length takes extra bytes from 128 on.
    let length = match contents {
        0..0x80 => 1,
        0x80..0x100 => 2,
        _ => 3,
    };
    1 + length + contents
}

/// Returns the tags of the first two fields of a private key's sequence.
///
/// # Errors
/// [`FormatError::Der`] if there are no two fields. No file of a private key begins with an
/// algorithm: [`FormatError::Encrypted`] if a ciphertext follows it, as in EncryptedPrivateKeyInfo
/// (RFC 5958, section 3), [`FormatError::IsPublicKey`] if a key follows it, as in
/// SubjectPublicKeyInfo.
pub(super) fn first_tags_of_private(der: &[u8]) -> Result<[Tag; 2], FormatError> {
    match first_tags(der)? {
        [Tag::Sequence, Tag::OctetString] => Err(FormatError::Encrypted),
        [Tag::Sequence, Tag::BitString] => Err(FormatError::IsPublicKey),
        tags => Ok(tags),
    }
}

/// Returns the tags of the first two fields of a sequence.
pub(super) fn first_tags(der: &[u8]) -> Result<[Tag; 2], FormatError> {
    let tags = |reader: &mut SliceReader<'_>| {
        Header::decode(reader)?.tag().assert_eq(Tag::Sequence)?;
        Ok([AnyRef::decode(reader)?.tag(), Tag::peek(reader)?])
    };
    SliceReader::new(der).and_then(|mut reader| tags(&mut reader)).map_err(|_| FormatError::Der)
}

/// Writes a structure as DER and returns the written prefix of `output`.
///
/// # Errors
/// [`FormatError::OutputTooSmall`]; nothing is written then.
pub(super) fn write_der<'o>(
    key: &impl Encode,
    output: &'o mut [u8],
) -> Result<&'o [u8], FormatError> {
    let output = checked_output(output, encoded_length(key)?)?;
    key.encode_to_slice(output).map_err(not_encodable)
}

fn encoded_length(key: &impl Encode) -> Result<usize, FormatError> {
    let length = key.encoded_len().and_then(TryInto::try_into);
    length.map_err(not_encodable)
}

/// Returns whether the public parts of two files are the same. `memcmp` also loads what follows
/// them, before it discards it; that may be secret, and the tracer would report it.
pub(super) fn is_same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left == right)
}

/// Handles an impossible error: our structures are never too long, and the output has their length.
fn not_encodable<E>(_: E) -> FormatError {
    FormatError::Der
}

/// Returns the first `needed` bytes of `output`.
fn checked_output(output: &mut [u8], needed: usize) -> Result<&mut [u8], FormatError> {
    let given = output.len();
    output.get_mut(..needed).ok_or(FormatError::OutputTooSmall { needed, given })
}
