//! The server: a few workers read the sockets while there is nothing to compute, and otherwise
//! compute. Other threads make changes and do slow work ([`tasks`](super::tasks)).
//!
//! No thread stands between a socket and the arithmetic. Requests that arrive while all workers
//! compute wait in the sockets, and the next free worker reads them all at once, which fills the
//! lanes.

mod changes;

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};

use super::application::Peer;
use super::connection::{Connection, Gathering, State};
use super::files::most_connections;
use super::handler::Daemon;
use super::memory::Memory;
use super::metrics::Latencies;
use super::slots::{self, Slots};
use super::token::Token;
use super::watch::{LONG, Rest, Watch};
use super::wire::{Tls, Wire};
use crate::engine::{Batch, Next, Workspace};
use crate::rpc::Polling;
use crate::spans::{self, Span, Wait};
use crate::store::Store;

/// The settings of a daemon.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The path of its socket.
    pub socket: PathBuf,
    /// How it serves other machines, if at all.
    pub tls: Option<Tls>,
    /// Ids of users that may connect, besides the daemon's own and root.
    pub users: Vec<u32>,
    /// The number of worker threads; 0 for one per processor.
    pub workers: usize,
    /// The number of prepared keys to cache.
    pub prepared_keys: usize,
    /// The maximum number of authenticated connections; fewer if the limit on open files leaves no
    /// room for them.
    pub most_connections: usize,
    /// The interval at which changes of other daemons are loaded.
    pub refresh: Duration,
    /// Stored keys are not used if the server of the database was not reached for this long: others
    /// may have destroyed them.
    pub stale_after: Duration,
    /// Whether this process's memory is locked, for the status report.
    pub memory: Memory,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            socket: crate::rpc::default_socket(),
            tls: None,
            users: Vec::new(),
            workers: 0,
            prepared_keys: 4096,
            most_connections: 1024,
            refresh: Duration::from_millis(500),
            stale_after: Duration::from_secs(10),
            memory: Memory::default(),
        }
    }
}

/// The timeout of a poll that does not wait.
const NO_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

const LISTENER: u64 = 0;
const WAKE: u64 = 1;
const STOP: u64 = 2;
const TLS_LISTENER: u64 = 3;
const FIRST_CONNECTION: u64 = 4;

/// At most this many unauthenticated connections are kept; a new one evicts the oldest. So a client
/// that opens many silent connections cannot block others for long, and takes no place from
/// authenticated ones.
const MOST_UNAUTHENTICATED: usize = 64;

/// Requests that are there after a shorter wait arrived while nobody watched the sockets,
const AT_ONCE: Duration = Duration::from_micros(2);
/// so during this many batches another worker is to watch them.
const AGAIN: u32 = 16;

/// The interval at which connections that could not be accepted are retried.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// The interval at which connections that stay unauthenticated for too long are closed.
const SWEEP_INTERVAL: Duration = Duration::from_millis(100);

/// The state that all threads share.
struct Shared {
    daemon: Arc<Daemon>,
    settings: Settings,
    poll: Arc<OwnedFd>,
    listener: UnixListener,
    tls_listener: Option<TcpListener>,
    stop: OwnedFd,
    stopping: AtomicBool,
    /// The workers at rest.
    rest: Arc<Rest>,
    slots: Slots,
    /// Whether connections are waiting that could not be accepted.
    left_waiting: AtomicBool,
    connections: Mutex<HashMap<u64, Arc<Connection>>>,
    next_number: AtomicU64,
}

/// A running daemon, which stops on [`stop`](Self::stop) or drop.
pub struct Server {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server({})", self.shared.settings.socket.display())
    }
}

