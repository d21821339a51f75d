//! Tests what an unauthenticated client can get, and what an authenticated one can change.

use std::time::Duration;

use cycloid_vpn::proto::client::{ClientEnd, ClientNotice};
use cycloid_vpn::proto::push::PushReply;
use cycloid_vpn::proto::server::{PeerId, ServerEnd};
use cycloid_vpn::proto::{Error, Role};

use crate::scripted_peer::ScriptedPeer;
use crate::support::authority::Authority;
use crate::support::network::Weather;
use crate::support::simulation::{World, now};
use crate::{Kind, assert_stands, standing};

const ADDRESS: &str = "198.51.100.7:5555";

/// Returns a server with an established tunnel and a scripted client.
fn stage() -> (World, ScriptedPeer, std::sync::Arc<Authority>) {
    let authority = Authority::new("authority");
    let mut world = standing(Kind::Plain, &authority);
    world.judge_later = true;
    let tls = authority.tls(Role::Client, authority.issue("ann", Role::Client, 5));
    let puppet = ScriptedPeer::client(&mut world, &tls, ADDRESS);
    (world, puppet, authority)
}

fn accept(world: &mut World, peer: PeerId) -> Result<(), Error> {
    let moment = now(world.time);
    world.server.accept(moment, peer, PushReply::default(), &mut world.server_side)
}

/// CVE-2020-15078.
#[test]
fn a_push_request_before_authentication_gets_no_reply_and_no_key() {
    let (mut world, mut puppet, _) = stage();
    puppet.talk(&mut world);
    // In the same record as its hello, and again.
    puppet.say_hello("ann", "x", "IV_PROTO=6\n", b"PUSH_REQUEST\0");
    puppet.talk(&mut world);
    for _ in 0..5 {
        puppet.say(b"PUSH_REQUEST\0");
        puppet.talk(&mut world);
    }
    let [(peer, verify)] = &world.server_side.verify[..] else {
        panic!("one decision must be pending")
    };
    assert_eq!(*verify.username, "ann");
    let peer = *peer;
    assert!(puppet.heard.is_empty(), "the client must get no reply");
    assert!(!world.server_side.paths.contains_key(&peer), "no key may be installed");

    let moment = now(world.time);
    world.server.reject(moment, peer, "no", &mut world.server_side);
    puppet.listen(&mut world);
    for _ in 0..5 {
        puppet.say(b"PUSH_REQUEST\0");
        puppet.talk(&mut world);
    }
    assert!(puppet.has_heard(b"AUTH_FAILED,no"));
    assert!(!puppet.has_heard(b"PUSH_REPLY"));
    assert!(!world.server_side.paths.contains_key(&peer));
    assert!(accept(&mut world, peer).is_err(), "a refusal is final");
    world.run_until(Duration::from_secs(10), |_| false);
    assert_eq!(world.server_side.ended, [(peer, ServerEnd::Rejected)]);
    assert_stands(&mut world);
}

/// A script that reads a file of lines would authenticate mallory, whom the server then took for
/// somebody else.
#[test]
fn control_characters_in_names_and_passwords_are_replaced() {
    let (mut world, mut puppet, _) = stage();
    puppet.talk(&mut world);
    puppet.say_hello("mallory\nhers\r\u{85}\u{2028}José Doe", "p\tq\x7f\u{e4}\n", "", b"");
    puppet.talk(&mut world);
    let [(_, verify)] = &world.server_side.verify[..] else {
        panic!("one decision must be pending")
    };
    assert_eq!(*verify.username, "mallory_hers___José Doe");
    assert_eq!(*verify.password, "p_q_ä_");
}

/// Advice for the next attempt is for clients that announce that they know it.
#[test]
fn advice_of_a_temporary_refusal_reaches_only_clients_that_know_it() {
    const BOTH: &str = "TEMP[backoff 5,advance no]:busy";
    for (info, expected) in [
        ("IV_PROTO=6\n", &b"AUTH_FAILED,busy"[..]),
        ("IV_PROTO=262\n", b"AUTH_FAILED,TEMP[backoff 5,advance no]:busy"),
    ] {
        let (mut world, mut puppet, _) = stage();
        puppet.talk(&mut world);
        puppet.say_hello("ann", "x", info, b"");
        puppet.talk(&mut world);
        let (peer, moment) = (world.server_side.verify[0].0, now(world.time));
        world.server.reject(moment, peer, BOTH, &mut world.server_side);
        puppet.listen(&mut world);
        assert!(puppet.has_heard(expected), "{info}: {:?}", puppet.heard);
    }
}

