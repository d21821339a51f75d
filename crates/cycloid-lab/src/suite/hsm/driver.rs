//! The side that signs: a process of its own, which loads one module and does as it is told, line by line.
//!
//! Each client is a thread with a session of its own and a message of its own, that signs, waits for the
//! signature, and signs again. The first signature of a client is verified; a later one that is not the
//! same, byte for byte, is kept and verified after the clock has stopped: so every signature is verified,
//! and none while others are timed.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Info, Pkcs11};
use cryptoki::object::{Attribute, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use serde::{Deserialize, Serialize};

use super::key::{KeyKind, Verifier};
use crate::measure::clock;

/// The security officer's PIN of a token that the driver makes.
pub const OFFICER_PIN: &str = "officer-of-a-bench";
/// The user's PIN.
pub const USER_PIN: &str = "user-of-a-bench";
/// The label of a token that the driver makes.
const LABEL: &str = "bench";

/// What a driver works with.
#[derive(Clone, Debug)]
pub struct Target {
    /// The module.
    pub module: PathBuf,
    /// The process that does the module's work, where it is another one: its processor time counts.
    pub service: Option<u32>,
}

/// What it is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Make those keys that are not there.
    Prepare { keys: Vec<KeyKind> },
    /// Sign.
    Load(Load),
    /// Find the object with this label, again and again.
    Find { label: String, times: usize },
}

/// How to sign.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    pub(super) key: KeyKind,
    pub(super) clients: usize,
    /// Signing before the clock starts, so that all clients are under way.
    pub(super) lead: Duration,
    /// For how long what is answered counts.
    pub(super) window: Duration,
}

/// What it answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Ready {
        library: String,
        version: String,
    },
    Done,
    Loaded(Loaded),
    /// Nanoseconds of each time.
    Found(Vec<u64>),
    Failed {
        message: String,
    },
}

/// What came of signing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Loaded {
    /// How long the window was.
    pub(super) seconds: f64,
    /// Processor time in the window, of clients and service.
    pub(super) processor_seconds: f64,
    /// Nanoseconds from call to answer, of each signature that came in the window.
    pub(super) latencies: Vec<u64>,
}

/// Follows the orders that come until there are no more.
///
/// # Errors
/// Where the other side cannot be spoken with.
pub fn follow(
    target: &Target,
    orders: impl BufRead,
    mut answers: impl Write,
) -> std::io::Result<()> {
    let mut answer = |answer: Answer| {
        let line = serde_json::to_string(&answer)?;
        writeln!(answers, "{line}")?;
        answers.flush()
    };
    let failed = |message| Answer::Failed { message };
    let token = match Token::open(target) {
        Ok(token) => token,
        Err(message) => return answer(failed(message)),
    };
    answer(token.ready())?;
    for order in orders.lines() {
        let done = match serde_json::from_str(&order?)? {
            Order::Prepare { keys } => token.prepare(&keys).map(|()| Answer::Done),
            Order::Load(load) => token.load(load, target.service).map(Answer::Loaded),
            Order::Find { label, times } => token.find_often(&label, times).map(Answer::Found),
        };
        answer(done.unwrap_or_else(failed))?;
    }
    Ok(())
}

struct Token {
    module: Pkcs11,
    slot: Slot,
    /// Logged in, which all sessions are as long as it is open.
    session: Session,
}

/// What a step says when it fails.
fn while_doing<E: std::fmt::Display>(what: &str) -> impl Fn(E) -> String {
    move |error| format!("{what}: {error}")
}

fn pin(pin: &str) -> AuthPin {
    AuthPin::new(pin.into())
}

impl Token {
    /// Logs in, and makes the token where there is none.
    fn open(target: &Target) -> Result<Self, String> {
        let module =
            Pkcs11::new(&target.module).map_err(while_doing("the module cannot be loaded"))?;
        let locking = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
        module.initialize(locking).map_err(while_doing("C_Initialize"))?;
        let initialized =
            || module.get_slots_with_initialized_token().map(|slots| slots.first().copied());
        let slot = match initialized().map_err(while_doing("C_GetSlotList"))? {
            Some(slot) => slot,
            None => {
                let slots = module.get_slots_with_token().map_err(while_doing("C_GetSlotList"))?;
                let slot = slots.first().ok_or("there is no token")?;
                let officer = pin(OFFICER_PIN);
                module.init_token(*slot, &officer, LABEL).map_err(while_doing("C_InitToken"))?;
                let slot = initialized().map_err(while_doing("C_GetSlotList"))?;
                let slot = slot.ok_or("the token that was made is not there")?;
                let session = module.open_rw_session(slot).map_err(while_doing("C_OpenSession"))?;
                session.login(UserType::So, Some(&officer)).map_err(while_doing("C_Login"))?;
                session.init_pin(&pin(USER_PIN)).map_err(while_doing("C_InitPIN"))?;
                session.logout().map_err(while_doing("C_Logout"))?;
                slot
            }
        };
        let session = module.open_rw_session(slot).map_err(while_doing("C_OpenSession"))?;
        session.login(UserType::User, Some(&pin(USER_PIN))).map_err(while_doing("C_Login"))?;
        Ok(Self { module, slot, session })
    }

