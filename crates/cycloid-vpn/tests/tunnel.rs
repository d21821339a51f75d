//! Tests two data paths with fixed keys in two network namespaces: all traffic passes in both
//! directions, over IPv4 and IPv6.
//!
//! Needs root, iproute2, ping and iperf3.

#[allow(dead_code, reason = "each test program uses a part of the module")]
mod namespaces;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{Context, Digest, SHA256};
use namespaces::{INNER, INNER6, Namespaces, Tunnel};

/// Transfers this many MiB over TCP from one side to the other. Returns the digests of the sent and
/// received data.
fn transfer(
    namespaces: &Namespaces,
    from: usize,
    address: &'static str,
    mebibytes: u32,
) -> [Digest; 2] {
    let listener = namespaces.run(1 - from, move || TcpListener::bind((address, 0)).unwrap());
    let port = listener.local_addr().unwrap().port();
    let sender = namespaces.spawn(from, move || {
        let mut stream = TcpStream::connect((address, port)).unwrap();
        let (mut hash, mut state) = (Context::new(&SHA256), 1_u64);
        let mut block = vec![0; 1 << 20];
        for _ in 0..mebibytes {
            for word in block.chunks_exact_mut(8) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                word.copy_from_slice(&state.to_be_bytes());
            }
            hash.update(&block);
            stream.write_all(&block).unwrap();
        }
        hash.finish()
    });
    let (mut stream, _) = listener.accept().unwrap();
    let (mut hash, mut block) = (Context::new(&SHA256), vec![0; 1 << 16]);
    loop {
        match stream.read(&mut block).unwrap() {
            0 => break,
            read => hash.update(&block[..read]),
        }
    }
    [sender.join().unwrap(), hash.finish()]
}

/// Sends pings, transfers and floods through a tunnel.
fn everything_passes(stream: bool) {
    let namespaces = Namespaces::new();
    let tunnel = Tunnel::new(&namespaces, stream, 1400);
    for side in [0, 1] {
        for address in [INNER[1 - side], INNER6[1 - side]] {
            namespaces.check(side, &format!("ping -c 2 -i 0.01 -W 2 {address}"));
            // The longest packet that fits the MTU, and one that is fragmented.
            namespaces.check(side, &format!("ping -c 2 -i 0.01 -W 2 -s 1352 {address}"));
            namespaces.check(side, &format!("ping -c 2 -i 0.01 -W 2 -s 9000 {address}"));
        }
    }
    // The kernel may send packets as soon as the device is up, before keys are installed.
    let keyless = tunnel.ends.each_ref().map(|(handle, _)| handle.dropped().keyless);
    for (from, address) in [(1, INNER[0]), (0, INNER[1]), (1, INNER6[0]), (0, INNER6[1])] {
        let [sent, received] = transfer(&namespaces, from, address, 100);
        assert_eq!(sent.as_ref(), received.as_ref(), "from {from} to {address}");
    }

    let server = "timeout 60 iperf3 -s -1 -p 5300";
    let mut server = namespaces.command(0, server).stdout(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !namespaces.check(0, "ss -Hltn sport = 5300").contains("5300") {
        assert!(Instant::now() < end, "iperf3 does not listen");
        std::thread::sleep(Duration::from_millis(10));
    }
    // The window is the unprivileged maximum, twice 208 KiB; about all of it fits.
    let flood = "timeout 60 iperf3 -u -b 2M -t 1 -l 1300 -w 416K -J -p 5300 -c";
    let report = namespaces.check(1, &format!("{flood} {}", INNER[0]));
    assert!(server.wait().unwrap().success());
    let lost = report.split("\"lost_percent\":").last().unwrap().split([',', '\n']).next().unwrap();
    assert!(lost.trim().parse::<f64>().unwrap() < 20.0, "{report}");

    let [server, client] =
        tunnel.ends.map(|(handle, _)| (handle.counters(1).unwrap(), handle.dropped()));
    for (((ours, drops), (theirs, _)), keyless) in
        [(server, client), (client, server)].into_iter().zip(keyless)
    {
        let mebibytes = ours.received_inner_bytes >> 20;
        assert!(mebibytes > 200, "{mebibytes}");
        assert!(ours.received_bytes > ours.received_inner_bytes);
        // The server's counters are read first, and the kernel may send packets meanwhile.
        assert!(theirs.sent_packets + 10 >= ours.received_packets);
        assert!(ours.received_ago.is_some());
        // Only the kernel's link-local packets have unassigned sources or destinations.
        let keyless = drops.keyless - keyless;
        assert_eq!([drops.unknown, keyless, drops.unwritten], [0; 3], "{drops:?}");
    }
}

#[test]
fn everything_passes_by_datagrams() {
    everything_passes(false);
}

#[test]
fn everything_passes_by_a_stream() {
    everything_passes(true);
}

#[test]
fn inner_tcp_segments_are_clamped_at_either_end() {
    let namespaces = Namespaces::new();
    let tunnel = Tunnel::new(&namespaces, false, 1500);
    for (end, largest) in [(0, 1300), (1, 1200)] {
        tunnel.ends[end].0.set_largest_tcp(1, Some(largest));
        for (address, headers) in [(INNER[0], 40), (INNER6[0], 60)] {
            let listener = namespaces.run(0, move || TcpListener::bind((address, 0)).unwrap());
            let port = listener.local_addr().unwrap().port();
            let stream = namespaces.run(1, move || TcpStream::connect((address, port)).unwrap());
            // TCP timestamps take twelve bytes of the limit.
            let mss = socket2::SockRef::from(&stream).tcp_mss().unwrap();
            assert_eq!(mss, u32::from(largest) - headers - 12);
        }
    }
}

#[test]
fn datagrams_beyond_the_path_mtu_are_fragmented() {
    let namespaces = Namespaces::new();
    // Datagrams of full packets exceed the path MTU of 1500, so they cannot be sent as trains.
    let tunnel = Tunnel::new(&namespaces, false, 1500);
    let [sent, received] = transfer(&namespaces, 1, INNER[0], 5);
    assert_eq!(sent.as_ref(), received.as_ref());
    for (handle, _) in &tunnel.ends {
        assert_eq!(handle.dropped().unsent, 0);
    }
}