/// Listens at `path`, replacing a socket at which nobody listens any more.
fn listen(path: &Path) -> io::Result<UnixListener> {
    let stale = std::fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket())
        && UnixStream::connect(path).is_err();
    if stale {
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

impl Server {
    /// Starts a daemon on a store, locked or unlocked.
    ///
    /// # Errors
    /// If the socket cannot be opened, or the store is corrupt.
    pub fn start(
        store: Store,
        settings: Settings,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let most_connections = most_connections(settings.most_connections);
        let settings = Settings { most_connections, ..settings };
        let token = Token::new(store, settings.prepared_keys, settings.stale_after)?;
        let listener = listen(&settings.socket)
            .map_err(|error| format!("cannot listen at {}: {error}", settings.socket.display()))?;
        let tls_listener = settings.tls.as_ref().map(|tls| {
            let listen = || {
                let listener = TcpListener::bind(tls.address)?;
                listener.set_nonblocking(true)?;
                Ok(listener)
            };
            listen().map_err(|error: io::Error| {
                format!("cannot listen at tls://{}: {error}", tls.address)
            })
        });
        let tls_listener = tls_listener.transpose()?;
        let poll = Arc::new(epoll::create(CreateFlags::CLOEXEC)?);
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(
            &*poll,
            &listener,
            EventData::new_u64(LISTENER),
            EventFlags::IN | EventFlags::ET,
        )?;
        if let Some(listener) = &tls_listener {
            let data = EventData::new_u64(TLS_LISTENER);
            epoll::add(&*poll, listener, data, EventFlags::IN | EventFlags::ET)?;
        }
        epoll::add(&*poll, &stop, EventData::new_u64(STOP), EventFlags::IN)?;
        let workers = match settings.workers {
            0 => thread::available_parallelism().map_or(1, usize::from),
            workers => workers,
        };
        let rest = Arc::new(Rest::new(workers)?);
        epoll::add(&*poll, &rest, EventData::new_u64(WAKE), EventFlags::IN | EventFlags::ET)?;
        let daemon = Daemon::new(token, workers, settings.memory.clone());
        if !daemon.token.store.is_locked() {
            daemon.observe()?;
        }
        let shared = Arc::new(Shared {
            daemon: Arc::new(daemon),
            settings,
            poll,
            listener,
            tls_listener,
            stop,
            stopping: AtomicBool::new(false),
            rest,
            slots: Slots::default(),
            left_waiting: AtomicBool::new(false),
            connections: Mutex::default(),
            next_number: AtomicU64::new(FIRST_CONNECTION),
        });
        shared.daemon.tasks.set_workers(shared.rest.clone());
        let mut threads = Vec::new();
        for number in 0..workers {
            let shared = shared.clone();
            let work = move || shared.work();
            threads.push(thread::Builder::new().name(format!("worker-{number}")).spawn(work)?);
        }
        let changing = shared.clone();
        let change = move || changing.make_changes();
        threads.push(thread::Builder::new().name("changes".into()).spawn(change)?);
        let following = shared.clone();
        let follow = move || following.follow_changes();
        threads.push(thread::Builder::new().name("refresh".into()).spawn(follow)?);
        for number in 0..shared.daemon.tasks.threads() {
            let shared = shared.clone();
            let compute = move || shared.daemon.tasks.make_computations();
            let name = format!("computations-{number}");
            threads.push(thread::Builder::new().name(name).spawn(compute)?);
        }
        if let Some(patience) = shared.settings.tls.as_ref().map(|tls| tls.handshake) {
            let shared = shared.clone();
            let look = move || shared.close_unauthenticated(patience);
            threads.push(thread::Builder::new().name("handshakes".into()).spawn(look)?);
        }
        Ok(Self { shared, threads })
    }

    /// Returns the address at which it listens for other machines.
    pub fn tls_address(&self) -> Option<SocketAddr> {
        self.shared.tls_listener.as_ref()?.local_addr().ok()
    }

    /// Returns the daemon, for requests from within the process.
    pub fn daemon(&self) -> &Daemon {
        &self.shared.daemon
    }

    /// Stops accepting requests, answers those in progress, and ends.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // First of all: a program that connects from now on turns to another daemon at once.
        let _ = std::fs::remove_file(&self.shared.settings.socket);
        self.shared.stopping.store(true, Ordering::SeqCst);
        self.shared.daemon.engine.close();
        self.shared.daemon.tasks.close();
        let _ = rustix::io::write(&self.shared.stop, &1u64.to_ne_bytes());
        self.shared.rest.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        let daemon = &self.shared.daemon;
        daemon.uses.settle(&daemon.tasks, &daemon.token.store, Duration::ZERO);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            self.end();
        }
    }
}

/// Returns the oldest connection of the peer with the most connections, an idle one if there is
/// one, if `newcomer` would still have fewer. A stranger has none.
fn one_of_the_largest(
    connections: &HashMap<u64, Arc<Connection>>,
    newcomer: Option<&Peer>,
) -> Option<u64> {
    let mut held: HashMap<Option<&Peer>, usize> = HashMap::new();
    let holders = connections.values().map(|connection| connection.holder().0);
    holders.filter(Option::is_some).for_each(|holder| *held.entry(holder).or_default() += 1);
    let own = held.get(&newcomer).copied().unwrap_or_default();
    let most = held.values().copied().max().filter(|most| *most > own + 1)?;
    let theirs = connections.values().filter_map(|connection| {
        let (holder, idle) = connection.holder();
        (held.get(&holder) == Some(&most)).then_some((!idle, connection.number))
    });
    theirs.min().map(|(_, number)| number)
}

