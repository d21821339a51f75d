//! A fake daemon: it speaks the protocol, keeps objects in memory, and fakes signatures and
//! ciphertexts, so that tests can distinguish the module's part from the daemon's.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use cycloid_hsm::attribute::{Template, cka, ckk, cko};
use cycloid_hsm::mechanism::{Parameter, ckm};
use cycloid_hsm::rpc::message::{AttributeValue, TokenInfo};
use cycloid_hsm::rpc::{Mechanism, Page, Request, Response, Role, Secret, VERSION, frame};
use cycloid_hsm::{Code, Error};
use sha2::{Digest, Sha256};

pub const USER_PIN: &str = "the user's";
pub const OFFICER_PIN: &str = "the officer's";
pub const P256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];

/// The way it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Sound,
    /// Sends bytes that are no frame.
    NoFrame,
    /// Sends a frame without a message.
    NoMessage,
    /// Sends an answer of the wrong kind, and does nothing.
    Wrong,
    /// Refuses with code 0, which means success.
    RefusesWithZero,
    /// Hangs up on a request.
    HangsUp,
    /// Sends data of the wrong length.
    WrongLength,
    /// Answers each search for a page with the first one.
    Repeats,
    /// Refuses a greeting as a daemon of protocol version 1 does.
    Version1,
}

#[derive(Default)]
struct Token {
    objects: BTreeMap<u64, Template>,
    last: u64,
    role: Option<Role>,
    locked: bool,
    asked: HashMap<&'static str, usize>,
    mood: Option<Mood>,
    connections: Vec<UnixStream>,
    /// Codes over data of several requests: key, mechanism, data so far.
    running: HashMap<u64, (u64, Mechanism, Vec<u8>)>,
}

pub struct Daemon {
    pub socket: PathBuf,
    _directory: tempfile::TempDir,
    token: Arc<Mutex<Token>>,
    running: Arc<Mutex<bool>>,
    full: Arc<AtomicBool>,
    /// The number of requests received, answered or not.
    received: Arc<AtomicUsize>,
}

