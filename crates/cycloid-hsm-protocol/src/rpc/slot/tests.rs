//! Both sides of a slot in one process.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;

fn pair() -> (DaemonSlot, ClientSlot, Memory) {
    let (file, daemon) = DaemonSlot::create().unwrap();
    let client = ClientSlot::new(&file).unwrap();
    (daemon, client, Memory::map(&file).unwrap())
}

fn message(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 + seed * 7 + 1) as u8).collect()
}

fn is_wiped(memory: &Memory) -> bool {
    let words = &memory.contents().message.0;
    words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
}

#[test]
fn a_request_and_its_answer_pass_and_are_wiped() {
    let (daemon, client, memory) = pair();
    daemon.watch(true);
    for length in [0, 1, 7, 8, 9, 100, MAX_LENGTH - 1, MAX_LENGTH] {
        let (request, response) = (message(length, 1), message(MAX_LENGTH - length, 2));
        assert!(client.ask(&request));
        assert_eq!(client.answer(&mut Vec::new()), None);
        let mut got = b"before".to_vec();
        assert!(daemon.take(&mut got));
        assert_eq!(got.split_off(6), request);
        assert!(is_wiped(&memory));
        assert!(!daemon.take(&mut got));
        assert!(!daemon.answer(Some(&response)));
        let mut got = Vec::new();
        assert_eq!(client.answer(&mut got), Some(Answer::Here));
        assert_eq!(got, response);
        assert!(is_wiped(&memory));
    }
}

#[test]
fn what_does_not_fit_goes_through_the_socket() {
    let (daemon, client, memory) = pair();
    assert!(!client.ask(&[1]), "nobody looks");
    daemon.watch(true);
    assert!(!client.ask(&[1; MAX_LENGTH + 1]));
    assert!(!daemon.is_asked() && is_wiped(&memory));
    for answer in [Some(&[1; MAX_LENGTH + 1][..]), None] {
        assert!(client.ask(&[1]));
        assert!(daemon.take(&mut Vec::new()));
        daemon.answer(answer);
        assert_eq!(client.answer(&mut Vec::new()), Some(Answer::InSocket));
    }
    assert!(client.ask(&[1]));
    drop(daemon);
    assert_eq!(client.answer(&mut Vec::new()), Some(Answer::InSocket));
    assert!(!client.ask(&[1]), "the daemon is gone");
}

#[test]
fn an_answer_outlives_the_connection() {
    let (daemon, client, _memory) = pair();
    daemon.watch(true);
    assert!(client.ask(&[1]));
    assert!(daemon.take(&mut Vec::new()));
    daemon.answer(Some(&[2, 3]));
    drop(daemon);
    let mut answer = Vec::new();
    assert_eq!(client.answer(&mut answer), Some(Answer::Here));
    assert_eq!(answer, [2, 3]);
    assert!(!client.ask(&[1]));
}

/// The daemon looks away between a client's two looks at whether it does: before or after the
/// request is there.
#[test]
fn a_request_is_taken_back_if_the_daemon_looked_away() {
    let (daemon, client, memory) = pair();
    for looks_last in [false, true] {
        daemon.watch(true);
        daemon.watch(false);
        assert!(!daemon.take(&mut Vec::new()));
        client.offer(&[1, 2, 3]);
        let mut request = Vec::new();
        if looks_last {
            assert!(daemon.take(&mut request));
            assert_eq!(request, [1, 2, 3]);
        }
        assert_eq!(client.is_accepted(), looks_last);
        assert!(is_wiped(&memory));
        if looks_last {
            daemon.answer(Some(&[4]));
            assert_eq!(client.answer(&mut Vec::new()), Some(Answer::Here));
        }
        assert!(!daemon.take(&mut request));
    }
}

