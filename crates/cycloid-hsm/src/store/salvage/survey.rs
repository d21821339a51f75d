//! Reads all of a keystore, and judges every row.

use std::collections::HashMap;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::completeness::{OFFICER_PIN, TOKEN_LABEL, consequence, missing, suspect};
use super::evidence::Evidence;
use super::rows::{Opened, Rows, read};
use super::{Condition, Finding, LogPlan, Plan, ServedValue, Survey, label};
use crate::Result;
use crate::attribute::{Template, cka, ckk, cko};
use crate::rpc::message::AuditEntry;
use crate::store::audit::{SELECT_ALL, readable};
use crate::store::audit_chain::{Chain, Flaw, Flawed};
use crate::store::database::Access;
use crate::store::keystore::Store;
use crate::store::manifest::Generation;
use crate::store::record::{SealedRecord, SealedSetting};
use crate::store::serves_keys::{self, PREFIX};
use crate::store::violation::Name;

/// Numbers of rows beyond this one are damage, not numbers that a keystore has reached.
const HIGHEST_NUMBER: u64 = 1 << 32;
/// Generations beyond this one are damage, as with numbers.
const HIGHEST_GENERATION: u64 = 1 << 56;
/// The distance between the last known generation and the next one, if the manifest is lost: more
/// than all writes that left no trace.
const GENERATIONS: u64 = 1 << 32;
impl Store {
    /// Reads all of a keystore, and returns its damage. Changes nothing.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`](crate::Code::DEVICE_ERROR) if the keystore is locked, its keyring is
    /// an earlier one, or the database fails.
    pub fn survey(&self) -> Result<Survey> {
        survey(&mut Opened::begin(self, Access::Read)?)
    }

    /// Returns whether another program has a connection to the database: a daemon, or another
    /// command. No transaction of this process may be open.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`](crate::Code::DEVICE_ERROR).
    pub fn is_in_use(&self) -> Result<bool> {
        self.database.has_others()
    }

    /// Returns an authentic setting's value, even if the rest of the keystore is damaged. Nothing
    /// proves that the value is the latest.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`](crate::Code::DEVICE_ERROR) if the keystore is locked.
    pub fn setting_of_damaged(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let opened = &mut Opened::begin(self, Access::Read)?;
        let rows = opened
            .transaction
            .all(SealedSetting::SELECT, &[], |row| Ok(SealedSetting::from_row(row).ok()))?;
        let named = Name::Setting(name.to_owned());
        let row = rows.into_iter().flatten().find(|row| row.name() == named);
        Ok(row.and_then(|row| row.open(&opened.keys).ok()).map(|value| value.to_vec()))
    }
}

