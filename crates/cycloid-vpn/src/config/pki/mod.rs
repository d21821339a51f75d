//! A small certificate authority in a directory. It creates self-contained profiles for OpenVPN and
//! Cycloid.
//!
//! | file | holds |
//! |---|---|
//! | `ca.crt`, `ca.key` | the authority; the key can sign clients and must stay secret |
//! | `crl.pem` | the list of revoked certificates, signed again at each revocation |
//! | `tls-crypt-v2.key` | the server key that unwraps the clients' keys |
//! | `server.conf`, `NAME.conf` | server profiles with all their keys |
//! | `NAME.ovpn` | client profiles with all their keys |
//! | `index` | one line for each certificate, separated by tabs: serial number, `server` or `client`, name, and time of revocation or `-` |
//!
//! Key files are readable by their owner only. Existing files are never overwritten.
//!
//! Source: RFC 5280.

mod profile;
#[cfg(test)]
mod tests;

pub use profile::{ClientSettings, ServerSettings};

use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DistinguishedName,
    DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose,
    RevocationReason, RevokedCertParams, SerialNumber,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use time::OffsetDateTime;
use x509_cert::Certificate;
use x509_cert::der::DecodePem;
use zeroize::{Zeroize, Zeroizing};

use crate::proto::Role;
use crate::proto::wrap::ServerKey;

const DAY: u64 = 86400;
/// Lifetime of a revocation list in days; servers refuse all clients once it has expired.
const CRL_DAYS: u64 = 3650;
/// The longest name, in bytes (RFC 5280, ub-common-name).
const MAX_NAME: usize = 64;

/// An error of the authority.
#[derive(Debug)]
pub struct Error {
    message: String,
    hint: &'static str,
}

impl Error {
    fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self { message: message.into(), hint }
    }

    /// Returns the next step for the user.
    pub fn hint(&self) -> &'static str {
        self.hint
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<rcgen::Error> for Error {
    fn from(error: rcgen::Error) -> Self {
        Self::new(
            format!("cannot create the certificate: {error}"),
            "choose another kind of key, or another name",
        )
    }
}

/// The kind of an authority's or peer's key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// ECDSA on P-256 with SHA-256.
    #[default]
    P256,
    /// Ed25519, for peers with OpenSSL 1.1.1 and later.
    Ed25519,
    /// RSA with 2048 bits and SHA-256, for old peers.
    Rsa2048,
}

impl KeyKind {
    fn generate(self) -> Result<KeyPair, Error> {
        let algorithm = match self {
            Self::P256 => &rcgen::PKCS_ECDSA_P256_SHA256,
            Self::Ed25519 => return ed25519(),
            Self::Rsa2048 => &rcgen::PKCS_RSA_SHA256,
        };
        Ok(KeyPair::generate_for(algorithm)?)
    }
}

/// Generates an Ed25519 key without the public key (RFC 8410, section 7): OpenSSL before 3.2 reads
/// no other form.
fn ed25519() -> Result<KeyPair, Error> {
    const HEAD: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    let mut der = Zeroizing::new([0; HEAD.len() + 32]);
    der[..HEAD.len()].copy_from_slice(&HEAD);
    random(&mut der[HEAD.len()..]).map_err(no_random)?;
    let key = PrivatePkcs8KeyDer::from(&der[..]);
    Ok(KeyPair::from_pkcs8_der_and_sign_algo(&key, &rcgen::PKCS_ED25519)?)
}

/// An authority and its directory.
pub struct Authority {
    directory: PathBuf,
    issuer: Issuer<'static, KeyPair>,
    /// `ca.crt`.
    certificate: String,
}

/// A certificate and its key.
pub(crate) struct Issued {
    /// The certificate in PEM.
    pub(crate) certificate: String,
    /// The key as PKCS #8 in PEM.
    pub(crate) key: Zeroizing<String>,
}

/// A line of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Serial number, 32 hexadecimal digits.
    pub serial: String,
    /// The role that the certificate is for.
    pub role: Role,
    /// The common name.
    pub name: String,
    /// Time of revocation in seconds since 1970; `None` if valid.
    pub revoked: Option<u64>,
}

