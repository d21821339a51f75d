//! Byte strings in messages, and the buffer that messages are written to.

use std::convert::Infallible;

use minicbor::decode::{self, Decoder};
use minicbor::encode::{self, Encoder, Write};
use minicbor::{Decode, Encode};
use zeroize::{Zeroize, Zeroizing};

/// Bytes.
#[derive(Clone, Debug, PartialEq, Eq, Default, Encode, Decode)]
#[cbor(transparent)]
pub struct Bytes(#[cbor(n(0), with = "minicbor::bytes")] pub Vec<u8>);

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

/// Bytes that are wiped when dropped and never appear in a log.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(pub Zeroizing<Vec<u8>>);

impl Secret {
    /// Copies `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.to_vec()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl std::ops::Deref for Secret {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<C> Encode<C> for Secret {
    fn encode<W: Write>(
        &self,
        to: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), encode::Error<W::Error>> {
        to.bytes(self)?.ok()
    }
}

impl<'b, C> Decode<'b, C> for Secret {
    fn decode(from: &mut Decoder<'b>, _: &mut C) -> Result<Self, decode::Error> {
        from.bytes().map(Self::new)
    }
}

/// Appends to a buffer of messages, which may contain secrets: if it moves, the memory that it
/// leaves is wiped.
#[inline]
pub fn append(to: &mut Vec<u8>, bytes: &[u8]) {
    reserve(to, bytes.len());
    to.extend_from_slice(bytes);
}

/// Makes room in a buffer as [`append`] does.
#[inline]
pub(super) fn reserve(buffer: &mut Vec<u8>, more: usize) {
    if buffer.capacity() - buffer.len() < more {
        grow(buffer, more);
    }
}

#[cold]
fn grow(buffer: &mut Vec<u8>, more: usize) {
    let length = buffer.len();
    let mut grown = Vec::with_capacity((2 * length).max(length + more).max(256));
    grown.extend_from_slice(buffer);
    buffer.zeroize();
    *buffer = grown;
}

/// The buffer as a destination of the encoder.
pub(super) struct Buffer<'a>(pub(super) &'a mut Vec<u8>);

impl Write for Buffer<'_> {
    type Error = Infallible;

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        append(self.0, bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_keeps_its_contents_while_it_grows() {
        let (mut buffer, mut expected) = (Vec::new(), Vec::new());
        for length in [0, 1, 255, 1, 256, 5000, 3] {
            let bytes = vec![length as u8; length];
            append(&mut buffer, &bytes);
            expected.extend_from_slice(&bytes);
            assert_eq!(buffer, expected);
        }
    }
}
