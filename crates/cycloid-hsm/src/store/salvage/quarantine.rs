//! The table of rows that were set aside: `quarantine`. A salvage makes it when it is first needed,
//! so keystores without damage stay as they are.

use std::collections::BTreeSet;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Damaged, Table, label};
use crate::rpc::Bytes;
use crate::store::database::{Access, Database, Field, Row, Transaction, Value};
use crate::store::encoding::{Malformed, Value as _};
use crate::store::keyring::Keyring;
use crate::store::keystore::Store;
use crate::store::manifest::Generation;
use crate::store::record::{SealedRecord, SealedSetting};
use crate::store::slot::Slot;
use crate::store::violation::Name;
use crate::store::write::Write;
use crate::{Code, Error, Result};

const NAME: &str = "quarantine";
const CREATE: &str = "CREATE TABLE quarantine (
    number BIGINT PRIMARY KEY,   -- from 1
    time BIGINT NOT NULL,        -- milliseconds since 1970
    reason TEXT NOT NULL,
    origin TEXT NOT NULL,        -- the row's table
    columns BYTEA NOT NULL       -- as they were
)";

/// The beginning of a line in the audit log about a restored record.
const RESTORED: &str = "salvage: restored record ";

impl Table {
    const ALL: [Self; 4] = [Self::Records, Self::Settings, Self::Slots, Self::AuditLog];

    const fn name(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Settings => "settings",
            Self::Slots => "slots",
            Self::AuditLog => "audit_log",
        }
    }

    /// Returns the statement that deletes the row with a key, of any type.
    const fn delete(self) -> &'static str {
        match self {
            Self::Records => "DELETE FROM records WHERE id IS NOT DISTINCT FROM $1",
            Self::Settings => "DELETE FROM settings WHERE name IS NOT DISTINCT FROM $1",
            Self::Slots => "DELETE FROM slots WHERE id IS NOT DISTINCT FROM $1",
            Self::AuditLog => "DELETE FROM audit_log WHERE sequence IS NOT DISTINCT FROM $1",
        }
    }

    /// Returns the name of the row with a key.
    fn row(self, key: Option<&Field>) -> String {
        let kind = match self {
            Self::Records => "record",
            Self::Settings => "setting",
            Self::Slots => "slot",
            Self::AuditLog => "line",
        };
        match key {
            Some(Field::Number(number)) => format!("{kind} {number}"),
            Some(Field::Text(name)) => format!("{kind} {name:?}"),
            _ => format!("{kind} without a number"),
        }
    }
}

/// A row that was set aside.
#[derive(Clone, Debug, PartialEq)]
pub struct Quarantined {
    /// Its number in the quarantine.
    pub number: u64,
    /// When it was set aside, in milliseconds since 1970.
    pub time: u64,
    /// Why it was set aside.
    pub reason: String,
    /// Its name: its kind, and its number or name there.
    pub name: String,
    /// Whether its seal opens, so that it can be restored.
    pub is_authentic: bool,
    /// The object's label, if the seal opens.
    pub label: Option<String>,
    table: Table,
    fields: Vec<Field>,
}

impl fmt::Display for Quarantined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_authentic { "authentic" } else { "damaged" };
        write!(f, "{}\t{state}\t{}", self.number, self.name)?;
        if let Some(label) = &self.label {
            write!(f, " {label:?}")?;
        }
        write!(f, "\t{}", self.reason)
    }
}

/// Moves a row into the quarantine. Returns a sentence about it.
pub(super) fn set_aside(transaction: &mut Transaction<'_>, row: &Damaged) -> Result<String> {
    if !transaction.has_table(NAME)? {
        transaction.run(CREATE)?;
    }
    let last =
        transaction.one("SELECT number FROM quarantine ORDER BY number DESC LIMIT 1", &[], {
            |mut row| row.number()
        })?;
    let number = last.unwrap_or_default() + 1;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let reason = row.reason.replace('\0', "");
    let columns = encoded(&row.fields);
    let values = [
        Value::number(number),
        Value::number(u64::try_from(now.as_millis()).unwrap_or(u64::MAX)),
        Value::Text(&reason),
        Value::Text(row.table.name()),
        Value::Bytes(&columns),
    ];
    let insert = "INSERT INTO quarantine (number, time, reason, origin, columns) \
        VALUES ($1, $2, $3, $4, $5)";
    transaction.execute(insert, &values)?;
    let key = row.fields.first();
    let gone = transaction.execute(row.table.delete(), &[key.map_or(Value::None, Field::value)])?;
    let name = row.table.row(key).replace('\0', "");
    if gone == 0 {
        return Err(Code::DEVICE_ERROR.because(format!("the database does not delete {name}")));
    }
    Ok(format!("{name} set aside as number {number} of the quarantine: {reason}"))
}

