//! What of a private key's file is public: its structure.
//!
//! Tags, lengths, object identifiers and public keys follow from the kind of the key. The contents
//! of its numbers and of the innermost octet string are secret.

use crate::machine::ct;

/// Numbers of so many bytes and fewer are versions and public exponents.
const SMALL: usize = 4;

/// How deep structures of keys are nested, with room.
const DEPTH: usize = 6;

const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const CONSTRUCTED: u8 = 0x20;

/// Declares the structure of a private key in DER public, in any of its formats. Malformed bytes are
/// declared as far as they can be followed; whoever reads them next refuses them.
pub(super) fn reveal(der: &[u8]) {
    reveal_fields(der, 0);
}

fn reveal_fields(mut der: &[u8], depth: usize) {
    let mut number = 0;
    while let Some((tag, contents, rest)) = element(der) {
        let secret = match tag {
            INTEGER => contents.len() > SMALL,
            // The third field of PKCS #8 holds the key as a structure of its own; the second field
            // of SEC 1, and what is alone in a string, are the key.
            OCTET_STRING => (depth, number) != (1, 2),
            _ => false,
        };
        let nested = tag & CONSTRUCTED != 0 || tag == OCTET_STRING && !secret;
        if nested && depth < DEPTH {
            reveal_fields(contents, depth + 1);
        } else if !secret {
            // Identifiers, versions, public keys: they follow from the kind of the file, or are known.
            ct::mark_public(contents);
        }
        (der, number) = (rest, number + 1);
    }
}

/// The tag and the contents of the first element, and what follows it. The header is declared
/// public.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (header, rest) = der.split_at_checked(2)?;
    ct::mark_public(header);
    let (tag, short) = (header[0], header[1]);
    let (length, rest) = if short < 0x80 {
        (usize::from(short), rest)
    } else {
        let (bytes, rest) =
            rest.split_at_checked(usize::from(short & 0x7f).min(size_of::<u32>()))?;
        ct::mark_public(bytes);
        (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}
