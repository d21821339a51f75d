//! Tests the protocol core against hostile networks and peers, which must cost nothing but time.

#[path = "../support/mod.rs"]
mod support;

mod authentication;
mod certificates;
mod flood;
mod keys;
mod resets;
mod scripted_peer;
mod storm;
mod texts;

use std::time::Duration;

use cycloid_vpn::proto::Role;
use cycloid_vpn::proto::client::ClientSettings;
use cycloid_vpn::proto::data::Digest;
use cycloid_vpn::proto::server::ServerSettings;
use cycloid_vpn::proto::static_key::{Direction, StaticKey};
use cycloid_vpn::proto::wrap::{Metadata, ProtectionKey, ServerKey};
use support::Dice;
use support::authority::Authority;
use support::network::Weather;
use support::simulation::{World, client_settings, server_settings};

/// The protection of the control channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Auth,
    Crypt,
    CryptV2,
    /// tls-crypt-v2 with a server that also accepts clients without cookie support.
    CryptV2Unforced,
}

const KINDS: [Kind; 5] =
    [Kind::Plain, Kind::Auth, Kind::Crypt, Kind::CryptV2, Kind::CryptV2Unforced];

impl Kind {
    /// Returns the keys of the client and the server.
    fn keys(self, dice: &mut Dice) -> (ProtectionKey, ProtectionKey) {
        let random = &mut |bytes: &mut [u8]| dice.fill(bytes);
        let shared = StaticKey::generate(random);
        match self {
            Self::Plain => (ProtectionKey::Plain, ProtectionKey::Plain),
            Self::Auth => {
                let key = |direction| ProtectionKey::Auth {
                    key: shared.clone(),
                    direction: Some(direction),
                    digest: Digest::Sha256,
                };
                (key(Direction::Inverse), key(Direction::Normal))
            }
            Self::Crypt => {
                let key = ProtectionKey::Crypt { key: shared };
                (key.clone(), key)
            }
            Self::CryptV2 | Self::CryptV2Unforced => {
                let key = ServerKey::generate(random);
                let client = key.client(random, &Metadata::timestamp(1));
                let server = ProtectionKey::CryptV2Server { key, shared: None };
                (ProtectionKey::CryptV2Client(client), server)
            }
        }
    }

    /// Returns the settings of both ends, with certificates of this authority.
    fn settings(self, authority: &Authority, seed: u64) -> (ClientSettings, ServerSettings) {
        let (client_key, server_key) = self.keys(&mut Dice(seed));
        let client = authority.tls(Role::Client, authority.issue("client", Role::Client, 2));
        let server = authority.tls(Role::Server, authority.issue("server", Role::Server, 3));
        let mut server = server_settings(server_key, server);
        server.force_cookie = self != Self::CryptV2Unforced;
        (client_settings(client_key, client), server)
    }
}

/// Returns an established tunnel on a reliable network.
fn standing(kind: Kind, authority: &Authority) -> World {
    let (client, server) = kind.settings(authority, 1);
    let mut world = World::new(1, Weather::FAIR, client, server);
    assert!(world.connect(), "{kind:?}: {:?} {:?}", world.client_side.end, world.dropped);
    // Packets in flight arrive.
    world.run_until(Duration::from_secs(5), |_| false);
    world
}

/// Asserts that the client's tunnel is still up and carries packets both ways.
#[track_caller]
fn assert_stands(world: &mut World) {
    let at = world.client_address;
    let connected = &world.server_side.connected;
    let (peer, _) = *connected.iter().rfind(|(_, address)| *address == at).expect("connected");
    assert_eq!(world.client_side.end, None);
    assert!(world.server_side.paths.contains_key(&peer), "{:?}", world.server_side.ended);
    assert_eq!(world.server.address(peer), Some(world.client_address));
    let nonce = world.dice.next().to_be_bytes();
    world.client_sends(&nonce);
    world.server_sends(peer, &nonce);
    world.run_until(Duration::from_millis(100), |_| false);
    assert_eq!(world.client_side.path.inbox.last().map(Vec::as_slice), Some(&nonce[..]));
    assert_eq!(world.server_side.paths[&peer].inbox.last().map(Vec::as_slice), Some(&nonce[..]));
}
