//! A client with a full tunnel, or with the kill switch, finds its server again: after an outage, by
//! name, in another network.

use std::fs;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::test_bed::{LIMIT, Protection, Running, Settings, TestBed, UP, Who};

/// The server's address outside, behind a router, another one that it moves to, and the address of
/// the name server there.
const GATE: &str = "192.0.2.1";
const OTHER_GATE: &str = "192.0.2.2";
const NAMES: &str = "192.0.2.53";
const NAME: &str = "gate.example";

/// Binds the resolv.conf `$0`, and becomes the rest of the arguments.
const WITH_NAMES: &str = r#"mount --bind "$0" /etc/resolv.conf && exec "$@""#;

/// The client's way to the server, which another network replaces.
const HOME: &str = "10.99.0.2/24";
const AWAY: &str = "10.99.0.3/24";

/// As a DHCP client does, with a metric.
const DEFAULT: &str = "ip route add default via 10.99.0.1 dev veth metric 100";

fn run(bed: &TestBed, client: bool, line: &str) {
    let output = bed.command(client).args(line.split_whitespace()).output().expect("ip");
    assert!(output.status.success(), "{line}: {output:?}");
}

/// A server behind a router, whose address is in a name server there, and a client that redirects
/// everything into the tunnel.
fn far_away(client: &str, push: &str) -> (TestBed, Settings, Arc<AtomicU8>) {
    let bed = TestBed::new();
    for address in [GATE, OTHER_GATE, NAMES] {
        run(&bed, false, &format!("ip addr add {address}/32 dev lo"));
    }
    run(&bed, true, DEFAULT);
    let last = answer_names(&bed);
    fs::write(bed.file("resolv.conf"), format!("nameserver {NAMES}\n")).expect("a file");
    let settings = Settings {
        remote: NAME,
        server: format!("local {GATE}\npush \"redirect-gateway def1\"\n{push}"),
        client: format!("connect-retry 1 1\nserver-poll-timeout 4\n{client}"),
        protection: Protection::TlsCrypt,
        ..Settings::default()
    };
    (bed, settings, last)
}

/// Answers questions for addresses of IPv4 at the server's end, until the test ends. Returns the last
/// byte of the answers.
fn answer_names(bed: &TestBed) -> Arc<AtomicU8> {
    let last = Arc::new(AtomicU8::new(1));
    let byte = last.clone();
    let socket = bed.within(false, || UdpSocket::bind((NAMES, 53)).expect("a port"));
    let socket = socket.join().expect("a socket");
    std::thread::spawn(move || {
        let mut question = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut question) {
            let mut answer = question[..length].to_vec();
            let Some(end) = answer.iter().skip(12).position(|&byte| byte == 0) else { continue };
            // The name ends, then come type and class. Other records of the question go.
            answer.truncate(12 + end + 5);
            let is_ipv4 = answer[12 + end + 2] == 1;
            answer[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(is_ipv4), 0, 0, 0, 0]);
            if is_ipv4 {
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2]);
                answer.push(byte.load(Ordering::Relaxed));
            }
            let _ = socket.send_to(&answer, from);
        }
    });
    last
}

/// Starts the client with its own name server.
fn launch(bed: &TestBed, settings: &Settings) -> Running {
    let file = bed.configure(false, settings);
    let mut command = bed.command(true);
    command.args(["sh", "-c", WITH_NAMES]).arg(bed.file("resolv.conf"));
    command.args([env!("CARGO_BIN_EXE_cycloid-vpn"), "client"]).arg(&file);
    Running::start(command, file.with_extension("client.log"))
}

/// Moves the client into another network: its address goes, and with it all routes over it.
fn move_client(bed: &TestBed, from: &str, to: &str) {
    run(bed, true, &format!("ip addr del {from} dev veth"));
    run(bed, true, &format!("ip addr add {to} dev veth"));
    run(bed, true, DEFAULT);
}

