//! Creates, opens, unlocks and locks a keystore, and manages its slots.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::database::{Access, Database, Transaction, Value};
use super::keyring::Keyring;
use super::keystore::Store;
use super::manifest::{Generation, Manifest, View};
use super::seal::{FORMAT, Identity, random};
use super::session::Session;
use super::slot::{Cost, Slot, Unlocking};
use super::violation::{IDENTITY, NO_KEYSTORE, Violation};
use super::write::Write;
use crate::{Code, Error, Result};

/// The schema migrations; each one raises the version by one, the first from an empty database.
const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/0001_keystore.sql")];

impl Store {
    /// Creates a keystore, unlocked and empty, at `sqlite:PATH` or `postgres://…`.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] for another URL, or if a keystore exists already;
    /// [`Code::PIN_LEN_RANGE`] for an empty passphrase; [`Code::DEVICE_ERROR`].
    pub fn create(url: &str, unlock: &Unlocking) -> Result<Self> {
        Self::create_with_cost(url, unlock, Cost::DEFAULT)
    }

    /// [`create`](Self::create)s a keystore with other parameters for argon2id, which also apply to
    /// slots that are added later.
    ///
    /// # Errors
    /// Those of [`create`](Self::create), and [`Code::ARGUMENTS_BAD`] for parameters out of bounds.
    pub fn create_with_cost(url: &str, unlock: &Unlocking, cost: Cost) -> Result<Self> {
        Self::create_filled(url, unlock, cost, |_| Ok(()))
    }