/// Notes that a record is gone, for other daemons.
pub(super) fn deleted(
    transaction: &mut Transaction<'_>,
    id: u64,
    generation: Generation,
) -> Result<()> {
    transaction.execute("DELETE FROM deletions WHERE id = $1", &[Value::number(id)])?;
    let values = [Value::number(id), Value::number(generation.0)];
    let insert = "INSERT INTO deletions (id, generation) VALUES ($1, $2)";
    transaction.execute(insert, &values).map(drop)
}

/// Returns the numbers of the records in the quarantine.
pub(super) fn records(transaction: &mut Transaction<'_>) -> Result<BTreeSet<u64>> {
    let rows = rows(transaction)?;
    let records = rows.iter().filter(|row| row.table == Table::Records);
    Ok(records.filter_map(Quarantined::id).collect())
}

/// Returns the number of the record that a line of the audit log restored.
pub(super) fn restored(what: &str) -> Option<u64> {
    what.strip_prefix(RESTORED)?.split(' ').next()?.parse().ok()
}

fn rows(transaction: &mut Transaction<'_>) -> Result<Vec<Quarantined>> {
    if !transaction.has_table(NAME)? {
        return Ok(Vec::new());
    }
    let select = "SELECT number, time, reason, origin, columns FROM quarantine ORDER BY number";
    let rows = transaction.all(select, &[], |mut row| {
        let (number, time, reason) = (row.number()?, row.number()?, row.text()?);
        let (origin, columns) = (row.text()?, row.bytes()?);
        let table = Table::ALL.into_iter().find(|table| table.name() == origin);
        let fields = decoded(&columns).unwrap_or_default();
        Ok(table.map(|table| Quarantined {
            number,
            time,
            // Anybody may have written it; a terminal must not obey it.
            reason: reason.chars().filter(|c| !c.is_control()).collect(),
            name: table.row(fields.first()),
            is_authentic: false,
            label: None,
            table,
            fields,
        }))
    })?;
    Ok(rows.into_iter().flatten().collect())
}

impl Quarantined {
    #[cfg(test)]
    pub(in crate::store) fn has_columns(&self, columns: &[Field]) -> bool {
        self.fields == columns
    }

    fn id(&self) -> Option<u64> {
        match self.fields.first() {
            Some(Field::Number(id)) => Some(id.cast_unsigned()),
            _ => None,
        }
    }

    /// Opens the row, as far as it can be opened.
    fn judge(&mut self, keys: &Keyring) {
        let row = Row::new(self.fields.clone());
        match self.table {
            Table::Records => {
                let opened = SealedRecord::from_row(row).and_then(|row| Ok(row.open(keys)?));
                self.label = opened.ok().map(|record| label(&record.attributes));
                self.is_authentic = self.label.is_some();
            }
            Table::Settings => {
                let opened = SealedSetting::from_row(row).and_then(|row| Ok(row.open(keys)?));
                self.is_authentic = opened.is_ok();
            }
            // Nothing but the manifest and the chain proves these.
            Table::Slots | Table::AuditLog => {}
        }
    }

    /// Replaces the columns by those of the same row in another copy of the keystore's database.
    fn read_from(&mut self, url: &str) -> Result<()> {
        let database = Database::new(url)?;
        let key = [self.fields.first().map_or(Value::None, Field::value)];
        let select = match self.table {
            Table::Records => SealedRecord::SELECT_ONE,
            Table::Settings => SealedSetting::SELECT_ONE,
            Table::Slots | Table::AuditLog => return Ok(()),
        };
        let mut transaction = database.begin(Access::Read)?;
        if let Some(fields) = transaction.one(select, &key, |row| Ok(row.into_fields()))? {
            drop(transaction);
            self.fields = fields;
            return Ok(());
        }
        Err(Code::ARGUMENTS_BAD.because(format!("{database} has no {}", self.name)))
    }
}

fn absent(number: u64) -> Error {
    Code::ARGUMENTS_BAD.because(format!("the quarantine has no number {number}"))
}

impl Store {
    /// Returns the rows that salvages have set aside.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn quarantined(&self) -> Result<Vec<Quarantined>> {
        let keys = self.keyring()?;
        let mut rows = rows(&mut self.database.begin(Access::Read)?)?;
        rows.iter_mut().for_each(|row| row.judge(&keys));
        Ok(rows)
    }
}

