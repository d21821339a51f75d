//! Encrypted private keys: PKCS #8 (RFC 5958, section 3) with PBES2 (RFC 8018, section 6.2), and
//! PEM with headers (RFC 1421) as OpenSSL wrote it before.

use alloc::vec::Vec;

use ::der::asn1::OctetStringRef;
use ::der::{Decode, Reader, SliceReader};
use md5::{Digest, Md5};
use pkcs5::EncryptionScheme;
use pkcs5::pbes2::Kdf;
use zeroize::Zeroizing;

use super::cipher::decrypt_cbc;
use super::{Error, decoded};
use crate::scheme::encoding::pem::Block;

/// The most iterations of PBKDF2: some ten seconds.
const MAX_ITERATIONS: u32 = 20_000_000;
/// The most bytes of memory of scrypt.
const MAX_MEMORY: u64 = 1 << 30;
/// The most passes of scrypt over its memory.
const MAX_PASSES: u16 = 16;

/// Decrypts EncryptedPrivateKeyInfo. If the passphrase is wrong, the result is an error or random
/// bytes.
pub(super) fn decrypt_pkcs8(der: &[u8], passphrase: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let (scheme, encrypted) = parts(der).map_err(|_| Error::Unsupported {
        what: "a PKCS #8 file with an encryption other than PBES2 with AES or Triple DES",
        hint: "convert it with `openssl pkcs8 -topk8 -v2 aes-256-cbc`",
    })?;
    let is_costly = match scheme.pbes2().map(|parameters| &parameters.kdf) {
        Some(Kdf::Pbkdf2(parameters)) => parameters.iteration_count > MAX_ITERATIONS,
        Some(Kdf::Scrypt(parameters)) => {
            let block = 128 * u64::from(parameters.block_size);
            parameters.cost_parameter.checked_mul(block).is_none_or(|bytes| bytes > MAX_MEMORY)
                || parameters.parallelization > MAX_PASSES
        }
        _ => false,
    };
    if is_costly {
        return Err(Error::Costly);
    }
    scheme.decrypt(passphrase, encrypted).map(Zeroizing::new).map_err(|_| Error::Passphrase)
}

fn parts(der: &[u8]) -> ::der::Result<(EncryptionScheme, &[u8])> {
    let mut reader = SliceReader::new(der)?;
    let parts = reader.sequence(|fields| {
        let scheme = EncryptionScheme::decode(fields)?;
        let encrypted = <&OctetStringRef>::decode(fields)?;
        Ok::<_, ::der::Error>((scheme, encrypted.as_bytes()))
    })?;
    reader.finish()?;
    Ok(parts)
}

/// Decrypts a block whose headers declare AES or Triple DES in CBC mode.
pub(super) fn decrypt_pem(
    block: &Block<'_>,
    passphrase: &[u8],
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let damaged = Error::Malformed { what: "PEM headers" };
    let (headers, body) = block.split_headers().ok_or(damaged)?;
    let headers = core::str::from_utf8(headers).map_err(|_| damaged)?;
    let info = headers.lines().find_map(|line| line.strip_prefix("DEK-Info:")).ok_or(damaged)?;
    let (name, iv) = info.trim().split_once(',').ok_or(damaged)?;
    let (key_length, block_length) = match name {
        "DES-EDE3-CBC" => (24, 8),
        "AES-128-CBC" => (16, 16),
        "AES-192-CBC" => (24, 16),
        "AES-256-CBC" => (32, 16),
        _ => {
            return Err(Error::Unsupported {
                what: "a PEM file encrypted with a cipher other than AES and Triple DES in CBC mode",
                hint: "convert it with `openssl pkcs8 -topk8 -v2 aes-256-cbc`",
            });
        }
    };
    let iv = hexadecimal(iv.trim(), block_length).ok_or(damaged)?;
    let key = derive(passphrase, &iv, key_length);
    let mut text = decoded(&body).map_err(|_| damaged)?;
    decrypt_cbc(&key, &iv, &mut text)?;
    // PKCS #7: the last byte is the length of the padding.
    let padding = usize::from(*text.last().ok_or(damaged)?);
    let length = text.len().checked_sub(padding).filter(|_| (1..=block_length).contains(&padding));
    let length = length.ok_or(Error::Passphrase)?;
    if text[length..].iter().any(|byte| usize::from(*byte) != padding) {
        return Err(Error::Passphrase);
    }
    text.truncate(length);
    // One padding in 256 is valid by chance, but hardly ever a sequence of this length.
    if !is_sequence(&text) {
        return Err(Error::Passphrase);
    }
    Ok(text)
}

/// Returns whether the bytes are exactly one sequence.
fn is_sequence(der: &[u8]) -> bool {
    der.first() == Some(&0x30)
        && SliceReader::new(der).is_ok_and(|mut reader| {
            reader.tlv_bytes().is_ok_and(|element| element.len() == der.len())
        })
}

/// Derives a key as OpenSSL does for these files: MD5 of the previous digest, the passphrase and
/// the first eight bytes of the initial value.
fn derive(passphrase: &[u8], iv: &[u8], length: usize) -> Zeroizing<Vec<u8>> {
    // One allocation, so that no copy stays behind.
    let mut key = Zeroizing::new(Vec::with_capacity(32));
    while key.len() < length {
        let previous = key.len().saturating_sub(16);
        let digest = Md5::new().chain_update(&key[previous..]);
        let mut digest = digest.chain_update(passphrase).chain_update(&iv[..8]).finalize();
        key.extend_from_slice(&digest);
        zeroize::Zeroize::zeroize(&mut digest[..]);
    }
    key.truncate(length);
    key
}

/// Parses the hexadecimal digits of this many bytes.
fn hexadecimal(text: &str, length: usize) -> Option<Vec<u8>> {
    if text.len() != 2 * length || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |i| u8::from_str_radix(&text[2 * i..][..2], 16).ok();
    (0..length).map(byte).collect()
}
