//! Decrypts private keys: PKCS #8 with a key derived by PBKDF2 or scrypt.
//!
//! Source: RFC 5958, section 3; RFC 8018, section 6.2; RFC 7914, section 7.

use pkcs5::EncryptionScheme;
use pkcs5::der::asn1::OctetStringRef;
use pkcs5::der::{Decode, Header, Reader, SliceReader};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use zeroize::Zeroizing;

use crate::proto::{Error, armor};

const LABEL: &str = "ENCRYPTED PRIVATE KEY";
/// The marker of the older format, which OpenSSL wrote before PKCS #8.
const OLDER: &str = "Proc-Type: 4,ENCRYPTED";

/// Returns whether the private key in a PEM text is encrypted.
pub fn is_encrypted(pem: &[u8]) -> bool {
    let text = String::from_utf8_lossy(pem);
    text.contains(&format!("-----BEGIN {LABEL}-----")) || text.contains(OLDER)
}

/// Decrypts the private key in a PEM text.
///
/// # Errors
/// A key in the format before PKCS #8 or in no known format; a cipher other than AES in CBC or GCM
/// or Triple-DES; or a wrong passphrase.
pub(super) fn decrypt(pem: &[u8], passphrase: &str) -> Result<PrivateKeyDer<'static>, Error> {
    let wrong = |what: &str| Error::Configuration(what.into());
    let text = std::str::from_utf8(pem).map_err(|_| wrong("the private key is not text"))?;
    if text.contains(OLDER) {
        return Err(wrong(
            "the private key has the format before PKCS #8; convert it: openssl pkcs8 -topk8",
        ));
    }
    let der = armor::parse_base64(text, LABEL)
        .map_err(|error| Error::Configuration(error.to_string()))?;
    let (scheme, encrypted) =
        parts(&der).map_err(|_| wrong("unsupported encryption of the private key"))?;
    let decrypted = scheme.decrypt(passphrase, encrypted).map(Zeroizing::new);
    // A wrong passphrase yields valid padding with probability 1/256.
    let decrypted = decrypted.ok().filter(|der| is_sequence(der));
    let decrypted = decrypted.ok_or_else(|| wrong("wrong passphrase of the private key"))?;
    Ok(PrivatePkcs8KeyDer::from(decrypted.to_vec()).into())
}

fn parts(der: &[u8]) -> pkcs5::der::Result<(EncryptionScheme, &[u8])> {
    let mut reader = SliceReader::new(der)?;
    let parts = reader.sequence(|inner| {
        let scheme = EncryptionScheme::decode(inner)?;
        let encrypted = <&OctetStringRef>::decode(inner)?;
        Ok::<_, pkcs5::der::Error>((scheme, encrypted.as_bytes()))
    })?;
    reader.finish()?;
    Ok(parts)
}

/// Returns whether the bytes are exactly one DER sequence.
fn is_sequence(der: &[u8]) -> bool {
    let whole = |reader: &mut SliceReader<'_>| {
        let header = Header::decode(reader)?;
        Ok::<_, pkcs5::der::Error>(header.length() == reader.remaining_len())
    };
    der.first() == Some(&0x30)
        && SliceReader::new(der).is_ok_and(|mut reader| whole(&mut reader).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use super::*;

    fn openssl(directory: &std::path::Path, line: &str) -> Output {
        let mut command = Command::new("openssl");
        command.args(line.split(' ')).current_dir(directory);
        let output = command.output().expect("OpenSSL's program is there");
        assert!(output.status.success(), "openssl {line}: {output:?}");
        output
    }

    #[test]
    fn openssl_keys_are_decrypted() {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        openssl(at, "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out plain.pem");
        let plain = std::fs::read(at.join("plain.pem")).unwrap();
        assert!(!is_encrypted(&plain));
        let expected = openssl(at, "pkcs8 -topk8 -nocrypt -in plain.pem -outform DER").stdout;
        for how in [
            "-v2 aes-256-cbc",
            "-v2 aes-128-cbc -v2prf hmacWithSHA1",
            "-v2 aes-192-cbc -v2prf hmacWithSHA512 -iter 100",
            "-v2 des3",
            "-scrypt",
        ] {
            let line = format!("pkcs8 -topk8 -in plain.pem {how} -passout pass:right");
            let pem = openssl(at, &line).stdout;
            assert!(is_encrypted(&pem), "{how}");
            let key = decrypt(&pem, "right").unwrap_or_else(|error| panic!("{how}: {error}"));
            assert_eq!(key.secret_der(), expected, "{how}");
        }
        // Some wrong passphrases yield valid padding, but never a valid key.
        let pem = openssl(at, "pkcs8 -topk8 -in plain.pem -iter 1 -passout pass:right").stdout;
        for guess in 0..600 {
            let error = decrypt(&pem, &guess.to_string()).unwrap_err().to_string();
            assert!(error.contains("wrong passphrase"), "{error}");
        }
        let older = "rsa -traditional -aes128 -passout pass:right -in rsa.pem";
        openssl(at, "genpkey -algorithm RSA -out rsa.pem");
        let error = decrypt(&openssl(at, older).stdout, "right").unwrap_err().to_string();
        assert!(error.contains("openssl pkcs8 -topk8"), "{error}");
    }

    #[test]
    fn invalid_keys_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let line = "genpkey -algorithm ED25519 -aes-256-cbc -pass pass:right";
        let pem = openssl(directory.path(), line).stdout;
        assert!(decrypt(&pem, "right").is_ok());
        for byte in 0..pem.len() {
            let mut changed = pem.clone();
            changed[byte] ^= 1;
            if let Ok(key) = decrypt(&changed, "right") {
                // The mutation hit bytes outside of the armour, or flipped a bit of the key itself.
                assert!(!key.secret_der().is_empty());
            }
        }
        for length in 0..pem.trim_ascii_end().len() {
            assert!(decrypt(&pem[..length], "right").is_err());
        }
    }
}
