//! Reads all of a keystore, and judges every row.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::evidence::Evidence;
use super::{Condition, Damaged, Finding, LogPlan, Plan, ServedValue, Survey, Table, label};
use crate::attribute::{Template, cka, ckk, cko};
use crate::rpc::message::AuditEntry;
use crate::store::audit::{SELECT_ALL, readable};
use crate::store::audit_chain::{Chain, Flaw, Flawed};
use crate::store::database::{Access, Field, Row, Transaction};
use crate::store::keyring::Keyring;
use crate::store::keystore::Store;
use crate::store::manifest::{Generation, Manifest, Term, Total};
use crate::store::record::{SealedRecord, SealedSetting};
use crate::store::serves_keys::{self, PREFIX};
use crate::store::slot::Slot;
use crate::store::violation::{Name, Violation};
use crate::{Error, Result};

/// Numbers of rows beyond this one are damage, not numbers that a keystore has reached.
const HIGHEST_NUMBER: u64 = 1 << 32;
/// Generations beyond this one are damage, as with numbers.
const HIGHEST_GENERATION: u64 = 1 << 56;
/// The distance between the last known generation and the next one, if the manifest is lost: more
/// than all writes that left no trace.
const GENERATIONS: u64 = 1 << 32;
/// The setting with the officer's PIN (`daemon::pin`).
const OFFICER_PIN: &str = "pin.officer";

/// Settings that each token has, and the consequence of their loss.
const SETTINGS: [(&str, &str); 3] = [
    (OFFICER_PIN, "the officer's PIN is lost: the salvage sets another one"),
    ("pin.user", "the user's PIN is lost: nobody logs in as user until the officer sets it"),
    ("token.label", "the token has no label until it is initialized again"),
];

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
struct Authentic {
    name: Name,
    generation: Generation,
    version: u64,
    term: Term,
    label: Option<String>,
    fields: Vec<Field>,
}

/// Everything that was read.
#[derive(Default)]
struct Rows {
    authentic: Vec<Authentic>,
    damaged: Vec<(Name, Damaged, Option<Term>)>,
    slots: Vec<(Name, Term)>,
    deletions: HashMap<u64, u64>,
    /// The records that a salvage has set aside before.
    set_aside: BTreeSet<u64>,
}

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
    let officer = Name::Setting(OFFICER_PIN.into());
    survey.officer_pin_lost = !rows.authentic.iter().any(|row| row.name == officer);

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

