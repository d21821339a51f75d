//! Tests both cores against each other in simulated time: protections, ciphers, users, key renewal,
//! and certificate requirements.

mod pushed_options;
#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;

use cycloid_vpn::proto::Role;
use cycloid_vpn::proto::client::ClientEnd;
use cycloid_vpn::proto::data::{CbcCipher, Cipher, Digest};
use cycloid_vpn::proto::push::PushReply;
use cycloid_vpn::proto::server::{PeerId, ServerEnd};
use cycloid_vpn::proto::tls::{NameRule, PeerRules, TlsFactory, TlsSettings, Usage};
use cycloid_vpn::proto::wrap::ProtectionKey;
use support::authority::Authority;
use support::network::Weather;
use support::simulation::{World, client_settings, now, server_settings};
use zeroize::Zeroizing;

fn pair(authority: &Authority) -> (TlsFactory, TlsFactory) {
    (
        authority.tls(Role::Client, authority.issue("client", Role::Client, 2)),
        authority.tls(Role::Server, authority.issue("server", Role::Server, 3)),
    )
}

fn plain_world(seed: u64) -> World {
    let authority = Authority::new("authority");
    let (client, server) = pair(&authority);
    World::new(
        seed,
        Weather::FAIR,
        client_settings(ProtectionKey::Plain, client),
        server_settings(ProtectionKey::Plain, server),
    )
}

/// Checks that packets arrive intact in both directions.
fn exchange(world: &mut World) {
    let peer = world.peer();
    let (client_before, server_before) =
        (world.client_side.path.inbox.len(), world.server_side.paths[&peer].inbox.len());
    for size in [1_usize, 20, 576, 1400] {
        world.client_sends(&vec![0x45; size]);
        world.server_sends(peer, &vec![0x46; size]);
    }
    assert!(world.run_until(Duration::from_secs(5), |world| {
        world.client_side.path.inbox.len() == client_before + 4
            && world.server_side.paths[&peer].inbox.len() == server_before + 4
    }));
    assert_eq!(world.client_side.path.inbox.last(), Some(&vec![0x46; 1400]));
    assert_eq!(world.server_side.paths[&peer].inbox.last(), Some(&vec![0x45; 1400]));
}

#[test]
fn a_connection_carries_packets_both_ways() {
    let mut world = plain_world(1);
    assert!(world.connect(), "{:?} {:?}", world.client_side.end, world.dropped);
    let connected = world.client_side.connected.clone().expect("connected");
    assert_eq!(connected.cipher, Cipher::Aes256Gcm);
    assert!(connected.reply.protocol.tls_ekm);
    exchange(&mut world);
    assert!(world.dropped.is_empty(), "{:?}", world.dropped);
}

#[test]
fn the_servers_first_common_cipher_is_used() {
    for (client_has, server_has, expected) in [
        (vec![Cipher::Aes128Gcm], vec![Cipher::Aes256Gcm, Cipher::Aes128Gcm], Cipher::Aes128Gcm),
        (
            vec![Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305],
            vec![Cipher::ChaCha20Poly1305, Cipher::Aes128Gcm],
            Cipher::ChaCha20Poly1305,
        ),
    ] {
        let authority = Authority::new("authority");
        let (client_tls, server_tls) = pair(&authority);
        let mut client = client_settings(ProtectionKey::Plain, client_tls);
        client.ciphers = client_has;
        let mut server = server_settings(ProtectionKey::Plain, server_tls);
        server.ciphers = server_has;
        let mut world = World::new(2, Weather::FAIR, client, server);
        assert!(world.connect(), "{:?}", world.client_side.end);
        assert_eq!(world.client_side.connected.as_ref().expect("connected").cipher, expected);
        exchange(&mut world);
    }
}

#[test]
fn cbc_with_an_hmac_if_both_ends_are_configured_for_it() {
    let cipher = Cipher::Cbc { cipher: CbcCipher::Aes256, digest: Digest::Sha256 };
    let authority = Authority::new("authority");
    let (client_tls, server_tls) = pair(&authority);
    let mut client = client_settings(ProtectionKey::Plain, client_tls);
    (client.ciphers, client.digest) = (vec![cipher], Digest::Sha256);
    let mut server = server_settings(ProtectionKey::Plain, server_tls);
    (server.ciphers, server.digest) = (vec![cipher], Digest::Sha256);
    let mut world = World::new(3, Weather::FAIR, client, server);
    assert!(world.connect(), "{:?}", world.client_side.end);
    exchange(&mut world);
}

