//! What is found when a keystore is not as it was left.

use std::fmt;

use crate::error::{Code, Error};

/// A row, by what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// A record, by its number.
    Record(u64),
    /// A setting, by its name.
    Setting(String),
    /// A way to unlock, by its number.
    Slot(u64),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(id) => write!(f, "record {id}"),
            Self::Setting(name) => write!(f, "setting {name:?}"),
            Self::Slot(id) => write!(f, "slot {id}"),
        }
    }
}

/// Something that no daemon does: someone else wrote to the database, or it lost something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Violation {
    /// The row is not one that was sealed under its name.
    Altered(Name),
    /// The row was sealed under its name, and something else took its place since.
    Reverted(Name),
    /// The keyring is not one that was sealed, or an earlier one.
    Keyring,
    /// The manifest is not one that was sealed.
    Manifest,
    /// The rows are later than the manifest.
    ManifestReverted,
    /// Rows of a kind are fewer than the manifest says.
    Missing(&'static str),
    /// Rows of a kind are more than the manifest says.
    Surplus(&'static str),
    /// There are as many rows as there should be, but not those.
    Exchanged,
    /// The whole keystore is earlier than it once was.
    Rollback,
    /// A line of the audit log is not what was written.
    AuditEntry(u64),
    /// Lines of the audit log are gone.
    AuditMissing(u64),
    /// The audit log goes on after its head.
    AuditSurplus,
    /// A column holds what no daemon writes there.
    Malformed(&'static str),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the keystore was tampered with: ")?;
        match self {
            Self::Altered(name) => write!(f, "{name} was altered"),
            Self::Reverted(name) => write!(f, "{name} was put back to an earlier state"),
            Self::Keyring => f.write_str("the keyring was altered or put back to an earlier state"),
            Self::Manifest => f.write_str("the manifest was altered"),
            Self::ManifestReverted => f.write_str("the manifest was put back to an earlier state"),
            Self::Missing(kind) => write!(f, "{kind} are missing"),
            Self::Surplus(kind) => write!(f, "there are more {kind} than there should be"),
            Self::Exchanged => f.write_str("a row was put back to an earlier state"),
            Self::Rollback => f.write_str("all of it was put back to an earlier state"),
            Self::AuditEntry(sequence) => write!(f, "line {sequence} of the audit log was altered"),
            Self::AuditMissing(sequence) => {
                write!(f, "line {sequence} of the audit log is missing")
            }
            Self::AuditSurplus => f.write_str("the audit log goes on after its end"),
            Self::Malformed(column) => write!(f, "column {column} holds something else"),
        }
    }
}

impl From<Violation> for Error {
    fn from(violation: Violation) -> Self {
        Code::DEVICE_ERROR.because(violation.to_string())
    }
}
