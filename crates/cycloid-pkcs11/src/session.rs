//! Sessions: their operations, and the objects that end with them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use cryptoki_sys::{
    CK_SESSION_INFO, CKF_RW_SESSION, CKF_SERIAL_SESSION, CKS_RO_PUBLIC_SESSION,
    CKS_RO_USER_FUNCTIONS, CKS_RW_PUBLIC_SESSION, CKS_RW_SO_FUNCTIONS, CKS_RW_USER_FUNCTIONS,
};
use cycloid_hsm_protocol::attribute::{Template, cka};
use cycloid_hsm_protocol::rpc::{Request, Role, Secret};
use cycloid_hsm_protocol::{Code, Result};

use crate::application::{Application, unexpected};
use crate::code;
use crate::operation::Operations;
use crate::token::SLOT;

/// The number of random bytes in one request.
const RANDOM_PIECE: usize = 1 << 16;

/// All open sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    /// Lock order: an application's role first, then this.
    open: RwLock<BTreeMap<u64, Arc<Session>>>,
    last: AtomicU64,
}

pub(crate) struct Session {
    pub(crate) application: Arc<Application>,
    read_write: bool,
    operations: Mutex<Operations>,
    /// Objects that end with the session; `None` once it is closed.
    objects: Mutex<Option<Vec<u64>>>,
}

impl Sessions {
    /// Opens a session, and returns its handle.
    ///
    /// # Errors
    /// [`code::SESSION_READ_WRITE_SO_EXISTS`] for a read-only session while the security officer is
    /// logged in.
    pub(crate) fn open(&self, application: Arc<Application>, read_write: bool) -> Result<u64> {
        let session = Arc::new(Session {
            application,
            read_write,
            operations: Mutex::default(),
            objects: Mutex::new(Some(Vec::new())),
        });
        let role = session.application.role();
        if !read_write && *role == Some(Role::SecurityOfficer) {
            return Err(code::SESSION_READ_WRITE_SO_EXISTS.into());
        }
        let handle = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(handle, session.clone());
        Ok(handle)
    }

    pub(crate) fn find(&self, handle: u64) -> Result<Arc<Session>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.get(&handle).cloned().ok_or_else(|| Code::SESSION_HANDLE_INVALID.into())
    }

    /// Returns the number of open sessions, and of read-write sessions among them.
    pub(crate) fn count(&self) -> (usize, usize) {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        (open.len(), open.values().filter(|session| session.read_write).count())
    }

    /// Closes a session. Closing the last one logs out.
    ///
    /// # Errors
    /// [`Code::SESSION_HANDLE_INVALID`].
    pub(crate) fn close(&self, handle: u64) -> Result<()> {
        let session = self.find(handle)?;
        session.close();
        // Held until the logout, so that it does not end a login in a session opened meanwhile.
        let mut role = session.application.role();
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.remove(&handle).ok_or(Code::SESSION_HANDLE_INVALID)?;
        let last = open.is_empty();
        drop(open);
        if last {
            let _ = session.application.log_out(&mut role);
        }
        Ok(())
    }

    /// Closes all sessions.
    pub(crate) fn close_all(&self) {
        let sessions = self.take();
        sessions.iter().for_each(|session| session.close());
        if let Some(session) = sessions.first() {
            let _ = session.application.logout();
        }
    }

    /// Drops all sessions without notifying the daemon.
    pub(crate) fn take(&self) -> Vec<Arc<Session>> {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *open).into_values().collect()
    }

    /// Drops the sessions for which `keep` returns false, without notifying the daemon.
    pub(crate) fn retain(&self, keep: impl Fn(&Session) -> bool) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, session| keep(session));
    }

    /// Logs in for all sessions of the application.
    ///
    /// # Errors
    /// [`Code::SESSION_READ_ONLY_EXISTS`] for a security officer while a read-only session is open;
    /// [`Code::USER_ALREADY_LOGGED_IN`], [`Code::USER_ANOTHER_ALREADY_LOGGED_IN`]; the daemon's
    /// errors.
    pub(crate) fn login(&self, session: &Session, role: Role, pin: &[u8]) -> Result<()> {
        let mut current = session.application.role();
        match *current {
            Some(current) if current == role => return Err(Code::USER_ALREADY_LOGGED_IN.into()),
            Some(_) => return Err(Code::USER_ANOTHER_ALREADY_LOGGED_IN.into()),
            None => {}
        }
        let (all, read_write) = self.count();
        if role == Role::SecurityOfficer && all > read_write {
            return Err(Code::SESSION_READ_ONLY_EXISTS.into());
        }
        session.application.order(&Request::Login { role, pin: Secret::new(pin) })?;
        session.application.logged_in(role, pin);
        *current = Some(role);
        Ok(())
    }
}