impl Daemon {
    /// Starts a listening daemon with a key of each kind; see [`Daemon::find`].
    pub fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let daemon = Self {
            socket: directory.path().join("socket"),
            _directory: directory,
            token: Arc::default(),
            running: Arc::default(),
            full: Arc::default(),
            received: Arc::default(),
        };
        let mut token = daemon.token();
        for (class, label) in [(cko::PUBLIC_KEY, "rsa"), (cko::PRIVATE_KEY, "rsa")] {
            let mut key = key(class, ckk::RSA, label);
            key.set(cka::MODULUS, [0xc1; 256]);
            token.add(key);
        }
        for (class, label) in [(cko::PUBLIC_KEY, "p256"), (cko::PRIVATE_KEY, "p256")] {
            let mut key = key(class, ckk::EC, label);
            key.set(cka::EC_PARAMS, P256);
            token.add(key);
        }
        for (class, label) in [(cko::PUBLIC_KEY, "ed25519"), (cko::PRIVATE_KEY, "ed25519")] {
            token.add(key(class, ckk::EC_EDWARDS, label));
        }
        token.add(key(cko::SECRET_KEY, ckk::AES, "aes"));
        token.add(key(cko::SECRET_KEY, ckk::GENERIC_SECRET, "hmac"));
        drop(token);
        daemon.listen();
        daemon
    }

    /// Listens; after [`stop`](Self::stop), as another daemon.
    pub fn listen(&self) {
        let listener = UnixListener::bind(&self.socket).expect("the socket can be made");
        *self.running.lock().unwrap() = true;
        let (token, running) = (self.token.clone(), self.running.clone());
        let (full, received) = (self.full.clone(), self.received.clone());
        let ticket = format!("ticket {:?}", std::time::Instant::now()).into_bytes();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a connection");
                if !*running.lock().unwrap() {
                    return;
                }
                if full.load(Ordering::Relaxed) {
                    continue;
                }
                let (token, received) = (token.clone(), received.clone());
                let ticket = ticket.clone();
                token.lock().unwrap().connections.push(stream.try_clone().unwrap());
                thread::spawn(move || {
                    // Hangs up even after a panic, so that no client waits.
                    let end = HangUp(stream.try_clone().unwrap());
                    serve(stream, &token, &received, &ticket);
                    drop(end);
                });
            }
        });
    }

    /// Goes away: stops listening, and closes every connection.
    pub fn stop(&self) {
        if std::mem::take(&mut *self.running.lock().unwrap()) {
            // Wakes up the listener, so that it stops.
            let _ = UnixStream::connect(&self.socket);
            let _ = std::fs::remove_file(&self.socket);
        }
        let mut token = self.token();
        for connection in token.connections.drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        token.role = None;
    }

    fn token(&self) -> MutexGuard<'_, Token> {
        self.token.lock().unwrap()
    }

    pub fn set_mood(&self, mood: Mood) {
        self.token().mood = Some(mood);
    }

    /// Locks the keystore, or unlocks it.
    pub fn set_locked(&self, locked: bool) {
        self.token().locked = locked;
    }

    /// Sets whether it hangs up on further connections.
    pub fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::Relaxed);
    }

    /// Blocks all answers while the result is held.
    pub fn pause(&self) -> impl Sized + '_ {
        self.token()
    }

    /// Returns the number of requests received so far, answered or not.
    pub fn received(&self) -> usize {
        self.received.load(Ordering::Relaxed)
    }

    /// Returns the number of requests of a kind.
    pub fn asked(&self, request: &str) -> usize {
        self.token().asked.get(request).copied().unwrap_or(0)
    }

    /// Returns the number of requests of all kinds.
    pub fn questions(&self) -> usize {
        self.token().asked.values().sum()
    }

    /// Returns the number of codes over data of several requests that run.
    pub fn running(&self) -> usize {
        self.token().running.len()
    }

    pub fn objects(&self) -> usize {
        self.token().objects.len()
    }

    /// Adds data objects.
    pub fn fill(&self, count: usize) {
        let mut token = self.token();
        for _ in 0..count {
            token.add(key(cko::DATA, 0, "data"));
        }
    }

    /// Ends the login without telling any client.
    pub fn log_out(&self) {
        self.token().role = None;
    }

    /// Destroys an object without telling any client.
    pub fn destroy(&self, object: u64) {
        assert!(self.token().objects.remove(&object).is_some());
    }

    /// Returns the object of a class with a label.
    pub fn find(&self, class: u32, label: &str) -> u64 {
        let token = self.token();
        let is = |object: &Template| {
            object.number(cka::CLASS) == Ok(Some(class.into()))
                && object.get(cka::LABEL) == Some(label.as_bytes())
        };
        *token.objects.iter().find(|(_, object)| is(object)).expect("there is one").0
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop();
    }
}

struct HangUp(UnixStream);

