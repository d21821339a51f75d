//! Backups: all objects of a keystore, sealed for the holder of a backup key. The holder is
//! another, empty keystore, or a quorum of custodians.
//!
//! A backup is a header and then chunks. The header is the letters `cycloid-backup`, the format as
//! two bytes, little-endian, and an ephemeral public key. Each chunk has 64 KiB, or fewer at the
//! end, followed by a tag of AES-256-GCM-SIV (RFC 8452). The key is HKDF-SHA-256 (RFC 5869) of the
//! X25519 (RFC 7748) shared secret of the ephemeral key and the backup key. A chunk's nonce is its
//! number, eight bytes, little-endian, then three zeros, then whether it is the last: so chunks
//! cannot be reordered, and a truncation is detected.
//!
//! The chunks contain the number of objects, the objects, the number of values that serve keys, and
//! the digests of these values (`serves_keys`). Older backups end after the objects. If weak
//! operations are allowed (`legacy`), their set follows, as four bytes, little-endian.

mod share;

use std::fmt;
use std::str::FromStr;

use cycloid::scheme::x25519::PrivateKey;
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::database::Access;
use super::encoding::{Malformed, Value};
use super::hex;
use super::keystore::Store;
use super::manifest::View;
use super::read::Rows;
use super::record::SealedRecord;
use super::seal::{FORMAT, Key, NONCE, TAG, open_in_place, random, seal_in_place};
use super::session::Session;
use crate::attribute::Template;
use crate::legacy::Allowed;
use crate::rpc::Secret;
use crate::{Code, Error, Result};
pub use share::Share;

/// The recipient of a backup: an X25519 public key. As text: 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupKey(pub [u8; 32]);

impl fmt::Display for BackupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for BackupKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let malformed =
            || Code::ARGUMENTS_BAD.because("a backup key must have 64 hexadecimal digits");
        hex::decode(text.trim()).map(Self).ok_or_else(malformed)
    }
}

/// The private key that opens backups made for its [`BackupKey`].
#[derive(Debug)]
pub struct BackupPrivateKey(PrivateKey);

impl BackupPrivateKey {
    /// Generates a key.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`] if the system provides no random bytes.
    pub fn generate() -> Result<Self> {
        Ok(Self(PrivateKey::from(*Zeroizing::new(random()?))))
    }

    /// Returns the public key.
    pub fn public(&self) -> BackupKey {
        BackupKey(self.0.public_key())
    }
}

/// The setting that contains the keystore's own private key.
const SETTING: &str = "backup-key";
/// The length of a chunk in bytes, without its tag.
const CHUNK: usize = 64 << 10;
const MAGIC: &[u8; 14] = b"cycloid-backup";
const HEADER: usize = MAGIC.len() + 2 + 32;

fn unsound() -> Error {
    Code::ENCRYPTED_DATA_INVALID
        .because("the backup is corrupt or truncated, or was made for another key")
}