/// Judges every row.
pub(super) fn survey(opened: &mut Opened<'_>) -> Result<Survey> {
    let rows = read(opened)?;
    let mut evidence = Evidence::default();
    let (log, log_is_later) = walk(opened, &mut evidence)?;
    let manifest = opened.manifest.clone();
    let manifest = manifest.as_ref();
    let latest = rows.authentic.iter().map(|row| row.generation).max().unwrap_or_default();
    let is_later = log_is_later
        || manifest.is_some_and(|manifest| {
            latest > manifest.generation || opened.keys.version() > manifest.keyring
        });
    let current = manifest.filter(|_| !is_later);

    let mut findings = Vec::new();
    if current.is_none() {
        findings.push(Finding {
            subject: "manifest".into(),
            condition: if is_later { Condition::Reverted } else { Condition::Damaged },
            label: None,
            note: "the list of all rows is rebuilt from the rows that are authentic".into(),
        });
    }
    let mut survey = Survey {
        findings,
        is_proven: false,
        needs_decision: false,
        officer_pin_lost: false,
        token_label_lost: false,
        can_count_attempts: current.is_some() && !log.surplus,
        plan: Plan::default(),
    };
    let plan = &mut survey.plan;
    for row in &rows.authentic {
        plan.total.add(&row.name, &row.term);
    }
    rows.slots.iter().for_each(|(name, term)| plan.total.add(name, term));
    let mut all = plan.total;
    for (name, _, term) in &rows.damaged {
        all.add(name, &term.unwrap_or_default());
    }
    survey.is_proven = current.is_some_and(|manifest| manifest.total == all);
    let with_damage = !rows.damaged.is_empty();
    if !survey.is_proven {
        suspect(&rows, &evidence, current, all, &mut survey);
        missing(&rows, &evidence, current, all, with_damage, &mut survey);
    }
    for (name, damaged, _) in &rows.damaged {
        survey.findings.push(Finding {
            subject: name.to_string(),
            condition: Condition::Damaged,
            label: match name {
                Name::Record(id) => evidence.label(*id),
                _ => None,
            },
            note: match name {
                Name::Setting(name) => consequence(name),
                _ => String::new(),
            },
        });
        survey.plan.damaged.push(damaged.clone());
    }
    serve_keys(opened, &rows, &mut survey)?;
    for flawed in &log.flawed {
        survey.findings.push(Finding {
            subject: format!("audit log, line {}", flawed.lines()),
            condition: match flawed.flaw {
                Flaw::Missing => Condition::Missing,
                Flaw::Surplus => Condition::Surplus,
                Flaw::Altered | Flaw::Unverifiable => Condition::Damaged,
            },
            label: None,
            note: flawed.to_string(),
        });
    }
    let is_lost = |name: &str| {
        let name = Name::Setting(name.into());
        !rows.authentic.iter().any(|row| row.name == name)
    };
    survey.officer_pin_lost = is_lost(OFFICER_PIN);
    survey.token_label_lost = is_lost(TOKEN_LABEL);

    let numbers = rows.authentic.iter().map(|row| &row.name);
    let numbers = numbers.chain(rows.damaged.iter().map(|(name, ..)| name));
    let numbers = numbers.filter_map(|name| match name {
        Name::Record(id) => Some(*id),
        _ => None,
    });
    let numbers = numbers.chain(rows.deletions.keys().copied()).chain(rows.set_aside);
    let highest = numbers.filter(|id| *id < HIGHEST_NUMBER).max().unwrap_or_default();
    let plan = &mut survey.plan;
    plan.next = manifest.map_or(1, |manifest| manifest.next).max(highest + 1);
    let known = manifest.map_or(latest, |manifest| manifest.generation.max(latest)).0;
    let deletions = rows.deletions.values().copied();
    let known = deletions.filter(|one| *one < HIGHEST_GENERATION).max().unwrap_or(0).max(known);
    plan.manifest_lost = current.is_none();
    plan.generation =
        Generation(if current.is_some() { known + 1 } else { known.saturating_add(GENERATIONS) });
    plan.log = log;
    Ok(survey)
}

