//! Logins at the same moment.

mod support;

use std::sync::Barrier;
use std::thread;

use cycloid_hsm::Code;
use cycloid_hsm::rpc::{Client, Request, Role, Secret};
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
