//! Slots by hand: a client that writes anything at any time into the memory that it shares with the
//! daemon, beside one that signs; and one whose requests in memory must be refused as others are.

#![allow(missing_docs, unreachable_pub)]

mod support;

use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use cycloid_hsm::Code;
use cycloid_hsm::attribute::{Template, cka};
use cycloid_hsm::mechanism::{Parameter, ckm};
use cycloid_hsm::rpc::{
    Bytes, Client, Mechanism, Request, Response, Role, Secret, VERSION, frame, slot,
};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use support::TestBed;

/// The size of the memory: four lines of control, and a message.
const SIZE: usize = 256 + slot::MAX_LENGTH;

/// The memory of a connection of its own, as 32-bit words.
struct Hostile {
    stream: UnixStream,
    words: &'static [AtomicU32],
}

impl Hostile {
    fn new(bed: &TestBed) -> Self {
        let stream = UnixStream::connect(bed.socket()).unwrap();
        send(&stream, &Request::Hello { version: VERSION, name: "hostile".into() });
        receive(&stream);
        send(&stream, &Request::Share {});
        let file = receive(&stream).expect("the daemon shares memory");
        assert_eq!(rustix::fs::fstat(&file).unwrap().st_size, SIZE as i64);
        // It cannot take the memory away from the daemon.
        assert!(rustix::fs::ftruncate(&file, 0).is_err());
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping of a file whose size is fixed; it stays until the process ends.
        let words = unsafe {
            let at =
                rustix::mm::mmap(null_mut(), SIZE, protection, MapFlags::SHARED, &file, 0).unwrap();
            std::slice::from_raw_parts(at.cast::<AtomicU32>(), SIZE / 4)
        };
        Self { stream, words }
    }

    /// Asks for an answer through the socket.
    fn ask_aloud(&self, request: &Request) -> Response {
        send(&self.stream, request);
        let mut bytes = Vec::new();
        loop {
            if let Some(frame) = frame::read(&bytes).unwrap() {
                return Response::read(frame.message).unwrap();
            }
            let mut more = [0; 4096];
            let count = (&self.stream).read(&mut more).unwrap();
            assert!(count > 0, "the daemon hung up");
            bytes.extend_from_slice(&more[..count]);
        }
    }

    /// Asks for an answer through the memory.
    fn ask(&self, request: &Request) -> Response {
        let mut message = Vec::new();
        request.write(&mut message);
        let [state, looks] = [0, 16].map(|at| &self.words[at]);
        loop {
            // The daemon looks for a while after each request on the socket.
            while looks.load(Ordering::SeqCst) == 0 {
                self.ask_aloud(&Request::Status {});
            }
            self.write(&message);
            state.store(1, Ordering::SeqCst);
            let answered = loop {
                match state.load(Ordering::SeqCst) {
                    3 => break true,
                    1 if looks.load(Ordering::SeqCst) == 0 => {
                        let order = (Ordering::SeqCst, Ordering::SeqCst);
                        if state.compare_exchange(1, 0, order.0, order.1).is_ok() {
                            break false;
                        }
                    }
                    1 | 2 => thread::yield_now(),
                    other => panic!("state {other}"),
                }
            };
            if answered {
                let length = self.words[48].load(Ordering::SeqCst) as usize;
                let words = self.words[64..][..length.div_ceil(4)].iter();
                let bytes = words.flat_map(|word| word.load(Ordering::SeqCst).to_ne_bytes());
                let answer = Response::read(&bytes.take(length).collect::<Vec<_>>()).unwrap();
                state.store(0, Ordering::SeqCst);
                return answer;
            }
        }
    }

    fn write(&self, message: &[u8]) {
        for (word, bytes) in self.words[64..].iter().zip(message.chunks(4)) {
            let mut whole = [0; 4];
            whole[..bytes.len()].copy_from_slice(bytes);
            word.store(u32::from_ne_bytes(whole), Ordering::Relaxed);
        }
        self.words[48].store(message.len() as u32, Ordering::Relaxed);
    }
}

fn send(mut stream: &UnixStream, request: &Request) {
    let mut bytes = Vec::new();
    frame::write(0, &mut bytes, |to| request.write(to));
    stream.write_all(&bytes).unwrap();
}

