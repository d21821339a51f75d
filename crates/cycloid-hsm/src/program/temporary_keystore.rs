//! A daemon in this process, on a temporary keystore, and clients that sign.

use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use cycloid_hsm::daemon::{Server, Settings, create};
use cycloid_hsm::mechanism::{Parameter, ckm};
use cycloid_hsm::rpc::{Bytes, Client, Mechanism, Request, Response, Role, Secret};
use cycloid_hsm::store::{Store, Unlocking};

use crate::arguments::Generate;
use crate::client::{call, unexpected};
use crate::keys;
use crate::refusal::refused;
use cycloid_command::Stop;

const PIN: &[u8] = b"user-of-a-profile";

/// A temporary keystore with some keys, whose daemon can be restarted.
pub(super) struct TemporaryKeystore {
    directory: PathBuf,
    unlocking: Unlocking,
    /// Private keys.
    keys: Vec<u64>,
    mechanism: u32,
    data: Vec<u8>,
}

/// A running daemon, and a logged-in client.
pub(super) struct Running<'a> {
    keystore: &'a TemporaryKeystore,
    server: Server,
    client: Client,
}

/// The times of one signature's request and answer.
#[derive(Clone, Copy)]
pub(super) struct Signed {
    pub(super) asked: Instant,
    pub(super) answered: Instant,
}

impl TemporaryKeystore {
    /// Creates a keystore with `count` keys of one kind in an empty directory.
    pub(super) fn new(directory: &Path, kind: &str, count: usize) -> Result<Self, Stop> {
        // As PKCS #11 clients do, the requests carry a digest, except for Ed25519.
        let (mechanism, data) = match kind {
            "rsa-2048" | "rsa-3072" | "rsa-4096" => (ckm::SHA256_RSA_PKCS, vec![0xa5; 32]),
            "p-256" => (ckm::ECDSA, vec![0xa5; 32]),
            "p-384" => (ckm::ECDSA, vec![0xa5; 48]),
            "ed25519" => (ckm::EDDSA, vec![0xa5; 32]),
            other => {
                return Err(Stop::usage(
                    format!("cannot profile keys of kind {other:?}"),
                    "give one of these to --key: rsa-2048, rsa-3072, rsa-4096, p-256, p-384 or ed25519",
                ));
            }
        };
        let key_file = Unlocking::new_key_file().map_err(|error| refused(&error))?;
        let unlocking = Unlocking { passphrase: None, key_file: Some(key_file) };
        let mut keystore =
            Self { directory: directory.to_owned(), unlocking, keys: Vec::new(), mechanism, data };
        create(&keystore.url(), &keystore.unlocking, "profile", PIN, PIN)
            .map_err(|error| refused(&error))?;
        let running = keystore.start(0)?;
        let keys = (0..count).map(|number| running.generate(kind, number));
        let keys = keys.collect::<Result<_, _>>()?;
        drop(running);
        keystore.keys = keys;
        Ok(keystore)
    }

    pub(super) const fn keys(&self) -> usize {
        self.keys.len()
    }

    fn url(&self) -> String {
        format!("sqlite:{}", self.directory.join("keys.db").display())
    }

    fn socket(&self) -> PathBuf {
        self.directory.join("socket")
    }

    /// Starts a daemon that caches up to `prepared_keys` unwrapped keys.
    pub(super) fn start(&self, prepared_keys: usize) -> Result<Running<'_>, Stop> {
        let store = Store::open(&self.url()).map_err(|error| refused(&error))?;
        store.unlock(&self.unlocking).map_err(|error| refused(&error))?;
        let settings = Settings { socket: self.socket(), prepared_keys, ..Settings::default() };
        let server = Server::start(store, settings).map_err(|error| {
            Stop::failed(format!("the daemon did not start: {error}"), "report it")
        })?;
        let client =
            Client::connect(self.socket(), "cycloid profile").map_err(|error| refused(&error))?;
        call(&client, &Request::Login { role: Role::User, pin: Secret::new(PIN) })?;
        Ok(Running { keystore: self, server, client })
    }
}

impl Running<'_> {
    fn generate(&self, kind: &str, number: usize) -> Result<u64, Stop> {
        let generate = Generate {
            kind: kind.into(),
            label: format!("key {number}"),
            id: None,
            extractable: false,
            rate_limit: None,
        };
        match call(&self.client, &keys::requests(&generate)?)? {
            Response::Pair { private, .. } => Ok(private),
            other => Err(unexpected(&other)),
        }
    }

    /// Unseals the master key again.
    pub(super) fn unlock(&self) -> Result<(), Stop> {
        self.server.daemon().token.store.unlock(&self.keystore.unlocking).map_err(|e| refused(&e))
    }

    /// Signs with the key of this number, modulo the number of keys.
    pub(super) fn sign(&self, number: usize) -> Result<Signed, Stop> {
        let TemporaryKeystore { keys, mechanism, data, .. } = self.keystore;
        let request = Request::Sign {
            key: keys[number % keys.len()],
            mechanism: Mechanism { number: *mechanism, parameter: Parameter::None },
            data: Bytes(data.clone()),
            digested: *mechanism == ckm::SHA256_RSA_PKCS,
        };
        let asked = Instant::now();
        match call(&self.client, &request)? {
            Response::Data { .. } => Ok(Signed { asked, answered: Instant::now() }),
            other => Err(unexpected(&other)),
        }
    }

    /// Signs with `clients` concurrent clients until there are at least `count` signatures, each
    /// client with its own key as far as there are enough keys. Returns the signatures in the order
    /// of the answers.
    pub(super) fn sign_together(&self, clients: usize, count: usize) -> Result<Vec<Signed>, Stop> {
        let (go, done) = (Barrier::new(clients), AtomicUsize::new(0));
        let mut signed = thread::scope(|scope| {
            let client = |number| {
                let (go, done) = (&go, &done);
                move || {
                    go.wait();
                    let mut signed = Vec::with_capacity(count / clients * 2);
                    while done.fetch_add(1, Ordering::Relaxed) < count {
                        signed.push(self.sign(number)?);
                    }
                    Ok::<_, Stop>(signed)
                }
            };
            let threads: Vec<_> = (0..clients).map(|number| scope.spawn(client(number))).collect();
            let mut all = Vec::with_capacity(count);
            for thread in threads {
                all.extend(thread.join().expect("no client panics")?);
            }
            Ok::<_, Stop>(all)
        })?;
        signed.sort_by_key(|signed| signed.answered);
        Ok(signed)
    }
}
