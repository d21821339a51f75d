//! The program as the daemon knows it: its connections, who is logged in, and what is known of its keys.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use cycloid_hsm::rpc::message::AttributeValue;
use cycloid_hsm::rpc::{Client, Request, Response, Role, Secret};
use cycloid_hsm::{Code, Error, Result};

use crate::key::Key;

/// So many keys are remembered; then all are forgotten, which costs a question each.
const MAX_KEYS: usize = 1 << 16;

pub(crate) struct Application {
    client: Client,
    role: Mutex<Option<Role>>,
    keys: RwLock<HashMap<u64, Arc<Key>>>,
}

/// What a daemon answers that was asked for something else.
pub(crate) fn unexpected() -> Error {
    Code::DEVICE_ERROR.because("the daemon answers something else than it was asked for")
}

impl Application {
    /// # Errors
    /// [`Code::DEVICE_REMOVED`] where no daemon listens; those of the daemon.
    pub(crate) fn connect(socket: &Path) -> Result<Self> {
        let program = std::env::current_exe().unwrap_or_default();
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            client: Client::connect(socket, name)?,
            role: Mutex::new(None),
            keys: RwLock::new(HashMap::new()),
        })
    }

    /// Whether its daemon went away, so that it has no sessions and no keys any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.client.is_lost()
    }

    /// Leaves the connections to the parent of this process.
    pub(crate) fn abandon(&self) {
        self.client.abandon();
    }

    /// # Errors
    /// Those of the daemon; [`Code::DEVICE_REMOVED`].
    pub(crate) fn call(&self, request: &Request) -> Result<Response> {
        self.client.call(request).map_err(|error| match error.code {
            // It would look like success.
            Code(0) => unexpected(),
            _ => error,
        })
    }

    /// A request whose answer is that it was done.
    pub(crate) fn order(&self, request: &Request) -> Result<()> {
        match self.call(request)? {
            Response::Done {} => Ok(()),
            _ => Err(unexpected()),
        }
    }

    /// A request whose answer is bytes.
    pub(crate) fn data(&self, request: &Request) -> Result<Secret> {
        match self.call(request)? {
            Response::Data { data } => Ok(data),
            _ => Err(unexpected()),
        }
    }

    /// A request whose answer is a new object.
    pub(crate) fn object(&self, request: &Request) -> Result<u64> {
        match self.call(request)? {
            Response::Object { object } => Ok(object),
            _ => Err(unexpected()),
        }
    }

    /// What is known of attributes of an object, one by one.
    pub(crate) fn attributes(&self, object: u64, numbers: Vec<u32>) -> Result<Vec<AttributeValue>> {
        let request = Request::Attributes { object, numbers };
        let Response::Attributes { values } = self.call(&request)? else {
            return Err(unexpected());
        };
        let Request::Attributes { numbers, .. } = request else { unreachable!() };
        if !values.iter().map(|value| value.number).eq(numbers) {
            return Err(unexpected());
        }
        Ok(values)
    }

    /// What is known of a key, or of another object. The daemon is asked once.
    ///
    /// # Errors
    /// [`Code::OBJECT_HANDLE_INVALID`] if there is none.
    pub(crate) fn key(&self, object: u64) -> Result<Arc<Key>> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = keys.get(&object) {
            return Ok(key.clone());
        }
        drop(keys);
        let key = Arc::new(Key::new(&self.attributes(object, Key::ATTRIBUTES.to_vec())?));
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= MAX_KEYS {
            keys.clear();
        }
        keys.insert(object, key.clone());
        Ok(key)
    }

    /// What was known of an object may be so no more.
    pub(crate) fn forget(&self, object: u64) {
        self.keys.write().unwrap_or_else(PoisonError::into_inner).remove(&object);
    }

    /// Who is logged in; nobody logs in or out while it is looked at.
    pub(crate) fn role(&self) -> MutexGuard<'_, Option<Role>> {
        self.role.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// [`Code::USER_NOT_LOGGED_IN`]; those of the daemon.
    pub(crate) fn logout(&self) -> Result<()> {
        let mut current = self.role();
        if current.is_none() {
            return Err(Code::USER_NOT_LOGGED_IN.into());
        }
        self.order(&Request::Logout {})?;
        *current = None;
        // Private objects are out of sight from now on.
        self.forget_all();
        Ok(())
    }

    /// The daemon logged out whoever was logged in.
    pub(crate) fn was_logged_out(&self) {
        *self.role() = None;
        self.forget_all();
    }

    /// Nothing that was known of objects is so any more.
    pub(crate) fn forget_all(&self) {
        self.keys.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
