//! `fragment`, with OpenVPN at either end: long packets over a path for short ones.

use crate::relay::{INSIDE, Relay};
use crate::test_bed::{ALL, INNER, Running, Settings, TestBed};

/// The longest datagram, and the longest packet on the path: with headers of IP and UDP.
const LARGEST: &str = "600";
const PATH: usize = 600 + 28;

/// Pings with long packets. Returns the number of replies to five.
fn ping(bed: &TestBed, bytes: &str) -> u32 {
    let mut command = bed.command(true);
    command.args(["ping", "-W", "2", "-i", "0.1", "-c", "5", "-s", bytes, INNER]);
    let text = String::from_utf8(command.output().expect("ping starts").stdout).expect("text");
    let received = text.split(" received").next().and_then(|text| text.rsplit(' ').next());
    received.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Asserts that packets of these lengths pass, with retries for a loaded machine.
fn assert_passes(bed: &TestBed, what: &str, ends: [&Running; 2]) {
    let [server, client] = ends;
    for bytes in ["40", "700", "1400"] {
        assert!(
            (0..3).any(|_| ping(bed, bytes) == 5),
            "{bytes} bytes, {what}\n--- server\n{}\n--- client\n{}",
            server.text(),
            client.text()
        );
    }
}

#[test]
fn long_packets_pass_a_path_for_short_ones() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        for more in ["", "cipher AES-256-CBC\ndata-ciphers AES-256-CBC", "comp-lzo no"] {
            let both = format!("fragment {LARGEST}\nmax-packet-size 500\n{more}");
            let settings = Settings { remote: INSIDE, both, ..Settings::default() };
            let relay = Relay::new(&bed);
            relay.limit_packets(PATH);
            let mut gate = bed.start(server, true, &settings);
            let mut alice = bed.start(client, false, &settings);
            let what = format!("{server:?} {client:?} {more:?}");
            bed.assert_reaches(&what, [&mut gate, &mut alice]);
            assert_passes(&bed, &what, [&gate, &alice]);
            // OpenVPN compares the options of both ends.
            for end in [&gate, &alice] {
                assert_eq!(end.count("mtu-dynamic"), 0, "{what}\n{}", end.text());
            }
        }
    }
}

/// The least size that OpenVPN takes.
#[test]
fn the_least_fragments_pass() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        let settings = Settings { both: "fragment 68".into(), ..Settings::default() };
        let gate = bed.start(server, true, &settings);
        let alice = bed.start(client, false, &settings);
        for bytes in ["40", "700"] {
            assert!(
                (0..3).any(|_| ping(&bed, bytes) == 5),
                "{bytes} bytes, {server:?} {client:?}\n{}\n--- client\n{}",
                gate.text(),
                alice.text()
            );
        }
    }
}
