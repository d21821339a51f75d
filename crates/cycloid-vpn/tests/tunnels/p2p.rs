//! Point to point: a server with a single peer and a client that pulls nothing, with OpenVPN at
//! either end.

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::test_bed::{
    self, ALL, INNER, LIMIT, Protection, Running, Settings, TestBed, UP, WITH_OPENVPN, Who,
};

fn settings() -> Settings {
    Settings { point_to_point: true, ..Settings::default() }
}

/// Starts both ends and waits until they are up; a point-to-point server is up once its peer is.
fn pair(bed: &TestBed, server: Who, client: Who, settings: &Settings) -> [Running; 2] {
    let mut gate = bed.launch(server, true, settings);
    let mut alice = bed.launch(client, false, settings);
    gate.wait_for(UP, 1, LIMIT);
    alice.wait_for(UP, 1, LIMIT);
    [gate, alice]
}

/// Asserts that both ends come up, reach each other, and end; returns their logs.
fn meet(bed: &TestBed, server: Who, client: Who, settings: &Settings) -> [String; 2] {
    let [mut gate, mut alice] = pair(bed, server, client, settings);
    let what = format!("{server:?} and {client:?}, {settings:?}");
    bed.assert_reaches(&what, [&mut gate, &mut alice]);
    [alice.end("TERM"), gate.end("TERM")]
}

#[test]
fn p2p_every_protection_over_udp_and_tcp() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        for (tcp, protection) in [
            (false, Protection::None),
            (false, Protection::TlsAuth),
            (false, Protection::TlsCryptV2),
            (true, Protection::TlsCrypt),
        ] {
            let texts = meet(&bed, server, client, &Settings { tcp, protection, ..settings() });
            for text in texts {
                assert!(text.contains("AES-256-GCM"), "{text}");
                // OpenVPN logs what was negotiated.
                let negotiated = "TLS_export=1, DATA_v2=1";
                assert!(!text.contains("P2P mode NCP") || text.contains(negotiated), "{text}");
            }
        }
    }
}

#[test]
fn p2p_ciphers_are_negotiated_or_fall_back() {
    let bed = TestBed::new();
    let cbc = "data-ciphers-fallback AES-256-CBC\nauth SHA256";
    for (server, client) in WITH_OPENVPN {
        for tcp in [false, true] {
            // The first cipher of the server's list that the client also has; then CBC by name;
            // then no common cipher.
            for (gate, alice, both, expected) in [
                ("AES-128-GCM:AES-256-GCM", "AES-256-GCM:AES-128-GCM", "", "AES-128-GCM"),
                ("AES-256-CBC", "AES-256-GCM:AES-256-CBC", "auth SHA256", "AES-256-CBC"),
                ("AES-256-GCM", "CHACHA20-POLY1305", cbc, "AES-256-CBC"),
                ("AES-256-GCM", "CHACHA20-POLY1305", "cipher AES-128-CBC", "AES-128-CBC"),
            ] {
                let settings = Settings {
                    tcp,
                    both: both.into(),
                    server: format!("data-ciphers {gate}"),
                    client: format!("data-ciphers {alice}"),
                    ..settings()
                };
                for text in meet(&bed, server, client, &settings) {
                    // The line of either program.
                    let said = ["connected, with ", "Data Channel: cipher '"]
                        .iter()
                        .any(|words| text.contains(&format!("{words}{expected}")));
                    assert!(said, "{expected}, {settings:?}\n{text}");
                }
            }
        }
    }
}

#[test]
fn p2p_without_a_common_cipher_is_reported_by_both_ends() {
    let bed = TestBed::new();
    let settings = Settings { client: "data-ciphers CHACHA20-POLY1305".into(), ..settings() };
    let mut gate = bed.launch(Who::Cycloid, true, &settings);
    let mut alice = bed.launch(Who::Cycloid, false, &settings);
    gate.wait_for(
        "it offers only the ciphers CHACHA20-POLY1305, and none is configured here",
        1,
        LIMIT,
    );
    alice.wait_for("the connection has ended", 1, LIMIT);
}

