//! Write transactions. Each replaces the single row of `keystore`: rows and manifest change
//! together or not at all.

use std::sync::Arc;

use super::database::{Access, Value};
use super::keyring::Keyring;
use super::keystore::Store;
use super::manifest::{Generation, Term};
use super::record::{Place, Record, SealedRecord, SealedSetting};
use super::session::Session;
use super::slot::Slot;
use super::violation::{Name, Violation};
use crate::attribute::Template;
use crate::{Code, Result};

/// An object to be inserted: its attributes, and its secret if it has one.
pub type New<'a> = (&'a Template, Option<&'a [u8]>);

impl Store {
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
}

/// A write transaction. While it lasts, nobody else writes.
pub struct Write<'a> {
    store: &'a Store,
    pub(super) session: Session<'a>,
    /// The changes of the view.
    changes: Vec<(Name, Option<Term>)>,
    keyring: Option<Arc<Keyring>>,
}

/// Shows the keystore.
impl std::fmt::Debug for Write<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Write({:?})", self.store)
    }
}

impl<'a> Write<'a> {
    /// Begins a write transaction. The caller holds the store's `writer` lock.
    pub(super) fn begin(store: &'a Store) -> Result<Self> {
        let mut session = Session::begin(store, Access::Write)?;
        if let Some(view) = &*store.view()
            && view.generation == session.manifest.generation
        {
            view.compare(&session.manifest)?;
        }
        session.manifest.generation.0 += 1;
        Ok(Self::over(store, session))
    }

    /// Continues a session whose manifest already has the generation of this write.
    pub(super) const fn over(store: &'a Store, session: Session<'a>) -> Self {
        Self { store, session, changes: Vec::new(), keyring: None }
    }

    pub(super) fn commit(mut self) -> Result<()> {
        let Session { transaction, keys, manifest } = &mut self.session;
        if let Some(keyring) = &self.keyring {
            manifest.keyring = keyring.version();
            let sealed = keyring.seal()?;
            transaction.execute("UPDATE keystore SET keyring = $1", &[Value::Bytes(&sealed)])?;
        }
        let sealed = manifest.seal(keys)?;
        transaction.execute("UPDATE keystore SET manifest = $1", &[Value::Bytes(&sealed)])?;
        let Session { mut transaction, manifest, .. } = self.session;
        transaction.announce()?;
        transaction.commit()?;
        if let Some(keyring) = self.keyring {
            self.store.replace_keyring(keyring);
        }
        if let Some(view) = &mut *self.store.view_mut()
            && view.generation.0 + 1 == manifest.generation.0
        {
            self.changes.into_iter().for_each(|(name, term)| view.set(name, term));
            view.generation = manifest.generation;
        }
        Ok(())
    }

    fn replace(&mut self, name: Name, old: Option<Term>, new: Option<Term>) {
        let total = &mut self.session.manifest.total;
        if let Some(old) = old {
            total.subtract(&name, &old);
        }
        if let Some(new) = new {
            total.add(&name, &new);
        }
        self.changes.push((name, new));
    }

    /// Returns the generation that this transaction makes, which is unique.
    pub const fn generation(&self) -> Generation {
        self.session.manifest.generation
    }

    /// Returns the verified row of a record.
    ///
    /// # Errors
    /// [`Code::OBJECT_HANDLE_INVALID`]; [`Violation::Altered`], [`Violation::Reverted`].
    fn genuine(&mut self, id: u64) -> Result<(SealedRecord, Record)> {
        let row = self.session.record(id)?.ok_or(Code::OBJECT_HANDLE_INVALID)?;
        let record = row.open(&self.session.keys)?;
        let term = row.term(&self.session.keys);
        self.store.check_seen(&row.name(), row.place.generation, &term)?;
        Ok((row, record))
    }

    /// Creates an object.
    ///
    /// # Errors
    /// [`Code::TEMPLATE_INCOMPLETE`] without a class; [`Code::DEVICE_ERROR`].
    pub fn insert(&mut self, (attributes, secret): New<'_>) -> Result<Record> {
        let id = self.session.manifest.next;
        self.session.manifest.next += 1;
        let place = Place { id, version: 1, generation: self.generation() };
        self.store_record(place, attributes, secret)?;
        let has_secret = secret.is_some();
        Ok(Record { id, version: 1, attributes: attributes.clone(), has_secret })
    }

    fn store_record(
        &mut self,
        place: Place,
        attributes: &Template,
        secret: Option<&[u8]>,
    ) -> Result<()> {
        let sealed = SealedRecord::seal(place, &self.session.keys, attributes, secret)?;
        self.session.transaction.execute(SealedRecord::INSERT, &sealed.values())?;
        let term = sealed.term(&self.session.keys);
        self.replace(sealed.name(), None, Some(term));
        Ok(())
    }

    /// Replaces all attributes of an object; its secret stays.
    ///
    /// # Errors
    /// [`Code::OBJECT_HANDLE_INVALID`]; [`Code::FUNCTION_FAILED`] if its version is not `version`,
    /// because somebody else has updated it.
    pub fn update(&mut self, id: u64, version: u64, attributes: &Template) -> Result<Record> {
        let (row, record) = self.genuine(id)?;
        if record.version != version {
            let text =
                format!("the object was changed meanwhile: it now has version {}", record.version);
            return Err(Code::FUNCTION_FAILED.because(text));
        }
        let version = version + 1;
        self.reseal(&row, version, attributes)?;
        Ok(Record { id, version, attributes: attributes.clone(), has_secret: record.has_secret })
    }

