//! Tests that keys are replaced before they are exhausted, and that old keys open nothing.

use std::time::Duration;

use cycloid_vpn::proto::Error;
use cycloid_vpn::proto::client::{ClientEnd, ClientNotice};
use cycloid_vpn::proto::data::Cipher;
use cycloid_vpn::proto::server::Server;

use crate::support::authority::Authority;
use crate::support::network::Weather;
use crate::support::simulation::World;
use crate::{KINDS, Kind, assert_stands, standing};

/// CVE-2017-7479: packet ids run out. The next key is ready before that, and nothing is sealed
/// without an id.
#[test]
fn packet_ids_near_their_limit_cause_a_renegotiation() {
    let authority = Authority::new("authority");
    for cipher in [Cipher::Aes256Gcm, Cipher::ChaCha20Poly1305] {
        for by_client in [true, false] {
            let (mut client, server) = Kind::Crypt.settings(&authority, 1);
            client.ciphers = vec![cipher];
            client.epochs = false;
            let mut world = World::new(1, Weather::FAIR, client, server);
            assert!(world.connect());
            world.run_until(Duration::from_secs(60), |_| false);
            assert_eq!(world.client_side.renegotiated, 0);
            let peer = world.peer();
            let path = match by_client {
                true => &world.client_side.path,
                false => &world.server_side.paths[&peer],
            };
            let sealer = path.sealer().expect("a key").clone();
            while sealer.used().0 < 0xf800_0000 {
                sealer.reserve(1 << 22).expect("ids are left");
            }
            assert_stands(&mut world);
            world.run_until(Duration::from_secs(15), |_| false);
            assert_eq!(world.client_side.renegotiated, 1, "{cipher:?} {by_client}");
            assert_stands(&mut world);
            assert_eq!(sealer.used().0, 0xf800_0001, "the new key is used");
            world.run_until(Duration::from_secs(60), |_| false);
            assert_eq!(world.client_side.renegotiated, 1, "the new key is not used up");
        }
    }
}

#[test]
fn a_key_without_ids_seals_nothing() {
    let authority = Authority::new("authority");
    let (mut client, server) = Kind::Crypt.settings(&authority, 1);
    client.epochs = false;
    let mut world = World::new(1, Weather::FAIR, client, server);
    assert!(world.connect());
    let sealer = world.client_side.path.sealer().expect("a key").clone();
    let mut step = 1 << 22;
    while step > 0 {
        while sealer.reserve(step).is_ok() {}
        step /= 2;
    }
    assert_eq!(sealer.used().0, u64::from(u32::MAX));
    assert!(world.client_side.path.seal(b"one more").is_none());
    world.run_until(Duration::from_secs(15), |_| false);
    assert_stands(&mut world);
}

/// CVE-2023-46850 and others: packets under a removed key arrive.
#[test]
fn old_packets_do_not_open_under_later_keys() {
    let authority = Authority::new("authority");
    for kind in KINDS {
        let (mut client, mut server) = kind.settings(&authority, 1);
        client.timing.transition = Duration::from_secs(2);
        server.timing.transition = Duration::from_secs(2);
        server.timing.renegotiate_after = Duration::from_secs(10);
        let mut world = World::new(1, Weather::FAIR, client.clone(), server);
        world.network.record = Some(Vec::new());
        assert!(world.connect(), "{kind:?}");
        for _ in 0..3 {
            assert_stands(&mut world);
        }
        let record = world.network.record.take().expect("recorded");
        let replay = |world: &mut World| {
            let peer = world.peer();
            let before =
                (world.client_side.path.inbox.len(), world.server_side.paths[&peer].inbox.len());
            for (to, packet) in &record {
                match to.is_server() {
                    true => world.server_receives(world.client_address, packet.clone()),
                    false => world.client_receives(packet.clone()),
                }
            }
            world.run_until(Duration::from_secs(1), |_| false);
            let after =
                (world.client_side.path.inbox.len(), world.server_side.paths[&peer].inbox.len());
            assert_eq!(before, after, "{kind:?}");
            assert_stands(world);
        };
        replay(&mut world);
        // Eight keys later, the first key id is used again.
        for _ in 0..10 {
            world.run_until(Duration::from_secs(10), |_| false);
            replay(&mut world);
        }
        assert!(world.client_side.renegotiated >= 8, "{}", world.client_side.renegotiated);
        // Another connection from the same address with the same peer id.
        let (address, peer) = (world.client_address, world.peer());
        let moment = crate::support::simulation::now(world.time);
        world.client.stop(moment, &mut world.client_side, &mut |_| ());
        assert!(world.run_until(Duration::from_secs(1), |world| world.server.is_empty()));
        world.reconnect(client);
        world.client_address = address;
        assert!(world.connect(), "{kind:?}: {:?}", world.client_side.end);
        world.run_until(Duration::from_secs(5), |_| false);
        assert_eq!(world.peer(), peer);
        replay(&mut world);
    }
}

