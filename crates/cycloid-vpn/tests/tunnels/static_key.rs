//! Tunnels with a static key, with OpenVPN at either end.

use std::fs;

use crate::test_bed::{ALL, INNER, LIMIT, Running, TestBed, UP, WITH_OPENVPN, Who};

/// The lines of both ends, and of each end.
#[derive(Clone, Debug, Default)]
struct Lines {
    both: String,
    east: String,
    west: String,
}

const UDP: [&str; 2] = ["proto udp\nremote 10.99.0.2", "proto udp\nremote 10.99.0.1"];

fn lines(both: &str, [east, west]: [&str; 2]) -> Lines {
    Lines { both: both.into(), east: east.into(), west: west.into() }
}

/// Starts one end: the east end is in the server's namespace.
fn launch(bed: &TestBed, who: Who, east: bool, lines: &Lines) -> Running {
    let name = if east { "east" } else { "west" };
    let addresses = match east {
        true => "ifconfig 10.8.0.1 10.8.0.2\nifconfig-ipv6 fd00:8::1/64 fd00:8::2",
        false => "ifconfig 10.8.0.2 10.8.0.1\nifconfig-ipv6 fd00:8::2/64 fd00:8::1",
    };
    let own = if east { &lines.east } else { &lines.west };
    let text = format!("dev tun\nverb 4\n{addresses}\n{}\n{own}\n", lines.both);
    // The file's name is the instance's name, which must be unique on a machine.
    let unique = bed.directory.path().file_name().expect("a name").to_string_lossy().into_owned();
    let file = bed.file(&format!("{name}{unique}.conf"));
    fs::write(&file, text).expect("a file");
    let mut command = bed.command(!east);
    match who {
        // Either command starts a tunnel that is neither a client nor a server.
        Who::Cycloid => {
            let verb = if east { "server" } else { "client" };
            command.args([env!("CARGO_BIN_EXE_cycloid-vpn"), verb]).arg(&file);
        }
        Who::OpenVpn => {
            command.args(["openvpn", "--config"]).arg(&file);
        }
    }
    Running::start(command, file.with_extension("log"))
}

fn meet(bed: &TestBed, east: Who, west: Who, lines: &Lines) -> [Running; 2] {
    let mut one = launch(bed, east, true, lines);
    let mut other = launch(bed, west, false, lines);
    one.wait_for(UP, 1, LIMIT);
    other.wait_for(UP, 1, LIMIT);
    bed.assert_reaches(&format!("{east:?} and {west:?}, {lines:?}"), [&mut one, &mut other]);
    [one, other]
}

fn secret(bed: &TestBed) -> String {
    bed.file("shared.key").display().to_string()
}

#[test]
fn static_keys_over_udp_and_tcp_with_each_cipher_and_direction() {
    let bed = TestBed::new();
    let secret = secret(&bed);
    let tcp = ["proto tcp-server", "proto tcp-client\nremote 10.99.0.1"];
    for (east, west) in ALL {
        for (cipher, addresses, directions) in [
            ("cipher AES-256-CBC", UDP, ["0", "1"]),
            ("cipher AES-128-CBC\nauth SHA512", UDP, ["1", "0"]),
            ("cipher AES-256-CBC\nfragment 600\ncomp-lzo no", UDP, ["", ""]),
            ("cipher AES-192-CBC\nauth SHA256", tcp, ["0", "1"]),
        ] {
            let mut lines = lines(cipher, addresses);
            for (end, direction) in [&mut lines.east, &mut lines.west].into_iter().zip(directions) {
                *end += &format!("\nsecret {secret} {direction}");
            }
            let ends = meet(&bed, east, west, &lines);
            for end in ends {
                end.end("TERM");
            }
        }
    }
}

/// A peer without `remote` learns the address of the other one from its first packet, and again
/// after that one was started anew.
#[test]
fn an_end_that_does_not_know_its_peer_waits_for_it() {
    let bed = TestBed::new();
    let key = fs::read_to_string(bed.file("shared.key")).expect("a key");
    let both = format!("cipher AES-256-CBC\nauth SHA256\nkeepalive 1 4\n<secret>\n{key}</secret>");
    for (east, west) in ALL {
        let lines = lines(
            &both,
            ["proto udp\nkey-direction 0", "proto udp\nremote 10.99.0.1\nnobind\nkey-direction 1"],
        );
        let [mut one, other] = meet(&bed, east, west, &lines);
        drop(other);
        let mut other = launch(&bed, west, false, &lines);
        other.wait_for(UP, 1, LIMIT);
        bed.assert_reaches_again(&format!("{east:?} and {west:?}"), [&mut one, &mut other]);
        if east == Who::Cycloid {
            one.wait_for("the peer is at 10.99.0.2:", 2, LIMIT);
        }
    }
}

#[test]
fn either_end_of_a_static_tunnel_returns_after_it_died() {
    let bed = TestBed::new();
    let secret = secret(&bed);
    let tcp = ["proto tcp-server", "proto tcp-client\nremote 10.99.0.1\nconnect-retry 1"];
    for (east, west) in WITH_OPENVPN {
        for addresses in [UDP, tcp] {
            let both = format!("cipher AES-256-CBC\nkeepalive 1 4\nsecret {secret}");
            let lines = lines(&both, addresses);
            let [one, mut other] = meet(&bed, east, west, &lines);
            drop(one);
            let mut one = launch(&bed, east, true, &lines);
            one.wait_for(UP, 1, LIMIT);
            bed.assert_reaches_again(&format!("{lines:?}"), [&mut one, &mut other]);
            other.signal("USR1");
            let restarts = match west {
                Who::Cycloid => "restarting: SIGUSR1",
                Who::OpenVpn => "SIGUSR1[hard",
            };
            other.wait_for(restarts, 1, LIMIT);
            bed.assert_reaches_again(&format!("{lines:?}"), [&mut one, &mut other]);
        }
    }
}

#[test]
fn another_key_or_direction_passes_nothing() {
    let bed = TestBed::new();
    bed.cycloid("genkey tls-crypt --output other.key");
    let other = bed.file("other.key").display().to_string();
    let secret = secret(&bed);
    for keys in
        [[format!("{secret} 0"), format!("{other} 1")], [secret.clone() + " 0", secret + " 0"]]
    {
        let mut lines = lines("cipher AES-256-CBC", UDP);
        lines.east += &format!("\nsecret {}", keys[0]);
        lines.west += &format!("\nsecret {}", keys[1]);
        let mut one = launch(&bed, Who::Cycloid, true, &lines);
        let mut two = launch(&bed, Who::OpenVpn, false, &lines);
        one.wait_for(UP, 1, LIMIT);
        assert_eq!(bed.ping(INNER, 3, "0.2"), 0);
        two.wait_for("packet HMAC authentication failed", 1, LIMIT);
        // OpenVPN is complete after the first packet of its peer.
        assert!(!two.text().contains(UP), "{}", two.text());
    }
}
