//! The token: stored objects, their keys made ready, and PINs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use zeroize::Zeroizing;

use super::index::Index;
use crate::attribute::{Template, cko};
use crate::error::{Code, Result};
use crate::key::Key;
use crate::object::{New, Object};
use crate::spans::{self, Span};
use crate::store::{Generation, Record, Store};

/// Stored objects and their keys.
#[derive(Debug)]
pub struct Token {
    /// Where they are at rest.
    pub store: Store,
    index: RwLock<Index>,
    generation: Mutex<Option<Generation>>,
    prepared: Prepared,
}

/// Keys that were unwrapped and made ready, the ones used most recently.
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
    Arc::new(Object {
        id: record.id,
        version: record.version,
        attributes: record.attributes,
        session_secret: None,
        session_key: OnceLock::new(),
    })
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
    /// The token of a store, which may be locked; keeps `capacity` keys ready.
    ///
    /// # Errors
    /// Those of the store, of which every record is checked.
    pub fn new(store: Store, capacity: usize) -> Result<Self> {
        let prepared = Prepared { keys: RwLock::default(), clock: AtomicU64::new(0), capacity };
        let token =
            Self { store, index: RwLock::default(), generation: Mutex::default(), prepared };
        if !token.store.is_locked() {
            token.load()?;
        }
        Ok(token)
    }

    /// Reads all objects anew.
    ///
    /// # Errors
    /// Those of the store.
    pub fn load(&self) -> Result<()> {
        let (generation, records) = self.store.load()?;
        let mut index = Index::default();
        records.into_iter().for_each(|record| index.insert(object(record)));
        *write(&self.index) = index;
        *self.generation.lock().unwrap_or_else(PoisonError::into_inner) = Some(generation);
        Ok(())
    }

    /// Takes over what other daemons on the same database have changed.
    ///
    /// # Errors
    /// Those of the store.
    pub fn refresh(&self) -> Result<()> {
        if self.store.is_locked() {
            return Ok(());
        }
        let mut generation = self.generation.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(since) = *generation else { return Ok(()) };
        let (now, changed, deleted) = self.store.changes(since)?;
        if changed.is_empty() && deleted.is_empty() {
            *generation = Some(now);
            return Ok(());
        }
        let mut index = write(&self.index);
        for id in deleted {
            index.remove(id);
            write(&self.prepared.keys).remove(&id);
        }
        changed.into_iter().for_each(|record| index.insert(object(record)));
        *generation = Some(now);
        Ok(())
    }

    /// Forgets all keys and objects.
    pub fn lock(&self) {
        self.store.lock();
        *write(&self.index) = Index::default();
        write(&self.prepared.keys).clear();
        *self.generation.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The object with this handle.
    pub fn object(&self, id: u64) -> Option<Arc<Object>> {
        read(&self.index).get(id).cloned()
    }

    /// How many objects there are.
    pub fn count(&self) -> usize {
        read(&self.index).len()
    }

    /// All objects with these attributes that `visible` lets through.
    pub fn find(&self, template: &Template, visible: impl Fn(&Object) -> bool) -> Vec<u64> {
        read(&self.index).find(template, visible)
    }

    /// The secret of an object.
    ///
    /// # Errors
    /// Those of the store.
    pub fn secret(&self, object: &Object) -> Result<Zeroizing<Vec<u8>>> {
        match &object.session_secret {
            Some(secret) => Ok(secret.clone()),
            None => self.store.secret(object.id),
        }
    }

    /// The key of an object, ready for use.
    ///
    /// # Errors
    /// [`Code::KEY_HANDLE_INVALID`] where it is none; those of the store.
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
            // What was destroyed meanwhile, or locked, is not kept: keys go after what the index has.
            let index = read(&self.index);
            if index.get(object.id).is_some_and(|known| known.version == object.version) {
                self.prepared.insert(object.id, object.version, key.clone());
            }
        } else {
            let _ = object.session_key.set(key.clone());
        }
        Ok(key)
    }

    /// Stores an object.
    ///
    /// # Errors
    /// Those of the store.
    pub fn insert(&self, new: &New) -> Result<u64> {
        let record =
            self.store.insert(&new.attributes, new.secret.as_deref().map(Vec::as_slice))?;
        let id = record.id;
        write(&self.index).insert(object(record));
        Ok(id)
    }

    /// Stores two objects, or none.
    ///
    /// # Errors
    /// Those of the store.
    pub fn insert_pair(&self, one: &New, other: &New) -> Result<(u64, u64)> {
        let secret = |new: &New| new.secret.clone();
        let (first, second) = (secret(one), secret(other));
        let (one, other) = self.store.insert_pair(
            (&one.attributes, first.as_deref().map(Vec::as_slice)),
            (&other.attributes, second.as_deref().map(Vec::as_slice)),
        )?;
        let ids = (one.id, other.id);
        let mut index = write(&self.index);
        index.insert(object(one));
        index.insert(object(other));
        Ok(ids)
    }

    /// Changes the attributes of an object.
    ///
    /// # Errors
    /// Those of the store.
    pub fn update(&self, old: &Object, attributes: &Template) -> Result<()> {
        let record = self.store.update(old.id, old.version, attributes)?;
        write(&self.index).insert(object(record));
        Ok(())
    }

    /// Destroys an object.
    ///
    /// # Errors
    /// Those of the store.
    pub fn delete(&self, id: u64) -> Result<()> {
        self.store.delete(id)?;
        write(&self.index).remove(id);
        write(&self.prepared.keys).remove(&id);
        Ok(())
    }

    /// Destroys all objects.
    ///
    /// # Errors
    /// Those of the store.
    pub fn clear(&self) -> Result<()> {
        self.store.clear()?;
        let loaded = self.load();
        write(&self.prepared.keys).clear();
        loaded
    }
}