impl Drop for HangUp {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Returns a key that permits every use.
fn key(class: u32, kind: u32, label: &str) -> Template {
    let mut key = Template::new();
    key.set_number(cka::CLASS, class.into());
    key.set_number(cka::KEY_TYPE, kind.into());
    key.set(cka::LABEL, label);
    key.set_bool(cka::TOKEN, true);
    key.set_bool(cka::PRIVATE, class != cko::PUBLIC_KEY);
    key.set_bool(cka::SENSITIVE, class != cko::PUBLIC_KEY);
    let (private, public) = (class != cko::PUBLIC_KEY, class != cko::PRIVATE_KEY);
    for (number, is) in [
        (cka::SIGN, private),
        (cka::DECRYPT, private),
        (cka::VERIFY, public),
        (cka::ENCRYPT, public),
        (cka::WRAP, public),
        (cka::UNWRAP, private),
        (cka::DERIVE, private),
    ] {
        key.set_bool(number, is);
    }
    key.set(cka::VALUE, [0x5e; 32]);
    key
}

fn serve(mut stream: UnixStream, token: &Mutex<Token>, received: &AtomicUsize, ticket: &[u8]) {
    let mut buffer = Vec::new();
    let mut chunk = [0; 4096];
    let mut welcome = false;
    loop {
        while let Some(frame) = frame::read(&buffer).expect("the module's frames are sound") {
            let request = Request::read(frame.message).expect("the module's requests are sound");
            let (identifier, length) = (frame.identifier, frame.length);
            let mut answer = Vec::new();
            if request == (Request::Share {}) {
                // It shares no memory, like a daemon of an earlier release.
                let code = Code::FUNCTION_NOT_SUPPORTED.0;
                let refused = Response::Refused { code, detail: String::new() };
                frame::write(identifier, &mut answer, |to| refused.write(to));
                let _ = stream.write_all(&answer);
                buffer.drain(..length);
                continue;
            }
            received.fetch_add(1, Ordering::Relaxed);
            let mut token = token.lock().unwrap();
            *token.asked.entry(request.name()).or_default() += 1;
            let response = match &request {
                Request::Hello { .. } => Ok(()),
                Request::Attach { ticket: shown, .. } if **shown == *ticket => Ok(()),
                _ if welcome
                    && token
                        .mood
                        .is_some_and(|mood| !matches!(mood, Mood::Sound | Mood::Repeats)) =>
                {
                    Err(Ok(Response::Done {}))
                }
                _ if welcome => Err(token.answer(&request)),
                _ => Err(Err(Code::CRYPTOKI_NOT_INITIALIZED.into())),
            };
            let response = response.map_or_else(
                |answer| answer,
                |()| {
                    welcome = true;
                    Ok(Response::Welcome { version: VERSION, ticket: Secret::new(ticket) })
                },
            );
            let greeting = matches!(response, Ok(Response::Welcome { .. }));
            let response = response.unwrap_or_else(|error: Error| Response::Refused {
                code: error.code.0,
                detail: error.detail,
            });
            let sound = |answer: &mut Vec<u8>, response: &Response| {
                frame::write(identifier, answer, |to| response.write(to));
            };
            let greets = |mood: &Mood| greeting == (*mood == Mood::Version1);
            match token.mood.filter(greets).unwrap_or(Mood::Sound) {
                Mood::NoFrame => answer.extend([0xff; 64]),
                Mood::NoMessage => {
                    frame::write(identifier, &mut answer, |to| to.extend([0xee; 40]));
                }
                Mood::Wrong => sound(&mut answer, &Response::Text { text: "what?".into() }),
                Mood::RefusesWithZero => {
                    sound(&mut answer, &Response::Refused { code: 0, detail: String::new() });
                }
                Mood::HangsUp => {
                    let _ = stream.shutdown(Shutdown::Both);
                    return;
                }
                Mood::WrongLength => {
                    let data = Secret::new(&[7; 5000]);
                    sound(&mut answer, &Response::Data { data });
                }
                Mood::Version1 => {
                    let refused = b"\0\0\x07\0\0\0\x11\0\0\0malformed message";
                    frame::write(identifier, &mut answer, |to| to.extend(refused));
                }
                Mood::Sound | Mood::Repeats => sound(&mut answer, &response),
            }
            drop(token);
            if stream.write_all(&answer).is_err() {
                return;
            }
            buffer.drain(..length);
        }
        match stream.read(&mut chunk) {
            Ok(count) if count > 0 => buffer.extend_from_slice(&chunk[..count]),
            _ => return,
        }
    }
}

impl Token {
    fn add(&mut self, object: Template) -> u64 {
        self.last += 1;
        self.objects.insert(self.last, object);
        self.last
    }

    fn object(&mut self, object: u64) -> Result<&mut Template, Error> {
        let user = self.role.is_some();
        let found = self.objects.get_mut(&object).filter(|found| user || !found.is(cka::PRIVATE));
        found.ok_or_else(|| Code::OBJECT_HANDLE_INVALID.into())
    }