impl Write<'_> {
    fn quarantined(&mut self, number: u64) -> Result<Quarantined> {
        let mut rows = rows(&mut self.session.transaction)?.into_iter();
        rows.find(|row| row.number == number).ok_or_else(|| absent(number))
    }

    /// Puts a row back: as it is in the quarantine, or as in another copy of the keystore's
    /// database. It must be authentic. The audit log gets a line of `who`. Returns the row.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if there is no such row; [`Code::ACTION_PROHIBITED`] if it is not
    /// authentic, or another row has taken its place; [`Code::DEVICE_ERROR`].
    pub fn restore_quarantined(
        &mut self,
        number: u64,
        copy: Option<&str>,
        who: &str,
    ) -> Result<Quarantined> {
        let mut quarantined = self.quarantined(number)?;
        if let Some(url) = copy {
            quarantined.read_from(url)?;
        }
        quarantined.judge(&self.session.keys);
        let name = quarantined.name.clone();
        let prohibited = |why: &str| Code::ACTION_PROHIBITED.because(format!("{name} {why}"));
        let row = Row::new(quarantined.fields.clone());
        match quarantined.table {
            Table::Records => {
                let row = SealedRecord::from_row(row).map_err(|_| prohibited(STILL_DAMAGED))?;
                let record = row.open(&self.session.keys).map_err(|_| prohibited(STILL_DAMAGED))?;
                if self.session.record(record.id)?.is_some() {
                    return Err(prohibited("exists: destroy it first, or leave it set aside"));
                }
                let gone = "DELETE FROM deletions WHERE id = $1";
                self.session.transaction.execute(gone, &[Value::number(record.id)])?;
                self.put_back(&row, &record)?;
                let label = label(&record.attributes);
                self.audit(who, &format!("{RESTORED}{} {label:?}", record.id))?;
            }
            Table::Settings => {
                let row = SealedSetting::from_row(row).map_err(|_| prohibited(STILL_DAMAGED))?;
                let value = row.open(&self.session.keys).map_err(|_| prohibited(STILL_DAMAGED))?;
                let Name::Setting(setting) = row.name() else { unreachable!("it is a setting's") };
                if self.session.setting(&setting)?.is_some() {
                    return Err(prohibited("exists again: a restored one would replace it"));
                }
                self.set_setting(&setting, &value)?;
                self.audit(who, &format!("salvage: restored setting {setting:?}"))?;
            }
            Table::Slots => {
                Slot::from_row(row).map_err(|_| prohibited(STILL_DAMAGED))?;
                return Err(prohibited("cannot be verified: add a way to unlock instead"));
            }
            Table::AuditLog => {
                return Err(prohibited("cannot return to the log, which has continued"));
            }
        }
        self.forget(number)?;
        Ok(quarantined)
    }

    /// Destroys a row that was set aside. The audit log gets a line of `who`. Returns the row.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if there is no such row; [`Code::DEVICE_ERROR`].
    pub fn destroy_quarantined(&mut self, number: u64, who: &str) -> Result<Quarantined> {
        let mut quarantined = self.quarantined(number)?;
        quarantined.judge(&self.session.keys);
        self.forget(number)?;
        let text = format!("salvage: destroyed number {number} of the quarantine: {}", {
            quarantined.name.replace('\0', "")
        });
        self.audit(who, &text)?;
        Ok(quarantined)
    }

    fn forget(&mut self, number: u64) -> Result<()> {
        let delete = "DELETE FROM quarantine WHERE number = $1";
        self.session.transaction.execute(delete, &[Value::number(number)]).map(drop)
    }
}

const STILL_DAMAGED: &str = "is still damaged: its seal does not open";

/// Encodes columns: a byte for the type, then the value.
fn encoded(fields: &[Field]) -> Vec<u8> {
    let mut to = Vec::new();
    for field in fields {
        let (kind, bytes) = match field {
            Field::None => (0, Vec::new()),
            Field::Number(number) => (1, number.to_le_bytes().to_vec()),
            Field::Text(text) => (2, text.clone().into_bytes()),
            Field::Bytes(bytes) => (3, bytes.clone()),
            Field::Real(number) => (4, number.to_le_bytes().to_vec()),
            Field::Unreadable(text) => (5, text.clone()),
        };
        to.push(kind);
        Bytes(bytes).write(&mut to);
    }
    to
}

fn decoded(mut from: &[u8]) -> Result<Vec<Field>, Malformed> {
    let from = &mut from;
    let mut fields = Vec::new();
    while !from.is_empty() {
        let (kind, Bytes(bytes)) = (u8::read(from)?, Bytes::read(from)?);
        let eight = || <[u8; 8]>::try_from(bytes.as_slice()).map_err(|_| Malformed);
        fields.push(match kind {
            0 => Field::None,
            1 => Field::Number(i64::from_le_bytes(eight()?)),
            2 => Field::Text(String::from_utf8(bytes).map_err(|_| Malformed)?),
            3 => Field::Bytes(bytes),
            4 => Field::Real(f64::from_le_bytes(eight()?)),
            5 => Field::Unreadable(bytes),
            _ => return Err(Malformed),
        });
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_every_type_are_kept() {
        let fields = vec![
            Field::None,
            Field::Number(-7),
            Field::Text("ä".into()),
            Field::Bytes(vec![0, 1]),
            Field::Real(1.5),
            Field::Unreadable(vec![0xff]),
        ];
        let bytes = encoded(&fields);
        assert!(decoded(&bytes) == Ok(fields));
        // Cut within a column, the rest is refused.
        assert!(decoded(&bytes[..bytes.len() - 1]).is_err());
        assert!(decoded(&[9, 0, 0, 0, 0]).is_err());
    }
}
