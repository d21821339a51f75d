//! Applications: the state that the connections of one program share.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use rand_core::{Rng, UnwrapErr};
use zeroize::Zeroizing;

use super::handle::{FIRST_IN_MEMORY, next_in_memory};
use super::index::Index;
use super::pin;
use super::quota::{Account, Quota};
use super::running::Running;
use crate::attribute::Template;
use crate::object::{New, Object};
use crate::rpc::{Role, Secret};
use crate::{Code, Result};

/// The identity at the other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A process on this machine, by its user id.
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
    /// Its number in this process, which the scheduling of work knows it by.
    pub number: u64,
    /// Its self-reported name, of at most 64 characters and without control characters, which could
    /// forge lines of the audit log.
    pub name: String,
    /// The identity behind it.
    pub peer: Peer,
    role: RwLock<Option<Role>>,
    /// The number of logouts so far.
    logouts: AtomicU64,
    objects: RwLock<Objects>,
    /// The number of permitted uses per key handle, each granted by entering the PIN again.
    permits: Mutex<HashMap<u64, u32>>,
    /// Codes over data of several requests.
    pub(super) running: Running,
}

/// Objects in memory, and the account of what they take.
#[derive(Debug)]
struct Objects {
    index: Index,
    account: Account,
}

impl Objects {
    fn remove(&mut self, id: u64) -> bool {
        let Some(object) = self.index.remove(id) else { return false };
        self.account.remove(&object);
        true
    }
}

/// The maximum number of pending permitted uses of one key.
const MOST_PERMITS: u32 = 64;

impl Application {
    /// Returns the logged-in role.
    pub fn role(&self) -> Option<Role> {
        *self.role.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns its identity for attempts at PINs: that of its peer, whatever it calls itself.
    pub fn asker(&self) -> pin::Asker {
        pin::asker(&self.peer.to_string())
    }

    /// Logs in, unless it is logged in by now.
    ///
    /// # Errors
    /// [`Code::USER_ALREADY_LOGGED_IN`], [`Code::USER_ANOTHER_ALREADY_LOGGED_IN`].
    fn log_in(&self, role: Role) -> Result<()> {
        match self.role() {
            None => {
                self.set_role(Some(role));
                Ok(())
            }
            Some(current) if current == role => Err(Code::USER_ALREADY_LOGGED_IN.into()),
            Some(_) => Err(Code::USER_ANOTHER_ALREADY_LOGGED_IN.into()),
        }
    }

    /// Sets the role, or logs out.
    pub fn set_role(&self, role: Option<Role>) {
        self.permits().clear();
        let mut current = self.role.write().unwrap_or_else(PoisonError::into_inner);
        *current = role;
        if role.is_none() {
            self.logouts.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns the number of logouts so far.
    pub(super) fn logouts(&self) -> u64 {
        self.logouts.load(Ordering::SeqCst)
    }

    fn permits(&self) -> MutexGuard<'_, HashMap<u64, u32>> {
        self.permits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Permits one more use of a key that requires the PIN before each use.
    pub fn permit(&self, key: u64) {
        let mut permits = self.permits();
        let count = permits.entry(key).or_default();
        *count = (*count + 1).min(MOST_PERMITS);
    }

    /// Takes one permitted use of such a key, and returns whether there was one.
    pub fn take_permit(&self, key: u64) -> bool {
        let mut permits = self.permits();
        let Some(count) = permits.get_mut(&key) else { return false };
        *count -= 1;
        if *count == 0 {
            permits.remove(&key);
        }
        true
    }

    /// Returns the identity for the audit log.
    pub fn who(&self) -> String {
        self.who_as(self.role())
    }

    /// Returns [`who`](Self::who) with another role.
    pub fn who_as(&self, role: Option<Role>) -> String {
        let role = match role {
            None => "nobody",
            Some(Role::SecurityOfficer) => "officer",
            Some(Role::User) => "user",
            Some(Role::Auditor) => "auditor",
        };
        format!("{role} ({}, {})", self.peer, self.name)
    }

    /// Returns whether it sees an object: private ones only while the user or an auditor is logged
    /// in.
    pub fn sees(&self, object: &Object) -> bool {
        !object.is_private() || matches!(self.role(), Some(Role::User | Role::Auditor))
    }

    /// Returns whether an attribute of an object that it sees is hidden from it: an auditor does
    /// not see the content of private data.
    pub fn hides(&self, object: &Object, attribute: u32) -> bool {
        object.is_private_content(attribute) && self.role() == Some(Role::Auditor)
    }

    /// Keeps an object in memory.
    ///
    /// # Errors
    /// [`Code::USER_NOT_LOGGED_IN`] if a logout has made it invisible meanwhile;
    /// [`Code::DEVICE_MEMORY`] if it takes too much memory.
    pub fn insert(&self, new: New) -> Result<u64> {
        let id = FIRST_IN_MEMORY | next_in_memory();
        let object = Object::new(id, 1, new.attributes, new.secret);
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        // Checked under the lock: a logout first changes the role, and then removes the objects.
        if !self.sees(&object) {
            return Err(Code::USER_NOT_LOGGED_IN.into());
        }
        objects.account.add(&object)?;
        objects.index.insert(object.into());
        Ok(id)
    }

    /// Replaces the object with the same handle.
    ///
    /// # Errors
    /// [`Code::OBJECT_HANDLE_INVALID`] if it no longer exists; [`Code::DEVICE_MEMORY`] if the new
    /// one takes too much memory.
    pub fn replace(&self, object: Object) -> Result<()> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let old = objects.index.get(object.id).cloned().ok_or(Code::OBJECT_HANDLE_INVALID)?;
        objects.account.replace(&old, &object)?;
        objects.index.insert(object.into());
        Ok(())
    }

    /// Returns an object in memory.
    pub fn object(&self, id: u64) -> Option<Arc<Object>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).index.get(id).cloned()
    }

