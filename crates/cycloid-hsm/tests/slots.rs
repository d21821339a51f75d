//! Requests through slots, the memory that the daemon and a client on its machine share.

mod support;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cycloid_hsm::Code;
use cycloid_hsm::rpc::{Client, Request, Response, VERSION, frame};
use support::Daemon;

/// Makes requests until the client has a slot.
fn use_slot(client: &Client) {
    for _ in 0..16 {
        client.call(&Request::Token {}).unwrap();
    }
}

/// Returns the number of slots that this process, which is daemon and clients, has mapped.
fn mapped() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains("memfd:cycloid-hsm")).count()
}

fn random(client: &Client, length: u32) -> usize {
    match client.call(&Request::Random { length }).unwrap() {
        Response::Data { data } => data.len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_client_has_its_own_answers_of_any_length() {
    let daemon = Daemon::start();
    thread::scope(|scope| {
        for number in 0..6 {
            let client = daemon.client();
            scope.spawn(move || {
                use_slot(&client);
                for round in 0..400 {
                    // Some answers do not fit into a slot, and some requests do not.
                    let length = (number * 997 + round * 61) % 5000 + 1;
                    assert_eq!(random(&client, length), length as usize);
                    let name = "x".repeat(length as usize);
                    let request = Request::Hello { version: VERSION, name };
                    let refused = client.call(&request).unwrap_err();
                    assert_eq!(refused.code, Code::ARGUMENTS_BAD);
                }
                // The client's and the daemon's mapping; other tests may have some, too.
                assert!(mapped() >= 2);
            });
        }
    });
}

#[test]
fn a_client_at_rest_is_served_again() {
    let daemon = Daemon::start();
    let (client, other) = (daemon.client(), daemon.client());
    for pause in [0, 1, 5, 50, 0, 200] {
        use_slot(&client);
        // Meanwhile the daemon serves others, so it never sleeps, or it sleeps.
        let end = Instant::now() + Duration::from_millis(pause);
        while Instant::now() < end && pause != 50 {
            random(&other, 1);
        }
        thread::sleep(Duration::from_millis(if pause == 50 { 50 } else { 0 }));
        assert_eq!(random(&client, 3000), 3000);
    }
}

/// Clients with slots that are never idle do not keep a new one waiting.
#[test]
fn slots_do_not_keep_sockets_waiting() {
    let daemon = Daemon::start();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            let (client, stop) = (daemon.client(), &stop);
            scope.spawn(move || {
                use_slot(&client);
                while !stop.load(Ordering::SeqCst) {
                    random(&client, 8);
                }
            });
        }
        for _ in 0..20 {
            assert_eq!(random(&daemon.client(), 16), 16);
        }
        stop.store(true, Ordering::SeqCst);
    });
}

#[test]
fn a_client_with_a_slot_learns_that_the_daemon_has_stopped() {
    let Daemon { server, socket, directory } = Daemon::start();
    let clients: Vec<_> = (0..3).map(|_| Client::connect(&socket, "test").unwrap()).collect();
    clients.iter().for_each(use_slot);
    let waits = thread::scope(|scope| {
        let waiting: Vec<_> = clients
            .iter()
            .map(|client| {
                scope.spawn(|| {
                    loop {
                        if let Err(error) = client.call(&Request::Random { length: 8 }) {
                            return error.code;
                        }
                    }
                })
            })
            .collect();
        thread::sleep(Duration::from_millis(20));
        server.stop();
        waiting.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(waits, [Code::DEVICE_REMOVED; 3]);
    drop(directory);
}

/// Sends a request by hand, and returns the answer.
fn ask(stream: &mut UnixStream, request: &Request) -> Response {
    let mut bytes = Vec::new();
    frame::write(7, &mut bytes, |to| request.write(to));
    stream.write_all(&bytes).unwrap();
    bytes.clear();
    loop {
        if let Some(frame) = frame::read(&bytes).unwrap() {
            return Response::read(frame.message).unwrap();
        }
        let mut more = [0; 512];
        let count = stream.read(&mut more).unwrap();
        assert!(count > 0, "the daemon hung up");
        bytes.extend_from_slice(&more[..count]);
    }
}

#[test]
fn a_slot_is_for_a_known_application_and_there_is_one() {
    let daemon = Daemon::start();
    let mut stream = UnixStream::connect(&daemon.socket).unwrap();
    let code = |answer| match answer {
        Response::Refused { code, .. } => Code(code),
        Response::Done {} => Code(0),
        other => panic!("{other:?}"),
    };
    assert_eq!(code(ask(&mut stream, &Request::Share {})), Code::ARGUMENTS_BAD);
    let hello = Request::Hello { version: VERSION, name: "test".into() };
    assert!(matches!(ask(&mut stream, &hello), Response::Welcome { .. }));
    assert_eq!(code(ask(&mut stream, &Request::Share {})), Code(0));
    assert_eq!(code(ask(&mut stream, &Request::Share {})), Code::DEVICE_MEMORY);
    // Nobody needs to use it.
    assert!(matches!(ask(&mut stream, &Request::Token {}), Response::Token { .. }));
}
