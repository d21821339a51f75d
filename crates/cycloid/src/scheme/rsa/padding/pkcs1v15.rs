//! EMSA-PKCS1-v1_5, the deterministic encoding of a digest (RFC 8017, section 9.2).

use crate::scheme::hash::Hash;
use crate::scheme::rsa::error::Error;

/// Bytes of an encoding besides DigestInfo: 00 01, at least eight of padding, 00.
const OVERHEAD: usize = 11;

/// Returns the DER encoding of DigestInfo up to the digest (RFC 8017, section 9.2, note 1; for
/// SHA-3, with the identifiers of NIST's register). SHAKE has none; callers refuse it.
pub(in crate::scheme::rsa) const fn prefix(hash: Hash) -> &'static [u8] {
    match hash {
        #[cfg(feature = "sha1")]
        Hash::Sha1 => b"\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14",
        Hash::Sha224 => {
            b"\x30\x2d\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x04\x05\x00\x04\x1c"
        }
        Hash::Sha256 => {
            b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"
        }
        #[cfg(feature = "sha512")]
        Hash::Sha384 => {
            b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30"
        }
        #[cfg(feature = "sha512")]
        Hash::Sha512 => {
            b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40"
        }
        #[cfg(feature = "sha512")]
        Hash::Sha512_224 => {
            b"\x30\x2d\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x05\x05\x00\x04\x1c"
        }
        #[cfg(feature = "sha512")]
        Hash::Sha512_256 => {
            b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x06\x05\x00\x04\x20"
        }
        #[cfg(feature = "sha3")]
        Hash::Sha3_224 => {
            b"\x30\x2d\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x07\x05\x00\x04\x1c"
        }
        #[cfg(feature = "sha3")]
        Hash::Sha3_256 => {
            b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x08\x05\x00\x04\x20"
        }
        #[cfg(feature = "sha3")]
        Hash::Sha3_384 => {
            b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x09\x05\x00\x04\x30"
        }
        #[cfg(feature = "sha3")]
        Hash::Sha3_512 => {
            b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x0a\x05\x00\x04\x40"
        }
        #[cfg(feature = "sha3")]
        Hash::Shake128 | Hash::Shake256 => b"",
    }
}

/// EMSA-PKCS1-v1_5: writes 00 01 FF … FF 00 DigestInfo.
///
/// # Errors
/// [`Error::ModulusTooShort`] for legacy keys alone.
pub(in crate::scheme::rsa) fn encode(encoded: &mut [u8], info: &[u8]) -> Result<(), Error> {
    if encoded.len() < info.len() + OVERHEAD {
        return Err(Error::ModulusTooShort);
    }
    let (padding, end) = encoded.split_at_mut(encoded.len() - info.len());
    let last = padding.len() - 1;
    padding.fill(0xff);
    padding[0] = 0;
    padding[1] = 1;
    padding[last] = 0;
    end.copy_from_slice(info);
    Ok(())
}

/// Returns whether `encoded`, as long as the modulus, is the one valid encoding of DigestInfo.
/// Compares encodings instead of parsing.
pub(in crate::scheme::rsa) fn is_encoding_of(encoded: &[u8], info: &[u8]) -> bool {
    // A modulus for old signatures may be too short: eight bytes of padding are the least.
    let Some(padding) = encoded.len().checked_sub(info.len()).filter(|length| *length >= OVERHEAD)
    else {
        return false;
    };
    let (padding, end) = encoded.split_at(padding);
    padding.starts_with(&[0, 1])
        && padding.ends_with(&[0])
        && padding[2..padding.len() - 1].iter().all(|byte| *byte == 0xff)
        && end == info
}