#[test]
fn the_client_learns_that_there_is_no_common_cipher() {
    let authority = Authority::new("authority");
    let (client_tls, server_tls) = pair(&authority);
    let mut client = client_settings(ProtectionKey::Plain, client_tls);
    client.ciphers = vec![Cipher::Aes128Gcm];
    let mut server = server_settings(ProtectionKey::Plain, server_tls);
    server.ciphers = vec![Cipher::ChaCha20Poly1305];
    let mut world = World::new(4, Weather::FAIR, client, server);
    assert!(!world.connect());
    let Some(ClientEnd::AuthFailed { reason, .. }) = &world.client_side.end else {
        panic!("{:?}", world.client_side.end);
    };
    assert!(reason.contains("cipher"), "{reason}");
}

#[test]
fn credentials_reach_the_caller_and_a_refusal_reaches_the_client() {
    for (password, good) in [("right", true), ("wrong", false)] {
        let authority = Authority::new("authority");
        let (client_tls, server_tls) = pair(&authority);
        let mut client = client_settings(ProtectionKey::Plain, client_tls);
        client.credentials = Some(("ann".into(), Zeroizing::new(password.into())));
        let server = server_settings(ProtectionKey::Plain, server_tls);
        let mut world = World::new(5, Weather::FAIR, client, server);
        world.judge = Box::new(|verify| {
            assert_eq!(*verify.username, "ann");
            assert_eq!(verify.identity.as_ref().expect("a certificate").common_name, "client");
            match verify.password.as_str() {
                "right" => Ok(PushReply::default()),
                _ => Err("no such user".into()),
            }
        });
        assert_eq!(world.connect(), good);
        if !good {
            let Some(ClientEnd::AuthFailed { reason, .. }) = &world.client_side.end else {
                panic!("{:?}", world.client_side.end);
            };
            assert_eq!(reason, "no such user");
            assert!(world.server_side.paths.is_empty(), "a refused client must get no key");
            assert!(world.run_until(Duration::from_secs(20), |world| world.server.is_empty()));
            assert_eq!(world.server_side.ended[0].1, ServerEnd::Rejected);
        }
    }
}

#[test]
fn renegotiations_lose_no_packet() {
    for only_tls12 in [false, true] {
        let authority = Authority::new("authority");
        let tls = |role, name, serial| {
            let settings = TlsSettings {
                credentials: Some(authority.issue(name, role, serial)),
                peer: authority.rules(),
                only_tls12,
                ..TlsSettings::default()
            };
            TlsFactory::new(role, &settings).expect("settings")
        };
        let mut client = client_settings(ProtectionKey::Plain, tls(Role::Client, "client", 2));
        client.timing.renegotiate_after = Duration::from_secs(30);
        client.timing.transition = Duration::from_secs(10);
        let mut server = server_settings(ProtectionKey::Plain, tls(Role::Server, "server", 3));
        server.timing.renegotiate_after = Duration::from_secs(20);
        server.timing.transition = Duration::from_secs(10);
        let mut world = World::new(6, Weather::FAIR, client, server);
        assert!(world.connect(), "{:?}", world.client_side.end);
        let peer = world.peer();
        for second in 0..400_u32 {
            world.client_sends(&second.to_be_bytes());
            world.server_sends(peer, &second.to_be_bytes());
            world.run_until(Duration::from_secs(1), |_| false);
        }
        world.run_until(Duration::from_secs(1), |_| false);
        let expected: Vec<Vec<u8>> =
            (0..400_u32).map(|second| second.to_be_bytes().to_vec()).collect();
        assert_eq!(world.client_side.path.inbox, expected);
        assert_eq!(world.server_side.paths[&peer].inbox, expected);
        // One renegotiation every 20 seconds; key ids wrap around.
        assert!(world.client_side.renegotiated >= 18, "{}", world.client_side.renegotiated);
        assert_eq!(world.server_side.renegotiated, world.client_side.renegotiated);
    }
}

