//! Requests that wait while something else happens: a logout, a new token, the end of the daemon.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::{Keystore, OFFICER_PIN, USER_PIN, socket};
use crate::Code;
use crate::attribute::{Template, cka, ckk, cko};
use crate::daemon::{Server, Settings};
use crate::mechanism::{Parameter, ckm};
use crate::rpc::message::Signing;
use crate::rpc::{Bytes, Client, Mechanism, Request, Response, Role, Secret, Usage};

const PATIENT: Duration = Duration::from_secs(300);

struct Bed {
    keystore: Keystore,
    server: Server,
}

/// The tasks of a kind wait until this is dropped.
struct Held(#[allow(dead_code, reason = "its drop is its use")] Vec<mpsc::Sender<()>>);

impl Bed {
    fn new() -> Self {
        let keystore = Keystore::new();
        let settings = Settings { socket: socket(keystore.path()), ..Settings::default() };
        let server = Server::start(keystore.open(), settings).unwrap();
        Self { keystore, server }
    }

    fn client(&self) -> Client {
        Client::connect(socket(self.keystore.path()), "test").unwrap()
    }

    fn user(&self) -> Client {
        let client = self.client();
        client.call(&log_in(Role::User, USER_PIN)).unwrap();
        client
    }

    /// Keeps the thread that makes changes, or all those that compute, from their work.
    fn hold(&self, changes: bool) -> Held {
        let tasks = &self.server.daemon().tasks;
        let count = if changes { 1 } else { tasks.threads() as u64 };
        let (begin, has_begun) = mpsc::channel();
        let hold = |number| {
            let (release, released) = mpsc::channel::<()>();
            let begin = begin.clone();
            let task = Box::new(move || {
                begin.send(()).unwrap();
                let _ = released.recv();
            });
            // No client has such a number.
            match changes {
                true => tasks.change(u64::MAX - number, task),
                false => tasks.compute(u64::MAX - number, task),
            }
            release
        };
        let held = Held((0..count).map(hold).collect());
        (0..count).for_each(|_| has_begun.recv_timeout(PATIENT).unwrap());
        held
    }

    /// Waits until so many changes, computations and lines of the log wait.
    fn until_waiting(&self, expected: [usize; 3]) {
        let begun = Instant::now();
        loop {
            let waiting = self.server.daemon().tasks.waiting();
            if waiting == expected {
                return;
            }
            assert!(begun.elapsed() < PATIENT, "{waiting:?} wait");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn log_in(role: Role, pin: &[u8]) -> Request {
    Request::Login { role, pin: Secret::new(pin) }
}

fn generate(token: bool) -> Request {
    let mut template = Template::new();
    template.set_bool(cka::TOKEN, token);
    template.set_number(cka::VALUE_LEN, 32);
    let number = ckm::GENERIC_SECRET_KEY_GEN;
    Request::Generate { mechanism: Mechanism { number, parameter: Parameter::None }, template }
}

fn object(answer: crate::Result<Response>) -> u64 {
    match answer.unwrap() {
        Response::Object { object } => object,
        other => panic!("{other:?}"),
    }
}

/// A login whose line for the log waits while the token is reinitialised does not survive that.
#[test]
fn no_login_survives_a_new_token() {
    let bed = Bed::new();
    // The daemon remembers the PIN, so the next login with it is not hashed.
    let (anna, _first) = (bed.client(), bed.user());
    let officer = bed.client();
    thread::scope(|scope| {
        let computations = bed.hold(false);
        let pin = Secret::new(OFFICER_PIN);
        let again = Request::InitToken { pin, label: "again".into() };
        let again = scope.spawn(move || officer.call(&again));
        bed.until_waiting([0, 1, 0]);
        let changes = bed.hold(true);
        drop(computations);
        // The change of the token waits, and so does the login.
        bed.until_waiting([1, 0, 0]);
        let login = scope.spawn(|| anna.call(&log_in(Role::User, USER_PIN)));
        bed.until_waiting([2, 0, 0]);
        drop(changes);
        again.join().unwrap().unwrap();
        // Which of them comes first is not important.
        let _ = login.join().unwrap();
    });
    assert_eq!(anna.call(&generate(true)).unwrap_err().code, Code::USER_NOT_LOGGED_IN);
    assert_eq!(anna.call(&Request::Logout {}).unwrap_err().code, Code::USER_NOT_LOGGED_IN);
}

/// A code whose begin waits for the log of uses while the program logs out ends with that login.
#[test]
fn no_running_code_survives_a_logout() {
    let bed = Bed::new();
    let anna = bed.user();
    let key = object(anna.call(&generate(true)));
    let mechanism = Mechanism { number: ckm::SHA256_HMAC, parameter: Parameter::None };
    let begin = Request::MacBegin { key, mechanism, usage: Usage::Sign };
    let officer = bed.client();
    officer.call(&log_in(Role::SecurityOfficer, OFFICER_PIN)).unwrap();
    officer.call(&Request::LogUses { required: true }).unwrap();
    let operation = thread::scope(|scope| {
        let changes = bed.hold(true);
        let begun = scope.spawn(|| anna.call(&begin));
        bed.until_waiting([0, 0, 1]);
        anna.call(&Request::Logout {}).unwrap();
        let login = scope.spawn(|| anna.call(&log_in(Role::User, USER_PIN)));
        bed.until_waiting([1, 0, 1]);
        drop(changes);
        login.join().unwrap().unwrap();
        match begun.join().unwrap() {
            Ok(Response::Number { value }) => value,
            other => panic!("{other:?}"),
        }
    });
    let update = Request::MacUpdate { operation, data: Bytes(b"data".to_vec()) };
    assert_eq!(anna.call(&update).unwrap_err().code, Code::OPERATION_NOT_INITIALIZED);
    let finish = Request::MacFinish { operation, data: Bytes(b"data".to_vec()), signature: None };
    assert_eq!(anna.call(&finish).unwrap_err().code, Code::OPERATION_NOT_INITIALIZED);
}

/// A program with another address repeats there what this daemon says that it has not done.
#[test]
fn what_waits_when_the_daemon_stops_is_not_done_and_says_so() {
    let bed = Bed::new();
    let [anna, bert, carl] = [(); 3].map(|()| bed.user());
    let objects = bed.server.daemon().token.count();
    thread::scope(|scope| {
        let (changes, computations) = (bed.hold(true), bed.hold(false));
        let create = scope.spawn(|| anna.call(&generate(true)));
        bed.until_waiting([1, 0, 0]);
        let copy = Request::Copy { object: 1, template: Template::new() };
        let copy = scope.spawn(move || bert.call(&copy));
        bed.until_waiting([2, 0, 0]);
        let mut public = Template::new();
        public.set_number(cka::MODULUS_BITS, 2048);
        let number = ckm::RSA_PKCS_KEY_PAIR_GEN;
        let mechanism = Mechanism { number, parameter: Parameter::None };
        let private = Template::new();
        let pair = Request::GeneratePair { mechanism, public, private };
        let pair = scope.spawn(move || carl.call(&pair));
        bed.until_waiting([2, 1, 0]);
        bed.server.daemon().tasks.close();
        for answer in [create, copy, pair] {
            assert_eq!(answer.join().unwrap().unwrap_err().code, Code::FUNCTION_CANCELED);
        }
        drop((changes, computations));
    });
    assert_eq!(bed.server.daemon().token.count(), objects);
}

/// Codes are computed at once, so a message full of them would keep a worker from all others.
#[test]
fn many_signatures_of_one_request_are_a_computation() {
    let bed = Bed::new();
    let client = bed.user();
    let mut template = Template::new();
    template.set_number(cka::CLASS, cko::SECRET_KEY.into());
    template.set_number(cka::KEY_TYPE, ckk::GENERIC_SECRET.into());
    template.set(cka::VALUE, [3; 32]);
    template.set_bool(cka::SIGN, true);
    let key = object(client.call(&Request::Create { template }));
    let sign = |count: usize| {
        let mechanism = Mechanism { number: ckm::SHA256_HMAC, parameter: Parameter::None };
        let signing = Signing { key, mechanism, data: Bytes(vec![7]), digested: false };
        match client.call(&Request::SignMany { requests: vec![signing; count] }).unwrap() {
            Response::SignedMany { outcomes } => outcomes,
            other => panic!("{other:?}"),
        }
    };
    let held = bed.hold(false);
    let few = sign(64);
    assert!(few.iter().all(|signed| signed.code == 0 && signed == &few[0]));
    thread::scope(|scope| {
        let many = scope.spawn(|| sign(10_000));
        bed.until_waiting([0, 1, 0]);
        drop(held);
        let many = many.join().unwrap();
        assert!(many.len() == 10_000 && many.iter().all(|signed| signed == &few[0]));
    });
}
