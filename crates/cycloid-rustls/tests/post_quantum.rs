//! X25519MLKEM768: interoperability with rustls's own implementation in both directions, and the
//! alerts for invalid shares.
#![cfg(feature = "post-quantum")]

mod support;

use cycloid_rustls::{ALL_GROUPS, X25519MLKEM768, default_provider};
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, CryptoProvider, SharedSecret, SupportedKxGroup,
    aws_lc_rs,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{
    AlertDescription, ClientConnection, Error, HandshakeKind, NamedGroup, PeerMisbehaved,
    ServerConnection,
};
use support::{Certificate, Shown, client_config, handshake, localhost, server_config};

#[test]
fn both_directions_negotiate_it_in_one_round_trip() {
    assert_eq!(ALL_GROUPS[0].name(), NamedGroup::X25519MLKEM768);
    let certificate = &Certificate::all("post-quantum")[2];
    let [ours, theirs] = [default_provider as fn() -> _, aws_lc_rs::default_provider];
    for (client, server) in [(ours, ours), (ours, theirs), (theirs, ours)] {
        let client = client_config(client(), certificate, Shown::ByServer).unwrap();
        let server = server_config(server(), certificate, Shown::ByServer).unwrap();
        let done = handshake(&client, &server).unwrap();
        let group = done.client.negotiated_key_exchange_group().unwrap().name();
        assert_eq!(group, NamedGroup::X25519MLKEM768);
        assert_eq!(done.client.handshake_kind(), Some(HandshakeKind::Full));
    }
}

#[test]
fn a_peer_with_x25519_only_needs_no_second_flight() {
    let certificate = &Certificate::all("classical")[2];
    let [ours, theirs] = [default_provider as fn() -> _, aws_lc_rs::default_provider];
    let only = |provider: fn() -> CryptoProvider, group: NamedGroup| {
        let mut provider = provider();
        provider.kx_groups.retain(|one| one.name() == group);
        provider
    };
    for (new, old) in [(ours, ours), (ours, theirs), (theirs, ours)] {
        // As a client, and as a server.
        let old = || only(old, NamedGroup::X25519);
        for (client, server) in [(new(), old()), (old(), new())] {
            let client = client_config(client, certificate, Shown::ByServer).unwrap();
            let server = server_config(server, certificate, Shown::ByServer).unwrap();
            let done = handshake(&client, &server).unwrap();
            let group = done.client.negotiated_key_exchange_group().unwrap().name();
            assert_eq!(group, NamedGroup::X25519);
            assert_eq!(done.client.handshake_kind(), Some(HandshakeKind::Full));
        }
    }
    let client = client_config(ours(), certificate, Shown::ByServer).unwrap();
    let server = only(ours, NamedGroup::secp384r1);
    let server = server_config(server, certificate, Shown::ByServer).unwrap();
    let done = handshake(&client, &server).unwrap();
    assert_eq!(done.client.handshake_kind(), Some(HandshakeKind::FullWithHelloRetryRequest));
}

type Change = fn(&mut Vec<u8>);

/// The group, with a change to its own shares.
#[derive(Debug)]
struct Changing {
    group: NamedGroup,
    change: Change,
}

struct Changed {
    exchange: Box<dyn ActiveKeyExchange>,
    group: NamedGroup,
    share: Vec<u8>,
}

impl SupportedKxGroup for Changing {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let exchange = X25519MLKEM768.start()?;
        let mut share = exchange.pub_key().to_vec();
        (self.change)(&mut share);
        Ok(Box::new(Changed { exchange, group: self.group, share }))
    }

    fn start_and_complete(&self, share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let mut done = X25519MLKEM768.start_and_complete(share)?;
        (self.change)(&mut done.pub_key);
        Ok(done)
    }

    fn name(&self) -> NamedGroup {
        self.group
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
}

impl ActiveKeyExchange for Changed {
    fn complete(self: Box<Self>, share: &[u8]) -> Result<SharedSecret, Error> {
        self.exchange.complete(share)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        self.group
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
}

/// Returns how both sides end if one of them sends changed shares.
fn ends(
    certificate: &Certificate,
    client: CryptoProvider,
    server: CryptoProvider,
) -> [Option<Error>; 2] {
    let client = client_config(client, certificate, Shown::ByServer).unwrap();
    let server = server_config(server, certificate, Shown::ByServer).unwrap();
    let mut client = ClientConnection::new(client, localhost()).unwrap();
    let mut server = ServerConnection::new(server).unwrap();
    let mut errors = [None, None];
    // Enough flights for both to learn of the end.
    for _ in 0..4 {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        let mut sent = &bytes[..];
        while !sent.is_empty() && errors[1].is_none() {
            server.read_tls(&mut sent).unwrap();
            errors[1] = server.process_new_packets().err();
        }
        let mut bytes = Vec::new();
        server.write_tls(&mut bytes).unwrap();
        let mut sent = &bytes[..];
        while !sent.is_empty() && errors[0].is_none() {
            client.read_tls(&mut sent).unwrap();
            errors[0] = client.process_new_packets().err();
        }
    }
    errors
}

#[test]
fn an_invalid_share_is_an_illegal_parameter() {
    let certificate = &Certificate::all("pq-shares")[2];
    let refused = || Some(Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare));
    let alerted = || Some(Error::AlertReceived(AlertDescription::IllegalParameter));
    let zeros: Change = |share| {
        let start = share.len() - 32;
        share[start..].fill(0);
    };
    let small_order: Change = |share| {
        let start = share.len() - 32;
        share[start..].fill(0);
        share[start] = 1;
    };
    let changes: [(Change, bool); 8] = [
        (zeros, true),
        (small_order, true),
        (|share| share.truncate(share.len() - 1), true),
        (|share| share.push(0), true),
        (|share| share.truncate(32), true),
        (|share| share.truncate(share.len() - 32), true),
        (|share| drop(share.drain(..share.len() - 32)), true),
        // Only encapsulation keys have coefficients that may be unreduced.
        (|share| share[..2].fill(0xff), false),
    ];
    for (i, (change, is_for_both)) in changes.into_iter().enumerate() {
        let wrong: &'static Changing =
            Box::leak(Box::new(Changing { group: NamedGroup::X25519MLKEM768, change }));
        let bad = || CryptoProvider { kx_groups: vec![wrong], ..default_provider() };
        let outcome = ends(certificate, bad(), default_provider());
        assert_eq!(outcome, [alerted(), refused()], "change {i} by a client");
        let outcome = ends(certificate, default_provider(), bad());
        if is_for_both {
            assert_eq!(outcome, [refused(), alerted()], "change {i} by a server");
        } else {
            // Another secret: decryption of the following messages fails.
            assert!(outcome[0].is_some(), "change {i} by a server");
        }
    }
}