fn routes(bed: &TestBed) -> String {
    let output = bed.command(true).args(["ip", "route"]).output().expect("ip");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_full_tunnel_comes_back_after_an_outage() {
    for client in ["persist-tun", ""] {
        let (bed, settings, _) = far_away(client, "push \"dhcp-option DNS 10.8.0.1\"");
        let before = routes(&bed);
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        let mut alice = launch(&bed, &settings);
        alice.wait_for(UP, 1, LIMIT);
        bed.assert_reaches("before the outage", [&mut gate, &mut alice]);
        drop(gate);
        alice.wait_for("connecting to", 3, LIMIT);
        // Meanwhile, only a client with `persist-tun` keeps its routes.
        assert_eq!(routes(&bed).contains("0.0.0.0/1 "), !client.is_empty(), "{}", alice.text());
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        alice.wait_for(UP, 2, LIMIT);
        bed.assert_reaches("after the outage", [&mut gate, &mut alice]);
        let log = alice.end("TERM");
        assert!(!log.contains("cannot"), "{log}");
        assert_eq!(routes(&bed), before, "{log}");
        let names = fs::read_to_string(bed.file("resolv.conf")).expect("a file");
        assert_eq!(names, format!("nameserver {NAMES}\n"), "{log}");
    }
}

#[test]
fn a_full_tunnel_comes_back_in_another_network() {
    for (client, flags) in [("persist-tun", "def1"), ("", "def1"), ("persist-tun", "")] {
        let (bed, mut settings, _) = far_away(client, "");
        settings.server = settings.server.replace("def1", flags);
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        let mut alice = launch(&bed, &settings);
        alice.wait_for(UP, 1, LIMIT);
        for (number, from, to) in [(2, HOME, AWAY), (3, AWAY, HOME)] {
            move_client(&bed, from, to);
            alice.signal("USR1");
            alice.wait_for(UP, number, LIMIT);
            let what = format!("{client} {flags} at {to}\n{}", routes(&bed));
            bed.assert_reaches(&what, [&mut gate, &mut alice]);
        }
        let log = alice.end("TERM");
        assert!(!log.contains("cannot"), "{log}");
        let after = routes(&bed);
        assert!(after.contains("default via 10.99.0.1 dev veth"), "{after}\n{log}");
        assert!(!after.contains(GATE) && !after.contains("0.0.0.0/1 "), "{after}\n{log}");
    }
}

#[test]
fn a_kill_switch_passes_the_known_addresses_of_a_name() {
    for client in ["kill-switch", "kill-switch\npersist-tun"] {
        let (bed, settings, _) = far_away(client, "");
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        let mut alice = launch(&bed, &settings);
        alice.wait_for(UP, 1, LIMIT);
        bed.assert_reaches("before the outage", [&mut gate, &mut alice]);
        drop(gate);
        alice.wait_for("connecting to", 2, LIMIT);
        // The name server is out of reach, and so is everything else.
        assert_eq!(bed.ping(NAMES, 1, "0.2"), 0, "{}", alice.text());
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        alice.wait_for(UP, 2, LIMIT);
        bed.assert_reaches("after the outage", [&mut gate, &mut alice]);
        alice.end("TERM");
        assert_eq!(bed.ping(NAMES, 1, "0.2"), 1);
    }
}

/// While the tunnel is up, a client learns the server's next address through it.
#[test]
fn a_server_is_found_at_an_address_that_its_name_got_meanwhile() {
    for client in ["persist-tun", "kill-switch"] {
        let (bed, settings, last) = far_away(&format!("{client}\nreneg-sec 3"), "");
        let gate = bed.start(Who::Cycloid, true, &settings);
        let mut alice = launch(&bed, &settings);
        alice.wait_for(UP, 1, LIMIT);
        last.store(2, Ordering::Relaxed);
        // Each new key is an occasion to look names up.
        let renewed = alice.renewals();
        alice.wait_for("a new key is in use", renewed + 3, LIMIT);
        drop(gate);
        let server = settings.server.replace(GATE, OTHER_GATE);
        let mut gate = bed.start(Who::Cycloid, true, &Settings { server, ..settings });
        alice.wait_for(UP, 2, LIMIT);
        assert!(alice.text().contains(&format!("connecting to {OTHER_GATE}:")), "{client}");
        bed.assert_reaches(client, [&mut gate, &mut alice]);
        alice.end("TERM");
    }
}

#[test]
fn a_kill_switch_without_any_address_is_refused() {
    let (bed, settings, _) = far_away("kill-switch", "");
    // This machine answers for no name.
    fs::write(bed.file("resolv.conf"), "nameserver 10.99.0.2\n").expect("a file");
    let mut alice = launch(&bed, &settings);
    alice.wait_for_end();
    let log = alice.text();
    assert!(log.contains("error: kill-switch: no `remote` has a known address"), "{log}");
    let tables = bed.command(true).args(["nft", "list", "tables"]).output().expect("nft");
    assert!(tables.stdout.is_empty(), "{tables:?}");
}
