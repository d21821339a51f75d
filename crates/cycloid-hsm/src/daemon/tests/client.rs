//! Client processes for the kill tests: eight threads that share one application. They keep several
//! requests in flight, hang up in the middle of frames, and verify every answer.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use cycloid::scheme::Hash;
use cycloid::scheme::ecdsa::Signature;
use cycloid::scheme::rsa::verify_scratch_limbs;

use super::world::{Change, KNOWN};
use super::{Random, USER_PIN, socket};
use crate::Code;
use crate::attribute::{Template, cka};
use crate::key::PublicKey;
use crate::mechanism::{Parameter, ckm};
use crate::rpc::message::Signing;
use crate::rpc::{Bytes, Mechanism, Request, Response, Role, Secret, VERSION, frame};

/// The number of client threads in a process.
pub(super) const THREADS: usize = 8;

/// The time after which an answer counts as lost.
const PATIENCE: Duration = Duration::from_secs(600);

/// A connection to the daemon.
struct Line {
    stream: UnixStream,
    input: Vec<u8>,
    last: u32,
}

impl Line {
    fn open(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, input: Vec::new(), last: 0 })
    }

    fn frame(&mut self, request: &Request) -> Vec<u8> {
        self.last += 1;
        let mut bytes = Vec::new();
        frame::write(self.last, &mut bytes, |to| request.write(to));
        bytes
    }

    fn receive(&mut self) -> io::Result<(u32, Response)> {
        loop {
            if let Some(frame) = frame::read(&self.input).expect("the daemon's frames are sound") {
                let response = Response::read(frame.message).expect("and so are its messages");
                let (identifier, length) = (frame.identifier, frame.length);
                self.input.drain(..length);
                return Ok((identifier, response));
            }
            let mut more = [0; 8192];
            match self.stream.read(&mut more) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.input.extend_from_slice(&more[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    panic!("no answer in {PATIENCE:?}")
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn ask(&mut self, request: &Request) -> io::Result<Response> {
        let frame = self.frame(request);
        self.stream.write_all(&frame)?;
        let (identifier, response) = self.receive()?;
        assert_eq!(identifier, self.last);
        Ok(response)
    }
}

/// A key pair, identified by its public half.
struct Key {
    private: u64,
    public: u64,
    key: PublicKey,
}

impl Key {
    fn mechanism(&self) -> Mechanism {
        let number = match self.key {
            PublicKey::Rsa(_) => ckm::SHA256_RSA_PKCS,
            PublicKey::Ed25519(_) => ckm::EDDSA,
            _ => ckm::ECDSA_SHA256,
        };
        Mechanism { number, parameter: Parameter::None }
    }

    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.key {
            PublicKey::Rsa(key) => {
                let mut scratch = vec![0; verify_scratch_limbs(key.bits())];
                key.verify_pkcs1v15(Hash::Sha256, message, signature, &mut scratch).is_ok()
            }
            PublicKey::P256(key) => Signature::from_fixed(signature)
                .is_ok_and(|signature| key.verify(Hash::Sha256, message, &signature).is_ok()),
            PublicKey::Ed25519(key) => {
                signature.try_into().is_ok_and(|signature| key.verify(message, signature).is_ok())
            }
            _ => unreachable!("no other keys are made"),
        }
    }
}

const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const ED25519: &[u8] = &[6, 3, 0x2b, 0x65, 0x70];

/// Generates a pair; `curve` is empty for RSA. Both halves have the label.
fn make(line: &mut Line, label: &str, curve: &[u8]) -> io::Result<(u64, u64)> {
    let mut private = Template::new();
    private.set_bool(cka::TOKEN, true);
    private.set(cka::LABEL, label);
    let mut public = private.clone();
    let number = match curve {
        [] => {
            public.set_number(cka::MODULUS_BITS, 2048);
            ckm::RSA_PKCS_KEY_PAIR_GEN
        }
        curve => {
            public.set(cka::EC_PARAMS, curve);
            if curve == ED25519 { ckm::EC_EDWARDS_KEY_PAIR_GEN } else { ckm::EC_KEY_PAIR_GEN }
        }
    };
    let mechanism = Mechanism { number, parameter: Parameter::None };
    match line.ask(&Request::GeneratePair { mechanism, public, private })? {
        Response::Pair { public, private } => Ok((public, private)),
        other => panic!("{label}: {other:?}"),
    }
}

/// Returns the public half, as the daemon shows it, and its SubjectPublicKeyInfo.
fn look(line: &mut Line, public: u64, private: u64) -> io::Result<(Key, Vec<u8>)> {
    let numbers = [
        cka::KEY_TYPE,
        cka::EC_PARAMS,
        cka::EC_POINT,
        cka::MODULUS,
        cka::PUBLIC_EXPONENT,
        cka::PUBLIC_KEY_INFO,
    ];
    let response = line.ask(&Request::Attributes { object: public, numbers: numbers.to_vec() })?;
    let Response::Attributes { values } = response else { panic!("{response:?}") };
    let mut template = Template::new();
    for value in values.iter().filter(|value| value.code == 0) {
        template.set(value.number, value.value.0.clone());
    }
    let key_type = template.needed_number(cka::KEY_TYPE).unwrap().try_into().unwrap();
    let key = PublicKey::from_attributes(key_type, &template).unwrap();
    let info = template.needed(cka::PUBLIC_KEY_INFO).unwrap().to_vec();
    Ok((Key { private, public, key }, info))
}

/// Connects as a new application, logs in as the user, and returns the application's ticket.
fn log_in(socket: &Path) -> io::Result<(Line, Secret)> {
    let mut line = Line::open(socket)?;
    let hello = Request::Hello { version: VERSION, name: "load".into() };
    let Response::Welcome { ticket, .. } = line.ask(&hello)? else { panic!("not welcome") };
    loop {
        let pin = Secret::new(USER_PIN);
        match line.ask(&Request::Login { role: Role::User, pin })? {
            Response::Done {} => return Ok((line, ticket)),
            // A daemon that was killed during a PIN check leaves the attempt counted as wrong.
            Response::Refused { code, .. } if Code(code) == Code::PIN_LOCKED => {
                std::thread::sleep(Duration::from_millis(500));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Generates the keys that all clients use.
pub(super) fn make_known(directory: &Path) {
    let (mut line, _) = log_in(&socket(directory)).unwrap();
    for curve in [&[], P256, ED25519] {
        make(&mut line, KNOWN, curve).unwrap();
    }
}

/// Finds the keys that all clients use.
fn find_known(line: &mut Line) -> io::Result<Vec<Key>> {
    let mut template = Template::new();
    template.set(cka::LABEL, KNOWN);
    let response = line.ask(&Request::Find { template, page: None })?;
    let Response::Objects { objects, .. } = response else { panic!("{response:?}") };
    assert_eq!(objects.len(), 6, "three pairs");
    objects.chunks(2).map(|pair| Ok(look(line, pair[0], pair[1])?.0)).collect()
}

/// Runs a client process: `DIRECTORY NAME SEED WRITES ONCE`. Of a hundred actions, `WRITES` change
/// objects. When the daemon goes away, the process starts over with the next daemon or, with
/// `once`, ends.
pub(super) fn run(order: &str) {
    // A client that finds a fault ends its process, which the test notices.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        std::process::exit(101);
    }));
    // The parent holds the other end of stdin; this process must not outlive it.
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(0);
    });
    // The test harness may have begun a line.
    println!();
    let words: Vec<&str> = order.split(' ').collect();
    let [directory, name, seed, writes, lives] = words[..] else { unreachable!("{order}") };
    let socket = socket(Path::new(directory));
    let (mut random, writes) = (Random(seed.parse().unwrap()), writes.parse().unwrap());
    for life in 0.. {
        let lived = log_in(&socket).and_then(|(mut line, ticket)| {
            let known = find_known(&mut line)?;
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let mut client = Client {
                        name: format!("{name}.{life}.{thread}"),
                        socket: &socket,
                        ticket: &ticket,
                        known: &known,
                        own: Vec::new(),
                        random: Random(random.next()),
                        count: 0,
                    };
                    scope.spawn(move || client.live(writes));
                }
            });
            Ok(())
        });
        if lived.is_ok() && lives == "once" {
            return;
        }
        // Wait until the next daemon listens.
        std::thread::sleep(Duration::from_millis(20));
    }
}

