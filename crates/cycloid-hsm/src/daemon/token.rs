//! The token: stored objects, their prepared keys, and PINs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::handle::FIRST_IN_MEMORY;
use super::index::Index;
use crate::attribute::{Template, cka, ckk, cko};
use crate::crypto::Fingerprint;
use crate::key::Key;
use crate::object::{New, Object, policy};
use crate::spans::{self, Span};
use crate::store::{self, Generation, Record, Store, Write};
use crate::{Code, Result};

/// Stored objects and their keys.
#[derive(Debug)]
pub struct Token {
    /// Their form at rest.
    pub store: Store,
    index: RwLock<Index>,
    /// The generation up to which all changes are in the index. Held during each change, so that a
    /// refresh never brings back an older state.
    generation: Mutex<Option<Generation>>,
    freshness: Freshness,
    prepared: Prepared,
    /// Whether another daemon has written since settings were looked at.
    has_news: AtomicBool,
}

/// A daemon looks for unknown objects in the database at most this often.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(5);

/// When the daemon last knew all changes.
#[derive(Debug)]
struct Freshness {
    begin: Instant,
    /// Milliseconds since `begin`.
    confirmed: AtomicU64,
    /// How long this is recent; `None` if the database cannot be lost.
    limit: Option<Duration>,
}

impl Freshness {
    fn new(remote: bool, limit: Duration) -> Self {
        let limit = remote.then_some(limit);
        Self { begin: Instant::now(), confirmed: AtomicU64::default(), limit }
    }

    /// Records that all changes before `asked` are known.
    fn confirm_at(&self, asked: Instant) {
        let time = asked.saturating_duration_since(self.begin).as_millis();
        self.confirmed.fetch_max(u64::try_from(time).unwrap_or(u64::MAX), Ordering::SeqCst);
    }

    fn is_older_than(&self, age: Duration) -> bool {
        let known = self.begin + Duration::from_millis(self.confirmed.load(Ordering::SeqCst));
        known.elapsed() >= age
    }

    fn check(&self) -> Result<()> {
        if self.limit.is_none_or(|limit| !self.is_older_than(limit)) {
            return Ok(());
        }
        Err(Code::DEVICE_ERROR
            .because("the database is unreachable, so this key may have been destroyed elsewhere"))
    }
}

/// A cache of unwrapped and prepared keys; the least recently used are evicted.
#[derive(Debug)]
struct Prepared {
    keys: RwLock<HashMap<u64, Entry>>,
    clock: AtomicU64,
    capacity: usize,
}

#[derive(Debug)]
struct Entry {
    version: u64,
    key: Key,
    used: AtomicU64,
}

