//! Handshakes of rustls on Cycloid with itself and with rustls on AWS-LC, with honest and malicious
//! peers.

mod support;

use std::fmt;
use std::sync::Arc;

use cycloid_rustls::{ALL_GROUPS, Ticketer, default_provider};
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, KeyProvider, SharedSecret, SupportedKxGroup, aws_lc_rs,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::{Signer, SigningKey};
use rustls::{
    CertificateError, Error, HandshakeKind, NamedGroup, PeerMisbehaved, SignatureAlgorithm,
    SignatureScheme,
};
use support::{Certificate, Shown, client_config, handshake, provider, server_config};

#[test]
fn every_suite_and_group_with_every_certificate() {
    for certificate in Certificate::all("itself") {
        for suite in default_provider().cipher_suites {
            if !certificate.suits(suite.suite()) {
                continue;
            }
            for group in ALL_GROUPS {
                if !group.usable_for_version(suite.version().version) {
                    continue;
                }
                let provider = || provider(suite, *group);
                let client = client_config(provider(), &certificate, Shown::ByBoth).unwrap();
                let server = server_config(provider(), &certificate, Shown::ByBoth).unwrap();
                let done = handshake(&client, &server);
                let done = done.unwrap_or_else(|error| {
                    panic!("{}, {suite:?}, {group:?}: {error:?}", certificate.kind)
                });
                assert_eq!(done.client.negotiated_cipher_suite(), Some(suite));
                let used = done.client.negotiated_key_exchange_group().unwrap().name();
                assert_eq!(used, group.name());
                assert_eq!(done.server.peer_certificates(), Some(&certificate.chain()[..]));
            }
        }
    }
}

#[test]
fn aws_lc_on_the_other_side() {
    for certificate in Certificate::all("aws-lc") {
        for suite in default_provider().cipher_suites {
            if !certificate.suits(suite.suite()) {
                continue;
            }
            let ours = || provider(suite, ALL_GROUPS[0]);
            // Its default groups do not include secp521r1; its own groups are used as they are.
            let theirs =
                || CryptoProvider { cipher_suites: vec![suite], ..aws_lc_rs::default_provider() };
            for (client, server) in [(ours(), theirs()), (theirs(), ours())] {
                let client = client_config(client, &certificate, Shown::ByBoth).unwrap();
                let server = server_config(server, &certificate, Shown::ByBoth).unwrap();
                let done = handshake(&client, &server).map(|_| ());
                assert_eq!(done, Ok(()), "{}, {suite:?}", certificate.kind);
            }
        }
    }
}

/// A key that flips a bit of its signatures.
#[derive(Debug)]
struct Careless(Arc<dyn SigningKey>);

#[derive(Debug)]
struct CarelessSigner(Box<dyn Signer>);

impl SigningKey for Careless {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        Some(Box::new(CarelessSigner(self.0.choose_scheme(offered)?)))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl Signer for CarelessSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut signature = self.0.sign(message)?;
        if let Some(last) = signature.last_mut() {
            *last ^= 1;
        }
        Ok(signature)
    }

    fn scheme(&self) -> SignatureScheme {
        self.0.scheme()
    }
}

#[derive(Debug)]
struct CarelessKeys;

impl KeyProvider for CarelessKeys {
    fn load_private_key(&self, key: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        Ok(Arc::new(Careless(cycloid_rustls::any_supported_key(&key)?)))
    }
}

#[test]
fn a_wrong_signature_is_rejected_by_either_side() {
    let refused = Error::InvalidCertificate(CertificateError::BadSignature);
    for certificate in Certificate::all("careless") {
        for suite in default_provider().cipher_suites {
            if !certificate.suits(suite.suite()) {
                continue;
            }
            let good = || provider(suite, ALL_GROUPS[0]);
            let careless = || CryptoProvider { key_provider: &CarelessKeys, ..good() };
            let client = client_config(good(), &certificate, Shown::ByBoth).unwrap();
            let server = server_config(careless(), &certificate, Shown::ByBoth).unwrap();
            let error = handshake(&client, &server).map(|_| ()).unwrap_err();
            assert_eq!(error, ("client", refused.clone()), "{}, {suite:?}", certificate.kind);

            let client = client_config(careless(), &certificate, Shown::ByBoth).unwrap();
            let server = server_config(good(), &certificate, Shown::ByBoth).unwrap();
            let error = handshake(&client, &server).map(|_| ()).unwrap_err();
            assert_eq!(error, ("server", refused.clone()), "{}, {suite:?}", certificate.kind);
        }
    }
}

