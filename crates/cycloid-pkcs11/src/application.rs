//! The program as an application of the daemon: its connections, its login, and a cache of its
//! keys.
//!
//! With the addresses of several daemons, the application outlives one of them: it connects to the
//! next, logs in there with the same PIN, and repeats a request that may be repeated. Stored
//! objects have the same handles everywhere; objects in memory end with their daemon.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use cycloid_hsm_protocol::rpc::message::AttributeValue;
use cycloid_hsm_protocol::rpc::{Client, Request, Response, Role, Secret, addresses};
use cycloid_hsm_protocol::{Code, Error, Result};

use crate::key::Key;

/// The capacity of the key cache; when full, it is cleared, at the cost of one request per key.
const MAX_KEYS: usize = 1 << 16;

/// How long an application looks for another daemon.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause between two rounds through all addresses.
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct Application {
    /// Distinguishes it from others of this process.
    pub(crate) number: u64,
    client: RwLock<Arc<Client>>,
    name: String,
    places: Vec<PathBuf>,
    /// The role and the PIN of the login, kept only if there are several addresses.
    login: Mutex<Option<(Role, Secret)>>,
    /// Whether there was no other daemon when one was lost.
    is_over: AtomicBool,
    role: Mutex<Option<Role>>,
    keys: RwLock<BTreeMap<u64, Arc<Key>>>,
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
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        Ok(Self {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            client: RwLock::new(Client::connect(socket, name.clone())?.into()),
            name: name.into_owned(),
            places: addresses(socket),
            login: Mutex::default(),
            is_over: AtomicBool::new(false),
            role: Mutex::new(None),
            keys: RwLock::new(BTreeMap::new()),
        })
    }

    /// Returns whether the daemon went away, which ended the application's sessions and keys.
    pub(crate) fn is_lost(&self) -> bool {
        match self.places.len() {
            1 => self.client().is_lost(),
            _ => self.is_over.load(Ordering::SeqCst),
        }
    }

    fn client(&self) -> Arc<Client> {
        self.client.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn login(&self) -> MutexGuard<'_, Option<(Role, Secret)>> {
        self.login.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a login, so that it can be made again at another daemon.
    pub(crate) fn logged_in(&self, role: Role, pin: &[u8]) {
        if self.places.len() > 1 {
            *self.login() = Some((role, Secret::new(pin)));
        }
    }

    /// Notes that the PIN of the login was changed.
    pub(crate) fn changed_pin(&self, pin: &[u8]) {
        if let Some((_, known)) = &mut *self.login() {
            *known = Secret::new(pin);
        }
    }

    /// Connects to another daemon in place of `lost`, unless another thread has.
    ///
    /// # Errors
    /// [`Code::DEVICE_REMOVED`] if there is none, or if the PIN of the login was changed.
    fn fail_over(&self, lost: &Arc<Client>) -> Result<Arc<Client>> {
        let mut current = self.client.write().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&current, lost) {
            return Ok(current.clone());
        }
        let begun = Instant::now();
        while !self.is_over.load(Ordering::SeqCst) {
            for place in &self.places {
                let Ok(client) = Client::connect(place, self.name.as_str()) else { continue };
                let login = self.login().clone();
                match login.map(|(role, pin)| client.call(&Request::Login { role, pin })) {
                    None | Some(Ok(_)) => {
                        *current = Arc::new(client);
                        return Ok(current.clone());
                    }
                    // It was changed. Each further attempt would count as another wrong PIN, and
                    // delay all programs of this user.
                    Some(Err(error)) if error.code == Code::PIN_INCORRECT => {
                        *self.login() = None;
                        self.end();
                        return Err(Code::DEVICE_REMOVED.because("the PIN was changed"));
                    }
                    Some(Err(_)) => {}
                }
            }
            if begun.elapsed() >= PATIENCE {
                self.is_over.store(true, Ordering::SeqCst);
            }
            thread::sleep(PAUSE);
        }
        Err(Code::DEVICE_REMOVED.because("no daemon listens at any of the addresses"))
    }

    /// Looks for no other daemon from now on.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Leaves the connections to the parent process.
    pub(crate) fn abandon(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Ok(client) = self.client.try_read() {
            client.abandon();
        }
    }

    /// # Errors
    /// The daemon's errors; [`Code::DEVICE_REMOVED`] if no daemon is left;
    /// [`Code::FUNCTION_FAILED`] if a daemon went away that may have made the change.
    pub(crate) fn call(&self, request: &Request) -> Result<Response> {
        let mut client = self.client();
        // This request was not sent yet, so another daemon may carry it out, whatever it changes.
        if self.places.len() > 1 && client.is_lost() {
            client = self.fail_over(&client)?;
        }
        loop {
            return match client.call(request) {
                Err(error) if error.code == Code::DEVICE_REMOVED && self.places.len() > 1 => {
                    client = self.fail_over(&client)?;
                    if request.may_be_repeated() {
                        continue;
                    }
                    Err(Code::FUNCTION_FAILED
                        .because("the daemon went away; it may have made this change or not"))
                }
                // It stops, and has not carried out the request.
                Err(error) if error.code == Code::FUNCTION_CANCELED && self.places.len() > 1 => {
                    client = self.fail_over(&client)?;
                    continue;
                }
                // A refusal with code 0 would look like success.
                Err(error) if error.code == Code(0) => Err(unexpected()),
                other => other,
            };
        }
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
        self.log_out(&mut self.role())
    }

    /// Logs out a role that the caller has locked.
    ///
    /// # Errors
    /// Those of [`logout`](Self::logout).
    pub(crate) fn log_out(&self, current: &mut Option<Role>) -> Result<()> {
        if current.is_none() {
            return Err(Code::USER_NOT_LOGGED_IN.into());
        }
        // First of all: a failover must not log in again.
        *self.login() = None;
        match self.client().call(&Request::Logout {}) {
            Ok(Response::Done {}) => {}
            // The login ended with its daemon.
            Err(error) if error.code == Code::DEVICE_REMOVED && self.places.len() > 1 => {}
            // The daemon has ended it: the keystore was locked, or the token reinitialised.
            Err(error) if error.code == Code::USER_NOT_LOGGED_IN => {}
            Err(error) if error.code != Code(0) => return Err(error),
            _ => return Err(unexpected()),
        }
        *current = None;
        // Private objects are invisible from now on.
        self.forget_all();
        Ok(())
    }

    /// Destroys an object in memory; if that fails, it ends with the daemon.
    pub(crate) fn drop_object(&self, object: u64) {
        self.forget(object);
        let _ = self.client().call(&Request::Destroy { object });
    }

    /// Ends a code over long data; if that fails, it ends with the application.
    pub(crate) fn cancel(&self, operation: u64) {
        let _ = self.client().call(&Request::MacCancel { operation });
    }

    /// Notes that the daemon has logged the application out.
    pub(crate) fn was_logged_out(&self) {
        *self.login() = None;
        *self.role() = None;
        self.forget_all();
    }

    /// Clears the cache.
    pub(crate) fn forget_all(&self) {
        self.keys.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
