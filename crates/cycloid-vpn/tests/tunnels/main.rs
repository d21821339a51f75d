//! Whole tunnels in network namespaces: between `cycloid` and real OpenVPN, and between two
//! `cycloid`.

mod compression;
mod dco;
mod drain;
mod dropped_privileges;
mod flood;
mod fragment;
#[cfg(feature = "pkcs11")]
mod hsm;
mod nat;
mod openvpn_2_7;
mod outages;
mod p2p;
#[cfg(feature = "pkcs11")]
mod pkcs11;
mod port_share;
mod post_quantum;
mod proxies;
mod push_update;
mod questions;
mod refusals;
mod relay;
mod revocation;
mod roaming;
mod service;
mod static_key;
mod tap;
mod test_bed;
mod users;
mod vlan;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use test_bed::{
    ALL, INNER, INNER6, LIMIT, Protection, Running, SERVER6, Settings, TestBed, UP, WITH_OPENVPN,
    Who,
};

#[test]
fn every_protection_over_udp_and_tcp() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        for tcp in [false, true] {
            for protection in [
                Protection::None,
                Protection::TlsAuth,
                Protection::TlsCrypt,
                Protection::TlsCryptV2,
            ] {
                let settings = Settings { tcp, protection, ..Settings::default() };
                meet(&bed, server, client, &settings);
            }
        }
    }
}

#[test]
fn every_cipher_and_version_of_tls() {
    let bed = TestBed::new();
    for (server, client) in WITH_OPENVPN {
        for cipher in ["AES-256-GCM", "AES-128-GCM", "CHACHA20-POLY1305", "AES-256-CBC"] {
            for version in ["1.2", "1.3"] {
                let both = format!("tls-version-min {version}\ntls-version-max {version}");
                let settings = Settings { cipher, both, ..Settings::default() };
                meet(&bed, server, client, &settings);
            }
        }
    }
}

/// The same over IPv6: keys are renewed, and the client comes back after the server was killed.
#[test]
fn over_ipv6_keys_are_renewed_and_a_killed_server_is_found_again() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        for (tcp, protection, cipher) in [
            (false, Protection::TlsCrypt, "AES-256-GCM"),
            (false, Protection::TlsAuth, "AES-256-CBC"),
            (true, Protection::TlsCryptV2, "CHACHA20-POLY1305"),
        ] {
            let settings = Settings {
                tcp,
                protection,
                cipher,
                remote: SERVER6,
                both: "reneg-sec 2".into(),
                ..Settings::default()
            };
            let what = format!("{server:?} and {client:?}, {settings:?}");
            let mut gate = bed.start(server, true, &settings);
            let mut alice = bed.start(client, false, &settings);
            bed.assert_reaches(&what, [&mut gate, &mut alice]);
            let [own, other] =
                if server == Who::Cycloid { [&gate, &alice] } else { [&alice, &gate] };
            let end = Instant::now() + LIMIT;
            while own.renewals() < 1 {
                assert!(Instant::now() < end, "{what}\n{}\n{}", own.text(), other.text());
                std::thread::sleep(Duration::from_millis(50));
            }
            drop(gate);
            let mut gate = bed.start(server, true, &settings);
            alice.wait_for(UP, 2, LIMIT);
            bed.assert_reaches(&what, [&mut gate, &mut alice]);
        }
    }
}

/// Asserts that both ends come up, reach each other, and end.
fn meet(bed: &TestBed, server: Who, client: Who, settings: &Settings) {
    let mut gate = bed.start(server, true, settings);
    let mut alice = bed.start(client, false, settings);
    let what = format!("{server:?} and {client:?}, {settings:?}");
    bed.assert_reaches(&what, [&mut gate, &mut alice]);
    alice.end("TERM");
    gate.end("TERM");
}

#[test]
fn keys_are_renewed_under_traffic_and_no_packet_is_lost() {
    let bed = TestBed::new();
    for (server, client) in WITH_OPENVPN {
        for (tcp, protection, cipher) in [
            (false, Protection::TlsCrypt, "AES-256-GCM"),
            (true, Protection::TlsCryptV2, "CHACHA20-POLY1305"),
            (false, Protection::TlsAuth, "AES-256-CBC"),
        ] {
            let both = "reneg-sec 3".into();
            let settings = Settings { tcp, protection, cipher, both, ..Settings::default() };
            let gate = bed.start(server, true, &settings);
            let alice = bed.start(client, false, &settings);
            let what = format!("{server:?} and {client:?}, {settings:?}");
            bed.assert_loses_nothing_in_renewals(&what, [&gate, &alice]);
        }
    }
}

#[test]
fn a_hundred_mebibytes_arrive_as_they_were_sent() {
    const LENGTH: u64 = 100 << 20;
    let bed = TestBed::new();
    for (server, client) in ALL {
        for tcp in [false, true] {
            let settings = Settings { tcp, ..Settings::default() };
            let _gate = bed.start(server, true, &settings);
            let _alice = bed.start(client, false, &settings);
            for inner in [INNER, INNER6] {
                let listener = bed
                    .within(false, move || TcpListener::bind((inner, 7000)).expect("a port"))
                    .join()
                    .expect("it listens");
                let sender = bed.within(true, move || {
                    let mut stream = TcpStream::connect((inner, 7000)).expect("a connection");
                    let mut hash = Hash::new();
                    let mut left = LENGTH;
                    let mut block = vec![0; 64 << 10];
                    while left > 0 {
                        for byte in &mut block {
                            *byte = hash.random();
                        }
                        let length = block.len().min(left as usize);
                        stream.write_all(&block[..length]).expect("it is taken");
                        hash.add(&block[..length]);
                        left -= length as u64;
                    }
                    hash.sum
                });
                let (mut stream, _) = listener.accept().expect("a connection");
                let (mut hash, mut length) = (Hash::new(), 0);
                let mut block = vec![0; 64 << 10];
                loop {
                    let read = stream.read(&mut block).expect("bytes");
                    if read == 0 {
                        break;
                    }
                    hash.add(&block[..read]);
                    length += read as u64;
                }
                let sent = sender.join().expect("it sends");
                assert_eq!((length, hash.sum), (LENGTH, sent), "{server:?}, {client:?}, {tcp}");
            }
        }
    }
}