/// Receives an answer that is not a refusal, and the file that accompanies it.
fn receive(stream: &UnixStream) -> Option<OwnedFd> {
    let mut bytes = [0; 512];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut to = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let count = rustix::net::recvmsg(stream, &mut to, &mut ancillary, flags).unwrap().bytes;
    let file = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let frame = frame::read(&bytes[..count]).unwrap().expect("a short answer comes at once");
    let answer = Response::read(frame.message).unwrap();
    assert!(!matches!(answer, Response::Refused { .. }), "{answer:?}");
    file
}

/// Generates a pair on P-256.
fn generate(user: &Client) -> (u64, u64) {
    let mut public = Template::new();
    let support::Kind::Ec(curve) = support::P256 else { unreachable!() };
    public.set(cka::EC_PARAMS, curve);
    let mechanism = Mechanism { number: ckm::EC_KEY_PAIR_GEN, parameter: Parameter::None };
    let request = Request::GeneratePair { mechanism, public, private: Template::new() };
    match user.call(&request) {
        Ok(Response::Pair { public, private }) => (public, private),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_hostile_client_harms_nobody_through_its_slot() {
    let bed = TestBed::new();
    let user = bed.user();
    let pair = generate(&user);
    let mechanism = || Mechanism { number: ckm::ECDSA, parameter: Parameter::None };
    let sign = |data| Request::Sign { key: pair.1, mechanism: mechanism(), data, digested: false };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 1..4_u32 {
            let (bed, stop) = (&bed, &stop);
            let request = sign(Bytes(vec![1; 32]));
            scope.spawn(move || {
                let hostile = Hostile::new(bed);
                let mut sound = Vec::new();
                request.write(&mut sound);
                let mut number = seed;
                while !stop.load(Ordering::SeqCst) {
                    number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    match number >> 29 {
                        // Once more, while the first one is computed.
                        0 | 1 => hostile.write(&sound),
                        2 => hostile.write(&number.to_ne_bytes()),
                        3 => hostile.words[48].store(number, Ordering::Relaxed),
                        4 => {
                            hostile.words[number as usize % (SIZE / 4)]
                                .store(number, Ordering::Relaxed);
                        }
                        5 => hostile.words[32].store(number, Ordering::Relaxed),
                        6 => send(&hostile.stream, &Request::Token {}),
                        _ => {
                            // Its answers need not be read, but then it stops sending.
                            let mut bytes = [0; 4096];
                            let flags = RecvFlags::DONTWAIT;
                            let _ = rustix::net::recv(&hostile.stream, &mut bytes, flags);
                        }
                    }
                    hostile.words[0]
                        .store(if number & 1 == 0 { 1 } else { number >> 8 }, Ordering::SeqCst);
                    if number >> 20 & 15 == 0 {
                        thread::yield_now();
                    }
                }
            });
        }
        for round in 0..1500_u32 {
            let digest = [&round.to_le_bytes()[..], &[7; 28]].concat();
            let Response::Data { data } = user.call(&sign(Bytes(digest.clone()))).unwrap() else {
                panic!("no signature")
            };
            let verify = Request::Verify {
                key: pair.0,
                mechanism: mechanism(),
                data: Bytes(digest),
                digested: false,
                signature: Bytes(data.to_vec()),
            };
            assert_eq!(user.call(&verify), Ok(Response::Done {}), "{round}");
        }
        stop.store(true, Ordering::SeqCst);
    });
    // A client that is gone leaves nothing behind that is looked at.
    assert_eq!(bed.user().call(&Request::Random { length: 4 }).map(|_| ()), Ok(()));
}

fn code(answer: &Response) -> Code {
    match answer {
        Response::Refused { code, .. } => Code(*code),
        _ => Code(0),
    }
}

fn pin(role: Role, pin: &str) -> Request {
    Request::Login { role, pin: Secret::new(pin.as_bytes()) }
}

