//! Request handling: checks permissions, and chooses the thread that does the work.

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use super::application::{Application, Applications};
use super::connection::Reply;
use super::handle::FIRST_IN_MEMORY;
use super::legacy::Permissions;
use super::logins::Logins;
use super::memory::Memory;
use super::metrics::{Gauges, Metrics};
use super::pin;
use super::rates::Rates;
use super::tasks::{Task, Tasks};
use super::token::Token;
use super::unlocking;
use super::uses::Uses;
use crate::attribute::cka;
use crate::engine::Engine;
use crate::object::{Object, Seen};
use crate::rpc::message::{Request, Response};
use crate::rpc::{Role, Secret, Unreadable, VERSION, version};
use crate::spans::{self, Span};
use crate::{Code, Error, Result};

/// The setting with the mark of the last initialisation of the token.
pub(super) const INITIALIZED: &str = "token.initialized";

/// The state that answers requests.
pub struct Daemon {
    /// Objects and PINs.
    pub token: Token,
    /// The queues of private-key operations.
    pub engine: Engine,
    /// The metrics.
    pub metrics: Metrics,
    pub(super) judge: pin::Judge,
    pub(super) logins: Logins<(Asked, Secret)>,
    pub(super) unlocking: unlocking::Attempts,
    pub(super) memory: Memory,
    pub(super) applications: Applications,
    pub(super) tasks: Arc<Tasks>,
    pub(super) uses: Arc<Uses>,
    pub(super) permissions: Permissions,
    pub(super) rates: Rates,
    /// The mark of the last initialisation of the token that this daemon knows of.
    pub(super) initialized: Mutex<Option<Vec<u8>>>,
    /// Whether a program of another version has been logged.
    other_versions: Once,
}

/// One request: its application, and the destination of the answer.
pub(super) struct Asked {
    pub(super) application: Arc<Application>,
    pub(super) reply: Reply,
}

/// A request whose work is queued. If the daemon stops before, the answer says that nothing was
/// done, so another daemon may do it.
struct Queued(Option<Asked>);

impl Drop for Queued {
    fn drop(&mut self) {
        if let Some(asked) = self.0.take() {
            let stopping = Code::FUNCTION_CANCELED.because("the daemon is stopping");
            asked.reply.send(Err(stopping));
        }
    }
}

/// Shows its token.
impl std::fmt::Debug for Daemon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Daemon({:?})", self.token.store)
    }
}

impl Daemon {
    /// Creates a daemon for a token and a number of workers.
    pub fn new(token: Token, workers: usize, memory: Memory) -> Self {
        Self {
            token,
            engine: Engine::new(workers),
            metrics: Metrics::default(),
            judge: pin::Judge::default(),
            logins: Logins::default(),
            unlocking: unlocking::Attempts::default(),
            memory,
            applications: Applications::default(),
            tasks: Tasks::new(workers).into(),
            uses: Arc::default(),
            permissions: Permissions::default(),
            rates: Rates::default(),
            initialized: Mutex::default(),
            other_versions: Once::new(),
        }
    }

    /// Handles one message.
    pub fn handle(self: &Arc<Self>, reply: Reply, message: &[u8]) {
        let _span = spans::enter(Span::Request);
        let request = match Request::read(message) {
            Ok(request) => request,
            Err(unreadable) => return self.refuse(reply, unreadable),
        };
        self.metrics.request(&request);
        match request {
            Request::Hello { version, name } => self.hello(reply, version, name),
            Request::Attach { version, ticket } => self.attach(reply, version, &ticket),
            Request::Share {} if reply.connection().application.get().is_some() => reply.share(),
            request => {
                match reply.connection().application.get().cloned() {
                    Some(application) => self.dispatch(Asked { application, reply }, request),
                    None => reply
                        .send(Err(Code::ARGUMENTS_BAD
                            .because("the first message must be Hello or Attach"))),
                }
            }
        }
    }