/// Walks the audit log. Also returns whether it continues beyond the manifest with authentic lines,
/// so that the manifest is an earlier one.
fn walk(opened: &mut Opened<'_>, evidence: &mut Evidence) -> Result<(LogPlan, bool)> {
    let known = opened.manifest.as_ref().map(|manifest| manifest.audit.clone());
    let mut chain = Chain::new(&opened.keys);
    let (mut is_later, mut last, mut at_head) = (false, 0, None);
    opened.transaction.query(SELECT_ALL, &[], |row| {
        let line: AuditEntry = readable(row);
        let follows_head = known.as_ref().is_some_and(|known| *known == chain.head);
        let authentic = chain.line(&line);
        is_later |= authentic && follows_head;
        if line.sequence <= i64::MAX as u64 {
            last = line.sequence;
        }
        if known.as_ref().is_some_and(|known| known.sequence == line.sequence) {
            at_head = Some(chain.head.mac);
        }
        if authentic {
            evidence.line(&line.what);
            if let Some(id) = super::quarantine::restored(&line.what) {
                evidence.restored(id);
            }
        }
        Ok(())
    })?;
    let head = match known {
        Some(known) if !is_later => known,
        _ => chain.verified.clone(),
    };
    let open = chain.judged().filter(|(_, by)| by.is_none());
    // Flaws beyond the head are one surplus.
    let mut flawed: Vec<Flawed> = open
        .map(|(flawed, _)| flawed.clone())
        .filter(|flawed| flawed.first <= head.sequence)
        .collect();
    flawed.iter_mut().for_each(|flawed| flawed.last = flawed.last.min(head.sequence));
    // Without a manifest `head` is the last verified line, which is present.
    let replace_head =
        head.sequence > 0 && at_head != Some(head.mac) && head.sequence != chain.verified.sequence;
    let flaw = |first, flaw| Flawed { first, last: head.sequence, flaw };
    if last < head.sequence && flawed.last().is_none_or(|flawed| flawed.last != head.sequence) {
        flawed.push(flaw(last + 1, Flaw::Missing));
    } else if replace_head && flawed.last().is_none_or(|flawed| flawed.last != head.sequence) {
        flawed.push(flaw(head.sequence, Flaw::Altered));
    }
    let surplus = last > head.sequence || chain.flawed.iter().any(is_impossible);
    if surplus {
        let (first, last) = (head.sequence + 1, last.max(head.sequence + 1));
        flawed.push(Flawed { first, last, flaw: Flaw::Surplus });
    }
    Ok((LogPlan { head, surplus, replace_head, flawed }, is_later))
}

/// Returns whether no line has such a number.
fn is_impossible(flawed: &Flawed) -> bool {
    flawed.first == 0 || flawed.first > i64::MAX as u64
}

/// Looks for the values whose settings `serves-keys/…` are damaged among the keys: their settings
/// can be made again.
fn serve_keys(opened: &mut Opened<'_>, rows: &Rows, survey: &mut Survey) -> Result<()> {
    let wanted = |name: &Name| matches!(name, Name::Setting(name) if name.starts_with(PREFIX));
    if !rows.damaged.iter().any(|(name, ..)| wanted(name)) {
        return Ok(());
    }
    let keys = &opened.keys;
    let mut digests = HashMap::new();
    opened.transaction.query(SealedRecord::SELECT, &[], |row| {
        let Ok(sealed) = SealedRecord::from_row(row) else { return Ok(()) };
        let Ok(record) = sealed.open(keys) else { return Ok(()) };
        let digest = match record.attributes.number(cka::CLASS).ok().flatten() {
            Some(class) if class == u64::from(cko::SECRET_KEY) => match sealed.secret(keys) {
                Ok(Some(secret)) => digest(&secret),
                _ => return Ok(()),
            },
            _ => match record.attributes.get(cka::MODULUS) {
                Some(modulus) if is_rsa(&record.attributes) => {
                    let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
                    digest(&modulus[zeros..])
                }
                _ => return Ok(()),
            },
        };
        let name = Name::Setting(serves_keys::setting(keys, &digest.0));
        digests.insert(name, (record.id, label(&record.attributes), digest));
        Ok(())
    })?;
    for finding in &mut survey.findings {
        let named = rows.damaged.iter().find(|(name, ..)| name.to_string() == finding.subject);
        let Some((name, ..)) = named.filter(|(name, ..)| wanted(name)) else { continue };
        if let Some((id, label, digest)) = digests.get(name) {
            finding.note = format!(
                "key {id} {label:?} wrapped keys: the salvage makes the setting again, so that it may still not decrypt"
            );
            survey.plan.serve_keys.push(digest.clone());
        }
    }
    Ok(())
}

fn digest(value: &[u8]) -> ServedValue {
    ServedValue(Zeroizing::new(Sha256::digest(value).into()))
}

fn is_rsa(attributes: &Template) -> bool {
    attributes.number(cka::KEY_TYPE).ok().flatten() == Some(ckk::RSA.into())
}
