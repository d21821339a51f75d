//! Compares the rows with the manifest, and with the audit log's evidence.

use std::collections::BTreeSet;

use super::evidence::Evidence;
use super::rows::{Authentic, Rows};
use super::{Condition, Damaged, Finding, Survey, Table};
use crate::store::manifest::{Manifest, Total};
use crate::store::serves_keys::PREFIX;
use crate::store::violation::Name;

/// The setting with the officer's PIN (`daemon::pin`).
pub(super) const OFFICER_PIN: &str = "pin.officer";

/// The setting with the token's label (`daemon::sessions`).
pub(super) const TOKEN_LABEL: &str = "token.label";

/// Settings that each token has, and the consequence of their loss.
const SETTINGS: [(&str, &str); 3] = [
    (OFFICER_PIN, "the officer's PIN is lost: the salvage sets another one"),
    ("pin.user", "the user's PIN is lost: nobody logs in as user until the officer sets it"),
    (TOKEN_LABEL, "the token's label is lost: the salvage sets the one of --label"),
];

/// Finds authentic rows that are reverted or surplus.
pub(super) fn suspect(
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
pub(super) fn missing(
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
            lack(number(count, "records"), None, format!("some of the numbers {some}"));
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
            lack(number(count, "settings"), None, SOME_SETTINGS.into());
        }
    }
    if all.counts.slots < expected.slots {
        some_missing = true;
        let count = expected.slots - all.counts.slots;
        let note = "ways to unlock the keystore are gone";
        lack(number(count, "slots"), None, note.into());
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
                subject: number(found - expected, kind),
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

/// Returns `1 slot` or `2 slots`.
fn number(count: u64, kind: &str) -> String {
    let kind = if count == 1 { kind.trim_end_matches('s') } else { kind };
    format!("{count} {kind}")
}

/// The maximum number of missing records that a finding lists.
const SHOWN: usize = 16;

const UNKNOWN_SURPLUS: &str = "rows are back that were removed, but nothing tells which";

const SOME_SETTINGS: &str = "if a name began with `serves-keys/`, a key that wrapped keys may decrypt again and so reveal them: destroy the wrapping keys, or restore a backup";

/// Returns the consequence of a setting's loss.
pub(super) fn consequence(name: &str) -> String {
    let known = SETTINGS.iter().find(|(other, _)| *other == name).map(|(_, note)| *note);
    known
        .unwrap_or(match name {
            "pin.auditor" => "the auditor's PIN is lost: nobody logs in as auditor",
            "legacy" => "what `cycloid-hsm legacy` allowed is forbidden: allow it again",
            "backup-key" => "backups for this keystore's own key can no longer be restored here",
            _ if name.starts_with(PREFIX) => "a key that wrapped keys may decrypt again if its value returns, and so reveal them: do not unwrap or import that key again",
            _ => "",
        })
        .to_owned()
}
