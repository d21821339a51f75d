//! Tests with revoked and foreign certificates, and with deceptive names.

use std::time::Duration;

use cycloid_vpn::proto::client::ClientEnd;
use cycloid_vpn::proto::push::PushReply;
use cycloid_vpn::proto::server::ServerEnd;
use cycloid_vpn::proto::tls::{PeerRules, RevocationList};
use cycloid_vpn::proto::{Error, Role};

use crate::scripted_peer::ScriptedPeer;
use crate::support::authority::Authority;
use crate::support::network::Weather;
use crate::support::simulation::{World, now};
use crate::{Kind, assert_stands, standing};

/// Reloads the server's TLS setup with this certificate revoked.
fn revoke(world: &mut World, authority: &Authority, serial: u64) {
    let rules = PeerRules { revocation: vec![authority.revoke(&[serial])], ..authority.rules() };
    let own = authority.issue("server", Role::Server, 3);
    world.server.set_tls(authority.tls_with(Role::Server, Some(own), rules));
}

fn renegotiate(world: &mut World) {
    let moment = now(world.time);
    let World { dice, client, client_side, .. } = world;
    let random = &mut |bytes: &mut [u8]| dice.fill(bytes);
    client.renegotiate(moment, random, client_side).expect("begun");
    world.run_until(Duration::from_secs(10), |_| false);
}

#[test]
fn a_revoked_certificate_is_refused_at_the_next_renegotiation() {
    let authority = Authority::new("authority");
    let mut world = standing(Kind::Crypt, &authority);
    revoke(&mut world, &authority, 99);
    renegotiate(&mut world);
    assert_eq!(world.client_side.renegotiated, 1, "another certificate was revoked");
    assert_stands(&mut world);
    revoke(&mut world, &authority, 2);
    assert_stands(&mut world);
    renegotiate(&mut world);
    assert!(matches!(world.server_side.ended[..], [(_, ServerEnd::Failed(Error::Refused(_)))]));
    assert!(world.server_side.paths.is_empty(), "its keys must be removed");
    assert!(matches!(world.client_side.end, Some(ClientEnd::Failed(_))));
}

#[test]
fn a_revoked_certificate_is_refused_at_the_next_connection() {
    let authority = Authority::new("authority");
    let (client, server) = Kind::Crypt.settings(&authority, 1);
    let mut world = World::new(1, Weather::FAIR, client.clone(), server);
    revoke(&mut world, &authority, 99);
    assert!(world.connect(), "{:?}", world.client_side.end);
    revoke(&mut world, &authority, 2);
    world.reconnect(client);
    assert!(!world.connect());
    assert_eq!(world.server_side.connected.len(), 1);
}

/// Returns a client and a server, each with a certificate of an intermediate authority, that use
/// the same revocation lists.
fn below(root: &Authority, middle: &Authority, revocation: &[RevocationList]) -> World {
    let (mut client, mut server) = Kind::Crypt.settings(root, 1);
    let rules = PeerRules { revocation: revocation.to_vec(), ..root.rules() };
    let tls = |role, name, serial| {
        root.tls_with(role, Some(middle.issue(name, role, serial)), rules.clone())
    };
    client.tls = tls(Role::Client, "client", 2);
    server.tls = tls(Role::Server, "server", 3);
    World::new(1, Weather::FAIR, client, server)
}

#[test]
fn a_revoked_intermediate_is_refused_by_both_ends() {
    let root = Authority::new("root");
    let [of_client, of_server] = [5, 6].map(|serial| root.below("middle", serial));
    let lists =
        |serials: &[u64]| vec![root.revoke(serials), of_client.revoke(&[]), of_server.revoke(&[])];
    for middle in [&of_client, &of_server] {
        let mut world = below(&root, middle, &lists(&[99]));
        assert!(world.connect(), "{:?}", world.client_side.end);
        assert_stands(&mut world);
    }

    // Each end has a certificate of another intermediate; one of them is revoked.
    for revoked in [5, 6] {
        let rules = PeerRules { revocation: lists(&[revoked]), ..root.rules() };
        let (mut client, mut server) = Kind::Crypt.settings(&root, 1);
        let own = of_client.issue("client", Role::Client, 2);
        client.tls = root.tls_with(Role::Client, Some(own), rules.clone());
        let own = of_server.issue("server", Role::Server, 3);
        server.tls = root.tls_with(Role::Server, Some(own), rules);
        let mut world = World::new(1, Weather::FAIR, client, server);
        world.judge = Box::new(|_| unreachable!("no decision may be requested"));
        assert!(!world.connect());
        world.run_until(Duration::from_secs(70), |_| false);
        assert!(world.server_side.paths.is_empty());
        let reasons = format!("{:?} {:?}", world.client_side.end, world.server_side.ended);
        let reason = "the authority above it, CN=middle, is revoked";
        assert_eq!(reasons.matches(reason).count(), 1, "{reasons}");
        let at_client = format!("{:?}", world.client_side.end).contains(reason);
        assert_eq!(at_client, revoked == 6, "{reasons}");
    }
}

