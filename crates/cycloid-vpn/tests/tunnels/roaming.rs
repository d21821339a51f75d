//! Paths as they are: NATs that rebind, a new address, replayed packets, small packets, and control
//! packets that are lost for a while.

use std::net::UdpSocket;

use crate::relay::{INSIDE, Relay};
use crate::test_bed::{ALL, INNER, LIMIT, SERVER, Settings, TestBed, UP, Who};

/// A second address of the client's end.
const ELSEWHERE: &str = "10.99.0.3";

fn behind_nat(more: &str) -> Settings {
    Settings {
        remote: INSIDE,
        // Silence does not end the tunnel while the test takes its time.
        server: format!("keepalive 1 120\n{more}"),
        ..Settings::default()
    }
}

fn add_address(bed: &TestBed) {
    let added =
        bed.command(true).args(["ip", "addr", "add", "10.99.0.3/24", "dev", "veth"]).status();
    assert!(added.expect("ip").success());
}

#[test]
fn a_server_follows_a_client_whose_nat_changes_its_port() {
    let bed = TestBed::new();
    add_address(&bed);
    for client in [Who::OpenVpn, Who::Cycloid] {
        for threads in [1, 2] {
            let relay = Relay::new(&bed);
            let settings = behind_nat(&format!("threads {threads}"));
            let mut gate = bed.start(Who::Cycloid, true, &settings);
            let mut alice = bed.start(client, false, &settings);
            bed.assert_reaches("behind a NAT", [&mut gate, &mut alice]);
            for (number, address) in [(1, "10.99.0.2"), (2, ELSEWHERE), (3, "10.99.0.2")] {
                relay.move_to(&bed, address);
                let text = |end: &str| format!("{end}, {client:?}, {threads} threads");
                // Also the packet that shows the new address is answered there.
                let answered = bed.ping(INNER, 10, "0.1");
                assert_eq!(answered, 10, "{}\n{}", text(address), gate.text());
                gate.wait_for(&format!(" to {address}:"), 1, LIMIT);
                assert_eq!(gate.count("alice moved from "), number, "{}", gate.text());
            }
            // The tunnel is still the first one, and the client still renews its key there.
            assert_eq!(gate.count("connected, with"), 1, "{}", gate.text());
            alice.end("TERM");
            gate.end("TERM");
        }
    }
}

/// Point to point, `float` permits it, and the first packet from there is answered there.
#[test]
fn a_single_peer_that_may_float_is_followed_at_once() {
    let bed = TestBed::new();
    add_address(&bed);
    for client in [Who::OpenVpn, Who::Cycloid] {
        let relay = Relay::new(&bed);
        let settings = Settings {
            point_to_point: true,
            // The relay has the port that a point-to-point client is bound to.
            client: "nobind".into(),
            ..behind_nat("float")
        };
        let mut gate = bed.launch(Who::Cycloid, true, &settings);
        let mut alice = bed.start(client, false, &settings);
        gate.wait_for(UP, 1, LIMIT);
        bed.assert_reaches("behind a NAT", [&mut gate, &mut alice]);
        for address in [ELSEWHERE, "10.99.0.2"] {
            relay.move_to(&bed, address);
            assert_eq!(bed.ping(INNER, 10, "0.1"), 10, "{address}, {client:?}\n{}", gate.text());
            gate.wait_for(&format!(" to {address}:"), 1, LIMIT);
        }
        assert_eq!(gate.count("connected, with"), 1, "{}", gate.text());
        alice.end("TERM");
        gate.end("TERM");
    }
}

/// `local` without a port of its own, with one, and over TCP.
#[test]
fn a_client_sends_from_its_local_address() {
    let bed = TestBed::new();
    add_address(&bed);
    for (tcp, port) in [(false, "lport 0"), (false, ""), (true, "")] {
        let settings = Settings {
            tcp,
            point_to_point: true,
            client: format!("local {ELSEWHERE}\n{port}"),
            ..Settings::default()
        };
        let mut gate = bed.launch(Who::OpenVpn, true, &settings);
        let mut alice = bed.start(Who::Cycloid, false, &settings);
        gate.wait_for(&format!("]{ELSEWHERE}:"), 1, LIMIT);
        assert_eq!(gate.count("]10.99.0.2:"), 0, "{}", gate.text());
        bed.assert_reaches(&settings.client, [&mut gate, &mut alice]);
        alice.end("TERM");
        gate.end("TERM");
    }
}

