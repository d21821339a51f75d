//! Floods of initial packets.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use cycloid_vpn::proto::Role;
use cycloid_vpn::proto::wire::{Acks, Control, Header, KeyId, Opcode, SessionId};

use crate::scripted_peer::{packet, reset};
use crate::support::authority::Authority;
use crate::support::network::Weather;
use crate::support::simulation::{World, now};
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
            // Twelve networks in three periods.
            Kind::Plain => assert!((1..=36 * limit).contains(&answered), "{answered}"),
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

/// The rate limit on answers applies to each network and period, so a client can connect after the
/// flood, and from elsewhere during it.
#[test]
fn a_client_can_connect_after_a_flood() {
    let authority = Authority::new("authority");
    let (client, server) = Kind::Plain.settings(&authority, 1);
    let mut world = World::new(1, Weather::FAIR, client, server);
    for number in 0..1000_u32 {
        let from = SocketAddr::new(Ipv4Addr::from(0xc633_0000 + number % 256).into(), 1194);
        let session = SessionId::new([7; 8]).expect("not zero");
        world.server_receives(from, reset(Opcode::HardResetClientV2, session, 0));
    }
    assert_eq!(world.server_side.outbox.len(), 100);
    assert!(world.server.is_empty());
    assert!(world.connect(), "{:?}", world.client_side.end);
    assert!(world.time < Duration::from_secs(2), "it did not wait: {:?}", world.time);
    assert_stands(&mut world);
}

/// Opens half-open sessions: each returns its cookie, and says nothing more.
fn open_half(world: &mut World, from: impl Fn(u32) -> SocketAddr, count: u32) {
    for number in 0..count {
        let (from, number) = (from(number), u64::from(number) + 1);
        let session = SessionId::new(number.to_be_bytes()).expect("not zero");
        world.server_receives(from, reset(Opcode::HardResetClientV2, session, 0));
        for (to, answer) in std::mem::take(&mut world.server_side.outbox) {
            let Ok(header) = Header::parse(&answer) else { continue };
            let (acks, remote) = (Acks::from_iter([0]), Some(header.session));
            let header = Header { opcode: Opcode::Ack, key_id: KeyId::FIRST, session };
            let second = packet(&Control { header, acks, remote, message: None });
            world.server_receives(to, second);
        }
    }
    world.server_side.outbox.clear();
}

#[test]
fn half_open_sessions_lock_no_client_out() {
    let authority = Authority::new("authority");
    let home: Ipv4Addr = [192, 0, 2, 1].into();
    let one = |number: u32| SocketAddr::new(home.into(), 1 + number as u16);
    let neighbours = |number: u32| {
        SocketAddr::new([192, 0, 2, 10 + (number % 200) as u8].into(), 1 + number as u16)
    };
    let everywhere =
        |number: u32| SocketAddr::new(Ipv4Addr::from(0xc633_0000 + 300 * number).into(), 1194);
    let froms: [&dyn Fn(u32) -> SocketAddr; 3] = [&one, &neighbours, &everywhere];
    for from in froms {
        let (client, mut server) = Kind::Plain.settings(&authority, 1);
        // Half-open sessions use up no place of a client, either.
        server.max_clients = 5;
        let mut world = World::new(1, Weather::FAIR, client, server);
        open_half(&mut world, from, 2000);
        assert!((1000..=1024).contains(&world.server.len()), "{}", world.server.len());
        // The client connects from the attacker's address or network, while the attack goes on.
        let before = world.time;
        while world.client_side.connected.is_none() && world.time < before + Duration::from_secs(5)
        {
            open_half(&mut world, from, 20);
            world.run_until(Duration::from_millis(10), |_| false);
        }
        assert!(world.client_side.connected.is_some(), "{:?}", world.client_side.end);
        assert!(world.time < before + Duration::from_secs(1), "it had to wait: {:?}", world.time);
        assert_stands(&mut world);
    }
}