/// CVE-2022-0547: with two deferred decisions, one alone admitted a client.
#[test]
fn a_second_hello_or_decision_has_no_effect() {
    let (mut world, mut puppet, authority) = stage();
    puppet.introduce(&mut world, "ann");
    let peer = world.server_side.verify[0].0;
    let moment = now(world.time);
    world.server.defer(moment, peer, Duration::from_secs(30), None, &mut world.server_side);
    puppet.listen(&mut world);
    // Another session while the first one waits.
    let tls = authority.tls(Role::Client, authority.issue("ann", Role::Client, 5));
    let mut next = puppet.renegotiation(&world, &tls);
    next.introduce(&mut world, "root");
    assert_eq!(world.server_side.verify.len(), 1);
    assert!(next.heard.is_empty());
    assert!(!world.server_side.paths.contains_key(&peer));
    assert!(!puppet.has_heard(b"PUSH_REPLY"));
    accept(&mut world, peer).expect("a decision was pending");
    assert!(accept(&mut world, peer).is_err(), "once");
    let moment = now(world.time);
    world.server.reject(moment, peer, "late", &mut world.server_side);
    puppet.say(b"PUSH_REQUEST\0");
    puppet.talk(&mut world);
    assert!(puppet.has_heard(b"PUSH_REPLY") && !puppet.has_heard(b"AUTH_FAILED"));

    // A second hello in the same session.
    let mut puppet = ScriptedPeer::client(&mut world, &tls, "198.51.100.7:5556");
    puppet.introduce(&mut world, "ann");
    let peer = world.server_side.verify[1].0;
    puppet.introduce(&mut world, "root");
    assert_eq!(world.server_side.verify.len(), 2);
    assert_eq!(world.server_side.ended, [(peer, ServerEnd::Failed(Error::Text))]);
    assert!(accept(&mut world, peer).is_err());
    assert!(puppet.heard.is_empty() && !world.server_side.paths.contains_key(&peer));
    assert_stands(&mut world);
}

/// A user who must confirm on a phone first, for longer than the handshake's time limit.
#[test]
fn a_deferred_decision_may_take_long() {
    let authority = Authority::new("authority");
    let (client, server) = Kind::Crypt.settings(&authority, 1);
    let mut world = World::new(1, Weather::FAIR, client, server);
    world.judge_later = true;
    assert!(!world.run_until(Duration::from_secs(5), |world| world.client_side.end.is_some()));
    let [(peer, _)] = world.server_side.verify[..] else { panic!("one decision must be pending") };
    let (moment, pending) = (now(world.time), Duration::from_secs(300));
    let info = Some("WEB_AUTH::https://sso.example/");
    world.server.defer(moment, peer, pending, info, &mut world.server_side);
    world.run_until(Duration::from_secs(280), |_| false);
    assert_eq!(world.client_side.end, None);
    assert!(world.client_side.connected.is_none() && world.server_side.paths.is_empty());
    assert!(world.client_side.other.iter().any(|notice| matches!(notice,
        ClientNotice::AuthPending { text, info: Some(info) }
            if text == "timeout 300" && info.contains("sso.example"))));
    accept(&mut world, peer).expect("a decision was pending");
    world.run_until(Duration::from_secs(6), |_| false);
    assert_stands(&mut world);

    // Without a decision, both ends give up.
    let (client, server) = Kind::Crypt.settings(&authority, 1);
    let mut world = World::new(1, Weather::FAIR, client, server);
    world.judge_later = true;
    world.run_until(Duration::from_secs(5), |_| false);
    let peer = world.server_side.verify[0].0;
    let moment = now(world.time);
    world.server.defer(moment, peer, pending, None, &mut world.server_side);
    world.run_until(Duration::from_secs(310), |_| false);
    assert!(matches!(world.client_side.end, Some(ClientEnd::Failed(Error::TimedOut(_)))));
    assert!(world.server.is_empty());
}