/// A daemon that sleeps whenever it finds nothing, and is woken through a channel, which stands for
/// the socket. A request that neither way delivers is missed here. One request of fifty meets a
/// daemon that looks until it finds it, and one a daemon that is asleep; the others meet either.
#[test]
fn no_request_is_lost_while_the_daemon_falls_asleep() {
    const REQUESTS: usize = 3000;
    const LOOKS: usize = 49;
    const SLEEPS: usize = 25;
    let (daemon, client, _memory) = pair();
    let (to_daemon, socket) = mpsc::channel::<Vec<u8>>();
    let (to_client, answers) = mpsc::channel::<Vec<u8>>();
    let (falls_asleep, asleep) = mpsc::channel();
    let patience = Duration::from_secs(30);
    let (mut in_slot, mut in_socket) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..REQUESTS {
                let mut request = Vec::new();
                let looks = number % 50;
                let mut found = (0..looks).any(|_| daemon.take(&mut request));
                while looks == LOOKS && !found {
                    thread::yield_now();
                    found = daemon.take(&mut request);
                }
                if !found {
                    daemon.watch(false);
                    if looks == SLEEPS {
                        falls_asleep.send(()).unwrap();
                    }
                    if !daemon.take(&mut request) {
                        let request = socket.recv_timeout(patience).expect("a request was lost");
                        daemon.watch(true);
                        to_client.send(request).unwrap();
                        continue;
                    }
                    daemon.watch(true);
                }
                if daemon.answer(Some(&request)) {
                    daemon.wake();
                }
            }
        });
        for number in 0..REQUESTS {
            let request = message(number % 64, number);
            let mut got = Vec::new();
            if number % 50 == SLEEPS {
                asleep.recv_timeout(patience).expect("the daemon found what nobody asked");
            }
            if client.ask(&request) {
                in_slot += 1;
                while client.answer(&mut got).is_none() {
                    client.sleep();
                }
            } else {
                in_socket += 1;
                to_daemon.send(request.clone()).unwrap();
                got = answers.recv_timeout(patience).expect("an answer was lost");
            }
            assert_eq!(got, request);
        }
    });
    let least = REQUESTS / 50;
    assert!(in_slot >= least && in_socket >= least, "{in_slot} {in_socket}");
}

/// Clients asleep are woken, alone and together.
#[test]
fn sleeping_clients_are_woken() {
    let pairs: Vec<_> = (0..4).map(|_| pair()).collect();
    pairs.iter().for_each(|(daemon, ..)| daemon.watch(true));
    thread::scope(|scope| {
        for (i, (_, client, _)) in pairs.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..200 {
                    assert!(client.ask(&message(8, i + round)));
                    let mut got = Vec::new();
                    while client.answer(&mut got).is_none() {
                        client.sleep();
                    }
                    assert_eq!(got, message(8, i + round));
                }
            });
        }
        for _ in 0..200 {
            for (daemon, ..) in &pairs {
                let mut request = Vec::new();
                while !daemon.take(&mut request) {
                    thread::yield_now();
                }
                daemon.answer(Some(&request));
            }
            DaemonSlot::wake_all(pairs[1..].iter().map(|(daemon, ..)| daemon));
            pairs[0].0.wake();
        }
    });
}

/// The other process writes anything at any time.
#[test]
fn no_contents_harm_either_side() {
    let (daemon, client, memory) = pair();
    let contents = memory.contents();
    let numbers = [0, 1, 2, 3, 4, 5, 255, MAX_LENGTH as u32, 2049, 1 << 20, 1 << 31, u32::MAX];
    for state in numbers {
        for length in numbers {
            let set = || {
                contents.state().store(state, Ordering::SeqCst);
                contents.length.0.store(length, Ordering::SeqCst);
                contents.asleep.0.store(length, Ordering::SeqCst);
            };
            set();
            let mut request = Vec::new();
            if daemon.take(&mut request) {
                assert_eq!(state, ASKED);
                let expected = if length as usize <= MAX_LENGTH { length as usize } else { 0 };
                assert_eq!(request.len(), expected);
                set();
                assert!(!daemon.take(&mut request), "one request at a time");
                daemon.answer(Some(&[1, 2, 3]));
            }
            daemon.wake();
            DaemonSlot::wake_all([&daemon; 3]);
            set();
            let mut answer = Vec::new();
            let took = client.answer(&mut answer);
            assert!(answer.len() <= MAX_LENGTH);
            if state == ANSWERED && length as usize > MAX_LENGTH {
                assert_eq!(took, Some(Answer::Unreadable));
            }
        }
    }
}

/// A request that changes while it is taken is still one request, copied once.
#[test]
fn a_request_that_changes_meanwhile_is_copied_once() {
    let (daemon, _client, memory) = pair();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let contents = memory.contents();
            for number in 0_u32.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                contents.length.0.store(number.wrapping_mul(2_654_435_761), Ordering::Relaxed);
                contents.message.0[number as usize % WORDS].store(number.into(), Ordering::Relaxed);
                contents.length.0.store(number % 3000, Ordering::Relaxed);
                contents.state().store(number % 6, Ordering::SeqCst);
                if number % 61 == 0 {
                    thread::yield_now();
                }
            }
        });
        let mut taken = 0;
        while taken < 500 {
            thread::yield_now();
            let mut request = Vec::new();
            if daemon.take(&mut request) {
                taken += 1;
                assert!(request.len() <= MAX_LENGTH);
                assert!(!daemon.take(&mut request));
                daemon.answer(Some(&request));
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}
