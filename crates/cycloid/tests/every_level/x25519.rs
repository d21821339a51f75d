//! X25519 with the vectors of RFC 7748, and batches compared with single operations, on every
//! backend.

use crate::support::Generator;
use crate::support::levels::{at_every_level, hex};
use cycloid::scheme::x25519::{self, Error, Job, PrivateKey};

fn agree(private: &[u8; 32], public: &[u8; 32]) -> Result<[u8; 32], Error> {
    PrivateKey::from(*private).agree(public).map(|shared| *shared.as_bytes())
}

#[test]
fn vectors_of_rfc_7748_section_5_2() {
    let vectors = [
        [
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ],
        [
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
        ],
    ];
    at_every_level(|| {
        for [private, public, shared] in vectors.map(|vector| vector.map(hex)) {
            assert_eq!(agree(&private, &public), Ok(shared));
        }
    });
}

#[test]
fn vectors_of_rfc_7748_section_6_1() {
    let alice = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
    let bob = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    // The base point's product by Alice's and Bob's keys.
    let from_alice = hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    let from_bob = hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    at_every_level(|| {
        assert_eq!(PrivateKey::from(alice).public_key(), from_alice);
        assert_eq!(PrivateKey::from(bob).public_key(), from_bob);
        assert_eq!(agree(&alice, &from_bob), Ok(shared));
        assert_eq!(agree(&bob, &from_alice), Ok(shared));
    });
}

/// Runs the iterated test of section 5.2.
fn iterated(times: usize) -> [u8; 32] {
    let mut base = [0; 32];
    base[0] = 9;
    let (mut k, mut u) = (base, base);
    for _ in 0..times {
        (k, u) = (agree(&k, &u).unwrap(), k);
    }
    k
}

#[test]
fn once_and_a_thousand_times() {
    at_every_level(|| {
        let once = "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079";
        assert_eq!(iterated(1), hex(once));
        let thousand = "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51";
        assert_eq!(iterated(1000), hex(thousand));
    });
}

#[test]
#[ignore = "it takes half a minute; the test above iterates a thousand times at every level"]
fn a_million_times() {
    let million = "7c3911e0ab2586fd864497297e575e6f3bc601c0883c30df5f4dd2d24f665424";
    assert_eq!(iterated(1_000_000), hex(million));
}

/// Returns the points of small order on the curve and its twist, in every encoding: 0, 1, −1, those
/// of order 8, and the same with p added or the highest bit set.
fn points_of_small_order() -> Vec<[u8; 32]> {
    let low = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ];
    low.into_iter()
        .map(hex)
        .flat_map(|point: [u8; 32]| {
            let mut high = point;
            high[31] |= 0x80;
            [point, high]
        })
        .collect()
}

#[test]
fn predictable_secrets_are_refused_in_every_lane() {
    at_every_level(|| {
        let key = PrivateKey::from([7; 32]);
        let good = PrivateKey::from([8; 32]).public_key();
        let expected = agree(&[7; 32], &good).unwrap();
        for bad in points_of_small_order() {
            assert_eq!(agree(&[7; 32], &bad), Err(Error::SharedSecret));
            for lane in 0..8 {
                let peers: [_; 8] = core::array::from_fn(|i| if i == lane { bad } else { good });
                let mut shared = [[1; 32]; 8];
                let mut jobs: Vec<_> = peers
                    .iter()
                    .zip(&mut shared)
                    .map(|(peer, shared)| Job::agree(&key, peer, shared))
                    .collect();
                x25519::run_batch(&mut jobs);
                let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
                for i in 0..8 {
                    let (outcome, secret) = if i == lane {
                        (Err(Error::SharedSecret), [1; 32])
                    } else {
                        (Ok(()), expected)
                    };
                    assert_eq!((outcomes[i], shared[i]), (outcome, secret));
                }
            }
        }
    });
}

#[test]
fn batches_equal_single_operations_on_every_backend() {
    at_every_level(|| {
        let mut rng = Generator::new(11);
        let keys: Vec<_> = (0..24).map(|_| PrivateKey::generate(&mut rng).unwrap()).collect();
        let mut peers: Vec<_> =
            (0..24).map(|_| *PrivateKey::generate(&mut rng).unwrap().as_bytes()).collect();
        peers[3] = [0; 32];
        for count in 0..=24 {
            let mut results = [[1; 32]; 24];
            let places = keys.iter().zip(&peers).zip(&mut results).take(count).enumerate();
            let mut jobs: Vec<_> = places
                .map(|(i, ((key, peer), result))| match i % 3 {
                    2 => Job::public_key(key, result),
                    _ => Job::agree(key, peer, result),
                })
                .collect();
            assert!(jobs.iter().all(|job| job.outcome() == Err(Error::NotDone)));
            x25519::run_batch(&mut jobs);
            let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
            for (i, outcome) in outcomes.into_iter().enumerate() {
                let expected = match i % 3 {
                    2 => Ok(keys[i].public_key()),
                    _ => agree(keys[i].as_bytes(), &peers[i]),
                };
                assert_eq!(outcome, expected.map(|_| ()));
                assert_eq!(results[i], expected.unwrap_or([1; 32]));
            }
        }
    });
}

#[test]
fn nothing_secret_is_printed() {
    let key = PrivateKey::from([0xab; 32]);
    let shared = key.agree(&PrivateKey::from([1; 32]).public_key()).unwrap();
    assert_eq!(format!("{key:?} {shared:?}"), "x25519::PrivateKey x25519::SharedSecret");
}
