//! Opens PKCS #12 files: a private key, its certificate, and certificates of authorities.
//!
//! The encryption is PBES2 with AES, or that of older programs: Triple-DES and RC2 with the key
//! derivation of PKCS #12. No maintained crate without pre-releases reads all of these.
//!
//! Source: RFC 7292; RFC 8018, section 6.2, for PBES2.

use aws_lc_rs::{digest, hmac};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, InnerIvInit, KeyIvInit};
use pkcs5::EncryptionScheme;
use pkcs5::der::Decode;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use zeroize::Zeroizing;

use super::Credentials;
use super::ber::{CONTEXT_0, Element, Elements, INTEGER, Malformed, OCTETS, OID, SEQUENCE};
use crate::proto::Error;

// Contents of object identifiers, without tag and length.

/// 1.2.840.113549.1.7.1, `data`.
const DATA: &[u8] = b"\x2A\x86\x48\x86\xF7\x0D\x01\x07\x01";
/// 1.2.840.113549.1.7.6, `encryptedData`.
const ENCRYPTED_DATA: &[u8] = b"\x2A\x86\x48\x86\xF7\x0D\x01\x07\x06";
/// 1.2.840.113549.1.12.10.1, the kinds of bags, each with one more byte.
const BAGS: &[u8] = b"\x2A\x86\x48\x86\xF7\x0D\x01\x0C\x0A\x01";
/// 1.2.840.113549.1.12.1, the encryption of older programs, each with one more byte.
const OLDER: &[u8] = b"\x2A\x86\x48\x86\xF7\x0D\x01\x0C\x01";
/// 1.2.840.113549.1.9.22.1, `x509Certificate`.
const X509: &[u8] = b"\x2A\x86\x48\x86\xF7\x0D\x01\x09\x16\x01";
/// 1.2.840.113549.1.9.21, `localKeyId`.
const LOCAL_KEY_ID: &[u8] = b"\x2A\x86\x48\x86\xF7\x0D\x01\x09\x15";
/// 1.2.840.113549.1.5.13, PBES2.
const PBES2: &[u8] = b"\x2A\x86\x48\x86\xF7\x0D\x01\x05\x0D";

/// The most iterations of a key derivation: about ten seconds.
const MAX_ITERATIONS: u32 = 20_000_000;
/// The deepest nesting of bags in bags.
const MAX_DEPTH: u8 = 4;

/// The contents of a PKCS #12 file.
#[derive(Debug)]
pub struct Pkcs12 {
    /// The private key and its certificate.
    pub own: Credentials,
    /// The other certificates, which are of authorities.
    pub authorities: Vec<CertificateDer<'static>>,
}

/// Why a PKCS #12 file cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pkcs12Error {
    /// The passphrase is wrong, or missing.
    Passphrase,
    /// The file is not PKCS #12, or damaged.
    Malformed,
    /// The file has no private key with a certificate.
    Incomplete,
    /// The file's encryption or its check is not known.
    Unsupported,
}

impl std::fmt::Display for Pkcs12Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Passphrase => "wrong passphrase of the PKCS #12 file",
            Self::Malformed => "not a PKCS #12 file, or a damaged one",
            Self::Incomplete => "the PKCS #12 file has no private key with its certificate",
            Self::Unsupported => "the PKCS #12 file is protected in an unsupported way",
        })
    }
}

impl std::error::Error for Pkcs12Error {}