fn read(opened: &mut Opened<'_>) -> Result<Rows> {
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

/// Finds authentic rows that are reverted or surplus.
fn suspect(
    rows: &Rows,
    evidence: &Evidence,
    current: Option<&Manifest>,
    all: Total,
    survey: &mut Survey,
) {
    let mut suspects = Vec::new();
    for row in &rows.authentic {
        let Name::Record(id) = row.name else { continue };
        let deleted = rows.deletions.contains_key(&id) || evidence.is_destroyed(id);
        if deleted {
            let why = "the object was destroyed earlier, and its row is back";
            suspects.push((row, Condition::Surplus, why));
        } else if row.version < evidence.version(id) {
            let why = "the object was changed since, as the audit log shows";
            suspects.push((row, Condition::Reverted, why));
        }
    }
    let without = |rows: &[(&Authentic, Condition, &str)]| {
        let mut total = all;
        rows.iter().for_each(|(row, ..)| total.subtract(&row.name, &row.term));
        total
    };
    if let Some(manifest) = current {
        let surplus: Vec<_> =
            suspects.iter().filter(|(_, kind, _)| *kind == Condition::Surplus).copied().collect();
        if !surplus.is_empty() && without(&surplus) == manifest.total {
            survey.is_proven = true;
            suspects = surplus;
        } else if suspects.is_empty() {
            let fits =
                |row: &&Authentic| without(&[(row, Condition::Surplus, "")]) == manifest.total;
            if let Some(row) = rows.authentic.iter().find(fits) {
                survey.is_proven = true;
                let why = "the manifest proves that the row does not belong to the keystore";
                suspects.push((row, Condition::Surplus, why));
            }
        }
    }
    for (row, condition, why) in suspects {
        survey.needs_decision = true;
        survey.findings.push(Finding {
            subject: row.name.to_string(),
            condition,
            label: row.label.clone(),
            note: why.into(),
        });
        let table = match row.name {
            Name::Setting(_) => Table::Settings,
            _ => Table::Records,
        };
        let damaged =
            Damaged { table, fields: row.fields.clone(), reason: format!("{condition}: {why}") };
        survey.plan.suspects.push((damaged, row.name.clone(), row.term));
    }
}

/// Finds missing rows, as far as the manifest counts them.
fn missing(
    rows: &Rows,
    evidence: &Evidence,
    current: Option<&Manifest>,
    all: Total,
    with_damage: bool,
    survey: &mut Survey,
) {
    let Some(manifest) = current else { return };
    if survey.is_proven {
        return;
    }
    let expected = manifest.total.counts;
    let mut lack = |subject: String, label, note: String| {
        let condition = Condition::Missing;
        survey.findings.push(Finding { subject, condition, label, note });
    };
    let suspects = survey.plan.suspects.len() as u64;
    let found = all.counts.records;
    let mut some_missing = false;
    if found < expected.records {
        some_missing = true;
        let count = expected.records - found;
        let mut present = rows.deletions.keys().copied().collect::<BTreeSet<_>>();
        present.extend(&rows.set_aside);
        let names = rows.authentic.iter().map(|row| &row.name);
        for name in names.chain(rows.damaged.iter().map(|(name, ..)| name)) {
            if let Name::Record(id) = name {
                present.insert(*id);
            }
        }
        let gone = (1..manifest.next)
            .filter(|id| !present.contains(id) && !evidence.is_destroyed(*id))
            // A hostile number of a record may have raised the next one by far.
            .take(usize::try_from(count).unwrap_or(usize::MAX).saturating_add(SHOWN))
            .collect::<Vec<_>>();
        if gone.len() as u64 == count {
            for id in gone {
                lack(Name::Record(id).to_string(), evidence.label(id), String::new());
            }
        } else {
            let some = gone.iter().take(SHOWN).map(u64::to_string).collect::<Vec<_>>().join(", ");
            lack(format!("{count} records"), None, format!("some of the numbers {some}"));
        }
    }
    if all.counts.settings < expected.settings {
        some_missing = true;
        let mut count = expected.settings - all.counts.settings;
        for (name, note) in SETTINGS {
            let named = Name::Setting(name.into());
            let mut names = rows.authentic.iter().map(|row| &row.name);
            let mut damaged = rows.damaged.iter().map(|(name, ..)| name);
            let present = names.any(|name| *name == named) || damaged.any(|name| *name == named);
            if !present && count > 0 {
                count -= 1;
                lack(named.to_string(), None, note.into());
            }
        }
        if count > 0 {
            lack(format!("{count} settings"), None, SOME_SETTINGS.into());
        }
    }
    if all.counts.slots < expected.slots {
        some_missing = true;
        let count = expected.slots - all.counts.slots;
        let note = "ways to unlock the keystore are gone";
        lack(format!("{count} slots"), None, note.into());
    }
    let mut some_surplus = false;
    for (kind, found, expected, note) in [
        (
            "slots",
            all.counts.slots,
            expected.slots,
            "ways to unlock the keystore are back that were removed",
        ),
        ("settings", all.counts.settings, expected.settings, UNKNOWN_SURPLUS),
        ("records", all.counts.records, expected.records, UNKNOWN_SURPLUS),
    ] {
        if found > expected && (suspects == 0 || kind != "records") {
            some_surplus = true;
            survey.findings.push(Finding {
                subject: format!("{} {kind}", found - expected),
                condition: Condition::Surplus,
                label: None,
                note: note.into(),
            });
        }
    }
    if some_surplus {
        survey.needs_decision = true;
        survey.plan.unknown_reverted = true;
    } else if !some_missing && !with_damage && suspects == 0 {
        survey.findings.push(Finding {
            subject: "a record, setting or slot".into(),
            condition: Condition::Reverted,
            label: None,
            note: "at least one row is an earlier state of itself, which could be any of them: \
                an object's attributes, a counter of wrong PINs, a PIN or a passphrase"
                .into(),
        });
        survey.needs_decision = true;
        survey.plan.unknown_reverted = true;
    }
}

/// The maximum number of missing records that a finding lists.
const SHOWN: usize = 16;

const UNKNOWN_SURPLUS: &str = "rows are back that were removed, but nothing tells which";

const SOME_SETTINGS: &str = "if a name began with `serves-keys/`, a key that wrapped keys may decrypt again and so reveal them: destroy the wrapping keys, or restore a backup";

/// Returns the consequence of a setting's loss.
fn consequence(name: &str) -> String {
    let known = SETTINGS.iter().find(|(other, _)| *other == name).map(|(_, note)| *note);
    known
        .unwrap_or(match name {
            "backup-key" => "backups for this keystore's own key can no longer be restored here",
            _ if name.starts_with(PREFIX) => "a key that wrapped keys may decrypt again if its value returns, and so reveal them: do not unwrap or import that key again",
            _ => "",
        })
        .to_owned()
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

impl Damaged {
    fn new(table: Table, fields: Vec<Field>, error: &Error) -> Self {
        Self { table, fields, reason: error.to_string() }
    }
}
