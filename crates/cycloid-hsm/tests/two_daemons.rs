//! Two daemons on one database act as one.

mod support;

use cycloid_hsm::Code;
use cycloid_hsm::attribute::cka;
use cycloid_hsm::daemon::{Server, Settings};
use cycloid_hsm::mechanism::ckm;
use cycloid_hsm::rpc::{Client, Request, Response, Role, Secret};
use cycloid_hsm::store::Store;
use support::*;

/// Two daemons on one database, each with three concurrent clients, together judge as many PINs as
/// one would.
#[test]
fn two_daemons_on_one_database_judge_no_more_pins_than_one() {
    let one = Daemon::start();
    let url = format!("sqlite:{}", one.directory.path().join("keys.db").display());
    let store = Store::open(&url).unwrap();
    store.unlock(&unlocking()).unwrap();
    let socket = one.directory.path().join("other");
    let other = Server::start(store, Settings { socket: socket.clone(), ..Settings::default() });
    let other = other.unwrap();
    let begin = std::sync::Barrier::new(6);
    let start = std::time::Instant::now();
    let guess = &|socket: &std::path::Path| {
        let client = Client::connect(socket, "guesser").unwrap();
        begin.wait();
        code(client.call(&Request::Login { role: Role::User, pin: Secret::new(b"a guess") }))
    };
    let codes: Vec<Code> = std::thread::scope(|scope| {
        let sockets = [&one.socket, &socket];
        let guesses = (0..6).map(|i| scope.spawn(move || guess(sockets[i % 2])));
        guesses.collect::<Vec<_>>().into_iter().map(|guess| guess.join().unwrap()).collect()
    });
    let count = |code| codes.iter().filter(|other| **other == code).count();
    let (judged, locked) = (count(Code::PIN_INCORRECT), count(Code::PIN_LOCKED));
    assert_eq!(judged + locked, 6, "{codes:?}");
    // Three attempts are free. A machine that takes a second for this has also waited out a delay,
    // and so on.
    let waited = (0..3).take_while(|n| start.elapsed().as_secs() >= (1 << (n + 1)) - 1).count();
    assert!((3..=3 + waited).contains(&judged), "{codes:?} in {:?}", start.elapsed());
    other.stop();
}

/// Starts another daemon on the database of one.
fn beside(one: &Daemon) -> (Server, Client) {
    let url = format!("sqlite:{}", one.directory.path().join("keys.db").display());
    let store = Store::open(&url).unwrap();
    store.unlock(&unlocking()).unwrap();
    let socket = one.directory.path().join("other");
    let settings = Settings { socket: socket.clone(), ..Settings::default() };
    let other = Server::start(store, settings).unwrap();
    let client = Client::connect(&socket, "test").unwrap();
    client.call(&Request::Login { role: Role::User, pin: Secret::new(USER_PIN) }).unwrap();
    (other, client)
}

/// Waits until this holds.
fn soon(mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_reinitialised_token_has_no_logins_at_another_daemon() {
    let one = Daemon::start();
    let (other, client) = beside(&one);
    let pin = Secret::new(OFFICER_PIN);
    one.client().call(&Request::InitToken { pin, label: "anew".into() }).unwrap();
    let create = |client: &Client| {
        secret_key(client, AES, &[7; 32], &truths(&[(cka::TOKEN, true)])).map(drop)
    };
    soon(|| create(&client).is_err());
    assert_eq!(code(create(&client)), Code::USER_NOT_LOGGED_IN);
    // A new login stays.
    let init = Request::InitPin { role: Role::User, pin: Secret::new(USER_PIN) };
    one.officer().call(&init).unwrap();
    let log_in = Request::Login { role: Role::User, pin: Secret::new(USER_PIN) };
    client.call(&log_in).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    create(&client).unwrap();
    create(&one.user()).unwrap();
    other.stop();
}

/// A request for an unknown object makes a daemon look for it in the database. It must not overlook
/// what else has changed there.
#[test]
fn a_daemon_that_looks_for_an_object_does_not_miss_a_setting() {
    let one = Daemon::start();
    let (other, client) = beside(&one);
    let key = secret_key(&client, AES, &[7; 32], &truths(&[(cka::SIGN, true)])).unwrap();
    let cmac = mechanism(ckm::AES_CMAC);
    sign(&client, key, &cmac, b"data").unwrap();
    // Several times: the daemon may look at settings at the same moment by itself.
    let officer = one.officer();
    let granted = || {
        let Response::Audit { entries } =
            officer.call(&Request::Audit { from: 1, limit: 1000 }).unwrap()
        else {
            panic!()
        };
        entries.iter().filter(|line| line.what.contains("may sign")).count()
    };
    for _ in 0..5 {
        officer.call(&Request::LogUses { required: true }).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(6));
        let unknown = Request::Size { object: 12345 };
        assert_eq!(code(client.call(&unknown)), Code::OBJECT_HANDLE_INVALID);
        let before = granted();
        soon(|| {
            sign(&client, key, &cmac, b"data").unwrap();
            granted() > before
        });
        officer.call(&Request::LogUses { required: false }).unwrap();
        std::thread::sleep(std::time::Duration::from_secs(2));
    }
    other.stop();
}