/// With `float`, the control channel follows the server's data packets to another address.
#[test]
fn a_client_that_may_float_renews_its_key_at_the_servers_new_address() {
    let bed = TestBed::new();
    let relay = Relay::new(&bed);
    let settings = Settings { client: "float\nreneg-sec 3".into(), ..behind_nat("reneg-sec 0") };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let mut alice = bed.start(Who::Cycloid, false, &settings);
    relay.move_server(&bed);
    bed.assert_reaches_again("at another address", [&mut gate, &mut alice]);
    let renewed = alice.renewals();
    alice.wait_for("a new key is in use", renewed + 2, LIMIT);
    assert!(!alice.text().contains("a renegotiation has failed"), "{}", alice.text());
    assert_eq!(alice.count(UP), 1, "{}", alice.text());
    bed.assert_reaches("with a renewed key", [&mut gate, &mut alice]);
}

#[test]
fn a_replayed_packet_moves_nobody() {
    let bed = TestBed::new();
    let relay = Relay::new(&bed);
    let settings = behind_nat("");
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let mut alice = bed.start(Who::Cycloid, false, &settings);
    bed.assert_reaches("before the replay", [&mut gate, &mut alice]);
    let captured = relay.captured();
    assert!(captured.len() > 20);
    bed.within(true, move || {
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
        let mut forged = captured.clone();
        *forged.last_mut().expect("not empty") ^= 1;
        for packet in [captured, forged] {
            for _ in 0..5 {
                socket.send_to(&packet, (SERVER, 1194)).expect("it is sent");
            }
        }
    })
    .join()
    .expect("it sends");
    assert_eq!(bed.ping(INNER, 10, "0.1"), 10, "{}", gate.text());
    assert_eq!(gate.count("moved from"), 0, "{}", gate.text());
}

#[test]
fn each_attempt_of_a_client_without_a_port_has_a_new_one() {
    let bed = TestBed::new();
    let relay = Relay::new(&bed);
    let settings = behind_nat("");
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let mut alice = bed.start(Who::Cycloid, false, &settings);
    for attempt in 2..=3 {
        alice.signal("USR1");
        alice.wait_for(UP, attempt, LIMIT);
        assert_eq!(relay.clients(), attempt, "{}", alice.text());
    }
    bed.assert_reaches("the third connection", [&mut gate, &mut alice]);
}

#[test]
fn a_tunnel_comes_up_over_a_path_for_small_packets() {
    let bed = TestBed::new();
    let settings = Settings { both: "max-packet-size 800".into(), ..behind_nat("") };
    for (server, client) in ALL {
        let relay = Relay::new(&bed);
        relay.limit_packets(800);
        let mut gate = bed.start(server, true, &settings);
        let mut alice = bed.start(client, false, &settings);
        bed.assert_reaches("over a narrow path", [&mut gate, &mut alice]);
    }
}

#[test]
fn a_failed_renegotiation_keeps_the_tunnel() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        let relay = Relay::new(&bed);
        let both = "reneg-sec 4\nhand-window 4".into();
        let settings = Settings { both, ..behind_nat("") };
        let mut gate = bed.start(server, true, &settings);
        let mut alice = bed.start(client, false, &settings);
        bed.assert_reaches("before the first renegotiation", [&mut gate, &mut alice]);
        relay.lose_control(true);
        let own = if server == Who::Cycloid { &mut gate } else { &mut alice };
        own.wait_for("a renegotiation has failed", 1, LIMIT);
        bed.assert_reaches("after a failed renegotiation", [&mut gate, &mut alice]);
        relay.lose_control(false);
        if (server, client) == (Who::Cycloid, Who::Cycloid) {
            gate.wait_for("a new key is in use", 1, LIMIT);
        }
        if (server, client) == (Who::Cycloid, Who::OpenVpn) {
            // OpenVPN begins a new session.
            gate.wait_for("alice reconnects", 1, LIMIT);
        }
        bed.assert_reaches_again("after the next renegotiation", [&mut gate, &mut alice]);
    }
}
