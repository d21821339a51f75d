//! The audit log: a chain of HMACs under a key of the keyring, with its head in the manifest.
//!
//! Without the key nobody can change, add or remove a line. An attacker with control
//! of the database can revert all of it to an earlier state; an exported head shows the difference.

use std::time::{SystemTime, UNIX_EPOCH};

use subtle::ConstantTimeEq;

use super::audit_chain::{Chain, Flaw};
use super::audit_head::AuditHead;
use super::database::{Access, Field, Row, Value};
use super::keystore::Store;
use super::manifest::Manifest;
use super::session::Session;
use super::violation::Violation;
use super::write::Write;
use crate::rpc::Bytes;
pub use crate::rpc::message::AuditEntry;
use crate::{Code, Result};

/// Selects all lines.
pub(super) const SELECT_ALL: &str =
    "SELECT sequence, time, who, what, mac FROM audit_log ORDER BY sequence";

fn entry(mut row: Row) -> Result<AuditEntry> {
    Ok(AuditEntry {
        sequence: row.number()?,
        time: row.number()?,
        who: row.text()?,
        what: row.text()?,
        mac: Bytes(row.bytes()?),
    })
}

/// Returns a line in which nothing stands for a column of a type that no daemon writes; its MAC
/// does not match then.
pub(super) fn readable(row: Row) -> AuditEntry {
    let mut fields = row.into_fields().into_iter();
    let mut number = || match fields.next() {
        Some(Field::Number(number)) => number.cast_unsigned(),
        _ => 0,
    };
    let (sequence, time) = (number(), number());
    let mut text = || match fields.next() {
        Some(Field::Text(text)) => text,
        _ => String::new(),
    };
    let (who, what) = (text(), text());
    let mac = match fields.next() {
        Some(Field::Bytes(mac)) => Bytes(mac),
        _ => Bytes::default(),
    };
    AuditEntry { sequence, time, who, what, mac }
}

impl Write<'_> {
    /// Adds a line to the audit log, with the current time. It is committed or discarded together
    /// with the rest of the transaction.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if it contains a NUL, which PostgreSQL cannot store;
    /// [`Code::DEVICE_ERROR`].
    pub fn audit(&mut self, who: &str, what: &str) -> Result<()> {
        if who.contains('\0') || what.contains('\0') {
            return Err(Code::ARGUMENTS_BAD.because("a line of the audit log contains a NUL"));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let Session { transaction, keys, manifest } = &mut self.session;
        manifest.audit = manifest.audit.next(keys, time, who, what);
        let values = [
            Value::number(manifest.audit.sequence),
            Value::number(time),
            Value::Text(who),
            Value::Text(what),
            Value::Bytes(&manifest.audit.mac),
        ];
        let insert = "INSERT INTO audit_log (sequence, time, who, what, mac) \
            VALUES ($1, $2, $3, $4, $5)";
        transaction.execute(insert, &values).map(drop)
    }
}

impl Store {
    /// Adds a line to the audit log in its own transaction, for an event that changes nothing else.
    ///
    /// # Errors
    /// As [`Write::audit`].
    pub fn audit(&self, who: &str, what: &str) -> Result<()> {
        self.write(|write| write.audit(who, what))
    }

    /// Returns lines of the audit log from number `from` on, at most `limit` of them, unverified:
    /// [`audit_verify`](Self::audit_verify) verifies them. The keystore may be locked.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub fn audit_entries(&self, from: u64, limit: u32) -> Result<Vec<AuditEntry>> {
        let select = "SELECT sequence, time, who, what, mac FROM audit_log \
            WHERE sequence >= $1 ORDER BY sequence LIMIT $2";
        // The database's integers are signed.
        let values = [Value::number(from.min(i64::MAX as u64)), Value::number(limit.into())];
        self.database.begin(Access::Read)?.all(select, &values, entry)
    }

    /// Verifies the whole audit log, and that it continues from `known_head`. Returns its head.
    ///
    /// # Errors
    /// As [`audit_report`](Self::audit_report).
    pub fn audit_verify(&self, known_head: Option<&AuditHead>) -> Result<AuditHead> {
        Ok(self.audit_report(known_head)?.0)
    }

    /// Verifies the log as [`audit_verify`](Self::audit_verify) does. Returns its head, and a
    /// sentence for each run of flawed lines that a salvage acknowledged.
    ///
    /// Only a known head kept elsewhere reveals that the whole database was reverted to an earlier
    /// state.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`], which names the first line that was altered or is missing, unless
    /// the log acknowledges it.
    pub fn audit_report(&self, known_head: Option<&AuditHead>) -> Result<(AuditHead, Vec<String>)> {
        let Session { mut transaction, keys, manifest } = Session::begin(self, Access::Read)?;
        let Manifest { audit, .. } = manifest;
        if known_head.is_some_and(|known| known.sequence > audit.sequence) {
            return Err(Violation::Rollback.into());
        }
        let mut chain = Chain::new(&keys);
        transaction.query(SELECT_ALL, &[], |row| {
            let line = readable(row);
            if chain.head.sequence == audit.sequence {
                chain.flaw(line.sequence, line.sequence, Flaw::Surplus);
                return Ok(());
            }
            chain.line(&line);
            match known_head {
                Some(known)
                    if known.sequence == line.sequence
                        && !bool::from(known.mac.ct_eq(&chain.head.mac)) =>
                {
                    Err(Violation::Rollback.into())
                }
                _ => Ok(()),
            }
        })?;
        chain.end(&audit);
        let mut acknowledged = Vec::new();
        for (flawed, by) in chain.judged() {
            let Some(by) = by else { return Err(flawed.violation().into()) };
            acknowledged.push(format!("{flawed}; line {by} says so"));
        }
        Ok((audit, acknowledged))
    }
}
