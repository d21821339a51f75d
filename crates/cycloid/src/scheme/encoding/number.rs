//! Numbers of private keys in DER.

use der::{DecodeValue, FixedTag, Header, Reader, Tag};

use crate::machine::ct::Mask;
use crate::machine::words::Limb;

/// A nonnegative INTEGER, big-endian, without the leading sign byte. It is secret except for its
/// length.
pub(crate) struct Number<'a>(pub(crate) &'a [u8]);

impl FixedTag for Number<'_> {
    const TAG: Tag = Tag::Integer;
}

impl<'a> DecodeValue<'a> for Number<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, header: Header) -> der::Result<Self> {
        let bytes = reader.read_slice(header.length())?;
        let (first, rest) = bytes.split_first().ok_or(Tag::Integer.length_error())?;
        // DER has a leading zero byte exactly if the next byte has its highest bit set. The length
        // of the number reveals the same.
        let for_sign = Mask::is_zero(Limb::from(*first)).reveal();
        let top = if for_sign { rest.first().copied().unwrap_or(0x80) } else { !first };
        // Whether the number is valid DER is the result of reading.
        if !Mask::from_bit(Limb::from(top >> 7)).reveal() {
            return Err(Tag::Integer.value_error().into());
        }
        Ok(Self(if for_sign && !rest.is_empty() { rest } else { bytes }))
    }
}
