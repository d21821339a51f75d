//! Sets damaged rows aside and rebuilds the manifest, in one transaction with lines in the audit
//! log.

use super::quarantine::{deleted, set_aside};
use super::rows::Opened;
use super::survey::survey;
use super::{Damaged, Decision, Plan, Survey, Table};
use crate::store::audit_chain::acknowledgement;
use crate::store::database::{Access, Field, Transaction, Value};
use crate::store::keystore::Store;
use crate::store::manifest::Manifest;
use crate::store::record::SealedRecord;
use crate::store::session::Session;
use crate::store::write::Write;
use crate::{Code, Result};

/// The setting with the generation of the last salvage without a manifest.
const GENERATION: &str = "salvage.generation";

impl Store {
    /// Sets aside all damaged rows that `seen` lists, and rebuilds the manifest from the others.
    /// The caller has authenticated the officer. Runs `act` in the same transaction, with lines of
    /// `who` in the audit log: both are stored, or neither. Returns a line for each row that was
    /// set aside.
    ///
    /// # Errors
    /// [`Code::ACTION_PROHIBITED`] if there is nothing to salvage, or there are rows that need
    /// another decision; [`Code::FUNCTION_FAILED`] if the keystore has changed since `seen`;
    /// [`Code::DEVICE_ERROR`]; the errors of `act`.
    pub fn salvage(
        &self,
        seen: &Survey,
        decision: Decision,
        who: &str,
        act: impl FnOnce(&mut Write<'_>) -> Result<()>,
    ) -> Result<Vec<String>> {
        let _one = self.writer();
        let mut opened = Opened::begin(self, Access::Write)?;
        let survey = survey(&mut opened)?;
        check(&survey, seen, decision)?;
        let Plan {
            manifest_lost,
            damaged,
            suspects,
            mut total,
            generation,
            next,
            log,
            serve_keys,
            ..
        } = survey.plan;

        let mut rows = damaged;
        if decision == Decision::SetAside {
            for (row, name, term) in suspects {
                total.subtract(&name, &term);
                rows.push(row);
            }
        }
        let transaction = &mut opened.transaction;
        let mut moved = Vec::new();
        for row in &mut rows {
            fill(transaction, row)?;
            moved.push((set_aside(transaction, row)?, row.table));
            if let (Table::Records, Some(Field::Number(id))) = (row.table, row.fields.first()) {
                deleted(transaction, id.cast_unsigned(), generation)?;
            }
        }
        let surplus = "SELECT sequence, time, who, what, mac FROM audit_log \
            WHERE sequence > $1 OR sequence < 1 ORDER BY sequence";
        let at_head = "SELECT sequence, time, who, what, mac FROM audit_log WHERE sequence = $1";
        let head = [Value::number(log.head.sequence)];
        let mut lines = Vec::new();
        if log.surplus {
            let fields = transaction.all(surplus, &head, |row| Ok(row.into_fields()))?;
            lines.extend(fields.into_iter().map(|fields| (fields, "beyond the log's head")));
        }
        if log.replace_head {
            let fields = transaction.all(at_head, &head, |row| Ok(row.into_fields()))?;
            lines.extend(fields.into_iter().map(|fields| (fields, "the MAC was altered")));
        }
        for (fields, reason) in lines {
            let row = Damaged { table: Table::AuditLog, fields, reason: reason.into() };
            moved.push((set_aside(transaction, &row)?, row.table));
        }
        if log.replace_head {
            // The manifest knows this line's MAC, from which the log continues.
            let insert = "INSERT INTO audit_log (sequence, time, who, what, mac) \
                VALUES ($1, 0, '?', 'this line was lost', $2)";
            transaction.execute(insert, &[head[0], Value::Bytes(&log.head.mac)])?;
        }

        let manifest = Manifest {
            generation,
            keyring: opened.keys.version(),
            next,
            total,
            audit: log.head.clone(),
        };
        let Opened { transaction, keys, .. } = opened;
        let mut write = Write::over(self, Session { transaction, keys, manifest });
        if manifest_lost {
            // This row keeps the generation known, should the manifest be lost again.
            write.set_setting(GENERATION, &generation.0.to_le_bytes())?;
        }
        serve_keys.iter().try_for_each(|digest| write.serve_keys_as_in_backup(&digest.0))?;
        if !log.flawed.is_empty() {
            write.audit(who, &acknowledgement(&log.flawed))?;
        }
        for (row, _) in &moved {
            write.audit(who, &format!("salvage: {row}"))?;
        }
        for finding in &survey.findings {
            let label = finding.label.as_ref().map(|label| format!(" {label:?}"));
            let label = label.unwrap_or_default().replace('\0', "");
            let text = format!("salvage: found {}: {}{label}", finding.condition, finding.subject);
            write.audit(who, &text.replace('\0', ""))?;
        }
        write.audit(who, summary(survey.is_proven, survey.needs_decision, decision))?;
        act(&mut write)?;
        write.commit()?;
        *self.view_mut() = None;
        Ok(moved.into_iter().map(|(row, _)| row).collect())
    }
}

fn check(survey: &Survey, seen: &Survey, decision: Decision) -> Result<()> {
    if survey.findings.is_empty() {
        return Err(Code::ACTION_PROHIBITED.because("the keystore is intact"));
    }
    if survey.findings != seen.findings {
        let text = "the keystore has changed since it was checked; nothing was changed";
        return Err(Code::FUNCTION_FAILED.because(text));
    }
    if survey.needs_decision && decision == Decision::Refuse {
        let text = "there are authentic rows that are reverted or surplus, and no decision";
        return Err(Code::ACTION_PROHIBITED.because(text));
    }
    if survey.plan.unknown_reverted && decision == Decision::SetAside {
        let text = "nothing tells which rows are reverted or surplus, so they cannot be set aside";
        return Err(Code::ACTION_PROHIBITED.because(text));
    }
    Ok(())
}

/// Reads the columns of an authentic record, which a survey does not keep.
fn fill(transaction: &mut Transaction<'_>, row: &mut Damaged) -> Result<()> {
    if let (Table::Records, [Field::Number(id)]) = (row.table, row.fields.as_slice()) {
        let values = [Value::Number(*id)];
        let found =
            transaction.one(SealedRecord::SELECT_ONE, &values, |row| Ok(row.into_fields()))?;
        row.fields = found.ok_or(Code::FUNCTION_FAILED)?;
    }
    Ok(())
}

/// Returns the last line that a salvage writes.
const fn summary(is_proven: bool, needs_decision: bool, decision: Decision) -> &'static str {
    match (is_proven, needs_decision, decision) {
        (true, true, Decision::SetAside) => {
            "salvage: done; surplus rows were set aside, and all other rows are proven"
        }
        (_, true, Decision::Keep) => {
            "salvage: done; reverted or surplus rows were accepted as they are"
        }
        (true, ..) => "salvage: done; the manifest proves all other rows",
        _ => {
            "salvage: done; the manifest was rebuilt without proof, so other rows that were deleted or reverted before are accepted"
        }
    }
}