    /// Removes an object.
    pub fn remove(&self, id: u64) -> bool {
        self.objects.write().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    /// Logs out, removes the objects that only a user may see, and ends the codes that run.
    pub fn log_out(&self) {
        self.set_role(None);
        self.running.clear();
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let private = objects.index.find(&Template::new(), 0, usize::MAX, Object::is_private);
        for id in private {
            objects.remove(id);
        }
    }

    /// Finds the objects in memory with these attributes, in ascending order: at most `most` of
    /// those with handles greater than `after`.
    pub fn find(&self, template: &Template, after: u64, most: usize) -> Vec<u64> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.index.find(template, after, most, |object| self.sees(object))
    }
}

/// All applications, by the ticket that further connections present.
#[derive(Debug, Default)]
pub(super) struct Applications {
    /// Keyed by the ticket's digest, so that the time of a lookup reveals nothing about a ticket.
    known: Mutex<HashMap<Vec<u8>, Weak<Application>>>,
    /// The number of times that all were logged out; written while `known` is locked.
    ended: AtomicU64,
    /// The account of their objects in memory.
    quota: Arc<Quota>,
}

fn key(ticket: &[u8]) -> Vec<u8> {
    crate::crypto::digest(crate::mechanism::Hash::Sha256, ticket)
}

impl Applications {
    /// Registers a new application, and returns it with its ticket.
    pub(super) fn welcome(&self, name: &str, peer: Peer) -> (Arc<Application>, Secret) {
        let mut ticket = Zeroizing::new(vec![0; 32]);
        UnwrapErr(getrandom::SysRng).fill_bytes(&mut ticket);
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let account = self.quota.account(peer.to_string());
        let application = Arc::new(Application {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            // A name may be as long as a message, and a client may have many connections.
            name: name.chars().filter(|c| !c.is_control()).take(64).collect(),
            peer,
            role: RwLock::default(),
            logouts: AtomicU64::new(0),
            objects: RwLock::new(Objects { index: Index::default(), account }),
            permits: Mutex::default(),
            running: Running::default(),
        });
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, application| application.strong_count() > 0);
        known.insert(key(&ticket), Arc::downgrade(&application));
        (application, Secret(ticket))
    }

    /// Returns the application with this ticket, if it belongs to the same peer and still exists.
    pub(super) fn attach(&self, ticket: &[u8], peer: &Peer) -> Option<Arc<Application>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&key(ticket))?.upgrade().filter(|application| application.peer == *peer)
    }

    /// Returns the number of applications.
    pub(super) fn count(&self) -> usize {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().filter(|application| application.strong_count() > 0).count()
    }

    /// Returns the number of times that all applications were logged out. A login takes it before
    /// the PIN is compared.
    pub(super) fn times_ended(&self) -> u64 {
        self.ended.load(Ordering::SeqCst)
    }

    /// Logs an application in, whose PIN was compared after all applications were logged out
    /// `ended` times.
    ///
    /// # Errors
    /// [`Code::FUNCTION_FAILED`] if all were logged out once more; those of
    /// [`Application::log_in`].
    pub(super) fn log_in(&self, application: &Application, role: Role, ended: u64) -> Result<()> {
        // Held until the login, so that no logout of all misses it.
        let _known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if self.times_ended() != ended {
            return Err(Code::FUNCTION_FAILED.because("all logins were ended meanwhile"));
        }
        application.log_in(role)
    }

    /// Logs out all applications, also those that are logging in.
    pub(super) fn log_out_all(&self) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.ended.fetch_add(1, Ordering::SeqCst);
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

    /// An object whose creation overlaps with a logout is dropped.
    #[test]
    fn a_logout_leaves_no_private_object() {
        let applications = Applications::default();
        let (application, _) = applications.welcome("test", Peer::User(7));
        application.set_role(Some(Role::User));
        let [private, public] =
            [true, false].map(|private| application.insert(new(private)).unwrap());
        let old = application.object(private).unwrap();
        applications.log_out_all();
        assert_eq!(application.role(), None);
        assert!(application.object(private).is_none() && application.object(public).is_some());
        let code = |error: crate::Error| error.code;
        let refused = application.insert(new(true)).map_err(code);
        assert_eq!(refused, Err(Code::USER_NOT_LOGGED_IN));
        let refused = application.replace(Arc::into_inner(old).unwrap()).map_err(code);
        assert_eq!(refused, Err(Code::OBJECT_HANDLE_INVALID));
        application.insert(new(false)).unwrap();
        assert_eq!(application.find(&Template::new(), 0, 9).len(), 2);
    }
}
