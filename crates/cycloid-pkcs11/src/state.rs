//! The module's state between C_Initialize and C_Finalize, in the process that initialised it.
//!
//! Access needs no lock and no counter, so threads do not contend for it, and the child of a `fork`
//! never waits for a lock that a thread of its parent held: it recognizes by its number
//! ([`process`]) that the module is its parent's. C_Finalize releases what the module held, except a few hundred
//! bytes, so that a concurrent call in another thread never accesses freed memory.

use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cycloid_hsm_protocol::rpc::default_socket;
use cycloid_hsm_protocol::{Code, Error, Result};

use crate::application::Application;
use crate::code;
use crate::events::{Events, Slot};
use crate::session::{Session, Sessions};
use crate::{process, token};

pub(crate) struct Module {
    /// The number of the process that it serves.
    process: u32,
    socket: PathBuf,
    application: Mutex<Option<Arc<Application>>>,
    pub(crate) sessions: Sessions,
    events: Events,
}

static CURRENT: AtomicPtr<Module> = AtomicPtr::new(ptr::null_mut());

fn at(pointer: *const Module) -> Option<&'static Module> {
    // SAFETY: null, or a module that `initialize` leaked and nobody frees.
    unsafe { pointer.as_ref() }
}

/// Returns the module.
///
/// # Errors
/// [`Code::CRYPTOKI_NOT_INITIALIZED`].
pub(crate) fn module() -> Result<&'static Module> {
    at(CURRENT.load(Ordering::Acquire))
        .filter(|module| module.process == process::current())
        .ok_or_else(|| Code::CRYPTOKI_NOT_INITIALIZED.into())
}

/// Implements C_Initialize.
///
/// # Errors
/// [`code::CRYPTOKI_ALREADY_INITIALIZED`].
pub(crate) fn initialize() -> Result<()> {
    process::map();
    let process = process::current();
    let before = CURRENT.load(Ordering::Acquire);
    let parent = at(before);
    if parent.is_some_and(|module| module.process == process) {
        return Err(code::CRYPTOKI_ALREADY_INITIALIZED.into());
    }
    let module = Box::new(Module {
        process,
        socket: default_socket(),
        application: Mutex::new(None),
        sessions: Sessions::default(),
        events: Events::default(),
    });
    let module = Box::into_raw(module);
    if CURRENT.compare_exchange(before, module, Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: from `into_raw` above, and no other thread has seen it.
        drop(unsafe { Box::from_raw(module) });
        return Err(code::CRYPTOKI_ALREADY_INITIALIZED.into());
    }
    if let Some(parent) = parent
        && let Ok(mut application) = parent.application.try_lock()
        && let Some(application) = application.take()
    {
        application.abandon();
    }
    Ok(())
}

/// Implements C_Finalize.
///
/// # Errors
/// [`Code::CRYPTOKI_NOT_INITIALIZED`].
pub(crate) fn finalize() -> Result<()> {
    let current: *const Module = module()?;
    let current = current.cast_mut();
    let swapped =
        CURRENT.compare_exchange(current, ptr::null_mut(), Ordering::AcqRel, Ordering::Acquire);
    let module = at(swapped.unwrap_or(ptr::null_mut())).ok_or(Code::CRYPTOKI_NOT_INITIALIZED)?;
    // The daemon destroys the sessions' objects when the connections close.
    module.sessions.take();
    module.events.end();
    if let Some(application) = module.application().take() {
        application.end();
    }
    Ok(())
}

impl Module {
    fn application(&self) -> MutexGuard<'_, Option<Arc<Application>>> {
        self.application.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the application; connects as a new one if there is none or its daemon went away.
    ///
    /// # Errors
    /// [`code::TOKEN_NOT_PRESENT`] if no daemon listens, or the environment lacks its address or
    /// certificates; [`Code::CRYPTOKI_NOT_INITIALIZED`] if another thread has finalised the module.
    pub(crate) fn connected(&self) -> Result<Arc<Application>> {
        let outcome = self.connect();
        match &outcome {
            Ok(application) => self.events.note_first(Slot::of(application)),
            Err(_) => self.events.note_first(Slot::Empty),
        }
        outcome
    }

    /// Implements C_WaitForSlotEvent; there is one slot.
    ///
    /// # Errors
    /// Those of [`Events::wait`].
    pub(crate) fn wait_for_event(&self, block: bool) -> Result<()> {
        self.events.wait(block, || self.slot(), || !self.is_current())
    }

    /// Asks for the state of the slot.
    ///
    /// # Errors
    /// [`Code::CRYPTOKI_NOT_INITIALIZED`].
    fn slot(&self) -> Result<Slot> {
        let application = match self.connected() {
            Err(error) if error.code == Code::CRYPTOKI_NOT_INITIALIZED => return Err(error),
            Err(_) => return Ok(Slot::Empty),
            Ok(application) => application,
        };
        match token::state(&application) {
            Ok(info) => {
                Ok(Slot::Present { application: application.number, locked: Some(info.locked) })
            }
            Err(_) if application.is_lost() => {
                self.forget_lost();
                Ok(Slot::Empty)
            }
            Err(_) => Ok(Slot::of(&application)),
        }
    }

    /// Returns whether the module is still initialised.
    fn is_current(&self) -> bool {
        ptr::eq(CURRENT.load(Ordering::Acquire), self)
    }

    fn connect(&self) -> Result<Arc<Application>> {
        let mut current = self.application();
        // Checked under the lock by which `finalize` ends the application: none is created after
        // that.
        if !self.is_current() {
            return Err(Code::CRYPTOKI_NOT_INITIALIZED.into());
        }
        if let Some(application) = &*current
            && !application.is_lost()
        {
            return Ok(application.clone());
        }
        *current = None;
        self.sessions.retain(|session| !session.application.is_lost());
        let application = Application::connect(&self.socket).map_err(|error| match error {
            Error { code: Code::DEVICE_REMOVED | Code::ARGUMENTS_BAD, detail } => {
                code::TOKEN_NOT_PRESENT.because(detail)
            }
            other => other,
        })?;
        Ok(current.insert(Arc::new(application)).clone())
    }

    /// Calls `ask` with the application, and again if the daemon turns out to have gone away.
    ///
    /// # Errors
    /// [`code::TOKEN_NOT_PRESENT`]; those of `ask`.
    pub(crate) fn ask<T>(&self, ask: impl Fn(&Application) -> Result<T>) -> Result<T> {
        let application = self.connected()?;
        match ask(&application) {
            Err(_) if application.is_lost() => ask(&*self.connected()?),
            other => other,
        }
    }

    /// Returns a session.
    ///
    /// # Errors
    /// [`Code::SESSION_HANDLE_INVALID`].
    pub(crate) fn session(&self, handle: u64) -> Result<Arc<Session>> {
        self.sessions.find(handle)
    }

    /// Drops the application and the sessions of a daemon that went away.
    pub(crate) fn forget_lost(&self) {
        self.sessions.retain(|session| !session.application.is_lost());
        let mut current = self.application();
        if current.as_ref().is_some_and(|application| application.is_lost()) {
            *current = None;
        }
    }
}
