//! Tests both cores point to point, without pushed options, in simulated time: negotiation, key
//! renewal, ends, and a second peer.

mod support;

use std::net::SocketAddr;
use std::time::Duration;

use cycloid_vpn::proto::client::{ClientEnd, ClientSettings};
use cycloid_vpn::proto::data::{CbcCipher, Cipher, Digest, OCC_EXIT, data_header};
use cycloid_vpn::proto::server::{ServerEnd, ServerSettings};
use cycloid_vpn::proto::wrap::ProtectionKey;
use cycloid_vpn::proto::{Error, Role};
use support::authority::Authority;
use support::network::Weather;
use support::simulation::{ClientSide, World, client_settings, now, server_settings};

const SECOND: Duration = Duration::from_secs(1);
const CBC: Cipher = Cipher::Cbc { cipher: CbcCipher::Aes256, digest: Digest::Sha1 };

fn settings(authority: &Authority) -> (ClientSettings, ServerSettings) {
    let client = authority.tls(Role::Client, authority.issue("west", Role::Client, 2));
    let server = authority.tls(Role::Server, authority.issue("east", Role::Server, 3));
    let mut client = client_settings(ProtectionKey::Plain, client);
    let mut server = server_settings(ProtectionKey::Plain, server);
    (client.pull, server.many) = (false, false);
    client.timing.ping = SECOND;
    server.timing.ping = SECOND;
    (client, server)
}

fn world(seed: u64, weather: Weather) -> World {
    let (client, server) = settings(&Authority::new("authority"));
    World::new(seed, weather, client, server)
}

/// Checks that a packet arrives in each direction.
fn exchange(world: &mut World, number: u32) {
    let (peer, inner) = (world.peer(), number.to_be_bytes());
    world.client_sends(&inner);
    world.server_sends(peer, &inner);
    let arrived = world.run_until(SECOND, |world| {
        let server = &world.server_side.paths[&peer].inbox;
        [server, &world.client_side.path.inbox].iter().all(|inbox| inbox.contains(&inner.to_vec()))
    });
    assert!(arrived, "{:?} {:?}", world.client_side.end, world.dropped);
}

/// Returns the peer ids in packets to the server and to the client.
fn peer_ids(world: &mut World) -> [Option<u32>; 2] {
    let peer = world.peer();
    let client = world.client_side.path.seal(b"x").expect("keys");
    let server = world.server_side.paths.get_mut(&peer).expect("a path").seal(b"x").expect("keys");
    [client, server].map(|packet| data_header(&packet).expect("a header").1)
}

#[test]
fn both_ends_agree_without_a_push() {
    let mut ids = Vec::new();
    for seed in [1, 2] {
        let mut world = world(seed, Weather::FAIR);
        assert!(world.connect(), "{:?} {:?}", world.client_side.end, world.dropped);
        let connected = world.client_side.connected.clone().expect("connected");
        assert_eq!(connected.cipher, Cipher::Aes256Gcm);
        assert!(connected.reply.options().is_empty() && connected.reply.ifconfig.is_none());
        let [client, server] = peer_ids(&mut world);
        assert!(client.is_some() && client == server, "{client:?} {server:?}");
        ids.push(client);
        exchange(&mut world, 1);
    }
    assert_ne!(ids[0], ids[1], "each session has an id of its own");
}

#[test]
fn the_servers_first_common_cipher_or_the_fallback_is_used() {
    let chacha = vec![Cipher::ChaCha20Poly1305];
    for (client_has, server_has, fallback, expected) in [
        (
            vec![Cipher::Aes256Gcm, Cipher::Aes128Gcm],
            vec![Cipher::ChaCha20Poly1305, Cipher::Aes128Gcm, Cipher::Aes256Gcm],
            None,
            Some(Cipher::Aes128Gcm),
        ),
        (chacha.clone(), vec![Cipher::Aes128Gcm], Some(CBC), Some(CBC)),
        (chacha, vec![Cipher::Aes128Gcm], None, None),
    ] {
        let (mut client, mut server) = settings(&Authority::new("authority"));
        (client.ciphers, client.fallback) = (client_has, fallback);
        (server.ciphers, server.fallback) = (server_has, fallback);
        let mut world = World::new(3, Weather::FAIR, client, server);
        assert_eq!(world.connect(), expected.is_some(), "{:?}", world.client_side.end);
        if let Some(expected) = expected {
            assert_eq!(world.client_side.connected.as_ref().expect("connected").cipher, expected);
            exchange(&mut world, 1);
        } else {
            // Both ends learn of it, and neither has a key.
            assert!(matches!(world.client_side.end, Some(ClientEnd::Failed(Error::Tls(_)))));
            assert!(world.dropped.iter().any(|it| matches!(it, Error::Incompatible(_))));
            assert_eq!(world.client_side.path.keys_installed, 0);
            assert!(world.run_until(20 * SECOND, |world| world.server.is_empty()));
            assert!(world.server_side.connected.is_empty());
        }
    }
}