#[test]
fn an_intermediate_revoked_later_is_refused_at_the_next_renegotiation() {
    let root = Authority::new("root");
    let middle = root.below("middle", 5);
    let mut world = below(&root, &middle, &[root.revoke(&[]), middle.revoke(&[])]);
    assert!(world.connect(), "{:?}", world.client_side.end);
    assert_stands(&mut world);
    let revocation = vec![root.revoke(&[5]), middle.revoke(&[])];
    let rules = PeerRules { revocation, ..root.rules() };
    let own = middle.issue("server", Role::Server, 3);
    world.server.set_tls(root.tls_with(Role::Server, Some(own), rules));
    renegotiate(&mut world);
    assert!(matches!(world.server_side.ended[..], [(_, ServerEnd::Failed(Error::Refused(_)))]));
    assert!(world.server_side.paths.is_empty(), "its keys must be removed");
}

/// Another user with a valid certificate, who can inject packets into an unprotected session.
#[test]
fn another_user_cannot_take_over_a_tunnel_by_a_renegotiation() {
    let authority = Authority::new("authority");
    let mut world = standing(Kind::Plain, &authority);
    world.judge_later = true;
    let tls =
        |name, serial| authority.tls(Role::Client, authority.issue(name, Role::Client, serial));
    for (name, user, good) in
        [("ann", "ann", true), ("mallory", "ann", false), ("ann", "mallory", false)]
    {
        let mut puppet = ScriptedPeer::client(&mut world, &tls("ann", 5), "198.51.100.7:5555");
        puppet.introduce(&mut world, "ann");
        let peer = world.server_side.verify.pop().expect("a decision must be pending").0;
        let moment = now(world.time);
        world
            .server
            .accept(moment, peer, PushReply::default(), &mut world.server_side)
            .expect("a decision was pending");
        puppet.say(b"PUSH_REQUEST\0");
        puppet.talk(&mut world);
        assert!(puppet.has_heard(b"PUSH_REPLY"));
        let ended = world.server_side.ended.len();

        let mut next = puppet.renegotiation(&world, &tls(name, 6));
        next.introduce(&mut world, user);
        assert_eq!(world.server_side.verify.len(), usize::from(good), "{name} {user}");
        if good {
            world.server_side.verify.clear();
            world.server.kill(moment, peer, None, &mut world.server_side);
        } else {
            assert!(next.heard.is_empty());
            let end = ServerEnd::Failed(Error::NotAuthentic("the tunnel belongs to another user"));
            assert_eq!(world.server_side.ended[ended..], [(peer, end)]);
        }
        assert!(!world.server_side.paths.contains_key(&peer));
        assert_stands(&mut world);
    }
}

/// CVE-2017-7522, and names that could manipulate a terminal, a log or a hook's environment.
#[test]
fn control_characters_in_a_clients_name_are_refused() {
    let authority = Authority::new("authority");
    for name in ["ann\0.example", "ann\nroot", "ann\r", "\x1b[2J", "ann\x7f", "ann\u{85}"] {
        let (mut client, server) = Kind::Plain.settings(&authority, 1);
        client.tls = authority.tls(Role::Client, authority.issue(name, Role::Client, 5));
        let mut world = World::new(1, Weather::FAIR, client, server);
        world.judge = Box::new(|_| unreachable!("no decision may be requested"));
        assert!(!world.connect(), "{name:?}");
        world.run_until(Duration::from_secs(70), |_| false);
        assert!(world.server.is_empty() && world.server_side.paths.is_empty());
    }
    for name in ["ann", "Ann O'Neill", "Ånn", "安"] {
        let (mut client, server) = Kind::Plain.settings(&authority, 1);
        client.tls = authority.tls(Role::Client, authority.issue(name, Role::Client, 5));
        let mut world = World::new(1, Weather::FAIR, client, server);
        world.judge = Box::new(move |verify| {
            assert_eq!(verify.identity.as_ref().expect("a certificate").common_name, name);
            Ok(PushReply::default())
        });
        assert!(world.connect(), "{name:?}");
    }
}
