//! The NIST curves: keys, ECDSA, ECDH and arithmetic.

use cycloid::scheme::ec::arithmetic::{Point, Scalar};
use cycloid::scheme::ec::{Curve, P224, P256, P384, P521, PrivateKey, PublicKey};
use cycloid::scheme::ecdh;
use cycloid::scheme::ecdsa::{self, Job};
use cycloid::scheme::{Hash, stack_use};
use cycloid::stack;
use hmac::{KeyInit, Mac};
use num_bigint::BigUint;
use sha2::{Digest, Sha256};

use super::case::{Case, Prepared, case};
use super::random::{Random, Tape, big_endian, number};
use crate::needles::Needles;

const MESSAGE: &[u8] = b"the message is public";

pub(super) fn add(cases: &mut Vec<Case>) {
    curve::<P224>(cases);
    curve::<P256>(cases);
    curve::<P384>(cases);
    curve::<P521>(cases);
}

/// The number of keys and peers in a batch.
const EIGHT: usize = 8;

fn curve<C: Curve>(cases: &mut Vec<Case>) {
    let name = |what: &str| format!("{} {what}", C::NAME);
    let own = || {
        |random: &mut Random| {
            let mut prepared = Prepared::default();
            key::<C>(random, &mut prepared);
            prepared
        }
    };
    let keys = |count: usize| {
        move |random: &mut Random| {
            let mut prepared = Prepared::default();
            let keys: Vec<_> = (0..count).map(|_| key::<C>(random, &mut prepared)).collect();
            keys.iter().for_each(|d| nonce::<C>(&mut prepared.needles, d));
            prepared
        }
    };
    cases.push(case(
        name("sign"),
        stack_use::ecdsa_sign::<C>(),
        keys(1),
        |input| (private::<C>(input.parts::<1>()[0]), None),
        |(key, signature)| *signature = Some(key.sign(Hash::Sha256, MESSAGE)),
    ));
    cases.push(case(
        name("sign ×8"),
        stack_use::ecdsa_sign_batch::<C>() + EIGHT * size_of::<Job<'_, C>>(),
        keys(EIGHT),
        |input| input.parts::<EIGHT>().map(private::<C>),
        |keys| {
            let mut jobs = keys.each_ref().map(|key| Job::sign(key, Hash::Sha256, MESSAGE));
            ecdsa::run_batch(&mut jobs);
            assert!(jobs.iter().all(|job| job.outcome().is_ok()));
        },
    ));
    for (hash, title) in [
        (Hash::Sha512, "sign, a digest of SHA-512, hedged"),
        (Hash::Sha3_512, "sign, a digest of SHA3-512, hedged"),
    ] {
        cases.push(case(
            name(title),
            stack_use::ecdsa_sign::<C>(),
            |random| {
                let mut prepared = Prepared::default();
                key::<C>(random, &mut prepared);
                let hedge = random.bytes(32);
                prepared.needles.hashed("randomness", &hedge);
                prepared.input.push(hedge);
                prepared
            },
            |input| {
                let [key, hedge] = input.parts();
                (private::<C>(key), hedge)
            },
            move |(key, hedge)| {
                std::hint::black_box(key.sign_hedged(hash, &[0x5a; 64], hedge));
            },
        ));
    }
    cases.push(case(
        name("from_bytes"),
        stack_use::ec_key::<C>(),
        own(),
        |input| (input.parts::<1>()[0], None),
        |(bytes, place)| {
            let key = stack::try_keep(place, || PrivateKey::<C>::from_bytes(bytes));
            key.expect("the scalar is in range");
        },
    ));
    cases.push(case(
        name("from_bytes, into a variable that is cleaned"),
        stack_use::ec_key::<C>(),
        own(),
        |input| input.parts::<1>()[0],
        |bytes| {
            // Constructed through a `Result`, which leaves a copy in its owner's frame.
            stack::clean(2048, || {
                let key = PrivateKey::<C>::from_bytes(bytes).expect("the scalar is in range");
                std::hint::black_box(key.public_key());
            });
        },
    ));
    cases.push(case(
        name("from_pem"),
        stack_use::ec_key::<C>(),
        |random| {
            let mut prepared = Prepared::default();
            key::<C>(random, &mut prepared);
            let key =
                PrivateKey::<C>::from_bytes(&prepared.input[0]).expect("the scalar is in range");
            let mut pem = [0; 1000];
            let pem = key.to_pkcs8_pem(&mut pem).expect("the buffer suffices");
            prepared.input = vec![pem.into()];
            prepared
        },
        |input| (input.parts::<1>()[0], None),
        |(pem, place)| {
            let key = stack::try_keep(place, || PrivateKey::<C>::from_pem(pem));
            key.expect("the key is valid");
        },
    ));
    cases.push(case(
        name("to_pkcs8_pem and to_bytes"),
        stack_use::ec_key::<C>(),
        own(),
        |input| (private::<C>(input.parts::<1>()[0]), [0; 1000]),
        |(key, output)| {
            key.to_pkcs8_pem(output).expect("the buffer suffices");
            key.to_bytes(&mut output[..C::BYTES]).expect("the buffer suffices");
        },
    ));
    cases.push(case(
        name("generate"),
        stack_use::ec_key::<C>(),
        |random| {
            let mut prepared = Prepared::default();
            let tape = random.bytes(C::BYTES * 64);
            prepared.needles.bytes("random numbers", &tape);
            let key = PrivateKey::<C>::generate(&mut Tape(tape.clone().leak()));
            let key = key.expect("the numbers differ");
            let mut bytes = vec![0; C::BYTES];
            key.to_bytes(&mut bytes).expect("the buffer suffices");
            let d = BigUint::from_bytes_be(&bytes);
            prepared.needles.residue("d", &d, &order::<C>());
            prepared.input.push(tape);
            prepared
        },
        |input| input.parts::<1>()[0],
        |tape| {
            let mut place = None;
            let key = stack::try_keep(&mut place, || PrivateKey::<C>::generate(&mut Tape(tape)));
            std::hint::black_box(key.expect("the numbers differ").public_key());
        },
    ));
    cases.push(case(
        name("generate ×8"),
        stack_use::ecdsa_sign_batch::<C>() + EIGHT * size_of::<PrivateKey<C>>(),
        |random| {
            let mut prepared = Prepared::default();
            let tape = random.bytes(C::BYTES * 64 * EIGHT);
            prepared.needles.bytes("random numbers", &tape);
            let mut generator = Tape(tape.clone().leak());
            for _ in 0..EIGHT {
                let key = PrivateKey::<C>::generate(&mut generator).expect("the numbers differ");
                let mut bytes = vec![0; C::BYTES];
                key.to_bytes(&mut bytes).expect("the buffer suffices");
                prepared.needles.residue("d", &BigUint::from_bytes_be(&bytes), &order::<C>());
            }
            prepared.input.push(tape);
            prepared
        },
        |input| input.parts::<1>()[0],
        |tape| {
            let mut keys = [const { None }; EIGHT];
            PrivateKey::<C>::generate_each(&mut keys, &mut Tape(tape)).expect("they differ");
            std::hint::black_box(&keys);
        },
    ));
    cases.push(case(
        name("agree"),
        stack_use::ecdh_agree::<C>(),
        shared::<C>(1),
        |input| {
            let [peer, key] = input.parts();
            (private::<C>(key), public::<C>(peer), None)
        },
        |(key, peer, shared)| {
            stack::keep(shared, || key.agree(peer));
        },
    ));
    cases.push(case(
        name("agree, into a variable"),
        stack_use::ecdh_agree::<C>(),
        shared::<C>(1),
        |input| {
            let [peer, key] = input.parts();
            (private::<C>(key), public::<C>(peer))
        },
        |(key, peer)| {
            let shared = key.agree(peer);
            std::hint::black_box(&shared[0]);
        },
    ));
    cases.push(case(
        name("agree ×8"),
        stack_use::ecdh_batch::<C>() + EIGHT * size_of::<ecdh::Job<'_, C>>(),
        shared::<C>(EIGHT),
        |input| {
            let [peer, keys @ ..] = input.parts::<{ EIGHT + 1 }>();
            let keys: [&[u8]; EIGHT] = keys;
            (keys.map(private::<C>), public::<C>(peer))
        },
        |(keys, peer)| {
            let mut jobs = keys.each_ref().map(|key| ecdh::Job::agree(key, peer));
            ecdh::run_batch(&mut jobs);
            assert!(jobs.iter().all(|job| job.outcome().is_ok()));
        },
    ));
    cases.push(case(
        name("arithmetic"),
        stack_use::ec_point::<C>(),
        |random| {
            let mut prepared = Prepared::default();
            for _ in 0..2 {
                key::<C>(random, &mut prepared);
            }
            prepared
        },
        |input| {
            (
                input.parts::<2>().map(|bytes| Scalar::<C>::from_bytes(bytes).expect("in range")),
                None,
            )
        },
        |([k, l], sum)| {
            stack::keep(sum, || {
                let point = Point::generator_times(k);
                Point::sum_of_products(&[(l, &point), (k, &point)])
            });
        },
    ));
    let verify = |count: usize| {
        move |random: &mut Random| {
            let mut prepared = Prepared::default();
            for _ in 0..count {
                key::<C>(random, &mut prepared);
            }
            prepared.needles = Needles::default();
            prepared
        }
    };
    cases.push(case(
        name("verify"),
        stack_use::ecdsa_verify::<C>(),
        verify(1),
        |input| {
            let key = private::<C>(input.parts::<1>()[0]);
            (*key.public_key(), key.sign(Hash::Sha256, MESSAGE))
        },
        |(key, signature)| {
            key.verify(Hash::Sha256, MESSAGE, signature).expect("the signature is valid");
        },
    ));
    cases.push(case(
        name("verify ×8"),
        stack_use::ecdsa_verify_batch::<C>() + EIGHT * size_of::<Job<'_, C>>(),
        verify(EIGHT),
        |input| {
            input.parts::<EIGHT>().map(|bytes| {
                let key = private::<C>(bytes);
                (*key.public_key(), key.sign(Hash::Sha256, MESSAGE))
            })
        },
        |keys| {
            let mut jobs = keys
                .each_ref()
                .map(|(key, signature)| Job::verify(key, Hash::Sha256, MESSAGE, signature));
            ecdsa::run_batch(&mut jobs);
            assert!(jobs.iter().all(|job| job.outcome().is_ok()));
        },
    ));
}