    /// Refuses an unreadable message.
    fn refuse(&self, reply: Reply, unreadable: Unreadable) {
        self.metrics.malformed();
        let code = match unreadable {
            Unreadable::Malformed => Code::ARGUMENTS_BAD,
            Unreadable::Unknown => Code::FUNCTION_NOT_SUPPORTED,
            Unreadable::Version1 => return reply.refuse_version_1(&self.other_version(1)),
        };
        reply.send(Err(code.because(unreadable.to_string())));
    }

    /// Returns the error for a program of another version. The first one is logged: a program that
    /// uses the PKCS #11 module shows a number at most.
    fn other_version(&self, version: u16) -> Error {
        let error = version::mismatch(VERSION, version);
        self.other_versions.call_once(|| eprintln!("warning: refused a program: {error}"));
        error
    }

    fn hello(&self, reply: Reply, version: u16, name: String) {
        if version != VERSION {
            return reply.send(Err(self.other_version(version)));
        }
        // The program may come from another daemon on the same file, where it has made objects. A
        // server announces them; no worker waits for it.
        if !self.token.store.is_remote() {
            self.refresh();
        }
        let connection = reply.connection();
        let answer =
            connection.peer().and_then(|peer| {
                let (application, ticket) = self.applications.welcome(&name, peer.clone());
                match connection.application.set(application) {
                    Ok(()) => Ok(Response::Welcome { version: VERSION, ticket }),
                    Err(_) => Err(Code::ARGUMENTS_BAD
                        .because("the connection already belongs to an application")),
                }
            });
        reply.send(answer);
    }

    fn attach(&self, reply: Reply, version: u16, ticket: &Secret) {
        if version != VERSION {
            return reply.send(Err(self.other_version(version)));
        }
        let connection = reply.connection();
        let peer = connection.peer();
        let attached = peer.ok().and_then(|peer| self.applications.attach(ticket, peer));
        let answer = match attached.map(|application| connection.application.set(application)) {
            Some(Ok(())) => Ok(Response::Welcome { version: VERSION, ticket: ticket.clone() }),
            Some(Err(_)) => {
                Err(Code::ARGUMENTS_BAD.because("the connection already belongs to an application"))
            }
            None => Err(Code::SESSION_CLOSED.because("no such application")),
        };
        reply.send(answer);
    }

    fn dispatch(self: &Arc<Self>, asked: Asked, request: Request) {
        if self.token.store.is_locked() && !works_locked(&request) {
            return asked.reply.send(Err(Code::DEVICE_ERROR.because("the keystore is locked")));
        }
        if self.reads_the_server(&request) || has_many_signatures(&request) {
            if let Err(error) = self.tasks.admit(asked.application.number) {
                return asked.reply.send(Err(error));
            }
            return self.compute(asked, move |daemon, asked| {
                daemon.dispatch_at_once(asked, request);
                daemon.tasks.call_worker();
            });
        }
        self.dispatch_at_once(asked, request);
    }

    /// Returns whether a request reads a secret from a database on a server. No worker waits for
    /// that: while the server is lost, the others' requests, which do not need it, are answered.
    fn reads_the_server(&self, request: &Request) -> bool {
        let reads = |key: &u64| self.token.is_unprepared(*key) && self.token.check_fresh().is_ok();
        match request {
            Request::Sign { key, .. }
            | Request::Decrypt { key, .. }
            | Request::Encrypt { key, .. }
            | Request::Verify { key, .. }
            | Request::Check { key, .. }
            | Request::MacBegin { key, .. } => reads(key),
            Request::SignMany { requests } => requests.iter().any(|signing| reads(&signing.key)),
            Request::Attributes { object, numbers } if self.token.store.is_remote() => {
                let secret = |object: Arc<Object>| {
                    numbers.iter().any(|number| matches!(object.see(*number), Seen::InSecret))
                };
                self.token.object(*object).is_some_and(secret)
            }
            _ => false,
        }
    }

