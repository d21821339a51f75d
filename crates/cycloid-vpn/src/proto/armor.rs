//! Text armour of key material: a BEGIN line, encoded characters, an END line. Text before and
//! after the armour and white space inside are ignored. Decoding does not branch on secret
//! characters.

use std::fmt;

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

/// The error for text that is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFileError {
    /// The line `-----BEGIN …-----` of this kind of key is missing.
    Begin,
    /// The line `-----END …-----` is missing.
    End,
    /// The body has characters outside of the alphabet of its encoding.
    Characters,
    /// The key is too long or too short.
    Length,
    /// The metadata for a client key is too long.
    Metadata,
}

impl fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Begin => "the BEGIN line for this kind of key is missing",
            Self::End => "the END line of the key is missing",
            Self::Characters => "the key contains invalid characters",
            Self::Length => "the key has the wrong length",
            Self::Metadata => "the metadata is too long",
        })
    }
}

impl std::error::Error for KeyFileError {}

/// Returns the characters between the lines of `label`, without white space.
pub(super) fn body(text: &str, label: &str) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    let begin = format!("-----BEGIN {label}-----");
    let end = format!("-----END {label}-----");
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| *line == begin).ok_or(KeyFileError::Begin)?;
    // Full capacity from the start: reallocation would leave copies.
    let mut body = Zeroizing::new(Vec::with_capacity(text.len()));
    for line in lines {
        if line == end {
            return Ok(body);
        }
        body.extend(line.bytes().filter(|byte| !byte.is_ascii_whitespace()));
    }
    Err(KeyFileError::End)
}

/// Decodes the base64 armour with this label.
pub(super) fn parse_base64(text: &str, label: &str) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    let mut body = body(text, label)?;
    let len = Base64::decode_in_place(&mut body).map_err(|_| KeyFileError::Characters)?.len();
    body.truncate(len);
    Ok(body)
}

/// Encodes bytes as base64 armour with lines of 64 characters.
pub(super) fn to_base64(bytes: &[u8], label: &str) -> Zeroizing<String> {
    const BYTES_A_LINE: usize = 48;
    let lines = bytes.len().div_ceil(BYTES_A_LINE);
    let mut text = Zeroizing::new(String::with_capacity(2 * label.len() + 40 + 65 * lines));
    text.push_str("-----BEGIN ");
    text.push_str(label);
    text.push_str("-----\n");
    for line in bytes.chunks(BYTES_A_LINE) {
        text.push_str(&Zeroizing::new(Base64::encode_string(line)));
        text.push('\n');
    }
    text.push_str("-----END ");
    text.push_str(label);
    text.push_str("-----\n");
    text
}
