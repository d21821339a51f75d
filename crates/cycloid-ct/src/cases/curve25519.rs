//! Ed25519 and X25519, and arithmetic on their curve; Ed448.

use cycloid::scheme::curve25519::{Point, Scalar};
use cycloid::scheme::ed448;
use cycloid::scheme::ed25519::{self, Rule, SigningKey, Variant};
use cycloid::scheme::x25519::{self, PrivateKey};

use crate::check::{Check, Held, marked};

const MESSAGE: &[u8] = b"the message is public";

/// The other party's point: the public key of RFC 7748, section 6.1.
const PEER: [u8; 32] = [
    0xde, 0x9e, 0xdb, 0x7d, 0x7b, 0x7d, 0xc1, 0xb4, 0xd3, 0x5b, 0x61, 0xc2, 0xec, 0xe4, 0x35, 0x37,
    0x3f, 0x83, 0x43, 0xc8, 0x5b, 0x78, 0x67, 0x4d, 0xad, 0xfc, 0x7e, 0x14, 0x6f, 0x88, 0x2b, 0x4f,
];

fn array(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().expect("32 bytes")
}

/// Returns the same key unmarked and with its seed secret.
fn signing_key(check: &mut Check) -> (SigningKey, Held<SigningKey>) {
    let seed = check.bytes(32);
    let secret = marked(&seed);
    let secret: &[u8; 32] = secret[..].try_into().expect("32 bytes");
    let held = check.hold("from seed", || SigningKey::from_seed(secret));
    (SigningKey::from_seed(&array(&seed)), held)
}

fn private_key(check: &mut Check) -> (PrivateKey, Held<PrivateKey>) {
    let bytes = check.bytes(32);
    let secret = marked(&bytes);
    let held = check.hold("from bytes", || PrivateKey::from(array(&secret)));
    (PrivateKey::from(array(&bytes)), held)
}

pub(crate) fn signing_keys(check: &mut Check) {
    let (plain, key) = signing_key(check);
    let mut public = vec![0; 32];
    check.trace("public key", || public.copy_from_slice(key.verifying_key().as_bytes()));
    check.public("public key", &public, |public| public == plain.verifying_key().as_bytes());

    let mut der = vec![0; 128];
    let length = check.trace("to DER", || key.to_der(&mut der).expect("the output fits").len());
    check.secret("to DER", &der[..length], |der| SigningKey::from_der(der).is_ok());
    let read = check.hold("from DER", || SigningKey::from_der(&der[..length]).expect("a key"));
    check.secret("from DER", read.seed(), |seed| seed == plain.seed());
    let mut pem = vec![0; 256];
    let length =
        check.trace("to PEM", || key.to_key_pair_pem(&mut pem).expect("the output fits").len());
    let read = check.hold("from PEM", || SigningKey::from_pem(&pem[..length]).expect("a key"));
    check.secret("from PEM", read.seed(), |seed| seed == plain.seed());

    let mut rng = check.rng();
    let generated =
        check.hold("generate", || SigningKey::generate(&mut rng).expect("a sound generator"));
    check.secret("generate", generated.seed(), |seed| *seed != [0; 32]);
}

pub(crate) fn sign(check: &mut Check) {
    let (plain, key) = signing_key(check);
    let mut signature = vec![0; 64];
    check.trace("sign", || signature.copy_from_slice(&key.sign(MESSAGE)));
    check.public("sign", &signature, |signature| *signature == plain.sign(MESSAGE));
    let digest = [9; 64];
    check.trace("sign prehashed", || {
        let signed = key.sign_prehashed(&digest, b"context").expect("the input is short");
        signature.copy_from_slice(&signed);
    });
    check.public("sign prehashed", &signature, |signature| {
        let signature = signature.try_into().expect("64 bytes");
        let variant = Variant::Prehashed(b"context");
        plain.verifying_key().verify_with(Rule::Strict, variant, &digest, signature).is_ok()
    });
}

pub(crate) fn sign_ed448(check: &mut Check) {
    let seed: [u8; 57] = check.bytes(57).try_into().expect("57 bytes");
    let secret = marked(&seed);
    let secret: &[u8; 57] = secret[..].try_into().expect("57 bytes");
    let key = check.hold("from seed", || ed448::SigningKey::from_seed(secret));
    let plain = ed448::SigningKey::from_seed(&seed);
    let mut signature = vec![0; 114];
    check.trace("sign", || {
        signature.copy_from_slice(&key.sign(MESSAGE, b"context").expect("the context is short"));
    });
    check.public("sign", &signature, |signature| {
        *signature == plain.sign(MESSAGE, b"context").expect("the context is short")
    });
}

