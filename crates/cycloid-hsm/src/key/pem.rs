//! Finds the private key in a PEM file (RFC 7468), which may have text and other blocks around it.

use crate::{Code, Result};

const BEGIN: &str = "-----BEGIN ";
const DASHES: &str = "-----";

/// Returns the file's only block with a private key, of any kind.
///
/// # Errors
/// [`Code::DATA_INVALID`], with the reason.
pub(super) fn private_block(pem: &[u8]) -> Result<&str> {
    let invalid = |why: &str| Err(Code::DATA_INVALID.because(why));
    let Ok(text) = std::str::from_utf8(pem) else {
        return invalid("not a PEM file with a private key");
    };
    let blocks = || {
        text.match_indices(BEGIN).filter_map(|(start, _)| {
            let label = text[start + BEGIN.len()..].split_once(DASHES)?.0;
            Some((&text[start..], label))
        })
    };
    let mut keys = blocks().filter(|(_, label)| label.ends_with("PRIVATE KEY"));
    match (keys.next(), keys.next()) {
        (Some((block, label)), None) => {
            let end = format!("-----END {label}{DASHES}");
            match block.find(&end) {
                Some(at) => Ok(&block[..at + end.len()]),
                None => invalid("the private key is cut off: its last line is missing"),
            }
        }
        (Some(_), Some(_)) => invalid("the file has several private keys"),
        (None, _) if blocks().next().is_some() => invalid("the PEM file has no private key"),
        (None, _) => invalid("not a PEM file with a private key"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nQUJD\n-----END PRIVATE KEY-----";
    const OTHER: &str = "-----BEGIN EC PARAMETERS-----\nQUJD\n-----END EC PARAMETERS-----\n";

    #[test]
    fn a_key_is_found_between_others() {
        for file in [
            KEY.to_owned(),
            format!("{KEY}\n"),
            format!("Bag Attributes\n    friendlyName: é\n{KEY}\ntrailing"),
            format!("{OTHER}{KEY}\n{OTHER}"),
        ] {
            assert_eq!(private_block(file.as_bytes()), Ok(KEY), "{file}");
        }
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let cut = &KEY[..KEY.len() - 9];
        for (file, reason) in [
            (&b""[..], "not a PEM file with a private key"),
            (b"\xff\xfe-----BEGIN PRIVATE KEY-----", "not a PEM file with a private key"),
            (b"-----BEGIN PRIVATE KEY", "not a PEM file with a private key"),
            (OTHER.as_bytes(), "the PEM file has no private key"),
            (cut.as_bytes(), "the private key is cut off: its last line is missing"),
            (format!("{KEY}\n{KEY}").as_bytes(), "the file has several private keys"),
        ] {
            let error = private_block(file).unwrap_err();
            assert_eq!((error.code, &*error.detail), (Code::DATA_INVALID, reason));
        }
    }
}
