//! Several daemons on one database of PostgreSQL.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use postgres::NoTls;

use super::{OFFICER_PIN, USER_PIN, socket, unlocking};
use crate::Code;
use crate::attribute::{Template, cka};
use crate::daemon::{Server, Settings};
use crate::legacy::Legacy;
use crate::mechanism::{Parameter, ckm};
use crate::rpc::message::Signing;
use crate::rpc::{Bytes, Client, Mechanism, Request, Response, Role, Secret};
use crate::store::Store;
use crate::store::tests::Place;

const PATIENT: Duration = Duration::from_secs(300);

/// A daemon, and a client that is logged in as the user.
struct Member {
    client: Client,
    _server: Server,
    _directory: tempfile::TempDir,
}

fn start(url: &str, settings: Settings) -> Member {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(url).unwrap();
    store.unlock(&unlocking()).unwrap();
    let socket = socket(directory.path());
    let server = Server::start(store, Settings { socket: socket.clone(), ..settings }).unwrap();
    let client = Client::connect(&socket, "test").unwrap();
    client.call(&Request::Login { role: Role::User, pin: Secret::new(USER_PIN) }).unwrap();
    Member { client, _server: server, _directory: directory }
}

fn key(member: &Member, stored: bool) -> u64 {
    let mut private = Template::new();
    private.set_bool(cka::TOKEN, stored);
    let mut public = private.clone();
    public.set(cka::EC_PARAMS, [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]);
    let mechanism = Mechanism { number: ckm::EC_KEY_PAIR_GEN, parameter: Parameter::None };
    match member.client.call(&Request::GeneratePair { mechanism, public, private }).unwrap() {
        Response::Pair { private, .. } => private,
        other => panic!("{other:?}"),
    }
}

fn sign(member: &Member, key: u64) -> Result<(), Code> {
    let mechanism = Mechanism { number: ckm::ECDSA, parameter: Parameter::None };
    let request = Request::Sign { key, mechanism, data: Bytes(vec![7; 32]), digested: false };
    member.client.call(&request).map(drop).map_err(|error| error.code)
}

/// Returns how long it takes until `done`.
fn until(done: impl Fn() -> bool) -> Duration {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENT);
        thread::sleep(Duration::from_millis(1));
    }
    begun.elapsed()
}

fn create(database: &Place) -> String {
    let url = database.url();
    crate::daemon::create(&url, &unlocking(), "test", OFFICER_PIN, USER_PIN).unwrap();
    url
}

/// Settings with which only an announcement comes in time.
fn announced() -> Settings {
    let (refresh, stale_after) = (Duration::from_secs(3600), Duration::from_secs(7200));
    Settings { refresh, stale_after, ..Settings::default() }
}

#[test]
fn a_change_at_one_daemon_is_announced_to_all() {
    let database = Place::postgresql();
    let url = create(&database);
    let members = [(); 3].map(|()| start(&url, announced()));
    for _ in 0..5 {
        let made = key(&members[0], true);
        let visible = until(|| sign(&members[1], made).is_ok() && sign(&members[2], made).is_ok());
        members[2].client.call(&Request::Destroy { object: made }).unwrap();
        let gone = until(|| sign(&members[0], made).is_err() && sign(&members[1], made).is_err());
        for member in &members {
            assert_eq!(sign(member, made), Err(Code::KEY_HANDLE_INVALID));
        }
        println!("visible after {visible:?}, gone after {gone:?}");
    }
}

/// A change that is announced while a daemon does not listen is loaded when it listens again.
#[test]
fn a_change_while_nobody_listens_is_loaded() {
    let database = Place::postgresql();
    let url = create(&database);
    let members = [(); 2].map(|()| start(&url, announced()));
    let mut server = postgres::Client::connect(&url, NoTls).unwrap();
    let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE query LIKE 'LISTEN%' AND datname = current_database()";
    for _ in 0..3 {
        let begun = Instant::now();
        while server.query_one(ended, &[]).unwrap().get::<_, i64>(0) == 0 {
            assert!(begun.elapsed() < PATIENT);
        }
        let made = key(&members[0], true);
        until(|| sign(&members[1], made).is_ok());
    }
}

/// What the officer allows at one daemon is allowed at all, and no longer when it is forbidden.
fn a_permission_holds_at_every_daemon(database: &Place) {
    let url = create(database);
    let settings = || Settings { refresh: Duration::from_millis(20), ..Settings::default() };
    let members = [(); 2].map(|()| start(&url, settings()));
    let made = key(&members[0], true);
    let sign = |member: &Member| {
        let mechanism = Mechanism { number: ckm::ECDSA_SHA1, parameter: Parameter::None };
        let request =
            Request::Sign { key: made, mechanism, data: Bytes(vec![7; 32]), digested: false };
        member.client.call(&request).map(drop).map_err(|error| error.code)
    };
    until(|| sign(&members[1]) != Err(Code::KEY_HANDLE_INVALID));
    let officer = &members[0].client;
    officer.call(&Request::Logout {}).unwrap();
    let pin = Secret::new(OFFICER_PIN);
    officer.call(&Request::Login { role: Role::SecurityOfficer, pin }).unwrap();
    for allowed in [true, false, true] {
        let weak = Legacy::Sha1Signatures;
        officer.call(&Request::AllowLegacy { weak, allowed }).unwrap();
        until(|| sign(&members[1]).is_ok() == allowed);
    }
    // A daemon that starts later knows it from the beginning.
    assert_eq!(sign(&start(&url, settings())), Ok(()));
}