impl Session {
    /// Locks and returns the session's operations; other threads that use the same session wait.
    pub(crate) fn operations(&self) -> MutexGuard<'_, Operations> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Implements C_GetSessionInfo.
    pub(crate) fn info(&self) -> CK_SESSION_INFO {
        let state = match (*self.application.role(), self.read_write) {
            (None, false) => CKS_RO_PUBLIC_SESSION,
            (None, true) => CKS_RW_PUBLIC_SESSION,
            (Some(Role::SecurityOfficer), _) => CKS_RW_SO_FUNCTIONS,
            (Some(_), false) => CKS_RO_USER_FUNCTIONS,
            (Some(_), true) => CKS_RW_USER_FUNCTIONS,
        };
        let read_write = if self.read_write { CKF_RW_SESSION } else { 0 };
        CK_SESSION_INFO {
            slotID: SLOT,
            state,
            flags: CKF_SERIAL_SESSION | read_write,
            ulDeviceError: 0,
        }
    }

    /// Implements C_GenerateRandom: passes `length` random bytes to `give`, in pieces with their
    /// offsets.
    ///
    /// # Errors
    /// The daemon's errors, and those of `give`.
    pub(crate) fn random(
        &self,
        length: usize,
        give: impl Fn(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        for at in (0..length).step_by(RANDOM_PIECE) {
            let piece = RANDOM_PIECE.min(length - at);
            let random = self.application.data(&Request::Random { length: piece as u32 })?;
            if random.len() != piece {
                return Err(unexpected());
            }
            give(at, &random)?;
        }
        Ok(())
    }

    /// # Errors
    /// [`Code::SESSION_READ_ONLY`] if the session is read-only.
    pub(crate) fn must_write(&self) -> Result<()> {
        if self.read_write { Ok(()) } else { Err(Code::SESSION_READ_ONLY.into()) }
    }

    /// Checks whether the session may create an object of this template: every session may create
    /// its own session objects.
    ///
    /// # Errors
    /// [`Code::SESSION_READ_ONLY`].
    pub(crate) fn may_make(&self, template: &Template) -> Result<()> {
        if template.is(cka::TOKEN) { self.must_write() } else { Ok(()) }
    }

    /// Checks whether the session may change or destroy the object.
    ///
    /// # Errors
    /// [`Code::SESSION_READ_ONLY`]; [`Code::OBJECT_HANDLE_INVALID`].
    pub(crate) fn may_change(&self, object: u64) -> Result<()> {
        if !self.read_write && self.application.key(object)?.token {
            return Err(Code::SESSION_READ_ONLY.into());
        }
        Ok(())
    }

    /// Records that the object ends with the session, which may have closed meanwhile.
    pub(crate) fn own(&self, object: u64) {
        match &mut *self.objects() {
            Some(objects) => objects.push(object),
            None => self.application.drop_object(object),
        }
    }

    /// Records that the object no longer exists.
    pub(crate) fn disown(&self, object: u64) {
        if let Some(objects) = &mut *self.objects() {
            objects.retain(|own| *own != object);
        }
    }

    fn objects(&self) -> MutexGuard<'_, Option<Vec<u64>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        *self.operations() = Operations::default();
        let objects = self.objects().take();
        objects.into_iter().flatten().for_each(|object| self.application.drop_object(object));
    }
}
