//! PEM (RFC 7468): base64 between two lines that carry a label.

use base64ct::{Base64, Encoding};
use der::Encode;

use super::{SPKI_LABEL, checked_output, encoded_length, not_encodable, structure};
use crate::machine::ct::{self, Mask};
use crate::machine::words::Limb;
use crate::scheme::FormatError;

/// Bytes encoded in one line.
const LINE: usize = 48;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// Returns the length of a PEM text, in bytes.
pub(crate) const fn length(label: &str, der: usize) -> usize {
    let boundaries = BEGIN.len() + END.len() + 2 * (label.len() + DASHES.len() + 1);
    boundaries + der.div_ceil(3) * 4 + der.div_ceil(LINE)
}

/// Like [`find`], for a private key.
///
/// # Errors
/// As [`find`]; [`FormatError::IsPublicKey`] if the text holds a public key and no private key.
pub(crate) fn find_private<'t>(
    text: &'t [u8],
    labels: &[&'static str],
) -> Result<Block<'t>, FormatError> {
    find(text, labels).map_err(|error| match error {
        FormatError::PemLabel if find(text, &[SPKI_LABEL]).is_ok() => FormatError::IsPublicKey,
        error => error,
    })
}

/// Returns the first block that has one of the labels. Any other text (RFC 7468, section 2) and
/// other blocks are skipped.
pub(crate) fn find<'t>(text: &'t [u8], labels: &[&'static str]) -> Result<Block<'t>, FormatError> {
    let mut rest = text;
    let mut outcome = Err(FormatError::Pem);
    while let Some(start) = position(rest, BEGIN.as_bytes()) {
        let after = &rest[start + BEGIN.len()..];
        let label_length = position(after, DASHES.as_bytes()).ok_or(FormatError::Pem)?;
        let (found, after) = after.split_at(label_length);
        let after = &after[DASHES.len()..];
        let length = position(after, END.as_bytes()).ok_or(FormatError::Pem)?;
        let (base64, after) = after.split_at(length);
        let end = &after[END.len()..];
        let (again, end) = end.split_at_checked(found.len()).ok_or(FormatError::Pem)?;
        let (dashes, end) = end.split_at_checked(DASHES.len()).ok_or(FormatError::Pem)?;
        if !super::is_same(again, found) || !super::is_same(dashes, DASHES.as_bytes()) {
            return Err(FormatError::Pem);
        }
        rest = end;
        if let Some(label) = labels.iter().find(|label| super::is_same(label.as_bytes(), found)) {
            return Ok(Block { label, base64 });
        }
        outcome = Err(FormatError::PemLabel);
    }
    outcome
}

/// Returns whether the text has the start of a block.
#[cfg(feature = "alloc")]
pub(crate) fn is_found(text: &[u8]) -> bool {
    position(text, BEGIN.as_bytes()).is_some()
}

/// A block of a PEM text: its label and its base64.
pub(crate) struct Block<'t> {
    pub(crate) label: &'static str,
    base64: &'t [u8],
}

impl<'t> Block<'t> {
    /// Returns the headers (RFC 1421, section 4.6) and the block without them, if it has any.
    #[cfg(feature = "encryption")]
    pub(crate) fn split_headers(&self) -> Option<(&'t [u8], Self)> {
        position(self.base64, b":")?;
        let end = ["\n\n", "\n\r\n"]
            .iter()
            .find_map(|end| position(self.base64, end.as_bytes()).map(|at| (at, at + end.len())))?;
        let rest = Self { label: self.label, base64: &self.base64[end.1..] };
        Some((&self.base64[..end.0], rest))
    }

    /// Returns an upper bound on the number of encoded bytes.
    pub(crate) const fn most_bytes(&self) -> usize {
        self.base64.len() / 4 * 3
    }