#[test]
fn renegotiations_lose_no_packet() {
    let (mut client, mut server) = settings(&Authority::new("authority"));
    for timing in [&mut client.timing, &mut server.timing] {
        timing.renegotiate_after = 20 * SECOND;
        timing.transition = 10 * SECOND;
    }
    let mut world = World::new(4, Weather::FAIR, client, server);
    assert!(world.connect(), "{:?}", world.client_side.end);
    let ids = peer_ids(&mut world);
    for number in 0..200 {
        exchange(&mut world, number);
        world.run_until(SECOND, |_| false);
    }
    assert!(world.client_side.renegotiated >= 9, "{}", world.client_side.renegotiated);
    assert_eq!(world.server_side.renegotiated, world.client_side.renegotiated);
    assert_eq!(peer_ids(&mut world), ids, "the id comes from the first session");
}

#[test]
fn an_unreliable_network_causes_only_delays() {
    for seed in 0..20 {
        let mut world =
            world(100 + seed, Weather { loss: 100, repeat: 100, delay: 200, ..Weather::FAIR });
        assert!(world.connect(), "{seed}: {:?} {:?}", world.client_side.end, world.dropped);
        world.network.change(Weather::FAIR);
        exchange(&mut world, 1);
    }
}

#[test]
fn exits_are_announced_inside_tls_by_both_ends() {
    let mut world = world(5, Weather::FAIR);
    assert!(world.connect());
    let World { client, client_side, time, .. } = &mut world;
    client.stop(now(*time), client_side, &mut |_| ());
    assert!(world.run_until(SECOND, |world| world.server.is_empty()));
    assert_eq!(world.server_side.ended[0].1, ServerEnd::Exit);

    let mut world = self::world(6, Weather::FAIR);
    assert!(world.connect());
    let peer = world.peer();
    let World { server, server_side, time, .. } = &mut world;
    server.kill(now(*time), peer, Some("RESTART"), server_side);
    assert!(world.run_until(SECOND, |world| world.client_side.end.is_some()));
    let Some(ClientEnd::Restart { reason, .. }) = &world.client_side.end else {
        panic!("{:?}", world.client_side.end);
    };
    assert!(reason.contains("shutting down"), "{reason}");
}

#[test]
fn an_exit_message_on_the_data_channel_ends_the_connection() {
    let mut world = world(7, Weather::FAIR);
    assert!(world.connect());
    let peer = world.peer();
    world.server_sends(peer, &OCC_EXIT);
    assert!(world.run_until(SECOND, |world| world.client_side.path.inbox == [OCC_EXIT]));
    let World { client, client_side, .. } = &mut world;
    client.left(&mut |notice| client_side.take(notice));
    assert!(client.is_over());
    assert!(matches!(world.client_side.end, Some(ClientEnd::Restart { .. })));
}