    fn answer(&mut self, request: &Request) -> Result<Response, Error> {
        let done = Ok(Response::Done {});
        match request {
            Request::Token {} => Ok(Response::Token { info: self.info() }),
            Request::Login { role, pin } => {
                let right = match role {
                    Role::SecurityOfficer => OFFICER_PIN,
                    _ => USER_PIN,
                };
                if **pin != *right.as_bytes() {
                    return Err(Code::PIN_INCORRECT.into());
                }
                self.role = Some(*role);
                done
            }
            Request::Logout {} => match self.role.take() {
                Some(_) => done,
                None => Err(Code::USER_NOT_LOGGED_IN.into()),
            },
            Request::InitToken { .. } => {
                self.objects.clear();
                done
            }
            Request::InitPin { .. } | Request::SetPin { .. } => done,
            Request::Random { length } => {
                Ok(Response::Data { data: Secret::new(&vec![0xa7; *length as usize]) })
            }
            Request::Find { template, page } => {
                let user = self.role.is_some();
                let seen = |object: &Template| user || !object.is(cka::PRIVATE);
                let found = self.objects.iter();
                let found = found.filter(|(_, object)| seen(object) && object.matches(template));
                let Page { mut after, most } = page.unwrap_or(Page { after: 0, most: u32::MAX });
                if self.mood == Some(Mood::Repeats) {
                    after = 0;
                }
                let found = found.map(|(number, _)| *number).filter(|number| *number > after);
                let mut objects: Vec<u64> = found.collect();
                let more = (objects.len() > most as usize).then_some(true);
                objects.truncate(most as usize);
                Ok(Response::Objects { objects, more })
            }
            Request::Attributes { object, numbers } => {
                let object = self.object(*object)?;
                let value = |number: &u32| {
                    let hidden = *number == cka::VALUE && object.is(cka::SENSITIVE);
                    let (code, value) = match object.get(*number) {
                        Some(_) if hidden => (Code::ATTRIBUTE_SENSITIVE.0, &[][..]),
                        Some(value) => (0, value),
                        None => (Code::ATTRIBUTE_TYPE_INVALID.0, &[][..]),
                    };
                    AttributeValue { number: *number, code, value: value.into() }
                };
                Ok(Response::Attributes { values: numbers.iter().map(value).collect() })
            }
            Request::SetAttributes { object, template } => {
                let object = self.object(*object)?;
                template.iter().for_each(|(number, value)| object.set(number, value));
                done
            }
            Request::Create { template } => {
                Ok(Response::Object { object: self.add(template.clone()) })
            }
            Request::Copy { object, template } => {
                let mut copy = self.object(*object)?.clone();
                template.iter().for_each(|(number, value)| copy.set(number, value));
                Ok(Response::Object { object: self.add(copy) })
            }
            Request::Destroy { object } => {
                self.object(*object)?;
                self.objects.remove(object);
                done
            }
            Request::Size { object } => {
                Ok(Response::Number { value: self.object(*object)?.len() as u64 })
            }
            Request::Generate { template, .. }
            | Request::Unwrap { template, .. }
            | Request::Derive { template, .. } => {
                Ok(Response::Object { object: self.generate(cko::SECRET_KEY, ckk::AES, template) })
            }
            Request::GeneratePair { public, private, .. } => Ok(Response::Pair {
                public: self.generate(cko::PUBLIC_KEY, ckk::EC, public),
                private: self.generate(cko::PRIVATE_KEY, ckk::EC, private),
            }),
            Request::Sign { key, mechanism, data, digested } => {
                let data = self.sign(*key, mechanism, &data.0, *digested)?;
                Ok(Response::Data { data: Secret::new(&data) })
            }
            Request::Verify { key, mechanism, data, digested, signature } => {
                match self.sign(*key, mechanism, &data.0, *digested)? == signature.0 {
                    true => done,
                    false => Err(Code::SIGNATURE_INVALID.into()),
                }
            }
            Request::MacBegin { key, mechanism, .. } => {
                self.object(*key)?;
                self.last += 1;
                self.running.insert(self.last, (*key, mechanism.clone(), Vec::new()));
                Ok(Response::Number { value: self.last })
            }
            Request::MacUpdate { operation, data } => {
                let running = self.running.get_mut(operation);
                let (_, _, all) = running.ok_or(Code::OPERATION_NOT_INITIALIZED)?;
                all.extend_from_slice(&data.0);
                done
            }
            Request::MacFinish { operation, data, signature } => {
                let running = self.running.remove(operation);
                let (key, mechanism, mut all) = running.ok_or(Code::OPERATION_NOT_INITIALIZED)?;
                all.extend_from_slice(&data.0);
                let made = self.sign(key, &mechanism, &all, false)?;
                match signature {
                    None => Ok(Response::Data { data: Secret::new(&made) }),
                    Some(signature) if signature.0 == made => done,
                    Some(_) => Err(Code::SIGNATURE_INVALID.into()),
                }
            }
            Request::MacCancel { operation } => {
                self.running.remove(operation);
                done
            }
            Request::Encrypt { key, mechanism, data } => {
                self.object(*key)?;
                let length = match (mechanism.number, &mechanism.parameter) {
                    (_, Parameter::Piece(_)) if data.len() % 16 != 0 => {
                        return Err(Code::DATA_LEN_RANGE.into());
                    }
                    (ckm::AES_CTR, _) | (_, Parameter::Piece(_)) => data.len(),
                    (ckm::AES_CBC_PAD, _) => data.len() / 16 * 16 + 16,
                    (ckm::AES_CBC, _) if data.len() % 16 == 0 => data.len(),
                    (ckm::AES_CBC, _) => return Err(Code::DATA_LEN_RANGE.into()),
                    (_, Parameter::Gcm { tag_bits, .. }) => data.len() + *tag_bits as usize / 8,
                    _ if data.len() <= 245 => 256,
                    _ => return Err(Code::DATA_LEN_RANGE.into()),
                };
                let mut made = data.to_vec();
                made.resize(length, (length - data.len()) as u8);
                let mut chain = initial(mechanism);
                for (at, byte) in made.iter_mut().enumerate() {
                    *byte ^= 0x5a ^ chain[at % 16];
                    chain[at % 16] = *byte;
                }
                Ok(Response::Data { data: Secret::new(&made) })
            }
            Request::Decrypt { key, mechanism, data } => {
                self.object(*key)?;
                let mut made = data.0.clone();
                let mut chain = initial(mechanism);
                for (at, byte) in made.iter_mut().enumerate() {
                    let read = *byte;
                    *byte ^= 0x5a ^ chain[at % 16];
                    chain[at % 16] = read;
                }
                let padding = match (mechanism.number, made.last()) {
                    (ckm::AES_CBC | ckm::AES_CTR, _) => 0,
                    _ if matches!(mechanism.parameter, Parameter::Piece(_)) => 0,
                    (_, Some(last)) => usize::from(*last),
                    (_, None) => return Err(Code::ENCRYPTED_DATA_LEN_RANGE.into()),
                };
                let left = made.len().checked_sub(padding).ok_or(Code::ENCRYPTED_DATA_INVALID)?;
                Ok(Response::Data { data: Secret::new(&made[..left]) })
            }
            Request::Wrap { wrapping, mechanism, key, room } => {
                self.object(*wrapping)?;
                self.object(*key)?;
                // With AES_KEY_WRAP it is like a daemon of an earlier release, which wraps always.
                let is_enough = room.ok_or(Code::FUNCTION_FAILED)? >= 40;
                match is_enough || mechanism.number == ckm::AES_KEY_WRAP {
                    true => Ok(Response::Data { data: Secret::new(&[0x3a; 40]) }),
                    false => Ok(Response::Number { value: 40 }),
                }
            }
            // It allows nothing weak.
            Request::Check { .. } => Err(Code::MECHANISM_INVALID.into()),
            _ => Err(Code::FUNCTION_NOT_SUPPORTED.into()),
        }
    }