/// A checksum (FNV-1a) and a generator of pseudorandom bytes.
struct Hash {
    state: u64,
    sum: u64,
}

impl Hash {
    fn new() -> Self {
        Self { state: 1, sum: 0xcbf2_9ce4_8422_2325 }
    }

    fn random(&mut self) -> u8 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.state >> 56) as u8
    }

    /// Adds bytes to the FNV-1a checksum.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.sum = (self.sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

#[test]
fn a_client_reconnects_after_its_server_died() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        for tcp in [false, true] {
            let settings = Settings { tcp, ..Settings::default() };
            let gate = bed.start(server, true, &settings);
            let mut alice = bed.start(client, false, &settings);
            drop(gate);
            let mut gate = bed.start(server, true, &settings);
            alice.wait_for("Initialization Sequence Completed", 2, LIMIT);
            let what = format!("{server:?} and {client:?} once more, TCP {tcp}");
            bed.assert_reaches(&what, [&mut gate, &mut alice]);
        }
    }
}

#[test]
fn a_server_evicts_a_dead_client_and_accepts_it_again() {
    let bed = TestBed::new();
    let settings = Settings::default();
    for client in [Who::OpenVpn, Who::Cycloid] {
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        let alice = bed.start(client, false, &settings);
        drop(alice);
        gate.wait_for("disconnected: ", 1, LIMIT);
        let mut alice = bed.start(client, false, &settings);
        bed.assert_reaches("a client that comes again", [&mut gate, &mut alice]);
    }
}

#[test]
fn a_hundred_clients_at_one_server() {
    let bed = TestBed::new();
    let status = bed.file("status");
    let settings = Settings {
        protection: Protection::TlsCryptV2,
        // A long keepalive: no client times out while the server is busy with the others.
        server: format!(
            "keepalive 10 120\nduplicate-cn\nstatus {} 1\nstatus-version 2",
            status.display()
        ),
        client: "dev null\nifconfig-noexec\nroute-noexec".into(),
        ..Settings::default()
    };
    let _gate = bed.start(Who::Cycloid, true, &settings);
    let file = bed.configure(false, &settings);
    let mut clients: Vec<Running> = (0..100)
        .map(|number| {
            let mut command = bed.command(true);
            command.args(["openvpn", "--config"]).arg(&file);
            Running::start(command, bed.file(&format!("client-{number}.log")))
        })
        .collect();
    for client in &mut clients {
        client.wait_for("Initialization Sequence Completed", 1, LIMIT);
    }
    let is_client = |line: &&str| line.starts_with("CLIENT_LIST,");
    let text =
        test_bed::wait_for_file(&status, |text| text.lines().filter(is_client).count() >= 100);
    let lines: Vec<&str> = text.lines().filter(is_client).collect();
    assert_eq!(lines.len(), 100, "{text}");
    let mut inner: Vec<&str> = lines.iter().filter_map(|line| line.split(',').nth(3)).collect();
    inner.sort_unstable();
    inner.dedup();
    assert_eq!(inner.len(), 100, "each has its own address");
}

#[test]
fn a_client_undoes_its_changes_to_routes() {
    let bed = TestBed::new();
    let settings = Settings {
        server: "push \"redirect-gateway def1\"\npush \"route 192.0.2.0 255.255.255.0\"".into(),
        ..Settings::default()
    };
    let routes = |bed: &TestBed| {
        let output = bed.command(true).args(["ip", "route"]).output().expect("ip");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let before = routes(&bed);
    let _gate = bed.start(Who::OpenVpn, true, &settings);
    let alice = bed.start(Who::Cycloid, false, &settings);
    let during = routes(&bed);
    for route in ["0.0.0.0/1", "128.0.0.0/1", "192.0.2.0/24"] {
        assert!(during.contains(route), "{during}");
    }
    alice.end("TERM");
    assert_eq!(routes(&bed), before);
    // The next start undoes the changes of a killed client.
    drop(bed.start(Who::Cycloid, false, &settings));
    let alice = bed.start(Who::Cycloid, false, &settings);
    alice.end("INT");
    assert_eq!(routes(&bed), before);
}

#[test]
fn a_wrong_certificate_is_refused_at_both_ends() {
    let (bed, other) = (TestBed::new(), TestBed::new());
    let settings = Settings { protection: Protection::None, ..Settings::default() };
    for kind in ["cert", "key"] {
        std::fs::copy(other.file(&format!("alice.{kind}")), bed.file(&format!("alice.{kind}")))
            .expect("a file");
    }
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let mut alice = bed.launch(Who::Cycloid, false, &settings);
    alice.wait_for("connection has ended", 1, LIMIT);
    assert!(!alice.text().contains("Initialization Sequence Completed"), "{}", alice.text());
    assert_eq!(bed.ping(INNER, 1, "0.2"), 0);
    drop(alice);
    // The server still runs.
    gate.signal("USR2");
    gate.wait_for("CLIENT LIST", 1, LIMIT);
}