#[test]
fn a_silent_peer_is_dropped_and_can_reconnect() {
    let (mut client, mut server) = settings(&Authority::new("authority"));
    client.timing.silence = 5 * SECOND;
    server.timing.silence = 5 * SECOND;
    let mut world = World::new(8, Weather::FAIR, client.clone(), server);
    assert!(world.connect());
    // Pings keep the connection alive.
    world.run_until(60 * SECOND, |_| false);
    assert!(world.client_side.end.is_none() && world.server_side.ended.is_empty());
    world.network.change(Weather { loss: 1000, ..Weather::FAIR });
    assert!(world.run_until(10 * SECOND, |world| {
        world.client_side.end.is_some() && world.server.is_empty()
    }));
    assert!(matches!(world.server_side.ended[0].1, ServerEnd::Failed(Error::TimedOut(_))));
    assert!(matches!(world.client_side.end, Some(ClientEnd::Failed(Error::TimedOut(_)))));
    world.network.change(Weather::FAIR);
    world.reconnect(client);
    assert!(world.connect());
    exchange(&mut world, 1);
}

/// Adds a second client to the world. Returns the state of the first.
fn second(world: &mut World, settings: ClientSettings) -> (ClientSide, SocketAddr) {
    let first = std::mem::take(&mut world.client_side);
    let address = world.client_address;
    world.reconnect(settings);
    (first, address)
}

#[test]
fn a_peer_of_an_unknown_authority_does_not_disturb_the_first() {
    let authority = Authority::new("authority");
    let (client, server) = settings(&authority);
    let own = Authority::new("another").issue("west", Role::Client, 2);
    let mut stranger = client.clone();
    stranger.tls = authority.tls_with(Role::Client, Some(own), authority.rules());
    let mut world = World::new(9, Weather::FAIR, client, server);
    assert!(world.connect());
    let peer = world.peer();
    let (mut first, address) = second(&mut world, stranger);
    world.run_until(90 * SECOND, |_| false);
    assert!(world.client_side.connected.is_none() || world.client_side.end.is_some());
    assert_eq!(world.server_side.connected.len(), 1, "{:?}", world.server_side.connected);
    assert!(world.server_side.ended.iter().all(|(id, _)| *id != peer));
    // The first peer is still connected.
    let packet = first.path.seal(b"still here").expect("its key");
    world.server_receives(address, packet);
    assert_eq!(world.server_side.paths[&peer].inbox, [b"still here"]);
}

#[test]
fn a_second_peer_without_a_common_cipher_does_not_replace_the_first() {
    let (client, server) = settings(&Authority::new("authority"));
    let mut other = client.clone();
    other.ciphers = vec![CBC];
    let mut world = World::new(12, Weather::FAIR, client, server);
    assert!(world.connect());
    let peer = world.peer();
    let (mut first, address) = second(&mut world, other);
    assert!(!world.connect());
    let packet = first.path.seal(b"still here").expect("its key");
    world.server_receives(address, packet);
    assert_eq!(world.server_side.paths[&peer].inbox, [b"still here"]);
    assert!(world.server_side.ended.is_empty(), "{:?}", world.server_side.ended);
}

#[test]
fn a_second_peer_replaces_the_first() {
    let authority = Authority::new("authority");
    let (client, server) = settings(&authority);
    let mut world = World::new(10, Weather::FAIR, client.clone(), server);
    assert!(world.connect());
    let peer = world.peer();
    let (mut first, address) = second(&mut world, client);
    assert!(world.connect(), "{:?} {:?}", world.client_side.end, world.dropped);
    assert_eq!(world.server_side.ended, [(peer, ServerEnd::Replaced)]);
    assert_eq!(world.server.len(), 1);
    exchange(&mut world, 1);
    // The first peer's key opens nothing any more.
    let packet = first.path.seal(b"the first").expect("its key");
    world.server_receives(address, packet);
    let peer = world.peer();
    assert_eq!(world.server_side.paths.len(), 1);
    assert!(!world.server_side.paths[&peer].inbox.contains(&b"the first".to_vec()));
}

#[test]
fn a_refused_peer_is_notified_and_gets_no_key() {
    let mut world = world(11, Weather::FAIR);
    world.judge = Box::new(|_| Err("revoked".into()));
    assert!(!world.connect());
    assert!(matches!(world.client_side.end, Some(ClientEnd::Failed(Error::Tls(_)))));
    assert_eq!(world.client_side.path.keys_installed, 0);
    assert!(world.server_side.paths.is_empty());
    assert!(world.run_until(20 * SECOND, |world| world.server.is_empty()));
    assert_eq!(world.server_side.ended[0].1, ServerEnd::Rejected);
}