    /// Creates a keystore and writes its contents, in one transaction: after every error but
    /// [`Code::GENERAL_ERROR`], the database has no such keystore.
    ///
    /// # Errors
    /// Those of [`create_with_cost`](Self::create_with_cost) and of `fill`;
    /// [`Code::GENERAL_ERROR`] if the answer of PostgreSQL to the commit was lost, and the keystore
    /// is not there, or not yet.
    pub fn create_filled(
        url: &str,
        unlock: &Unlocking,
        cost: Cost,
        fill: impl FnOnce(&mut Write<'_>) -> Result<()>,
    ) -> Result<Self> {
        let database = Database::new(url)?;
        let keys = Arc::new(Keyring::generate(random()?)?);
        let slot = Slot::new(1, &keys.identity, keys.root(), unlock, cost)?;
        // The commit of the first generation moves the view to it.
        let mut view = View::new(Generation(0));
        view.set(slot.name(), Some(slot.term(&keys.identity, keys.terms())));
        let manifest = Manifest {
            generation: Generation(1),
            keyring: keys.version(),
            next: 1,
            total: view.total,
            ..Manifest::default()
        };
        let store = Self::new(database, keys.identity);
        *store.view_mut() = Some(view);
        store.set_keyring(Some(Arc::clone(&keys)));

        store.database.create()?;
        let mut transaction = store.database.begin(Access::Write)?;
        if transaction.has_table("keystore")? {
            let text = format!("a keystore exists already at {}", store.database);
            return Err(Code::ARGUMENTS_BAD.because(text));
        }
        migrate(&mut transaction, 0)?;
        transaction.execute(Slot::INSERT, &slot.values())?;
        let insert = "INSERT INTO keystore (one, format, identity, keyring, manifest) \
            VALUES (1, $1, $2, $3, $4)";
        let (keyring, sealed) = (keys.seal()?, manifest.seal(&keys)?);
        let format = Value::number(FORMAT.into());
        let blobs = [&keys.identity, &*keyring, &*sealed].map(Value::Bytes);
        transaction.execute(insert, &[format, blobs[0], blobs[1], blobs[2]])?;
        let mut write = Write::over(&store, Session { transaction, keys, manifest });
        fill(&mut write)?;
        match write.commit() {
            Ok(()) => Ok(store),
            Err(error) => Self::created_before(&error, url, &store.identity, unlock),
        }
    }

    /// Opens the keystore with this identity, whose commit may have failed with this error.
    fn created_before(
        error: &Error,
        url: &str,
        identity: &Identity,
        unlock: &Unlocking,
    ) -> Result<Self> {
        if let Ok(store) = Self::open(url)
            && store.identity == *identity
        {
            store.unlock(unlock)?;
            return Ok(store);
        }
        // SQLite has no answers to lose.
        Err(if url.starts_with("sqlite:") {
            error.clone()
        } else {
            Code::GENERAL_ERROR.because(format!("{error}; the database may have the keystore"))
        })
    }

    /// Opens a keystore; it is locked at first.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] for a URL that is neither `sqlite:PATH` nor `postgres://…`;
    /// [`Code::DEVICE_ERROR`] if there is no keystore.
    pub fn open(url: &str) -> Result<Self> {
        let database = Database::new(url)?;
        let mut transaction = database.begin(Access::Read)?;
        if !transaction.has_table("keystore")? {
            return Err(Code::DEVICE_ERROR.because(format!("{NO_KEYSTORE} {database}")));
        }
        if schema_version(&mut transaction)? < MIGRATIONS.len() as u64 {
            drop(transaction);
            transaction = database.begin(Access::Write)?;
            transaction.lock()?;
            // Another daemon may have migrated it meanwhile.
            let version = schema_version(&mut transaction)?;
            migrate(&mut transaction, version)?;
            transaction.commit()?;
            transaction = database.begin(Access::Read)?;
        }
        let select = "SELECT format, identity FROM keystore WHERE one = 1";
        let row = transaction.one(select, &[], |mut row| Ok((row.number()?, row.bytes()?)))?;
        let (format, identity) = row.ok_or(Violation::Keyring)?;
        if format != u64::from(FORMAT) {
            let text = format!(
                "the keystore has format {format}, but this program supports only {FORMAT}"
            );
            return Err(Code::DEVICE_ERROR.because(text));
        }
        let identity = identity.try_into().map_err(|_| Violation::Malformed(IDENTITY))?;
        drop(transaction);
        Ok(Self::new(database, identity))
    }

    fn new(database: Database, identity: Identity) -> Self {
        Self {
            database,
            identity,
            keys: RwLock::default(),
            writer: Mutex::default(),
            view: RwLock::default(),
        }
    }

    /// Unlocks the keystore.
    ///
    /// # Errors
    /// [`Code::PIN_INCORRECT`] if the credentials open no slot; [`Code::DEVICE_ERROR`].
    pub fn unlock(&self, unlock: &Unlocking) -> Result<()> {
        let (keys, manifest) = self.open_keyring(unlock)?;
        if Manifest::open(&manifest, &keys)?.keyring != keys.version() {
            return Err(Violation::Keyring.into());
        }
        self.set_keyring(Some(Arc::new(keys)));
        Ok(())
    }

    /// Unlocks the keystore even if its manifest is damaged, for a [`survey`](Self::survey) or a
    /// salvage: other operations may fail.
    ///
    /// # Errors
    /// As [`unlock`](Self::unlock).
    pub fn unlock_to_salvage(&self, unlock: &Unlocking) -> Result<()> {
        let (keys, _) = self.open_keyring(unlock)?;
        self.set_keyring(Some(Arc::new(keys)));
        Ok(())
    }

    /// Opens the stored keyring, and returns it with the sealed manifest.
    fn open_keyring(&self, unlock: &Unlocking) -> Result<(Keyring, Vec<u8>)> {
        let mut transaction = self.database.begin(Access::Read)?;
        let select = "SELECT keyring, manifest FROM keystore WHERE one = 1";
        let row = transaction.one(select, &[], |mut row| Ok((row.bytes()?, row.bytes()?)))?;
        let (keyring, manifest) = row.ok_or(Violation::Keyring)?;
        // A slot that nobody could have written opens nothing, and hides no other slot.
        let slots = transaction.all(Slot::SELECT, &[], |row| Ok(Slot::from_row(row).ok()))?;
        drop(transaction);
        for slot in slots.iter().flatten().take(Slot::MOST) {
            if let Some(root) = slot.open(&self.identity, unlock)? {
                return Ok((Keyring::open(self.identity, &root, &keyring)?, manifest));
            }
        }
        Err(wrong(unlock))
    }

    /// Locks the keystore. Its keys are wiped as soon as the operations in progress have ended.
    pub fn lock(&self) {
        self.set_keyring(None);
    }

    /// Returns whether the keystore is locked.
    pub fn is_locked(&self) -> bool {
        self.keyring().is_err()
    }

    /// Replaces the credentials `old` by `new`.
    ///
    /// # Errors
    /// [`Code::PIN_INCORRECT`] if `old` opens no slot; [`Code::DEVICE_ERROR`] if the keystore is
    /// locked.
    pub fn change_unlocking(&self, old: &Unlocking, new: &Unlocking) -> Result<()> {
        let (slot, keys) = (self.slot(old)?, self.keyring()?);
        let new = Slot::new(slot.id, &self.identity, keys.root(), new, slot.cost)?;
        self.write(|write| write.replace_slot(Some(&slot), Some(&new)))
    }

    /// Adds the credentials `new`.
    ///
    /// # Errors
    /// [`Code::ACTION_PROHIBITED`] if the maximum number of slots is in use; [`Code::DEVICE_ERROR`]
    /// if the keystore is locked.
    pub fn add_unlocking(&self, new: &Unlocking) -> Result<()> {
        let keys = self.keyring()?;
        let slots = self.database.begin(Access::Read)?.all(Slot::SELECT, &[], Slot::from_row)?;
        let id = slots.iter().map(|slot| slot.id).max().unwrap_or_default() + 1;
        let cost = slots.first().map_or(Cost::DEFAULT, |slot| slot.cost);
        let new = Slot::new(id, &self.identity, keys.root(), new, cost)?;
        self.write(|write| write.replace_slot(None, Some(&new)))
    }

    /// Removes the credentials `old`.
    ///
    /// # Errors
    /// [`Code::PIN_INCORRECT`] if `old` opens no slot; [`Code::ACTION_PROHIBITED`] if it is the
    /// last one; [`Code::DEVICE_ERROR`] if the keystore is locked.
    pub fn remove_unlocking(&self, old: &Unlocking) -> Result<()> {
        let slot = self.slot(old)?;
        self.write(|write| write.replace_slot(Some(&slot), None))
    }

    /// Returns the slot that `unlock` opens.
    fn slot(&self, unlock: &Unlocking) -> Result<Slot> {
        let slots = self.database.begin(Access::Read)?.all(Slot::SELECT, &[], Slot::from_row)?;
        for slot in slots.into_iter().take(Slot::MOST) {
            if slot.open(&self.identity, unlock)?.is_some() {
                return Ok(slot);
            }
        }
        Err(wrong(unlock))
    }

    /// Returns the keys, if the keystore is unlocked.
    pub(super) fn keyring(&self) -> Result<Arc<Keyring>> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.clone().ok_or_else(|| Code::DEVICE_ERROR.because("the keystore is locked"))
    }