impl Authority {
    /// Creates an authority in a directory, and the directory if needed. The authority is valid for
    /// `days` days from `unix`, in seconds since 1970.
    ///
    /// # Errors
    /// An existing authority, an unwritable directory, or an invalid `name`.
    pub fn create(
        directory: &Path,
        name: &str,
        kind: KeyKind,
        unix: u64,
        days: u32,
    ) -> Result<Self, Error> {
        check_name(name)?;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(|error| cannot("make", directory, &error))?;
        let mut key = kind.generate()?;
        let mut parameters = parameters(name, unix, days)?;
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = parameters.self_signed(&key)?.pem();
        let text = Zeroizing::new(key.serialize_pem());
        // The key is written first: without it there is no authority, and its presence prevents a
        // second one.
        write_new(&directory.join("ca.key"), text.as_bytes(), 0o600)?;
        write_new(&directory.join("ca.crt"), certificate.as_bytes(), 0o644)?;
        let mut failed = None;
        let server_key = ServerKey::generate(&mut |bytes| failed = failed.or(random(bytes).err()));
        if let Some(error) = failed {
            key.zeroize();
            return Err(no_random(error));
        }
        write_new(&directory.join("tls-crypt-v2.key"), server_key.to_text().as_bytes(), 0o600)?;
        write_new(&directory.join("index"), b"", 0o600)?;
        key.zeroize();
        let authority = Self::open(directory)?;
        authority.write_revoked(&[], unix)?;
        Ok(authority)
    }

