//! The keystore: sealed records in an SQL database that need not be trusted.
//!
//! # Keys
//!
//! *Slots* seal a root key, each by a passphrase, a key file, or both. The root key seals the
//! *keyring*: the keys of the audit log and the manifest, and the master key, which is the
//! key-encryption key of records and settings. An unlocked keyring exists only in locked memory.
//!
//! # Detection of tampering
//!
//! A record's attributes and its secret are sealed with AES-256-GCM-SIV, and bound to the keystore,
//! to each other and to the row's clear columns: number, version, class, flags, epoch of the key.
//! So every reader of a row detects a changed byte or a column from another row. The sealed
//! *manifest* contains the sum over all rows: [`Store::load`] detects missing, duplicate and
//! reverted rows. Once [`Store::load`] or [`Store::changes`] has read a row, every operation on it
//! compares it with what was read. If **the whole database** is reverted to an earlier state, a
//! running daemon detects it; a daemon that starts later can detect it only from a head of the
//! audit log that was exported before: [`Store::audit_verify`].
//!
//! An earlier copy of a database opens with whatever unlocked it at that time. If a passphrase
//! becomes known, changing it does not help against an attacker with such a copy, who learns the
//! root key from it: then make a new keystore, and restore a backup into it.
//!
//! # Several daemons
//!
//! Writers queue for a lock on the row of `keystore`. Each write makes a new *generation*, and
//! [`Store::changes`] returns what others have written since a given one.

mod audit;
mod backup;
mod database;
mod keyring;
mod manifest;
mod memory;
mod record;
mod seal;
mod slot;
#[cfg(test)]
pub(crate) mod tests;
mod unlocking;
mod violation;
mod write;

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use zeroize::Zeroizing;

use crate::{Code, Error, Result};
use database::{Access, Database, Value};
use keyring::Keyring;
use manifest::{Term, View};
use record::{SealedRecord, SealedSetting};
use seal::Identity;
use violation::{Name, Violation};
use write::Session;

pub use audit::{AuditEntry, AuditHead};
pub use backup::{BackupKey, BackupPrivateKey, Share};
pub use manifest::Generation;
pub use record::Record;
pub use slot::{Cost, KEY_FILE, Unlocking};
pub use write::{New, Write};

/// A keystore, locked or unlocked, for use by any number of threads.
pub struct Store {
    database: Database,
    identity: Identity,
    keys: RwLock<Option<Arc<Keyring>>>,
    /// Held while the database is written or the view changes.
    writer: Mutex<()>,
    view: RwLock<Option<View>>,
}

/// Shows the location and whether it is locked.
impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = if self.is_locked() { "locked" } else { "unlocked" };
        write!(f, "Store({}, {state})", self.database)
    }
}

impl Store {
    /// Returns every object, after verifying each one and the completeness of the set.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`] if the keystore is locked, or was tampered with: then `detail` names
    /// the violation.
    pub fn load(&self) -> Result<(Generation, Vec<Record>)> {
        let _one = self.writer();
        let mut session = Session::begin(self, Access::Read)?;
        session.verify_keyring()?;
        let mut view = View::new(session.manifest.generation);
        let rows = Rows::read(&mut session, None)?;
        let records = rows.enter(&mut view).map(|(_, record)| record).collect();
        view.compare(&session.manifest)?;
        *self.view_mut() = Some(view);
        Ok((session.manifest.generation, records))
    }

    /// Returns what any daemon has written since a generation: records that were inserted, updated
    /// or re-sealed, and the numbers of deleted records.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn changes(&self, since: Generation) -> Result<(Generation, Vec<Record>, Vec<u64>)> {
        if self.view().is_none() {
            self.load()?;
        }
        let _one = self.writer();
        let mut session = Session::begin(self, Access::Read)?;
        let now = session.manifest.generation;
        if since > now {
            return Err(Violation::Rollback.into());
        }
        let seen = self.view().as_ref().map_or(since, |view| view.generation);
        let from = since.min(seen);
        let rows = Rows::read(&mut session, Some(from))?;
        let select = "SELECT id, generation FROM deletions WHERE generation > $1 ORDER BY id";
        let deleted = session.transaction.all(select, &[Value::number(from.0)], |mut row| {
            Ok((row.number()?, Generation(row.number()?)))
        })?;

