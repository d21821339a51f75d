//! Key exchange: the groups of TLS (RFC 8446, section 4.2.7; RFC 8422, section 5.1.1) that Cycloid
//! implements.

#[cfg(feature = "post-quantum")]
mod hybrid;

use std::fmt;
use std::marker::PhantomData;

use cycloid::scheme::ec::{Curve, EncodedPoint, P256, P384, P521, PrivateKey, PublicKey};
use cycloid::scheme::x25519;
use rustls::crypto::{ActiveKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved};

#[cfg(feature = "post-quantum")]
pub use hybrid::X25519MLKEM768;

use crate::random;

/// All groups, in order of preference. A client sends a share of the first group; if that is
/// `X25519MLKEM768`, it also sends a share of X25519.
pub static ALL_GROUPS: &[&dyn SupportedKxGroup] = &[
    #[cfg(feature = "post-quantum")]
    X25519MLKEM768,
    X25519,
    SECP256R1,
    SECP384R1,
    SECP521R1,
];

/// X25519 (RFC 7748).
pub static X25519: &dyn SupportedKxGroup = &Curve25519;

/// ECDH on P-256.
pub static SECP256R1: &dyn SupportedKxGroup = &Nist::<P256>(NamedGroup::secp256r1, PhantomData);

/// ECDH on P-384.
pub static SECP384R1: &dyn SupportedKxGroup = &Nist::<P384>(NamedGroup::secp384r1, PhantomData);

/// ECDH on P-521.
pub static SECP521R1: &dyn SupportedKxGroup = &Nist::<P521>(NamedGroup::secp521r1, PhantomData);

/// The error for an invalid key share of the peer.
const INVALID: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

/// The first byte of an uncompressed point (SEC 1, section 2.3.3), the only form in TLS (RFC 8446,
/// section 4.2.8.2; RFC 8422, section 5.4.1).
const UNCOMPRESSED: u8 = 4;

#[derive(Debug)]
struct Curve25519;

impl SupportedKxGroup for Curve25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let private = x25519::PrivateKey::from(*random::bytes()?);
        let public = private.public_key();
        Ok(Box::new(Curve25519Exchange { private, public }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
}

struct Curve25519Exchange {
    private: x25519::PrivateKey,
    public: [u8; 32],
}

impl ActiveKeyExchange for Curve25519Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = peer.try_into().map_err(|_| INVALID)?;
        // Rejects an all-zero secret (RFC 8446, section 7.4.2).
        let shared = self.private.agree(peer).map_err(|_| INVALID)?;
        Ok(SharedSecret::from(&shared.as_bytes()[..]))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
}

struct Nist<C>(NamedGroup, PhantomData<C>);

impl<C> fmt::Debug for Nist<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<C: Curve> SupportedKxGroup for Nist<C> {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let private = PrivateKey::<C>::generate(&mut random::generator()?)
            .map_err(|_| Error::FailedToGetRandomBytes)?;
        let public = private.public_key().to_uncompressed();
        Ok(Box::new(NistExchange { group: self.0, private, public }))
    }

    fn name(&self) -> NamedGroup {
        self.0
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
}

struct NistExchange<C: Curve> {
    group: NamedGroup,
    private: PrivateKey<C>,
    public: EncodedPoint,
}

impl<C: Curve> ActiveKeyExchange for NistExchange<C> {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        if peer.first() != Some(&UNCOMPRESSED) {
            return Err(INVALID);
        }
        let peer = PublicKey::from_sec1(peer).map_err(|_| INVALID)?;
        Ok(SharedSecret::from(&self.private.agree(&peer)[..]))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        self.group
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the other side gets the same secret, and that invalid public keys are rejected.
    fn exchange(group: &dyn SupportedKxGroup, wrong: &[&[u8]]) {
        let [alice, bob] = [group.start().unwrap(), group.start().unwrap()];
        let [sent, answer] = [alice.pub_key().to_vec(), bob.pub_key().to_vec()];
        assert_ne!(sent, answer);
        assert_eq!(alice.group(), group.name());
        let [first, second] = [alice.complete(&answer), bob.complete(&sent)];
        assert_eq!(first.unwrap().secret_bytes(), second.unwrap().secret_bytes());
        let mut short = sent.clone();
        short.pop();
        let long = [&sent[..], &[0]].concat();
        for wrong in wrong.iter().copied().chain([&[][..], &short, &long]) {
            let outcome = group.start().unwrap().complete(wrong).err();
            assert_eq!(outcome, Some(INVALID), "{:?}, {wrong:02x?}", group.name());
        }
    }

    #[test]
    fn x25519_rejects_public_keys_of_small_order() {
        let mut one = [0; 32];
        one[0] = 1;
        let mut p = [0xff; 32];
        (p[0], p[31]) = (0xed, 0x7f);
        exchange(X25519, &[&[0; 32], &one, &p]);
    }

    #[test]
    fn the_nist_groups_accept_only_uncompressed_points_on_the_curve() {
        fn on<C: Curve>(group: &dyn SupportedKxGroup) {
            let point = PrivateKey::<C>::generate(&mut random::generator().unwrap()).unwrap();
            let point = *point.public_key();
            let mut beside = point.to_uncompressed().to_vec();
            *beside.last_mut().unwrap() ^= 1;
            let mut hybrid = point.to_uncompressed().to_vec();
            hybrid[0] = 6 | hybrid[2 * C::BYTES] & 1;
            let mut large = point.to_uncompressed().to_vec();
            large[1..].fill(0xff);
            let zero = [&[4][..], &vec![0; 2 * C::BYTES]].concat();
            let compressed = point.to_compressed();
            exchange(group, &[&beside, &hybrid, &large, &zero, &compressed, &[0]]);
        }
        on::<P256>(SECP256R1);
        on::<P384>(SECP384R1);
        on::<P521>(SECP521R1);
    }
}