impl Store {
    /// Returns the keystore's own private backup key, which the first call generates.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn backup_private_key(&self) -> Result<BackupPrivateKey> {
        if self.setting(SETTING)?.is_none() {
            let new = BackupPrivateKey::generate()?;
            self.write(|write| match write.session.setting(SETTING)? {
                Some(_) => Ok(()),
                None => write.set_setting(SETTING, new.0.as_bytes()),
            })?;
        }
        let bytes = Zeroizing::new(self.setting(SETTING)?.unwrap_or_default());
        let bytes = <[u8; 32]>::try_from(&bytes[..]).map(Zeroizing::new).map_err(|_| unsound())?;
        Ok(BackupPrivateKey(PrivateKey::from(*bytes)))
    }

    /// Returns the public half of [`backup_private_key`](Self::backup_private_key), for which
    /// backups for this keystore are made.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn backup_key(&self) -> Result<BackupKey> {
        Ok(self.backup_private_key()?.public())
    }

    /// Returns all objects, verified as by [`load`](Self::load), and sealed for `to`.
    ///
    /// # Errors
    /// [`Code::PUBLIC_KEY_INVALID`] for a key of low order, whose shared secrets can be guessed;
    /// [`Code::DEVICE_ERROR`].
    pub fn backup(&self, to: &BackupKey) -> Result<Vec<u8>> {
        let mut sealing = Sealing::new(to)?;
        let mut session = Session::begin(self, Access::Read)?;
        let mut view = View::new(session.manifest.generation);
        Rows::read(&mut session, None)?.enter(&mut view).for_each(drop);
        view.compare(&session.manifest)?;

        let serve_keys = session.values_that_serve_keys()?;
        let allowed = session.allowed()?;
        let Session { mut transaction, keys, manifest } = session;
        sealing.write(8, |to| manifest.total.counts.records.write(to))?;
        transaction.query(SealedRecord::SELECT, &[], |row| {
            let row = SealedRecord::from_row(row)?;
            let record = row.open(&keys)?;
            let secret = row.secret(&keys)?.map(Secret);
            sealing.write(row.length(), |to| {
                record.attributes.write(to);
                secret.write(to);
            })
        })?;
        sealing.write(8 + 32 * serve_keys.len() + 4, |to| {
            (serve_keys.len() as u64).write(to);
            serve_keys.iter().for_each(|value| to.extend_from_slice(&**value));
            if allowed != Allowed::NONE {
                to.extend_from_slice(&allowed.bits().to_le_bytes());
            }
        })?;
        sealing.finish()
    }

    /// Restores all objects of a backup, or none, with new numbers, and returns their count. The
    /// keystore must be empty. The transaction writes a line of `who` to the audit log.
    ///
    /// # Errors
    /// [`Code::ENCRYPTED_DATA_INVALID`] if the backup was truncated, changed, or made for another
    /// key; [`Code::ACTION_PROHIBITED`] if there are objects; [`Code::DEVICE_ERROR`].
    pub fn restore(&self, backup: &[u8], key: &BackupPrivateKey, who: &str) -> Result<u64> {
        let text = open(backup, key)?;
        let mut from = text.as_slice();
        let malformed = |Malformed| unsound();
        self.write(|write| {
            if write.session.manifest.total.counts.records != 0 {
                let text = "a backup can only be restored into an empty keystore";
                return Err(Code::ACTION_PROHIBITED.because(text));
            }
            let count = u64::read(&mut from).map_err(malformed)?;
            for _ in 0..count {
                let attributes = Template::read(&mut from).map_err(malformed)?;
                let secret = Option::<Secret>::read(&mut from).map_err(malformed)?;
                write.insert((&attributes, secret.as_deref()))?;
            }
            // A backup of an older version ends here.
            if !from.is_empty() {
                let count = u64::read(&mut from).map_err(malformed)?;
                let (values, rest) = from.as_chunks::<32>();
                if values.len() as u64 != count {
                    return Err(unsound());
                }
                values.iter().try_for_each(|value| write.serve_keys_as_in_backup(value))?;
                write.allow_as_in_backup(allowed(rest).ok_or_else(unsound)?, who)?;
            }
            write.audit(who, &format!("{count} objects were restored from a backup"))?;
            Ok(count)
        })
    }
}

/// Reads the weak operations that the backup's keystore allowed: nothing, or a set that is not
/// empty and has no unknown member.
fn allowed(rest: &[u8]) -> Option<Allowed> {
    if rest.is_empty() {
        return Some(Allowed::NONE);
    }
    let bits = u32::from_le_bytes(rest.try_into().ok()?);
    let allowed = Allowed::from_bits(bits);
    (bits != 0 && allowed.bits() == bits).then_some(allowed)
}

/// Derives the key of a backup with this header.
fn derive(
    header: &[u8],
    private: &PrivateKey,
    theirs: &[u8; 32],
    recipient: &BackupKey,
) -> Option<Zeroizing<Key>> {
    let shared = private.agree(theirs).ok()?;
    let mut key = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(None, shared.as_bytes())
        .expand_multi_info(&[header, &recipient.0], &mut *key)
        .expect("32 bytes are not too many");
    Some(key)
}

fn nonce(number: u64, last: bool) -> [u8; NONCE] {
    let mut nonce = [0; NONCE];
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    nonce[NONCE - 1] = last.into();
    nonce
}

/// An encoder that seals what is written, chunk by chunk.
struct Sealing {
    key: Zeroizing<Key>,
    sealed: Vec<u8>,
    /// The data not yet sealed: at most one chunk, or two while data is added.
    text: Zeroizing<Vec<u8>>,
    chunks: u64,
}

impl Sealing {
    fn new(to: &BackupKey) -> Result<Self> {
        let ephemeral = BackupPrivateKey::generate()?;
        let mut sealed = Vec::with_capacity(HEADER);
        sealed.extend_from_slice(MAGIC);
        sealed.extend_from_slice(&FORMAT.to_le_bytes());
        sealed.extend_from_slice(&ephemeral.public().0);
        let key = derive(&sealed, &ephemeral.0, &to.0, to).ok_or(Code::PUBLIC_KEY_INVALID)?;
        let text = Zeroizing::new(Vec::with_capacity(2 * CHUNK));
        Ok(Self { key, sealed, text, chunks: 0 })
    }

