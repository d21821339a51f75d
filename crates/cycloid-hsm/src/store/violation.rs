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

/// The beginning of an error about rows that no daemon wrote.
const TAMPERED: &str = "the keystore was tampered with";
/// The beginning of an error about a database's file that cannot be read.
pub(super) const DAMAGED_FILE: &str = "the database's file is damaged";

/// A reason why a keystore cannot be used, for a hint to its operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There is none.
    Absent,
    /// This process may not read and write its file, or the directory.
    Forbidden,
    /// Rows were changed, removed or reverted: `cycloid-hsm salvage` tells them apart.
    Tampered,
    /// The keys of all rows are lost, which only a backup remedies.
    KeysLost,
    /// SQLite cannot read its file.
    DamagedFile,
}

impl Trouble {
    /// Returns the reason of an error, if it is one of these.
    pub fn of(error: &Error) -> Option<Self> {
        let detail = error.detail.as_str();
        let keys = [Violation::Keyring, Violation::Malformed(IDENTITY)].map(Error::from);
        let keys_lost = keys.iter().any(|error| error.detail == detail);
        match error.code {
            Code::DEVICE_ERROR if detail.starts_with(NO_KEYSTORE) => Some(Self::Absent),
            Code::DEVICE_ERROR if detail.starts_with(CANNOT_OPEN) => Some(Self::Forbidden),
            Code::DEVICE_ERROR if detail.starts_with(DAMAGED_FILE) => Some(Self::DamagedFile),
            Code::DEVICE_ERROR if keys_lost => Some(Self::KeysLost),
            Code::DEVICE_ERROR if detail.starts_with(TAMPERED) => Some(Self::Tampered),
            _ => None,
        }
    }
}

/// The column with the keystore's identity, to which every seal is bound.
pub(super) const IDENTITY: &str = "keystore.identity";
/// The beginning of an error about a missing keystore.
pub(super) const NO_KEYSTORE: &str = "no keystore at";
/// The beginning of an error about a file that this process may not read and write.
pub(super) const CANNOT_OPEN: &str = "cannot open the keystore";

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
        write!(f, "{TAMPERED}: ")?;
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