struct Client<'a> {
    name: String,
    socket: &'a Path,
    ticket: &'a Secret,
    known: &'a [Key],
    own: Vec<Key>,
    random: Random,
    count: u64,
}

impl Client<'_> {
    fn say(&self, verb: &str, change: &Change) {
        let line = format!("{} {verb} {change}\n", self.name);
        io::stdout().write_all(line.as_bytes()).unwrap();
        io::stdout().flush().unwrap();
    }

    fn attach(&self) -> io::Result<Line> {
        let mut line = Line::open(self.socket)?;
        let attach = Request::Attach { version: VERSION, ticket: self.ticket.clone() };
        match line.ask(&attach)? {
            Response::Welcome { .. } => Ok(line),
            // The next daemon does not know the application.
            Response::Refused { code, .. } if Code(code) == Code::SESSION_CLOSED => {
                Err(io::ErrorKind::ConnectionReset.into())
            }
            other => panic!("{}: {other:?}", self.name),
        }
    }

    /// Works until the daemon goes away.
    fn live(&mut self, writes: u64) -> io::Error {
        let mut attempt = || {
            let mut line = self.attach()?;
            loop {
                match self.random.below(100) {
                    what if what < writes => self.change(&mut line)?,
                    what if what > 95 => {
                        self.hang_up(line)?;
                        line = self.attach()?;
                    }
                    _ => self.sign(&mut line)?,
                }
            }
        };
        let outcome: io::Result<std::convert::Infallible> = attempt();
        let error = outcome.expect_err("it has no end");
        self.say("signed", &Change::Count(self.count));
        error
    }

    fn change(&mut self, line: &mut Line) -> io::Result<()> {
        let own = self.own.len() as u64;
        match self.random.below(4) {
            0 if own > 0 => {
                let key = self.own.swap_remove(self.random.below(own) as usize);
                // The halves are destroyed in either order.
                let mut halves = [key.public, key.private];
                halves.rotate_left(self.random.below(2) as usize);
                for object in halves {
                    self.done(line, &Request::Destroy { object }, &Change::Destroy(object))?;
                }
                Ok(())
            }
            1 if own > 0 => {
                let key = &self.own[self.random.below(own) as usize];
                let object = [key.public, key.private][self.random.below(2) as usize];
                let identifier = self.random.next();
                let mut template = Template::new();
                template.set(cka::ID, identifier.to_be_bytes());
                let request = Request::SetAttributes { object, template };
                self.done(line, &request, &Change::Identify(object, identifier))
            }
            _ if own < 20 => self.generate(line),
            _ => self.sign(line),
        }
    }

    fn done(&self, line: &mut Line, request: &Request, change: &Change) -> io::Result<()> {
        self.say("try", change);
        let response = line.ask(request)?;
        assert_eq!(response, Response::Done {}, "{}: {change}", self.name);
        self.say("did", change);
        Ok(())
    }

    fn generate(&mut self, line: &mut Line) -> io::Result<()> {
        self.count += 1;
        let label = format!("{}/{}", self.name, self.count);
        self.say("try", &Change::Pair { label: label.clone(), made: None });
        let curve = if self.random.below(2) == 0 { P256 } else { ED25519 };
        let (public, private) = make(line, &label, curve)?;
        let (key, info) = look(line, public, private)?;
        self.say("did", &Change::Pair { label, made: Some((public, private, info)) });
        self.own.push(key);
        self.sign(line)
    }

    /// Returns the signatures to request, each of a different message, with a random key.
    fn requests(&mut self) -> Vec<(&Key, Vec<u8>)> {
        let (known, own) = (self.known.len() as u64, self.own.len() as u64);
        let choices: Vec<(usize, u64)> = (0..=self.random.below(8))
            .map(|_| (self.random.below(known + own) as usize, self.random.next()))
            .collect();
        self.count += choices.len() as u64;
        let key =
            |at: usize| self.known.get(at).unwrap_or_else(|| &self.own[at - self.known.len()]);
        let message = |salt| format!("{} {} {salt}", self.name, self.count).into_bytes();
        choices.into_iter().map(|(at, salt)| (key(at), message(salt))).collect()
    }

    /// Requests several signatures at once, and verifies each with its key and message.
    fn sign(&mut self, line: &mut Line) -> io::Result<()> {
        let together = self.random.below(4) == 0;
        let name = self.name.clone();
        let requests = self.requests();
        let check = |(key, message): &(&Key, Vec<u8>), signature: &[u8]| {
            assert!(key.verifies(message, signature), "{name}: not the signature of {message:?}");
        };
        let signing = |(key, message): &(&Key, Vec<u8>)| Signing {
            key: key.private,
            mechanism: key.mechanism(),
            data: Bytes(message.clone()),
            digested: false,
        };
        if together {
            let many = Request::SignMany { requests: requests.iter().map(signing).collect() };
            let response = line.ask(&many)?;
            let Response::SignedMany { outcomes } = response else { panic!("{response:?}") };
            assert_eq!(outcomes.len(), requests.len());
            for (request, outcome) in requests.iter().zip(&outcomes) {
                assert_eq!(outcome.code, 0, "{name}");
                check(request, &outcome.signature.0);
            }
            return Ok(());
        }
        let mut frames = Vec::new();
        let mut waiting = BTreeMap::new();
        for request in requests {
            let Signing { key, mechanism, data, digested } = signing(&request);
            frames.extend(line.frame(&Request::Sign { key, mechanism, data, digested }));
            waiting.insert(line.last, request);
        }
        line.stream.write_all(&frames)?;
        while !waiting.is_empty() {
            let (identifier, response) = line.receive()?;
            // Each request gets exactly one answer.
            let request = waiting.remove(&identifier).expect("the daemon answers what was asked");
            match response {
                Response::Data { data } => check(&request, &data),
                other => panic!("{name}: {other:?}"),
            }
        }
        Ok(())
    }

    /// Hangs up at an inconvenient moment.
    fn hang_up(&mut self, mut line: Line) -> io::Result<()> {
        let how = self.random.below(4);
        let at = self.random.next() as usize;
        let mut frames = Vec::new();
        for (key, message) in self.requests() {
            let (key, mechanism) = (key.private, key.mechanism());
            let data = Bytes(message);
            frames.extend(line.frame(&Request::Sign { key, mechanism, data, digested: false }));
        }
        match how {
            // In the middle of a frame.
            0 => frames.truncate(at % frames.len()),
            // After a frame header with an invalid length.
            1 => frames.extend([0xff; 5]),
            // With answers unread, or after reading one.
            _ => {}
        }
        line.stream.write_all(&frames)?;
        if how == 3 {
            line.receive()?;
        }
        Ok(())
    }
}