    /// Decodes the block and returns the written prefix of `output`, which has at least
    /// [`most_bytes`](Self::most_bytes) bytes. Time depends on the positions of white space and on
    /// whether the rest is base64.
    ///
    /// # Errors
    /// [`FormatError::Encrypted`] if headers declare encryption (RFC 1421, section 4.6.1.1);
    /// [`FormatError::Pem`].
    pub(crate) fn decode<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], FormatError> {
        if position(self.base64, b":").is_some() {
            let encrypted = position(self.base64, b"ENCRYPTED").is_some();
            return Err(if encrypted { FormatError::Encrypted } else { FormatError::Pem });
        }
        let length = self.decode_groups(output)?;
        structure::reveal(&output[..length]);
        Ok(&output[..length])
    }

    /// Collects characters in groups of four and decodes each full group. Whether all of it is
    /// base64 becomes public at the end; otherwise time depends on the length only.
    fn decode_groups(&self, output: &mut [u8]) -> Result<usize, FormatError> {
        let (mut group, mut held, mut length) = ([0; 4], 0, 0);
        let mut valid = Mask::from_bit(1);
        let mut padding = 0;
        for character in self.base64.iter().filter(|byte| !is_space(**byte)) {
            // Padding is public: it is one or two characters at the end of the last group.
            let is_padding = Mask::equal((*character).into(), b'='.into()).reveal();
            if padding > 0 && !is_padding || is_padding && held < 2 {
                return Err(FormatError::Pem);
            }
            padding += usize::from(is_padding);
            group[held] = if is_padding { b'A' } else { *character };
            held = (held + 1) % group.len();
            if held == 0 {
                let (bytes, right) = decode_group(&group);
                valid = valid & right;
                let kept = 3 - padding;
                output[length..length + kept].copy_from_slice(&bytes[..kept]);
                // Bits beyond the last whole byte must be zero.
                valid = valid & ct::equal_bytes(&bytes[kept..], &[0; 3][kept..]);
                length += kept;
            }
        }
        ct::wipe_bytes(&mut group);
        // Whether all of it is base64 is the function's result.
        if held == 0 && valid.reveal() { Ok(length) } else { Err(FormatError::Pem) }
    }
}

/// Decodes four characters to three bytes; the mask tells whether all four are in the alphabet.
fn decode_group(group: &[u8; 4]) -> ([u8; 3], Mask) {
    let (bits, valid) = group.iter().fold((0, Mask::from_bit(1)), |(bits, valid), character| {
        let (value, known) = value(*character);
        (bits << 6 | value, valid & known)
    });
    ([(bits >> 16) as u8, (bits >> 8) as u8, bits as u8], valid)
}

/// Returns the six bits of a character, and whether it is in the alphabet (RFC 4648, section 4).
fn value(character: u8) -> (Limb, Mask) {
    let character = Limb::from(character);
    // First and last character of each range, and the value of the first.
    let ranges =
        [(b'A', b'Z', 0), (b'a', b'z', 26), (b'0', b'9', 52), (b'+', b'+', 62), (b'/', b'/', 63)];
    ranges.into_iter().fold((0, Mask::from_bit(0)), |(value, known), (first, last, start)| {
        let (first, last) = (Limb::from(first), Limb::from(last));
        let within = !(Mask::less(character, first) | Mask::less(last, character));
        (
            value | within.select(character.wrapping_sub(first).wrapping_add(start), 0),
            known | within,
        )
    })
}

/// Returns the first position of `pattern` in a text. The position is public; the rest of the text
/// is not.
fn position(text: &[u8], pattern: &[u8]) -> Option<usize> {
    text.windows(pattern.len()).position(|window| ct::equal_bytes(window, pattern).reveal())
}

/// Returns whether a character is white space: space, tab, line feed, form feed or carriage return.
/// Positions of line ends are public; the contents of lines are not.
fn is_space(character: u8) -> bool {
    let equals = |space: u8| Mask::equal(character.into(), space.into());
    (equals(b' ') | equals(b'\n') | equals(b'\r') | equals(b'\t') | equals(b'\x0c')).reveal()
}

/// Writes a structure as PEM and returns the written prefix of `output`.
///
/// # Errors
/// [`FormatError::OutputTooSmall`]; nothing is written then.
pub(crate) fn write<'o>(
    key: &impl Encode,
    label: &str,
    output: &'o mut [u8],
) -> Result<&'o str, FormatError> {
    let der_length = encoded_length(key)?;
    let output = checked_output(output, length(label, der_length))?;
    let rest = put(output, &[BEGIN, label, DASHES, "\n"]);
    let mut writer = Lines { held: [0; LINE], count: 0, output: rest, at: 0 };
    key.encode(&mut writer).and_then(|()| writer.end_line()).map_err(not_encodable)?;
    let at = writer.at;
    drop(writer);
    put(&mut rest[at..], &[END, label, DASHES, "\n"]);
    ct::ascii(output).ok_or(FormatError::Pem)
}

