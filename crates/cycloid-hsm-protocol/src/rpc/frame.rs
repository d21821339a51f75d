//! Frames: the length of the rest (`u32`), the request's identifier (`u32`), and the message.
//!
//! A client may have several requests in flight. An answer carries the identifier of its request,
//! and answers may arrive in any order.

use super::bytes::append;
use super::message::Unreadable;

/// The length in bytes of the header: length and identifier.
pub const HEADER: usize = 8;

/// The maximum length of a frame in bytes, not counting the length field.
pub const MAX_LENGTH: usize = 1 << 20;

/// Appends a frame whose message `write` appends.
pub fn write(identifier: u32, to: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = to.len();
    append(to, &[0; 4]);
    append(to, &identifier.to_le_bytes());
    write(to);
    let length = u32::try_from(to.len() - start - 4).expect("messages are far shorter");
    to[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// A frame at the front of a buffer.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The request's identifier.
    pub identifier: u32,
    /// The message.
    pub message: &'a [u8],
    /// The length of the whole frame in bytes.
    pub length: usize,
}

/// Returns the frame at the front of `buffer`, or `None` while it is incomplete.
///
/// # Errors
/// [`Unreadable::Malformed`] if the length is invalid: the connection is then unusable.
pub fn read(buffer: &[u8]) -> Result<Option<Frame<'_>>, Unreadable> {
    let Some(length) = buffer.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if !(6..=MAX_LENGTH).contains(&length) {
        return Err(Unreadable::Malformed);
    }
    let frame = buffer.get(4..4 + length).and_then(|rest| rest.split_first_chunk());
    Ok(frame.map(|(identifier, message)| {
        let identifier = u32::from_le_bytes(*identifier);
        Frame { identifier, message, length: 4 + length }
    }))
}
