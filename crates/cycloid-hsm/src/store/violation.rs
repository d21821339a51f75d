//! Violations: evidence that a keystore was tampered with.

use std::fmt;

use crate::{Code, Error};

/// The identity of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// A record, by its number.
    Record(u64),
    /// A setting, by its name.
    Setting(String),
    /// A slot, by its number.
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

/// A state that no daemon produces: somebody else wrote to the database, or it lost data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Violation {
    /// The row was not sealed under its name.
    Altered(Name),
    /// The row was sealed under its name, but has been replaced since.
    Reverted(Name),
    /// The keyring was never sealed, or is an earlier one.
    Keyring,
    /// The manifest was never sealed.
    Manifest,
    /// The rows are later than the manifest.
    ManifestReverted,
    /// The manifest counts more rows of a kind.
    Missing(&'static str),
    /// The manifest counts fewer rows of a kind.
    Surplus(&'static str),
    /// The number of rows is right, but not their contents.
    Exchanged,
    /// The whole keystore was reverted to an earlier state.
    Rollback,
    /// A line of the audit log was altered.
    AuditEntry(u64),
    /// Lines of the audit log are missing.
    AuditMissing(u64),
    /// The audit log continues beyond its head.
    AuditSurplus,
    /// A column has a value that no daemon writes.
    Malformed(&'static str),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the keystore was tampered with: ")?;
        match self {
            Self::Altered(name) => write!(f, "{name} was altered"),
            Self::Reverted(name) => write!(f, "{name} was reverted to an earlier state"),
            Self::Keyring => f.write_str("the keyring was altered or reverted to an earlier state"),
            Self::Manifest => f.write_str("the manifest was altered"),
            Self::ManifestReverted => f.write_str("the manifest was reverted to an earlier state"),
            Self::Missing(kind) => write!(f, "{kind} are missing"),
            Self::Surplus(kind) => write!(f, "there are unexpected {kind}"),
            Self::Exchanged => f.write_str("a row was reverted to an earlier state"),
            Self::Rollback => f.write_str("the whole database was reverted to an earlier state"),
            Self::AuditEntry(sequence) => write!(f, "line {sequence} of the audit log was altered"),
            Self::AuditMissing(sequence) => {
                write!(f, "line {sequence} of the audit log is missing")
            }
            Self::AuditSurplus => f.write_str("the audit log continues beyond its head"),
            Self::Malformed(column) => write!(f, "column {column} has an invalid value"),
        }
    }
}

impl From<Violation> for Error {
    fn from(violation: Violation) -> Self {
        Code::DEVICE_ERROR.because(violation.to_string())
    }
}
