//! A server changes pushed options of running sessions (`PUSH_UPDATE`), between Cycloid's ends:
//! OpenVPN 2.6 knows no such updates.

use std::time::Instant;

use crate::service::{Session, script};
use crate::test_bed::{LIMIT, Running, Settings, TestBed, UP, Who};

/// Waits until the output of a command in the client's namespace is as wanted.
fn wait_for(bed: &TestBed, line: &str, is_right: impl Fn(&str) -> bool, alice: &Running) {
    let end = Instant::now() + LIMIT;
    loop {
        let output = bed.command(true).args(line.split(' ')).output().expect("ip");
        let text = String::from_utf8_lossy(&output.stdout);
        if is_right(&text) {
            return;
        }
        assert!(Instant::now() < end, "{line}\n{text}\n{}", alice.text());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn options_of_a_running_session_change_without_a_reconnection() {
    let bed = TestBed::new();
    let socket = bed.file("management.sock");
    let server = format!(
        "management {} unix\npush \"route 192.168.50.0 255.255.255.0\"\n\
         push \"route 192.168.51.0 255.255.255.0\"",
        socket.display()
    );
    let settings = Settings { server, ..Settings::default() };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let mut alice = bed.start(Who::Cycloid, false, &settings);
    let mut session = Session::connect(&socket);
    let routes = "ip -4 route show";
    let has = |text: &str, routes: &[u32]| {
        (50..150).all(|net| text.contains(&format!("192.168.{net}.0/24")) == routes.contains(&net))
    };
    wait_for(&bed, routes, |text| has(text, &[50, 51]), &alice);

    // All routes are replaced, the MTU changes, and what the client cannot change is optional.
    let answer = session.ask(
        "push-update-broad \"route 192.168.52.0 255.255.255.0, tun-mtu 1400, ?cipher none\"",
        "SUCCESS",
    );
    assert!(answer.contains("push-update command succeeded"), "{answer}");
    wait_for(&bed, routes, |text| has(text, &[52]), &alice);
    wait_for(&bed, "ip link show", |text| text.contains("mtu 1400"), &alice);
    bed.assert_reaches("after an update", [&mut gate, &mut alice]);

    // Longer than a message: it is sent in several.
    let many: Vec<u32> = (60..120).collect();
    let list: Vec<String> =
        many.iter().map(|net| format!("route 192.168.{net}.0 255.255.255.0")).collect();
    session.ask(&format!("push-update-broad \"{}\"", list.join(", ")), "SUCCESS");
    wait_for(&bed, routes, |text| has(text, &many), &alice);

    session.ask("push-update-broad \"-route, -tun-mtu\"", "SUCCESS");
    wait_for(&bed, routes, |text| has(text, &[]), &alice);
    wait_for(&bed, "ip link show", |text| text.contains("mtu 1500"), &alice);
    bed.assert_reaches("after a removal", [&mut gate, &mut alice]);
    assert_eq!(alice.count(UP), 1, "{}", alice.text());

    // The same for a single client, by its number.
    let status = session.ask("status 2", "END");
    let line = status.lines().find(|line| line.starts_with("CLIENT_LIST,alice")).expect("alice");
    let id = line.split(',').nth(10).expect("its number").to_owned();
    session.ask(&format!("push-update-cid {id} \"route 192.168.53.0 255.255.255.0\""), "SUCCESS");
    wait_for(&bed, routes, |text| has(text, &[53]), &alice);
    for wrong in [
        "push-update-cid 999 \"-route\"",
        "push-update-cid x \"-route\"",
        "push-update-broad \"\"",
        "push-update-broad \"ifconfig 10.8.0.77 255.255.0.0\"",
        "push-update-broad",
    ] {
        session.ask(wrong, "ERROR:");
    }

    // A change that a running session cannot make: the client connects again, with all options.
    session.ask("push-update-broad \"cipher AES-128-GCM\"", "SUCCESS");
    alice.wait_for(UP, 2, LIMIT);
    assert!(alice.text().contains("cipher cannot change in a running session"), "{}", alice.text());
    wait_for(&bed, routes, |text| has(text, &[50, 51]), &alice);
}

/// A failed update leaves nothing behind that the next connection takes for its configuration.
#[test]
fn a_failed_update_is_made_up_for_by_the_next_connection() {
    let bed = TestBed::new();
    let socket = bed.file("management.sock");
    let server =
        format!("management {} unix\npush \"route 192.168.50.0 255.255.255.0\"", socket.display());
    // The script fails once it is told to.
    let up = script(&bed, "up", "rm $DIR/fail 2> $DIR/complaint && exit 1; exit 0");
    let client = format!("persist-tun\nscript-security 2\nup {up}");
    let settings = Settings { server, client, ..Settings::default() };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let mut alice = bed.start(Who::Cycloid, false, &settings);
    let mut session = Session::connect(&socket);
    let routes = "ip -4 route show";
    session.ask("push-update-broad \"route 192.168.51.0 255.255.255.0\"", "SUCCESS");
    wait_for(&bed, routes, |text| text.contains("192.168.51.0/24"), &alice);
    // Back to the options of a new connection, which the machine refuses.
    std::fs::write(bed.file("fail"), "").expect("a file");
    session.ask("push-update-broad \"route 192.168.50.0 255.255.255.0\"", "SUCCESS");
    alice.wait_for("an update failed", 1, LIMIT);
    alice.wait_for(UP, 2, LIMIT);
    wait_for(&bed, routes, |text| text.contains("192.168.50.0/24"), &alice);
    bed.assert_reaches("after a failed update", [&mut gate, &mut alice]);
}

#[test]
fn a_client_without_updates_gets_none() {
    let bed = TestBed::new();
    let socket = bed.file("management.sock");
    let server = format!("management {} unix", socket.display());
    let settings = Settings { server, ..Settings::default() };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let mut session = Session::connect(&socket);
    let answer = session.ask("push-update-broad \"-dns\"", "ERROR:");
    assert!(answer.contains("no such client"), "{answer}");
    let mut alice = bed.start(Who::OpenVpn, false, &settings);
    let answer = session.ask("push-update-broad \"-dns\"", "ERROR:");
    assert!(answer.contains("no client supports it"), "{answer}");
    bed.assert_reaches("an older client", [&mut gate, &mut alice]);
    assert!(!alice.text().contains("PUSH_UPDATE"), "{}", alice.text());
}
