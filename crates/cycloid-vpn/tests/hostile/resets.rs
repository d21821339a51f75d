//! Tests with initial packets that are forged, replayed, or sent to an established tunnel.

use std::net::SocketAddr;
use std::time::Duration;

use cycloid_vpn::proto::wire::{Acks, Control, Header, KeyId, Opcode, SessionId};
use cycloid_vpn::proto::wrap::ProtectionKey;
use cycloid_vpn::proto::{Error, Role};

use crate::scripted_peer::{packet, reset};
use crate::support::authority::Authority;
use crate::support::network::Weather;
use crate::support::simulation::{World, client_settings, now, server_settings};
use crate::{KINDS, Kind, assert_stands, standing};

fn session(byte: u8) -> SessionId {
    SessionId::new([byte; 8]).expect("not zero")
}

/// Returns the attacker's address.
fn elsewhere() -> SocketAddr {
    "198.51.100.7:5555".parse().expect("an address")
}

/// Returns a server without peers and without protection.
fn empty() -> World {
    let authority = Authority::new("authority");
    let (client, server) = Kind::Plain.settings(&authority, 1);
    World::new(1, Weather::FAIR, client, server)
}

/// Returns the session id in the server's answer to an initial packet.
fn cookie(world: &mut World, from: SocketAddr, client: SessionId) -> SessionId {
    world.server_receives(from, reset(Opcode::HardResetClientV2, client, 0));
    let (to, answer) = world.server_side.outbox.pop().expect("an answer");
    assert_eq!(to, from);
    Header::parse(&answer).expect("a header").session
}

/// Returns the second packet of a client.
fn second(client: SessionId, server: SessionId) -> Vec<u8> {
    let header = Header { opcode: Opcode::Ack, key_id: KeyId::FIRST, session: client };
    let acks = Acks::from_iter([0]);
    packet(&Control { header, acks, remote: Some(server), message: None })
}

/// CVE-2025-13086: an inverted comparison accepted every session id except the right one.
#[test]
fn a_spoofed_session_id_in_the_second_packet_creates_no_peer() {
    let mut world = empty();
    let (address, client) = (elsewhere(), session(9));
    let right = cookie(&mut world, address, client);
    for bit in 0..64 {
        let mut wrong = *right.as_bytes();
        wrong[bit / 8] ^= 1 << (bit % 8);
        world.server_receives(address, second(client, SessionId::new(wrong).expect("not zero")));
    }
    for _ in 0..10_000 {
        let mut guess = [0; 8];
        world.dice.fill(&mut guess);
        world.server_receives(address, second(client, SessionId::new(guess).expect("not zero")));
    }
    let other_port = SocketAddr::new(address.ip(), 5556);
    world.server_receives(other_port, second(client, right));
    world.server_receives(address, second(session(8), right));
    assert_eq!(world.dropped.len(), 64 + 10_000 + 2);
    assert!(world.dropped.iter().all(|it| *it == Error::NotAuthentic("unknown server session id")));
    assert_eq!(world.server.len(), 0);
    assert!(world.server_side.outbox.is_empty(), "no answer to a guess");
    world.server_receives(address, second(client, right));
    assert_eq!(world.server.len(), 1, "the right session id");
}

#[test]
fn a_session_id_expires() {
    let mut world = empty();
    let right = cookie(&mut world, elsewhere(), session(9));
    world.run_until(Duration::from_secs(200), |_| false);
    world.dropped.clear();
    world.server_receives(elsewhere(), second(session(9), right));
    assert_eq!(world.dropped, [Error::NotAuthentic("unknown server session id")]);
}

#[test]
fn a_hard_reset_with_a_message_id_other_than_0_is_dropped() {
    let mut world = empty();
    for id in [1, 2, 1 << 31, u32::MAX] {
        world.server_receives(elsewhere(), reset(Opcode::HardResetClientV2, session(9), id));
    }
    assert_eq!(world.dropped, vec![Error::Sequence; 4]);
    assert!(world.server.is_empty() && world.server_side.outbox.is_empty());
}

#[test]
fn an_initial_packet_with_acknowledgements_is_dropped() {
    let mut world = empty();
    let header =
        Header { opcode: Opcode::HardResetClientV2, key_id: KeyId::FIRST, session: session(9) };
    let acks = Acks::from_iter([0]);
    let message = Some((0, &[][..]));
    let forged = packet(&Control { header, acks, remote: Some(session(5)), message });
    let World { dice, server, server_side, time, .. } = &mut world;
    for transport in [cycloid_vpn::proto::Transport::Udp, cycloid_vpn::proto::Transport::Tcp] {
        let random = &mut |bytes: &mut [u8]| dice.fill(bytes);
        let mut packet = forged.clone();
        let result =
            server.receive(now(*time), elsewhere(), transport, &mut packet, random, server_side);
        assert!(matches!(result, Err(Error::Unexpected(_))), "{result:?}");
        assert!(server.is_empty() && server_side.outbox.is_empty());
    }
}

