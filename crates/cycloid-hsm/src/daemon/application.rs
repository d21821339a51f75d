//! Applications: what the connections of one program have in common.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};

use rand_core::{Rng, UnwrapErr};
use zeroize::Zeroizing;

use super::index::Index;
use crate::attribute::Template;
use crate::object::{New, Object};
use crate::rpc::{Role, Secret};

/// Handles of objects that live in memory have this bit.
const SESSION_OBJECT: u64 = 1 << 62;

/// Who is at the other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A process on this machine, by its user.
    User(u32),
    /// The holder of a certificate, by its subject.
    Certificate(String),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(user) => write!(f, "user {user}"),
            Self::Certificate(subject) => write!(f, "certificate {subject}"),
        }
    }
}

/// A program that uses the token.
#[derive(Debug)]
pub struct Application {
    /// What it calls itself.
    pub name: String,
    /// Who runs it.
    pub peer: Peer,
    role: RwLock<Option<Role>>,
    objects: RwLock<Index>,
    /// Uses of keys, by handle, for which the PIN was given once more.
    permits: Mutex<HashMap<u64, u32>>,
}

/// Uses of one key that may be permitted at once.
const MOST_PERMITS: u32 = 64;

impl Application {
    /// Who is logged in.
    pub fn role(&self) -> Option<Role> {
        *self.role.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs in, or out.
    pub fn set_role(&self, role: Option<Role>) {
        self.permits().clear();
        *self.role.write().unwrap_or_else(PoisonError::into_inner) = role;
    }

    fn permits(&self) -> MutexGuard<'_, HashMap<u64, u32>> {
        self.permits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Permits one more use of a key that asks for the PIN before each.
    pub fn permit(&self, key: u64) {
        let mut permits = self.permits();
        let count = permits.entry(key).or_default();
        *count = (*count + 1).min(MOST_PERMITS);
    }

    /// Whether a use of such a key is permitted, which it is then no more.
    pub fn take_permit(&self, key: u64) -> bool {
        let mut permits = self.permits();
        let Some(count) = permits.get_mut(&key) else { return false };
        *count -= 1;
        if *count == 0 {
            permits.remove(&key);
        }
        true
    }

    /// Who it is, for the audit log.
    pub fn who(&self) -> String {
        self.who_as(self.role())
    }

    /// [`who`](Self::who) once it has that role.
    pub fn who_as(&self, role: Option<Role>) -> String {
        let role = match role {
            None => "nobody",
            Some(Role::SecurityOfficer) => "officer",
            Some(Role::User) => "user",
            Some(Role::Auditor) => "auditor",
        };
        // What a program calls itself is shown without what could forge lines.
        let name: String = self.name.chars().filter(|c| !c.is_control()).take(64).collect();
        format!("{role} ({}, {name})", self.peer)
    }

    /// Whether it sees an object: private ones once the user, or an auditor, is logged in.
    pub fn sees(&self, object: &Object) -> bool {
        !object.is_private() || matches!(self.role(), Some(Role::User | Role::Auditor))
    }

    /// Keeps an object in memory, unless whoever may see it has logged out meanwhile.
    pub fn insert(&self, new: New) -> Option<u64> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = SESSION_OBJECT | NEXT.fetch_add(1, Ordering::Relaxed);
        let object = Object {
            id,
            version: 1,
            attributes: new.attributes,
            session_secret: new.secret,
            session_key: OnceLock::new(),
        };
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        // With the lock: whoever logs out changes the role, and then takes the objects.
        self.sees(&object).then(|| objects.insert(object.into()))?;
        Some(id)
    }

    /// Puts an object in the place of the one with its handle, if that is still there.
    pub fn replace(&self, object: Object) -> bool {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let is_there = objects.get(object.id).is_some();
        if is_there {
            objects.insert(object.into());
        }
        is_there
    }

    /// An object in memory.
    pub fn object(&self, id: u64) -> Option<Arc<Object>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Forgets an object.
    pub fn remove(&self, id: u64) -> bool {
        self.objects.write().unwrap_or_else(PoisonError::into_inner).remove(id).is_some()
    }

    /// Logs out, and forgets what only a user may see.
    pub fn log_out(&self) {
        self.set_role(None);
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let private = objects.find(&Template::new(), Object::is_private);
        for id in private {
            objects.remove(id);
        }
    }

    /// Objects in memory with these attributes.
    pub fn find(&self, template: &Template) -> Vec<u64> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.find(template, |object| self.sees(object))
    }

    /// How many objects it keeps in memory.
    pub fn count(&self) -> usize {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// All applications, by what their further connections show.
#[derive(Debug, Default)]
pub(super) struct Applications {
    /// By the digest of the ticket, so that looking one up tells nothing of it.
    known: Mutex<HashMap<Vec<u8>, Weak<Application>>>,
}

fn key(ticket: &[u8]) -> Vec<u8> {
    crate::crypto::digest(crate::mechanism::Hash::Sha256, ticket)
}

impl Applications {
    /// A new one, and its ticket.
    pub(super) fn welcome(&self, name: String, peer: Peer) -> (Arc<Application>, Secret) {
        let mut ticket = Zeroizing::new(vec![0; 32]);
        UnwrapErr(getrandom::SysRng).fill_bytes(&mut ticket);
        let application = Arc::new(Application {
            name,
            peer,
            role: RwLock::default(),
            objects: RwLock::default(),
            permits: Mutex::default(),
        });
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, application| application.strong_count() > 0);
        known.insert(key(&ticket), Arc::downgrade(&application));
        (application, Secret(ticket))
    }

    /// The one that a ticket belongs to, if it is this peer's and still there.
    pub(super) fn attach(&self, ticket: &[u8], peer: &Peer) -> Option<Arc<Application>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&key(ticket))?.upgrade().filter(|application| application.peer == *peer)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().filter(|application| application.strong_count() > 0).count()
    }

    /// Logs all out.
    pub(super) fn log_out_all(&self) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for application in known.values().filter_map(Weak::upgrade) {
            application.log_out();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::cka;

    fn new(private: bool) -> New {
        let mut attributes = Template::new();
        attributes.set_bool(cka::PRIVATE, private);
        New { attributes, secret: None }
    }

    /// What was being made while somebody logged out is nobody's.
    #[test]
    fn who_logs_out_leaves_nothing_private() {
        let applications = Applications::default();
        let (application, _) = applications.welcome("test".into(), Peer::User(7));
        application.set_role(Some(Role::User));
        let [private, public] =
            [true, false].map(|private| application.insert(new(private)).unwrap());
        let old = application.object(private).unwrap();
        applications.log_out_all();
        assert_eq!(application.role(), None);
        assert!(application.object(private).is_none() && application.object(public).is_some());
        assert!(application.insert(new(true)).is_none());
        assert!(!application.replace(Arc::into_inner(old).unwrap()));
        assert!(application.insert(new(false)).is_some());
        assert_eq!(application.count(), 2);
    }
}