    fn set_keyring(&self, keyring: Option<Arc<Keyring>>) {
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keyring;
    }

    /// Replaces the keyring, unless the keystore was locked meanwhile.
    pub(super) fn replace_keyring(&self, keyring: Arc<Keyring>) {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        if keys.is_some() {
            *keys = Some(keyring);
        }
    }

    /// Reloads the keyring that another daemon stored, with the known root key.
    pub(super) fn renew(&self, keys: &Keyring, sealed: &[u8]) -> Result<Arc<Keyring>> {
        let keys = Arc::new(Keyring::open(self.identity, keys.root(), sealed)?);
        self.replace_keyring(keys.clone());
        Ok(keys)
    }
}

fn wrong(unlock: &Unlocking) -> Error {
    Code::PIN_INCORRECT.because(match (&unlock.passphrase, &unlock.key_file) {
        (Some(_), Some(_)) => "passphrase and key file together do not unlock the keystore",
        (None, _) => "the key file alone does not unlock the keystore",
        (_, None) => "the passphrase alone does not unlock the keystore",
    })
}

fn schema_version(transaction: &mut Transaction<'_>) -> Result<u64> {
    let version =
        transaction.one("SELECT version FROM schema_version", &[], |mut row| row.number())?;
    match version {
        Some(version) if version <= MIGRATIONS.len() as u64 => Ok(version),
        _ => Err(Code::DEVICE_ERROR.because("another version of this program made the keystore")),
    }
}

/// Migrates the schema to the current version.
fn migrate(transaction: &mut Transaction<'_>, from: u64) -> Result<()> {
    for migration in MIGRATIONS.iter().skip(from as usize) {
        transaction.run(migration)?;
    }
    let version = [Value::number(MIGRATIONS.len() as u64)];
    transaction.execute("DELETE FROM schema_version", &[])?;
    transaction.execute("INSERT INTO schema_version (version) VALUES ($1)", &version)?;
    Ok(())
}
