//! X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem, section 4): ML-KEM-768 (FIPS 203), computed by
//! AWS-LC, combined with X25519, computed by Cycloid. An attacker has to break both.

use rustls::crypto::aws_lc_rs::kx_group::MLKEM768;
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, ProtocolVersion};

use super::{INVALID, X25519};

/// X25519 combined with ML-KEM-768, for TLS 1.3.
pub static X25519MLKEM768: &dyn SupportedKxGroup = &Hybrid;

/// Bytes of an ML-KEM-768 encapsulation key, which a client sends.
const ENCAPSULATION_KEY: usize = 1184;
/// Bytes of an ML-KEM-768 ciphertext, which a server sends.
const CIPHERTEXT: usize = 1088;
/// Bytes of an X25519 public key, which follows either.
const PUBLIC_KEY: usize = 32;

#[derive(Debug)]
struct Hybrid;

impl SupportedKxGroup for Hybrid {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let [kem, curve] = [MLKEM768.start()?, X25519.start()?];
        let share = [kem.pub_key(), curve.pub_key()].concat();
        Ok(Box::new(HybridExchange { kem, curve, share }))
    }

    fn start_and_complete(&self, share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let [kem, curve] = split(share, ENCAPSULATION_KEY)?;
        // A public key that yields an all-zero secret is rejected before encapsulation.
        let curve = X25519.start_and_complete(curve)?;
        let kem = MLKEM768.start_and_complete(kem)?;
        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key: [kem.pub_key, curve.pub_key].concat(),
            secret: both(&kem.secret, &curve.secret),
        })
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

struct HybridExchange {
    kem: Box<dyn ActiveKeyExchange>,
    curve: Box<dyn ActiveKeyExchange>,
    share: Vec<u8>,
}

impl ActiveKeyExchange for HybridExchange {
    fn complete(self: Box<Self>, share: &[u8]) -> Result<SharedSecret, Error> {
        let [kem, curve] = split(share, CIPHERTEXT)?;
        let curve = self.curve.complete(curve)?;
        Ok(both(&self.kem.complete(kem)?, &curve))
    }

    /// Returns the share that a server without ML-KEM can select without a second flight of the
    /// client.
    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((self.curve.group(), self.curve.pub_key()))
    }

    fn complete_hybrid_component(self: Box<Self>, share: &[u8]) -> Result<SharedSecret, Error> {
        self.curve.complete(share)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
}

/// Splits a share into ML-KEM's, of `kem` bytes, and X25519's.
fn split(share: &[u8], kem: usize) -> Result<[&[u8]; 2], Error> {
    if share.len() != kem + PUBLIC_KEY {
        return Err(INVALID);
    }
    let (kem, curve) = share.split_at(kem);
    Ok([kem, curve])
}

/// Concatenates both secrets; the result is wiped when dropped, as each of them is.
fn both(kem: &SharedSecret, curve: &SharedSecret) -> SharedSecret {
    [kem.secret_bytes(), curve.secret_bytes()].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the first coefficient of an encapsulation key at least q = 3329, which is not reduced.
    fn not_reduced(share: &[u8]) -> Vec<u8> {
        let mut share = share.to_vec();
        share[..2].copy_from_slice(&[0xff, 0xff]);
        share
    }

    fn with_point(share: &[u8], point: [u8; 32]) -> Vec<u8> {
        let (kem, _) = share.split_at(share.len() - PUBLIC_KEY);
        [kem, &point].concat()
    }

    #[test]
    fn both_sides_have_the_same_secret() {
        let client = X25519MLKEM768.start().unwrap();
        assert_eq!(client.pub_key().len(), 1216);
        assert_eq!(client.group(), X25519MLKEM768.name());
        let server = X25519MLKEM768.start_and_complete(client.pub_key()).unwrap();
        assert_eq!((server.pub_key.len(), server.group), (1120, client.group()));
        let secret = client.complete(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes().len(), 64);
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
    }

    #[test]
    fn the_group_interoperates_with_that_of_rustls() {
        use rustls::crypto::aws_lc_rs::kx_group::X25519MLKEM768 as THEIRS;

        for [one, other] in [[X25519MLKEM768, THEIRS], [THEIRS, X25519MLKEM768]] {
            let client = one.start().unwrap();
            let server = other.start_and_complete(client.pub_key()).unwrap();
            let secret = client.complete(&server.pub_key).unwrap();
            assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
            for version in [ProtocolVersion::TLSv1_2, ProtocolVersion::TLSv1_3] {
                assert_eq!(one.usable_for_version(version), other.usable_for_version(version));
            }
        }
    }

    #[test]
    fn the_x25519_component_can_be_completed_alone() {
        let client = X25519MLKEM768.start().unwrap();
        let (group, share) = client.hybrid_component().unwrap();
        assert_eq!(group, NamedGroup::X25519);
        assert!(client.pub_key().ends_with(share));
        let server = X25519.start_and_complete(share).unwrap();
        let secret = client.complete_hybrid_component(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
        let client = X25519MLKEM768.start().unwrap();
        assert_eq!(client.complete_hybrid_component(&[0; 32]).err(), Some(INVALID));
    }

    #[test]
    fn invalid_shares_are_rejected() {
        let client = X25519MLKEM768.start().unwrap();
        let share = client.pub_key().to_vec();
        let answer = X25519MLKEM768.start_and_complete(&share).unwrap().pub_key;
        let mut one = [0; 32];
        one[0] = 1;
        let wrong = |share: &[u8]| {
            let (kem, curve) = share.split_at(share.len() - PUBLIC_KEY);
            vec![
                Vec::new(),
                share[1..].to_vec(),
                [share, &[0]].concat(),
                kem.to_vec(),
                curve.to_vec(),
                with_point(share, [0; 32]),
                with_point(share, one),
            ]
        };
        for share in wrong(&share).into_iter().chain([not_reduced(&share), answer.clone()]) {
            let outcome = X25519MLKEM768.start_and_complete(&share).err();
            assert_eq!(outcome, Some(INVALID), "{} bytes", share.len());
        }
        for answer in wrong(&answer).into_iter().chain([share.clone()]) {
            let outcome = X25519MLKEM768.start().unwrap().complete(&answer).err();
            assert_eq!(outcome, Some(INVALID), "{} bytes", answer.len());
        }
        // A ciphertext is rejected only for its length: a modified one yields another secret (FIPS
        // 203, section 6.3).
        let mut other = answer.clone();
        other[0] ^= 1;
        let server = X25519MLKEM768.start_and_complete(&share).unwrap();
        let secret = client.complete(&other).unwrap();
        assert_ne!(secret.secret_bytes(), server.secret.secret_bytes());
    }
}