    /// Handles a request on this thread, or queues it.
    fn dispatch_at_once(self: &Arc<Self>, asked: Asked, request: Request) {
        match request {
            // Operations that many clients request concurrently stay on the workers.
            Request::Sign { key, mechanism, data, digested } => {
                self.sign(asked, key, mechanism, data.0, digested);
            }
            Request::SignMany { requests } => self.sign_many(asked, requests),
            Request::MacBegin { key, mechanism, usage } => {
                self.mac_begin(asked, key, &mechanism, usage);
            }
            Request::Decrypt { key, mechanism, data } => {
                self.decrypt(asked, key, mechanism, data.0);
            }
            Request::Encrypt { key, mechanism, data } => {
                if data.len() >= MANY {
                    self.tasks.call_worker_to_watch();
                }
                self.encrypt(asked, key, mechanism, data);
            }
            Request::Find { .. }
            | Request::Attributes { .. }
            | Request::Size { .. }
            | Request::Check { .. }
            | Request::Verify { .. }
            | Request::MacUpdate { .. }
            | Request::MacFinish { .. }
            | Request::MacCancel { .. }
            | Request::Random { .. }
            | Request::Logout {}
            | Request::Metrics {}
            | Request::Status {} => {
                if is_long(&request) {
                    self.tasks.call_worker_to_watch();
                }
                let answer = self.answer(&asked.application, request);
                asked.reply.send(answer);
            }
            request => self.dispatch_task(asked, request),
        }
    }

    /// Queues work that would keep a worker from computing.
    fn dispatch_task(self: &Arc<Self>, asked: Asked, request: Request) {
        if let Err(error) = self.tasks.admit(asked.application.number) {
            return asked.reply.send(Err(error));
        }
        match request {
            Request::Derive { base, mechanism, template } => {
                self.derive(asked, base, mechanism, template);
            }
            Request::Unwrap { unwrapping, mechanism, wrapped, template } => {
                self.unwrap(asked, unwrapping, mechanism, wrapped.0, template);
            }
            Request::Login { role, pin } => self.login(asked, role, pin),
            Request::Authenticate { key, pin } => self.authenticate(asked, key, pin),
            Request::InitToken { pin, label } => self.init_token(asked, pin, label),
            Request::InitPin { role, pin } => self.init_pin(asked, role, pin),
            Request::SetPin { old, new } => self.set_pin(asked, old, new),
            Request::Create { template } => self.create(asked, template),
            Request::Import { pem, template } => self.import(asked, pem, template),
            Request::Generate { mechanism, template } => self.generate(asked, mechanism, template),
            Request::GeneratePair { mechanism, public, private } => {
                self.generate_pair(asked, mechanism, public, private);
            }
            request => {
                self.later(asked, move |daemon, application| daemon.answer(application, request));
            }
        }
    }

    /// Queues a change, which answers with its result.
    pub(super) fn later(
        self: &Arc<Self>,
        asked: Asked,
        work: impl FnOnce(&Arc<Self>, &Arc<Application>) -> Result<Response> + Send + 'static,
    ) {
        self.change(asked, |daemon, asked| {
            let answer = work(daemon, &asked.application);
            asked.reply.send(answer);
        });
    }

    /// Queues a change for the thread that makes them.
    pub(super) fn change(
        self: &Arc<Self>,
        asked: Asked,
        work: impl FnOnce(&Arc<Self>, Asked) + Send + 'static,
    ) {
        let (application, task) = self.task(asked, work);
        self.tasks.change(application, task);
    }

    /// Queues a slow computation, which changes nothing.
    pub(super) fn compute(
        self: &Arc<Self>,
        asked: Asked,
        work: impl FnOnce(&Arc<Self>, Asked) + Send + 'static,
    ) {
        let (application, task) = self.task(asked, work);
        self.tasks.compute(application, task);
    }

    fn task(
        self: &Arc<Self>,
        asked: Asked,
        work: impl FnOnce(&Arc<Self>, Asked) + Send + 'static,
    ) -> (u64, Task) {
        let (daemon, application) = (self.clone(), asked.application.number);
        let mut queued = Queued(Some(asked));
        let task = move || {
            if let Some(asked) = queued.0.take() {
                work(&daemon, asked);
            }
        };
        (application, Box::new(task))
    }

