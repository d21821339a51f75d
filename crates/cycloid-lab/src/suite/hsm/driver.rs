//! The signing side: a process that loads one module and follows orders line by line.
//!
//! Each client is a thread with its own session and message that signs, waits for the signature,
//! and signs again. The first signature of a client is verified. A later signature that differs in
//! any byte is stored and verified after the clock has stopped. So every signature is verified, and
//! none while others are timed.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Info, Pkcs11};
use cryptoki::object::{Attribute, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use serde::{Deserialize, Serialize};

use super::key::{KeyKind, Verifier};
use crate::suite::service::{self, Loaded};

/// The security officer's PIN of a token that the driver creates.
pub const OFFICER_PIN: &str = "officer-of-a-bench";
/// The user's PIN.
pub const USER_PIN: &str = "user-of-a-bench";
/// The label of a token that the driver creates.
const LABEL: &str = "bench";

/// The driver's target.
#[derive(Clone, Debug)]
pub struct Target {
    /// The module.
    pub module: PathBuf,
    /// The ID of the service process, if the module uses one: its processor time counts.
    pub service: Option<u32>,
}

/// An order to the driver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Create the keys that do not exist yet.
    Prepare { keys: Vec<KeyKind> },
    /// Sign.
    Load(Load),
    /// Find the object with this label repeatedly.
    Find { label: String, times: usize },
}

/// The parameters of signing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    pub(super) key: KeyKind,
    pub(super) clients: usize,
    /// Signing time before the clock starts, so that all clients are running.
    pub(super) lead: Duration,
    /// The time in which signatures count.
    pub(super) window: Duration,
}

/// The driver's response.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Ready {
        library: String,
        version: String,
    },
    Done,
    Loaded(Loaded),
    /// Nanoseconds of each search.
    Found(Vec<u64>),
    Failed {
        message: String,
    },
}

/// Follows orders until standard input ends.
///
/// # Errors
/// If communication with the parent fails.
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
    /// A logged-in session; all sessions are logged in while it is open.
    session: Session,
}

/// Returns a function that prefixes an error with the failed step.
fn while_doing<E: std::fmt::Display>(what: &str) -> impl Fn(E) -> String {
    move |error| format!("{what}: {error}")
}

fn pin(pin: &str) -> AuthPin {
    AuthPin::new(pin.into())
}

impl Token {
    /// Logs in, and creates the token if there is none.
    fn open(target: &Target) -> Result<Self, String> {
        let module = Pkcs11::new(&target.module).map_err(while_doing("cannot load the module"))?;
        let locking = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
        module.initialize(locking).map_err(while_doing("C_Initialize"))?;
        let initialized =
            || module.get_slots_with_initialized_token().map(|slots| slots.first().copied());
        let slot = match initialized().map_err(while_doing("C_GetSlotList"))? {
            Some(slot) => slot,
            None => {
                let slots = module.get_slots_with_token().map_err(while_doing("C_GetSlotList"))?;
                let slot = slots.first().ok_or("no token found")?;
                let officer = pin(OFFICER_PIN);
                module.init_token(*slot, &officer, LABEL).map_err(while_doing("C_InitToken"))?;
                let slot = initialized().map_err(while_doing("C_GetSlotList"))?;
                let slot = slot.ok_or("the new token was not found")?;
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
        let Load { key, clients, lead, window } = load;
        let (module, slot) = (&self.module, self.slot);
        service::load(clients, [lead, window], service, |number| {
            let client = Client::new(module, slot, key, number)?;
            Ok(|stop: &AtomicBool| client.sign_until(stop))
        })
    }
}

fn find(session: &Session, label: &str, class: ObjectClass) -> Result<ObjectHandle, String> {
    let template = [Attribute::Class(class), Attribute::Label(label.into())];
    let found = session.find_objects(&template).map_err(while_doing("C_FindObjects"))?;
    found.first().copied().ok_or_else(|| format!("no key is called {label}"))
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
    /// Creates a client and its first signature.
    fn new(module: &Pkcs11, slot: Slot, kind: KeyKind, number: usize) -> Result<Self, String> {
        let session = module.open_ro_session(slot).map_err(while_doing("C_OpenSession"))?;
        let key = find(&session, kind.name(), ObjectClass::PRIVATE_KEY)?;
        let public = find(&session, kind.name(), ObjectClass::PUBLIC_KEY)?;
        let attributes = session
            .get_attributes(public, kind.public_attributes())
            .map_err(while_doing("C_GetAttributeValue"))?;
        let verifier = Verifier::new(kind, &attributes).ok_or("invalid public key")?;
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
            false => Err("invalid signature".into()),
        }
    }

    /// Signs until stopped, and returns the time of each request and response.
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

/// Returns the error for an unexpected response of a driver.
pub(super) fn confused() -> crate::Failure {
    crate::Failure::new(
        "unexpected response from a driver",
        "this is a defect of the program; please report it",
    )
}