    /// Opens an existing authority.
    ///
    /// # Errors
    /// Missing or invalid files.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let key = read(&directory.join("ca.key"))?;
        let certificate = read(&directory.join("ca.crt"))?.to_string();
        let broken = || {
            let message = format!("{} is not an authority created by cycloid", directory.display());
            Error::new(message, "create one with `cycloid-vpn pki init`")
        };
        let parsed = Certificate::from_pem(&certificate).map_err(|_| broken())?;
        let name = common_name(&parsed).ok_or_else(broken)?;
        let key = KeyPair::from_pem(&key).map_err(|_| broken())?;
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = distinguished_name(&name);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let issuer = Issuer::new(parameters, key);
        Ok(Self { directory: directory.to_owned(), issuer, certificate })
    }

    /// Returns all issued certificates.
    ///
    /// # Errors
    /// An unreadable or malformed index.
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        let path = self.directory.join("index");
        let broken =
            || Error::new(format!("{} is malformed", path.display()), "restore it from a backup");
        let text = read(&path)?;
        text.lines().map(|line| entry(line).ok_or_else(broken)).collect()
    }

    /// Issues a certificate and key for a server or client, and records it in the index.
    pub(crate) fn issue(
        &self,
        role: Role,
        name: &str,
        kind: KeyKind,
        unix: u64,
        days: u32,
    ) -> Result<Issued, Error> {
        check_name(name)?;
        let mut entries = self.entries()?;
        if entries.iter().any(|entry| entry.name == name && entry.revoked.is_none()) {
            let hint = "choose another name, or revoke that one first";
            return Err(Error::new(format!("{name} already has a certificate"), hint));
        }
        let mut key = kind.generate()?;
        let mut parameters = parameters(name, unix, days)?;
        parameters.use_authority_key_identifier_extension = true;
        parameters.is_ca = IsCa::ExplicitNoCa;
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        if role == Role::Server && kind == KeyKind::Rsa2048 {
            // For TLS 1.2 key transport without Diffie-Hellman; peers check it with remote-cert-ku.
            parameters.key_usages.push(KeyUsagePurpose::KeyEncipherment);
        }
        parameters.extended_key_usages = vec![match role {
            Role::Server => ExtendedKeyUsagePurpose::ServerAuth,
            Role::Client => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        let serial = parameters.serial_number.as_ref().map(SerialNumber::to_bytes);
        let certificate = parameters.signed_by(&key, &self.issuer)?.pem();
        let text = Zeroizing::new(key.serialize_pem());
        key.zeroize();
        entries.push(Entry {
            serial: base16ct::lower::encode_string(&serial.unwrap_or_default()),
            role,
            name: name.to_owned(),
            revoked: None,
        });
        self.write_entries(&entries)?;
        Ok(Issued { certificate, key: text })
    }

    /// Revokes the certificate of that name and signs a new revocation list. Servers read the list
    /// at the start and on SIGHUP.
    ///
    /// # Errors
    /// No valid certificate of that name, or an unwritable file.
    pub fn revoke(&self, name: &str, unix: u64) -> Result<(), Error> {
        let mut entries = self.entries()?;
        let good = |entry: &&mut Entry| entry.name == name && entry.revoked.is_none();
        let Some(entry) = entries.iter_mut().find(good) else {
            let message = format!("{name} has no valid certificate");
            return Err(Error::new(message, "`cycloid-vpn pki list` shows all certificates"));
        };
        entry.revoked = Some(unix);
        // The list is written first: if the index update fails, the revocation can be repeated.
        self.write_revoked(&entries, unix)?;
        self.write_entries(&entries)
    }

    fn write_entries(&self, entries: &[Entry]) -> Result<(), Error> {
        let mut text = String::new();
        for entry in entries {
            let role = if entry.role == Role::Server { "server" } else { "client" };
            let revoked = entry.revoked.map_or("-".to_owned(), |time| time.to_string());
            text.push_str(&format!("{}\t{role}\t{}\t{revoked}\n", entry.serial, entry.name));
        }
        replace(&self.directory.join("index"), text.as_bytes(), 0o600)
    }

    fn write_revoked(&self, entries: &[Entry], unix: u64) -> Result<(), Error> {
        let mut revoked_certs = Vec::new();
        for entry in entries {
            let Some(time) = entry.revoked else { continue };
            let serial = base16ct::lower::decode_vec(&entry.serial);
            let serial = serial.map_err(|_| {
                Error::new(
                    "a serial number in the index is malformed",
                    "restore index from a backup",
                )
            })?;
            revoked_certs.push(RevokedCertParams {
                serial_number: SerialNumber::from_slice(&serial),
                revocation_time: date(time),
                reason_code: Some(RevocationReason::Unspecified),
                invalidity_date: None,
            });
        }
        let list = CertificateRevocationListParams {
            this_update: date(unix),
            next_update: date(unix + CRL_DAYS * DAY),
            crl_number: SerialNumber::from(unix),
            issuing_distribution_point: None,
            revoked_certs,
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let text = list.signed_by(&self.issuer)?.pem()?;
        replace(&self.directory.join("crl.pem"), text.as_bytes(), 0o644)
    }
}

fn parameters(name: &str, unix: u64, days: u32) -> Result<CertificateParams, Error> {
    let mut serial = [0; 16];
    random(&mut serial).map_err(no_random)?;
    // Positive and of constant length.
    serial[0] = serial[0] & 0x3F | 0x40;
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = distinguished_name(name);
    parameters.serial_number = Some(SerialNumber::from_slice(&serial));
    parameters.not_before = date(unix.saturating_sub(DAY));
    parameters.not_after = date(unix + u64::from(days) * DAY);
    Ok(parameters)
}

fn distinguished_name(name: &str) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    subject
}

/// Returns the common name if the subject has exactly one.
fn common_name(certificate: &Certificate) -> Option<String> {
    use x509_cert::der::asn1::Utf8StringRef;
    let [relative] = &certificate.tbs_certificate.subject.0[..] else { return None };
    let attribute = relative.0.get(0)?;
    Some(attribute.value.decode_as::<Utf8StringRef<'_>>().ok()?.as_str().to_owned())
}

/// Returns the date `unix` seconds after 1970, capped at the end of 9999, the last date of a
/// certificate.
fn date(unix: u64) -> OffsetDateTime {
    let seconds = i64::try_from(unix).unwrap_or(i64::MAX).min(253_402_300_799);
    OffsetDateTime::from_unix_timestamp(seconds).expect("a year with four digits")
}

fn no_random(error: getrandom::Error) -> Error {
    Error::new(format!("cannot get random numbers: {error}"), "see getrandom(2)")
}

fn random(bytes: &mut [u8]) -> Result<(), getrandom::Error> {
    getrandom::fill(bytes)
}

/// Checks a name: it is used in file names, certificates and profiles.
fn check_name(name: &str) -> Result<(), Error> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@ ".contains(&byte);
    let edges = name.trim() == name && !name.starts_with(['.', '-']);
    if name.is_empty() || name.len() > MAX_NAME || !edges || !name.bytes().all(allowed) {
        return Err(Error::new(
            format!("invalid name '{name}'"),
            "use up to 64 letters, digits, spaces and -_.@, without a leading dot or hyphen",
        ));
    }
    Ok(())
}

fn entry(line: &str) -> Option<Entry> {
    let mut fields = line.split('\t');
    let entry = Entry {
        serial: fields.next()?.to_owned(),
        role: match fields.next()? {
            "server" => Role::Server,
            "client" => Role::Client,
            _ => return None,
        },
        name: fields.next()?.to_owned(),
        revoked: match fields.next()? {
            "-" => None,
            time => Some(time.parse().ok()?),
        },
    };
    fields.next().is_none().then_some(entry)
}

fn read(path: &Path) -> Result<Zeroizing<String>, Error> {
    let bytes = super::Material::File(path.to_owned()).read();
    let bytes = bytes.map_err(|error| cannot("read", path, &error))?;
    let text = str::from_utf8(&bytes).map_err(|_| {
        Error::new(format!("{} is not text", path.display()), "restore it from a backup")
    })?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// Creates a file and syncs it to disk. Fails if it exists.
pub(super) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let written = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = written.and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|error| cannot("write", path, &error))
}

/// Replaces a file atomically.
fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let beside = path.with_extension("part");
    let written =
        OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&beside);
    let written = written.and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        // Syncing the directory makes the rename durable.
        path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
    });
    written.map_err(|error| cannot("write", path, &error))
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::AlreadyExists => {
            "existing files are never overwritten: remove it first, or choose another"
        }
        io::ErrorKind::NotFound => "create an authority first with `cycloid-vpn pki init`",
        _ => "choose a writable directory",
    };
    Error::new(format!("cannot {what} {}: {error}", path.display()), hint)
}
