//! The version of the protocol, and what each end says to a peer of another version.
//!
//! Every version keeps the frames, and answers the first message of any other: from version 2 on,
//! Hello, Attach and Refused keep their numbers and first fields, and later fields are skipped by
//! a reader that does not know them. Version 1 encoded messages in another way. Its messages are
//! recognised, and a program of version 1 is refused in its own encoding.

use super::bytes::append;
use crate::error::{Code, Error};

/// The protocol version of this code. A daemon refuses other versions.
pub const VERSION: u16 = 2;

/// Returns the error for a daemon and a program of different versions. Either end reports it.
pub fn mismatch(daemon: u16, program: u16) -> Error {
    Code::TOKEN_NOT_RECOGNIZED.because(format!(
        "the daemon speaks protocol version {daemon}, and this program version {program}: \
        install both from the same release"
    ))
}

/// Returns whether a message is Hello or Attach of version 1: its number in two bytes,
/// little-endian, and the version likewise. Later versions begin with the header of an array, which
/// is 0x80 or above.
pub(super) fn is_greeting_1(message: &[u8]) -> bool {
    matches!(message, [1 | 2, 0, 1, 0, ..])
}

/// Returns whether a message is Refused of version 1: its number in two bytes, and the code in
/// four.
pub(super) fn is_refusal_1(message: &[u8]) -> bool {
    matches!(message, [0, 0, _, _, _, _, ..])
}

/// Appends Refused, as version 1 encodes it: its number, the code, and the detail after its length.
pub fn write_refusal_1(error: &Error, to: &mut Vec<u8>) {
    let length = u32::try_from(error.detail.len()).expect("an error is far shorter");
    append(to, &[0, 0]);
    append(to, &error.code.0.to_le_bytes());
    append(to, &length.to_le_bytes());
    append(to, error.detail.as_bytes());
}
