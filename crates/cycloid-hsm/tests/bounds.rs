//! Bounds on the daemon's work, answers and memory for one client.

mod support;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use cycloid_hsm::Code;
use cycloid_hsm::attribute::{cka, cko};
use cycloid_hsm::mechanism::ckm;
use cycloid_hsm::rpc::message::Signing;
use cycloid_hsm::rpc::{Bytes, Client, Request, Response, Role, Secret, VERSION, frame};
use support::*;

/// Creates a data object in memory whose content has this many bytes.
fn data_object(client: &Client, length: usize) -> u64 {
    let mut template = truths(&[(cka::TOKEN, false), (cka::PRIVATE, false)]);
    template.set_number(cka::CLASS, cko::DATA.into());
    template.set(cka::VALUE, vec![7; length]);
    object(client.call(&Request::Create { template })).unwrap()
}

/// A request of a few bytes for each value must not make an answer of a terabyte.
#[test]
fn attributes_that_are_longer_than_a_message_are_refused() {
    let daemon = Daemon::start();
    let client = daemon.client();
    let object = data_object(&client, 900 << 10);
    let ask = |numbers: Vec<u32>| client.call(&Request::Attributes { object, numbers });
    assert_eq!(code(ask(vec![cka::VALUE; 1_000_000])), Code::DEVICE_MEMORY);
    // Values that the object does not have take room, too.
    assert_eq!(code(ask(vec![cka::MODULUS; 300_000])), Code::DEVICE_MEMORY);
    let answer = ask(vec![cka::VALUE, cka::LABEL]).unwrap();
    assert!(matches!(answer, Response::Attributes { values } if values.len() == 2));
    assert_eq!(code(ask(vec![cka::VALUE; 2])), Code::DEVICE_MEMORY);
}

/// A client that cannot read an answer would take the daemon for lost.
#[test]
fn an_answer_that_is_longer_than_a_message_is_a_refusal() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let extra = truths(&[(cka::SIGN, true)]);
    let key = secret_key(&client, cycloid_hsm::attribute::ckk::GENERIC_SECRET, &[7; 32], &extra);
    let (key, mechanism) = (key.unwrap(), mechanism(ckm::SHA512_HMAC));
    let requests = |count| {
        let (data, mechanism) = (Bytes::default(), mechanism.clone());
        vec![Signing { key, mechanism, data, digested: false }; count]
    };
    let sign_many = |count| client.call(&Request::SignMany { requests: requests(count) });
    assert_eq!(code(sign_many(20_000)), Code::DEVICE_MEMORY);
    let Response::SignedMany { outcomes } = sign_many(1000).unwrap() else { panic!() };
    assert!(outcomes.iter().all(|signed| signed.code == 0));
}

/// Connects as the user.
fn connected(daemon: &Daemon) -> UnixStream {
    let mut stream = UnixStream::connect(&daemon.socket).unwrap();
    let mut hello = Vec::new();
    let pin = Secret::new(USER_PIN);
    for request in [
        Request::Hello { version: VERSION, name: "fills".into() },
        Request::Login { role: Role::User, pin },
    ] {
        hello.clear();
        frame::write(0, &mut hello, |to| request.write(to));
        stream.write_all(&hello).unwrap();
        hello.clear();
        while frame::read(&hello).unwrap().is_none() {
            let mut bytes = [0; 512];
            let count = stream.read(&mut bytes).unwrap();
            hello.extend_from_slice(&bytes[..count]);
        }
    }
    stream
}

/// Sends a request again and again without reading answers, and returns the number of bytes that
/// the daemon took before it read no more.
fn taken(mut stream: UnixStream, request: &Request) -> usize {
    let mut bytes = Vec::new();
    frame::write(1, &mut bytes, |to| request.write(to));
    stream.set_write_timeout(Some(std::time::Duration::from_secs(2))).unwrap();
    let mut sent = 0;
    for _ in 0..64 {
        match stream.write(&bytes[sent % bytes.len()..]) {
            Ok(count) => sent += count,
            Err(_) => break,
        }
    }
    sent
}

/// Each may be as long as a message, and 256 could wait.
#[test]
fn requests_in_flight_have_few_bytes_together() {
    let daemon = Daemon::start();
    let mut template = truths(&[(cka::TOKEN, true)]);
    template.set_number(cka::CLASS, cko::DATA.into());
    template.set(cka::VALUE, vec![7; 900 << 10]);
    let stream = connected(&daemon);
    // While another program writes to the database, changes wait.
    let database = rusqlite::Connection::open(daemon.directory.path().join("keys.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let sent = taken(stream, &Request::Create { template });
    database.execute_batch("ROLLBACK").unwrap();
    assert!((4 << 20..16 << 20).contains(&sent), "{sent}");
}

#[test]
fn a_program_s_name_is_cut() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon.socket, format!("a\nb{}", "x".repeat(100_000))).unwrap();
    client.call(&Request::Login { role: Role::User, pin: Secret::new(USER_PIN) }).unwrap();
    let officer = daemon.officer();
    let Response::Audit { entries } =
        officer.call(&Request::Audit { from: 1, limit: 1000 }).unwrap()
    else {
        panic!()
    };
    let line = entries.iter().rfind(|line| line.who.starts_with("user")).unwrap();
    assert!(line.who.contains("ab") && line.who.len() < 100, "{}", line.who);
}