#[test]
fn a_certificate_of_another_authority_is_rejected() {
    let certificates = Certificate::all("authorities");
    for pair in certificates.windows(2) {
        let client = client_config(default_provider(), &pair[0], Shown::ByServer).unwrap();
        let server = server_config(default_provider(), &pair[1], Shown::ByServer).unwrap();
        let error = handshake(&client, &server).map(|_| ()).unwrap_err();
        assert!(matches!(error, ("client", Error::InvalidCertificate(_))), "{error:?}");
    }
}

/// A group with a key share chosen by the test.
struct Sending(NamedGroup, &'static [u8]);

impl fmt::Debug for Sending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with {:02x?}", self.0, self.1)
    }
}

impl SupportedKxGroup for Sending {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(Self(self.0, self.1)))
    }

    fn name(&self) -> NamedGroup {
        self.0
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
}

impl ActiveKeyExchange for Sending {
    fn complete(self: Box<Self>, _: &[u8]) -> Result<SharedSecret, Error> {
        Ok(SharedSecret::from(&[0; 32][..]))
    }

    fn pub_key(&self) -> &[u8] {
        self.1
    }

    fn group(&self) -> NamedGroup {
        self.0
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
}

/// Returns 4 followed by coordinates that do not satisfy y² = x³ − 3·x + b.
const fn off_the_curve<const N: usize>() -> [u8; N] {
    let mut point = [1; N];
    point[0] = 4;
    point
}

#[test]
fn invalid_key_shares_are_rejected_by_either_side() {
    static WRONG: [Sending; 6] = [
        Sending(NamedGroup::X25519, &[0; 32]),
        Sending(NamedGroup::X25519, &[9; 31]),
        Sending(NamedGroup::secp256r1, &off_the_curve::<65>()),
        Sending(NamedGroup::secp256r1, &[0]),
        Sending(NamedGroup::secp384r1, &off_the_curve::<97>()),
        Sending(NamedGroup::secp521r1, &off_the_curve::<133>()),
    ];
    let certificate = &Certificate::all("shares")[2];
    for suite in default_provider().cipher_suites {
        if !certificate.suits(suite.suite()) {
            continue;
        }
        for wrong in &WRONG {
            let bad =
                || CryptoProvider { kx_groups: vec![wrong], ..provider(suite, ALL_GROUPS[0]) };
            let good = || provider(suite, ALL_GROUPS[0]);
            let refused = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

            let client = client_config(bad(), certificate, Shown::ByServer).unwrap();
            let server = server_config(good(), certificate, Shown::ByServer).unwrap();
            let error = handshake(&client, &server).map(|_| ()).unwrap_err();
            assert_eq!(error, ("server", refused.clone()), "{wrong:?}, {suite:?}");

            let client = client_config(good(), certificate, Shown::ByServer).unwrap();
            let server = server_config(bad(), certificate, Shown::ByServer).unwrap();
            let error = handshake(&client, &server).map(|_| ()).unwrap_err();
            assert_eq!(error, ("client", refused), "{wrong:?}, {suite:?}");
        }
    }
}

#[test]
fn a_ticket_resumes_a_session() {
    let certificates = Certificate::all("tickets");
    let certificate = certificates.iter().find(|it| it.kind == "p256").unwrap();
    let client = client_config(default_provider(), certificate, Shown::ByServer).unwrap();
    let mut server = server_config(default_provider(), certificate, Shown::ByServer).unwrap();
    let config = Arc::get_mut(&mut server).unwrap();
    config.ticketer = Ticketer::new().unwrap();
    // No memory of sessions but the tickets.
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    for kind in [HandshakeKind::Full, HandshakeKind::Resumed] {
        let mut done = handshake(&client, &server).unwrap();
        assert_eq!(done.client.handshake_kind(), Some(kind));
        // The tickets follow the handshake.
        let mut tickets = Vec::new();
        while done.server.wants_write() {
            done.server.write_tls(&mut tickets).unwrap();
        }
        done.client.read_tls(&mut tickets.as_slice()).unwrap();
        done.client.process_new_packets().unwrap();
    }
}