fn private<C: Curve>(bytes: &[u8]) -> PrivateKey<C> {
    PrivateKey::from_bytes(bytes).expect("the scalar is in range")
}

fn public<C: Curve>(bytes: &[u8]) -> PublicKey<C> {
    PublicKey::from_sec1(bytes).expect("the point is valid")
}

/// Adds a key to the input and to the needles.
fn key<C: Curve>(random: &mut Random, prepared: &mut Prepared) -> BigUint {
    let n = order::<C>();
    let d = random.below(&n);
    prepared.input.push(big_endian(&d, C::BYTES));
    prepared.needles.residue("d", &d, &n);
    d
}

/// Adds the nonce of the message with SHA-256, and the values that reveal it or the key.
fn nonce<C: Curve>(needles: &mut Needles, d: &BigUint) {
    let n = order::<C>();
    let key = private::<C>(&big_endian(d, C::BYTES));
    let signature = key.sign(Hash::Sha256, MESSAGE).to_fixed();
    let [r, s] = [0, 1].map(|i| BigUint::from_bytes_be(&signature[i * C::BYTES..][..C::BYTES]));
    let digest: [u8; 32] = Sha256::digest(MESSAGE).into();
    let e = leftmost::<C>(&digest);
    let inverse = |x: &BigUint| x.modinv(&n).expect("n is a prime");
    let k = (&e + &r * d) * inverse(&s) % &n;
    needles.residue("1/k", &inverse(&k), &n);
    needles.residue("r·d", &(&r * d % &n), &n);
    needles.residue("e + r·d", &((&e + &r * d) % &n), &n);
    // RFC 6979, section 3.2.
    let authenticate = |key: &[u8], parts: &[&[u8]]| -> Vec<u8> {
        let mut mac = hmac::Hmac::<Sha256>::new_from_slice(key).expect("any length");
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().to_vec()
    };
    let (mut generator, mut value) = (vec![0; 32], vec![1; 32]);
    let octets = [big_endian(d, C::BYTES), big_endian(&(&e % &n), C::BYTES)].concat();
    for separator in 0..2 {
        generator = authenticate(&generator, &[&value, &[separator], &octets]);
        value = authenticate(&generator, &[&value]);
        needles.hashed("K", &generator);
        needles.hashed("V", &value);
        for pad in [0x36, 0x5c] {
            let padded: Vec<u8> = generator.iter().map(|byte| byte ^ pad).collect();
            needles.hashed("padded K", &padded);
        }
    }
    let mut octets = Vec::new();
    while octets.len() < C::BYTES {
        value = authenticate(&generator, &[&value]);
        needles.hashed("V", &value);
        octets.extend(&value);
    }
    let candidate = leftmost::<C>(&octets[..C::BYTES]);
    assert!(candidate >= n || candidate == k, "the model of the nonce is wrong");
    needles.residue("k", &k, &n);
    needles.public(&signature);
}