    fn answer(&self, application: &Arc<Application>, request: Request) -> Result<Response> {
        match request {
            Request::Token {} => self.token_info(application),
            Request::Logout {} => self.logout(application),
            Request::Random { length } => self.random(length),
            Request::Status {} => self.status(),
            Request::Unlock { passphrase, key_file } => {
                self.unlock(application, passphrase, key_file)
            }
            Request::Lock {} => self.lock(application),
            Request::Audit { from, limit } => self.audit_entries(application, from, limit),
            Request::Metrics {} => Ok(Response::Text { text: self.metrics.text(&self.gauges()) }),
            Request::RotateMasterKey {} => self.rotate(application),
            Request::LogUses { required } => self.log_uses(application, required),
            Request::AllowLegacy { weak, allowed } => self.allow_legacy(application, weak, allowed),
            Request::Find { template, page } => self.find(application, &template, page),
            Request::Attributes { object, numbers } => {
                self.attributes(application, object, &numbers)
            }
            Request::SetAttributes { object, template } => {
                self.set_attributes(application, object, &template)
            }
            Request::Copy { object, template } => self.copy(application, object, &template),
            Request::Destroy { object } => self.destroy(application, object),
            Request::Size { object } => self.size(application, object),
            Request::Check { key, mechanism, usage } => {
                self.check(application, key, &mechanism, usage)
            }
            Request::Verify { key, mechanism, data, digested, signature } => {
                self.verify(application, key, &mechanism, &data.0, digested, &signature.0)
            }
            Request::MacUpdate { operation, data } => {
                self.mac_update(application, operation, &data.0)
            }
            Request::MacFinish { operation, data, signature } => {
                self.mac_finish(application, operation, &data.0, signature.as_ref())
            }
            Request::MacCancel { operation } => {
                application.running.take(operation);
                Ok(Response::Done {})
            }
            Request::Wrap { wrapping, mechanism, key, room } => {
                self.wrap(application, wrapping, &mechanism, key, room)
            }
            Request::Hello { .. }
            | Request::Attach { .. }
            | Request::Share {}
            | Request::Login { .. }
            | Request::Authenticate { .. }
            | Request::InitToken { .. }
            | Request::InitPin { .. }
            | Request::SetPin { .. }
            | Request::Create { .. }
            | Request::Import { .. }
            | Request::Generate { .. }
            | Request::GeneratePair { .. }
            | Request::Sign { .. }
            | Request::SignMany { .. }
            | Request::MacBegin { .. }
            | Request::Encrypt { .. }
            | Request::Decrypt { .. }
            | Request::Derive { .. }
            | Request::Unwrap { .. } => Err(Code::FUNCTION_FAILED.into()),
        }
    }

    /// Measures what the metrics show besides their counters.
    fn gauges(&self) -> Gauges {
        Gauges {
            objects: self.token.count(),
            memory: self.memory.clone(),
            queue_depths: self.engine.depths(),
        }
    }

    /// Returns an object that the application sees.
    ///
    /// # Errors
    /// `missing`; [`Code::DEVICE_ERROR`] if the database was not reached for long: another daemon
    /// may have made the object.
    pub(super) fn object(
        &self,
        application: &Application,
        id: u64,
        missing: Code,
    ) -> Result<Arc<Object>> {
        let fresh = if id < FIRST_IN_MEMORY { self.token.check_fresh() } else { Ok(()) };
        match application.object(id).or_else(|| self.token.object_or_refresh(id)) {
            Some(object) if application.sees(&object) => Ok(object),
            Some(_) => Err(missing.into()),
            None => fresh.and(Err(missing.into())),
        }
    }

    /// Returns a key that the application may use. A private one needs the user's login, although
    /// an auditor sees it too. An auditor uses no secret, even if anybody else may.
    pub(super) fn usable(
        &self,
        application: &Application,
        id: u64,
        usage: u32,
        mechanism: u32,
        missing: Code,
    ) -> Result<Arc<Object>> {
        let fresh = self.token.check_fresh();
        let object = self.object(application, id, missing)?;
        let auditor = application.role() == Some(Role::Auditor);
        if object.is_private() || auditor && object.has_secret() {
            needs(application, Role::User)?;
        }
        object.permits(usage, mechanism)?;
        self.permissions.check_length(&object.attributes)?;
        if object.is_stored() {
            fresh?;
        }
        Ok(object)
    }

