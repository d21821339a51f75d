//! A reader of BER: the elements of a structure, with indefinite lengths and strings in pieces,
//! which some programs write into PKCS #12 files.
//!
//! Source: ITU-T X.690, section 8.

use zeroize::Zeroizing;

pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const OID: u8 = 0x06;
/// `[0]`, constructed: an explicit tag, or an implicit string in pieces.
pub(super) const CONTEXT_0: u8 = 0xA0;
/// Set in the tag of an element that consists of elements.
const CONSTRUCTED: u8 = 0x20;
/// The deepest nesting of elements of indefinite length and of strings in pieces.
const MAX_DEPTH: u8 = 8;

/// Malformed BER.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// An element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    pub(super) tag: u8,
    /// The contents, without tag, length and end marker.
    pub(super) contents: &'a [u8],
    /// All its bytes.
    pub(super) whole: &'a [u8],
}

impl<'a> Element<'a> {
    /// Returns a reader of the elements inside.
    pub(super) fn inside(&self) -> Elements<'a> {
        Elements(self.contents)
    }

    /// Returns the bytes of a string, which may be in pieces.
    pub(super) fn octets(&self) -> Result<Zeroizing<Vec<u8>>, Malformed> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.contents.len()));
        self.append_to(&mut bytes, 0)?;
        Ok(bytes)
    }

    fn append_to(&self, bytes: &mut Vec<u8>, depth: u8) -> Result<(), Malformed> {
        if self.tag & CONSTRUCTED == 0 {
            bytes.extend_from_slice(self.contents);
            return Ok(());
        }
        if depth == MAX_DEPTH {
            return Err(Malformed);
        }
        let mut pieces = self.inside();
        while let Some(piece) = pieces.next()? {
            if piece.tag & !CONSTRUCTED != OCTETS {
                return Err(Malformed);
            }
            piece.append_to(bytes, depth + 1)?;
        }
        Ok(())
    }
}

/// The elements of a structure, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elements<'a>(&'a [u8]);

impl<'a> Elements<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the next element, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Element<'a>>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let (element, rest) = split(self.0, 0)?;
        self.0 = rest;
        Ok(Some(element))
    }

    /// Returns the next element, which must have this tag.
    pub(super) fn expect(&mut self, tag: u8) -> Result<Element<'a>, Malformed> {
        self.next()?.filter(|element| element.tag == tag).ok_or(Malformed)
    }
}

/// Splits an element from the bytes after it.
fn split(bytes: &[u8], depth: u8) -> Result<(Element<'_>, &[u8]), Malformed> {
    let [tag, first, rest @ ..] = bytes else { return Err(Malformed) };
    // No structure here has tags of several bytes.
    if tag & 0x1F == 0x1F {
        return Err(Malformed);
    }
    let (length, body) = match first {
        0x80 => return split_indefinite(*tag, bytes, rest, depth),
        0..0x80 => (usize::from(*first), rest),
        _ => {
            let count = usize::from(first & 0x7F);
            if count > 4 || count > rest.len() {
                return Err(Malformed);
            }
            let (length, body) = rest.split_at(count);
            (length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), body)
        }
    };
    let contents = body.get(..length).ok_or(Malformed)?;
    let whole = &bytes[..bytes.len() - (body.len() - length)];
    Ok((Element { tag: *tag, contents, whole }, &body[length..]))
}

/// Splits an element whose end is marked by two zero bytes.
fn split_indefinite<'a>(
    tag: u8,
    bytes: &'a [u8],
    body: &'a [u8],
    depth: u8,
) -> Result<(Element<'a>, &'a [u8]), Malformed> {
    if tag & CONSTRUCTED == 0 || depth == MAX_DEPTH {
        return Err(Malformed);
    }
    let mut rest = body;
    while !rest.starts_with(&[0, 0]) {
        rest = split(rest, depth + 1)?.1;
    }
    let contents = &body[..body.len() - rest.len()];
    let rest = &rest[2..];
    Ok((Element { tag, contents, whole: &bytes[..bytes.len() - rest.len()] }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definite_and_indefinite_lengths() {
        // A sequence of a string in two pieces and an integer, then another integer.
        let bytes = [
            0x30, 0x80, 0x24, 0x80, 0x04, 0x01, 7, 0x04, 0x81, 0x02, 8, 9, 0, 0, 0x02, 1, 5, 0, 0,
            0x02, 1, 6,
        ];
        let mut all = Elements::new(&bytes);
        let sequence = all.expect(SEQUENCE).unwrap();
        assert_eq!(sequence.whole, &bytes[..19]);
        let mut inside = sequence.inside();
        let string = inside.next().unwrap().unwrap();
        assert_eq!(**string.octets().unwrap(), [7, 8, 9]);
        assert_eq!(inside.expect(INTEGER).unwrap().contents, [5]);
        assert!(inside.next().unwrap().is_none());
        assert_eq!(all.expect(INTEGER).unwrap().contents, [6]);
    }

    #[test]
    fn hostile_bytes_are_errors() {
        let deep = [[0x30, 0x80].repeat(40_000), [0, 0].repeat(40_000)].concat();
        for bytes in [
            &[0x30][..],
            &[0x30, 2, 0],
            &[0x30, 0x85, 0, 0, 0, 0, 0],
            &[0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            &[0x30, 0x80, 2, 1, 5],
            &[0x04, 0x80, 0, 0],
            &[0x1F, 0],
            &deep,
        ] {
            assert_eq!(Elements::new(bytes).next().err(), Some(Malformed));
        }
        let pieces = [0x24, 2, 0x02, 0];
        let pieces = Elements::new(&pieces).next().unwrap().unwrap();
        assert_eq!(pieces.octets(), Err(Malformed));
    }
}