/// Copies texts to the start of `output` and returns the rest of it.
fn put<'o>(output: &'o mut [u8], texts: &[&str]) -> &'o mut [u8] {
    texts.iter().fold(output, |output, text| {
        let (start, rest) = output.split_at_mut(text.len());
        start.copy_from_slice(text.as_bytes());
        rest
    })
}

/// A DER writer that emits lines of base64. Time does not depend on the bytes' values.
struct Lines<'o> {
    /// The contents of the next line.
    held: [u8; LINE],
    count: usize,
    output: &'o mut [u8],
    at: usize,
}

impl Lines<'_> {
    /// Writes the held bytes as a line.
    fn end_line(&mut self) -> der::Result<()> {
        if self.count > 0 {
            let line = Base64::encode(&self.held[..self.count], &mut self.output[self.at..]);
            self.at += line.map_err(|_| der::ErrorKind::Failed)?.len() + 1;
            self.output[self.at - 1] = b'\n';
            self.count = 0;
        }
        Ok(())
    }
}

impl der::Writer for Lines<'_> {
    fn write(&mut self, mut bytes: &[u8]) -> der::Result<()> {
        while !bytes.is_empty() {
            let (part, rest) = bytes.split_at(bytes.len().min(LINE - self.count));
            self.held[self.count..][..part.len()].copy_from_slice(part);
            self.count += part.len();
            bytes = rest;
            if self.count == LINE {
                self.end_line()?;
            }
        }
        Ok(())
    }
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        ct::wipe_bytes(&mut self.held);
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec;
    use std::vec::Vec;

    use super::*;

    fn decoded(base64: &str) -> Result<Vec<u8>, FormatError> {
        let block = Block { label: "KEY", base64: base64.as_bytes() };
        let mut output = vec![0; block.most_bytes() + 3];
        block.decode(&mut output).map(<[u8]>::to_vec)
    }

    #[test]
    fn base64_of_every_length_is_decoded_wherever_lines_end() {
        for length in 0..150 {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 41 + 7) as u8).collect();
            let mut room = [0; 200];
            let text = Base64::encode(&bytes, &mut room).expect("it fits");
            assert_eq!(decoded(text).as_ref(), Ok(&bytes));
            let broken: String = text.chars().flat_map(|c| [c, '\r', '\n', ' ']).collect();
            assert_eq!(decoded(&broken).as_ref(), Ok(&bytes));
        }
    }

    #[test]
    fn invalid_base64_is_refused_exactly_as_by_the_reference_crate() {
        let mut output = [0; 9];
        for place in 0..8 {
            for byte in 0..=0x7f_u8 {
                let mut text = *b"TWFuTWE=";
                text[place] = byte;
                if is_space(byte) {
                    continue;
                }
                let text = core::str::from_utf8(&text).expect("ASCII");
                let expected = Base64::decode(text, &mut output).map(<[u8]>::to_vec);
                assert_eq!(decoded(text).ok(), expected.ok(), "{text:?}");
            }
        }
        for text in
            ["A", "AA", "AAA", "=", "AA=A", "AAA=AAAA", "AA==AAAA", "AAAA=", "AAAA====", "TQ==="]
        {
            assert_eq!(decoded(text), Err(FormatError::Pem), "{text}");
        }
        // The unused bits are not zero.
        assert_eq!(decoded("TR=="), Err(FormatError::Pem));
        assert_eq!(decoded("TWF="), Err(FormatError::Pem));
    }

    #[test]
    fn a_written_text_is_read_back() {
        for length in [1, 47, 48, 49, 96, 200] {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let key = der::asn1::AnyRef::new(der::Tag::OctetString, &bytes).expect("it is short");
            let mut der = vec![0; length + 4];
            let der = key.encode_to_slice(&mut der).expect("it fits");
            let mut output = vec![0; super::length("KEY", der.len())];
            let text = write(&key, "KEY", &mut output).expect("it fits");
            assert!(text.lines().all(|line| line.len() <= 64));
            assert!(
                text.starts_with("-----BEGIN KEY-----\n")
                    && text.ends_with("\n-----END KEY-----\n")
            );
            let block = find(text.as_bytes(), &["KEY"]).expect("it is there");
            let mut again = vec![0; block.most_bytes()];
            assert_eq!(block.decode(&mut again), Ok(der), "{length} bytes");
        }
    }
}