impl From<Malformed> for Pkcs12Error {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl From<Pkcs12Error> for Error {
    fn from(error: Pkcs12Error) -> Self {
        Self::Configuration(error.to_string())
    }
}

impl Pkcs12 {
    /// Opens a file. Without a passphrase, tries the empty one.
    ///
    /// # Errors
    /// A wrong passphrase, a malformed file, one without a key and its certificate, or one with
    /// unsupported protection.
    pub fn open(der: &[u8], passphrase: Option<&str>) -> Result<Self, Pkcs12Error> {
        let passphrase = passphrase.unwrap_or_default();
        let mut outer = Elements::new(der).expect(SEQUENCE)?.inside();
        outer.expect(INTEGER)?;
        let safe = data(&outer.expect(SEQUENCE)?)?;
        let mut secret = Secret::new(passphrase);
        if let Some(mac) = outer.next()? {
            // An empty passphrase is two zero bytes for some programs, and none for others.
            if !is_authentic(&mac, &safe, &secret)? {
                secret.unicode.clear();
                if !passphrase.is_empty() || !is_authentic(&mac, &safe, &secret)? {
                    return Err(Pkcs12Error::Passphrase);
                }
            }
        }
        let mut bags = Bags::default();
        let mut parts = Elements::new(&safe).expect(SEQUENCE)?.inside();
        while let Some(part) = parts.next()? {
            let mut inside = part.inside();
            let contents = match inside.expect(OID)?.contents {
                DATA => inside.expect(CONTEXT_0)?.inside().expect(OCTETS)?.octets()?,
                ENCRYPTED_DATA => {
                    let mut inside = inside.expect(CONTEXT_0)?.inside().expect(SEQUENCE)?.inside();
                    inside.expect(INTEGER)?;
                    let mut inside = inside.expect(SEQUENCE)?.inside();
                    inside.expect(OID)?;
                    let scheme = inside.expect(SEQUENCE)?;
                    let encrypted = inside.next()?.ok_or(Pkcs12Error::Malformed)?.octets()?;
                    decrypt(&scheme, &encrypted, &secret)?
                }
                // Encrypted to a public key.
                _ => return Err(Pkcs12Error::Unsupported),
            };
            bags.add(&contents, &secret, 0)?;
        }
        bags.finish()
    }