/// A renegotiation that the server does not finish in time.
#[test]
fn a_failed_renegotiation_keeps_the_key_until_it_expires() {
    let authority = Authority::new("authority");
    for kind in KINDS {
        let (mut client, mut server) = kind.settings(&authority, 1);
        for timing in [&mut client.timing, &mut server.timing] {
            timing.transition = Duration::from_secs(300);
        }
        client.timing.renegotiate_after = Duration::from_secs(10);
        let mut world = World::new(1, Weather::FAIR, client, server);
        assert!(world.connect(), "{kind:?}");
        assert_stands(&mut world);
        let begun = world.time;
        world.judge_later = true;
        let failed = |world: &World| {
            let of_client = |it: &&ClientNotice| matches!(it, ClientNotice::RenegotiationFailed(_));
            world.client_side.other.iter().filter(of_client).count()
        };
        assert!(world.run_until(Duration::from_secs(90), |world| failed(world) == 1), "{kind:?}");
        world.run_until(Duration::from_secs(5), |_| false);
        assert!(!world.server_side.failures.is_empty(), "{kind:?}");
        assert_stands(&mut world);
        // The next attempt succeeds.
        world.judge_later = false;
        world.server_side.verify.clear();
        let renewed = |world: &World| world.client_side.renegotiated == 1;
        assert!(world.run_until(Duration::from_secs(100), renewed), "{kind:?}");
        assert_stands(&mut world);
        // No further one does, until the key is too old.
        world.judge_later = true;
        let renewed = world.time;
        assert!(renewed < begun + Duration::from_secs(200));
        world.run_until(Duration::from_secs(290), |_| false);
        assert!(failed(&world) > 2, "{}", failed(&world));
        assert_stands(&mut world);
        let ended = |world: &World| world.client_side.end.is_some();
        assert!(world.run_until(Duration::from_secs(30), ended), "{kind:?}");
        let text = format!("{:?}", world.client_side.end);
        assert!(text.contains("the key has expired"), "{text}");
    }
}

/// A server that has forgotten the client between its answer and the handshake.
#[test]
fn a_server_that_restarts_in_the_handshake_is_given_up() {
    let authority = Authority::new("authority");
    let (client, server) = Kind::Crypt.settings(&authority, 1);
    let mut world = World::new(1, Weather::FAIR, client.clone(), server.clone());
    let answered = |world: &World| !world.server_side.outbox.is_empty();
    world.run_until(Duration::from_millis(10), answered);
    world.run_until(Duration::from_millis(11), |_| false);
    let mut random = world.dice.clone();
    world.server = Server::new(server, &mut |bytes: &mut [u8]| random.fill(bytes));
    let begun = world.time;
    assert!(world.run_until(Duration::from_secs(60), |world| world.client_side.end.is_some()));
    assert!(world.time - begun < Duration::from_secs(7), "{:?}", world.time - begun);
    assert!(matches!(world.client_side.end, Some(ClientEnd::Failed(Error::TimedOut(_)))));
    world.reconnect(client);
    assert!(world.connect());
    assert_stands(&mut world);
}

#[test]
fn after_a_short_sleep_a_client_pings_and_after_a_long_one_it_reconnects() {
    let authority = Authority::new("authority");
    let (mut client, server) = Kind::Crypt.settings(&authority, 1);
    client.timing.ping = Duration::from_secs(10);
    client.timing.silence = Duration::from_secs(60);
    let mut world = World::new(1, Weather::FAIR, client, server);
    assert!(world.connect());
    world.run_until(Duration::from_secs(3), |_| false);
    let asleep = Duration::from_secs(5);
    world.time += asleep;
    let pings = world.client_side.path.traffic.sent_packets;
    let World { client, client_side, .. } = &mut world;
    client.resumed(asleep, &mut |notice| client_side.take(notice));
    world.run_until(Duration::from_millis(100), |_| false);
    assert_eq!(world.client_side.path.traffic.sent_packets, pings + 1);
    assert_stands(&mut world);
    let asleep = Duration::from_secs(61);
    world.time += asleep;
    let World { client, client_side, .. } = &mut world;
    client.resumed(asleep, &mut |notice| client_side.take(notice));
    assert!(matches!(world.client_side.end, Some(ClientEnd::Failed(Error::TimedOut(_)))));
}
/// With epochs, the limit of a key is followed by its next epoch, at both ends and without a
/// negotiation.
#[test]
fn the_next_epoch_needs_no_negotiation() {
    let authority = Authority::new("authority");
    for by_client in [true, false] {
        let mut world = standing(Kind::Crypt, &authority);
        let peer = world.peer();
        for epoch in 1..=6 {
            let path = match by_client {
                true => &world.client_side.path,
                false => &world.server_side.paths[&peer],
            };
            let sealer = path.sealer().expect("a key").clone();
            assert_eq!(sealer.epoch(), epoch);
            let _next = sealer.successor().expect("an epoch follows");
            assert_stands(&mut world);
            // An exchange later, the other end has followed.
            assert_stands(&mut world);
            let (client, server) = (&world.client_side.path, &world.server_side.paths[&peer]);
            assert_eq!(client.sealer().expect("a key").epoch(), epoch + 1);
            assert_eq!(server.sealer().expect("a key").epoch(), epoch + 1);
        }
        assert_eq!(world.client_side.renegotiated, 0);
    }
}
