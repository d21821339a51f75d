//! The keystore: sealed records in an SQL database that need not be trusted.
//!
//! # Keys
//!
//! *Slots* seal a root key, each by a passphrase, a key file, or both. The root key seals the
//! *keyring*: the keys of the audit log and the manifest, and the master key, which is the
//! key-encryption key of records and settings. An unlocked keyring exists only in locked memory.
//!
//! # Detection of tampering
//!
//! A record's attributes and its secret are sealed with AES-256-GCM-SIV, and bound to the keystore,
//! to each other and to the row's clear columns: number, version, class, flags, epoch of the key.
//! So every reader of a row detects a changed byte or a column from another row. The sealed
//! *manifest* contains the sum over all rows: [`Store::load`] detects missing, duplicate and
//! reverted rows. Once [`Store::load`] or [`Store::changes`] has read a row, every operation on it
//! compares it with what was read. If **the whole database** is reverted to an earlier state, a
//! running daemon detects it; a daemon that starts later can detect it only from a head of the
//! audit log that was exported before: [`Store::audit_verify`].
//!
//! An earlier copy of a database opens with whatever unlocked it at that time. If a passphrase
//! becomes known, changing it does not help against an attacker with such a copy, who learns the
//! root key from it: then make a new keystore, and restore a backup into it.
//!
//! # Damage
//!
//! [`Store::survey`] judges every row by itself, and [`Store::salvage`] sets damaged ones aside and
//! rebuilds the manifest. A manifest that was rebuilt without proof accepts rows that were deleted
//! or reverted before, so a salvage is the security officer's decision.
//!
//! # Several daemons
//!
//! Writers queue for a lock on the row of `keystore`. Each write makes a new *generation*, and
//! [`Store::changes`] returns what others have written since a given one.

mod audit;
mod audit_chain;
mod audit_head;
mod backup;
mod database;
pub(crate) mod encoding;
mod hex;
mod keyring;
mod keystore;
mod legacy;
mod manifest;
mod memory;
mod read;
mod record;
mod rotation;
mod salvage;
mod seal;
mod serves_keys;
mod session;
mod slot;
#[cfg(test)]
pub(crate) mod tests;
mod unlocking;
mod uses_per_second;
mod violation;
mod write;

pub use audit::AuditEntry;
pub use audit_head::AuditHead;
pub use backup::{BackupKey, BackupPrivateKey, Share};
pub use keystore::{Store, StoreWatch};
pub use manifest::Generation;
pub use record::Record;
pub use salvage::{Condition, Decision, Finding, Quarantined, Survey};
pub use slot::{Cost, KEY_FILE, Unlocking};
pub use uses_per_second::Allowance;
pub use violation::Trouble;
pub use write::{New, Write};