#[test]
fn tunnels_renew_their_keys_at_different_times_within_their_range() {
    let authority = Authority::new("authority");
    let times: Vec<Duration> = (20..24)
        .map(|seed| {
            let (client, server) = pair(&authority);
            let client = client_settings(ProtectionKey::Plain, client);
            let mut server = server_settings(ProtectionKey::Plain, server);
            server.timing.renegotiate_after = Duration::from_secs(100);
            server.timing.renegotiate_not_before = Some(Duration::from_secs(50));
            let mut world = World::new(seed, Weather::FAIR, client, server);
            assert!(world.connect(), "{:?}", world.client_side.end);
            let start = world.time;
            let renewed = |world: &World| world.server_side.renegotiated == 1;
            assert!(world.run_until(Duration::from_secs(105), renewed));
            world.time - start
        })
        .collect();
    assert!(times.iter().all(|time| time.as_secs() >= 50), "{times:?}");
    assert!(times.windows(2).all(|pair| pair[0].abs_diff(pair[1]).as_secs() >= 1), "{times:?}");
}

#[test]
fn a_key_is_replaced_at_its_traffic_limit() {
    let authority = Authority::new("authority");
    let (client_tls, server_tls) = pair(&authority);
    let mut client = client_settings(ProtectionKey::Plain, client_tls);
    client.timing.renegotiate_packets = 100;
    let server = server_settings(ProtectionKey::Plain, server_tls);
    let mut world = World::new(7, Weather::FAIR, client, server);
    assert!(world.connect());
    for _ in 0..101 {
        world.client_sends(&[0x45; 100]);
    }
    assert!(world.run_until(Duration::from_secs(10), |world| world.client_side.renegotiated == 1));
    world.run_until(Duration::from_secs(30), |_| false);
    assert_eq!(world.client_side.renegotiated, 1, "the new key is unused so far");
}

/// Returns a connection with pings. The server gives up after `silence` seconds without packets,
/// the client after sixty.
fn world_with_pings(seed: u64, silence: u64) -> World {
    let authority = Authority::new("authority");
    let (client_tls, server_tls) = pair(&authority);
    let client = client_settings(ProtectionKey::Plain, client_tls);
    let mut server = server_settings(ProtectionKey::Plain, server_tls);
    server.timing.ping = Duration::from_secs(10);
    server.timing.silence = Duration::from_secs(silence);
    let mut world = World::new(seed, Weather::FAIR, client, server);
    world.judge = Box::new(|_| {
        let mut reply = PushReply::default();
        (reply.ping, reply.ping_restart) = (Some(10), Some(60));
        Ok(reply)
    });
    assert!(world.connect());
    world
}

#[test]
fn pings_keep_a_tunnel_and_their_absence_ends_it() {
    let mut world = world_with_pings(8, 120);
    world.run_until(Duration::from_secs(600), |_| false);
    assert!(world.client_side.end.is_none());
    assert!(world.server_side.ended.is_empty());
    assert!(world.client_side.path.traffic.received_packets >= 50);
    // From now on the network drops everything.
    world.network = support::network::Network::new(Weather { loss: 1000, ..Weather::FAIR });
    // Silence is noticed at the latest when the next ping is due.
    world.run_until(Duration::from_secs(72), |_| false);
    assert!(matches!(world.client_side.end, Some(ClientEnd::Failed(_))));
    world.run_until(Duration::from_secs(120), |_| false);
    assert!(matches!(world.server_side.ended[..], [(_, ServerEnd::Failed(_))]));
    assert!(world.server.is_empty());
}

/// The core counts packets from time to time. A packet counts from its arrival, not from then.
#[test]
fn silence_begins_with_the_last_packet() {
    let mut world = world_with_pings(12, 120);
    world.run_until(Duration::from_secs(100), |_| false);
    world.network = support::network::Network::new(Weather { loss: 1000, ..Weather::FAIR });
    let traffic = &mut world.client_side.path.traffic;
    (traffic.received_packets, traffic.received_ago) =
        (traffic.received_packets + 1, Duration::from_secs(30));
    world.run_until(Duration::from_secs(60), |_| false);
    assert!(matches!(world.client_side.end, Some(ClientEnd::Failed(_))));
}