    /// Replaces a row by one with the same secret.
    fn reseal(&mut self, row: &SealedRecord, version: u64, attributes: &Template) -> Result<()> {
        let secret = row.secret(&self.session.keys)?;
        self.remove_record(row)?;
        let place = Place { id: row.place.id, version, generation: self.generation() };
        self.store_record(place, attributes, secret.as_ref().map(|secret| secret.as_slice()))
    }

    /// Inserts a record that is in no table, with a later generation, which other daemons notice.
    pub(super) fn put_back(&mut self, row: &SealedRecord, record: &Record) -> Result<()> {
        let secret = row.secret(&self.session.keys)?;
        let Record { id, version, .. } = *record;
        let place = Place { id, version, generation: self.generation() };
        let secret = secret.as_ref().map(|secret| secret.as_slice());
        self.store_record(place, &record.attributes, secret)
    }

    fn remove_record(&mut self, row: &SealedRecord) -> Result<()> {
        self.session.transaction.execute(SealedRecord::DELETE, &[Value::number(row.place.id)])?;
        let term = row.term(&self.session.keys);
        self.replace(row.name(), Some(term), None);
        Ok(())
    }

    /// Destroys an object.
    ///
    /// # Errors
    /// [`Code::OBJECT_HANDLE_INVALID`].
    pub fn delete(&mut self, id: u64) -> Result<()> {
        let (row, _) = self.genuine(id)?;
        self.delete_row(&row)
    }

    /// Destroys all objects. Settings and the audit log stay.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn clear(&mut self) -> Result<()> {
        let rows = self.session.records()?;
        rows.iter().try_for_each(|row| self.delete_row(row))
    }

    fn delete_row(&mut self, row: &SealedRecord) -> Result<()> {
        self.remove_record(row)?;
        let values = [Value::number(row.place.id), Value::number(self.generation().0)];
        let insert = "INSERT INTO deletions (id, generation) VALUES ($1, $2)";
        self.session.transaction.execute(insert, &values).map(drop)
    }

    /// Returns the value of a setting, which nobody else can change until this transaction ends.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn setting(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(row) = self.session.setting(name)? else {
            let before = self.generation().0 - 1;
            let name = Name::Setting(name.to_owned());
            return match &*self.store.view() {
                Some(view) if view.has(&name) && view.generation.0 >= before => {
                    Err(Violation::Missing("rows").into())
                }
                _ => Ok(None),
            };
        };
        let value = row.open(&self.session.keys)?;
        let term = row.term(&self.session.keys);
        self.store.check_seen(&row.name(), row.generation, &term)?;
        Ok(Some(value.to_vec()))
    }

    /// Sets a setting. Settings are protected as records are, but are not objects.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn set_setting(&mut self, name: &str, value: &[u8]) -> Result<()> {
        if let Some(row) = self.session.setting(name)? {
            row.open(&self.session.keys)?;
            let term = row.term(&self.session.keys);
            self.store.check_seen(&row.name(), row.generation, &term)?;
            self.session.transaction.execute(SealedSetting::DELETE, &[Value::Text(name)])?;
            self.replace(row.name(), Some(term), None);
        }
        let sealed = SealedSetting::seal(name, self.generation(), &self.session.keys, value)?;
        self.session.transaction.execute(SealedSetting::INSERT, &sealed.values())?;
        let term = sealed.term(&self.session.keys);
        self.replace(sealed.name(), None, Some(term));
        Ok(())
    }

    /// Replaces a slot, adds one (`old` is `None`), or removes one (`new` is `None`).
    pub(super) fn replace_slot(&mut self, old: Option<&Slot>, new: Option<&Slot>) -> Result<()> {
        let keys = self.session.keys.clone();
        let term = |slot: &Slot| slot.term(&keys.identity, keys.terms());
        let now = self.session.slots()?;
        if old.is_some_and(|old| !now.iter().any(|slot| term(slot) == term(old))) {
            return Err(Code::FUNCTION_FAILED.because("the slot was changed meanwhile"));
        }
        let left = now.len() + usize::from(new.is_some()) - usize::from(old.is_some());
        if left == 0 || left > Slot::MOST {
            let text = format!("a keystore must have 1 to {} ways to unlock it", Slot::MOST);
            return Err(Code::ACTION_PROHIBITED.because(text));
        }
        if let Some(old) = old {
            self.session.transaction.execute(Slot::DELETE, &[Value::number(old.id)])?;
            self.replace(old.name(), Some(term(old)), None);
        }
        if let Some(new) = new {
            self.session.transaction.execute(Slot::INSERT, &new.values())?;
            self.replace(new.name(), None, Some(term(new)));
        }
        Ok(())
    }

    /// Replaces the keyring at the commit. This transaction still seals with the old one.
    pub(super) fn set_keyring(&mut self, keyring: Keyring) {
        self.keyring = Some(Arc::new(keyring));
    }

    /// Re-seals some of the rows that an older master key sealed, and returns their number.
    pub(super) fn reseal_some(&mut self) -> Result<u64> {
        let current = [Value::number(self.session.keys.current().epoch.into())];
        let transaction = &mut self.session.transaction;
        let records =
            transaction.all(SealedRecord::SELECT_OLD, &current, SealedRecord::from_row)?;
        let settings =
            transaction.all(SealedSetting::SELECT_OLD, &current, SealedSetting::from_row)?;
        for row in &settings {
            let value = row.open(&self.session.keys)?;
            let Name::Setting(name) = row.name() else { unreachable!("the row is a setting's") };
            self.set_setting(&name, &value)?;
        }
        for row in &records {
            let (row, record) = self.genuine(row.place.id)?;
            self.reseal(&row, record.version, &record.attributes)?;
        }
        Ok(records.len() as u64 + settings.len() as u64)
    }
}