/// From its own address with its own and other session ids, and from another address.
#[test]
fn hard_resets_in_mid_session_change_nothing() {
    let (mut world, client, server) = standing_with_sessions();
    let own = world.client_address;
    let keys = world.client_side.path.keys_installed;
    for from in [own, elsewhere()] {
        for claimed in [client, session(9)] {
            for opcode in [Opcode::HardResetClientV2, Opcode::HardResetClientV3] {
                world.server_receives(from, reset(opcode, claimed, 0));
                world.run_until(Duration::from_secs(1), |_| false);
                assert_stands(&mut world);
            }
        }
    }
    for claimed in [server, session(9)] {
        for opcode in [Opcode::HardResetServerV2, Opcode::SoftReset] {
            let mut forged = reset(opcode, claimed, 0);
            world.client_receives(forged.clone());
            // A key id that is not being negotiated.
            forged[0] |= 5;
            world.client_receives(forged);
            world.run_until(Duration::from_secs(1), |_| false);
            assert_stands(&mut world);
        }
    }
    assert_eq!(world.server.len(), 1);
    assert_eq!(world.client_side.path.keys_installed, keys, "no key may be installed");
    assert_eq!(world.server_side.renegotiated, 0);
    assert!(world.server_side.ended.is_empty());
}

/// A soft reset must name the right session, like any packet.
#[test]
fn foreign_soft_resets_have_no_effect() {
    let (mut world, client, _) = standing_with_sessions();
    world.dropped.clear();
    for (from, claimed) in [(world.client_address, session(9)), (elsewhere(), client)] {
        for key in 0..8 {
            let mut forged = reset(Opcode::SoftReset, claimed, 0);
            forged[0] |= key;
            world.server_receives(from, forged);
        }
    }
    assert_eq!(world.dropped.len(), 16);
    assert!(world.server_side.outbox.is_empty());
    assert_stands(&mut world);
}

/// Returns an established tunnel without protection, with the session ids of client and server. An
/// attacker who cannot read packets does not know these.
fn standing_with_sessions() -> (World, SessionId, SessionId) {
    let authority = Authority::new("authority");
    let (client, server) = Kind::Plain.settings(&authority, 1);
    let mut world = World::new(1, Weather::FAIR, client, server);
    world.network.record = Some(Vec::new());
    assert!(world.connect());
    let record = world.network.record.take().expect("recorded");
    let first = |server: bool| {
        let (_, packet) = record.iter().find(|(to, _)| to.is_server() == server).expect("one");
        Header::parse(packet).expect("a header").session
    };
    let sessions = (first(true), first(false));
    (world, sessions.0, sessions.1)
}

/// Replays all packets that a client ever sent, while its tunnel is up and afterwards, from its
/// address and from another.
#[test]
fn replayed_packets_establish_no_connection() {
    let authority = Authority::new("authority");
    for kind in KINDS {
        let (client, server) = kind.settings(&authority, 1);
        let mut world = World::new(1, Weather::FAIR, client, server);
        world.network.record = Some(Vec::new());
        assert!(world.connect(), "{kind:?}");
        world.run_until(Duration::from_secs(3), |_| false);
        assert_stands(&mut world);
        let record = world.network.record.take().expect("recorded");
        let (own, peer) = (world.client_address, world.peer());
        let received = world.server_side.paths[&peer].inbox.len();
        for from in [own, elsewhere()] {
            for (_, packet) in record.iter().filter(|(to, _)| to.is_server()) {
                world.server_receives(from, packet.clone());
            }
            for (_, packet) in record.iter().filter(|(to, _)| !to.is_server()) {
                world.client_receives(packet.clone());
            }
        }
        assert_eq!(world.server_side.paths[&peer].inbox.len(), received, "{kind:?}");
        assert_eq!(world.server.len(), 1, "{kind:?}");
        assert_stands(&mut world);

        let moment = now(world.time);
        world.client.stop(moment, &mut world.client_side, &mut |_| ());
        assert!(world.run_until(Duration::from_secs(1), |world| world.server.is_empty()));
        for from in [own, elsewhere()] {
            for (_, packet) in record.iter().filter(|(to, _)| to.is_server()) {
                world.server_receives(from, packet.clone());
            }
        }
        // Its second packet still creates a peer, but TLS cannot continue.
        assert!(world.server.len() <= 1, "{kind:?}");
        world.run_until(Duration::from_secs(90), |_| false);
        assert!(world.server.is_empty(), "{kind:?}");
        assert_eq!(world.server_side.connected.len(), 1, "{kind:?}");
        assert!(world.server_side.paths.is_empty(), "{kind:?}: keys");
    }
}

#[test]
fn oversized_packets_are_dropped() {
    let authority = Authority::new("authority");
    for kind in KINDS {
        let mut world = standing(kind, &authority);
        let from = world.client_address;
        for opcode in 0..32_u8 {
            for length in [0, 1, 2, 8, 9, 13, 14, 1500, 2048, 9000, 65_535] {
                for fill in [0, 1, 255] {
                    let mut forged = vec![fill; length];
                    if let Some(first) = forged.first_mut() {
                        *first = opcode << 3;
                    }
                    world.server_receives(from, forged.clone());
                    world.server_receives(elsewhere(), forged.clone());
                    world.client_receives(forged);
                }
            }
        }
        assert_eq!(world.server.len(), 1, "{kind:?}");
        assert_stands(&mut world);
    }
}

#[test]
fn a_client_of_an_unknown_authority_fails_in_tls() {
    let (authority, other) = (Authority::new("authority"), Authority::new("other"));
    let server = authority.tls(Role::Server, authority.issue("server", Role::Server, 3));
    let client = authority.tls_with(
        Role::Client,
        Some(other.issue("client", Role::Client, 2)),
        authority.rules(),
    );
    let mut world = World::new(
        1,
        Weather::FAIR,
        client_settings(ProtectionKey::Plain, client),
        server_settings(ProtectionKey::Plain, server),
    );
    world.judge = Box::new(|_| unreachable!("no decision may be requested"));
    assert!(!world.connect());
    world.run_until(Duration::from_secs(90), |_| false);
    assert!(world.server.is_empty() && world.server_side.paths.is_empty());
}
