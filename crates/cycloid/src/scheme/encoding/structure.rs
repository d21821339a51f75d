//! Declares which parts of a private key's file are public: its structure.
//!
//! Tags, lengths, object identifiers and public keys follow from the kind of key. The contents of
//! integers and of the innermost octet string are secret.

use crate::machine::ct;

/// Integers of this many bytes or fewer are versions and public exponents.
const SMALL: usize = 9;

/// The nesting depth of key structures, with a margin.
const DEPTH: usize = 6;

const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const CONSTRUCTED: u8 = 0x20;

/// Declares the structure of a private key in DER public, in any of its formats. Malformed bytes
/// are declared as far as they can be parsed; the reader refuses them afterwards.
pub(super) fn reveal(der: &[u8]) {
    reveal_fields(der, 0);
}

fn reveal_fields(mut der: &[u8], depth: usize) {
    let mut number = 0;
    while let Some((tag, contents, rest)) = element(der) {
        let secret = match tag {
            INTEGER => contents.len() > SMALL,
            // The octet string that is the third field of PKCS #8 contains a nested structure. The
            // second field of SEC 1, and a lone field in an octet string, are the key itself.
            OCTET_STRING => (depth, number) != (1, 2),
            _ => false,
        };
        let nested = tag & CONSTRUCTED != 0 || tag == OCTET_STRING && !secret;
        if nested && depth < DEPTH {
            reveal_fields(contents, depth + 1);
        } else if !secret {
            // Identifiers, versions and public keys follow from the kind of file or are known.
            ct::mark_public(contents);
        }
        (der, number) = (rest, number + 1);
    }
}

/// Splits off the first element: returns its tag, its contents and the rest. Declares its header
/// public.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (header, rest) = der.split_at_checked(2)?;
    // Types and lengths follow from the kind of file and the size of the key.
    ct::mark_public(header);
    let (tag, short) = (header[0], header[1]);
    let (length, rest) = if short < 0x80 {
        (usize::from(short), rest)
    } else {
        let (bytes, rest) =
            rest.split_at_checked(usize::from(short & 0x7f).min(size_of::<u32>()))?;
        // The length of a part is as public as the header.
        ct::mark_public(bytes);
        (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}