#[test]
fn a_pause_of_the_process_does_not_count_as_silence() {
    let mut world = world_with_pings(11, 60);
    let pause = |world: &mut World| {
        world.time += Duration::from_secs(300);
        world.run_until(Duration::from_secs(5), |_| false);
        (world.client_side.end.is_some(), world.server_side.ended.len())
    };
    assert_eq!([pause(&mut world), pause(&mut world)], [(false, 0); 2]);
    // After a pause, both ends ask for a sign of life, which must come within four seconds.
    world.network.change(Weather { loss: 1000, ..Weather::FAIR });
    world.run_until(Duration::from_secs(15), |_| false);
    world.time += Duration::from_secs(300);
    world.run_until(Duration::from_secs(3), |_| false);
    assert!(world.client_side.end.is_none() && world.server_side.ended.is_empty());
    world.run_until(Duration::from_secs(2), |_| false);
    assert!(world.client_side.end.is_some() && world.server_side.ended.len() == 1);
}

#[test]
fn a_leaving_client_notifies_the_server() {
    let mut world = plain_world(9);
    assert!(world.connect());
    let now = now(world.time);
    let World { client, client_side, .. } = &mut world;
    client.stop(now, client_side, &mut |_| ());
    assert!(world.run_until(Duration::from_secs(1), |world| world.server.is_empty()));
    assert_eq!(world.server_side.ended[0].1, ServerEnd::Exit);
}

#[test]
fn a_client_returning_from_its_address_replaces_its_old_session() {
    let authority = Authority::new("authority");
    let (client_tls, server_tls) = pair(&authority);
    let client = client_settings(ProtectionKey::Plain, client_tls);
    let server = server_settings(ProtectionKey::Plain, server_tls);
    let mut world = World::new(10, Weather::FAIR, client.clone(), server);
    assert!(world.connect());
    let address = world.client_address;
    world.reconnect(client);
    world.client_address = address;
    assert!(world.connect(), "{:?} {:?}", world.client_side.end, world.dropped);
    world.run_until(Duration::from_secs(5), |_| false);
    assert_eq!(world.server.len(), 1);
    assert_eq!(world.server_side.ended[0].1, ServerEnd::Replaced);
    exchange(&mut world);
}

/// OpenVPN keeps its id when it begins a new session, so packets with that id are still its own.
#[test]
fn the_id_of_a_replaced_session_goes_to_nobody_else() {
    let authority = Authority::new("authority");
    let (client_tls, server_tls) = pair(&authority);
    let client = client_settings(ProtectionKey::Plain, client_tls);
    let server = server_settings(ProtectionKey::Plain, server_tls);
    let mut world = World::new(12, Weather::FAIR, client.clone(), server);
    let mut port = world.client_address.port();
    let mut connect = |world: &mut World, new_port: bool| {
        world.reconnect(client.clone());
        port += u16::from(new_port);
        world.client_address.set_port(port);
        assert!(world.connect(), "{:?} {:?}", world.client_side.end, world.dropped);
        world.run_until(Duration::from_secs(5), |_| false);
        let (id, _) = world.server_side.connected.last().expect("connected");
        (id.0, world.server.len())
    };
    assert_eq!(connect(&mut world, false), (0, 1));
    assert_eq!(connect(&mut world, false), (1, 1));
    assert_eq!(connect(&mut world, true), (2, 2));
    // The end of the second session frees the id of the first one, too.
    let moment = now(world.time);
    world.server.kill(moment, PeerId(1), None, &mut world.server_side);
    assert_eq!(world.server.len(), 1);
    assert_eq!(connect(&mut world, true), (0, 2));
    // Session after session keeps the first four ids: 0, 1, 3 and 4.
    let ids: Vec<(u32, usize)> = (0..8).map(|_| connect(&mut world, false)).collect();
    assert_eq!(ids, [1, 3, 4, 5, 6, 5, 6, 5].map(|id| (id, 2)));
}

