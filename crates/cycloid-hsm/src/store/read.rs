//! Reads a keystore: all of it, what has changed, or one row.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::database::{Access, Value};
use super::keyring::Keyring;
use super::keystore::Store;
use super::manifest::{Generation, Term, View};
use super::record::{Record, SealedRecord, SealedSetting};
use super::session::Session;
use super::violation::{Name, Violation};
use crate::{Code, Error, Result};

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
}

/// Rows that were read, each one authenticated.
pub(super) struct Rows {
    slots: Vec<(u64, Term)>,
    settings: Vec<(Name, Term)>,
    records: Vec<(Generation, Term, Record)>,
}

impl Rows {
    /// Reads all rows, or all slots and the rows later than a generation.
    pub(super) fn read(session: &mut Session<'_>, since: Option<Generation>) -> Result<Self> {
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
    pub(super) fn enter(self, view: &mut View) -> impl Iterator<Item = (Generation, Record)> {
        view.retain_slots(|id| self.slots.iter().any(|(slot, _)| *slot == id));
        self.slots.into_iter().for_each(|(id, term)| view.set(Name::Slot(id), Some(term)));
        self.settings.into_iter().for_each(|(name, term)| view.set(name, Some(term)));
        self.records.into_iter().map(|(generation, term, record)| {
            view.set(Name::Record(record.id), Some(term));
            (generation, record)
        })
    }
}