#[test]
fn a_permission_holds_at_every_daemon_on_postgresql() {
    a_permission_holds_at_every_daemon(&Place::postgresql());
}

#[test]
fn a_daemon_that_has_lost_the_database_soon_uses_no_stored_key() {
    let database = Place::own_postgresql();
    let url = create(&database);
    let settings = Settings {
        refresh: Duration::from_millis(50),
        stale_after: Duration::from_secs(2),
        ..Settings::default()
    };
    let member = start(&url, settings);
    let (stored, in_memory) = (key(&member, true), key(&member, false));
    assert_eq!((sign(&member, stored), sign(&member, in_memory)), (Ok(()), Ok(())));
    database.cut_off(true);
    until(|| sign(&member, stored) == Err(Code::DEVICE_ERROR));
    // Another daemon may have made a key that this one does not know.
    assert_eq!(sign(&member, stored + 1000), Err(Code::DEVICE_ERROR));
    assert_eq!(sign(&member, in_memory + 1), Err(Code::KEY_HANDLE_INVALID));
    assert_eq!(sign(&member, in_memory), Ok(()));
    // Soon after the server is back, the key is used again.
    database.cut_off(false);
    until(|| sign(&member, stored).is_ok());
    assert_eq!(sign(&member, stored + 1000), Err(Code::KEY_HANDLE_INVALID));
}

#[test]
fn workers_do_not_wait_for_a_database_that_is_lost() {
    let database = Place::own_postgresql();
    let url = create(&database);
    let stale_after = Duration::from_secs(3600);
    let member = start(&url, Settings { workers: 1, stale_after, ..Settings::default() });
    let (cold, warm) = (key(&member, true), key(&member, true));
    sign(&member, warm).unwrap();
    let asked = || {
        let Ok(Response::Text { text }) = member.client.call(&Request::Metrics {}) else {
            panic!()
        };
        text.contains("cycloid_hsm_requests_total{message=\"Sign\"} 2")
    };
    database.cut_off(true);
    thread::scope(|scope| {
        // The first use of a key reads it from the database.
        let waits = scope.spawn(|| sign(&member, cold));
        let (done, is_done) = mpsc::channel();
        let database = &database;
        // A worker that waits is released, or the test would hang.
        let releases = scope.spawn(move || {
            let in_time = is_done.recv_timeout(PATIENT).is_ok();
            database.cut_off(false);
            in_time
        });
        until(asked);
        assert_eq!(sign(&member, warm), Ok(()));
        assert!(!waits.is_finished());
        done.send(()).unwrap();
        assert!(releases.join().unwrap(), "a worker waited");
        assert_eq!(waits.join().unwrap(), Ok(()));
    });
}

/// Asks for many signatures in one request. Returns how many were made.
fn sign_many(member: &Member, key: u64, count: u64) -> u64 {
    let signing = |i: u64| Signing {
        key,
        mechanism: Mechanism { number: ckm::ECDSA, parameter: Parameter::None },
        data: Bytes(vec![i as u8; 32]),
        digested: false,
    };
    let requests = (0..count).map(signing).collect();
    let answer = member.client.call(&Request::SignMany { requests }).unwrap();
    let Response::SignedMany { outcomes } = answer else { panic!("{answer:?}") };
    let made = outcomes.iter().filter(|outcome| match Code(outcome.code) {
        Code(0) => true,
        // The limit is reached, or the server took longer than a second.
        Code::FUNCTION_FAILED | Code::DEVICE_ERROR => false,
        other => panic!("{other:?}"),
    });
    made.count() as u64
}

/// A key's rate limit is that of all daemons together, and all of it is available at each.
#[test]
fn daemons_share_the_rate_limit_of_a_key() {
    const LIMIT: u64 = 10;
    let database = Place::postgresql();
    let url = create(&database);
    let members = [(); 3].map(|()| start(&url, Settings::default()));
    let mut private = Template::new();
    private.set_bool(cka::TOKEN, true);
    private.set_number(cka::RATE_LIMIT, LIMIT);
    let mut public = Template::new();
    public.set(cka::EC_PARAMS, [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]);
    let mechanism = Mechanism { number: ckm::EC_KEY_PAIR_GEN, parameter: Parameter::None };
    let request = Request::GeneratePair { mechanism, public, private };
    let Response::Pair { private: made, .. } = members[0].client.call(&request).unwrap() else {
        panic!("no pair");
    };
    for member in &members {
        until(|| sign(member, made).is_ok());
    }
    let mut server = postgres::Client::connect(&url, NoTls).unwrap();
    let mut second = || {
        let query = "SELECT floor(extract(epoch FROM clock_timestamp()))::BIGINT";
        server.query_one(query, &[]).unwrap().get::<_, i64>(0)
    };
    let begun = Instant::now();
    // On a busy machine, a round may take many seconds, in which the limit allows more than three
    // daemons that count alone would make: then the round proves nothing.
    let mut proofs = 0;
    while proofs < 3 {
        assert!(begun.elapsed() < PATIENT, "{proofs}");
        let before = second();
        let signed: u64 = thread::scope(|scope| {
            let each = |member| scope.spawn(move || sign_many(member, made, 2 * LIMIT));
            members.each_ref().map(each).map(|made| made.join().unwrap()).iter().sum()
        });
        let seconds = (second() - before) as u64 + 1;
        assert!(signed <= LIMIT * seconds, "{signed} signatures in {seconds} seconds");
        proofs += usize::from(seconds <= 2 && signed > 0);
    }
    // One daemon alone reaches the limit.
    until(|| sign_many(&members[0], made, 2 * LIMIT) == LIMIT);
}
