//! Tests with malicious texts inside TLS.

use std::time::Duration;

use cycloid_vpn::proto::client::{ClientEnd, ClientNotice};
use cycloid_vpn::proto::push::PushReply;
use cycloid_vpn::proto::server::ServerEnd;
use cycloid_vpn::proto::{Error, Role};

use crate::scripted_peer::ScriptedPeer;
use crate::support::authority::Authority;
use crate::support::network::Weather;
use crate::support::simulation::{World, now};
use crate::{Kind, assert_stands, standing};

/// Returns a client that has completed TLS with a scripted server.
fn before_a_server(authority: &Authority) -> (World, ScriptedPeer) {
    let (client, server) = Kind::Plain.settings(authority, 1);
    let mut world = World::new(1, Weather::FAIR, client, server);
    let tls = authority.tls(Role::Server, authority.issue("server", Role::Server, 3));
    let mut puppet = ScriptedPeer::server(&mut world, &tls);
    puppet.talk_to_client(&mut world);
    puppet.say_hello("", "", "", b"");
    puppet.talk_to_client(&mut world);
    assert!(puppet.has_heard(b"PUSH_REQUEST"), "{:?}", world.client_side.end);
    (world, puppet)
}

/// Returns how a client's connection ends after this text from the server.
fn end_after(authority: &Authority, text: &[u8]) -> Option<ClientEnd> {
    let (mut world, mut puppet) = before_a_server(authority);
    puppet.say(text);
    puppet.talk_to_client(&mut world);
    for notice in &world.client_side.other {
        if let ClientNotice::Info(text) | ClientNotice::AuthPending { text, .. } = notice {
            assert!(!text.contains(char::is_control), "{text:?}");
        }
    }
    if world.client_side.connected.is_none() {
        assert_eq!(world.client_side.path.keys_installed, 0);
    }
    world.client_side.end
}

/// CVE-2024-5594.
#[test]
fn control_characters_in_a_servers_texts_are_refused() {
    let authority = Authority::new("authority");
    for text in [
        &b"AUTH_FAILED,\x1b[2Jno\0"[..],
        b"AUTH_FAILED,a\nb\0",
        b"INFO,\x07\0",
        b"INFO_PRE,WEB_AUTH::https://a\r\nb\0",
        b"AUTH_PENDING,timeout\t60\0",
        b"RESTART,[N]\x7f\0",
        b"HALT,\xc2\x85\0",
        b"PUSH_REPLY,ping 5,cipher AES-256-GCM,dhcp-option DOMAIN a\x1bb\0",
        b"PUSH_REPLY,ping 5\ncipher AES-256-GCM\0",
        b"\x01\0",
        b"\xff\xfe\0",
    ] {
        let end = end_after(&authority, text);
        assert_eq!(end, Some(ClientEnd::Failed(Error::Text)), "{}", text.escape_ascii());
    }
    // Some servers send trailing line ends.
    let end = end_after(&authority, b"AUTH_FAILED,no\r\n\0");
    let expected = ClientEnd::AuthFailed { reason: "no".into(), retry: None };
    assert_eq!(end, Some(expected));
}

#[test]
fn control_characters_in_a_clients_texts_end_that_client() {
    let authority = Authority::new("authority");
    let mut world = standing(Kind::Plain, &authority);
    world.judge_later = true;
    let tls = authority.tls(Role::Client, authority.issue("ann", Role::Client, 5));
    for text in [&b"CR_RESPONSE,\x1b[2J\0"[..], b"PUSH_REQUEST\x01\0", b"\xff\0", b"EXIT\tnow\0"] {
        let mut puppet = ScriptedPeer::client(&mut world, &tls, "198.51.100.7:5555");
        puppet.introduce(&mut world, "ann");
        let peer = world.server_side.verify.pop().expect("a decision must be pending").0;
        let moment = now(world.time);
        world
            .server
            .accept(moment, peer, PushReply::default(), &mut world.server_side)
            .expect("a decision was pending");
        puppet.say(text);
        puppet.talk(&mut world);
        assert_eq!(
            world.server_side.ended.pop(),
            Some((peer, ServerEnd::Failed(Error::Text))),
            "{}",
            text.escape_ascii()
        );
        assert_eq!(world.server.len(), 1);
        assert_stands(&mut world);
    }
}

