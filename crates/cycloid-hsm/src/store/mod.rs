//! Records at rest: a keystore in an SQL database that nobody needs to trust.
//!
//! # Keys
//!
//! *Slots* seal a root key, each by a passphrase, a key file, or both. The root key seals the
//! *keyring*: keys of audit log and manifest, and the master key, which is the key-encryption key of
//! records and settings. Once unlocked, the keyring is in locked memory and nowhere else.
//!
//! # What is noticed
//!
//! A record's attributes and its secret are sealed with AES-256-GCM-SIV, and bound to the keystore, to
//! each other and to what the row says in clear: number, version, class, flags, epoch of the key. So a
//! byte that is changed, or a column that comes from another row, is noticed by whoever reads the row.
//! The sealed *manifest* has the sum over all rows: rows that are missing, doubled, or put back to an
//! earlier state are noticed by [`Store::load`]; a row that it saw, or that [`Store::changes`] saw, is
//! from then on compared with what it was by every operation on it. If **the whole database** is put back to an earlier state, a running daemon
//! notices; one that starts afterwards cannot, unless it is told the head of the audit log that was
//! exported before: [`Store::audit_verify`].
//!
//! Earlier copies of a database are opened by what opened them then. Changing a passphrase that became
//! known does not help where an attacker has such a copy, and knows the root key from it: then make a
//! new keystore, and restore a backup into it.
//!
//! # Several daemons
//!
//! Writers wait for each other at the row of `keystore`; each write makes a new *generation*, and
//! [`Store::changes`] gives what others wrote since one.

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

use crate::error::{Code, Error, Result};
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

/// A keystore, locked or unlocked, for as many threads as want it.
pub struct Store {
    database: Database,
    identity: Identity,
    keys: RwLock<Option<Arc<Keyring>>>,
    /// Held while something is written, or the view changes.
    writer: Mutex<()>,
    view: RwLock<Option<View>>,
}

/// Where it is, and whether it is locked.
impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = if self.is_locked() { "locked" } else { "unlocked" };
        write!(f, "Store({}, {state})", self.database)
    }
}

impl Store {
    /// Every object, after verifying each, and that there are those and no others.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`] if the keystore is locked, or was tampered with: then `detail` says
    /// what was found.
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

    /// What was written since a generation, by whomever: records that were inserted, updated or
    /// sealed anew, and the numbers of those that were deleted.
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
        let view = view.as_mut().expect("it was loaded, and is never taken away");
        deleted.iter().for_each(|(id, _)| view.set(Name::Record(*id), None));
        let records = rows.enter(view).filter(|(generation, _)| *generation > since);
        let records = records.map(|(_, record)| record).collect();
        view.generation = now;
        view.compare(&session.manifest)?;
        let deleted = deleted.into_iter().filter(|(_, generation)| *generation > since);
        Ok((now, records, deleted.map(|(id, _)| id).collect()))
    }

    /// The secret of an object.
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
        row.secret(&keys)?.ok_or_else(|| Code::KEY_HANDLE_INVALID.because("it has no secret"))
    }

    /// The value of a setting.
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

    /// Makes a new master key, and seals all records and settings anew with it, some at a time, while
    /// others read and write. If it does not come to its end, the next call goes on where it stopped.
    /// Its first and its last transaction each write a line of `who` to the audit log. Returns how many
    /// rows it sealed.
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

    /// One transaction of a rotation: with `first` one that starts it, or takes it up again. `None` after
    /// the last.
    fn rotation_step(&self, who: &str, first: bool, sealed: u64) -> Result<Option<u64>> {
        self.write(|write| {
            let keys = write.session.keys.clone();
            if first {
                write.audit(who, "the master key is rotated")?;
                if !keys.is_rotating() {
                    write.set_keyring(keys.with_new_master()?);
                    return Ok(Some(0));
                }
            }
            if !keys.is_rotating() {
                return Ok(None);
            }
            let more = write.seal_some_anew()?;
            if more == 0 {
                write.set_keyring(keys.without_old_master()?);
                write.audit(
                    who,
                    &format!("the master key was rotated: {sealed} rows sealed anew"),
                )?;
                return Ok(None);
            }
            Ok(Some(more))
        })
    }

    /// What the keystore is known by: 16 hexadecimal digits.
    pub fn serial(&self) -> String {
        self.identity[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Does something in one transaction, while no one else writes: all that `act` writes lasts, with its
    /// lines of the audit log, or, where it fails, nothing.
    ///
    /// # Errors
    /// Those of `act`; [`Code::DEVICE_ERROR`]. If it is the commit that fails, the changes may last or not.
    pub fn write<T>(&self, act: impl FnOnce(&mut Write<'_>) -> Result<T>) -> Result<T> {
        let _one = self.writer();
        let mut write = Write::begin(self)?;
        let value = act(&mut write)?;
        write.commit()?;
        Ok(value)
    }

    /// Reads a row that must be the one that was seen, if one was seen. `read` gives the row, and
    /// which one it is.
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
        // Perhaps another thread replaced the row, and the view knows it already.
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

/// Rows as they were read, each of them genuine.
struct Rows {
    slots: Vec<(u64, Term)>,
    settings: Vec<(Name, Term)>,
    records: Vec<(Generation, Term, Record)>,
}

impl Rows {
    /// All of them, or all slots and what is later than a generation.
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

    /// Enters them into a view, and gives the records.
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

/// Bytes of which `digits` are the hexadecimal digits.
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
