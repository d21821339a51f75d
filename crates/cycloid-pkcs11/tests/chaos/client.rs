//! Client processes: threads that share the module, sign, verify every signature, and change stored
//! objects.
//!
//! A thread announces each change before (`try …`) and after (`did …`). Every hundred milliseconds
//! the process announces the signatures of each time slot, the errors, and the latest use of each
//! shared key.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::thread;
use std::time::Duration;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::Error;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::types::AuthPin;
use cycloid::scheme::Hash;
use cycloid::scheme::nist::{Curve, PublicKey, Signature};

use super::P256;
use super::dice::Dice;
use super::process::{announce, now};
use super::rates::SLOT;
use super::support::{USER_PIN, module};

/// The number of threads in a process.
pub(crate) const THREADS: u64 = 4;

/// A thread has this many pairs at most.
const MOST_PAIRS: usize = 3;

/// A client knows this many shared keys, the latest; the oldest of them no longer exist.
const MOST_SHARED: usize = 12;

/// The pause of a thread after an error.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// Errors that every function may return during an outage.
const OUTAGE: [&str; 3] = ["DeviceError", "DeviceRemoved", "SessionHandleInvalid"];

/// Further errors of some functions.
const ALLOWED: [(&str, &str); 8] = [
    // The daemon ended, and may have made the change.
    ("C_GenerateKeyPair", "FunctionFailed"),
    ("C_SetAttributeValue", "FunctionFailed"),
    ("C_DestroyObject", "FunctionFailed"),
    ("C_Login", "FunctionFailed"),
    // Attempts that daemons did not judge before they were killed count as wrong.
    ("C_Login", "PinLocked"),
    ("C_GetSlotList", "TokenNotPresent"),
    ("C_OpenSession", "TokenNotPresent"),
    ("C_Login", "TokenNotPresent"),
];

/// A key pair.
struct Key {
    label: String,
    private: ObjectHandle,
    public: ObjectHandle,
    point: PublicKey,
}

/// A key that all clients use, and that is destroyed some time.
struct Shared {
    label: String,
    /// When it had been made.
    made: u64,
    key: OnceLock<Key>,
    /// When the latest successful use began.
    used: AtomicU64,
    /// When a use began that found it gone.
    gone: AtomicU64,
}

/// A thread's own pair.
struct Own {
    label: String,
    public: ObjectHandle,
    private: ObjectHandle,
    made: u64,
    /// Once it is known.
    key: Option<Key>,
}

/// What the threads share.
pub(crate) struct Program {
    module: Pkcs11,
    /// For this long after a change, in nanoseconds, a daemon may answer as before it.
    bound: u64,
    /// For this long, C_FindObjects may.
    old_view: u64,
    pub(crate) done: AtomicBool,
    slots: Mutex<BTreeMap<u64, u64>>,
    refusals: Mutex<BTreeMap<(&'static str, String, u64), u64>>,
    shared: RwLock<Vec<Arc<Shared>>>,
}

/// Runs a client process. `order` has a name, a seed, and two times in milliseconds. With a label
/// after them, the threads only do `work` with the RSA key of that label.
pub(crate) fn run(order: &str, work: fn(&mut Client<'_>, &str)) {
    let words: Vec<&str> = order.split(' ').collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    // A thread that finds a defect ends the process.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::exit(101);
    }));
    let module = Pkcs11::new(module()).unwrap();
    module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
    let program = Program {
        module,
        bound: number(2) * 1_000_000,
        old_view: number(3) * 1_000_000,
        done: AtomicBool::new(false),
        slots: Mutex::default(),
        refusals: Mutex::default(),
        shared: RwLock::default(),
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (program, name) = (&program, format!("{}/{thread}", words[0]));
            let dice = Dice::new(number(1) ^ (thread << 32));
            let (mut client, rsa_key) = (Client::new(program, name, dice), words.get(4).copied());
            scope.spawn(move || match rsa_key {
                Some(label) => work(&mut client, label),
                None => client.work(),
            });
        }
        let program = &program;
        scope.spawn(move || {
            while !program.done.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_nanos(SLOT));
                program.report(now() / SLOT);
            }
        });
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            program.learn(&line);
        }
        program.done.store(true, Ordering::SeqCst);
    });
    program.report(u64::MAX);
}

