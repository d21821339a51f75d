//! A flood of first packets neither breaks established tunnels nor grows the server's memory, and
//! idle connections lock no client out.

use std::fs;
use std::io::Read;
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use crate::test_bed::{ALL, INNER, LIMIT, Protection, SERVER, Settings, TestBed, Who};

/// The packets per second, and the duration in seconds.
const RATE: u32 = 10_000;
const SECONDS: u32 = 5;

/// The largest backlog that the flood still sends at once.
const MOST_BEHIND: Duration = Duration::from_millis(20);

/// Returns the resident memory of a process, in KiB.
fn resident(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Sends first packets, each of a new session, from many ports. Returns the number sent.
fn flood() -> u32 {
    let sockets: Vec<UdpSocket> = (0..200)
        .map(|_| {
            let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
            socket.connect((SERVER, 1194)).expect("an address");
            socket.set_nonblocking(true).expect("it never waits");
            socket
        })
        .collect();
    let mut start = Instant::now();
    let mut sent = 0;
    for number in 0..RATE * SECONDS {
        let due = Duration::from_secs(1) * number / RATE;
        let elapsed = start.elapsed();
        if let Some(early) = due.checked_sub(elapsed) {
            std::thread::sleep(early);
        } else if elapsed > due + MOST_BEHIND {
            // A longer backlog, from a time when this thread did not run, is dropped.
            start += elapsed - due;
        }
        // A client's hard reset: opcode, session, no acknowledgements, message 0.
        let mut packet = [0; 14];
        packet[0] = 7 << 3;
        packet[1..5].copy_from_slice(&number.to_be_bytes());
        packet[5] = 1;
        let socket = &sockets[number as usize % sockets.len()];
        sent += u32::from(socket.send(&packet).is_ok());
        let _ = socket.recv(&mut [0; 100]);
    }
    sent
}

#[test]
fn tunnels_survive_a_flood_of_first_packets() {
    for protection in [Protection::None, Protection::TlsCrypt] {
        let bed = TestBed::new();
        let settings = Settings { protection, ..Settings::default() };
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        let mut alice = bed.start(ALL[0].1, false, &settings);
        bed.assert_reaches("before the flood", [&mut gate, &mut alice]);
        let before = resident(gate.id());
        let flooding = bed.within(true, flood);
        // The pings last as long as the flood.
        let returned = bed.ping(INNER, 10 * SECONDS, "0.1");
        let sent = flooding.join().expect("it ends");
        assert!(sent > RATE * SECONDS / 2, "{sent} of {}", RATE * SECONDS);
        assert!(returned >= 10 * SECONDS - 1, "{returned} pings returned");
        let grown = resident(gate.id()).saturating_sub(before);
        assert!(grown < 2048, "the server grew by {grown} KiB");
        assert_eq!(gate.text().matches("connected, with").count(), 1, "{}", gate.text());
    }
}

#[test]
fn idle_tcp_connections_lock_no_client_out() {
    let bed = TestBed::new();
    let settings = Settings { tcp: true, server: "max-clients 5".into(), ..Settings::default() };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let mut attacker = bed
        .within(true, || -> Vec<TcpStream> {
            (0..400).map(|_| TcpStream::connect((SERVER, 1194)).expect("a connection")).collect()
        })
        .join()
        .expect("it connects");
    // The server closes the attacker's oldest connections.
    for stream in &mut attacker[..100] {
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    }
    let mut alice = bed.start(ALL[0].1, false, &settings);
    bed.assert_reaches("beside idle connections", [&mut gate, &mut alice]);
    // Its tunnel stays although more connections follow.
    let more = bed.within(true, || -> Vec<TcpStream> {
        (0..400).map(|_| TcpStream::connect((SERVER, 1194)).expect("a connection")).collect()
    });
    let more = more.join().expect("it connects");
    bed.assert_reaches("beside more idle connections", [&mut gate, &mut alice]);
    assert_eq!(gate.count("connected, with"), 1, "{}\n{}", gate.text(), alice.text());
    drop((attacker, more));
}