#[test]
fn p2p_keys_are_renewed_under_traffic_and_no_packet_is_lost() {
    let bed = TestBed::new();
    for (server, client) in WITH_OPENVPN {
        for (tcp, cipher) in [(false, "AES-256-GCM"), (true, "AES-256-CBC")] {
            let both = "reneg-sec 3".into();
            let settings = Settings { tcp, cipher, both, ..settings() };
            let [gate, alice] = pair(&bed, server, client, &settings);
            let what = format!("{server:?} and {client:?}, {settings:?}");
            bed.assert_loses_nothing_in_renewals(&what, [&gate, &alice]);
        }
    }
}

#[test]
fn p2p_either_end_reconnects_after_the_other_died() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        for tcp in [false, true] {
            let settings = Settings { tcp, ..settings() };
            let [gate, mut alice] = pair(&bed, server, client, &settings);
            drop(gate);
            let mut gate = bed.launch(server, true, &settings);
            gate.wait_for(UP, 1, LIMIT);
            alice.wait_for(UP, 2, LIMIT);
            let what = format!("{server:?} died, with {client:?}, TCP {tcp}");
            bed.assert_reaches(&what, [&mut gate, &mut alice]);

            drop(alice);
            let mut alice = bed.launch(client, false, &settings);
            alice.wait_for(UP, 1, LIMIT);
            let what = format!("{client:?} died, with {server:?}, TCP {tcp}");
            bed.assert_reaches(&what, [&mut gate, &mut alice]);
        }
    }
}

#[test]
fn p2p_the_peer_is_notified_of_an_exit() {
    let bed = TestBed::new();
    let soon = Duration::from_secs(40);
    for (server, client) in ALL {
        // Without a notification, the end would go unnoticed for a minute.
        let slow = "keepalive 10 60\nexplicit-exit-notify 1".to_owned();
        let settings = Settings { server: slow.clone(), client: slow, ..settings() };
        let [mut gate, alice] = pair(&bed, server, client, &settings);
        alice.end("TERM");
        let left = match server {
            Who::Cycloid => "disconnected: it has left",
            Who::OpenVpn => "remote-exit",
        };
        gate.wait_for(left, 1, soon);
        let mut alice = bed.launch(client, false, &settings);
        alice.wait_for(UP, 1, LIMIT);
        gate.wait_for(UP, 2, LIMIT);
        gate.end("TERM");
        let left = match client {
            Who::Cycloid => "the server is shutting down",
            Who::OpenVpn => "remote-exit",
        };
        alice.wait_for(left, 1, soon);
    }
}

#[test]
fn p2p_routes_and_subnets() {
    let bed = TestBed::new();
    let settings = Settings {
        server: "topology subnet\nifconfig 10.8.0.1 255.255.255.0\nroute-gateway 10.8.0.2\n\
                 route 192.168.77.0 255.255.255.0"
            .into(),
        client: "topology subnet\nifconfig 10.8.0.2 255.255.255.0".into(),
        ..settings()
    };
    let behind =
        bed.command(true).args(["ip", "addr", "add", "192.168.77.1/32", "dev", "lo"]).status();
    assert!(behind.expect("ip").success());
    for (server, client) in ALL {
        let [mut gate, mut alice] = pair(&bed, server, client, &settings);
        bed.assert_reaches("one network", [&mut gate, &mut alice]);
        let ping = ["ping", "-c", "3", "-i", "0.1", "-W", "2", "192.168.77.1"];
        let reached =
            (0..3).any(|_| bed.command(false).args(ping).output().expect("ping").status.success());
        assert!(reached, "{server:?} and {client:?}\n{}\n{}", gate.text(), alice.text());
    }
}

#[test]
fn p2p_only_the_configured_remote_may_connect_unless_it_floats() {
    let bed = TestBed::new();
    // Both ends use the same port, and each names the other's address.
    for (server, client) in ALL {
        let settings = Settings { server: "remote 10.99.0.2".into(), ..settings() };
        meet(&bed, server, client, &settings);
    }
    for tcp in [false, true] {
        let mut settings = Settings { tcp, server: "remote 10.99.0.3".into(), ..settings() };
        let mut gate = bed.launch(Who::Cycloid, true, &settings);
        let alice = bed.launch(Who::OpenVpn, false, &settings);
        gate.wait_for("is not an address of `remote`", 1, LIMIT);
        assert!(!alice.text().contains(UP), "{}", alice.text());
        drop((gate, alice));
        settings.server += "\nfloat";
        meet(&bed, Who::Cycloid, Who::OpenVpn, &settings);
    }
}

