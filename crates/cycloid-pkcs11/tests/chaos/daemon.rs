//! Daemons that are killed, stopped, paused and restarted.

use std::io::BufRead;
use std::path::PathBuf;
use std::time::Duration;

use cycloid_hsm::daemon::{Server, Settings};
use cycloid_hsm::rpc::Secret;
use cycloid_hsm::store::{Store, Unlocking};
use rustix::process::Signal;

use super::process::{Process, announce};

pub(crate) fn unlocking() -> Unlocking {
    Unlocking { passphrase: None, key_file: Some(Secret::new(&[7; 32])) }
}

pub(crate) fn open(url: &str) -> cycloid_hsm::Result<Store> {
    let store = Store::open(url)?;
    store.unlock(&unlocking())?;
    Ok(store)
}

/// Serves a keystore until the standard input ends, as a service that is started again while it
/// does not reach its database. `order` has the milliseconds of `--stale-after`, the number of
/// workers, the socket, and the URL.
pub(crate) fn serve(order: &str) {
    let [stale_after, workers, socket, url] = order.splitn(4, ' ').collect::<Vec<_>>()[..] else {
        panic!("{order:?}")
    };
    let settings = Settings {
        socket: socket.into(),
        workers: workers.parse().unwrap(),
        stale_after: Duration::from_millis(stale_after.parse().unwrap()),
        ..Settings::default()
    };
    let server = loop {
        let started = open(url).map_err(Into::into);
        match started.and_then(|store| Server::start(store, settings.clone())) {
            Ok(server) => break server,
            Err(error) => announce(format_args!("waits: {error}")),
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    announce("ready");
    std::io::stdin().lock().lines().for_each(drop);
    server.stop();
}

/// A daemon.
pub(crate) struct Daemon {
    url: String,
    stale_after: Duration,
    workers: usize,
    pub(crate) socket: PathBuf,
    process: Option<Process>,
    ready: bool,
}

impl Daemon {
    /// Describes a daemon; `workers` is 0 for one per processor.
    pub(crate) fn new(url: &str, stale_after: Duration, workers: usize, socket: PathBuf) -> Self {
        Self { url: url.into(), stale_after, workers, socket, process: None, ready: false }
    }

    /// Starts it, unless it runs.
    pub(crate) fn start(&mut self) {
        let (stale, socket) = (self.stale_after.as_millis(), self.socket.display());
        let order = format!("daemon {stale} {} {socket} {}", self.workers, self.url);
        self.process.get_or_insert_with(|| Process::start(&order, ""));
    }

    /// Returns whether it serves.
    pub(crate) fn is_ready(&mut self) -> bool {
        if let Some(process) = &mut self.process {
            process.must_run();
            self.ready |= process.news().iter().any(|line| line == "ready");
        }
        self.ready
    }

    pub(crate) fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.kill();
        }
        self.ready = false;
    }

    /// Ends it as SIGTERM ends the program: what it has begun is done.
    pub(crate) fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            process.end();
        }
        self.ready = false;
    }

    /// Returns its process id, if it runs.
    pub(crate) fn process(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// Halts it, as if it hung, or lets it continue.
    pub(crate) fn pause(&self, pause: bool) {
        if let Some(process) = &self.process {
            process.signal(if pause { Signal::STOP } else { Signal::CONT });
        }
    }
}
