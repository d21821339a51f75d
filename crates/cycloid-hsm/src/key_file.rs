//! Encrypted private keys in files: PKCS #8 (RFC 5958, section 3) with PBES2 (RFC 8018, section 6.2),
//! as `openssl genpkey` and `openssl pkcs8 -topk8` write them.
//!
//! The library's feature `encryption` reads them too, but not for keys on all of the HSM's curves, and
//! a build of the lab with the HSM would compile the library a second time for it.

use pkcs5::EncryptionScheme;
use pkcs5::pbes2::Kdf;
use pkcs8::LineEnding;
use pkcs8::der::asn1::OctetStringRef;
use pkcs8::der::{self, Decode, Reader, SliceReader};
use zeroize::Zeroizing;

use crate::key::pem::{ENCRYPTED, private_block};
use crate::{Code, Result};

/// The most iterations of PBKDF2: some ten seconds.
const MAX_ITERATIONS: u32 = 20_000_000;

/// The most bytes of memory of scrypt.
const MAX_MEMORY: u64 = 1 << 30;

/// The most passes of scrypt over its memory.
const MAX_PASSES: u16 = 16;

/// Returns whether the private key in a PEM file is encrypted in the format that [`decrypt`] reads.
pub fn is_encrypted(pem: &[u8]) -> bool {
    private_block(pem).is_ok_and(|block| block.starts_with(&format!("-----BEGIN {ENCRYPTED}-----")))
}

/// Decrypts the private key of a PEM file, and returns it as PEM.
///
/// Its time depends on the file's parameters, up to some ten seconds.
///
/// # Errors
/// [`Code::DATA_INVALID`], with the reason; [`Code::PIN_INCORRECT`] for a wrong passphrase.
pub fn decrypt(pem: &[u8], passphrase: &[u8]) -> Result<Zeroizing<String>> {
    let invalid = |why: &str| Code::DATA_INVALID.because(why);
    let block = private_block(pem)?;
    let (_, document) =
        pkcs8::Document::from_pem(block).map_err(|_| invalid("the PEM is malformed"))?;
    let (scheme, encrypted) = parts(document.as_bytes()).map_err(|_| {
        invalid("the key is encrypted, but not by PBES2: convert it with `openssl pkcs8 -topk8`")
    })?;
    if is_costly(&scheme) {
        return Err(invalid(
            "the key's encryption asks for too much time or memory: convert it with `openssl pkcs8 -topk8`",
        ));
    }
    let key = scheme.decrypt(passphrase, encrypted).map(Zeroizing::new).ok();
    // One padding in 256 is valid by chance, but hardly ever a private key.
    let key = key.filter(|key| pkcs8::PrivateKeyInfoRef::from_der(key).is_ok());
    let key =
        key.ok_or_else(|| Code::PIN_INCORRECT.because("the passphrase does not decrypt the key"))?;
    let key = pkcs8::SecretDocument::try_from(key.as_slice());
    key.and_then(|key| key.to_pem("PRIVATE KEY", LineEnding::LF))
        .map_err(|_| invalid("the key is malformed"))
}

/// Returns the two parts of an EncryptedPrivateKeyInfo.
fn parts(der: &[u8]) -> der::Result<(EncryptionScheme, &[u8])> {
    let mut reader = SliceReader::new(der)?;
    let parts = reader.sequence(|fields| {
        let scheme = EncryptionScheme::decode(fields)?;
        let encrypted = <&OctetStringRef>::decode(fields)?;
        Ok::<_, der::Error>((scheme, encrypted.as_bytes()))
    })?;
    reader.finish()?;
    Ok(parts)
}

fn is_costly(scheme: &EncryptionScheme) -> bool {
    match scheme.pbes2().map(|parameters| &parameters.kdf) {
        Some(Kdf::Pbkdf2(parameters)) => parameters.iteration_count > MAX_ITERATIONS,
        Some(Kdf::Scrypt(parameters)) => {
            let block = 128 * u64::from(parameters.block_size);
            parameters.cost_parameter.checked_mul(block).is_none_or(|bytes| bytes > MAX_MEMORY)
                || parameters.parallelization > MAX_PASSES
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use pkcs5::pbes2::Parameters;
    use pkcs8::der::Encode;

    use super::*;

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let pem = |label: &str| format!("-----BEGIN {label}-----\nMAA=\n-----END {label}-----");
        assert!(!is_encrypted(pem("PRIVATE KEY").as_bytes()));
        for (file, reason) in [
            (pem(ENCRYPTED), "not by PBES2"),
            (pem(ENCRYPTED).replace("MAA=", "MAA"), "the PEM is malformed"),
            (String::new(), "not a PEM file"),
        ] {
            let error = decrypt(file.as_bytes(), b"passphrase").unwrap_err();
            assert!(error.code == Code::DATA_INVALID && error.detail.contains(reason), "{error}");
        }
    }

    #[test]
    fn costly_derivations_are_refused_before_they_start() {
        let reason = |parameters: Parameters| {
            let scheme = EncryptionScheme::from(parameters).to_der().unwrap();
            let body = [&scheme, &[4, 16][..], &[0; 16]].concat();
            let file = [&[0x30, u8::try_from(body.len()).unwrap()][..], &body].concat();
            let file = pkcs8::Document::try_from(file).unwrap();
            let pem = file.to_pem(ENCRYPTED, LineEnding::LF).unwrap();
            assert!(is_encrypted(pem.as_bytes()));
            decrypt(pem.as_bytes(), b"passphrase").unwrap_err().detail
        };
        let pbkdf2 = |count| Parameters::generate_pbkdf2_sha256_aes256cbc(count, &[1; 8], [2; 16]);
        assert!(reason(pbkdf2(2048).unwrap()).contains("does not decrypt"));
        assert!(reason(pbkdf2(MAX_ITERATIONS + 1).unwrap()).contains("too much time"));
        let scrypt = |log_n, passes| {
            let costs = pkcs5::scrypt::Params::new(log_n, 8, passes).unwrap();
            Parameters::generate_scrypt_aes256cbc(costs, &[1; 8], [2; 16]).unwrap()
        };
        assert!(reason(scrypt(4, 16)).contains("does not decrypt"));
        assert!(reason(scrypt(4, 17)).contains("too much time"));
        assert!(reason(scrypt(21, 1)).contains("too much time"));
    }
}
