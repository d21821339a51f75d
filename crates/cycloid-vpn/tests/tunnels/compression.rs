//! OpenVPN peers that compress: their packets are decompressed if `allow-compression asym` is set,
//! and otherwise there is one clear message. This end never compresses.

use crate::test_bed::{INNER, LIMIT, Running, Settings, TestBed, Who};

/// Pings with a payload that compresses well. Returns the number of replies to five.
fn ping(bed: &TestBed) -> u32 {
    let mut command = bed.command(true);
    command.args(["ping", "-W", "2", "-i", "0.1", "-c", "5", "-s", "1000", "-p", "00", INNER]);
    let text = String::from_utf8(command.output().expect("ping starts").stdout).expect("text");
    let received = text.split(" received").next().and_then(|text| text.rsplit(' ').next());
    received.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Asserts that compressible pings pass, with retries for a loaded machine.
fn assert_passes(bed: &TestBed, what: &str, ends: [&Running; 2]) {
    let [server, client] = ends;
    assert!(
        (0..3).any(|_| ping(bed) == 5),
        "{what}\n--- server\n{}\n--- client\n{}",
        server.text(),
        client.text()
    );
}

/// The lines of a Cycloid end and of an OpenVPN end, for the role of the OpenVPN end.
fn settings(own: &str, peer: &str, peer_is_server: bool) -> Settings {
    let (own, peer) = (own.to_owned(), format!("{peer}\nallow-compression yes"));
    let (server, client) = if peer_is_server { (peer, own) } else { (own, peer) };
    Settings { server, client, ..Settings::default() }
}

/// Returns the server's program and the client's.
fn programs(peer_is_server: bool) -> (Who, Who) {
    match peer_is_server {
        true => (Who::OpenVpn, Who::Cycloid),
        false => (Who::Cycloid, Who::OpenVpn),
    }
}

#[test]
fn packets_of_a_peer_that_compresses_are_decompressed() {
    let bed = TestBed::new();
    for peer_is_server in [true, false] {
        let (server, client) = programs(peer_is_server);
        for line in ["comp-lzo yes", "compress lzo", "compress lz4", "compress lz4-v2"] {
            let own = format!("{line}\nallow-compression asym");
            let settings = settings(&own, line, peer_is_server);
            let gate = bed.start(server, true, &settings);
            let alice = bed.start(client, false, &settings);
            assert_passes(&bed, &format!("{line}, {server:?}"), [&gate, &alice]);
        }
    }
}

/// The same peers do compress: without permission their packets are dropped, with one warning.
#[test]
fn a_peer_that_compresses_without_permission_is_reported_once() {
    let bed = TestBed::new();
    for peer_is_server in [true, false] {
        let (server, client) = programs(peer_is_server);
        let settings = settings("compress lz4-v2", "compress lz4-v2", peer_is_server);
        let mut gate = bed.start(server, true, &settings);
        let mut alice = bed.start(client, false, &settings);
        assert_eq!(ping(&bed), 0);
        let own = if peer_is_server { &mut alice } else { &mut gate };
        let warning = "the peer compresses packets, which are dropped";
        own.wait_for(warning, 1, LIMIT);
        assert_eq!(ping(&bed), 0);
        assert_eq!(own.count(warning), 1, "{}", own.text());
    }
}

#[test]
fn a_server_that_pushes_compression_is_used_only_with_permission() {
    let bed = TestBed::new();
    for line in ["compress lz4", "compress lz4-v2", "comp-lzo yes"] {
        let server = format!("{line}\nallow-compression yes\npush \"{line}\"");
        let refused = Settings { server: server.clone(), ..Settings::default() };
        let gate = bed.start(Who::OpenVpn, true, &refused);
        let mut alice = bed.launch(Who::Cycloid, false, &refused);
        alice.wait_for_end();
        let text = alice.text();
        assert!(
            text.contains("the server compresses packets, and allow-compression asym"),
            "{text}"
        );
        assert!(text.contains("turn compression off at the server"), "{text}");

        let client = "allow-compression asym".to_owned();
        let alice = bed.start(Who::Cycloid, false, &Settings { client, ..refused });
        assert_passes(&bed, line, [&gate, &alice]);
    }
}