    fn ready(&self) -> Answer {
        match self.module.get_library_info() {
            Ok(info) => {
                let version = Info::library_version(&info);
                Answer::Ready {
                    library: Info::library_description(&info).trim().into(),
                    version: format!("{}.{}", version.major(), version.minor()),
                }
            }
            Err(error) => Answer::Failed { message: format!("C_GetInfo: {error}") },
        }
    }

    fn prepare(&self, keys: &[KeyKind]) -> Result<(), String> {
        for key in keys {
            if find(&self.session, key.name(), ObjectClass::PRIVATE_KEY).is_ok() {
                continue;
            }
            let label = Attribute::Label(key.name().into());
            let (mechanism, mut public) = key.generation();
            public.extend([
                Attribute::Token(true),
                Attribute::Private(false),
                Attribute::Verify(true),
                label.clone(),
            ]);
            let private = [
                Attribute::Token(true),
                Attribute::Private(true),
                Attribute::Sensitive(true),
                Attribute::Extractable(false),
                Attribute::Sign(true),
                label,
            ];
            self.session
                .generate_key_pair(&mechanism, &public, &private)
                .map_err(while_doing(key.name()))?;
        }
        Ok(())
    }

    fn find_often(&self, label: &str, times: usize) -> Result<Vec<u64>, String> {
        let find = || {
            let start = Instant::now();
            find(&self.session, label, ObjectClass::PRIVATE_KEY)?;
            Ok(start.elapsed().as_nanos() as u64)
        };
        (0..times).map(|_| find()).collect()
    }

    fn load(&self, load: Load, service: Option<u32>) -> Result<Loaded, String> {
        let go = Barrier::new(load.clients + 1);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let client = |number| {
                let (go, stop, module, slot) = (&go, &stop, &self.module, self.slot);
                move || {
                    let prepared = Client::new(module, slot, load.key, number);
                    go.wait();
                    prepared?.sign_until(stop)
                }
            };
            let clients: Vec<_> =
                (0..load.clients).map(|number| scope.spawn(client(number))).collect();
            go.wait();
            thread::sleep(load.lead);
            let (processor, start) = (processor_time(service), Instant::now());
            thread::sleep(load.window);
            let (processor, end) =
                (processor_time(service).saturating_sub(processor), Instant::now());
            stop.store(true, Ordering::Relaxed);
            let mut latencies = Vec::new();
            for client in clients {
                let signed = client.join().map_err(|_| "a client panicked")??;
                let within = signed.iter().filter(|(_, answered)| (start..end).contains(answered));
                latencies
                    .extend(within.map(|(asked, answered)| (*answered - *asked).as_nanos() as u64));
            }
            Ok(Loaded {
                seconds: (end - start).as_secs_f64(),
                processor_seconds: processor.as_secs_f64(),
                latencies,
            })
        })
    }
}

fn find(session: &Session, label: &str, class: ObjectClass) -> Result<ObjectHandle, String> {
    let template = [Attribute::Class(class), Attribute::Label(label.into())];
    let found = session.find_objects(&template).map_err(while_doing("C_FindObjects"))?;
    found.first().copied().ok_or_else(|| format!("there is no key called {label}"))
}

/// Processor time of this process and of the service.
fn processor_time(service: Option<u32>) -> Duration {
    let own = clock::of_process(std::process::id()).unwrap_or_default();
    own + service.and_then(clock::of_process).unwrap_or_default()
}

struct Client {
    session: Session,
    key: ObjectHandle,
    kind: KeyKind,
    verifier: Verifier,
    message: [u8; 32],
    first: Vec<u8>,
}

impl Client {
    /// One of some number, with its first signature.
    fn new(module: &Pkcs11, slot: Slot, kind: KeyKind, number: usize) -> Result<Self, String> {
        let session = module.open_ro_session(slot).map_err(while_doing("C_OpenSession"))?;
        let key = find(&session, kind.name(), ObjectClass::PRIVATE_KEY)?;
        let public = find(&session, kind.name(), ObjectClass::PUBLIC_KEY)?;
        let attributes = session
            .get_attributes(public, kind.public_attributes())
            .map_err(while_doing("C_GetAttributeValue"))?;
        let verifier = Verifier::new(kind, &attributes).ok_or("the public key is not sound")?;
        let mut message = [0xa5; 32];
        message[..8].copy_from_slice(&(number as u64).to_be_bytes());
        let mut client = Self { session, key, kind, verifier, message, first: Vec::new() };
        client.first = client.sign()?;
        client.check(&client.first)?;
        Ok(client)
    }

    fn sign(&self) -> Result<Vec<u8>, String> {
        self.session
            .sign(&self.kind.mechanism(), self.key, &self.message)
            .map_err(while_doing("C_Sign"))
    }

    fn check(&self, signature: &[u8]) -> Result<(), String> {
        match self.verifier.accepts(&self.message, signature) {
            true => Ok(()),
            false => Err("a signature does not verify".into()),
        }
    }

    /// When each signature was asked for and when it came.
    fn sign_until(self, stop: &AtomicBool) -> Result<Vec<(Instant, Instant)>, String> {
        let (mut times, mut others) = (Vec::new(), Vec::new());
        while !stop.load(Ordering::Relaxed) {
            let asked = Instant::now();
            let signature = self.sign()?;
            times.push((asked, Instant::now()));
            if signature != self.first {
                others.push(signature);
            }
        }
        others.iter().try_for_each(|signature| self.check(signature))?;
        Ok(times)
    }
}