fn leftmost<C: Curve>(bytes: &[u8]) -> BigUint {
    let bytes = &bytes[..bytes.len().min(C::BYTES)];
    BigUint::from_bytes_be(bytes) >> (8 * bytes.len()).saturating_sub(C::BITS)
}

/// Prepares a peer, keys, and the secrets that each of them shares with the peer.
fn shared<C: Curve>(count: usize) -> impl Fn(&mut Random) -> Prepared {
    move |random| {
        let peer = private::<C>(&big_endian(&random.below(&order::<C>()), C::BYTES));
        let mut prepared = Prepared::default();
        prepared.input.push(peer.public_key().to_uncompressed().to_vec());
        let p = prime::<C>();
        for _ in 0..count {
            let d = key::<C>(random, &mut prepared);
            let key = private::<C>(&big_endian(&d, C::BYTES));
            let x = BigUint::from_bytes_be(&key.agree(peer.public_key()));
            prepared.needles.residue("shared secret", &x, &p);
        }
        prepared
    }
}

fn order<C: Curve>() -> BigUint {
    number(match C::BITS {
        224 => "ffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3d",
        256 => "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        384 => {
            "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf\
             581a0db248b0a77aecec196accc52973"
        }
        _ => {
            "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
             a51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409"
        }
    })
}

fn prime<C: Curve>() -> BigUint {
    let power = |bits: u32| BigUint::from(1_u8) << bits;
    match C::BITS {
        224 => power(224) - power(96) + 1_u8,
        256 => power(256) - power(224) + power(192) + power(96) - 1_u8,
        384 => power(384) - power(128) - power(96) + power(32) - 1_u8,
        _ => power(521) - 1_u8,
    }
}