impl Program {
    /// Takes in a shared key: its label, and when it had been made.
    fn learn(&self, line: &str) {
        let (label, made) = line.split_once(' ').unwrap();
        let mut shared = self.shared.write().unwrap();
        if shared.len() == MOST_SHARED {
            shared.remove(0);
        }
        shared.push(Arc::new(Shared {
            label: label.into(),
            made: made.parse().unwrap(),
            key: OnceLock::new(),
            used: AtomicU64::new(0),
            gone: AtomicU64::new(0),
        }));
    }

    /// Counts a signature.
    pub(crate) fn count(&self) {
        *self.slots.lock().unwrap().entry(now() / SLOT).or_default() += 1;
    }

    /// Announces what happened in the slots before `end`.
    fn report(&self, end: u64) {
        let mut slots = self.slots.lock().unwrap();
        let rest = slots.split_off(&end);
        let complete = std::mem::replace(&mut *slots, rest);
        drop(slots);
        for (slot, count) in complete {
            announce(format_args!("slot {slot} {count}"));
        }
        for ((function, code, slot), count) in std::mem::take(&mut *self.refusals.lock().unwrap()) {
            announce(format_args!("refused {function} {code} {slot} {count}"));
        }
        for shared in &*self.shared.read().unwrap() {
            for (what, time) in [("used", &shared.used), ("gone", &shared.gone)] {
                let time = time.swap(0, Ordering::SeqCst);
                if time > 0 {
                    announce(format_args!("{what} {} {time}", shared.label));
                }
            }
        }
    }
}

/// A thread.
pub(crate) struct Client<'a> {
    pub(crate) program: &'a Program,
    pub(crate) name: String,
    dice: Dice,
    session: Option<Session>,
    own: Vec<Own>,
    made: u64,
    signed: u64,
}

/// A call of the module that was refused with an error that it may have.
pub(crate) struct Refused {
    code: String,
}

impl<'a> Client<'a> {
    fn new(program: &'a Program, name: String, dice: Dice) -> Self {
        Self { program, name, dice, session: None, own: Vec::new(), made: 0, signed: 0 }
    }

    fn work(&mut self) {
        while !self.program.done.load(Ordering::SeqCst) {
            let outcome = match self.session.take() {
                None => self.open().map(|session| self.session = Some(session)),
                Some(session) => {
                    let outcome = self.act(&session);
                    self.session = Some(session);
                    outcome
                }
            };
            if let Err(refused) = outcome {
                if ["DeviceRemoved", "SessionHandleInvalid"].contains(&refused.code.as_str()) {
                    self.session = None;
                }
                thread::sleep(PAUSE);
            }
        }
    }