/// The end of a login, of a key or of the use of all keys also holds for requests in a slot.
#[test]
fn requests_in_a_slot_are_refused_as_those_on_the_socket() {
    let bed = TestBed::new();
    let user = bed.user();
    let officer = Client::connect(bed.socket(), "officer").unwrap();
    officer.call(&pin(Role::SecurityOfficer, support::OFFICER_PIN)).unwrap();
    let client = Hostile::new(&bed);
    let login = pin(Role::User, support::USER_PIN);
    let stored = || {
        let mut public = Template::new();
        let support::Kind::Ec(curve) = support::P256 else { unreachable!() };
        public.set(cka::EC_PARAMS, curve);
        let mut private = Template::new();
        private.set_bool(cka::TOKEN, true);
        private.set(cka::LABEL, b"ca");
        let mechanism = Mechanism { number: ckm::EC_KEY_PAIR_GEN, parameter: Parameter::None };
        match user.call(&Request::GeneratePair { mechanism, public, private }) {
            Ok(Response::Pair { private, .. }) => private,
            other => panic!("{other:?}"),
        }
    };
    let sign = |key| {
        let mechanism = Mechanism { number: ckm::ECDSA, parameter: Parameter::None };
        Request::Sign { key, mechanism, data: Bytes(vec![7; 32]), digested: false }
    };
    let key = stored();
    // Each wrong PIN counts.
    for failures in 1..=2 {
        let wrong = client.ask(&pin(Role::User, "wrong"));
        assert_eq!(code(&wrong), Code::PIN_INCORRECT);
        match client.ask(&Request::Token {}) {
            Response::Token { info } => assert_eq!(info.user_failures, failures),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(code(&client.ask(&sign(key))), Code::KEY_HANDLE_INVALID);
    assert_eq!(code(&client.ask(&login)), Code(0));
    assert_eq!(code(&client.ask(&sign(key))), Code(0));
    // A logout on the socket.
    assert_eq!(code(&client.ask_aloud(&Request::Logout {})), Code(0));
    assert_eq!(code(&client.ask(&sign(key))), Code::KEY_HANDLE_INVALID);
    assert_eq!(code(&client.ask(&login)), Code(0));
    // A key that another program destroys.
    let gone = stored();
    assert_eq!(code(&client.ask(&sign(gone))), Code(0));
    user.call(&Request::Destroy { object: gone }).unwrap();
    assert_eq!(code(&client.ask(&sign(gone))), Code::KEY_HANDLE_INVALID);
    // The log of uses.
    officer.call(&Request::LogUses { required: true }).unwrap();
    assert_eq!(code(&client.ask(&sign(key))), Code(0));
    let Ok(Response::Audit { entries }) = officer.call(&Request::Audit { from: 1, limit: 1000 })
    else {
        panic!("no log")
    };
    let grant = format!("object {key} \"ca\": may sign once");
    assert!(entries.iter().any(|entry| entry.what == grant), "{entries:?}");
    // A locked keystore.
    officer.call(&Request::Lock {}).unwrap();
    assert_eq!(code(&client.ask(&sign(key))), Code::DEVICE_ERROR);
    let key_file = Some(Secret::new(&[7; 32]));
    client.ask(&Request::Unlock { passphrase: None, key_file });
    assert_eq!(code(&client.ask(&sign(key))), Code::KEY_HANDLE_INVALID);
    assert_eq!(code(&client.ask(&login)), Code(0));
    assert_eq!(code(&client.ask(&sign(key))), Code(0));
    // A new token.
    let again = Request::InitToken {
        pin: Secret::new(support::OFFICER_PIN.as_bytes()),
        label: "again".into(),
    };
    officer.call(&again).unwrap();
    assert_eq!(code(&client.ask(&sign(key))), Code::KEY_HANDLE_INVALID);
    assert_eq!(code(&client.ask(&login)), Code::USER_PIN_NOT_INITIALIZED);
    // A connection that has ended: no request in its memory is answered, however long others are
    // served.
    (&client.stream).write_all(&[0xff; 8]).unwrap();
    while (&client.stream).read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    let mut message = Vec::new();
    Request::Status {}.write(&mut message);
    client.write(&message);
    client.words[0].store(1, Ordering::SeqCst);
    let other = Hostile::new(&bed);
    (0..1000).for_each(|_| drop(other.ask(&Request::Status {})));
    // 2 is a request that was taken, and 3 is an answer. 4 sends the client to the socket, which
    // the daemon may do once more after it has closed that.
    assert!(matches!(client.words[0].load(Ordering::SeqCst), 1 | 4));
    // An answer would stand where the request is.
    assert_eq!(client.words[48].load(Ordering::SeqCst) as usize, message.len());
    let bytes =
        client.words[64..].iter().flat_map(|word| word.load(Ordering::SeqCst).to_ne_bytes());
    assert!(bytes.take(message.len()).eq(message));
}
