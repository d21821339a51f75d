//! Ed25519 and X25519, and the underlying group.

use cycloid::scheme::curve25519::{Point, Scalar};
use cycloid::scheme::ed25519::{self, Rule, SigningKey, Variant, VerifyingKey};
use cycloid::scheme::{stack_use, x25519};
use cycloid::stack;
use num_bigint::BigUint;
use sha2::{Digest, Sha512};

use super::case::{Case, Prepared, case};
use super::random::{Random, Tape, number};
use crate::needles::Needles;

const MESSAGE: &[u8] = b"the message is public";
const EIGHT: usize = 8;

pub(super) fn add(cases: &mut Vec<Case>) {
    ed25519(cases);
    x25519(cases);
    cases.push(case(
        "curve25519 arithmetic",
        stack_use::CURVE25519_POINT,
        |random| {
            let mut prepared = Prepared::default();
            let scalar = little(&random.bytes(32)) % order();
            prepared.needles.residue("scalar", &scalar, &order());
            let mut bytes = scalar.to_bytes_le();
            bytes.resize(32, 0);
            prepared.input.push(bytes);
            prepared
        },
        |input| {
            (Scalar::from_bytes(array(input.parts::<1>()[0])).expect("the scalar is below L"), None)
        },
        |(scalar, product)| {
            let point = stack::keep(product, || Point::multiply_base(scalar));
            *point = point.multiply(scalar);
            let inverse = scalar.invert();
            std::hint::black_box(&inverse.multiply(scalar));
        },
    ));
}

fn ed25519(cases: &mut Vec<Case>) {
    let sign = stack_use::ED25519_SIGN;
    cases.push(case("Ed25519 from_seed, into a variable", sign, seeds(1), first, |seed| {
        std::hint::black_box(SigningKey::from_seed(seed).verifying_key());
    }));
    cases.push(case("Ed25519 generate", sign, seeds(1), first, |seed| {
        let mut place = None;
        let key = stack::try_keep(&mut place, || SigningKey::generate(&mut Tape(&seed[..])));
        std::hint::black_box(key.expect("the numbers differ").verifying_key());
    }));
    cases.push(case(
        "Ed25519 from_pem",
        sign,
        |random| {
            let mut prepared = seeds(1)(random);
            let mut pem = [0; ed25519::PRIVATE_KEY_PEM_LENGTH];
            let key = SigningKey::from_seed(array(&prepared.input[0]));
            prepared.input = vec![key.to_pem(&mut pem).expect("the buffer suffices").into()];
            prepared
        },
        |input| (input.parts::<1>()[0], None),
        |(pem, place)| {
            stack::try_keep(place, || SigningKey::from_pem(pem)).expect("the key is valid");
        },
    ));
    cases.push(case(
        "Ed25519 to_key_pair_pem",
        sign,
        seeds(1),
        |input| (SigningKey::from_seed(first(input)), [0; ed25519::KEY_PAIR_PEM_LENGTH]),
        |(key, pem)| {
            key.to_key_pair_pem(pem).expect("the buffer suffices");
        },
    ));
    cases.push(case(
        "Ed25519 sign",
        sign,
        seeds(1),
        |input| SigningKey::from_seed(first(input)),
        |key| {
            std::hint::black_box(key.sign(MESSAGE));
        },
    ));
    cases.push(case(
        "Ed25519 sign ×8",
        stack_use::ED25519_SIGN_BATCH,
        seeds(EIGHT),
        |input| input.parts::<EIGHT>().map(|seed| SigningKey::from_seed(array(seed))),
        |keys| {
            let mut signatures = [[0; 64]; EIGHT];
            let mut places = signatures.iter_mut();
            let mut jobs = keys.each_ref().map(|key| {
                let place = places.next().expect("there is one per job");
                ed25519::Job::sign(key, Variant::Plain, MESSAGE, place)
            });
            ed25519::run_batch(&mut jobs);
            assert!(jobs.iter().all(|job| job.outcome().is_ok()));
        },
    ));
    let signed = |seed: &[u8]| {
        let key = SigningKey::from_seed(array(seed));
        let public = VerifyingKey::new(key.verifying_key().as_bytes()).expect("the point is valid");
        (public, key.sign(MESSAGE))
    };
    cases.push(case(
        "Ed25519 verify",
        stack_use::ED25519_VERIFY,
        nothing_secret(1),
        move |input| signed(input.parts::<1>()[0]),
        |(key, signature)| key.verify(MESSAGE, signature).expect("the signature is valid"),
    ));
    cases.push(case(
        "Ed25519 verify ×8",
        stack_use::ED25519_VERIFY_BATCH,
        nothing_secret(EIGHT),
        move |input| input.parts::<EIGHT>().map(signed),
        |keys| {
            let mut jobs = keys.each_ref().map(|(key, signature)| {
                ed25519::Job::verify(key, Rule::Cofactored, Variant::Plain, MESSAGE, signature)
            });
            ed25519::run_batch(&mut jobs);
            assert!(jobs.iter().all(|job| job.outcome().is_ok()));
        },
    ));
}

