//! Transactions on the keystore, with the keyring and the manifest from its single row.

use std::sync::Arc;

use super::database::{Access, Transaction, Value};
use super::keyring::Keyring;
use super::keystore::Store;
use super::manifest::Manifest;
use super::record::{SealedRecord, SealedSetting};
use super::slot::Slot;
use super::violation::Violation;
use crate::Result;

/// A transaction with the keyring and the manifest from the keystore's row.
pub(super) struct Session<'a> {
    pub(super) transaction: Transaction<'a>,
    pub(super) keys: Arc<Keyring>,
    pub(super) manifest: Manifest,
}

impl<'a> Session<'a> {
    const SELECT: &'static str = "SELECT keyring, manifest FROM keystore WHERE one = 1";

    /// # Errors
    /// [`Violation::Manifest`], [`Violation::Keyring`], [`Violation::Rollback`];
    /// [`Code::DEVICE_ERROR`] if the keystore is locked.
    pub(super) fn begin(store: &'a Store, access: Access) -> Result<Self> {
        // Read before the transaction begins, because others may write meanwhile.
        let seen = store.view().as_ref().map(|view| view.generation);
        let keys = store.keyring()?;
        let mut transaction = store.database.begin(access)?;
        if access == Access::Write {
            transaction.lock()?;
        }
        let row = transaction
            .one(Self::SELECT, &[], |mut row| Ok((row.bytes()?, row.bytes()?)))?
            .ok_or(Violation::Manifest)?;
        let manifest = Manifest::open(&row.1, &keys)?;
        if Some(manifest.generation) < seen {
            return Err(Violation::Rollback.into());
        }
        let keys =
            if keys.version() == manifest.keyring { keys } else { store.renew(&keys, &row.0)? };
        if keys.version() != manifest.keyring {
            return Err(Violation::Keyring.into());
        }
        Ok(Self { transaction, keys, manifest })
    }

    /// Verifies the stored keyring, which otherwise only unlocking and rotation read.
    pub(super) fn verify_keyring(&mut self) -> Result<()> {
        let sealed = self.transaction.one(Self::SELECT, &[], |mut row| row.bytes())?;
        let sealed = sealed.ok_or(Violation::Keyring)?;
        let stored = Keyring::open(self.keys.identity, self.keys.root(), &sealed)?;
        if stored.version() == self.keys.version() {
            Ok(())
        } else {
            Err(Violation::Keyring.into())
        }
    }

    /// Returns the row of a record, authenticated, but possibly reverted.
    pub(super) fn record(&mut self, id: u64) -> Result<Option<SealedRecord>> {
        let values = [Value::number(id)];
        self.transaction.one(SealedRecord::SELECT_ONE, &values, SealedRecord::from_row)
    }

    /// Returns the rows of all records, unverified.
    pub(super) fn records(&mut self) -> Result<Vec<SealedRecord>> {
        self.transaction.all(SealedRecord::SELECT, &[], SealedRecord::from_row)
    }

    pub(super) fn setting(&mut self, name: &str) -> Result<Option<SealedSetting>> {
        let values = [Value::Text(name)];
        self.transaction.one(SealedSetting::SELECT_ONE, &values, SealedSetting::from_row)
    }

    /// Returns the rows of all settings, unverified.
    pub(super) fn settings(&mut self) -> Result<Vec<SealedSetting>> {
        self.transaction.all(SealedSetting::SELECT, &[], SealedSetting::from_row)
    }

    pub(super) fn slots(&mut self) -> Result<Vec<Slot>> {
        let slots = self.transaction.all(Slot::SELECT, &[], Slot::from_row)?;
        if slots.len() > Slot::MOST { Err(Violation::Surplus("slots").into()) } else { Ok(slots) }
    }
}