/// Signs and verifies each signature; the time of verification depends on the signature.
pub(crate) fn sign_verified(check: &mut Check) {
    check.varies();
    let keys: Vec<_> = (0..5).map(|_| signing_key(check)).collect();
    let mut signature = [0; 64];
    check.trace("sign and verify", || {
        signature = keys[0].1.verify_after_sign().sign(MESSAGE).expect("no fault");
    });
    check.public("sign and verify", &signature, |found| found == keys[0].0.sign(MESSAGE));
    let mut signatures = vec![[0; 64]; keys.len()];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(&mut signatures)
        .map(|((_, key), place)| {
            ed25519::Job::sign(key, Variant::Plain, MESSAGE, place).verify_after_sign()
        })
        .collect();
    check.trace("sign and verify 5", || ed25519::run_batch(&mut jobs));
    assert!(jobs.iter().all(|job| job.outcome().is_ok()));
    drop(jobs);
    for ((plain, _), signature) in keys.iter().zip(&signatures) {
        check.public("sign and verify 5", signature, |found| found == plain.sign(MESSAGE));
    }
}

pub(crate) fn sign_batch(check: &mut Check) {
    let keys: Vec<_> = (0..8).map(|_| signing_key(check)).collect();
    for count in [8, 5] {
        let mut signatures = vec![[0; 64]; count];
        let mut jobs: Vec<_> = keys
            .iter()
            .zip(&mut signatures)
            .map(|((_, key), place)| ed25519::Job::sign(key, Variant::Plain, MESSAGE, place))
            .collect();
        check.trace(format!("sign {count}"), || ed25519::run_batch(&mut jobs));
        assert!(jobs.iter().all(|job| job.outcome().is_ok()));
        drop(jobs);
        for ((plain, _), signature) in keys.iter().zip(&signatures) {
            check.public("sign in a batch", signature, |found| found == plain.sign(MESSAGE));
        }
    }
}

pub(crate) fn agree(check: &mut Check) {
    let (plain, key) = private_key(check);
    let mut public = vec![0; 32];
    check.trace("public key", || public.copy_from_slice(&key.public_key()));
    check.public("public key", &public, |public| *public == plain.public_key());
    let shared = check.hold("agree", || key.agree(&PEER).expect("a sound key"));
    let expected = plain.agree(&PEER).expect("a sound key");
    check.secret("agree", shared.as_bytes(), |shared| shared == expected.as_bytes());

    let mut der = vec![0; 128];
    let length = check.trace("to DER", || key.to_der(&mut der).expect("the output fits").len());
    let read = check.hold("from DER", || PrivateKey::from_der(&der[..length]).expect("a key"));
    check.secret("from DER", read.as_bytes(), |bytes| bytes == plain.as_bytes());
    let mut pem = vec![0; 256];
    let length = check.trace("to PEM", || key.to_pem(&mut pem).expect("the output fits").len());
    let read = check.hold("from PEM", || PrivateKey::from_pem(&pem[..length]).expect("a key"));
    check.secret("from PEM", read.as_bytes(), |bytes| bytes == plain.as_bytes());

    let mut rng = check.rng();
    let generated =
        check.hold("generate", || PrivateKey::generate(&mut rng).expect("a sound generator"));
    check.secret("generate", generated.as_bytes(), |bytes| *bytes != [0; 32]);
}

pub(crate) fn agree_batch(check: &mut Check) {
    let keys: Vec<_> = (0..8).map(|_| private_key(check)).collect();
    for count in [8, 5] {
        let mut results = vec![[0; 32]; 2 * count];
        let mut jobs: Vec<_> = results
            .iter_mut()
            .enumerate()
            .map(|(i, place)| match i % 2 {
                0 => x25519::Job::agree(&keys[i / 2].1, &PEER, place),
                _ => x25519::Job::public_key(&keys[i / 2].1, place),
            })
            .collect();
        check.trace(format!("agree {count}"), || x25519::run_batch(&mut jobs));
        assert!(jobs.iter().all(|job| job.outcome().is_ok()));
        drop(jobs);
        for (i, result) in results.iter().enumerate() {
            let plain = &keys[i / 2].0;
            if i % 2 == 0 {
                let expected = plain.agree(&PEER).expect("a sound key");
                check.secret("agree in a batch", result, |found| found == expected.as_bytes());
            } else {
                check.public("public key in a batch", result, |found| found == plain.public_key());
            }
        }
    }
}

pub(crate) fn arithmetic(check: &mut Check) {
    let wide = check.bytes(64);
    let secret = marked(&wide);
    let scalar = |wide: &[u8]| Scalar::from_wide_bytes(wide.try_into().expect("64 bytes"));
    let compute = |wide: &[u8]| {
        let scalar = scalar(wide);
        let product = Point::base().multiply(&scalar).add(&Point::multiply_base(&scalar));
        product.negate().add(&Point::base()).to_bytes()
    };
    let point = check.hold("multiple of a point", || compute(&secret));
    check.secret("multiple of a point", &*point, |found| found == compute(&wide));
    let one = check.hold("inverse", || {
        let scalar = scalar(&secret);
        scalar.multiply(&scalar.invert()).to_bytes()
    });
    check.secret("inverse", &*one, |found| found[0] == 1 && found[1..].iter().all(|b| *b == 0));
}