    /// Counts an error that the function may return, also as one of `more`.
    ///
    /// # Panics
    /// At any other error.
    fn checked<T>(
        &self,
        function: &'static str,
        more: &[&str],
        outcome: Result<T, Error>,
    ) -> Result<T, Refused> {
        let error = match outcome {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let Error::Pkcs11(code, _) = &error else { panic!("{function}: {error}") };
        let code = format!("{code:?}");
        let allowed = OUTAGE.contains(&code.as_str())
            || ALLOWED.contains(&(function, &code))
            || more.contains(&code.as_str());
        assert!(allowed, "{}: {function} returned {code}", self.name);
        let mut refusals = self.program.refusals.lock().unwrap();
        *refusals.entry((function, code.clone(), now() / SLOT)).or_default() += 1;
        Err(Refused { code })
    }

    /// Opens a session, logged in.
    pub(crate) fn open(&self) -> Result<Session, Refused> {
        let module = &self.program.module;
        let slots = self.checked("C_GetSlotList", &[], module.get_slots_with_token())?;
        let Some(slot) = slots.first() else { return Err(Refused { code: String::new() }) };
        let session = self.checked("C_OpenSession", &[], module.open_rw_session(*slot))?;
        let login = session.login(UserType::User, Some(&AuthPin::new(USER_PIN.into())));
        match self.checked("C_Login", &["UserAlreadyLoggedIn"], login) {
            Err(refused) if refused.code != "UserAlreadyLoggedIn" => Err(refused),
            _ => Ok(session),
        }
    }

    /// Does one of the things that a client does. The first thread of a process changes nothing: it
    /// never waits for the database.
    fn act(&mut self, session: &Session) -> Result<(), Refused> {
        if self.name.ends_with("/0") {
            return self.use_shared(session);
        }
        if self.own.is_empty() {
            return self.make(session);
        }
        let at = self.dice.below(self.own.len() as u64) as usize;
        match self.dice.below(1000) {
            0..6 if self.own.len() < MOST_PAIRS => self.make(session),
            6..12 => self.set(session, at),
            12..16 => self.destroy(session, at),
            16..24 => self.find(session, at),
            24..500 => self.use_shared(session),
            _ => self.use_own(session, at),
        }
    }

    fn make(&mut self, session: &Session) -> Result<(), Refused> {
        self.made += 1;
        let label = format!("{}/{}", self.name, self.made);
        announce(format_args!("try pair {label}"));
        let private = [Attribute::Token(true), Attribute::Label(label.as_str().into())];
        let public = [private.as_slice(), &[Attribute::EcParams(P256.to_vec())]].concat();
        let made = session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, &private);
        let (public, private) = self.checked("C_GenerateKeyPair", &[], made)?;
        announce(format_args!("did pair {label} {public} {private}"));
        self.own.push(Own { label, public, private, made: now(), key: None });
        Ok(())
    }

    fn set(&mut self, session: &Session, at: usize) -> Result<(), Refused> {
        let (object, lost) = (self.own[at].private, self.lost(at, "ObjectHandleInvalid"));
        let value = self.dice.below(u64::MAX);
        announce(format_args!("try set {object} {value}"));
        let set = session.update_attributes(object, &[Attribute::Id(value.to_be_bytes().into())]);
        self.checked("C_SetAttributeValue", lost, set)?;
        announce(format_args!("did set {object} {value}"));
        Ok(())
    }

    /// Destroys a pair. It is not used again, whatever the outcome.
    fn destroy(&mut self, session: &Session, at: usize) -> Result<(), Refused> {
        let lost = self.lost(at, "ObjectHandleInvalid");
        let own = self.own.swap_remove(at);
        for object in [own.private, own.public] {
            announce(format_args!("try end {object}"));
            self.checked("C_DestroyObject", lost, session.destroy_object(object))?;
            announce(format_args!("did end {object}"));
        }
        Ok(())
    }