        let mut view = self.view_mut();
        let view = view.as_mut().expect("the view was loaded and stays");
        deleted.iter().for_each(|(id, _)| view.set(Name::Record(*id), None));
        let records = rows.enter(view).filter(|(generation, _)| *generation > since);
        let records = records.map(|(_, record)| record).collect();
        view.generation = now;
        view.compare(&session.manifest)?;
        let deleted = deleted.into_iter().filter(|(_, generation)| *generation > since);
        Ok((now, records, deleted.map(|(id, _)| id).collect()))
    }

    /// Returns the secret of an object.
    ///
    /// # Errors
    /// [`Code::OBJECT_HANDLE_INVALID`]; [`Code::KEY_HANDLE_INVALID`] if it has none.
    pub fn secret(&self, id: u64) -> Result<Zeroizing<Vec<u8>>> {
        let name = Name::Record(id);
        let (row, keys) = self.read_seen(&name, |session| {
            let row = session.record(id)?;
            let seen = row.as_ref().map(|row| (row.place.generation, row.term(&session.keys)));
            Ok((row, seen))
        })?;
        let row = row.ok_or(Code::OBJECT_HANDLE_INVALID)?;
        row.open(&keys)?;
        row.secret(&keys)?
            .ok_or_else(|| Code::KEY_HANDLE_INVALID.because("the object has no secret"))
    }

    /// Returns the value of a setting.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn setting(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let (row, keys) = self.read_seen(&Name::Setting(name.to_owned()), |session| {
            let row = session.setting(name)?;
            let seen = row.as_ref().map(|row| (row.generation, row.term(&session.keys)));
            Ok((row, seen))
        })?;
        Ok(row.map(|row| row.open(&keys)).transpose()?.map(|value| value.to_vec()))
    }

    /// Makes a new master key, and re-seals all records and settings under it, in several
    /// transactions, while others read and write. An interrupted rotation is resumed by the next
    /// call. The first and the last transaction each write a line of `who` to the audit log.
    /// Returns the number of re-sealed rows.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn rotate_master_key(&self, who: &str) -> Result<u64> {
        let mut sealed = self.rotation_step(who, true, 0)?.unwrap_or_default();
        while let Some(more) = self.rotation_step(who, false, sealed)? {
            sealed += more;
        }
        Ok(sealed)
    }

    /// Runs one transaction of a rotation; with `first`, it starts or resumes the rotation. Returns
    /// `None` after the last one.
    fn rotation_step(&self, who: &str, first: bool, sealed: u64) -> Result<Option<u64>> {
        self.write(|write| {
            let keys = write.session.keys.clone();
            if first {
                write.audit(who, "rotation of the master key started")?;
                if !keys.is_rotating() {
                    write.set_keyring(keys.with_new_master()?);
                    return Ok(Some(0));
                }
            }
            if !keys.is_rotating() {
                return Ok(None);
            }
            let more = write.reseal_some()?;
            if more == 0 {
                write.set_keyring(keys.without_old_master()?);
                write
                    .audit(who, &format!("the master key was rotated: {sealed} rows re-sealed"))?;
                return Ok(None);
            }
            Ok(Some(more))
        })
    }

    /// Returns the keystore's serial number: 16 hexadecimal digits.
    pub fn serial(&self) -> String {
        self.identity[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Runs `act` in one transaction, while nobody else writes. Everything that `act` writes is
    /// committed together with its lines of the audit log; if `act` fails, nothing is.
    ///
    /// # Errors
    /// Those of `act`; [`Code::DEVICE_ERROR`]. If the commit itself fails, the changes may or may
    /// not be stored.
    pub fn write<T>(&self, act: impl FnOnce(&mut Write<'_>) -> Result<T>) -> Result<T> {
        let _one = self.writer();
        let mut write = Write::begin(self)?;
        let value = act(&mut write)?;
        write.commit()?;
        Ok(value)
    }

    /// Reads a row and checks that it is the one seen earlier, if one was. `read` returns the row,
    /// with its generation and term.
    fn read_seen<T>(
        &self,
        name: &Name,
        read: impl Fn(&mut Session<'_>) -> Result<(Option<T>, Option<(Generation, Term)>)>,
    ) -> Result<(Option<T>, Arc<Keyring>)> {
        let attempt = || {
            let mut session = Session::begin(self, Access::Read)?;
            let (row, seen) = read(&mut session)?;
            let checked = match seen {
                Some((generation, term)) => self.check_seen(name, generation, &term),
                None => match &*self.view() {
                    Some(view)
                        if view.has(name) && view.generation >= session.manifest.generation =>
                    {
                        Err(Violation::Missing("rows"))
                    }
                    _ => Ok(()),
                },
            };
            Ok::<_, Error>((checked, (row, session.keys)))
        };
        if let (Ok(()), row) = attempt()? {
            return Ok(row);
        }
        // Another thread may have replaced the row meanwhile, and updated the view.
        let _one = self.writer();
        let (checked, row) = attempt()?;
        checked?;
        Ok(row)
    }

    fn check_seen(
        &self,
        name: &Name,
        generation: Generation,
        term: &Term,
    ) -> Result<(), Violation> {
        match &*self.view() {
            Some(view) => view.check(name, generation, term),
            None => Ok(()),
        }
    }

    fn writer(&self) -> std::sync::MutexGuard<'_, ()> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn view(&self) -> RwLockReadGuard<'_, Option<View>> {
        self.view.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn view_mut(&self) -> RwLockWriteGuard<'_, Option<View>> {
        self.view.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rows that were read, each one authenticated.
struct Rows {
    slots: Vec<(u64, Term)>,
    settings: Vec<(Name, Term)>,
    records: Vec<(Generation, Term, Record)>,
}

impl Rows {
    /// Reads all rows, or all slots and the rows later than a generation.
    fn read(session: &mut Session<'_>, since: Option<Generation>) -> Result<Self> {
        let slots = session.slots()?;
        let Session { transaction, keys, manifest } = session;
        let slots = slots.iter().map(|slot| (slot.id, slot.term(&keys.identity, keys.terms())));
        let slots = slots.collect();
        let not_later = |generation| {
            if generation > manifest.generation { Err(Violation::ManifestReverted) } else { Ok(()) }
        };
        let (settings, records) = match since {
            None => (SealedSetting::SELECT, SealedRecord::SELECT),
            Some(_) => (SealedSetting::SELECT_SINCE, SealedRecord::SELECT_SINCE),
        };
        let values = since.map(|since| Value::number(since.0));
        let settings = transaction.all(settings, values.as_slice(), |row| {
            let row = SealedSetting::from_row(row)?;
            row.open(keys)?;
            not_later(row.generation)?;
            Ok((row.name(), row.term(keys)))
        })?;
        let records = transaction.all(records, values.as_slice(), |row| {
            let row = SealedRecord::from_row(row)?;
            let record = row.open(keys)?;
            not_later(row.place.generation)?;
            Ok((row.place.generation, row.term(keys), record))
        })?;
        Ok(Self { slots, settings, records })
    }

    /// Enters the rows into a view, and returns the records.
    fn enter(self, view: &mut View) -> impl Iterator<Item = (Generation, Record)> {
        view.retain_slots(|id| self.slots.iter().any(|(slot, _)| *slot == id));
        self.slots.into_iter().for_each(|(id, term)| view.set(Name::Slot(id), Some(term)));
        self.settings.into_iter().for_each(|(name, term)| view.set(name, Some(term)));
        self.records.into_iter().map(|(generation, term, record)| {
            view.set(Name::Record(record.id), Some(term));
            (generation, record)
        })
    }
}

/// Decodes hexadecimal digits into `N` bytes.
fn hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let digits = digits.as_bytes();
    let mut bytes = [0; N];
    if digits.len() != 2 * N || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
