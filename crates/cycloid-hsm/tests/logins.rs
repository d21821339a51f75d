//! Logins at the same moment.

mod support;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Barrier;
use std::thread;

use cycloid_hsm::Code;
use cycloid_hsm::rpc::{Client, Request, Response, Role, Secret, VERSION, frame};
use support::*;

/// Logs in as the user from this many programs at once, and returns each one's code.
fn log_in_at_once(daemon: &Daemon, programs: usize, pin: &[u8]) -> Vec<Result<(), Code>> {
    let start = Barrier::new(programs);
    let log_in = |client: Client| {
        start.wait();
        let answer = client.call(&Request::Login { role: Role::User, pin: Secret::new(pin) });
        answer.map(drop).map_err(|error| error.code)
    };
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..programs).map(|_| scope.spawn(|| log_in(daemon.client()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn programs_that_log_in_at_once_do_not_count_as_wrong_pins() {
    let daemon = Daemon::start();
    assert_eq!(log_in_at_once(&daemon, 40, USER_PIN), [Ok(()); 40]);
}

#[test]
fn wrong_pins_at_once_are_each_counted() {
    let daemon = Daemon::start();
    let codes = log_in_at_once(&daemon, 12, b"wrong");
    let count = |code| codes.iter().filter(|answer| **answer == Err(code)).count();
    let (judged, delayed) = (count(Code::PIN_INCORRECT), count(Code::PIN_LOCKED));
    assert_eq!(judged + delayed, 12, "{codes:?}");
    // Three are free. On a slow machine a delay may end meanwhile.
    assert!((3..8).contains(&judged), "{codes:?}");
}

/// The daemon remembers the right PIN, and compares it without hashing. An asker that has given the
/// right PIN before could else send a thousand guesses before the first one counts.
#[test]
fn guesses_sent_at_once_are_judged_one_after_the_other() {
    const GUESSES: u32 = 20;
    let daemon = Daemon::start();
    // This user is known from now on, and the PIN remembered.
    drop(daemon.user());
    let log_in = |pin: &[u8]| Request::Login { role: Role::User, pin: Secret::new(pin) };
    let mut stream = UnixStream::connect(&daemon.socket).unwrap();
    let mut bytes = Vec::new();
    let hello = Request::Hello { version: VERSION, name: "guesses".into() };
    frame::write(0, &mut bytes, |to| hello.write(to));
    for guess in 1..GUESSES {
        frame::write(guess, &mut bytes, |to| log_in(b"wrong").write(to));
    }
    frame::write(GUESSES, &mut bytes, |to| log_in(USER_PIN).write(to));
    stream.write_all(&bytes).unwrap();
    let mut answers = Vec::new();
    bytes.clear();
    while answers.len() <= GUESSES as usize {
        let mut more = [0; 4096];
        let count = stream.read(&mut more).unwrap();
        assert_ne!(count, 0);
        bytes.extend_from_slice(&more[..count]);
        while let Some(frame) = frame::read(&bytes).unwrap() {
            answers.push((frame.identifier, Response::read(frame.message).unwrap()));
            let length = frame.length;
            bytes.drain(..length);
        }
    }
    // The three free attempts are judged first; then there is a delay.
    for (at, (identifier, answer)) in (1..).zip(&answers[1..4]) {
        assert_eq!(*identifier, at);
        let Response::Refused { code, .. } = answer else { panic!("{answers:?}") };
        assert_eq!(Code(*code), Code::PIN_INCORRECT);
    }
}