fn x25519(cases: &mut Vec<Case>) {
    let one = stack_use::X25519;
    cases.push(case("X25519 generate", one, keys(1), own, |key| {
        let mut place = None;
        let key = stack::try_keep(&mut place, || x25519::PrivateKey::generate(&mut Tape(&key[..])));
        std::hint::black_box(key.expect("the numbers differ").public_key());
    }));
    cases.push(case(
        "X25519 from_pem",
        one,
        |random| {
            let mut prepared = keys(1)(random);
            let mut pem = [0; x25519::PRIVATE_KEY_PEM_LENGTH];
            let key = x25519::PrivateKey::from(*array(&prepared.input[1]));
            prepared.input[1] = key.to_pem(&mut pem).expect("the buffer suffices").into();
            prepared
        },
        |input| (input.parts::<2>()[1], None),
        |(pem, place)| {
            stack::try_keep(place, || x25519::PrivateKey::from_pem(pem)).expect("the key is valid");
        },
    ));
    cases.push(case(
        "X25519 to_pem and public_key",
        one,
        keys(1),
        |input| (x25519::PrivateKey::from(*own(input)), [0; x25519::PRIVATE_KEY_PEM_LENGTH]),
        |(key, pem)| {
            key.to_pem(pem).expect("the buffer suffices");
            std::hint::black_box(key.public_key());
        },
    ));
    cases.push(case(
        "X25519 agree",
        one,
        keys(1),
        |input| {
            let [peer, key] = input.parts();
            (x25519::PrivateKey::from(*array(key)), array(peer), None)
        },
        |(key, peer, shared)| {
            stack::try_keep(shared, || key.agree(peer)).expect("the peer is honest");
        },
    ));
    cases.push(case(
        "X25519 agree ×8 and public keys ×8",
        stack_use::X25519_BATCH,
        keys(EIGHT),
        |input| {
            let [peer, keys @ ..] = input.parts::<{ EIGHT + 1 }>();
            let keys: [&[u8]; EIGHT] = keys;
            let keys = keys.map(|key| x25519::PrivateKey::from(*array(key)));
            (keys, array(peer), [[0; 32]; EIGHT], [[0; 32]; EIGHT])
        },
        |(keys, peer, shared, public)| {
            let (mut shared, mut public) = (shared.iter_mut(), public.iter_mut());
            let mut jobs = keys.each_ref().map(|key| {
                let place = shared.next().expect("there is one per job");
                x25519::Job::agree(key, peer, place)
            });
            x25519::run_batch(&mut jobs);
            assert!(jobs.iter().all(|job| job.outcome().is_ok()));
            let mut jobs = keys.each_ref().map(|key| {
                x25519::Job::public_key(key, public.next().expect("there is one per job"))
            });
            x25519::run_batch(&mut jobs);
        },
    ));
}

fn array(bytes: &[u8]) -> &[u8; 32] {
    bytes.try_into().expect("the input has 32 bytes")
}

fn first(input: crate::protocol::Input) -> &'static [u8; 32] {
    array(input.parts::<1>()[0])
}

/// Returns the key, which follows the peer's.
fn own(input: crate::protocol::Input) -> &'static [u8; 32] {
    array(input.parts::<2>()[1])
}

fn little(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_le(bytes)
}

fn order() -> BigUint {
    (BigUint::from(1_u8) << 252) + number("14def9dea2f79cd65812631a5cf5d3ed")
}

/// Clamps 32 bytes (RFC 7748, section 5) and returns the number.
fn clamped(bytes: &[u8]) -> BigUint {
    let mut bytes = bytes.to_vec();
    bytes[0] &= 0xf8;
    bytes[31] = bytes[31] & 0x7f | 0x40;
    little(&bytes)
}

/// Prepares seeds, their expansions, and the nonces of the message.
fn seeds(count: usize) -> impl Fn(&mut Random) -> Prepared {
    move |random| {
        let mut prepared = Prepared::default();
        for _ in 0..count {
            let seed = random.bytes(32);
            let needles = &mut prepared.needles;
            needles.hashed("seed", &seed);
            let expanded = Sha512::digest(&seed);
            needles.hashed("expanded seed", &expanded);
            let (secret, prefix) = expanded.split_at(32);
            let secret = clamped(secret);
            needles.residue("a", &secret, &order());
            let nonce = Sha512::digest([prefix, MESSAGE].concat());
            needles.hashed("nonce's digest", &nonce);
            let nonce = little(&nonce) % order();
            needles.residue("r", &nonce, &order());
            let key = SigningKey::from_seed(array(&seed));
            let signature = key.sign(MESSAGE);
            let challenge = [&signature[..32], key.verifying_key().as_bytes(), MESSAGE].concat();
            let product = little(&Sha512::digest(challenge)) * &secret % order();
            needles.residue("k·a", &product, &order());
            assert_eq!(little(&signature[32..]), (nonce + product) % order(), "the model is wrong");
            needles.public(&signature);
            needles.public(key.verifying_key().as_bytes());
            prepared.input.push(seed);
        }
        prepared
    }
}

fn nothing_secret(count: usize) -> impl Fn(&mut Random) -> Prepared {
    move |random| Prepared { needles: Needles::default(), ..seeds(count)(random) }
}

/// Prepares a peer's public key, keys, and the secrets shared with the peer.
fn keys(count: usize) -> impl Fn(&mut Random) -> Prepared {
    move |random| {
        let p = (BigUint::from(1_u8) << 255) - 19_u8;
        let mut prepared = Prepared::default();
        let peer = x25519::PrivateKey::from(*array(&random.bytes(32))).public_key();
        prepared.input.push(peer.to_vec());
        for _ in 0..count {
            let bytes = random.bytes(32);
            let needles = &mut prepared.needles;
            needles.number("key", &little(&bytes));
            needles.residue("clamped key", &clamped(&bytes), &order());
            needles.number("key modulo L", &(clamped(&bytes) % order()));
            let key = x25519::PrivateKey::from(*array(&bytes));
            let shared = key.agree(&peer).expect("the peer is honest");
            needles.residue("shared secret", &little(shared.as_bytes()), &p);
            prepared.input.push(bytes);
        }
        prepared
    }
}
