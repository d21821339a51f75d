//! Finds the private key in a PEM file (RFC 7468), which may have text and other blocks around it,
//! and returns it as PKCS #8 (RFC 5958).

use pkcs8::der::asn1::{AnyRef, ContextSpecific, OctetStringRef};
use pkcs8::der::oid::ObjectIdentifier;
use pkcs8::der::{self, Decode, Reader, SliceReader, TagNumber};
use pkcs8::spki::AlgorithmIdentifierRef;
use pkcs8::{PrivateKeyInfoRef, SecretDocument};

use crate::{Code, Result};

/// rsaEncryption (RFC 8017, appendix A.1).
pub(super) const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// id-ecPublicKey (RFC 5480, section 2.1.1).
pub(super) const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// The label of an encrypted PKCS #8 key.
pub(crate) const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";

const BEGIN: &str = "-----BEGIN ";
const DASHES: &str = "-----";

/// Returns the file's only private key as PKCS #8. Keys of PKCS #1 and SEC 1 are enclosed in it.
///
/// # Errors
/// [`Code::DATA_INVALID`], with the reason.
pub(super) fn document(pem: &[u8]) -> Result<SecretDocument> {
    let block = private_block(pem)?;
    let invalid = |why: &str| Code::DATA_INVALID.because(why);
    if block.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(invalid(
            "the key is encrypted in a format of old programs: convert it with `openssl pkcs8 -topk8`",
        ));
    }
    let (label, document) =
        SecretDocument::from_pem(block).map_err(|_| invalid("the PEM is malformed"))?;
    let key = document.as_bytes();
    let enclosed = match label {
        "PRIVATE KEY" => return Ok(document),
        "RSA PRIVATE KEY" => enclose(RSA, AnyRef::NULL, key),
        "EC PRIVATE KEY" => {
            let curve = curve_of(key).map_err(|_| invalid("the EC private key is malformed"))?;
            let curve = curve.ok_or_else(|| invalid("the EC private key names no curve"))?;
            enclose(EC, (&curve).into(), key)
        }
        ENCRYPTED => return Err(invalid("the key is encrypted")),
        _ => {
            return Err(invalid(
                "the PEM is not labelled PRIVATE KEY: convert it with `openssl pkcs8 -topk8`",
            ));
        }
    };
    enclosed.map_err(|_| invalid("the key is too long"))
}

/// Returns a PKCS #8 document with a key of this algorithm.
fn enclose(oid: ObjectIdentifier, of: AnyRef<'_>, key: &[u8]) -> pkcs8::Result<SecretDocument> {
    let algorithm = AlgorithmIdentifierRef { oid, parameters: Some(of) };
    PrivateKeyInfoRef::new(algorithm, OctetStringRef::new(key)?).try_into()
}

/// Returns the named curve of an ECPrivateKey (RFC 5915, section 3), if it has one.
fn curve_of(key: &[u8]) -> der::Result<Option<ObjectIdentifier>> {
    SliceReader::new(key)?.sequence(|fields| {
        u8::decode(fields)?;
        <&OctetStringRef>::decode(fields)?;
        let named = ContextSpecific::decode_explicit(fields, TagNumber(0))?;
        // The public key follows.
        fields.read_slice(fields.remaining_len())?;
        Ok(named.map(|field| field.value))
    })
}

/// Returns the file's only block with a private key, of any kind.
///
/// # Errors
/// [`Code::DATA_INVALID`], with the reason.
pub(crate) fn private_block(pem: &[u8]) -> Result<&str> {
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
