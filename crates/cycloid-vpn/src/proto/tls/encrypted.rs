//! Decrypts private keys: PKCS #8 with a key derived by PBKDF2 or scrypt, and the older format of
//! OpenSSL.
//!
//! Source: RFC 5958, section 3; RFC 8018, section 6.2; RFC 7914, section 7. For the older format:
//! RFC 1421, section 4.6.1; openssl(1), EVP_BytesToKey.

use base64ct::{Base64, Encoding};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use md5::{Digest, Md5};
use pkcs5::EncryptionScheme;
use pkcs5::der::asn1::OctetStringRef;
use pkcs5::der::{Decode, Header, Reader, SliceReader};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer};
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
/// A key in no known format; a cipher other than AES in CBC or GCM or Triple-DES; or a wrong
/// passphrase.
pub(super) fn decrypt(pem: &[u8], passphrase: &str) -> Result<PrivateKeyDer<'static>, Error> {
    let wrong = |what: &str| Error::Configuration(what.into());
    let text = std::str::from_utf8(pem).map_err(|_| wrong("the private key is not text"))?;
    if text.contains(OLDER) {
        return decrypt_older(text, passphrase);
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

/// Decrypts a key in the older format: PKCS #1 or SEC 1 under a key from MD5.
fn decrypt_older(text: &str, passphrase: &str) -> Result<PrivateKeyDer<'static>, Error> {
    let wrong = |what: &str| Error::Configuration(what.into());
    let malformed = || wrong("the encrypted private key is malformed");
    let (before, after) = text.split_once(OLDER).ok_or_else(malformed)?;
    let kind = before.trim_end().rsplit("-----BEGIN ").next().unwrap_or_default();
    let (fields, body) =
        after.split_once("\n\n").or_else(|| after.split_once("\r\n\r\n")).ok_or_else(malformed)?;
    let body = body.split("-----END").next().unwrap_or_default();
    let body: String = body.split_ascii_whitespace().collect();
    let mut buffer = Zeroizing::new(Base64::decode_vec(&body).map_err(|_| malformed())?);
    let info = fields.lines().find_map(|line| line.trim().strip_prefix("DEK-Info:"));
    let (cipher, iv) = info.and_then(|info| info.trim().split_once(',')).ok_or_else(malformed)?;
    let iv = base16ct::mixed::decode_vec(iv.trim()).map_err(|_| malformed())?;
    // The salt is the start of the IV.
    let salt = iv.get(..8).ok_or_else(malformed)?;
    let key = |length: usize| {
        let mut key = Zeroizing::new(Vec::with_capacity(length + 16));
        while key.len() < length {
            let mut hash = Md5::new();
            hash.update(&key[key.len().saturating_sub(16)..]);
            hash.update(passphrase.as_bytes());
            hash.update(salt);
            key.extend_from_slice(&hash.finalize());
        }
        key.truncate(length);
        key
    };
    macro_rules! decrypted {
        ($cipher:ty, $length:literal) => {
            cbc::Decryptor::<$cipher>::new_from_slices(&key($length), &iv)
                .map_err(|_| malformed())?
                .decrypt_padded::<Pkcs7>(&mut buffer)
                .ok()
                .map(|plain| plain.len())
        };
    }
    let length = match cipher {
        "AES-128-CBC" => decrypted!(aes::Aes128, 16),
        "AES-192-CBC" => decrypted!(aes::Aes192, 24),
        "AES-256-CBC" => decrypted!(aes::Aes256, 32),
        "DES-EDE3-CBC" => decrypted!(des::TdesEde3, 24),
        _ => return Err(wrong("unsupported encryption of the private key")),
    };
    let length = length.filter(|length| is_sequence(&buffer[..*length]));
    let length = length.ok_or_else(|| wrong("wrong passphrase of the private key"))?;
    let der = buffer[..length].to_vec();
    match kind.trim_end_matches('-') {
        "RSA PRIVATE KEY" => Ok(PrivatePkcs1KeyDer::from(der).into()),
        "EC PRIVATE KEY" => Ok(PrivateSec1KeyDer::from(der).into()),
        _ => Err(malformed()),
    }
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
        openssl(at, "genpkey -algorithm RSA -out rsa.pem");
        for (kind, ciphers) in
            [("rsa -traditional", ["-aes128", "-des3"]), ("ec", ["-aes192", "-aes256"])]
        {
            for cipher in ciphers {
                let key = if kind == "ec" { "plain.pem" } else { "rsa.pem" };
                let line = format!("{kind} {cipher} -passout pass:right -in {key}");
                let pem = openssl(at, &line).stdout;
                assert!(is_encrypted(&pem), "{line}");
                let form =
                    if kind == "ec" { "ec -outform DER" } else { "rsa -traditional -outform DER" };
                let expected = openssl(at, &format!("{form} -in {key}")).stdout;
                assert_eq!(decrypt(&pem, "right").unwrap().secret_der(), expected, "{line}");
                let error = decrypt(&pem, "wrong").unwrap_err().to_string();
                assert!(error.contains("wrong passphrase"), "{error}");
            }
        }
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