    /// Returns a key as [`usable`](Self::usable) does, for one use of its secret half.
    ///
    /// # Errors
    /// [`Code::USER_NOT_LOGGED_IN`] also if the key requires the PIN before each use, and it was
    /// not entered.
    pub(super) fn usable_once(
        &self,
        application: &Application,
        id: u64,
        usage: u32,
        mechanism: u32,
        missing: Code,
    ) -> Result<Arc<Object>> {
        let object = self.usable(application, id, usage, mechanism, missing)?;
        if object.attributes.is(cka::ALWAYS_AUTHENTICATE) && !application.take_permit(id) {
            return Err(
                Code::USER_NOT_LOGGED_IN.because("the key requires the PIN before each use")
            );
        }
        Ok(object)
    }

    /// Writes a line to the audit log in its own transaction, for an event that changes nothing
    /// else.
    pub(super) fn note(&self, application: &Application, what: &str) -> Result<()> {
        self.token.store.audit(&application.who(), what)
    }

    /// Loads the settings that other daemons may have changed.
    ///
    /// # Errors
    /// The store's errors.
    pub(super) fn observe(&self) -> Result<()> {
        self.judge.observe(&self.token.store)?;
        self.uses.observe(&self.token.store)?;
        self.permissions.observe(&self.token.store)?;
        let initialized = self.token.store.setting(INITIALIZED)?.unwrap_or_default();
        // Held during the logout, so that it ends no login after one that this daemon has noted.
        let mut known = lock(&self.initialized);
        if known.as_ref().is_some_and(|known| *known != initialized) {
            // Another daemon has reinitialised the token, to which all logins belonged.
            self.applications.log_out_all();
        }
        *known = Some(initialized);
        Ok(())
    }

    /// Notes that this daemon has reinitialised the token.
    pub(super) fn note_initialized(&self, mark: Vec<u8>) {
        *lock(&self.initialized) = Some(mark);
    }

    fn try_refresh(&self) -> Result<()> {
        self.token.refresh()?;
        // A request for an unknown object may have refreshed the objects alone.
        match self.token.take_news() {
            true => self.observe().inspect_err(|_| self.token.keep_news()),
            false => Ok(()),
        }
    }

    /// Loads the changes of other daemons.
    pub fn refresh(&self) {
        if let Err(error) = self.try_refresh() {
            self.metrics.failed_refresh();
            eprintln!("warning: cannot read the database: {error}");
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Refuses applications that are not logged in as `role`.
pub(super) fn needs(application: &Application, role: Role) -> Result<()> {
    if application.role() == Some(role) { Ok(()) } else { Err(Code::USER_NOT_LOGGED_IN.into()) }
}

/// The number of bytes for which AES takes longer than another worker takes to wake.
const MANY: usize = 1 << 16;

/// The number of signatures in one request that a worker prepares at once, and computes if they are
/// codes. A message has room for tens of thousands.
const MOST_SIGNATURES: usize = 64;

/// Returns whether a request would keep a worker for longer than its turn.
fn has_many_signatures(request: &Request) -> bool {
    matches!(request, Request::SignMany { requests } if requests.len() > MOST_SIGNATURES)
}

/// Returns whether a worker may take longer to answer a request itself than another takes to wake.
fn is_long(request: &Request) -> bool {
    match request {
        Request::Find { .. } | Request::Verify { .. } | Request::Metrics {} => true,
        Request::MacUpdate { data, .. } | Request::MacFinish { data, .. } => data.0.len() >= MANY,
        _ => false,
    }
}

/// Returns whether a request is answered while the keystore is locked.
const fn works_locked(request: &Request) -> bool {
    matches!(
        request,
        Request::Token {} | Request::Status {} | Request::Unlock { .. } | Request::Metrics {}
    )
}