impl Shared {
    /// Runs a worker.
    fn work(&self) {
        let mut workspace = Workspace::default();
        let mut events = Vec::with_capacity(64);
        let mut polling = Polling::default();
        // The number of batches during which another worker is to watch the sockets.
        let mut watched: u32 = 0;
        loop {
            let span = spans::enter(Span::Choose);
            let next = self.daemon.engine.next(Instant::now());
            drop(span);
            match next {
                Next::Batch(batch) => {
                    if !self.daemon.engine.is_idle() {
                        self.rest.call();
                    } else if watched > 0 || batch.expected() >= LONG {
                        self.rest.call_to_watch();
                    }
                    // Another worker may sleep, which the clients' sockets wake.
                    if batch.expected() >= slots::LONG && self.rest.is_anybody_there() {
                        self.close_slots();
                    }
                    watched = watched.saturating_sub(1);
                    self.compute(batch, &mut workspace);
                    // Sockets may hold more jobs for the queues. With empty queues, the blocking
                    // poll finds them too.
                    if !self.daemon.engine.is_idle() {
                        self.poll(&mut events);
                    }
                }
                Next::Wait(None) if self.stopping.load(Ordering::SeqCst) => break,
                Next::Wait(timeout) => {
                    // Another worker may be asleep at the sockets.
                    if self.rest.is_watched() && self.close_slots() {
                        continue;
                    }
                    if let Some(watch) = self.rest.rest(timeout) {
                        if self.watch(&watch, &mut events, &mut polling, timeout) < AT_ONCE {
                            watched = AGAIN;
                        }
                        drop(watch);
                        self.receive(&mut events);
                    }
                }
            }
        }
    }

    /// Computes a batch.
    fn compute(&self, batch: Box<dyn Batch>, workspace: &mut Workspace) {
        let (kind, count) = (batch.kind(), batch.count());
        let start = Instant::now();
        spans::waited(Wait::Queue, count as u64, batch.waited(start));
        let _span = spans::enter(Span::Batch);
        let _gathering = Gathering::begin();
        let mut latencies = Latencies::default();
        batch.run(workspace, &mut |latency| latencies.add(latency));
        let took = start.elapsed();
        self.daemon.engine.computed(kind, count, took);
        self.daemon.metrics.batch(kind, count, took);
        self.daemon.metrics.latencies(kind, &latencies);
    }

    /// Waits until sockets are ready, and returns how long that took.
    fn watch(
        &self,
        watch: &Watch<'_>,
        events: &mut Vec<Event>,
        polling: &mut Polling,
        timeout: Option<Duration>,
    ) -> Duration {
        events.clear();
        let start = Instant::now();
        if self.slots.look_patiently(timeout, |reply, message| self.daemon.handle(reply, message)) {
            // Clients with slots must not keep others waiting.
            self.wait(events, Some(NO_WAIT));
            return start.elapsed();
        }
        // While another worker computes, polling would take its processor.
        let polled = watch.all_wait.then(|| {
            polling.poll(timeout, || {
                if self.look_at_slots() {
                    return Some(());
                }
                self.wait(events, Some(NO_WAIT));
                (!events.is_empty()).then_some(())
            })
        });
        if polled.flatten().is_none() && !self.close_slots() {
            let rest = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            let rest = rest.map(|rest| Timespec {
                tv_sec: rest.as_secs().try_into().unwrap_or(i64::MAX),
                tv_nsec: rest.subsec_nanos().into(),
            });
            self.wait(events, rest);
        }
        let waited = start.elapsed();
        spans::waited(Wait::Idle, 1, waited);
        waited
    }

    /// Reads the sockets that are ready.
    fn poll(&self, events: &mut Vec<Event>) {
        let span = spans::enter(Span::Poll);
        self.wait(events, Some(NO_WAIT));
        drop(span);
        self.receive(events);
        self.look_at_slots();
    }

    /// Asks the kernel which sockets are ready.
    fn wait(&self, events: &mut Vec<Event>, timeout: Option<Timespec>) {
        events.clear();
        let free = rustix::buffer::spare_capacity(events);
        // If it is interrupted, the next call reports the same events.
        let _ = epoll::wait(&*self.poll, free, timeout.as_ref());
    }

    fn look_at_slots(&self) -> bool {
        self.slots.look(|reply, message| self.daemon.handle(reply, message))
    }

    fn close_slots(&self) -> bool {
        self.slots.close(|reply, message| self.daemon.handle(reply, message))
    }

    fn receive(&self, events: &mut Vec<Event>) {
        let _span = spans::enter(Span::Receive);
        let _gathering = Gathering::begin();
        for event in events.drain(..) {
            match event.data.u64() {
                LISTENER => self.accept(),
                TLS_LISTENER => self.accept_tls(),
                WAKE | STOP => {}
                number => self.serve(number, event.flags),
            }
        }
    }