    fn info(&self) -> TokenInfo {
        TokenInfo {
            label: "a token".into(),
            serial: "0123456789abcdef".into(),
            initialized: true,
            user_pin: true,
            user_failures: 1,
            officer_failures: 0,
            locked: self.locked,
            role: self.role.map(|role| role as u8),
            daemon: "7.9.1".into(),
            legacy: None,
        }
    }

    fn generate(&mut self, class: u32, kind: u32, template: &Template) -> u64 {
        let mut made = key(class, kind, "generated");
        made.set_bool(cka::TOKEN, false);
        template.iter().for_each(|(number, value)| made.set(number, value));
        self.add(made)
    }

    fn sign(
        &mut self,
        key: u64,
        mechanism: &Mechanism,
        data: &[u8],
        digested: bool,
    ) -> Result<Vec<u8>, Error> {
        let kind = self.object(key)?.number(cka::KEY_TYPE)?;
        let length = match (kind.map(|kind| kind as u32), &mechanism.parameter) {
            (Some(ckk::RSA), _) => 256,
            (Some(ckk::EC | ckk::EC_EDWARDS), _) => 64,
            (_, Parameter::Length(length)) => *length as usize,
            _ => 32,
        };
        Ok(signature(mechanism.number, data, digested, length))
    }
}

/// Returns the initial chaining value of the fake cipher, which combines blocks with a constant by
/// exclusive or.
fn initial(mechanism: &Mechanism) -> [u8; 16] {
    match &mechanism.parameter {
        Parameter::Iv(iv) | Parameter::Piece(iv) => {
            iv.0.as_slice().try_into().expect("the module has checked it")
        }
        _ => [0; 16],
    }
}

/// Returns a fake signature.
pub fn signature(mechanism: u32, data: &[u8], digested: bool, length: usize) -> Vec<u8> {
    let hash = Sha256::new().chain_update(mechanism.to_le_bytes()).chain_update([digested.into()]);
    let hash = hash.chain_update(data).finalize();
    hash.iter().copied().cycle().take(length).collect()
}