    /// Returns whether a file needs a passphrase.
    ///
    /// # Errors
    /// A file that cannot be opened for another reason.
    pub fn needs_passphrase(der: &[u8]) -> Result<bool, Pkcs12Error> {
        match Self::open(der, None) {
            Ok(_) => Ok(false),
            Err(Pkcs12Error::Passphrase) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// A passphrase in the two forms of key derivation.
struct Secret {
    utf8: Zeroizing<Vec<u8>>,
    /// UTF-16, big-endian, with two zero bytes at the end.
    unicode: Zeroizing<Vec<u8>>,
}

impl Secret {
    fn new(passphrase: &str) -> Self {
        let mut unicode = Zeroizing::new(Vec::with_capacity(2 * passphrase.len() + 2));
        unicode.extend(passphrase.encode_utf16().flat_map(u16::to_be_bytes));
        unicode.extend([0, 0]);
        Self { utf8: Zeroizing::new(passphrase.as_bytes().to_vec()), unicode }
    }
}

/// Returns the string inside a `ContentInfo` of type `data`.
fn data(element: &Element<'_>) -> Result<Zeroizing<Vec<u8>>, Pkcs12Error> {
    let mut inside = element.inside();
    if inside.expect(OID)?.contents != DATA {
        // Signed by a certificate instead of a passphrase.
        return Err(Pkcs12Error::Unsupported);
    }
    let string = inside.expect(CONTEXT_0)?.inside().next()?.ok_or(Pkcs12Error::Malformed)?;
    Ok(string.octets()?)
}

/// Verifies the file's MAC in constant time.
fn is_authentic(mac: &Element<'_>, data: &[u8], secret: &Secret) -> Result<bool, Pkcs12Error> {
    let mut inside = mac.inside();
    let mut info = inside.expect(SEQUENCE)?.inside();
    let algorithm = info.expect(SEQUENCE)?.inside().expect(OID)?.contents;
    let expected = info.expect(OCTETS)?.octets()?;
    let salt = inside.expect(OCTETS)?.octets()?;
    let count = match inside.next()? {
        Some(number) => iterations(&number)?,
        None => 1,
    };
    let (hash, hmac) = match algorithm {
        b"\x2B\x0E\x03\x02\x1A" => {
            (&digest::SHA1_FOR_LEGACY_USE_ONLY, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY)
        }
        b"\x60\x86\x48\x01\x65\x03\x04\x02\x01" => (&digest::SHA256, hmac::HMAC_SHA256),
        b"\x60\x86\x48\x01\x65\x03\x04\x02\x02" => (&digest::SHA384, hmac::HMAC_SHA384),
        b"\x60\x86\x48\x01\x65\x03\x04\x02\x03" => (&digest::SHA512, hmac::HMAC_SHA512),
        b"\x60\x86\x48\x01\x65\x03\x04\x02\x04" => (&digest::SHA224, hmac::HMAC_SHA224),
        _ => return Err(Pkcs12Error::Unsupported),
    };
    let length = hash.output_len();
    let key = derive(hash, Purpose::Mac, &secret.unicode, &salt, count, length);
    Ok(hmac::verify(&hmac::Key::new(hmac, &key), data, &expected).is_ok())
}

fn iterations(number: &Element<'_>) -> Result<u32, Pkcs12Error> {
    if number.tag != INTEGER || number.contents.len() > 5 {
        return Err(Pkcs12Error::Malformed);
    }
    let value = number.contents.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    match u32::try_from(value) {
        Ok(value @ 1..=MAX_ITERATIONS) => Ok(value),
        _ => Err(Pkcs12Error::Malformed),
    }
}

/// What a derived key is for: the `ID` of RFC 7292, B.3.
#[derive(Clone, Copy)]
enum Purpose {
    Key = 1,
    Iv = 2,
    Mac = 3,
}

/// Derives bytes from a passphrase (RFC 7292, B.2).
fn derive(
    hash: &'static digest::Algorithm,
    purpose: Purpose,
    passphrase: &[u8],
    salt: &[u8],
    iterations: u32,
    length: usize,
) -> Zeroizing<Vec<u8>> {
    let block = hash.block_len();
    let repeated = |bytes: &[u8]| -> Zeroizing<Vec<u8>> {
        let length = bytes.len().div_ceil(block) * block;
        Zeroizing::new(bytes.iter().copied().cycle().take(length).collect())
    };
    let mut input = repeated(salt);
    input.extend_from_slice(&repeated(passphrase));
    let mut output = Zeroizing::new(Vec::with_capacity(length + hash.output_len()));
    while output.len() < length {
        let mut context = digest::Context::new(hash);
        context.update(&vec![purpose as u8; block]);
        context.update(&input);
        let mut round = context.finish();
        for _ in 1..iterations {
            round = digest::digest(hash, round.as_ref());
        }
        output.extend_from_slice(round.as_ref());
        // Each block of the input plus the repeated round plus one.
        let addend: Vec<u8> = round.as_ref().iter().copied().cycle().take(block).collect();
        let addend = Zeroizing::new(addend);
        for part in input.chunks_mut(block) {
            let mut carry = 1;
            for (byte, more) in part.iter_mut().zip(addend.iter()).rev() {
                let sum = u16::from(*byte) + u16::from(*more) + carry;
                *byte = sum as u8;
                carry = sum >> 8;
            }
        }
    }
    output.truncate(length);
    output
}

/// Decrypts by an algorithm identifier.
fn decrypt(
    scheme: &Element<'_>,
    encrypted: &[u8],
    secret: &Secret,
) -> Result<Zeroizing<Vec<u8>>, Pkcs12Error> {
    let mut inside = scheme.inside();
    let kind = inside.expect(OID)?.contents;
    if kind == PBES2 {
        let scheme =
            EncryptionScheme::from_der(scheme.whole).map_err(|_| Pkcs12Error::Unsupported)?;
        let decrypted = scheme.decrypt(&secret.utf8, encrypted).map(Zeroizing::new);
        return sequence(decrypted.map_err(|_| Pkcs12Error::Passphrase)?);
    }
    let Some([kind]) = kind.strip_prefix(OLDER) else { return Err(Pkcs12Error::Unsupported) };
    let mut parameters = inside.expect(SEQUENCE)?.inside();
    let salt = parameters.expect(OCTETS)?.octets()?;
    let iterations = iterations(&parameters.expect(INTEGER)?)?;
    let hash = &digest::SHA1_FOR_LEGACY_USE_ONLY;
    let bytes = |purpose, length| derive(hash, purpose, &secret.unicode, &salt, iterations, length);
    let iv = bytes(Purpose::Iv, 8);
    let mut buffer = Zeroizing::new(encrypted.to_vec());
    let wrong = |_| Pkcs12Error::Passphrase;
    let length = match kind {
        // Triple-DES with three keys, and with two.
        3 | 4 => {
            let mut key = bytes(Purpose::Key, if *kind == 3 { 24 } else { 16 });
            let more = 24 - key.len();
            key.extend_from_within(..more);
            let cipher = cbc::Decryptor::<des::TdesEde3>::new_from_slices(&key, &iv);
            let cipher = cipher.map_err(|_| Pkcs12Error::Malformed)?;
            cipher.decrypt_padded::<Pkcs7>(&mut buffer).map_err(wrong)?.len()
        }
        // RC2 with 128 bits, and with 40.
        5 | 6 => {
            let bits = if *kind == 5 { 128 } else { 40 };
            let cipher = rc2::Rc2::new_with_eff_key_len(&bytes(Purpose::Key, bits / 8), bits);
            let cipher = cbc::Decryptor::inner_iv_slice_init(cipher, &iv);
            let cipher = cipher.map_err(|_| Pkcs12Error::Malformed)?;
            cipher.decrypt_padded::<Pkcs7>(&mut buffer).map_err(wrong)?.len()
        }
        _ => return Err(Pkcs12Error::Unsupported),
    };
    buffer.truncate(length);
    sequence(buffer)
}

/// Returns the plaintext if it is a sequence and nothing else. A wrong passphrase may yield valid
/// padding, but never this.
fn sequence(plain: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>, Pkcs12Error> {
    let mut elements = Elements::new(&plain);
    let first = elements.expect(SEQUENCE);
    match (first, elements.next()) {
        (Ok(_), Ok(None)) => Ok(plain),
        _ => Err(Pkcs12Error::Passphrase),
    }
}

/// The `localKeyId` of a bag, which joins a key to its certificate.
type LocalKeyId = Option<Vec<u8>>;

/// The keys and certificates found so far.
#[derive(Default)]
struct Bags {
    keys: Vec<(Zeroizing<Vec<u8>>, LocalKeyId)>,
    certificates: Vec<(CertificateDer<'static>, LocalKeyId)>,
}

impl Bags {
    /// Adds the bags of `SafeContents`.
    fn add(&mut self, contents: &[u8], secret: &Secret, depth: u8) -> Result<(), Pkcs12Error> {
        let mut bags = Elements::new(contents).expect(SEQUENCE)?.inside();
        while let Some(bag) = bags.next()? {
            let mut inside = bag.inside();
            let kind = inside.expect(OID)?.contents;
            let value = inside.expect(CONTEXT_0)?;
            let id = match inside.next()? {
                Some(attributes) => local_key_id(&attributes)?,
                None => None,
            };
            match kind.strip_prefix(BAGS) {
                // A private key in the clear, and one under the passphrase.
                Some([1]) => self.keys.push((Zeroizing::new(value.contents.to_vec()), id)),
                Some([2]) => {
                    let mut inside = value.inside().expect(SEQUENCE)?.inside();
                    let scheme = inside.expect(SEQUENCE)?;
                    let encrypted = inside.expect(OCTETS)?.octets()?;
                    self.keys.push((decrypt(&scheme, &encrypted, secret)?, id));
                }
                Some([3]) => {
                    let mut inside = value.inside().expect(SEQUENCE)?.inside();
                    if inside.expect(OID)?.contents == X509 {
                        let string = inside.expect(CONTEXT_0)?.inside().next()?;
                        let der = string.ok_or(Pkcs12Error::Malformed)?.octets()?;
                        self.certificates.push((CertificateDer::from(der.to_vec()), id));
                    }
                }
                // Bags in a bag.
                Some([6]) if depth < MAX_DEPTH => self.add(value.contents, secret, depth + 1)?,
                // Lists of revoked certificates, and secrets of other programs.
                _ => {}
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Pkcs12, Pkcs12Error> {
        if self.keys.is_empty() || self.certificates.is_empty() {
            return Err(Pkcs12Error::Incomplete);
        }
        let (key, id) = self.keys.swap_remove(0);
        let same = |(_, other): &(_, LocalKeyId)| id.is_some() && *other == id;
        let at = self.certificates.iter().position(same).unwrap_or(0);
        let (certificate, _) = self.certificates.remove(at);
        let authorities = self.certificates.into_iter().map(|(der, _)| der).collect();
        let key = PrivatePkcs8KeyDer::from(key.to_vec()).into();
        Ok(Pkcs12 { own: Credentials { chain: vec![certificate], key }, authorities })
    }
}

/// Returns the `localKeyId` of a set of attributes.
fn local_key_id(attributes: &Element<'_>) -> Result<LocalKeyId, Pkcs12Error> {
    let mut all = attributes.inside();
    while let Some(attribute) = all.next()? {
        let mut inside = attribute.inside();
        if inside.expect(OID)?.contents == LOCAL_KEY_ID {
            let values = inside.next()?.ok_or(Pkcs12Error::Malformed)?;
            return Ok(Some(values.inside().expect(OCTETS)?.contents.to_vec()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn openssl(directory: &Path, line: &str) {
        let mut command = Command::new("openssl");
        let output = command.args(line.split(' ')).current_dir(directory).output().unwrap();
        assert!(output.status.success(), "openssl {line}: {output:?}");
    }

    /// Makes a file with an authority, a certificate and its key, and returns it with the DER of
    /// the certificate, the authority and the key.
    fn file(directory: &Path, how: &str) -> (Vec<u8>, [Vec<u8>; 3]) {
        let line =
            format!("pkcs12 -export {how} -in own.crt -inkey own.key -certfile ca.crt -out x");
        openssl(directory, &line);
        let read = |name: &str| std::fs::read(directory.join(name)).unwrap();
        (read("x"), [read("own.der"), read("ca.der"), read("key.der")])
    }

    fn materials() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let ec = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        for line in [
            format!("req -x509 {ec} -keyout ca.key -out ca.crt -subj /CN=A"),
            format!("req -x509 {ec} -keyout own.key -out own.crt -subj /CN=B"),
            "x509 -in own.crt -outform DER -out own.der".into(),
            "x509 -in ca.crt -outform DER -out ca.der".into(),
            "pkcs8 -topk8 -nocrypt -in own.key -outform DER -out key.der".into(),
        ] {
            openssl(directory.path(), &line);
        }
        directory
    }

    #[test]
    fn files_of_openssl_are_opened() {
        let materials = materials();
        for how in [
            "-passout pass:",
            "-passout pass:right",
            "-passout pass:r\u{e4}ght\u{1F600}",
            "-passout pass:right -macalg sha512 -keypbe AES-128-CBC -certpbe AES-256-CBC",
            "-passout pass:right -macalg sha1 -iter 1",
            "-passout pass:right -nomac",
            "-passout pass:right -keypbe NONE -certpbe NONE",
            "-passout pass:right -legacy",
            "-passout pass:right -legacy -descert -macalg sha384",
            "-passout pass:right -legacy -keypbe PBE-SHA1-2DES -certpbe PBE-SHA1-RC2-128",
            "-passout pass: -legacy",
        ] {
            let (der, [own, ca, key]) = file(materials.path(), how);
            let passphrase = how.split("pass:").nth(1).unwrap().split(' ').next().unwrap();
            let opened = Pkcs12::open(&der, Some(passphrase)).unwrap_or_else(|error| {
                panic!("{how}: {error}");
            });
            assert_eq!(opened.own.chain[0].as_ref(), own, "{how}");
            assert_eq!(opened.own.key.secret_der(), key, "{how}");
            assert_eq!(opened.authorities[0].as_ref(), ca, "{how}");
            assert_eq!(Pkcs12::needs_passphrase(&der).unwrap(), !passphrase.is_empty(), "{how}");
            let wrong = Pkcs12::open(&der, Some("wrong"));
            assert_eq!(wrong.unwrap_err(), Pkcs12Error::Passphrase, "{how}");
        }
    }

    #[test]
    fn damaged_files_are_errors() {
        let materials = materials();
        let (der, _) = file(materials.path(), "-passout pass: -iter 1");
        for length in 0..der.len() {
            assert!(Pkcs12::open(&der[..length], None).is_err(), "{length}");
        }
        for byte in 0..der.len() {
            let mut changed = der.clone();
            changed[byte] ^= 1;
            // A change beside what the MAC covers may go unnoticed, but causes no panic.
            drop(Pkcs12::open(&changed, None));
        }
        openssl(materials.path(), "pkcs12 -export -nokeys -in ca.crt -passout pass: -out x");
        let der = std::fs::read(materials.path().join("x")).unwrap();
        assert_eq!(Pkcs12::open(&der, None).unwrap_err(), Pkcs12Error::Incomplete);
        assert_eq!(Pkcs12::open(b"-----BEGIN", None).unwrap_err(), Pkcs12Error::Malformed);
    }
}
