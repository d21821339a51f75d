//! Packets to a client and a server at any point of a connection: forged, modified and replayed
//! ones. If a key protects the connection, none of them ends it or delivers anything.
#![no_main]

#[path = "../../crates/cycloid-vpn/tests/support/mod.rs"]
mod support;

use std::sync::OnceLock;
use std::time::Duration;

use cycloid_fuzz::Input;
use cycloid_vpn::proto::client::{ClientEnd, ClientSettings};
use cycloid_vpn::proto::server::{ServerEnd, ServerSettings};
use cycloid_vpn::proto::static_key::StaticKey;
use cycloid_vpn::proto::wire::Header;
use cycloid_vpn::proto::wrap::{Metadata, ProtectionKey, ServerKey};
use cycloid_vpn::proto::{Error, Role};
use libfuzzer_sys::fuzz_target;
use support::Dice;
use support::authority::Authority;
use support::network::Weather;
use support::simulation::{World, client_settings, server_settings};

/// The receiver of a packet.
#[derive(Clone, Copy)]
enum Victim {
    Client,
    Server,
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let kind = input.up_to(2);
    let (client, server) = &settings()[kind];
    let mut world = World::new(1, Weather::FAIR, client.clone(), server.clone());
    world.network.record = Some(Vec::new());
    match input.up_to(5) {
        // Each packet takes ten milliseconds.
        step @ 0..4 => {
            world.run_until(Duration::from_millis(step as u64 * 11), |_| false);
        }
        _ => assert!(world.connect()),
    }
    for _ in 0..64 {
        if input.is_empty() {
            break;
        }
        let (victim, packet) = packet(&mut input, &world);
        match victim {
            Victim::Client => world.client_receives(packet),
            Victim::Server => world.server_receives(world.client_address, packet),
        }
        let pause = Duration::from_millis(input.byte().into());
        world.run_until(pause, |_| false);
    }
    let connected = world.connect();
    world.run_until(Duration::from_secs(5), |_| false);
    assert!(world.client_side.path.inbox.is_empty(), "no packet was sent");
    assert!(world.server_side.paths.values().all(|path| path.inbox.is_empty()));
    if kind > 0 {
        let end = &world.client_side.end;
        let late = matches!(end, Some(ClientEnd::Failed(Error::TimedOut(_))));
        assert!(connected || late, "{end:?}");
        for (_, end) in &world.server_side.ended {
            assert!(matches!(end, ServerEnd::Failed(Error::TimedOut(_))), "{end:?}");
        }
    }
});

fn packet(input: &mut Input<'_>, world: &World) -> (Victim, Vec<u8>) {
    let choice = input.byte();
    let victim = if choice & 1 == 0 { Victim::Client } else { Victim::Server };
    let record = world.network.record.as_ref().expect("the network records packets");
    let number = usize::from(input.byte()) % record.len().max(1);
    let sample = record.get(number).map_or(&[][..], |(_, packet)| packet);
    match choice >> 1 & 3 {
        0 => (victim, input.changed(&[])),
        1 => {
            // A new message in the name of the sample's sender.
            let mut packet = vec![input.byte()];
            if let Ok(header) = Header::parse(sample) {
                packet.extend_from_slice(header.session.as_bytes());
            }
            let length = input.up_to(80);
            packet.extend((0..length).map(|_| input.byte()));
            (victim, packet)
        }
        2 => (victim, sample.to_vec()),
        _ => (victim, input.changed(sample)),
    }
}

/// Without protection, with tls-crypt, with tls-crypt-v2.
fn settings() -> &'static [(ClientSettings, ServerSettings); 3] {
    static SETTINGS: OnceLock<[(ClientSettings, ServerSettings); 3]> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let mut dice = Dice(1);
        let mut random = |bytes: &mut [u8]| dice.fill(bytes);
        let shared = ProtectionKey::Crypt { key: StaticKey::generate(&mut random) };
        let key = ServerKey::generate(&mut random);
        let own = ProtectionKey::CryptV2Client(key.client(&mut random, &Metadata::timestamp(1)));
        let authority = Authority::new("authority");
        let client = authority.tls(Role::Client, authority.issue("client", Role::Client, 2));
        let server = authority.tls(Role::Server, authority.issue("server", Role::Server, 3));
        [
            (ProtectionKey::Plain, ProtectionKey::Plain),
            (shared.clone(), shared),
            (own, ProtectionKey::CryptV2Server { key, shared: None }),
        ]
        .map(|(for_client, for_server)| {
            (
                client_settings(for_client, client.clone()),
                server_settings(for_server, server.clone()),
            )
        })
    })
}