fn object(record: Record) -> Arc<Object> {
    Object::new(record.id, record.version, record.attributes, None).into()
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

impl Prepared {
    fn get(&self, id: u64, version: u64) -> Option<Key> {
        let keys = read(&self.keys);
        let entry = keys.get(&id).filter(|entry| entry.version == version)?;
        entry.used.store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(entry.key.clone())
    }

    fn insert(&self, id: u64, version: u64, key: Key) {
        let mut keys = write(&self.keys);
        if self.capacity == 0 {
            return;
        }
        while keys.len() >= self.capacity && !keys.contains_key(&id) {
            let oldest = keys.iter().min_by_key(|(_, entry)| entry.used.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(id, _)| *id) else { break };
            keys.remove(&oldest);
        }
        let used = AtomicU64::new(self.clock.fetch_add(1, Ordering::Relaxed));
        keys.insert(id, Entry { version, key, used });
    }
}

impl Token {
    /// Creates the token of a store, which may be locked; caches up to `capacity` prepared keys. If
    /// the database is on a server that was not reached for `stale_after`, stored keys are not
    /// used.
    ///
    /// # Errors
    /// The store's errors; every record is verified.
    pub fn new(store: Store, capacity: usize, stale_after: Duration) -> Result<Self> {
        let freshness = Freshness::new(store.is_remote(), stale_after);
        let prepared = Prepared { keys: RwLock::default(), clock: AtomicU64::new(0), capacity };
        let token = Self {
            store,
            index: RwLock::default(),
            generation: Mutex::default(),
            freshness,
            prepared,
            has_news: AtomicBool::new(false),
        };
        if !token.store.is_locked() {
            token.load()?;
        }
        Ok(token)
    }

    /// Reloads all objects.
    ///
    /// # Errors
    /// The store's errors.
    pub fn load(&self) -> Result<()> {
        let mut known = self.order();
        let asked = Instant::now();
        let (generation, records) = self.store.load()?;
        let mut index = Index::default();
        records.into_iter().for_each(|record| index.insert(object(record)));
        *write(&self.index) = index;
        *known = Some(generation);
        self.freshness.confirm_at(asked);
        Ok(())
    }

    /// Returns whether anything was written since the last call, by any daemon. Whoever asks looks
    /// at the settings.
    pub fn take_news(&self) -> bool {
        self.has_news.swap(false, Ordering::SeqCst)
    }

    /// Notes that the settings are still to be looked at.
    pub fn keep_news(&self) {
        self.has_news.store(true, Ordering::SeqCst);
    }

    /// Loads the objects that other daemons on the same database have changed.
    ///
    /// # Errors
    /// The store's errors.
    pub fn refresh(&self) -> Result<()> {
        if self.store.is_locked() {
            return Ok(());
        }
        let mut generation = self.order();
        let Some(since) = *generation else { return Ok(()) };
        let asked = Instant::now();
        let (now, changed, deleted) = self.store.changes(since)?;
        if now != since {
            self.keep_news();
        }
        if changed.is_empty() && deleted.is_empty() {
            *generation = Some(now);
            self.freshness.confirm_at(asked);
            return Ok(());
        }
        let mut index = write(&self.index);
        for id in deleted {
            index.remove(id);
            write(&self.prepared.keys).remove(&id);
        }
        changed.into_iter().for_each(|record| index.insert(object(record)));
        *generation = Some(now);
        self.freshness.confirm_at(asked);
        Ok(())
    }

    /// Locks the store, and drops all keys and objects.
    pub fn lock(&self) {
        let mut known = self.order();
        self.store.lock();
        *write(&self.index) = Index::default();
        write(&self.prepared.keys).clear();
        *known = None;
    }

    fn order(&self) -> MutexGuard<'_, Option<Generation>> {
        self.generation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the daemon knows what others have changed up to a short while ago. Otherwise it
    /// may use no stored key: others may have destroyed it. To be asked before the object is looked
    /// up: afterwards, a refresh may just have removed what was found.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`] if the server of the database was unreachable for longer.
    pub fn check_fresh(&self) -> Result<()> {
        self.freshness.check()
    }

    /// Returns the object with this handle.
    pub fn object(&self, id: u64) -> Option<Arc<Object>> {
        read(&self.index).get(id).cloned()
    }

    /// Returns the object with this handle, which another daemon may just have made: then this one
    /// looks for it in the database, but not all the time. A database on a server is not asked: it
    /// announces changes, and a worker must not wait for a server that is lost.
    pub fn object_or_refresh(&self, id: u64) -> Option<Arc<Object>> {
        self.object(id).or_else(|| {
            let local = self.freshness.limit.is_none() && id < FIRST_IN_MEMORY;
            if !local || !self.freshness.is_older_than(LOOK_AGAIN_AFTER) {
                return None;
            }
            self.refresh().ok()?;
            self.object(id)
        })
    }

    /// Returns whether the next use of an object reads its secret from a server.
    pub fn is_unprepared(&self, id: u64) -> bool {
        self.store.is_remote()
            && self.object(id).is_some_and(|object| {
                object.has_secret() && self.prepared.get(id, object.version).is_none()
            })
    }

    /// Shows an object that is not in the database.
    #[cfg(test)]
    pub(super) fn pretend(&self, object: Object) {
        write(&self.index).insert(object.into());
    }

    /// Returns the number of objects.
    pub fn count(&self) -> usize {
        read(&self.index).len()
    }

    /// Finds the objects with these attributes that `visible` accepts, in ascending order: at most
    /// `most` of those with handles greater than `after`.
    pub fn find(
        &self,
        template: &Template,
        after: u64,
        most: usize,
        visible: impl Fn(&Object) -> bool,
    ) -> Vec<u64> {
        read(&self.index).find(template, after, most, visible)
    }

    /// Returns the secret of an object.
    ///
    /// # Errors
    /// The store's errors.
    pub fn secret(&self, object: &Object) -> Result<Zeroizing<Vec<u8>>> {
        match &object.session_secret {
            Some(secret) => Ok(secret.clone()),
            // Another daemon may have destroyed it, and this one is about to learn of it.
            None => self.store.secret(object.id).map_err(|error| match error.code {
                Code::OBJECT_HANDLE_INVALID => Code::KEY_HANDLE_INVALID.into(),
                _ => error,
            }),
        }
    }

    /// Returns the key of an object, prepared for use.
    ///
    /// # Errors
    /// [`Code::KEY_HANDLE_INVALID`] if the object is not a key; the store's errors.
    pub fn key(&self, object: &Object) -> Result<Key> {
        let ready = match object.is_stored() {
            true => self.prepared.get(object.id, object.version),
            false => object.session_key.get().cloned(),
        };
        if let Some(key) = ready {
            return Ok(key);
        }
        let key = match object.class() {
            cko::PUBLIC_KEY => object.key(None)?,
            cko::PRIVATE_KEY | cko::SECRET_KEY => {
                let span = spans::enter(Span::Unwrap);
                let secret = self.secret(object)?;
                drop(span);
                let _span = spans::enter(Span::Decode);
                object.key(Some(&secret))?
            }
            _ => return Err(Code::KEY_HANDLE_INVALID.into()),
        };
        if object.is_stored() {
            // A key that was destroyed or locked meanwhile is not cached: removal updates the index
            // before the cache.
            let index = read(&self.index);
            if index.get(object.id).is_some_and(|known| known.version == object.version) {
                self.prepared.insert(object.id, object.version, key.clone());
            }
        } else {
            let _ = object.session_key.set(key.clone());
        }
        Ok(key)
    }

    /// Returns the fingerprint of a key's value; `None` for keys that neither encrypt nor wrap.
    fn fingerprint<'a>(&self, object: &'a Object) -> Result<Option<&'a Fingerprint>> {
        if object.fingerprint.get().is_none() {
            let value = match (object.class(), object.key_type()) {
                (cko::SECRET_KEY, _) => match self.key(object)? {
                    Key::Secret(value) => Some(self.store.fingerprint(&value)?),
                    _ => None,
                },
                (cko::PUBLIC_KEY | cko::PRIVATE_KEY, ckk::RSA) => {
                    let modulus = object.attributes.get(cka::MODULUS).unwrap_or_default();
                    let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
                    Some(self.store.fingerprint(&modulus[zeros..])?)
                }
                _ => None,
            };
            let _ = object.fingerprint.set(value);
        }
        Ok(object.fingerprint.get().and_then(Option::as_ref))
    }

    /// Returns what the objects with the value of a key have in common, and others have not.
    ///
    /// # Errors
    /// The store's errors.
    pub fn identity(&self, object: &Object) -> Result<Vec<u8>> {
        if let Some(value) = self.fingerprint(object)? {
            return Ok(value.name.clone().into_bytes());
        }
        // A key on BLS12-381 has no SubjectPublicKeyInfo.
        let public = [cka::PUBLIC_KEY_INFO, cka::EC_POINT].map(|of| object.attributes.get(of));
        let public = public.into_iter().flatten().find(|public| !public.is_empty());
        Ok(public.map_or_else(|| object.id.to_le_bytes().to_vec(), <[u8]>::to_vec))
    }

    /// Returns whether a key's value serves keys, and therefore no longer data.
    ///
    /// # Errors
    /// The store's errors.
    pub fn serves_keys(&self, object: &Object) -> Result<bool> {
        self.fingerprint(object)?.map_or(Ok(false), |value| self.store.serves_keys(value))
    }

    /// Checks that a key may encrypt or decrypt data. Anybody encrypts with a public key, so only
    /// secret and private keys are checked.
    ///
    /// # Errors
    /// [`Code::KEY_FUNCTION_NOT_PERMITTED`] if its value serves keys; the store's errors.
    pub fn may_serve_data(&self, object: &Object) -> Result<()> {
        if object.has_secret() && self.serves_keys(object)? {
            return Err(policy::serves_keys_only());
        }
        Ok(())
    }

    /// Records that a key's value serves keys from now on, unless that is known, in one transaction
    /// with a line in the audit log.
    ///
    /// # Errors
    /// The store's errors.
    pub fn serve_keys(&self, object: &Object, who: &str) -> Result<()> {
        let Some(value) = self.fingerprint(object)? else { return Ok(()) };
        if self.store.serves_keys(value)? {
            return Ok(());
        }
        self.store.write(|write| {
            write.serve_keys(value)?;
            write.audit(who, &format!("{}: serves keys, no longer data", describe(object)))
        })
    }

    /// Records that a value in no object serves keys from now on.
    ///
    /// # Errors
    /// The store's errors.
    pub fn value_serves_keys(&self, value: &[u8]) -> Result<()> {
        let value = self.store.fingerprint(value)?;
        self.store.write(|write| write.serve_keys(&value))
    }

    /// Stores an object, with a line of `who` in the audit log that names the object and `how` it
    /// was made.
    ///
    /// # Errors
    /// The store's errors.
    pub fn insert(&self, new: &New, who: &str, how: &str) -> Result<u64> {
        let _order = self.order();
        let record = self.store.write(|write| {
            let record = write.insert(row(new))?;
            write.audit(who, &format!("{}: {how}", name(record.id, &record.attributes)))?;
            Ok(record)
        })?;
        let id = record.id;
        write(&self.index).insert(object(record));
        Ok(id)
    }

    /// Stores two objects in one transaction, with one line in the audit log.
    ///
    /// # Errors
    /// The store's errors.
    pub fn insert_pair(&self, one: &New, other: &New, who: &str, how: &str) -> Result<(u64, u64)> {
        let _order = self.order();
        let (one, other) = self.store.write(|write| {
            let (one, other) = (write.insert(row(one))?, write.insert(row(other))?);
            let label = label(&other.attributes);
            let line = format!("objects {} and {} {label:?}: {how}", one.id, other.id);
            write.audit(who, &line)?;
            Ok((one, other))
        })?;
        let ids = (one.id, other.id);
        let mut index = write(&self.index);
        index.insert(object(one));
        index.insert(object(other));
        Ok(ids)
    }

    /// Changes the attributes of an object, with a line in the audit log.
    ///
    /// # Errors
    /// The store's errors.
    pub fn update(&self, old: &Object, attributes: &Template, who: &str) -> Result<()> {
        let _order = self.order();
        let record = self.store.write(|write| {
            let record = write.update(old.id, old.version, attributes)?;
            write.audit(who, &format!("{}: changed", name(old.id, attributes)))?;
            Ok(record)
        })?;
        write(&self.index).insert(object(record));
        Ok(())
    }

    /// Destroys an object, with a line in the audit log.
    ///
    /// # Errors
    /// The store's errors.
    pub fn delete(&self, old: &Object, who: &str) -> Result<()> {
        let _order = self.order();
        self.store.write(|write| {
            write.delete(old.id)?;
            write.audit(who, &format!("{}: destroyed", describe(old)))
        })?;
        write(&self.index).remove(old.id);
        write(&self.prepared.keys).remove(&old.id);
        Ok(())
    }

    /// Destroys all objects, in one transaction with the writes of `act`.
    ///
    /// # Errors
    /// The store's errors, and those of `act`.
    pub fn clear(&self, act: impl FnOnce(&mut Write<'_>) -> Result<()>) -> Result<()> {
        let _order = self.order();
        self.store.write(|write| {
            write.clear()?;
            act(write)
        })?;
        *write(&self.index) = Index::default();
        write(&self.prepared.keys).clear();
        Ok(())
    }
}

fn row(new: &New) -> store::New<'_> {
    (&new.attributes, new.secret.as_deref().map(Vec::as_slice))
}

/// Returns the label of an object, as the audit log shows it.
fn label(attributes: &Template) -> String {
    let label = String::from_utf8_lossy(attributes.get(cka::LABEL).unwrap_or_default());
    label.chars().filter(|c| !c.is_control()).take(64).collect()
}

fn name(id: u64, attributes: &Template) -> String {
    format!("object {id} {:?}", label(attributes))
}

/// Returns the name of an object in the audit log.
pub(super) fn describe(object: &Object) -> String {
    name(object.id, &object.attributes)
}
