//! Floods of initial packets.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use cycloid_vpn::proto::Role;
use cycloid_vpn::proto::wire::{Acks, Control, Header, KeyId, Opcode, SessionId};

use crate::scripted_peer::{packet, reset};
use crate::support::authority::Authority;
use crate::support::simulation::now;
use crate::{KINDS, Kind, assert_stands, standing};

/// 100,000 initial packets in ten seconds, each from a different address that never answers.
#[test]
fn a_flood_of_initial_packets_leaves_no_state_and_keeps_the_tunnel() {
    let authority = Authority::new("authority");
    for kind in KINDS {
        let mut world = standing(kind, &authority);
        let (limit, _) = (100, Duration::from_secs(10));
        // The attacker's key: with key protection its packets look right but do not verify.
        let (key, _) = kind.keys(&mut world.dice.clone());
        let mut stranger = key.protect(Role::Client).expect("a client's");
        let opcode = stranger.client_reset();
        let (mut answered, mut buffer) = (0, Vec::new());
        let per_kind = 100_000 / KINDS.len() as u32;
        for number in 0..per_kind {
            if number % (per_kind / 10) == 0 {
                world.run_until(Duration::from_secs(1), |_| false);
                assert_stands(&mut world);
            }
            let from =
                SocketAddr::new(Ipv4Addr::from(0xc633_0000 + number / 7).into(), number as u16);
            let session = SessionId::new((u64::from(number) + 1).to_be_bytes()).expect("not zero");
            let header = Header { opcode, key_id: KeyId::FIRST, session };
            let first =
                Control { header, acks: Acks::default(), remote: None, message: Some((0, &[])) };
            stranger.seal(now(world.time), &first, &mut buffer).expect("sealed");
            world.server_receives(from, buffer.clone());
            answered += std::mem::take(&mut world.server_side.outbox).len();
        }
        assert_eq!(world.server.len(), 1, "{kind:?}");
        match kind {
            Kind::Plain => assert!((1..=3 * limit).contains(&answered), "{answered}"),
            _ => assert_eq!(answered, 0, "{kind:?}: no answer without the key"),
        }
        assert_eq!(world.dropped.len(), per_kind as usize - answered);
        assert_stands(&mut world);
        assert!(world.server_side.ended.is_empty());
    }
}

/// Second packets, which cost the server only a MAC each.
#[test]
fn a_flood_of_second_packets_leaves_no_state() {
    let authority = Authority::new("authority");
    let mut world = standing(Kind::Plain, &authority);
    for number in 0..20_000_u32 {
        let from = SocketAddr::new(Ipv4Addr::from(0xc633_0000 + number).into(), 1194);
        let session = SessionId::new([7; 8]).expect("not zero");
        let header = Header {
            opcode: if number % 2 == 0 { Opcode::Control } else { Opcode::Ack },
            key_id: KeyId::FIRST,
            session,
        };
        let remote = SessionId::new((u64::from(number) + 1).to_le_bytes());
        let message = (number % 2 == 0).then_some((1, &[22, 3, 1, 0, 5][..]));
        world.server_receives(
            from,
            packet(&Control { header, acks: Acks::from_iter([0]), remote, message }),
        );
    }
    assert_eq!(world.dropped.len(), 20_000);
    assert!(world.server_side.outbox.is_empty());
    assert_eq!(world.server.len(), 1);
    assert_stands(&mut world);
}

/// The rate limit on answers applies per period, so a client can connect after the flood.
#[test]
fn a_client_can_connect_after_a_flood() {
    let authority = Authority::new("authority");
    let (client, server) = Kind::Plain.settings(&authority, 1);
    let weather = crate::support::network::Weather::FAIR;
    let mut world = crate::support::simulation::World::new(1, weather, client, server);
    for number in 0..1000_u32 {
        let from = SocketAddr::new(Ipv4Addr::from(0xc633_0000 + number).into(), 1194);
        let session = SessionId::new([7; 8]).expect("not zero");
        world.server_receives(from, reset(Opcode::HardResetClientV2, session, 0));
    }
    assert_eq!(world.server_side.outbox.len(), 100);
    assert!(world.server.is_empty());
    assert!(world.connect(), "{:?}", world.client_side.end);
    assert_stands(&mut world);
}
