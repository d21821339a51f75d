//! All rows of a keystore, each judged by its own seal.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{Damaged, Table, label};
use crate::store::database::{Access, Field, Row, Transaction};
use crate::store::keyring::Keyring;
use crate::store::keystore::Store;
use crate::store::manifest::{Generation, Manifest, Term};
use crate::store::record::{SealedRecord, SealedSetting};
use crate::store::slot::Slot;
use crate::store::violation::{Name, Violation};
use crate::{Error, Result};

/// A keystore to be salvaged, in a transaction.
pub(super) struct Opened<'a> {
    pub(super) transaction: Transaction<'a>,
    pub(super) keys: Arc<Keyring>,
    /// `None` if it does not open.
    pub(super) manifest: Option<Manifest>,
}

impl<'a> Opened<'a> {
    /// # Errors
    /// [`Violation::Keyring`] if the keyring is an earlier one; the database's errors.
    pub(super) fn begin(store: &'a Store, access: Access) -> Result<Self> {
        let keys = store.keyring()?;
        let mut transaction = store.database.begin(access)?;
        if access == Access::Write {
            transaction.lock()?;
        }
        let select = "SELECT manifest FROM keystore WHERE one = 1";
        let row = transaction.one(select, &[], |row| Ok(row.into_fields().pop()))?;
        let manifest = match row.flatten() {
            Some(Field::Bytes(sealed)) => Manifest::open(&sealed, &keys).ok(),
            _ => None,
        };
        if manifest.as_ref().is_some_and(|manifest| manifest.keyring > keys.version()) {
            return Err(Violation::Keyring.into());
        }
        Ok(Self { transaction, keys, manifest })
    }
}

/// An authentic record or setting.
pub(super) struct Authentic {
    pub(super) name: Name,
    pub(super) generation: Generation,
    pub(super) version: u64,
    pub(super) term: Term,
    pub(super) label: Option<String>,
    pub(super) fields: Vec<Field>,
}

/// Everything that was read.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) authentic: Vec<Authentic>,
    pub(super) damaged: Vec<(Name, Damaged, Option<Term>)>,
    pub(super) slots: Vec<(Name, Term)>,
    pub(super) deletions: HashMap<u64, u64>,
    /// The records that a salvage has set aside before.
    pub(super) set_aside: BTreeSet<u64>,
}

/// Reads all rows.
pub(super) fn read(opened: &mut Opened<'_>) -> Result<Rows> {
    let Opened { transaction, keys, .. } = opened;
    let mut rows = Rows::default();
    transaction.query(SealedRecord::SELECT, &[], |row| {
        let fields = row.clone().into_fields();
        let id = match fields.first() {
            Some(Field::Number(id)) => id.cast_unsigned(),
            _ => 0,
        };
        let sealed = SealedRecord::from_row(row);
        let opened = sealed.as_ref().map_err(Clone::clone).and_then(|row| Ok(row.open(keys)?));
        match (sealed, opened) {
            (Ok(sealed), Ok(record)) => rows.authentic.push(Authentic {
                name: sealed.name(),
                generation: sealed.place.generation,
                version: sealed.place.version,
                term: sealed.term(keys),
                label: Some(label(&record.attributes)),
                // The rest is read again if the row is set aside.
                fields: fields.into_iter().take(1).collect(),
            }),
            (sealed, Err(error)) => {
                let term = sealed.ok().map(|row| row.term(keys));
                let damaged = Damaged::new(Table::Records, fields, &error);
                rows.damaged.push((Name::Record(id), damaged, term));
            }
            (Err(_), Ok(_)) => unreachable!("a malformed row does not open"),
        }
        Ok(())
    })?;
    transaction.query(SealedSetting::SELECT, &[], |row| {
        let fields = row.clone().into_fields();
        let name = match fields.first() {
            Some(Field::Text(name)) => name.clone(),
            _ => "?".into(),
        };
        let sealed = SealedSetting::from_row(row);
        match sealed.and_then(|row| row.open(keys).map(|_| row).map_err(Error::from)) {
            Ok(row) => rows.authentic.push(Authentic {
                name: row.name(),
                generation: row.generation,
                version: 0,
                term: row.term(keys),
                label: None,
                fields,
            }),
            Err(error) => {
                let damaged = Damaged::new(Table::Settings, fields, &error);
                rows.damaged.push((Name::Setting(name), damaged, None));
            }
        }
        Ok(())
    })?;
    transaction.query(Slot::SELECT, &[], |row| {
        let fields = row.clone().into_fields();
        match Slot::from_row(row) {
            Ok(slot) => {
                rows.slots.push((slot.name(), slot.term(&keys.identity, keys.terms())));
            }
            Err(error) => {
                let id = match fields.first() {
                    Some(Field::Number(id)) => id.cast_unsigned(),
                    _ => 0,
                };
                let damaged = Damaged::new(Table::Slots, fields, &error);
                rows.damaged.push((Name::Slot(id), damaged, None));
            }
        }
        Ok(())
    })?;
    transaction.query("SELECT id, generation FROM deletions", &[], |mut row: Row| {
        if let (Ok(id), Ok(generation)) = (row.number(), row.number()) {
            rows.deletions.insert(id, generation);
        }
        Ok(())
    })?;
    rows.set_aside = super::quarantine::records(transaction)?;
    Ok(rows)
}

impl Damaged {
    fn new(table: Table, fields: Vec<Field>, error: &Error) -> Self {
        Self { table, fields, reason: error.to_string() }
    }
}