/// A client that requests its options repeatedly and never reads them.
#[test]
fn repeated_push_requests_are_answered_one_at_a_time() {
    let (mut world, mut puppet, _) = stage();
    puppet.introduce(&mut world, "ann");
    let peer = world.server_side.verify[0].0;
    accept(&mut world, peer).expect("a decision was pending");
    puppet.say(&b"PUSH_REQUEST\0".repeat(1000));
    puppet.talk(&mut world);
    let replies = |puppet: &ScriptedPeer| {
        puppet.heard.iter().filter(|it| it.starts_with(b"PUSH_REPLY")).count()
    };
    assert_eq!(replies(&puppet), 1);
    puppet.say(b"PUSH_REQUEST\0");
    puppet.talk(&mut world);
    assert_eq!(replies(&puppet), 2, "it has read the first reply");
    assert_stands(&mut world);
}

#[test]
fn malformed_hellos_end_only_their_own_connection() {
    let good: Vec<u8> = {
        let mut message = vec![0, 0, 0, 0, 2];
        message.extend([7; 48 + 64]);
        for text in ["V4", "ann", "SESS_ID_AT_AAAA", "IV_PROTO=2\n"] {
            message.extend((text.len() as u16 + 1).to_be_bytes());
            message.extend(text.as_bytes());
            message.push(0);
        }
        message
    };
    let (mut world, _, authority) = stage();
    let tls = authority.tls(Role::Client, authority.issue("ann", Role::Client, 5));
    let with = |at: usize, byte: u8| {
        let mut message = good.clone();
        message[at] = byte;
        message
    };
    let strings = 5 + 48 + 64;
    let cases = [
        good[..strings - 1].to_vec(),
        good[..4].to_vec(),
        vec![0],
        vec![0xff; 16_000],
        // The method, string lengths, and bytes that are not text.
        with(4, 1),
        with(strings, 0xff),
        with(strings + 1, 1),
        with(strings + 7, 0xff),
        b"PUSH_REQUEST\0".to_vec(),
        b"EXIT\0".to_vec(),
    ];
    for (number, case) in cases.into_iter().enumerate() {
        let mut puppet =
            ScriptedPeer::client(&mut world, &tls, &format!("198.51.100.8:{}", 4000 + number));
        puppet.talk(&mut world);
        assert_eq!(world.server.len(), 2);
        puppet.say(&case);
        puppet.talk(&mut world);
        assert_eq!(world.server.len(), 1, "case {number}: {:?}", world.server_side.verify);
        assert!(matches!(world.server_side.ended.last(), Some((_, ServerEnd::Failed(_)))));
        assert!(puppet.heard.is_empty());
        assert_stands(&mut world);
    }
    assert!(world.server_side.verify.is_empty());
}

/// CVE-2020-11810: an unauthenticated client took over another client's address.
#[test]
fn no_peer_floats_to_the_address_of_another() {
    let (mut world, mut puppet, _) = stage();
    let standing = world.peer();
    puppet.introduce(&mut world, "ann");
    let other = world.server_side.verify[0].0;
    let (home, there) = (world.client_address, ADDRESS.parse().expect("an address"));
    for accepted in [false, true] {
        if accepted {
            accept(&mut world, other).expect("a decision was pending");
        }
        let mut float = |id, to| {
            world.time += Duration::from_secs(5);
            world.server.float(now(world.time), id, to)
        };
        assert!(float(other, home).is_err());
        assert!(float(standing, there).is_err());
        assert_eq!(world.server.address(standing), Some(home));
        assert_eq!(world.server.address(other), Some(there));
    }
    let moment = now(world.time);
    let nowhere = "192.0.2.9:9".parse().expect("an address");
    assert!(world.server.float(moment, PeerId(77), nowhere).is_err());
    assert_stands(&mut world);
    // It may move to an unused address, and its control packets are accepted only from there.
    let new = "203.0.113.1:1".parse().expect("an address");
    world.server.float(moment, other, new).expect("the address is unused");
    puppet.say(b"EXIT\0");
    puppet.talk(&mut world);
    assert_eq!(world.server.len(), 2, "packets from the old address have no effect");
    assert!(!puppet.refusals.is_empty());
    assert_stands(&mut world);
}

