//! The program as an application of the daemon: its connections, its login, and a cache of its
//! keys.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use cycloid_hsm_protocol::rpc::message::AttributeValue;
use cycloid_hsm_protocol::rpc::{Client, Request, Response, Role, Secret};
use cycloid_hsm_protocol::{Code, Error, Result};

use crate::key::Key;

/// The capacity of the key cache; when full, it is cleared, at the cost of one request per key.
const MAX_KEYS: usize = 1 << 16;

pub(crate) struct Application {
    client: Client,
    role: Mutex<Option<Role>>,
    keys: RwLock<HashMap<u64, Arc<Key>>>,
}

/// Returns the error for an answer of the wrong kind.
pub(crate) fn unexpected() -> Error {
    Code::DEVICE_ERROR.because("unexpected answer from the daemon")
}

impl Application {
    /// # Errors
    /// [`Code::DEVICE_REMOVED`] if no daemon listens there; the daemon's errors.
    pub(crate) fn connect(socket: &Path) -> Result<Self> {
        let program = std::env::current_exe().unwrap_or_default();
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            client: Client::connect(socket, name)?,
            role: Mutex::new(None),
            keys: RwLock::new(HashMap::new()),
        })
    }

    /// Returns whether the daemon went away, which ended the application's sessions and keys.
    pub(crate) fn is_lost(&self) -> bool {
        self.client.is_lost()
    }

    /// Leaves the connections to the parent process.
    pub(crate) fn abandon(&self) {
        self.client.abandon();
    }

    /// # Errors
    /// The daemon's errors; [`Code::DEVICE_REMOVED`].
    pub(crate) fn call(&self, request: &Request) -> Result<Response> {
        self.client.call(request).map_err(|error| match error.code {
            // A refusal with code 0 would look like success.
            Code(0) => unexpected(),
            _ => error,
        })
    }

    /// Sends a request whose answer has no content.
    pub(crate) fn order(&self, request: &Request) -> Result<()> {
        match self.call(request)? {
            Response::Done {} => Ok(()),
            _ => Err(unexpected()),
        }
    }

    /// Sends a request whose answer is bytes.
    pub(crate) fn data(&self, request: &Request) -> Result<Secret> {
        match self.call(request)? {
            Response::Data { data } => Ok(data),
            _ => Err(unexpected()),
        }
    }

    /// Sends a request whose answer is a new object.
    pub(crate) fn object(&self, request: &Request) -> Result<u64> {
        match self.call(request)? {
            Response::Object { object } => Ok(object),
            _ => Err(unexpected()),
        }
    }

    /// Returns attributes of an object, each with its own code.
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

    /// Returns the cached description of a key or another object, and requests it on first use.
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

    /// Removes an object from the cache.
    pub(crate) fn forget(&self, object: u64) {
        self.keys.write().unwrap_or_else(PoisonError::into_inner).remove(&object);
    }

    /// Locks and returns the logged-in role; logins and logouts wait meanwhile.
    pub(crate) fn role(&self) -> MutexGuard<'_, Option<Role>> {
        self.role.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// [`Code::USER_NOT_LOGGED_IN`]; the daemon's errors.
    pub(crate) fn logout(&self) -> Result<()> {
        let mut current = self.role();
        if current.is_none() {
            return Err(Code::USER_NOT_LOGGED_IN.into());
        }
        self.order(&Request::Logout {})?;
        *current = None;
        // Private objects are invisible from now on.
        self.forget_all();
        Ok(())
    }

    /// Notes that the daemon has logged the application out.
    pub(crate) fn was_logged_out(&self) {
        *self.role() = None;
        self.forget_all();
    }

    /// Clears the cache.
    pub(crate) fn forget_all(&self) {
        self.keys.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