    /// Returns the error that a daemon may return for a pair that it does not know yet.
    fn lost(&self, at: usize, code: &'static str) -> &'static [&'static str] {
        let new = now() < self.own[at].made + self.program.bound;
        match code {
            _ if !new => &[],
            "ObjectHandleInvalid" => &["ObjectHandleInvalid"],
            _ => &["KeyHandleInvalid", "ObjectHandleInvalid"],
        }
    }

    fn find(&self, session: &Session, at: usize) -> Result<(), Refused> {
        let own = &self.own[at];
        let complete = now() >= own.made + self.program.old_view;
        let template = [Attribute::Label(own.label.as_str().into())];
        let mut found = self.checked("C_FindObjects", &[], session.find_objects(&template))?;
        found.sort_unstable_by_key(ObjectHandle::handle);
        let mut both = vec![own.public, own.private];
        both.sort_unstable_by_key(ObjectHandle::handle);
        let label = &own.label;
        assert!(found == both || found.is_empty() && !complete, "{label}: {found:?}, not {both:?}");
        Ok(())
    }

    /// Returns the point of a public key.
    fn point(&self, session: &Session, public: ObjectHandle) -> Result<PublicKey, Refused> {
        let read = session.get_attributes(public, &[AttributeType::EcPoint]);
        let read = self.checked("C_GetAttributeValue", &["ObjectHandleInvalid"], read)?;
        let [Attribute::EcPoint(point)] = read.as_slice() else { panic!("{read:?}") };
        // An OCTET STRING of 65 bytes.
        Ok(PublicKey::from_sec1(Curve::P256, &point[2..]).unwrap())
    }

    fn use_own(&mut self, session: &Session, at: usize) -> Result<(), Refused> {
        if self.own[at].key.is_none() {
            let Own { public, private, .. } = self.own[at];
            let (label, point) = (self.own[at].label.clone(), self.point(session, public)?);
            self.own[at].key = Some(Key { label, private, public, point });
        }
        let lost = self.lost(at, "KeyHandleInvalid");
        self.signed += 1;
        let key = self.own[at].key.as_ref().unwrap();
        self.sign(session, key, lost)
    }

    /// Signs with a shared key, mostly with one of the latest, which exist.
    fn use_shared(&mut self, session: &Session) -> Result<(), Refused> {
        let list = self.program.shared.read().unwrap();
        if list.is_empty() {
            drop(list);
            thread::sleep(PAUSE);
            return Ok(());
        }
        let latest = list.len().min(3) as u64;
        let back = match self.dice.below(20) {
            0 => self.dice.below(list.len() as u64),
            _ => self.dice.below(latest),
        };
        let shared = list[list.len() - 1 - back as usize].clone();
        drop(list);
        let key = match shared.key.get() {
            Some(key) => key,
            None => {
                let Some(key) = self.look_up(session, &shared)? else { return Ok(()) };
                shared.key.get_or_init(|| key)
            }
        };
        self.signed += 1;
        let begun = now();
        match self.sign(session, key, &["KeyHandleInvalid", "ObjectHandleInvalid"]) {
            Ok(()) => shared.used.fetch_max(begun, Ordering::SeqCst),
            Err(refused) if !refused.code.contains("HandleInvalid") => return Err(refused),
            Err(refused) if refused.code == "SessionHandleInvalid" => return Err(refused),
            // A daemon that knows the past up to the bound knows the key, unless it was destroyed.
            Err(_) if begun > shared.made + self.program.bound => {
                shared.gone.fetch_max(begun, Ordering::SeqCst)
            }
            Err(_) => 0,
        };
        Ok(())
    }

    fn look_up(&self, session: &Session, shared: &Shared) -> Result<Option<Key>, Refused> {
        let label = shared.label.clone();
        let find = |class| {
            let template = [Attribute::Label(label.as_str().into()), Attribute::Class(class)];
            self.checked("C_FindObjects", &[], session.find_objects(&template))
        };
        let (private, public) = (find(ObjectClass::PRIVATE_KEY)?, find(ObjectClass::PUBLIC_KEY)?);
        let ([private], [public]) = (private.as_slice(), public.as_slice()) else {
            assert!(private.len() < 2 && public.len() < 2, "{label}: {private:?}, {public:?}");
            return Ok(None);
        };
        let point = self.point(session, *public)?;
        Ok(Some(Key { label, private: *private, public: *public, point }))
    }

    /// Signs a message that nobody else signs, and verifies the signature.
    fn sign(&self, session: &Session, key: &Key, more: &[&str]) -> Result<(), Refused> {
        let message = format!("{} {}", self.name, self.signed);
        let signed = session.sign(&Mechanism::EcdsaSha256, key.private, message.as_bytes());
        let signed = self.checked("C_Sign", more, signed)?;
        let (label, public) = (&key.label, key.public);
        let signature = Signature::from_fixed(Curve::P256, &signed);
        let signature = signature.unwrap_or_else(|error| panic!("{label} {public}: {error}"));
        let verified = key.point.verify(Hash::Sha256, message.as_bytes(), &signature);
        verified.unwrap_or_else(|error| panic!("{label} {public}, {message}: {error}"));
        self.program.count();
        Ok(())
    }
}