/// Two peers behind a NAT that has swapped their ports move one after the other.
#[test]
fn two_peers_swap_their_addresses() {
    let (mut world, mut puppet, _) = stage();
    let standing = world.peer();
    puppet.introduce(&mut world, "ann");
    let other = world.server_side.verify[0].0;
    accept(&mut world, other).expect("a decision was pending");
    let (home, there) = (world.client_address, ADDRESS.parse().expect("an address"));
    let moment = now(world.time);
    assert!(world.server.float(moment, other, home).is_err());
    world.server.float(moment, standing, there).expect("the other peer wants to leave");
    world.server.float(moment, other, home).expect("the address is free now");
    assert_eq!(world.server.address(standing), Some(there));
    assert_eq!(world.server.address(other), Some(home));
}

/// Control packets of a session are dropped if they come from another address than the peer's, with
/// any protection.
#[test]
fn packets_that_are_not_authentic_never_move_a_peer() {
    let authority = Authority::new("authority");
    for kind in crate::KINDS {
        let mut world = standing(kind, &authority);
        let (peer, home) = (world.peer(), world.client_address);
        world.network.record = Some(Vec::new());
        let moment = now(world.time);
        let World { dice, client, client_side, .. } = &mut world;
        let random = &mut |bytes: &mut [u8]| dice.fill(bytes);
        client.renegotiate(moment, random, client_side).expect("begun");
        world.client_sends(b"and some data");
        world.run_until(Duration::from_secs(1), |_| false);
        let record = world.network.record.take().expect("recorded");
        assert!(record.len() > 6);
        for (_, packet) in &record {
            world.server_receives("198.51.100.7:1".parse().expect("an address"), packet.clone());
        }
        assert_eq!(world.server.address(peer), Some(home));
        assert_eq!(world.server.len(), 1);
        assert_stands(&mut world);
    }
}

/// CVE-2024-28882: a client that announced its exit twice kept its session.
#[test]
fn a_repeated_exit_notification_ends_the_session() {
    let (mut world, mut puppet, _) = stage();
    puppet.introduce(&mut world, "ann");
    let peer = world.server_side.verify[0].0;
    accept(&mut world, peer).expect("a decision was pending");
    puppet.say(b"PUSH_REQUEST\0");
    puppet.talk(&mut world);
    assert!(world.server_side.paths.contains_key(&peer));
    puppet.say(b"EXIT\0EXIT\0PUSH_REQUEST\0EXIT\0");
    puppet.talk(&mut world);
    for _ in 0..3 {
        puppet.say(b"EXIT\0");
        puppet.talk(&mut world);
    }
    assert_eq!(world.server_side.ended, [(peer, ServerEnd::Exit)]);
    assert!(!world.server_side.paths.contains_key(&peer));
    assert_eq!(world.server.len(), 1);
    assert_stands(&mut world);
}

#[test]
fn max_clients_is_enforced_and_places_become_free() {
    let authority = Authority::new("authority");
    let (client, mut server) = Kind::Plain.settings(&authority, 1);
    server.max_clients = 3;
    let mut world = World::new(1, Weather::FAIR, client, server);
    assert!(world.connect());
    world.run_until(Duration::from_secs(5), |_| false);
    world.judge_later = true;
    let tls = authority.tls(Role::Client, authority.issue("ann", Role::Client, 5));
    let mut puppets = Vec::new();
    for port in 1..6 {
        let mut puppet = ScriptedPeer::client(&mut world, &tls, &format!("198.51.100.9:{port}"));
        puppet.introduce(&mut world, "ann");
        puppets.push(puppet);
    }
    assert_eq!(world.server.len(), 3);
    assert_eq!(world.server_side.verify.len(), 2);
    assert!(puppets[2].refusals.iter().any(|it| matches!(it, Error::Full(_))));
    assert_stands(&mut world);
    let (first, _) = world.server_side.verify[0];
    let moment = now(world.time);
    world.server.kill(moment, first, None, &mut world.server_side);
    let mut next = ScriptedPeer::client(&mut world, &tls, "198.51.100.9:7");
    next.introduce(&mut world, "ann");
    assert_eq!(world.server.len(), 3);
    assert_eq!(world.server_side.verify.len(), 3);
    assert_stands(&mut world);
}
