//! Salvage of a damaged keystore: the damage is listed, damaged rows are set aside, and everything
//! intact works again.
//!
//! Every row is judged by itself: its own seal proves that this keystore wrote it. Only the
//! manifest proves that the set of rows is complete and current. The terms of damaged records often
//! survive (`record`), and then the manifest still proves the rest. Otherwise a rebuilt manifest
//! describes the rows as they are, so rows that somebody deleted or reverted before are accepted:
//! that is the officer's decision, and the audit log records it.
//!
//! Further evidence, which an attacker with the database can remove but not forge, is in the audit
//! log: a destroyed object must not be present, and a record's version counts its changes.

mod completeness;
mod evidence;
mod quarantine;
mod repair;
mod rows;
mod survey;

use std::fmt;

use zeroize::Zeroizing;

use super::audit_chain::Flawed;
use super::audit_head::AuditHead;
use super::database::Field;
use super::manifest::{Generation, Total};
use super::violation::Name;
use crate::attribute::{Template, cka};

pub use quarantine::Quarantined;

/// A table whose rows are set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    Records,
    Settings,
    Slots,
    AuditLog,
}

/// The kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Bytes were changed: the seal does not open.
    Damaged,
    /// The row is gone.
    Missing,
    /// The row was deleted earlier, or never belonged here, and is back.
    Surplus,
    /// The row is authentic and an earlier state of itself.
    Reverted,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Damaged => "damaged",
            Self::Missing => "missing",
            Self::Surplus => "surplus",
            Self::Reverted => "reverted",
        })
    }
}

/// One thing that is wrong with a keystore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The affected row or rows.
    pub subject: String,
    /// The damage.
    pub condition: Condition,
    /// The object's label, from its record or from the audit log.
    pub label: Option<String>,
    /// The consequence and its remedy; empty if there is nothing to add.
    pub note: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}", self.condition, self.subject)?;
        if let Some(label) = &self.label {
            write!(f, " {label:?}")?;
        }
        match self.note.as_str() {
            "" => Ok(()),
            note => write!(f, "\t{note}"),
        }
    }
}

/// The officer's decision about authentic rows that are reverted or surplus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// There must be none.
    Refuse,
    /// They stay, as they are.
    Keep,
    /// They are set aside, with the damaged ones.
    SetAside,
}

/// The result of reading all of a keystore.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The damage; empty if the keystore is intact.
    pub findings: Vec<Finding>,
    /// Whether the manifest proves that, beyond the findings, no row is missing or reverted.
    pub is_proven: bool,
    /// Whether there are authentic rows that need a [`Decision`].
    pub needs_decision: bool,
    /// Whether the officer's PIN is lost, so that a salvage must set another one.
    pub officer_pin_lost: bool,
    /// Whether the token's label is lost, so that a salvage must set another one.
    pub token_label_lost: bool,
    /// Whether attempts at a PIN can be counted before the salvage.
    pub can_count_attempts: bool,
    plan: Plan,
}

/// A salvage's changes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Plan {
    damaged: Vec<Damaged>,
    /// Authentic rows that are reverted or surplus, with their terms.
    suspects: Vec<(Damaged, Name, [u8; 32])>,
    /// Whether some reverted rows cannot be told from the others.
    unknown_reverted: bool,
    /// Whether there is no current manifest.
    manifest_lost: bool,
    /// All authentic rows, suspects included.
    total: Total,
    generation: Generation,
    next: u64,
    log: LogPlan,
    /// Digests of values that serve keys and whose settings are damaged or missing.
    serve_keys: Vec<ServedValue>,
}

/// The digest of a value that serves keys.
#[derive(Clone, PartialEq)]
struct ServedValue(Zeroizing<[u8; 32]>);

/// Shows nothing of the value.
impl fmt::Debug for ServedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServedValue(..)")
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct LogPlan {
    head: AuditHead,
    /// Lines beyond the head are set aside.
    surplus: bool,
    /// The head's line is damaged or missing: another takes its place, with the known MAC.
    replace_head: bool,
    /// Flawed lines that no line acknowledges yet.
    flawed: Vec<Flawed>,
}

/// A row to be set aside, as it is.
#[derive(Clone, Debug, PartialEq)]
struct Damaged {
    table: Table,
    fields: Vec<Field>,
    reason: String,
}

/// Returns an object's label, as the audit log shows it.
fn label(attributes: &Template) -> String {
    let label = String::from_utf8_lossy(attributes.get(cka::LABEL).unwrap_or_default());
    label.chars().filter(|c| !c.is_control()).take(64).collect()
}