#[test]
fn only_certificates_that_meet_the_rules_are_accepted() {
    let authority = Authority::new("authority");
    let other = Authority::new("other");
    let good = || authority.issue("server", Role::Server, 3);
    let fingerprint = |credentials: &cycloid_vpn::proto::tls::Credentials| -> [u8; 32] {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &credentials.chain[0]);
        digest.as_ref().try_into().expect("32 bytes")
    };
    let known = good();
    let rules = authority.rules();
    let cases: Vec<(&str, _, PeerRules, bool)> = vec![
        ("by the authority", good(), rules.clone(), true),
        ("by another authority", other.issue("server", Role::Server, 3), rules.clone(), false),
        ("a client certificate", authority.issue("server", Role::Client, 3), rules.clone(), false),
        (
            "without a usage, none required",
            authority.issue_with("server", Role::Server, 3, |it| it.extended_key_usages.clear()),
            PeerRules { usage: Usage::IfPresent, ..rules.clone() },
            true,
        ),
        (
            "without a usage, one required",
            authority.issue_with("server", Role::Server, 3, |it| it.extended_key_usages.clear()),
            rules.clone(),
            false,
        ),
        (
            "expired",
            authority.issue_with("server", Role::Server, 3, |it| {
                it.not_after = rcgen::date_time_ymd(2026, 10, 1);
            }),
            rules.clone(),
            false,
        ),
        (
            "revoked",
            good(),
            PeerRules { revocation: vec![authority.revoke(&[3])], ..rules.clone() },
            false,
        ),
        (
            "another revoked",
            good(),
            PeerRules { revocation: vec![authority.revoke(&[4])], ..rules.clone() },
            true,
        ),
        (
            "a list of another authority",
            good(),
            PeerRules { revocation: vec![other.revoke(&[4])], ..rules.clone() },
            false,
        ),
        (
            "the name",
            good(),
            PeerRules { name: Some(NameRule::Name("server".into())), ..rules.clone() },
            true,
        ),
        (
            "another name",
            good(),
            PeerRules { name: Some(NameRule::Name("serve".into())), ..rules.clone() },
            false,
        ),
        (
            "a prefix of the name",
            good(),
            PeerRules { name: Some(NameRule::Prefix("serve".into())), ..rules.clone() },
            true,
        ),
        (
            "the subject",
            good(),
            PeerRules { name: Some(NameRule::Subject("CN=server".into())), ..rules.clone() },
            true,
        ),
        (
            "a name with a zero byte",
            authority.issue_with("server\0.evil", Role::Server, 3, |_| ()),
            rules.clone(),
            false,
        ),
        (
            "the fingerprint, no authority",
            known.clone(),
            PeerRules { fingerprints: vec![fingerprint(&known)], ..PeerRules::default() },
            true,
        ),
        (
            "another fingerprint",
            good(),
            PeerRules { fingerprints: vec![fingerprint(&known)], ..PeerRules::default() },
            false,
        ),
    ];
    for (what, credentials, rules, accepted) in cases {
        let own = authority.issue("client", Role::Client, 2);
        let client = client_settings(
            ProtectionKey::Plain,
            authority.tls_with(Role::Client, Some(own), rules),
        );
        let server =
            server_settings(ProtectionKey::Plain, authority.tls(Role::Server, credentials));
        let mut world = World::new(11, Weather::FAIR, client, server);
        assert_eq!(world.connect(), accepted, "{what}: {:?}", world.client_side.end);
    }
}

#[test]
fn new_connections_are_limited_for_a_time() {
    let authority = Authority::new("authority");
    let (client, server) = pair(&authority);
    let client = client_settings(ProtectionKey::Plain, client);
    let mut server = server_settings(ProtectionKey::Plain, server);
    server.connections = Some((2, Duration::from_secs(300)));
    let mut world = World::new(13, Weather::FAIR, client.clone(), server);
    for accepted in [true, true, false] {
        assert_eq!(world.connect(), accepted, "{:?}", world.client_side.end);
        world.reconnect(client.clone());
    }
    assert!(world.dropped.iter().any(|error| error.to_string().contains("connect-freq")));
    world.run_until(Duration::from_secs(300), |_| false);
    world.reconnect(client);
    assert!(world.connect(), "{:?}", world.client_side.end);
}

#[test]
fn a_client_without_a_certificate_is_refused_unless_it_is_optional() {
    let authority = Authority::new("authority");
    for optional in [false, true] {
        let client = client_settings(
            ProtectionKey::Plain,
            authority.tls_with(Role::Client, None, authority.rules()),
        );
        let rules = PeerRules { optional, ..authority.rules() };
        let own = authority.issue("server", Role::Server, 3);
        let server = server_settings(
            ProtectionKey::Plain,
            authority.tls_with(Role::Server, Some(own), rules),
        );
        let mut world = World::new(12, Weather::FAIR, client, server);
        assert_eq!(world.connect(), optional);
    }
}