    fn connections(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, number: u64, flags: EventFlags) {
        let Some(connection) = self.connections().get(&number).cloned() else { return };
        if flags.contains(EventFlags::OUT) {
            connection.flush();
        }
        let state = connection.serve(|reply, message| self.daemon.handle(reply, message));
        self.slots.add(&connection);
        if state == State::Closed {
            let mut connections = self.connections();
            connections.remove(&number);
            self.daemon.metrics.connections(connections.len());
        }
    }

    /// Returns whether to accept the next connection after this error.
    fn is_worth_another(&self, error: &io::Error) -> bool {
        match error.kind() {
            // The client closed the connection before it was accepted.
            io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => true,
            io::ErrorKind::WouldBlock => false,
            // Out of memory or descriptors, which may become free soon.
            _ => {
                self.left_waiting.store(true, Ordering::SeqCst);
                false
            }
        }
    }

    /// Retries the connections that could not be accepted.
    fn retry_accepting(&self) {
        if !self.left_waiting.swap(false, Ordering::SeqCst) {
            return;
        }
        let flags = EventFlags::IN | EventFlags::ET;
        let _ = epoll::modify(&*self.poll, &self.listener, EventData::new_u64(LISTENER), flags);
        if let Some(listener) = &self.tls_listener {
            let _ = epoll::modify(&*self.poll, listener, EventData::new_u64(TLS_LISTENER), flags);
        }
    }

    /// Accepts all pending connections.
    fn accept(&self) {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) if !self.stopping.load(Ordering::SeqCst) => stream,
                Err(error) if self.is_worth_another(&error) => continue,
                _ => return,
            };
            let Ok(peer) = rustix::net::sockopt::socket_peercred(&stream) else { continue };
            let user = peer.uid.as_raw();
            let own = rustix::process::geteuid().as_raw();
            if user != 0 && user != own && !self.settings.users.contains(&user) {
                continue;
            }
            if let Ok(wire) = Wire::local(stream) {
                self.admit(Some(Peer::User(user)), wire);
            }
        }
    }

    /// Accepts all pending TLS connections, which are unauthenticated at first.
    fn accept_tls(&self) {
        let (Some(listener), Some(tls)) = (&self.tls_listener, &self.settings.tls) else { return };
        loop {
            match listener.accept() {
                Ok((stream, _)) if !self.stopping.load(Ordering::SeqCst) => {
                    self.make_room();
                    if let Ok(wire) = Wire::remote(stream, tls) {
                        self.admit(None, wire);
                    }
                }
                Err(error) if self.is_worth_another(&error) => {}
                _ => return,
            }
        }
    }

    /// Adds a connection. If the maximum is reached, it evicts a connection of the peer with the
    /// most, if possible an idle one, so that nobody keeps others out; if its own peer has the
    /// most, it is refused.
    fn admit(&self, peer: Option<Peer>, wire: Wire) {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        // Locked first: another worker may read the connection as soon as it is in epoll.
        let mut connections = self.connections();
        let known = connections.values().filter(|connection| connection.holder().0.is_some());
        let (known, most) = (known.count(), self.settings.most_connections);
        // A stranger counts once it is known.
        if known > most || known == most && peer.is_some() {
            let Some(number) = one_of_the_largest(&connections, peer.as_ref()) else { return };
            if let Some(connection) = connections.remove(&number) {
                connection.hang_up();
            }
        }
        if let Ok(connection) = Connection::new(number, peer, wire, self.poll.clone()) {
            connections.insert(number, connection);
            self.daemon.metrics.connections(connections.len());
        }
    }

    /// Evicts the oldest unauthenticated connection if there are [`MOST_UNAUTHENTICATED`].
    fn make_room(&self) {
        let mut connections = self.connections();
        let unknown = connections
            .values()
            .filter_map(|connection| connection.unauthenticated_for().map(|_| connection.number));
        let unknown: Vec<u64> = unknown.collect();
        if let (true, Some(oldest)) = (unknown.len() >= MOST_UNAUTHENTICATED, unknown.iter().min())
            && let Some(connection) = connections.remove(oldest)
        {
            connection.hang_up();
        }
    }

    /// Closes connections that stay unauthenticated for longer than `patience`.
    fn close_unauthenticated(&self, patience: Duration) {
        while !self.stopping.load(Ordering::SeqCst) {
            thread::sleep(SWEEP_INTERVAL);
            let mut connections = self.connections();
            connections.retain(|_, connection| {
                let late =
                    connection.unauthenticated_for().is_some_and(|unknown| unknown > patience);
                if late {
                    connection.hang_up();
                }
                !late
            });
            self.daemon.metrics.connections(connections.len());
        }
    }
}