#[test]
fn p2p_a_second_peer_replaces_the_first() {
    let bed = TestBed::new();
    // The timeout is long enough that silence does not end the first peer before the second
    // connects.
    let slow = "keepalive 1 60".to_owned();
    let settings = Settings { server: slow.clone(), client: slow.clone(), ..settings() };
    let [mut gate, first] = pair(&bed, Who::Cycloid, Who::OpenVpn, &settings);
    let second = |more: &str| {
        let client = format!("nobind\ndev null\nifconfig-noexec\n{slow}\n{more}");
        let file = bed.configure(false, &Settings { client, ..settings.clone() });
        let mut command = bed.command(true);
        command.args(["openvpn", "--config"]).arg(&file);
        Running::start(command, bed.file("second.log"))
    };
    // A peer without a common cipher replaces nobody.
    let other = second("data-ciphers CHACHA20-POLY1305");
    gate.wait_for("none is configured here", 1, LIMIT);
    assert!(bed.ping(INNER, 30, "0.1") >= 29, "{}", gate.text());
    assert!(!gate.text().contains("disconnected: it has connected again"), "{}", gate.text());
    drop(other);
    first.signal("STOP");
    let mut second = second("");
    second.wait_for(UP, 1, LIMIT);
    gate.wait_for("disconnected: it has connected again", 1, LIMIT);
    first.signal("CONT");
}

#[test]
fn p2p_status_management_and_scripts_of_a_single_peer_server() {
    let bed = TestBed::new();
    let (status, socket) = (bed.file("status"), bed.file("management"));
    let told =
        crate::service::script(&bed, "told", "echo $@ $common_name $trusted_ip >> $DIR/said");
    let settings = Settings {
        server: format!(
            "status {} 1\nmanagement {} unix\nscript-security 2\nipchange {told}",
            status.display(),
            socket.display()
        ),
        ..settings()
    };
    let mut gate = bed.launch(Who::Cycloid, true, &settings);
    let mut session = crate::service::Session::connect(&socket);
    let states = session.ask("state", "END");
    assert!(states.contains(",WAIT,,10.8.0.1,"), "{states}");
    let mut alice = bed.start(Who::OpenVpn, false, &settings);
    gate.wait_for(UP, 1, LIMIT);
    bed.assert_reaches("a watched server", [&mut gate, &mut alice]);
    let states = session.ask("state", "END");
    assert!(states.contains(",CONNECTED,SUCCESS,10.8.0.1,10.99.0.2,1194,"), "{states}");
    let told = fs::read_to_string(bed.file("said")).expect("a script was told");
    assert_eq!(told, "10.99.0.2 1194 alice 10.99.0.2\n");
    let counters = session.ask("status", "END");
    assert!(counters.contains("OpenVPN STATISTICS"), "{counters}");
    let kill = session.ask("client-kill 1", "ERROR:");
    assert!(kill.contains("mode"), "{kill}");
    test_bed::wait_for_file(&status, |text| {
        let read = text.lines().find_map(|line| line.strip_prefix("TCP/UDP read bytes,"));
        read.is_some_and(|read| read.parse::<u64>().is_ok_and(|read| read > 0))
    });
    drop(alice);
    gate.wait_for("disconnected: ", 1, LIMIT);
    assert!(session.ask("state", "END").contains(",WAIT,"));
    // The counters include the traffic of a peer that is gone.
    assert!(!session.ask("status", "END").contains("TCP/UDP read bytes,0\r\n"));

    let check = Command::new(env!("CARGO_BIN_EXE_cycloid-vpn"))
        .arg("check")
        .arg(bed.configure(true, &settings))
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&check.stdout);
    assert!(text.contains("A point-to-point server for one peer at a time"), "{text}");
}

#[test]
fn p2p_a_server_ends_when_its_peer_falls_silent() {
    let bed = TestBed::new();
    let settings = Settings { server: "ping 1\nping-exit 4".into(), ..settings() };
    // This also holds without a peer.
    let mut gate = bed.launch(Who::Cycloid, true, &settings);
    gate.wait_for_end();
    assert!(gate.text().contains("no peer connected"), "{}", gate.text());
    let settings = Settings { server: format!("{}\nping-timer-rem", settings.server), ..settings };
    let [mut gate, alice] = pair(&bed, Who::Cycloid, Who::OpenVpn, &settings);
    drop(alice);
    gate.wait_for_end();
    assert!(gate.text().contains("disconnected: "), "{}", gate.text());
}