#[test]
fn pushed_options_that_are_malformed_open_nothing() {
    let authority = Authority::new("authority");
    for options in [
        // CVE-2026-13122: an invalid token.
        "auth-token",
        "auth-token SESS_ID_AT_AAAA,auth-token-user *",
        "auth-token SESS_ID_AT_AAAA,auth-token-user GwA=",
        "compress zstd",
        "peer-id 16777216",
        "peer-id -1",
        "ping 4294967296",
        "tun-mtu 1",
        "ifconfig 10.8.0.2",
        "ifconfig 10.8.0.2 255.255.255.0.0",
        "ifconfig-ipv6 fd00::2/129 fd00::1",
    ] {
        let text = format!("PUSH_REPLY,cipher AES-256-GCM,peer-id 1,{options}\0");
        let end = end_after(&authority, text.as_bytes());
        assert!(matches!(end, Some(ClientEnd::Failed(Error::Push(_)))), "{options}: {end:?}");
    }
    for options in ["compress lzo", "compress lz4", "compress lz4-v2", "comp-lzo", "comp-lzo yes"] {
        let text = format!("PUSH_REPLY,cipher AES-256-GCM,peer-id 1,{options}\0");
        let end = end_after(&authority, text.as_bytes());
        assert!(matches!(end, Some(ClientEnd::Refused(_))), "{options}: {end:?}");
    }
    for cipher in ["BF-CBC", "AES-256-CBC", "none", ""] {
        let text = format!("PUSH_REPLY,peer-id 1,cipher {cipher}\0");
        let end = end_after(&authority, text.as_bytes());
        assert!(matches!(end, Some(ClientEnd::Failed(_))), "{cipher}: {end:?}");
    }
    assert_eq!(end_after(&authority, b"PUSH_REPLY,cipher AES-256-GCM,peer-id 1\0"), None);
}

/// A server must not send a client's messages, or messages out of order.
#[test]
fn messages_of_the_other_role_have_no_effect() {
    let authority = Authority::new("authority");
    for text in [&b"PUSH_REQUEST\0"[..], b"CR_RESPONSE,AAAA\0", b"\0\0\0", b"UNKNOWN,x\0"] {
        assert_eq!(end_after(&authority, text), None, "{}", text.escape_ascii());
    }
    // A second reply does not change an established tunnel.
    let (mut world, mut puppet) = before_a_server(&authority);
    puppet.say(b"PUSH_REPLY,cipher AES-256-GCM,peer-id 1,ifconfig 10.8.0.2 255.255.255.0\0");
    puppet.talk_to_client(&mut world);
    assert_eq!(world.client_side.path.keys_installed, 1);
    for text in ["cipher AES-128-GCM,peer-id 2", "cipher BF-CBC", "compress lzo"] {
        puppet.say(format!("PUSH_REPLY,{text}\0").as_bytes());
        puppet.talk_to_client(&mut world);
    }
    assert_eq!(world.client_side.end, None);
    assert_eq!(world.client_side.path.keys_installed, 1);
    let connected = world.client_side.connected.expect("connected");
    assert_eq!(connected.reply.peer_id, Some(1));
}

/// A reply without an end, with endless options.
#[test]
fn an_endless_reply_is_limited() {
    let authority = Authority::new("authority");
    let (mut world, mut puppet) = before_a_server(&authority);
    let part = format!("PUSH_REPLY,{}push-continuation 2\0", "route 10.0.0.0,".repeat(60));
    for _ in 0..10_000 {
        if world.client_side.end.is_some() {
            break;
        }
        puppet.say(part.as_bytes());
        puppet.talk_to_client(&mut world);
    }
    let end = world.client_side.end.expect("the reply exceeds the limit");
    assert!(matches!(end, ClientEnd::Failed(Error::Push(_))), "{end:?}");
}

/// A server that is silent after TLS is established.
#[test]
fn a_silent_server_times_out() {
    let authority = Authority::new("authority");
    let (mut world, _) = before_a_server(&authority);
    world.run_until(Duration::from_secs(70), |_| false);
    assert!(matches!(world.client_side.end, Some(ClientEnd::Failed(Error::TimedOut(_)))));
}

/// Answers to challenges may start scripts, so a client sends few of them, and only while the
/// server decides about it.
#[test]
fn a_flood_of_answers_to_challenges_ends_that_client() {
    let authority = Authority::new("authority");
    let mut world = standing(Kind::Plain, &authority);
    world.judge_later = true;
    let tls = authority.tls(Role::Client, authority.issue("ann", Role::Client, 5));
    let mut puppet = ScriptedPeer::client(&mut world, &tls, "198.51.100.7:5555");
    puppet.introduce(&mut world, "ann");
    let peer = world.server_side.verify.pop().expect("a decision must be pending").0;
    for _ in 0..3 {
        puppet.say(b"CR_RESPONSE,NDI=\0");
        puppet.talk(&mut world);
    }
    assert_eq!(world.server_side.responses, ["NDI="; 3]);
    // Once it is accepted, nobody has asked it.
    let moment = now(world.time);
    let reply = PushReply::default();
    world.server.accept(moment, peer, reply, &mut world.server_side).expect("it was pending");
    for _ in 0..100 {
        puppet.say(b"CR_RESPONSE,NDI=\0");
        puppet.talk(&mut world);
    }
    assert_eq!((world.server_side.responses.len(), world.server_side.ended.len()), (3, 0));

    let mut puppet = ScriptedPeer::client(&mut world, &tls, "198.51.100.7:5556");
    puppet.introduce(&mut world, "ann");
    let peer = world.server_side.verify.pop().expect("a decision must be pending").0;
    for _ in 0..100 {
        if world.server_side.ended.is_empty() {
            puppet.say(b"CR_RESPONSE,NDI=\0");
            puppet.talk(&mut world);
        }
    }
    assert_eq!(world.server_side.responses.len(), 3 + 16);
    let (ended, end) = world.server_side.ended.pop().expect("it is ended");
    assert!(ended == peer && format!("{end:?}").contains("too many answers"), "{end:?}");
    assert_stands(&mut world);
}
