//! Tests that keys are replaced before they are exhausted, and that old keys open nothing.

use std::time::Duration;

use cycloid_vpn::proto::data::Cipher;

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
