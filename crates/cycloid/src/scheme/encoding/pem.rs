//! PEM (RFC 7468): base64 between two lines that name what it holds.

use base64ct::{Base64, Encoding};
use der::Encode;

use super::{Error, checked_output, encoded_length, not_encodable};
use crate::machine::ct::{self, Mask};
use crate::machine::words;

/// Bytes that a line holds.
const LINE: usize = 48;
/// Characters that a line has for them.
const LINE_CHARACTERS: usize = LINE / 3 * 4;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// The length of a PEM text, in bytes.
pub(crate) const fn length(label: &str, der: usize) -> usize {
    let boundaries = BEGIN.len() + END.len() + 2 * (label.len() + DASHES.len() + 1);
    boundaries + der.div_ceil(3) * 4 + der.div_ceil(LINE)
}

/// The label and the base64 of the first block of a text with one of the labels. Whatever else
/// stands in the text is passed over (RFC 7468, section 2), other blocks as well.
pub(crate) fn find<'t>(text: &'t [u8], labels: &[&'static str]) -> Result<Block<'t>, Error> {
    let mut rest = text;
    let mut outcome = Err(Error::Pem);
    while let Some(start) = position(rest, BEGIN.as_bytes()) {
        let after = &rest[start + BEGIN.len()..];
        let label_length = position(after, DASHES.as_bytes()).ok_or(Error::Pem)?;
        let (found, after) = after.split_at(label_length);
        let after = &after[DASHES.len()..];
        let length = position(after, END.as_bytes()).ok_or(Error::Pem)?;
        let (base64, after) = after.split_at(length);
        let end = &after[END.len()..];
        let end = end.strip_prefix(found).and_then(|end| end.strip_prefix(DASHES.as_bytes()));
        rest = end.ok_or(Error::Pem)?;
        if let Some(label) = labels.iter().find(|label| label.as_bytes() == found) {
            return Ok(Block { label, base64 });
        }
        outcome = Err(Error::PemLabel);
    }
    outcome
}

/// A block of a PEM text.
pub(crate) struct Block<'t> {
    pub(crate) label: &'static str,
    base64: &'t [u8],
}

impl Block<'_> {
    /// An upper bound on the bytes that it holds.
    pub(crate) const fn most_bytes(&self) -> usize {
        self.base64.len() / 4 * 3
    }

    /// Decodes it into the start of `output`, which has [`most_bytes`](Self::most_bytes), and gives
    /// what is there then. Time depends on where white space stands, and on whether the rest is
    /// base64.
    ///
    /// # Errors
    /// [`Error::Encrypted`] where headers say that it is (RFC 1421, section 4.6.1.1); [`Error::Pem`].
    pub(crate) fn decode<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        if position(self.base64, b":").is_some() {
            let encrypted = position(self.base64, b"ENCRYPTED").is_some();
            return Err(if encrypted { Error::Encrypted } else { Error::Pem });
        }
        let mut line = [0; LINE_CHARACTERS / size_of::<u64>()];
        let outcome = self.decode_lines(words::as_bytes_mut(&mut line), output);
        ct::wipe(&mut line);
        let length = outcome?;
        Ok(&output[..length])
    }

    /// Collects the characters in `line` and decodes them whenever it is full, and at the end.
    fn decode_lines(&self, line: &mut [u8], output: &mut [u8]) -> Result<usize, Error> {
        let (mut held, mut length) = (0, 0);
        let mut characters = self.base64.iter().filter(|byte| !is_space(**byte)).peekable();
        while let Some(character) = characters.next() {
            line[held] = *character;
            held += 1;
            if held < line.len() && characters.peek().is_some() {
                continue;
            }
            let decoded = Base64::decode(&line[..held], &mut output[length..]);
            let bytes = decoded.map_err(|_| Error::Pem)?.len();
            length += bytes;
            // Padding stands at the end only.
            if bytes < LINE && characters.peek().is_some() {
                return Err(Error::Pem);
            }
            held = 0;
        }
        Ok(length)
    }
}

/// Where `pattern` stands first in a text. Where it stands is public, what else the text holds is
/// not.
fn position(text: &[u8], pattern: &[u8]) -> Option<usize> {
    text.windows(pattern.len()).position(|window| ct::equal_bytes(window, pattern).reveal())
}

/// Whether a character is white space: space, tab, line feed, form feed or carriage return. Where
/// lines end is public, what they hold is not.
fn is_space(character: u8) -> bool {
    let equals = |space: u8| Mask::equal(character.into(), space.into());
    (equals(b' ') | equals(b'\n') | equals(b'\r') | equals(b'\t') | equals(b'\x0c')).reveal()
}

/// Writes a structure in PEM to the start of `output`, and gives what is there then.
///
/// # Errors
/// [`Error::OutputTooSmall`]; nothing is written then.
pub(crate) fn write<'o>(
    key: &impl Encode,
    label: &str,
    output: &'o mut [u8],
) -> Result<&'o str, Error> {
    let der_length = encoded_length(key)?;
    let output = checked_output(output, length(label, der_length))?;
    let rest = put(output, &[BEGIN, label, DASHES, "\n"]);
    let mut writer = Lines { held: [0; LINE], count: 0, output: rest, at: 0 };
    key.encode(&mut writer).and_then(|()| writer.end_line()).map_err(not_encodable)?;
    let at = writer.at;
    drop(writer);
    put(&mut rest[at..], &[END, label, DASHES, "\n"]);
    ct::ascii(output).ok_or(Error::Pem)
}

/// Puts texts to the start of `output`, and gives the rest.
fn put<'o>(output: &'o mut [u8], texts: &[&str]) -> &'o mut [u8] {
    texts.iter().fold(output, |output, text| {
        let (start, rest) = output.split_at_mut(text.len());
        start.copy_from_slice(text.as_bytes());
        rest
    })
}

/// Takes DER and writes lines of base64. Nothing depends on what the bytes are.
struct Lines<'o> {
    /// What the next line holds.
    held: [u8; LINE],
    count: usize,
    output: &'o mut [u8],
    at: usize,
}

impl Lines<'_> {
    /// Writes what is held as a line.
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