    /// Seals what `write` appends, at most `length` bytes. The bound matters: a vector that grows
    /// leaves a copy of its contents.
    fn write(&mut self, length: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let mut more = Zeroizing::new(Vec::with_capacity(length));
        write(&mut more);
        for part in more.chunks(CHUNK) {
            self.text.extend_from_slice(part);
            if self.text.len() > CHUNK {
                self.seal(CHUNK, false)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>> {
        self.seal(self.text.len(), true)?;
        Ok(self.sealed)
    }

    /// Seals the first `length` bytes.
    fn seal(&mut self, length: usize, last: bool) -> Result<()> {
        let chunk = &mut self.text[..length];
        let tag = seal_in_place(&self.key, &nonce(self.chunks, last), &[], chunk)?;
        self.sealed.extend_from_slice(chunk);
        self.sealed.extend_from_slice(&tag);
        self.text.drain(..length);
        self.chunks += 1;
        Ok(())
    }
}

/// Returns the sealed data, if it is complete and authentic.
fn open(backup: &[u8], key: &BackupPrivateKey) -> Result<Zeroizing<Vec<u8>>> {
    let (header, sealed) = backup.split_at_checked(HEADER).ok_or_else(unsound)?;
    let (magic, ephemeral) = header.split_at(HEADER - 32);
    if magic != [MAGIC.as_slice(), &FORMAT.to_le_bytes()].concat() {
        return Err(
            Code::ENCRYPTED_DATA_INVALID.because("not a backup, or of an unsupported format")
        );
    }
    let ephemeral = ephemeral.try_into().expect("32 bytes are left of the header");
    let key = derive(header, &key.0, ephemeral, &key.public()).ok_or_else(unsound)?;
    let mut text = Zeroizing::new(Vec::with_capacity(sealed.len()));
    let chunks = sealed.chunks(CHUNK + TAG);
    let count = chunks.len() as u64;
    for (number, chunk) in (0..).zip(chunks) {
        let (chunk, tag) = chunk.split_last_chunk().ok_or_else(unsound)?;
        let begin = text.len();
        text.extend_from_slice(chunk);
        let nonce = nonce(number, number + 1 == count);
        open_in_place(&key, &nonce, &[], &mut text[begin..], tag).ok_or_else(unsound)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::attribute::cka;
    use crate::store::{Cost, Unlocking, Write};

    #[test]
    fn a_set_is_known_or_refused() {
        let bits = Allowed::EVERY.bits();
        assert_eq!(allowed(&[]), Some(Allowed::NONE));
        assert_eq!(allowed(&bits.to_le_bytes()), Some(Allowed::EVERY));
        let (empty, unknown) = (0u32.to_le_bytes(), (bits + 1).to_le_bytes());
        for malformed in [&empty[..], &unknown, &[0xff; 4], &[1], &[1, 0, 0], &[1, 0, 0, 0, 0]] {
            assert_eq!(allowed(malformed), None);
        }
    }

    /// Anyone with the public half of a backup key can make a backup for it, so its contents are as
    /// untrusted as its envelope.
    #[test]
    fn a_malformed_backup_by_a_stranger_is_restored_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("keys.db").display());
        let store = Store::create_with_cost(&url, &Unlocking::passphrase(b"x"), Cost::LOWEST);
        let store = store.unwrap();
        let key = store.backup_private_key().unwrap();
        let counts = prop_oneof![0..4_u64, any::<u64>()];
        let rests = prop_oneof![Just(vec![]), any::<Vec<u8>>()];
        proptest!(|(count in counts, records in 0..4_u64, class in any::<u64>(), rest in rests)| {
            let mut sealing = Sealing::new(&key.public()).unwrap();
            let mut attributes = Template::new();
            attributes.set_number(cka::CLASS, class);
            let write = |to: &mut Vec<u8>| {
                count.write(to);
                for _ in 0..records {
                    attributes.write(to);
                    Some(Secret::new(b"secret")).write(to);
                }
                to.extend_from_slice(&rest);
            };
            sealing.write(256 + rest.len(), write).unwrap();
            let restored = store.restore(&sealing.finish().unwrap(), &key, "test");
            let (_, found) = store.load().unwrap();
            if count == records && rest.is_empty() {
                prop_assert_eq!(&restored, &Ok(records));
            }
            // By chance, random bytes after the announced records are a valid end of a backup.
            match restored {
                Ok(objects) => {
                    prop_assert_eq!(objects, count);
                    prop_assert_eq!(found.len() as u64, objects);
                    store.write(|write: &mut Write<'_>| write.clear()).unwrap();
                }
                Err(refusal) => {
                    let refusals = [Code::ENCRYPTED_DATA_INVALID, Code::TEMPLATE_INCOMPLETE];
                    prop_assert!(refusals.contains(&refusal.code));
                    prop_assert!(found.is_empty());
                }
            }
        });
    }
}
