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
//! | `NAME.crt` | the certificate of a key that is in a token, and not in the profile |
//! | `index` | one line for each certificate, separated by tabs: serial number, `server` or `client`, name, and time of revocation or `-` |
//!
//! Key files are readable by their owner only. Existing files are never overwritten.
//!
//! Source: RFC 5280.

mod certificate;
mod error;
mod key;
mod profile;
mod public_key;
mod random;
#[cfg(test)]
mod tests;

pub use error::Error;
pub use key::KeyKind;
pub use profile::{ClientSettings, InToken, PeerKey, ServerSettings};
pub use public_key::PublicKey;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use x509_cert::Certificate;
use x509_cert::der::DecodePem;
use x509_cert::name::Name;
use zeroize::Zeroizing;

use crate::proto::Role;
use crate::proto::wrap::ServerKey;
use certificate::{Draft, Issuer, Purpose};
use key::Key;
use random::{no_random, random};

const DAY: u64 = 86400;
/// Lifetime of a revocation list in days; servers refuse all clients once it has expired.
const CRL_DAYS: u64 = 3650;
/// The longest name, in bytes (RFC 5280, ub-common-name).
const MAX_NAME: usize = 64;

/// An authority and its directory.
pub struct Authority {
    directory: PathBuf,
    issuer: Issuer,
    /// `ca.crt`.
    certificate: String,
}

/// A certificate and its key.
pub(crate) struct Issued {
    /// The certificate in PEM.
    pub(crate) certificate: String,
    /// The key as PKCS #8 in PEM, unless it is in a token.
    pub(crate) key: Option<Zeroizing<String>>,
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
        if directory.join("ca.key").exists() {
            let message = format!("an authority exists already in {}", directory.display());
            return Err(Error::new(
                message,
                "`pki server` and `pki client` use it; --directory names another place",
            ));
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(|error| cannot("make", directory, &error))?;
        let key = Key::generate(kind)?;
        let certificate = draft(name, unix, days, Purpose::Authority)?.sign_own(&key)?;
        let mut failed = None;
        let server_key = ServerKey::generate(&mut |bytes| failed = failed.or(random(bytes).err()));
        if let Some(error) = failed {
            return Err(no_random(error));
        }
        let (key, server_key) = (key.to_pem(), server_key.to_text());
        let mut made = Vec::new();
        // The key is written first: without it there is no authority, and its presence prevents a
        // second one.
        let files = [
            ("ca.key", key.as_bytes(), 0o600),
            ("ca.crt", certificate.as_bytes(), 0o644),
            ("tls-crypt-v2.key", server_key.as_bytes(), 0o600),
            ("index", b"", 0o600),
        ];
        let written = files.into_iter().try_for_each(|(file, bytes, mode)| {
            let path = directory.join(file);
            write_new(&path, bytes, mode).map(|()| made.push(path))
        });
        let authority = written.and_then(|()| {
            let authority = Self::open(directory)?;
            authority.write_revoked(&[], unix).map(|()| authority)
        });
        authority.inspect_err(|_| {
            // Half an authority is only in the way.
            for path in made.iter().rev() {
                let _ = fs::remove_file(path);
            }
        })
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
        let key = Key::from_pem(&key).ok_or_else(broken)?;
        let issuer = Issuer::new(&parsed, key).ok_or_else(|| {
            let message = format!("ca.key and ca.crt in {} are not a pair", directory.display());
            Error::new(message, "restore both from a backup")
        })?;
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

    /// Issues a certificate for a server or client, with its key unless that is in a token, and
    /// records it in the index.
    pub(crate) fn issue(
        &self,
        role: Role,
        name: &str,
        key: &PeerKey,
        unix: u64,
        days: u32,
    ) -> Result<Issued, Error> {
        check_name(name)?;
        let mut entries = self.entries()?;
        if entries.iter().any(|entry| entry.name == name && entry.revoked.is_none()) {
            let hint = "choose another name, or revoke that one first";
            return Err(Error::new(format!("{name} already has a certificate"), hint));
        }
        let (public, key) = match key {
            PeerKey::New(kind) => {
                let key = Key::generate(*kind)?;
                let public = key.public_key().ok_or_else(certificate::unusable)?;
                (PublicKey::new(public)?, Some(key.to_pem()))
            }
            PeerKey::InToken(token) => (token.public_key.clone(), None),
        };
        // For TLS 1.2 key transport without Diffie-Hellman; peers check it with remote-cert-ku.
        let encipherment = role == Role::Server && public.is_rsa();
        let draft = draft(name, unix, days, Purpose::Peer { role, encipherment })?;
        let certificate = draft.sign(public.info(), &self.issuer)?;
        entries.push(Entry {
            serial: base16ct::lower::encode_string(&draft.serial),
            role,
            name: name.to_owned(),
            revoked: None,
        });
        self.write_entries(&entries)?;
        Ok(Issued { certificate, key })
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

    /// Removes a certificate from the index that was not stored anywhere else.
    fn withdraw(&self, name: &str) -> Result<(), Error> {
        let mut entries = self.entries()?;
        entries.retain(|entry| entry.name != name || entry.revoked.is_some());
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
        let mut revoked = Vec::new();
        for entry in entries {
            let Some(time) = entry.revoked else { continue };
            let serial = base16ct::lower::decode_vec(&entry.serial);
            let serial = serial.map_err(|_| {
                Error::new(
                    "a serial number in the index is malformed",
                    "restore index from a backup",
                )
            })?;
            revoked.push((serial, time));
        }
        let text = self.issuer.sign_list(&revoked, (unix, unix + CRL_DAYS * DAY))?;
        replace(&self.directory.join("crl.pem"), text.as_bytes(), 0o644)
    }
}

fn draft(name: &str, unix: u64, days: u32, purpose: Purpose) -> Result<Draft, Error> {
    let mut serial = [0; 16];
    random(&mut serial).map_err(no_random)?;
    // Positive and of constant length.
    serial[0] = serial[0] & 0x3F | 0x40;
    // A valid name has no character with a meaning in this text.
    let subject: Name = format!("CN={name}").parse()?;
    let valid = (unix.saturating_sub(DAY), unix + u64::from(days) * DAY);
    Ok(Draft { serial, subject, valid, purpose })
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

/// Creates a file and syncs it to disk. Fails if it exists; leaves no half-written file.
pub(super) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let written = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = written.and_then(|mut file| {
        file.write_all(bytes).and_then(|()| file.sync_all()).inspect_err(|_| {
            let _ = fs::remove_file(path);
        })
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
        fs::rename(&beside, path)?;
        // Syncing the directory makes the rename durable.
        path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
    });
    let written = written.inspect_err(|_| {
        let _ = fs::remove_file(&beside);
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
